"""What verdicts are worth: how often they err and how often they decide, claim by claim."""
