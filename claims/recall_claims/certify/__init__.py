"""Error probabilities of verdicts by Student's t, claim by claim."""
