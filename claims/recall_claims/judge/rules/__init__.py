"""Decision rules: how observations become simultaneous intervals for an estimand.

Every rule states its guarantee in words, checks its grid before a claim runs, and returns
components. `recall_claims.model.region` turns components into a verdict;
`recall_claims.judge.methods` bounds means.
"""

from recall_claims.judge.rules.base import Evidence, Predict, Rule, Sample
from recall_claims.judge.rules.critical import CriticalExponents, CriticalLocation
from recall_claims.judge.rules.exponents import Exponents
from recall_claims.judge.rules.functional import Functional, Variance
from recall_claims.judge.rules.law import Law
from recall_claims.judge.rules.limit import Limit
from recall_claims.judge.rules.means import MeanDifference, MeanRatio, ProportionDifference
from recall_claims.judge.rules.one_sided import Identity, OneSided, Ordering
from recall_claims.judge.rules.quantile import Quantile
from recall_claims.judge.rules.several import Several
from recall_claims.judge.rules.winner_share import WinnerShare

__all__ = ["CriticalExponents", "CriticalLocation", "Evidence", "Exponents", "Functional"]
__all__ += ["Identity", "Law", "Limit", "MeanDifference", "MeanRatio", "OneSided", "Ordering"]
__all__ += ["Predict", "ProportionDifference", "Quantile", "Rule", "Sample", "Several"]
__all__ += ["Variance", "WinnerShare"]
