"""The map of the noise term that dominates."""

from torch import Tensor

from claims.attention.common import settings
from recall_claims import Block, Cell, Control, Plot, Region, Share, Source, claim, on
from simulation.attention import sampling, split
from theory.attention import noise
from theory.attention.problem import Problem

SIZES = "vocab_size dim length samples"
SPHERE = (
    *((64, 32, 8, 1024), (128, 8, 4, 4096), (256, 32, 16, 1024), (256, 64, 32, 1024)),
    *((64, 16, 32, 1024), (256, 32, 16, 256), (128, 64, 16, 256), (256, 16, 16, 4096)),
    *((64, 8, 128, 64), (128, 16, 64, 64), (128, 64, 128, 256), (256, 32, 32, 256)),
    *((64, 32, 32, 16), (256, 64, 128, 16), (64, 16, 64, 1024), (256, 128, 64, 256)),
    *((256, 8, 16, 16), (256, 8, 16, 64), (256, 8, 16, 256), (512, 8, 16, 64), (512, 8, 32, 16)),
    *((128, 32, 8, 16), (256, 32, 8, 16), (256, 64, 16, 64), (128, 64, 8, 16), (256, 64, 8, 16)),
    *((256, 128, 16, 64), (256, 16, 4, 16)),
)
TRIGGER_IN_VALUES = (
    *((256, 64, 16, 1024), (128, 16, 16, 64), (256, 16, 8, 16), (64, 8, 8, 256)),
    *((64, 8, 64, 64), (128, 32, 128, 64), (256, 64, 64, 64)),
)
ORTHONORMAL = ((128, 130, 8, 256), (64, 66, 4, 256), (128, 130, 32, 64), (64, 66, 16, 16))
POINTS = (
    *settings(SIZES, *SPHERE, embeddings="sphere", trigger_in_values=False),
    *settings(SIZES, *TRIGGER_IN_VALUES, embeddings="sphere", trigger_in_values=True),
    *settings(SIZES, *ORTHONORMAL, embeddings="orthonormal", trigger_in_values=False),
)


def exchanged(cell: Cell) -> str:
    """The map with mean bias and stored context exchanged."""
    symbol = noise.dominant(Problem.of(cell))
    return {"A": "B", "B": "A"}.get(symbol, symbol)


@claim(
    "A.dominant-term-map",
    "The map of the dominant noise term",
    source=Source("A", "A9", "A10", provenance="derived", reference="theory/attention/noise.py"),
    predict=on(Problem, noise.dominant),
    latex=r"\arg\max\{T,A,B,C,D,E,H,C_2,F\}",
    regime="39 points where the largest predicted term is at least 1.7 times the next: T with many "
    "samples, A with long sequences, B with d < L < V/d, C with short sequences and few samples, "
    "C and H with orthonormal embeddings",
    cells={"standard": POINTS},
    replicates=128,
    looks=2,
    rule=Share(Region(0.9, 1.0)),
    why="the formulas are good to 10%, so every prediction should be right; up to 4 "
    "points may stay undecided because the variance of a single batch has a heavy tail at small d",
    controls=(
        Control("exchanged", "mean bias A and stored context B exchanged", exchanged),
        Control("one-regime", "gradient noise C everywhere", lambda cell: "C"),
    ),
    plot=Plot("map", x="length", group=("samples",)),
)
def dominant_term(cell: Cell, block: Block) -> dict[str, Tensor]:
    """Of the nine noise terms, each isolated by the exact split of the token scores, the one with
    the largest mean variance is the one that the formulas name."""
    return split.variances(block.draw(sampling.draw, cell))
