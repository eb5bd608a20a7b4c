"""A4, A13: where estimators that see the gradient at initialisation guess half of the labels."""

import math
from functools import partial

from torch import Tensor

from claims.lower_bound.common import SOURCE, derived, guessed
from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    CriticalLocation,
    Plot,
    Region,
    at,
    claim,
    grid,
    on,
)
from theory.attention.problem import Problem
from theory.lower_bound import gradient_capacity, linear_mmse, matched_filter

SCANS = tuple(
    Cell(estimator=name, vocab_size=256, length=length, dim=dim, samples=samples)
    for name, length, dim, scan in (
        ("matched filter", 16, 96, (2048, 2896, 4096)),
        ("matched filter", 64, 128, (5120, 7168, 10240)),
        ("linear MMSE", 32, 72, (3584, 5120, 7168)),
        ("linear MMSE", 96, 112, (3328, 4608, 6656)),
    )
    for samples in scan
)


def critical(cell: Cell) -> float:
    """Predicted critical number of samples of the cell's estimator."""
    if cell["estimator"] == "matched filter":
        return matched_filter.critical_samples(Problem.of(cell))
    return linear_mmse.critical_samples(Problem.of(cell))


def product(cell: Cell) -> float:
    """The leading law as a number of samples, N = 2 L V^2 log V / d^2."""
    size = cell.number("vocab_size")
    return 2 * cell.number("length") * size**2 * math.log(size) / cell.number("dim") ** 2


@claim(
    "A.gradient-samples",
    "Samples at which half of the labels can be read off the gradient",
    source=derived("argmax_accuracy.py"),
    latex=r"\mathrm{Acc}(V,L,N_c,d)=\frac12",
    predict=critical,
    regime="V = 256; N_c from 9V to 28V: short sequences and few dimensions to long ones and many.",
    cells={"smoke": SCANS[:3] + SCANS[6:9], "standard": SCANS},
    replicates={"smoke": 32, "full": 64},
    looks={"smoke": 2, "standard": 3},
    rule=CriticalLocation(Region(0.9, 1.1)),
    why="""The accuracy formulas are good to 0.015, and accuracy rises by about 0.3 per
        unit of log N: 5% in N, and as much for sampling error.""",
    controls=(
        Control("leading-order", "the leading law, without interference, at infinite V", product),
        at("half-length", "L/2 for L", length=lambda cell: cell["length"] // 2),
    ),
    plot=Plot(x="samples", group=("estimator", "length"), y_label="accuracy"),
)
def critical_samples(cell: Cell, block: Block) -> Tensor:
    """Matched filter and linear MMSE guess half of the labels at the number of samples at which
    their accuracy formulas are 1/2."""
    return guessed(cell, block, cell["estimator"])


CONTOUR = tuple(
    Cell(
        vocab_size=size,
        length=length,
        dim=dim,
        vocab_load=size * math.sqrt(math.log(size)),  # its square is V^2 log V
        samples=round(middle * factor),
    )
    for size, length, places in (
        (192, 76, ((77, 4469), (115, 1925))),
        (192, 190, ((77, 10922), (115, 4449))),
        (384, 76, ((154, 4959), (230, 2458))),
        (384, 190, ((154, 11872), (230, 5346))),
    )
    for dim, middle in places
    for factor in (2**-0.5, 1, 2**0.5)
)
LAW = gradient_capacity.EXPONENTS
EXPONENTS = {"vocab_load": LAW["vocab_size"], "length": LAW["length"], "dim": LAW["dim"]}
near = partial(CriticalExponents, half_width=0.13)


def additive(cell: Cell) -> float:
    """V, L and d each add samples of their own, equally many at the centre of the grid."""
    squares = (cell["vocab_load"] / 650) ** 2 + (134 / cell["dim"]) ** 2
    return float(squares + cell["length"] / 120)


@claim(
    "A.gradient-product",
    "N, d, L and V enter as a product: N d^2 = 2 L V^2 log V",
    source=derived("gradient_capacity.py"),
    latex=r"N_c d^2 \propto L\,V^2\log V",
    regime="""Linear MMSE, N_c << LV, so that noise and not interference limits; L >= V/5, so that
        N_c is large against V; d/V of 0.4 and 0.6. The power of V is that of V sqrt(log V).""",
    cells={"standard": CONTOUR},
    replicates=32,
    looks=3,
    rule=CriticalExponents(EXPONENTS, half_width={"vocab_load": 0.13, "length": 0.12, "dim": 0.13}),
    why="""The law is asymptotic: on this grid the full formula for half accuracy
        (theory/lower_bound/linear_mmse.py) has exponents 2.06, 0.92 and -2.02.""",
    controls=(
        Control(
            "additive",
            "V, L and d each need samples of their own, which add up",
            additive,
            rule=near(EXPONENTS, reference="prediction"),
        ),
        Control("linear-in-d", "d in place of d^2", rule=near(EXPONENTS | {"dim": -1.0})),
        Control("no-length", "the length plays no part", rule=near(EXPONENTS | {"length": 0.0})),
    ),
    plot=Plot(
        x="samples", group=("vocab_size", "length", "dim"), collapse=True, y_label="accuracy"
    ),
    critical=product,
)
def multiplicative(cell: Cell, block: Block) -> Tensor:
    """The number of samples at which half of the labels can be read off the gradient is a product
    of powers, L V^2 log V / d^2, not a sum of separate demands."""
    return guessed(cell, block, "linear MMSE")


DIMENSIONS = (
    *grid(vocab_size=256, length=32, samples=2048, dim=(90, 104, 120)),
    *grid(vocab_size=256, length=32, samples=8192, dim=(54, 62, 72)),
    *grid(vocab_size=256, length=8, samples=8192, dim=(43, 49, 56)),
)


@claim(
    "A.gradient-dim",
    "The closed form for the dimension that half accuracy needs",
    source=SOURCE,
    predict=on(Problem, gradient_capacity.half_dim),
    regime="""Linear MMSE, V = 256, N/(LV) of 1/4, 1 and 4: noise limits at first, then
        interference.""",
    cells={"smoke": DIMENSIONS[3:6], "standard": DIMENSIONS},
    replicates={"smoke": 24, "standard": 32, "full": 64},
    looks=2,
    rule=CriticalLocation(Region(0.77, 0.95), scan="dim"),
    why="""The closed form is asymptotic in log V: the median of the largest of V normal
        variables is 0.84 times sqrt(2 log V) at V = 256; terms in 1/d are worth a few percent.""",
    controls=(at("no-noise", "the other tokens cost nothing: d^2 = 2V log V", samples=10**9),),
    plot=Plot(x="dim", group=("length", "samples"), y_label="accuracy"),
)
def half_dim(cell: Cell, block: Block) -> Tensor:
    """Linear MMSE guesses half of the labels right at d^2 = 2 V log V (1 + LV/N), to leading order
    in log V."""
    return guessed(cell, block, "linear MMSE")
