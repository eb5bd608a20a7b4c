"""A claim is a region, evidence is an interval: theorems put to the test by simulation.

A claim file says `import recall_claims as rc`, and needs the names in `__all__` and nothing else:

* `claim` turns a function that simulates a `Block` of replicates in a `Cell` into a claim; `grid`
  and `ladder` make the cells.
* `prediction` registers a formula of a theory, with its regime and its stated error, such as 0.02,
  "5%" or "exact"; `on` predicts a cell by one. `Source` says which statements are tested;
  `add_paper` makes a paper known.
* A rule turns observations into intervals and has a `Region` for them:
  `MeanRatio`, `MeanDifference`, `ProportionDifference` (a mean against its prediction),
  `Quantile`, `Variance`, `Functional`, `Law` (a median, a variance, a function of means, a law),
  `Limit` (what means tend to), `Several` (some of these, of the same replicates),
  `OneSided`, `Ordering`, `Identity` (bounds),
  `Exponents` (how a mean scales),
  `CriticalLocation`, `CriticalExponents` (where a success rate crosses a target, how that scales),
  `WinnerShare` (which of several is largest, cell by cell).
* `Betting(low, high)`, `Catoni(sd)`, `Student()` and `Deterministic()` are the ways in which a rule
  may bound means. Rules of your own are subclasses of `Rule`, and bounds of `Method`.
* `times`, `power`, `at`, `reads` and `Control` plant wrong theories, which the same data must
  refute.
* `Regime` states where a theorem holds, by the `Values` that a parameter may take: `integers`,
  `log_integers` or `one_of` several; `--hunt` searches it.
* `Plot` says how the report draws the cells.
* `run` judges a claim without pytest; a notebook shows the result as the report does.

The conftest.py of a folder of claims imports `pytest_addoption`, which makes pytest collect them.

`python -m recall_claims new NAME` writes an example. A rule can be tried without pytest, on any
data:

>>> import numpy as np
>>> from recall_claims import Cell, MeanRatio, Region
>>> from recall_claims.judge.region import judge
>>> from recall_claims.judge.rules import Sample
>>> rule = MeanRatio(Region(0.9, 1.1))
>>> data = Sample(Cell(dim=2), {"value": np.random.default_rng(0).normal(4, 1, size=1000)})
>>> print(judge(rule.components([data], predict=lambda cell: cell["dim"] ** 2, alpha=1e-6)))
SUPPORTED
>>> print(judge(rule.components([data], predict=lambda cell: 3 * cell["dim"], alpha=1e-6)))
REFUTED
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recall_claims.declare.cell import Block, Cell, grid, ladder
    from recall_claims.declare.claim import Claim, Control, claim
    from recall_claims.declare.controls import at, power, reads, times
    from recall_claims.declare.papers import add_paper
    from recall_claims.declare.regime import Regime, Values, integers, log_integers, one_of
    from recall_claims.declare.source import Source, on
    from recall_claims.hook import pytest_addoption
    from recall_claims.judge.catoni import Catoni
    from recall_claims.judge.methods import Betting, Deterministic, Method, Student
    from recall_claims.judge.region import Region
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
        Rule,
        Several,
        Variance,
        WinnerShare,
    )
    from recall_claims.notebook import run
    from recall_claims.predictions import prediction
    from recall_reports.record.values import Plot

# In this order: a theory that wants `prediction` or `Regime` loads none of the others, hence no
# torch; a notebook loads no pytest.
_HOMES = (
    *("predictions", "declare.regime", "declare.cell", "declare.claim", "declare.controls"),
    *("declare.papers", "declare.source", "judge.methods", "judge.region", "judge.rules"),
    *("judge.catoni", "notebook"),
)

__all__ = ["Regime", "Values", "integers", "log_integers", "on", "one_of", "prediction"]
__all__ += ["Block", "Cell", "Claim", "Plot", "Source", "claim", "grid", "ladder"]
__all__ += ["Control", "at", "power", "reads", "times"]
__all__ += ["CriticalExponents", "CriticalLocation", "Exponents", "Functional", "Identity", "Law"]
__all__ += ["Limit", "MeanDifference", "MeanRatio", "OneSided", "Ordering", "ProportionDifference"]
__all__ += ["Quantile", "Region", "Rule", "Several", "Variance", "WinnerShare"]
__all__ += ["Betting", "Catoni", "Deterministic", "Method", "Student"]
__all__ += ["add_paper", "pytest_addoption", "run"]

if not TYPE_CHECKING:  # which knows the names above, and no others

    def __dir__() -> list[str]:
        """All names, so that `help` describes those that nobody has used yet."""
        return [*globals(), *__all__]

    def __getattr__(name: str) -> Any:
        """A name on first use (PEP 562)."""
        if name in __all__:
            for home in _HOMES if name != "pytest_addoption" else ("hook",):
                module = import_module(f"{__name__}.{home}")
                if hasattr(module, name):
                    globals()[name] = getattr(module, name)  # the next time it is at hand
                    return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
