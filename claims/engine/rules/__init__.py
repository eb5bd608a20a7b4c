"""Decision rules: how observations become simultaneous intervals for an estimand.

Every rule states its guarantee in words, checks its grid at collection, and returns components;
`claims.engine.region` turns those into a verdict. The statistics come from scipy and statsmodels.
"""

from claims.engine.rules.base import Evidence, Predict, Rule, Sample
from claims.engine.rules.bounds import Identity, OneSided, Ordering
from claims.engine.rules.critical import CriticalExponents, CriticalLocation
from claims.engine.rules.exponents import Exponents
from claims.engine.rules.means import MeanDifference, MeanRatio, Probability
from claims.engine.rules.share import Share

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
    "Probability",
    "Rule",
    "Sample",
    "Share",
]
