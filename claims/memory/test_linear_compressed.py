"""Linear memories with fewer parameters, or with fewer bits: low rank, and one bit a parameter."""

import math
from collections.abc import Iterable, Mapping

import torch

from claims.memory.test_linear import CAPACITY, accuracy, draw, number
from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    CriticalLocation,
    Plot,
    Probability,
    Region,
    cells,
    claim,
)
from simulation.memory import linear as measured
from theory.memory import linear as memory


def ranks(points: Iterable[tuple[int, int]], factors: Iterable[float]) -> tuple[Cell, ...]:
    """Cells at these multiples of the rank at which half of the associations are recalled."""
    return cells(
        {"associations": n, "dim": d, "width": round(factor * memory.half_rank(n, d))}
        for n, d in points
        for factor in factors
    )


def low_rank_accuracy(cell: Cell) -> float:
    """Predicted accuracy of the memory of rank m."""
    return memory.low_rank_accuracy(number(cell), cell.number("dim"), cell.number("width"))


def subspaces(cell: Cell, block: Block) -> torch.Tensor:
    """Random subspaces of a cell's rank."""
    return measured.subspaces(
        block.rngs,
        dim=cell["dim"],
        width=cell["width"],
        device=block.device,
        dtype=block.dtype,
    )


def low_rank(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Share of the associations that the memory recalls behind a random projector."""
    pairs = draw(cell, block)
    stored = measured.low_rank(measured.hebbian(pairs), subspaces(cell, block))
    return {"value": measured.accuracy(pairs, stored)}


LOW_RANK = cells(
    {"associations": n, "dim": d, "width": m}
    for n, d, m in ((100, 64, 32), (200, 64, 32), (256, 128, 32), (400, 128, 64))
)


@claim(
    "B.low-rank-accuracy",
    "Accuracy of a memory of rank m",
    source=CAPACITY,
    latex=r"P_m = E_qP\left(T^2=\frac1{qd}\right),\quad q\sim\mathrm{Beta}\left(\frac m2,"
    r"\frac{d-m}2\right)",
    regime="n from 100 to 400, rank d/4 and d/2, accuracies from 0.5 to 0.86.",
    cells={"standard": LOW_RANK, "full": LOW_RANK},
    replicates=128,
    looks=5,
    rule=Probability(Region(-0.015, 0.015)),
    why="Like that of the full rank: 0.005 in pilots with seeds above 1000.",
    predict=low_rank_accuracy,
    controls=(
        Control("full-rank", "rank plays no part", predict=accuracy),
        Control(
            "square-of-same-parameters",
            "as a full-rank memory with d^2 equal to m d",
            predict=lambda c: memory.accuracy(
                number(c), math.sqrt(c.number("dim") * c.number("width"))
            ),
        ),
        Control(
            "ten-percent-rank",
            "10% less rank",
            predict=lambda c: low_rank_accuracy(c.replace(width=c.number("width") / 1.1)),
        ),
    ),
    plot=Plot(kind="parity"),
)
def rank_accuracy(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Behind a random projector of rank m, the input keeps a share q = m/d of its length, which
    fluctuates, and the interference relative to the signal grows from n/d^2 to n/(m d)."""
    return low_rank(cell, block)


@claim(
    "B.low-rank-threshold",
    "The rank at which half of the associations are recalled",
    source=CAPACITY,
    latex=r"P_m(m_{1/2}) = \frac12,\quad m_{1/2}d\sim2n\ln n",
    regime="n = 128 and 256 at d = 64 and 128: ranks from 14 to 41.",
    cells=lambda: {
        "standard": ranks(((128, 64), (128, 128), (256, 128)), (0.7, 0.9, 1.1, 1.4)),
        "full": ranks(((128, 128), (1024, 256), (2048, 512)), (0.7, 0.9, 1.1, 1.4)),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.96, 1.04), scan="width"),
    why="An accuracy that is off by 0.005 moves the rank by 1%, the probit curve by 1%.",
    predict=lambda c: memory.half_rank(number(c), c.number("dim")),
    controls=(
        Control(
            "rank-of-same-parameters",
            "m d equal to the d^2 at which a full-rank memory recalls half",
            predict=lambda c: memory.half_dim(number(c)) ** 2 / c.number("dim"),
        ),
        Control(
            "all-pairs-constant",
            "m d = 8 n log n",
            predict=lambda c: memory.all_dim(number(c)) ** 2 / c.number("dim"),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim"), collapse=True),
    critical=lambda c: memory.half_rank(number(c), c.number("dim")),
)
def rank_threshold(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A memory of rank m recalls half of n associations at a rank that tends to 2 n log n / d; at
    small ranks more is needed, because the share of a query that passes the projector varies."""
    return low_rank(cell, block)


@claim(
    "B.low-rank-product",
    "Rank and dimension multiply",
    source=CAPACITY,
    latex=r"m_{1/2}\propto n^{a}d^{-b},\quad a\to1,\ b\to1",
    regime="n = 256 and 1024, d = 128 and 256, rank within 40% of the threshold.",
    cells=lambda: {
        "standard": ranks(((256, 128), (256, 256), (1024, 128), (1024, 256)), (0.7, 0.9, 1.1, 1.3)),
        "full": ranks(((1024, 256), (1024, 512), (4096, 256), (4096, 512)), (0.7, 0.9, 1.1, 1.4)),
    },
    replicates=16,
    looks=4,
    rule=CriticalExponents(
        {"associations": 1.0, "dim": -1.0}, 0.06, scan="width", reference="prediction"
    ),
    why="""The limits 1 and -1 are approached slowly, as n/d and m grow; the finite-size
        theory has 0.94 and -0.73 on this grid, and is off by 2% in each of four ranks.""",
    predict=lambda c: memory.half_rank(number(c), c.number("dim")),
    controls=(
        Control(
            "rank-alone",
            "the rank needed does not depend on the dimension",
            rule=CriticalExponents({"associations": 1.0, "dim": 0.0}, 0.15, scan="width"),
        ),
        Control(
            "limit",
            "the product m d alone matters, as in the limit",
            rule=CriticalExponents({"associations": 1.0, "dim": -1.0}, 0.06, scan="width"),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim")),
)
def rank_product(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """The rank needed grows about linearly with n and falls with d: parameters m d count, with
    corrections at finite size."""
    return low_rank(cell, block)


ONE_BIT = cells({"associations": n, "dim": d} for n, d in ((120, 64), (200, 64), (400, 128)))


@claim(
    "B.one-bit-accuracy",
    "Accuracy of a memory with one bit a parameter",
    source=CAPACITY,
    latex=r"B = \frac{n-1}d+\left(\frac\pi2-1\right)\frac nd",
    regime="n/d from 2 to 3, so that an entry of W is a sum of many terms; d = 64 and 128.",
    cells={"standard": ONE_BIT, "full": ONE_BIT},
    replicates=64,
    looks=5,
    rule=Probability(Region(-0.015, 0.015)),
    why="""The entries of W are normal up to 1/n, which together with the error of the
        full-precision theory is 0.006 in pilots with seeds above 1000.""",
    predict=lambda c: memory.one_bit_accuracy(number(c), c.number("dim")),
    controls=(
        Control("full-precision", "the signs cost nothing", predict=accuracy),
        Control(
            "half-pi-associations",
            "as full precision with pi/2 times the associations",
            predict=lambda c: memory.accuracy(math.pi / 2 * number(c), c.number("dim")),
        ),
    ),
    plot=Plot(kind="parity"),
)
def one_bit_accuracy(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Rounding every parameter to its sign adds noise as if there were pi/2 times the
    associations, less in the terms that come from the outputs' own overlaps."""
    pairs = draw(cell, block)
    return {"value": measured.accuracy(pairs, measured.one_bit(measured.hebbian(pairs)))}
