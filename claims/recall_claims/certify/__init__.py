"""How often verdicts by Student's t err, claim by claim."""
