"""Shared parts of the claims about flows: the model of a cell, its paths, and learning times.

Claims on memories and classes use a few of these names, too. Functions that simulate must not use
theory: the library refuses claims that do.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import table
from simulation.spectral import facts, flows
from simulation.spectral.facts_reduced import Reduced
from simulation.streams import Streams
from theory.spectral import flows as theory

REFERENCE = "theory/spectral/flows.py"
SOFTMAX = "theory/spectral/softmax_memory.py"
REDUCED = rc.Source("D", "D5", provenance="derived", reference=REFERENCE)
derived = partial(rc.Source, "F", provenance="derived", reference=SOFTMAX)
exact = partial(rc.claim, replicates=2)
"""Decorator of claims on paper F where nothing is drawn; their rules use the method `ALL`."""
ALL = rc.Deterministic()
LARGE = ((256, 16), (1024, 16), (1024, 64))
"""Large S and R of the authors' published plan of experiments; for reduced matrices."""
START = 0.01
PARTS: tuple[theory.Part, theory.Part] = ("subject", "relation")
Pair = tuple[int, int]


def sizes(*pairs: Pair, **more: str | float) -> tuple[rc.Cell, ...]:
    """Make a cell for each pair of numbers of subjects S and relations R."""
    return table("subjects relations", *pairs, **more)


def simulable(regime: rc.Regime, facts: int = 1024) -> rc.Regime:
    """Narrow a regime to numbers of facts whose whole matrices can be simulated in minutes."""
    return regime.searched(
        f"at most {facts:,} facts, unless symmetry reduces the matrices",
        holds=lambda cell: (
            cell.get("weights") == "reduced" or cell["subjects"] * cell["relations"] <= facts
        ),
    )


def reducible(regime: rc.Regime, facts: int = 1024) -> rc.Regime:
    """Extend a regime to matrices reduced by symmetry, which allow larger sizes.

    Whole matrices keep the limit of `simulable`.
    """
    return simulable(regime, facts).searched(
        subjects=rc.log_range(2, 1024), weights=("whole", "reduced")
    )


def whole(cell: rc.Cell) -> float:
    """Return the cost of a flow: facts squared, times S + R; 1 if matrices are reduced."""
    subjects, relations = cell["subjects"], cell["relations"]
    reduced = cell.get("weights") == "reduced"
    return 1.0 if reduced else float((subjects * relations) ** 2 * (subjects + relations))


def tuple_of(cell: rc.Cell) -> theory.Embeddings:
    """Return the cell's embeddings, one-hot by default; predictions of sign flow depend on them."""
    found: theory.Embeddings = cell.get("embeddings", "OOO")
    return found


def time_of(cell: rc.Cell, part: theory.Part, error: float = 0.1) -> float:
    """Predict the time at which a part's error has fallen to ``error``."""
    return theory.learning_time(
        theory.Facts.of(cell), part, flow=cell["flow"], error=error, embeddings=tuple_of(cell)
    )


def ratio(cell: rc.Cell) -> float:
    """Predict the learning time of the subjects over the learning time of the relations."""
    return theory.time_ratio(theory.Facts.of(cell), flow=cell["flow"], embeddings=tuple_of(cell))


def lasting(points: Iterable[rc.Cell], past: float = 1.05) -> tuple[rc.Cell, ...]:
    """Add to cells the flow's duration, ``past`` times the time until both parts are learned."""
    return tuple(
        cell.replace(duration=float(f"{past * max(time_of(cell, part) for part in PARTS):.4g}"))
        for cell in points
    )


def task(cell: rc.Cell, block: rc.Block) -> facts.Facts:
    """Make the model in the cell's embeddings.

    "random" means orthonormal embeddings drawn for each replicate. But if there are more than 128
    answers, the answers' embeddings are one-hot. Otherwise all embeddings are "one-hot", or a word
    of three letters chooses them, as in `facts.hadamard_or_one_hot`. With "one-hot" or such a word
    nothing is random, and one replicate represents all.
    """
    s, r = cell["subjects"], cell["relations"]
    inputs = outputs = None
    kinds = cell.get("embeddings", "one-hot")
    if kinds == "random":
        streams = block.draw(Streams, {})
        inputs = facts.rotated(streams, s + r + 1)
        outputs = facts.rotated(streams, s * r) if s * r <= 128 else None
    elif kinds != "one-hot":
        inputs, outputs = facts.hadamard_or_one_hot(kinds, s, r)
    return facts.Facts(s, r, inputs=inputs, outputs=outputs, device=block.device, dtype=block.dtype)


def learner(cell: rc.Cell, block: rc.Block) -> flows.Answering:
    """Make the model, with whole matrices or, if the cell says so, reduced by symmetry."""
    if cell.get("weights") == "reduced":
        like = torch.zeros((), device=block.device, dtype=block.dtype)
        return Reduced(cell["subjects"], cell["relations"], like)
    return task(cell, block)


def each(block: rc.Block, values: Tensor) -> Tensor:
    """Repeat a value for each replicate if one replicate represents all."""
    return values.expand(block.replicates)


def path(
    cell: rc.Cell,
    model: flows.Answering,
    times: Sequence[float],
    start: facts.Weights | None = None,
) -> Iterator[facts.Weights]:
    """Yield the weights at each time of the cell's flow.

    The default ``start`` has four equal coordinates, as in `facts.Scalars`.
    """
    if start is None:
        level = cell.get("start", START)
        start = model.start(level, level)
    return flows.flow(model, start, cell["flow"], times)


def disturbed(start: facts.Weights, size: float) -> facts.Weights:
    """Add waves of ``size`` to W_OV, equal in all replicates.

    The four `facts.Scalars` then no longer describe the matrices.
    """
    waves = torch.arange(start.ov[0].numel()).to(start.ov).cos().view_as(start.ov[0])
    return facts.Weights(ov=start.ov + size * waves, kq=start.kq)


def end(
    cell: rc.Cell,
    model: flows.Answering,
    times: Sequence[float],
    start: facts.Weights | None = None,
) -> facts.Weights:
    """Return the last point of `path`."""
    (last,) = deque(path(cell, model, times, start), maxlen=1)
    return last


@dataclass(frozen=True)
class Times:
    """Times at which subjects and relations are learned, both (replicates,)."""

    subject: Tensor
    relation: Tensor


def learning_times(
    cell: rc.Cell, block: rc.Block, *, steps: int = 300, error: float = 0.1
) -> Times:
    """Find the times, within the cell's duration, at which both errors first fall to ``error``."""
    model, times = learner(cell, block), flows.clock(cell["duration"], steps)
    odds = flows.followed(model, path(cell, model, times))
    return Times(
        *(
            each(block, flows.learning_time(getattr(odds, part), times, error))
            for part in ("subject", "relation")
        )
    )


def learned_ratio(cell: rc.Cell, block: rc.Block, steps: int = 300) -> Tensor:
    """Measure the learning time of the subjects over the learning time of the relations."""
    found = learning_times(cell, block, steps=steps)
    return found.subject / found.relation
