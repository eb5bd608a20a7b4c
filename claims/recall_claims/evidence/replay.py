"""Whether replicates are what verdicts take them for: independent, and the same when drawn again.

A rule believes that each replicate follows from its own generator and from nothing else. A function
that draws a bias from `block.rngs[0]` for all, divides by the mean of its block, reads `np.random`,
or remembers an earlier call breaks that, and error probabilities with it. So some replicates of the
first block in a claim's cheapest cell are simulated again, in reverse order and another batch, and
one alone; where workers are other processes, one in the controller too.

What passes may still be wrong: a rare event that no replicate shows cannot be seen here, nor a
dependence that shows in other cells alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.judge.methods import Array, Deterministic, Student
from recall_claims.judge.rules import Identity, Sample

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
"""Of the largest figure: products round by the size of their batch; `.github/docs/gpu.md`."""
TRIED = 10
"""Replicates that are simulated again; two where the block took more than `DEAR` seconds."""
DEAR = 1.0

Figures = Mapping[str, Array]
Draw = Callable[[Sequence[int]], tuple[Figures, list[bool]] | None]
"""Simulates the replicates of these indices together; tells which of their generators were used.
None if memory does not suffice."""
OWN = "let every replicate draw from its own generator in block.rngs, and from nothing else"


def cheapest(cells: Sequence[Cell]) -> Cell:
    """The cell of the smallest sizes."""
    return min(cells, key=lambda cell: math.prod(_size(value) for value in cell.values()))


def _size(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return max(1.0, abs(value)) if number else 1.0


def chosen(count: int, seconds: float) -> list[int]:
    """Replicates of a block to simulate again, spread over it, the last one first."""
    wanted = min(count, TRIED if seconds <= DEAR else 2)
    return sorted({*np.linspace(0, count - 1, wanted).round().astype(int).tolist()}, reverse=True)


def fault(claim: Claim, block: Figures, seconds: float, draw: Draw) -> str | None:
    """Why the replicates of a block are not what a verdict takes them for; None if they may be.

    Args:
        claim: whose block it is.
        block: its figures.
        seconds: that it took.
        draw: simulates some of its replicates again.
    """
    count = next(iter(block.values())).size
    some = chosen(count, seconds)
    again = draw(some)
    if again is None:
        return None
    found, used = again
    varies = any(np.ptp(values) > _slack(claim, values) for values in block.values())
    if any(used) and not all(used):
        idle = some[used.index(False)]
        return f"replicate {idle} draws nothing from its generator, others do: {OWN}"
    if varies and not any(used):
        return f"its figures vary, but not by its generators, which it leaves unused: {OWN}"
    without = isinstance(claim.rule.method, Deterministic) and not isinstance(claim.rule, Identity)
    if without and varies and any(used):
        return "its figures vary with its generators: method=Deterministic() is for none"
    if same(claim, block, some, found):
        alone = draw(some[:1])
        if alone is None or same(claim, block, some[:1], alone[0]):
            return None
    return _reason(claim, block, draw)


def same(claim: Claim, block: Figures, indices: Sequence[int], found: Figures) -> bool:
    """Whether figures of these replicates are those that they have in the block, but for rounding.

    The tolerance is that of the floating-point type, or of an identity, which measures rounding.
    """
    if found.keys() != block.keys():
        return False
    return all(
        values.shape == (len(indices),)
        and np.abs(values - block[name][list(indices)]).max() <= _slack(claim, block[name])
        for name, values in found.items()
    )


def _slack(claim: Claim, values: Array) -> float:
    stated = getattr(claim.rule, "tolerance", 0.0)
    return max(TOLERANCE[claim.dtype] * float(np.abs(values).max()), stated)


def _reason(claim: Claim, block: Figures, draw: Draw) -> str:
    """Why figures are others when they are simulated again, found by changing one thing."""
    everything = range(next(iter(block.values())).size)
    again = draw(everything)
    if again is None or not same(claim, block, everything, again[0]):
        return (
            "simulated twice from the same generators, it has other figures: it reads global "
            f"randomness or a clock, or keeps what an earlier call has made; {OWN}"
        )
    return (
        "a replicate has other figures in another order or batch: it shares draws with others, or "
        f"depends on their figures; {OWN}"
    )


def constant(claim: Claim, evidence: Sequence[Sample]) -> str | None:
    """What to say where nothing varies at the first look, so that a t interval says nothing."""
    observed = [values for sample in evidence for values in sample.observations.values()]
    if not isinstance(claim.rule.method, Student) or any(np.ptp(values) for values in observed):
        return None
    return (
        f"all values of a cell are equal at the first look, such as {observed[0][0]:g}: a t "
        "interval needs values that vary; mend the simulation, take more replicates if the event "
        "is rare, or say method=Betting(low, high) or method=Deterministic()"
    )
