"""Search the regime of a theorem for a point at which it fails.

`probe` gives cheap evidence at one point, `search` climbs it with Hypothesis and shrinks what it
finds, `confirm` judges the shrunk point on fresh evidence, and `campaign` shares the time among
claims. Probing and shrinking cost no error probability: nothing is concluded from them.
"""
