"""Capacity: the closed formula that joins localisation, recall and coverage, and its inverses."""

from collections.abc import Callable, Iterable

import torch

from recall_claims import Block, Cell, Control, CriticalLocation, Plot, Region, Source, cells, claim
from simulation.attention import end_to_end, sampling
from theory.attention import capacity

SOURCE = Source(
    "A", "A3", "A8", "A9", "A11", provenance="derived", reference="theory/attention/capacity.py"
)
REGION = Region(0.85, 1.18)
REGION_REASON = """Stated error of the closed formula where one condition rules and the others hold
    with room: 15% (localisation in closed form 5% off the full theory, recall 7%, and the other
    factor of the accuracy a few per cent below 1)."""


def scan(name: str, centre: float, factors: Iterable[float], **sizes: int) -> tuple[Cell, ...]:
    """Cells that differ in one size."""
    return cells({**sizes, name: round(factor * centre)} for factor in factors)


def size(cell: Cell, name: str) -> int:
    """An integer parameter of the cell."""
    return int(cell.number(name))


def samples(cell: Cell) -> float:
    """The least number of samples."""
    return capacity.critical_samples(
        size(cell, "vocab_size"), size(cell, "length"), size(cell, "dim")
    )


def vocabulary(cell: Cell) -> float:
    """The largest vocabulary."""
    return capacity.max_vocab(size(cell, "samples"), size(cell, "length"), size(cell, "dim"))


def length(cell: Cell) -> float:
    """The longest sequences."""
    return capacity.max_length(size(cell, "samples"), size(cell, "vocab_size"), size(cell, "dim"))


def dimension(cell: Cell) -> float:
    """The least dimension."""
    return capacity.min_dim(size(cell, "samples"), size(cell, "vocab_size"), size(cell, "length"))


def times(law: Callable[[Cell], float], factor: float) -> Callable[[Cell], float]:
    """The law with another constant."""
    return lambda cell: factor * law(cell)


def curve(x: str, group: tuple[str, ...], x_label: str) -> Plot:
    """Accuracy against one size."""
    return Plot(x=x, group=group, x_label=x_label, y_label="end-to-end accuracy")


def accuracy(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Accuracy of the three steps on fresh sequences, exact for each replicate."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": end_to_end.run(batch).accuracy}


COVERAGE = scan("samples", 92, (0.8, 1.0, 1.25), vocab_size=128, length=8, dim=128)
RECALL = scan("samples", 124, (0.8, 1.0, 1.25), vocab_size=128, length=16, dim=64)
LOCALISATION = scan("samples", 1530, (0.8, 1.0, 1.25), vocab_size=128, length=128, dim=64)


@claim(
    "A.capacity-samples",
    "How many samples are needed, and which condition decides",
    source=SOURCE,
    latex=r"N_{min} = \max\{N_c(V, L, d),\ N_{recall}(V, d),\ V\log 2\}",
    regime="""One scan where each condition rules: coverage (many dimensions, short sequences),
        recall (fewer dimensions) and localisation (long sequences); d <= V.""",
    cells={
        "smoke": COVERAGE + RECALL,
        "standard": COVERAGE + RECALL + LOCALISATION,
        "full": COVERAGE + RECALL + LOCALISATION,
    },
    replicates=50,
    looks=4,
    rule=CriticalLocation(REGION),
    why=REGION_REASON,
    predict=samples,
    controls=(
        Control("constant-1.3", "30% more samples", predict=times(samples, 1.3)),
        Control(
            "coverage-only",
            "half of the tokens seen is enough",
            predict=lambda cell: capacity.coverage_samples(size(cell, "vocab_size")),
        ),
    ),
    plot=curve("samples", ("length", "dim"), "samples N"),
    critical=samples,
)
def samples_needed(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Half of the fresh sequences get their label once the samples suffice for localisation, for
    recall through the interference of the stored facts, and to have shown half of the tokens."""
    return accuracy(cell, block)


VOCABULARY = scan("vocab_size", 273, (0.8, 1.0, 1.25), samples=1024, length=8, dim=64)


@claim(
    "A.capacity-vocabulary",
    "The largest vocabulary that N samples and d dimensions hold",
    source=SOURCE,
    latex=r"V_{max} = \max\{V : N_{min}(V, L, d) \le N\}",
    regime="Short sequences and N > V: the vocabulary is limited by recall, d^2 ~ 2 V log V.",
    cells=VOCABULARY,
    replicates=25,
    looks=4,
    rule=CriticalLocation(REGION, scan="vocab_size"),
    why=REGION_REASON,
    predict=vocabulary,
    controls=(
        Control("constant-1.3", "30% more tokens", predict=times(vocabulary, 1.3)),
        Control("one-a-dimension", "one token a dimension", predict=lambda c: c.number("dim")),
    ),
    plot=curve("vocab_size", ("dim",), "vocabulary V"),
    critical=vocabulary,
)
def vocabulary_held(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With N samples of length L in d dimensions, half of the fresh sequences get their label up to
    the vocabulary at which the capacity formula asks for exactly N samples."""
    return accuracy(cell, block)


LENGTH = scan("length", 127, (0.85, 1.0, 1.18), samples=1200, vocab_size=128, dim=80)


@claim(
    "A.capacity-length",
    "The longest sequences that N samples and d dimensions bear",
    source=SOURCE,
    latex=r"L_{max} = \max\{L : N_{min}(V, L, d) \le N\}",
    regime="Long sequences, with room in recall: the length is limited by localisation, in the "
    "mean-bias regime.",
    cells={"standard": LENGTH, "full": LENGTH},
    replicates=50,
    looks=4,
    rule=CriticalLocation(REGION, scan="length"),
    why=REGION_REASON,
    predict=length,
    controls=(
        Control("constant-1.3", "30% longer", predict=times(length, 1.3)),
        Control("constant-0.75", "a quarter shorter", predict=times(length, 0.75)),
    ),
    plot=curve("length", ("dim",), "length L"),
    critical=length,
)
def length_borne(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With N samples and V tokens in d dimensions, half of the fresh sequences get their label up
    to the length at which the capacity formula asks for exactly N samples."""
    return accuracy(cell, block)


DIMENSION = scan("dim", 62, (0.85, 1.0, 1.18), samples=1024, vocab_size=256, length=8)


@claim(
    "A.capacity-dimension",
    "The least dimension that holds V tokens with N samples",
    source=SOURCE,
    latex=r"d_{min} = \min\{d : N_{min}(V, L, d) \le N\}",
    regime="Short sequences and N > V: the dimension is limited by recall.",
    cells=DIMENSION,
    replicates=25,
    looks=4,
    rule=CriticalLocation(REGION, scan="dim"),
    why=REGION_REASON,
    predict=dimension,
    controls=(
        Control("constant-1.3", "30% more dimensions", predict=times(dimension, 1.3)),
        Control("orthogonal", "as many as tokens", predict=lambda c: c.number("vocab_size")),
    ),
    plot=curve("dim", ("vocab_size",), "dimension d"),
    critical=dimension,
)
def dimension_needed(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With N samples of V tokens, half of the fresh sequences get their label from the dimension on
    at which the capacity formula asks for exactly N samples: far fewer dimensions than tokens."""
    return accuracy(cell, block)
