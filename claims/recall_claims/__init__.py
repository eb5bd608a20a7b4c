"""Test theorems by simulation: a claim states a region, and the evidence gives an interval.

A claim file says `import recall_claims as rc`, and needs only the names in `__all__`:

* `claim` turns a function that simulates a `Block` of replicates in a `Cell` into a claim; `grid`
  and `ladder` make the cells.
* `prediction` registers a formula of a theory, with its regime and its stated error, such as 0.02,
  "5%" or "exact". `on` turns the formula into a claim's `predict`.
* `Source` says which statements a claim tests; `add_paper` makes their paper known.
* A rule turns observations into intervals, and has the `Region` for the intervals.
  Means against predictions: `MeanRatio`, `MeanDifference`, `ProportionDifference`.
  A median, a variance, a function of means, a law: `Quantile`, `Variance`, `Functional`, `Law`.
  Limits of means: `Limit`. Several of these on the same replicates: `Several`.
  Bounds: `OneSided`, `Ordering`, `Identity`. Scaling of a mean: `Exponents`.
  Crossings of a target by a success rate, and their scaling: `CriticalLocation`,
  `CriticalExponents`. The largest of several means: `WinnerShare`.
* `Betting(low, high)`, `Student()` and `Deterministic()` are the ways to bound means.
* `times`, `power`, `at`, `reads` and `Control` plant wrong theories, which the same data must
  refute.
* `Regime` states the values that a theorem allows for each parameter, such as a `log_range`;
  `--hunt` searches them.
* `Plot` says how the report draws the cells.

A conftest.py that imports `pytest_addoption` from `recall_claims.hook` makes pytest collect the
claims of its folder. `run`, of `recall_claims.notebook`, judges a claim without pytest. To write
your own rule, extend `recall_claims.judge.rules.Rule`. To bound means in another way, extend
`recall_claims.judge.methods.Method`.

`python -m recall_claims new NAME` writes an example. To try a rule on any data:

>>> import numpy as np
>>> from recall_claims import Cell, MeanRatio, Region
>>> from recall_claims.model.region import judge
>>> from recall_claims.judge.rules import Sample
>>> rule = MeanRatio(Region(0.9, 1.1))
>>> data = Sample(Cell(dim=2), {"value": np.random.default_rng(0).normal(4, 1, size=1000)})
>>> print(judge(rule.components([data], predict=lambda cell: cell["dim"] ** 2, alpha=1e-6)))
SUPPORTED
>>> print(judge(rule.components([data], predict=lambda cell: 3 * cell["dim"], alpha=1e-6)))
REFUTED
"""

from recall_claims.declare.claim import Claim, Control, claim
from recall_claims.declare.controls import at, power, reads, times
from recall_claims.judge.methods import Betting, Deterministic, Student
from recall_claims.judge.rules import (
    CriticalExponents,
    CriticalLocation,
    Exponents,
    Functional,
    Identity,
    Law,
    Limit,
    MeanDifference,
    MeanRatio,
    OneSided,
    Ordering,
    ProportionDifference,
    Quantile,
    Several,
    Variance,
    WinnerShare,
)
from recall_claims.model.cell import Block, Cell, grid, ladder
from recall_claims.model.papers import add_paper
from recall_claims.model.predictions import prediction
from recall_claims.model.regime import Regime, log_range
from recall_claims.model.region import Region
from recall_claims.model.source import Source, on
from recall_reports.record.values import Plot

__all__ = [
    "Betting",
    "Block",
    "Cell",
    "Claim",
    "Control",
    "CriticalExponents",
    "CriticalLocation",
    "Deterministic",
    "Exponents",
    "Functional",
    "Identity",
    "Law",
    "Limit",
    "MeanDifference",
    "MeanRatio",
    "OneSided",
    "Ordering",
    "Plot",
    "ProportionDifference",
    "Quantile",
    "Regime",
    "Region",
    "Several",
    "Source",
    "Student",
    "Variance",
    "WinnerShare",
    "add_paper",
    "at",
    "claim",
    "grid",
    "ladder",
    "log_range",
    "on",
    "power",
    "prediction",
    "reads",
    "times",
]
