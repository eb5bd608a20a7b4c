"""Shared parts of the claims on the lower bound: their source, and the accuracy of estimators."""

import math
from collections.abc import Callable, Iterable, Mapping

from torch import Tensor

import recall_claims as rc
from recall_claims.model.cell import Scalar
from simulation import decoding
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import named

SOURCE = rc.Source("A", "A4", "A13")
SIZES = ("vocab_size", "length", "samples", "dim")


def derived(file: str) -> rc.Source:
    """Make the source of a claim whose prediction is not a registered law.

    ``file``: the file of ``theory/lower_bound`` that derives the prediction.
    """
    return rc.Source("A", "A4", "A13", provenance="derived", reference=f"theory/lower_bound/{file}")


def guessed(cell: rc.Cell, block: rc.Block, estimator: str) -> Tensor:
    """Measure the accuracy of a named estimator on gradients of training batches: (R,)."""
    seen = block.draw(gradient_channel.discrete, {name: cell[name] for name in SIZES})
    return gradient_channel.estimator_accuracy(seen, named(estimator))


MEDIAN = """We judge test sizes by the share of batches in which more than half of the labels are
    guessed right. This share passes one half where the median accuracy does. The median is within
    0.005 of the mean."""


def mostly_guessed(cell: rc.Cell, block: rc.Block, estimator: str) -> Tensor:
    """Return 1 where an estimator guesses more than half of a batch's labels right, else 0: (R,).

    If the estimator guesses exactly half of the labels right, the result is 1/2.
    """
    return decoding.mostly(guessed(cell, block, estimator))


def critical_rungs(
    settings: Iterable[Mapping[str, Scalar]],
    scan: str,
    predict: Callable[[rc.Cell], float],
    region: rc.Region,
    between: tuple[float, ...] = (0.4,),
) -> tuple[rc.Cell, ...]:
    """Make cells around critical values of ``scan``: at a region's edges, between and beyond them.

    ``between`` places cells on both sides of the middle, as shares of the distance to an edge. One
    cell is beyond each edge. The result of ``predict`` must not depend on ``scan``.
    """
    centre, reach = math.sqrt(region.low * region.high), math.sqrt(region.high / region.low)
    factors = sorted(reach**power for far in (*between, 1, 1.5) for power in (-far, far))
    return rc.ladder(
        settings, scan, lambda cell: centre * predict(rc.Cell(**cell, **{scan: 2})), factors
    )
