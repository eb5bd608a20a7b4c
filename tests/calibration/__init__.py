"""Error rates of the decision rules, measured on synthetic data of known truth."""
