"""Shared parts of the claims on attention: cells, plots, and observations of a batch."""

from collections.abc import Callable, Mapping
from typing import Any, Self

from torch import Tensor

import recall_claims as rc
from simulation.attention import localisation, sampling, three_steps
from theory.attention import signal
from theory.attention.problem import Problem

LOCALISATION = rc.Plot(
    x="samples",
    group=("vocab_size", "length", "dim"),
    y_label="share of sequences in which the token is found",
)
VARIANCES = rc.Plot("parity", log="xy", y_label="variance of token scores")


class RecallProblem(Problem):
    """A setting of recall, with an arbitrary length, because recall does not depend on it.

    A predicted threshold in the dimension does not depend on the setting's dimension either.
    """

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Take the setting from a cell; a length or dimension that it lacks is set arbitrarily."""
        return super().of({"length": 2, "dim": 64} | dict(parameters))


def corners(**box: tuple[int, int]) -> tuple[rc.Cell, ...]:
    """Make the half of a box's corners at which an even number of parameters have the second value.

    Each exponent is then estimated from all these corners.
    """
    return tuple(cell for i, cell in enumerate(rc.grid(**box)) if i.bit_count() % 2 == 0)


def sampled(cell: rc.Cell) -> float:
    """Estimate how many numbers a replicate handles if it draws sequences and embeddings."""
    tokens = cell.get("samples", 1) * cell.get("length", 1)
    return float(5 * (tokens + cell["vocab_size"] * cell.get("dim", 1)))


def in_score_units(law: Callable[[Problem], float]) -> Callable[[rc.Cell], float]:
    """Convert a law in units of s0^2, with s0 = (1 - 1/L)/(L^2 V), to a variance of scores."""
    predict, unit = rc.on(Problem, law), rc.on(Problem, signal.signal_unit)
    return lambda cell: float(unit(cell) ** 2 * predict(cell))


def localised(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Compute each replicate's localisation probability, the exact mean over fresh sequences."""
    batch = block.draw(sampling.draw, cell)
    return localisation.probability(three_steps.token_scores(batch), length=batch.length)


def localised_either_way(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Average the localisation probability over a trigger (in keys only) and its opposite.

    The mean over replicates equals the mean of `localised`, and the variance is smaller.
    """
    return localisation.mirrored(block.draw(sampling.draw, cell))
