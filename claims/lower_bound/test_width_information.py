"""A4, A9, A13: when a wider layer carries more information about the map from tokens to labels."""

from torch import Tensor

import recall_claims as rc
from claims.common import claim
from simulation.lower_bound import width_information as feature_spectrum
from theory.lower_bound import width_information as width

REFERENCE = "theory/lower_bound/width_information.py"
SOURCE = rc.Source("A", "A4", "A9", "A13", provenance="derived", reference=REFERENCE)
SIZES = {"vocab_size": 64, "dim": 12, "width": 48, "sequences": 8192}
LENGTHS = rc.Regime(
    "L from 4 to 16, m = 4 d < V",
    {
        "length": range(4, 17),
        "dim": range(10, 17),
        "width": (40, 44, 48, 52, 56, 60, 64),
        "vocab_size": (64, 80, 96),
        "sequences": 8192,
        "activation": "relu",
    },
    holds=lambda c: c["width"] == 4 * c["dim"] < c["vocab_size"],
)


@claim(
    "A.width-linear-directions",
    "No token of a sequence explains more than 1/L of the variance of any feature",
    source=SOURCE,
    predict=rc.on(width.largest_share),
    regime=LENGTHS.searched(
        """any features; the linear part of ReLU comes close to equality in d directions, whatever
        the size of its input"""
    ),
    cells={
        "smoke": rc.grid(**SIZES, length=16, activation="relu"),
        "standard": rc.grid(**SIZES, length=(4, 8, 16), activation="relu"),
    },
    replicates=128,
    rule=rc.MeanRatio(rc.Region(0.85, 1.0), method=rc.Student(spent=0.25)),
    why="""A ratio above 1 would violate the bound. Features of higher order mix into the d
        leading directions and take 5 to 10% in pilots under seeds of 1000 and above.""",
    controls=(
        rc.power("square", "1/L^2, as if every direction were of second order", length=-1),
        rc.times(1.2),
    ),
    plot=rc.Plot(x="length", y_label="share of variance", log="xy"),
)
def linear_directions(cell: rc.Cell, block: rc.Block) -> Tensor:
    """One token explains at most 1/L of the variance of any feature of its sequence, and nearly 1/L
    in d directions of the layer. The model without a layer has d features, and one token explains
    1/L of the variance of each. So a layer of width m carries at most m/d times the information of
    the model without a layer."""
    return block.draw(feature_spectrum.shares, cell).leading


@claim(
    "A.width-pays-late",
    "Width pays only once N exceeds L^2 V",
    source=SOURCE,
    latex=r"\rho_j\propto L^{-2}\quad(j>d)",
    regime=LENGTHS.searched(
        "ReLU, GELU; the m - d directions added are of second order in mean values",
        activation=("relu", "gelu"),
    ),
    cells={
        "smoke": rc.grid(**SIZES, length=(4, 16), activation="relu"),
        "standard": rc.grid(**SIZES, length=(4, 8, 16), activation=("relu", "gelu")),
    },
    replicates=(64, 128),
    rule=rc.Exponents(width.EXPONENTS, half_width=0.12),
    why="terms of order 1/L move the exponent by about 0.1",
    controls=(
        rc.power("as-linear", "shares of order 1/L, as in the first d directions", length=1),
        rc.power("third-order", "shares of order 1/L^3", length=-1),
        rc.power(length=0.3),
    ),
    plot=rc.Plot(x="length", group=("activation",), y_label="share of variance", log="xy"),
)
def width_pays_late(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Beyond the d linear directions one token explains a share of order 1/L^2 of a feature's
    variance. N samples of V tokens resolve this share only for N of the order of L^2 V."""
    return block.draw(feature_spectrum.shares, cell).rest
