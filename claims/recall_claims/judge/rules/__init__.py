"""Decision rules: how observations become simultaneous intervals for an estimand.

Every rule states its guarantee in words, checks its grid at collection, and returns components;
`recall_claims.judge.region` turns those into a verdict. The statistics come from scipy and
statsmodels.
"""

from recall_claims.judge.rules.base import Evidence, Predict, Rule, Sample
from recall_claims.judge.rules.bounds import Identity, OneSided, Ordering
from recall_claims.judge.rules.critical import CriticalExponents, CriticalLocation
from recall_claims.judge.rules.exponents import Exponents
from recall_claims.judge.rules.means import MeanDifference, MeanRatio, ProportionDifference
from recall_claims.judge.rules.winner_share import WinnerShare

__all__ = [
    "CriticalExponents",
    "CriticalLocation",
    "Evidence",
    "Exponents",
    "Identity",
    "MeanDifference",
    "MeanRatio",
    "OneSided",
    "Ordering",
    "Predict",
    "ProportionDifference",
    "Rule",
    "Sample",
    "WinnerShare",
]
