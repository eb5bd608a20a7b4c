"""Decay of the errors once the facts are learned: 1/(T log T), or exp(-T^2 / const) (D3).

There are S subjects and R relations, and T is the time. Spectral flow follows the polar factor of
the gradient. The flows are deterministic, and start with equal coordinates.
"""

import math
from functools import partial
from itertools import pairwise

from torch import Tensor

import recall_claims as rc
from claims.common import measuring
from claims.spectral import common
from claims.spectral.common import each, end, learner, path, task, whole
from simulation.spectral import flows
from theory.spectral import flows as theory

FIRST = 1e4
flow_claim = partial(rc.claim, replicates=2, size=whole)


def decaying(*pairs: common.Pair, until: tuple[float, ...], **more: str) -> tuple[rc.Cell, ...]:
    """Make cells of gradient flow for subjects and for relations, at each time of ``until``.

    A cell's ``duration`` is the time until both subjects and relations are learned.
    """
    return tuple(
        cell.replace(
            part=part,
            time=time,
            log_time=float(f"{math.log(time):.6g}"),
            duration=float(f"{max(common.time_of(cell, p) for p in common.PARTS):.4g}"),
        )
        for cell in common.sizes(*pairs, flow="gradient", **more)
        for part in common.PARTS
        for time in until
    )


GRADIENT_ERROR = rc.on(
    lambda **cell: theory.gradient_error(theory.Facts.of(cell), cell["part"], cell["time"])
)


def late_error(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Compute the probability of a wrong subject, or relation, at the cell's time."""
    model = learner(cell, block)
    # With half as many steps, rounding errors off the manifold grow where subjects are many.
    clock = flows.clock(cell["duration"], 400, growing=cell["time"])
    odds = getattr(model.odds(end(cell, model, clock)), cell["part"])
    return each(block, (-odds).sigmoid())


def no_logarithm(cell: rc.Cell) -> float:
    """Predict the error as if it fell as 1/T from T = `FIRST` on."""
    return float(GRADIENT_ERROR(cell.replace(time=FIRST)) * FIRST / cell["time"])


DECAY = decaying((16, 4), (8, 16), until=(FIRST, 1e5, 1e6))
PRECISE = decaying(*common.LARGE, until=(1e6, 1e9), weights="reduced")

gradient_decay = measuring(late_error, flow_claim)(
    "D.gradient-decay",
    "Under gradient flow errors fall slowly, with a known constant",
    """Under gradient flow the probability of a wrong subject, or of a wrong relation, falls as a
    constant over T log T.""",
    source=rc.Source("D", "D3", provenance="derived", reference=common.REFERENCE),
    predict=GRADIENT_ERROR,
    latex=r"e_S \simeq \frac{\sqrt{S(S-1)R}}{2\,T\,(q_S+\log(S-1))}",
    regime=common.reducible(theory.DECAYING, 512).searched(
        duration=rc.log_range(16.0, 131072, per_octave=2),
        time=rc.log_range(256, 1e9, per_octave=1),
    ),
    cells={"smoke": DECAY[1:2], "standard": DECAY, "full": DECAY + PRECISE},
    rule=rc.MeanRatio(rc.Region(0.9998, 1.0002), method=rc.Deterministic()),
    why="the integrator's steps, a twentieth of the time that has passed, cost 1e-6; rounding of "
    "an error of 1e-6 costs 1e-10",
    controls=(
        rc.times(1.0005),
        rc.Control("no-logarithm", "as 1/T from T = 10,000 on", no_logarithm),
        rc.power("exponent", "falling faster by a factor T^(-0.001)", time=-0.001),
    ),
    plot=rc.Plot(
        x="time",
        group=("part", "subjects", "relations"),
        y_label="probability of a wrong answer",
        log="xy",
    ),
)

LOGARITHM = tuple(
    cell for cell in decaying((16, 4), until=(FIRST, 1e5, 1e6, 1e7)) if cell["part"] == "subject"
)


@flow_claim(
    "D.gradient-decay-logarithm",
    "Under gradient flow errors fall as 1/(T log T): the logarithm is there, to the power 1",
    source=rc.Source("D", "D3", provenance="stated", reference="theory/spectral/flows.md"),
    latex=r"T\,e_S \propto (\log T)^{-1}",
    regime="40 to 40,000 times the time in which the facts are learned",
    cells={"standard": LOGARITHM},
    rule=rc.Exponents({"log_time": -1.0}, 0.1, method=rc.Deterministic()),
    why="the closed form has -1.01 on this grid and -1.07 for relations, because of log log T",
    controls=(
        rc.power("no-logarithm", "as 1/T, without a logarithm", log_time=1.0),
        rc.power("weaker", "the logarithm to the power 3/4", log_time=0.25),
        rc.power("stronger", "the logarithm to the power 5/4", log_time=-0.25),
    ),
    plot=rc.Plot(x="log_time", y_label="T times error", log="xy"),
)
def gradient_decay_logarithm(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Under gradient flow both errors decay as 1/(T log T) at fixed S and R."""
    return late_error(cell, block) * cell.number("time")


def falling(*pairs: common.Pair, errors: tuple[float, ...]) -> tuple[rc.Cell, ...]:
    """Make cells of spectral flow for subjects and relations, for each two successive ``errors``.

    A cell's ``begin`` and ``time`` are the predicted times of the first and the second error.
    """
    return tuple(
        cell.replace(
            part=part,
            begin=float(f"{common.time_of(cell, part, before):.4g}"),
            time=float(f"{common.time_of(cell, part, after):.4g}"),
        )
        for cell in common.sizes(*pairs, flow="spectral")
        for part in common.PARTS
        for before, after in pairwise(errors)
    )


RATE = rc.on(theory.Facts, theory.spectral_decay_rate)
FALL = falling((16, 4), (8, 8), errors=(1e-2, 1e-4, 1e-6))


@flow_claim(
    "D.spectral-decay",
    "Under spectral flow errors fall as exp(-T^2 / sqrt(2 S R))",
    source=rc.Source("D", "D3", reference=common.REFERENCE),
    predict=RATE,
    regime=common.simulable(theory.FALLING),
    cells={"smoke": FALL[:2], "standard": FALL},
    rule=rc.MeanRatio(rc.Region(0.98, 1.02), method=rc.Deterministic()),
    why="the reduced system is within 1.2% of the limit on this grid. Logarithms of S and R cause "
    "this difference, which falls as 1/T",
    controls=(
        rc.times(1.04),
        rc.Control(
            "exponential", "as exp(-const T)", lambda c: RATE(c) * 20 / (c["begin"] + c["time"])
        ),
        rc.at(
            "subjects-alone",
            "as if all attention went to one of subjects and relations",
            relations=lambda c: c["relations"] / 2,
        ),
    ),
    plot=rc.Plot("parity", y_label="rate", log="xy"),
)
def spectral_decay(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Under spectral flow both errors fall as the exponential of a polynomial in T. It is of second
    degree, because the attention matrix and the value matrix both go on growing linearly, and their
    product is in the exponent."""
    model = task(cell, block)
    more = flows.clock(cell["time"] - cell["begin"], 40)[1:]
    clock = flows.clock(cell["begin"], 60) + [cell["begin"] + time for time in more]
    odds = getattr(flows.followed(model, path(cell, model, clock)), cell["part"])
    squares = cell["time"] ** 2 - cell["begin"] ** 2
    return each(block, (odds[-1] - odds[60]) / squares)
