"""A4, A9, A13: when a wider layer tells more about the map from tokens to labels."""

from torch import Tensor

from recall_claims import (
    Block,
    Cell,
    Exponents,
    MeanRatio,
    Plot,
    Region,
    Source,
    Student,
    claim,
    grid,
    on,
    power,
    times,
)
from simulation.lower_bound import width_information as feature_spectrum
from theory.lower_bound import width_information as width

REFERENCE = "theory/lower_bound/width_information.py"
SOURCE = Source("A", "A4", "A9", "A13", provenance="derived", reference=REFERENCE)
SIZES = {"vocab_size": 64, "dim": 12, "width": 48, "sequences": 8192}


@claim(
    "A.width-linear-directions",
    "No feature of a sequence depends on one of its tokens by more than 1/L",
    source=SOURCE,
    predict=on(width.largest_share),
    regime="""Holds for all features. The linear part of ReLU comes close to equality in d
        directions, whatever the size of its input.""",
    cells={
        "smoke": grid(**SIZES, length=16, activation="relu"),
        "standard": grid(**SIZES, length=(4, 8, 16), activation="relu"),
    },
    replicates=128,
    looks=1,
    rule=MeanRatio(Region(0.85, 1.0), method=Student(spent=0.25)),
    why="""Above 1 the bound would be violated; features of higher order mix into the d
        leading directions and take 5 to 10% in pilots under seeds of 1000 and above.""",
    controls=(
        power("square", "1/L^2, as if every direction were of second order", length=-1),
        times(1.2),
    ),
    plot=Plot(x="length", y_label="share of variance", log="xy"),
)
def linear_directions(cell: Cell, block: Block) -> Tensor:
    """One token explains at most 1/L of the variance of any feature of its sequence, so that a
    layer of width m tells at most m/d times as much as none; d directions attain it."""
    return block.draw(feature_spectrum.shares, cell).leading


@claim(
    "A.width-pays-late",
    "Width pays only once N exceeds L^2 V",
    source=SOURCE,
    latex=r"\rho_j\propto L^{-2}\quad(j>d)",
    regime="ReLU, GELU; m = 4d < V: the m - d directions added are of second order in mean values.",
    cells={
        "smoke": grid(**SIZES, length=(4, 16), activation="relu"),
        "standard": grid(**SIZES, length=(4, 8, 16), activation=("relu", "gelu")),
    },
    replicates=64,
    looks=2,
    rule=Exponents(width.EXPONENTS, half_width=0.12),
    why="Corrections of higher order are of relative size 1/L.",
    controls=(
        power(
            "as-linear", "width adds directions as good as the first d, 1/L: m d always", length=1
        ),
        power("third-order", "1/L^3", length=-1),
        power(length=0.3),
    ),
    plot=Plot(x="length", group=("activation",), y_label="share of variance", log="xy"),
)
def width_pays_late(cell: Cell, block: Block) -> Tensor:
    """Beyond the d linear directions one token explains a share 1/L^2 of a feature's variance, and
    N samples of V tokens resolve it only for N of the order of L^2 V."""
    return block.draw(feature_spectrum.shares, cell).rest
