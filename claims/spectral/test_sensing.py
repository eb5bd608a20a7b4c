"""Learning of a matrix from Gaussian measurements, by Muon and gradient descent (H).

In most claims the measurements are few: there are far fewer measurements than weights.
"""

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import table
from claims.spectral.measurements import derived, drawn
from simulation.spectral import underdetermined as measured
from theory.spectral import underdetermined as theory

PACES = 24
"""Number of steps up to the cell's time, in claims whose figures depend on this number."""


def work(cell: rc.Cell) -> float:
    """Estimate how many numbers are handled in products with measurements and decompositions."""
    rows, columns = cell["rows"], cell["columns"]
    return float(2 * rows * columns * (cell["measurements"] + 10 * columns))


HALF = table("rows columns measurements time", (8, 8, 8, 0.6), (16, 8, 16, 0.6), (16, 16, 32, 0.6))


@rc.claim(
    "H.sensing-loss",
    "On few Gaussian measurements Muon's loss falls as (1 - c t)^2, not exponentially",
    source=derived("H1"),
    predict=rc.on(theory.sensing_loss),
    regime=theory.FEW,
    size=work,
    cells={"smoke": HALF[:1], "standard": HALF},
    rule=rc.MeanDifference(rc.Region(-0.025, 0.025)),
    why="two exact bounds are 0.045 apart at an eighth as many measurements as weights; c is known "
    "to 0.003, which is 0.002 of the loss",
    replicates=(64, 1024),
    controls=(
        rc.Control("exponential", "exp(-2 c t), with the same first speed", lambda c: slowed(c)),
        rc.Control("flow", "1 - 2 c t, a straight line", lambda c: 1 - 2 * speed(c) * c["time"]),
        rc.at("faster", "a quarter faster", time=0.75),
        rc.at("slower", "a fifth slower", time=0.48),
    ),
    dtype="float32",
)
def sensing_loss(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The residuals follow the gradient flow of a convex function: the nuclear norm of the gradient
    that they give. On few Gaussian measurements this norm is close to a multiple c of the length of
    the residuals. So the length falls at the speed c, up to an error that grows with the number of
    measurements per weight, rho."""
    task, time = drawn(cell, block)
    return measured.loss_share(task, measured.after(task, time, PACES))


def speed(cell: rc.Cell) -> float:
    """Predict the speed at which the residuals' length falls at the start."""
    return theory.speed(cell["rows"], cell["columns"])


def slowed(cell: rc.Cell) -> float:
    """Predict the loss as if residuals slowed down in proportion to their length."""
    return float(torch.tensor(-2 * speed(cell) * cell["time"]).exp())


FITTED = table("rows columns measurements", (8, 8, 2), (16, 8, 4), (12, 12, 4))


@rc.claim(
    "H.sensing-time",
    "Muon fits few Gaussian measurements in a finite time, between two bounds",
    source=derived("H1"),
    predict=rc.on(theory.sensing_speed),
    regime=theory.FEWER,
    size=lambda c: 3 * work(c),
    cells={"smoke": FITTED[:1], "standard": FITTED},
    rule=rc.MeanDifference(rc.Region(-0.091, 0.091)),
    why="two exact bounds are the root of rho apart, 0.177 at a 32nd as many measurements as "
    "weights; c is known to 0.003. With 1,024 replicates the claim was undecided under one "
    "of four other seeds",
    replicates=(64, 2048),
    controls=(
        rc.times(1.25, "faster", "a quarter faster"),
        rc.times(0.8, "slower", "a fifth slower"),
        rc.Control("never", "exponentially, and so never", lambda _: 0.0),
        rc.Control("all", "1/T = 1, as for a gradient of equal singular values", lambda _: 1.0),
    ),
    dtype="float32",
)
def sensing_time(cell: rc.Cell, block: rc.Block) -> Tensor:
    """All measurements are fitted in a time T. Let c be the speed at which the residuals' length
    falls at the start. Then 1/T is at most c, because this speed only falls. By Gordon's inequality
    1/T is at least c less the root of rho, the number of measurements per weight."""
    return 1 / measured.fitting_time(drawn(cell, block)[0])


SQUARE = table("rows columns measurements time", (8, 8, 2, 0.6), (16, 16, 4, 0.6), (16, 16, 8, 0.6))


@rc.claim(
    "H.sensing-flat",
    "The fewer the Gaussian measurements, the closer Muon's singular values are to equal",
    source=derived("H1"),
    predict=rc.on(theory.flat_share),
    size=work,
    regime=rc.Regime(
        "square matrices; at least 16 times as many weights as measurements; t up to 0.6",
        {
            "rows": rc.log_range(8, 64),
            "columns": rc.log_range(8, 64),
            "measurements": rc.log_range(2, 256),
            "time": (0.2, 0.4, 0.6),
        },
        holds=lambda cell: (
            cell["rows"] == cell["columns"] and 16 * cell["measurements"] <= cell["columns"] ** 2
        ),
    ),
    cells={"smoke": SQUARE[:1], "standard": SQUARE},
    rule=rc.OneSided(lower=0.0, method=rc.Betting(0, 1)),
    why="a bound with all its constants, which is far from sharp. The bound needs the law of a "
    "large Gaussian matrix's least singular values",
    replicates=(64, 512),
    controls=(
        rc.reads("gradient", "gradient descent's singular values", "gradient"),
        rc.reads("one-value", "only one singular value is not zero", "one_value"),
    ),
    dtype="float32",
)
def sensing_flat(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """After a time t of Muon no singular value of W exceeds t. The squares of the singular values
    add up to nearly as much as this allows, so all singular values are nearly t. Under gradient
    descent with steps of the same length they are as unequal as in a Gaussian matrix."""
    task, time = drawn(cell, block)
    rank = cell["columns"]
    moved = measured.after(task, time, PACES)
    descended = measured.after(task, time, PACES, measured.as_long_as(rank))
    return {
        "value": measured.stable_share(moved, rank),
        "gradient": measured.stable_share(descended, rank),
        "one_value": torch.full_like(moved[:, 0, 0], 1 / rank),
    }


SPREAD = table(
    "rows columns measurements time",
    (4, 4, 6, 0.6),
    (8, 4, 8, 0.6),
    (8, 8, 32, 0.3),
)


@rc.claim(
    "H.gradient-values",
    "The ratios of gradient descent's singular values have exactly the law of a Gaussian matrix's",
    source=derived("H2"),
    predict=rc.on(theory.gradient_concentration),
    regime=rc.Regime(
        "at most as many measurements as weights",
        {
            "rows": rc.log_range(2, 32),
            "columns": rc.log_range(2, 32),
            "measurements": rc.log_range(2, 256),
            "time": (0.3, 0.6),
        },
        holds=lambda cell: (
            cell["columns"] <= cell["rows"]
            and cell["measurements"] <= cell["rows"] * cell["columns"]
        ),
    ),
    size=work,
    cells={"smoke": SPREAD[:1], "standard": SPREAD},
    rule=rc.MeanRatio(rc.Region(0.98, 1.02)),
    why="exact at every size, time and step; 2% is what replicates resolve. The region was 1% "
    "before a pilot under seed 1001. 4,096 replicates left 2% undecided under two of four seeds",
    replicates=(512, 8192),
    controls=(
        rc.Control("equal", "equal singular values", lambda _: 1.0),
        rc.reads("muon", "Muon's singular values", "muon"),
        rc.times(1.05),
        rc.times(0.95),
    ),
    dtype="float32",
)
def gradient_values(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Whatever its steps, gradient descent moves W to a vector whose direction is uniform in the
    span of the measurements. So at all times the ratios of W's singular values have the law that
    they have in a Gaussian matrix. The claim is on one such ratio: the mean of the singular
    values' fourth powers, divided by the squared mean of their squares."""
    task, time = drawn(cell, block)
    descended = measured.after(task, time, 6, measured.as_long_as(cell["columns"]))
    return {
        "value": measured.concentration(descended),
        "muon": measured.concentration(measured.after(task, time, 2)),
    }
