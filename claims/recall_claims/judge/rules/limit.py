"""The limit of means at several sizes, with a fitted term of declared order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from recall_claims.judge.methods import STUDENT, Method, Student
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, number
from recall_claims.judge.rules.ladder import ladders
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Region, Scale


@dataclass(frozen=True)
class Limit(Rule):
    """Limit of mean(observable) as `along` grows, divided by its prediction.

    `Limit(Region(0.98, 1.02), along="size", order=1)`: the means are limit + slope / size, and the
    limit is within 2% of its prediction. With another order they are
    limit + slope / size^order. A least-squares line gives the limit; the region's width has to
    allow for the next order at these sizes.
    """

    region: Region
    along: str
    order: float = 1.0
    observable: str = "value"
    method: Method = STUDENT
    methods: ClassVar[tuple[type[Method], ...]] = (Student,)
    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = "Least-squares limit of means at several sizes, over prediction."

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        if not self.order > 0:
            raise ClaimError(f"a limit takes a positive order=, not {self.order}")
        for members in ladders(cells, self.along):
            values = {number(predict, cells[i]) for i in members}
            if len(values) > 1 or 0.0 in values:
                raise ClaimError(
                    f"predict must give one limit, not zero, for all {self.along} through "
                    f"{cells[members[0]].id}, got {sorted(values)}"
                )

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        def part(members: Sequence[int]) -> Part:
            samples = [evidence[i] for i in members]
            sizes = np.array([sample.cell.number(self.along) for sample in samples])
            design = np.column_stack([np.ones(sizes.size), sizes**-self.order])
            weights = np.linalg.pinv(design)[0] / number(predict, samples[0].cell)
            count = min(sample.replicates for sample in samples)
            values = weights @ np.stack([self.values(sample, count) for sample in samples])
            bounds = partial(self.method.bounds, values)
            params = samples[0].cell.without(self.along)
            name = ",".join(f"{k}={v}" for k, v in sorted(params.items())) or "limit"
            ids = [sample.cell.id for sample in samples]
            return Part(name, float(values.mean()), bounds, ids, params)

        return self.joint(map(part, ladders([s.cell for s in evidence], self.along)), alpha)

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        raise ClaimError("a limit takes several sizes")
