"""The share of grid points at which the theory names the right winner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from recall_claims.judge.methods import STUDENT, Betting, Deterministic, Method, Student
from recall_claims.judge.rules.base import Components, Evidence, Predict, Rule, Sample, predicted
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Component, Interval, Region, Scale


@dataclass(frozen=True)
class WinnerShare(Rule):
    """Share of cells in which the observable that `predict` names has the largest mean.

    Paired differences confirm a cell if the predicted winner is shown to exceed every rival, and
    contradict the cell if some rival is shown to exceed the winner. The interval for the share is
    [confirmed, 1 - contradicted], in shares of all cells; undecided cells widen it. `method` bounds
    the observables: `Betting(low, high)` if all have that range.
    """

    region: Region
    method: Method = STUDENT
    methods: ClassVar[tuple[type[Method], ...]] = (Betting, Student, Deterministic)
    scale: ClassVar[Scale] = "share"
    estimand: ClassVar[str] = (
        "Points whose predicted winner is shown to be so, jointly over points and rivals; points "
        "that are not separated widen the interval."
    )

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        states = {s.cell.id: self._state(s, predict, alpha / len(evidence)) for s in evidence}
        told = list(states.values())
        confirmed = told.count("confirmed") / len(told)
        possible = (len(told) - told.count("contradicted")) / len(told)
        first = sum(self.observed(s) == _named(s, predict) for s in evidence) / len(told)
        unknown = tuple(cell for cell, state in states.items() if state == "unknown")
        interval = Interval(confirmed, possible)
        name = "share of points"
        return (Component(name, first, interval, self.region, self.scale, open_cells=unknown),)

    def _state(self, sample: Sample, predict: Predict | None, alpha: float) -> str:
        """Return confirmed, contradicted or unknown.

        A point is wrong if a rival truly has the largest mean. It is then confirmed only if this
        rival's test errs, so each test has all of alpha. A right point is contradicted if any
        rival's test errs, so there the tests share alpha.
        """
        name = _named(sample, predict)
        rivals = [rival for rival in sample.observations if rival != name]
        within = self.method.within
        leads = [within(sample[name]) - within(sample[rival]) for rival in rivals]
        means = [float(lead.mean()) for lead in leads]  # each between its bounds
        bounds = self.method.of_difference().bounds
        lows = [bounds(lead, alpha).low for lead in leads]  # of all rivals, for certificates
        if min(means, default=0.0) >= 0 and all(low > 0 for low in lows):
            return "confirmed"
        behind = any(
            mean <= 0 and bounds(lead, alpha / len(rivals)).high < 0
            for mean, lead in zip(means, leads, strict=True)
        )
        return "contradicted" if behind else "unknown"

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for cell in cells:
            if not isinstance(predicted(predict, cell), str):
                raise ClaimError("WinnerShare needs a prediction that names an observable")

    def observed(self, sample: Sample) -> str:
        """Name the observable with the largest mean."""
        return max(sample.observations, key=lambda name: float(sample[name].mean()))


def _named(sample: Sample, predict: Predict | None) -> str:
    name = predicted(predict, sample.cell)
    if name not in sample.observations:
        raise ClaimError(
            f"predict names {name!r} at {sample.cell.id}, but the claim's function returns "
            f"{sorted(sample.observations)}"
        )
    return str(name)
