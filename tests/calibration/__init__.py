"""How often the decision rules err, measured on synthetic data of known truth."""
