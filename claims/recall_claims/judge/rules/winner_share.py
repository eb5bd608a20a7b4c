"""The share of grid points at which the theory names the right winner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.region import Component, Interval, Region, Scale
from recall_claims.judge.rules.base import Evidence, Predict, Rule, Sample, t_interval


@dataclass(frozen=True)
class WinnerShare(Rule):
    """Share of cells whose largest observable, by mean, is the one `predict` names.

    A cell is confirmed when the predicted winner's paired mean difference to every rival is
    above 0 by its interval, contradicted when one is below 0, and unknown otherwise. The
    interval for the share is [confirmed, 1 - contradicted]: what is not separated counts for
    neither side.
    """

    region: Region
    scale: ClassVar[Scale] = "share"
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for all paired differences between the predicted winner "
        "and its rivals, jointly valid over cells and rivals; unseparated cells widen the interval."
    )

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        each = alpha / len(evidence)
        states = [self._state(sample, predict, each) for sample in evidence]
        confirmed = states.count("confirmed") / len(states)
        possible = (len(states) - states.count("contradicted")) / len(states)
        first = sum(self.observed(s) == _named(s, predict) for s in evidence) / len(states)
        interval = Interval(confirmed, possible)
        return (Component("share of points", first, interval, self.region, self.scale),)

    def _state(self, sample: Sample, predict: Predict | None, alpha: float) -> str:
        name = _named(sample, predict)
        rivals = [rival for rival in sample.observations if rival != name]
        intervals = [t_interval(sample[name] - sample[r], alpha / len(rivals)) for r in rivals]
        if all(interval.low > 0 for interval in intervals):
            return "confirmed"
        return "contradicted" if any(interval.high < 0 for interval in intervals) else "unknown"

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for cell in cells:
            if predict is not None and not isinstance(predict(cell), str):
                raise ClaimError("WinnerShare needs a prediction that names an observable")

    def observed(self, sample: Sample) -> str:
        """The observable of largest mean."""
        return max(sample.observations, key=lambda name: float(sample[name].mean()))


def _named(sample: Sample, predict: Predict | None) -> str:
    name = predict(sample.cell) if predict is not None else ""
    if name not in sample.observations:
        raise ClaimError(
            f"predict names {name!r} at {sample.cell.id}, but the claim's function returns "
            f"{sorted(sample.observations)}"
        )
    return str(name)
