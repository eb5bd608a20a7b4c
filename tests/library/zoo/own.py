"""A rule and a method of one's own."""

import math
from dataclasses import dataclass

import recall_claims as rc
from recall_claims.judge.methods import Method
from recall_claims.judge.rules import Sample
from recall_claims.model.region import Interval

from . import Array, theorem


@dataclass(frozen=True)
class Hoeffding(Method):
    """Hoeffding's bound for the mean of values in [0, 1]."""

    exact, anytime = True, False
    guarantee = "Hoeffding's inequality: each end is missed with probability at most its level."

    def bounds(self, values: Array, alpha: float) -> Interval:
        error = math.sqrt(math.log(1 / alpha) / (2 * values.size))
        return Interval(values.mean() - error, values.mean() + error)


@dataclass(frozen=True)
class Tail(rc.MeanDifference):
    """Rate at which the observable is above a level, less the predicted probability."""

    level: float = 0.0
    method: Method = Hoeffding()
    methods = (Hoeffding,)
    estimand = "Observed minus predicted probability of a tail."

    def values(self, sample: Sample, count: int) -> Array:
        return 1.0 * (sample[self.observable][:count] > self.level)


@theorem(
    "zoo.waiting",
    cells=rc.grid(mean=(0.5, 1.0)),
    rule=Tail(rc.Region(-0.08, 0.08), level=2.0),
    predict=lambda cell: math.exp(-2 / cell["mean"]),
    controls=(rc.Control("more", "exp(-1)", predict=lambda cell: math.exp(-1 / cell["mean"])),),
)
def waiting(cell: rc.Cell, block: rc.Block) -> Array:
    """An exponential time of mean m is above t with probability exp(-t / m)."""
    return block.each(lambda rng: rng.exponential(cell["mean"]))
