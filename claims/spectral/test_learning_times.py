"""Delay of subjects behind relations, under gradient and spectral flow (D1, D2).

There are S subjects and R relations. Spectral flow follows the polar factor of the gradient. The
flows are deterministic, and start with equal coordinates.
"""

import math
from collections.abc import Callable
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.common import measuring
from claims.spectral.common import (
    LARGE,
    PARTS,
    lasting,
    learned_ratio,
    learning_times,
    ratio,
    reducible,
    simulable,
    sizes,
    time_of,
    whole,
)
from theory.spectral import flows as theory

PAIRS = ((8, 4), (16, 4), (32, 8), (64, 4), (64, 16), (8, 32))
EXPONENT_PAIRS = ((16, 4), (64, 4), (64, 8), (64, 16))
RATIO = r"\rho = T_S/T_R,\quad T_S:\ e_S(T_S) = \tfrac1{10}"
REFERENCE = "theory/spectral/flows.py"
PLOT = rc.Plot(
    x="subjects",
    group=("relations",),
    y_label="learning time, subjects over relations",
    log="xy",
)
flow_claim = partial(rc.claim, replicates=2, size=whole)


def large(flow: str) -> tuple[rc.Cell, ...]:
    """Make cells with so many facts that matrices have to be reduced by symmetry."""
    return lasting(sizes(*LARGE, flow=flow, weights="reduced"))


def root(cell: rc.Cell) -> float:
    """Predict the ratio of learning times by the root of S/R, its limit without logarithms."""
    return math.sqrt(cell["subjects"] / cell["relations"])


def growth_only(cell: rc.Cell) -> float:
    """Predict a learning time as if growth kept the first rate of gradient flow.

    Subjects are learned once alpha beta / sqrt(R) is log(9 (S - 1)). Here alpha and beta are the
    subjects' coordinates of the two matrices, as in `facts.Scalars`. For relations, S and R change
    places, and alpha and beta are the relations' coordinates.
    """
    sizes_of = theory.Facts.of(cell)
    own, other = sizes_of.seen_from(cell["part"])
    rate = 2 * (own - 1) / own / theory.time_scale(sizes_of, cell["part"])
    return math.log(math.log(9 * (own - 1)) * math.sqrt(other) / sizes_of.start**2) / rate


def ratio_in(steps: int) -> Callable[..., rc.Claim]:
    """Return a function that declares claims on the learning-time ratio, in ``steps`` steps."""
    return measuring(lambda cell, block: learned_ratio(cell, block, steps), flow_claim)


EITHER = tuple(
    cell.replace(part=part)
    for flow in ("gradient", "spectral")
    for cell in lasting(sizes((16, 4), flow=flow))
    for part in PARTS
)


@flow_claim(
    "D.learning-times",
    "Subjects and relations are learned at the predicted times",
    source=rc.Source("D", "D1", "D2", provenance="derived", reference=REFERENCE),
    predict=lambda cell: time_of(cell, cell["part"]),
    latex=r"T_S \simeq \frac S2\sqrt{\frac{SR}{S-1}}\Big[\log\frac{x\sqrt R}{\alpha_0^2}+"
    r"\frac{E(x)}S\Big],\ E(x)=\mathrm{Ei}(x)-\log x-\gamma\ \text{(gradient)}",
    regime=simulable(theory.LEARNED).searched(part=PARTS),
    cells={"smoke": EITHER[:1], "standard": EITHER},
    rule=rc.MeanRatio(rc.Region(0.999, 1.001), method=rc.Deterministic()),
    why="nothing is drawn; times are interpolated linearly between steps, to 1e-4",
    controls=(
        rc.times(1.0025),
        rc.Control(
            "growth-only", "exponential growth from x_0 to x, and no saturation", growth_only
        ),
    ),
    plot=rc.Plot("parity", y_label="learning time", log="xy"),
)
def either_time(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Subjects are learned once the probability of a wrong subject has fallen to 1/10, relations
    once the probability of a wrong relation has. Both are learned at the predicted times, which
    include both the growth from the start and the saturation."""
    steps = 300 if cell["flow"] == "gradient" else 120
    found: Tensor = getattr(learning_times(cell, block, steps=steps), cell["part"])
    return found


gradient_ratio = ratio_in(300)(
    "D.gradient-ratio",
    "Under gradient flow subjects are learned later than relations, by a ratio in closed form",
    """If there are more subjects than relations, gradient flow of the whole matrices learns
    subjects later, by a factor of about the root of S/R, with known logarithms.""",
    source=rc.Source("D", "D1", provenance="derived", reference=REFERENCE),
    predict=ratio,
    latex=RATIO + r",\quad T_S = \frac{\sqrt{S(S-1)R}}2\left[\log\frac x{x_0}+"
    r"\frac{\mathrm{Ei}(x)-\mathrm{Ei}(x_0)}{S-1}\right]",
    regime=reducible(theory.LEARNED, 4096).searched(
        flow=("gradient",), duration=rc.log_range(2.0, 131072)
    ),
    size=lambda c: whole(c) / 100,
    cells={
        "smoke": lasting(sizes(PAIRS[1], flow="gradient")),
        "standard": lasting(sizes(*PAIRS, flow="gradient")),
        "full": lasting(sizes(*PAIRS, (128, 4), (256, 16), flow="gradient")) + large("gradient"),
    },
    rule=rc.MeanRatio(rc.Region(0.999, 1.001), method=rc.Deterministic()),
    why="nothing is drawn; times are interpolated linearly between 300 steps, to 1e-4",
    controls=(
        rc.times(1.0025),
        rc.Control("no-logarithms", "sqrt(S/R)", root),
        rc.Control(
            "frequencies",
            "S/R: times in inverse proportion to frequencies",
            lambda c: c["subjects"] / c["relations"],
        ),
    ),
    plot=PLOT,
)

gradient_exponents = ratio_in(300)(
    "D.gradient-exponents",
    "At sizes that can be run, gradient flow's ratio grows with S and falls with R as predicted",
    """At finite size the ratio grows more slowly than the root of S/R. On a logarithmic scale the
    part learned later starts nearer to its goal, and the other part takes longer to saturate.""",
    source=rc.Source("D", "D1", provenance="derived", reference=REFERENCE),
    predict=ratio,
    latex=r"\rho \propto S^{e_S}R^{e_R},\quad e_S = 0.440,\ e_R = -0.384",
    regime="S from 16 to 64; R from 4 to 16; a start on the manifold with coordinates of 0.01",
    cells={"standard": lasting(sizes(*EXPONENT_PAIRS, flow="gradient"))},
    rule=rc.Exponents(
        {"subjects": 0.44, "relations": -0.38},
        0.001,
        reference="prediction",
        method=rc.Deterministic(),
    ),
    why="ratios are right to 1e-4 or better, and S and R each vary by a factor of 4",
    controls=(
        rc.power("subjects+0.0025", "an exponent of S that is 0.0025 larger", subjects=0.0025),
        rc.power("relations+0.0025", "an exponent of R that is 0.0025 larger", relations=0.0025),
        rc.Control("limit", "the root of S/R at any size", root),
    ),
)

gradient_limit = ratio_in(600)(
    "D.gradient-limit",
    "Under gradient flow the ratio of learning times is the root of S/R, up to logarithms",
    "The learning times of subjects and relations have the ratio sqrt(S/R), up to logarithms.",
    source=rc.Source("D", "D1", provenance="stated", reference="theory/spectral/flows.md"),
    latex=r"\rho \sim \sqrt{S/R}",
    regime="a start of 1e-6; smaller starts are nearer to the limit",
    cells={"standard": lasting(sizes(*EXPONENT_PAIRS, flow="gradient", start=1e-6))},
    rule=rc.Exponents({"subjects": 0.5, "relations": -0.5}, 0.12, method=rc.Deterministic()),
    why="here the closed form's exponents of S and R are 0.03 and 0.10 off the limit, because of "
    "logarithms, and of R - 1 instead of R. With a start of 0.01 they are 0.06 and 0.12 off. They "
    "tend to the limit slowly: at R = 4 the exponent of S is still 0.02 off at S = 10^9",
    controls=(
        rc.power("fourth-root", "as S to the power 1/4", subjects=-0.25),
        rc.power("three-quarters", "as R to the power -3/4", relations=-0.25),
        rc.power("frequencies", "as S/R", subjects=0.5, relations=-0.5),
    ),
)

SPECTRAL = lasting(sizes((8, 4), (16, 4), (64, 4), (8, 32), flow="spectral"))

spectral_ratio = ratio_in(120)(
    "D.spectral-ratio",
    "Under spectral flow subjects and relations are learned at times of a known ratio",
    """The polar factor gives all directions of W_OV one speed, and shares out attention by the
    errors that are left: subjects and relations are learned nearly together.""",
    source=rc.Source("D", "D2", provenance="derived", reference=REFERENCE),
    predict=ratio,
    latex=RATIO + r",\quad \alpha'=1,\ \beta_S' = u_S/(\sqrt S|u|),\ u = (e_S, e_R)",
    regime=reducible(theory.SPECTRAL).searched(duration=rc.log_range(2.0, 64)),
    size=lambda c: 0.2 * whole(c),
    cells={
        "smoke": SPECTRAL[:1],
        "standard": SPECTRAL,
        "full": SPECTRAL + lasting(sizes((64, 16), (128, 4), flow="spectral")) + large("spectral"),
    },
    rule=rc.MeanRatio(rc.Region(0.9998, 1.0002), method=rc.Deterministic()),
    why="nothing is drawn; times are interpolated linearly between 120 steps, to 3e-5",
    controls=(
        rc.times(1.0005),
        rc.Control(
            "gradient", "the ratio under gradient flow", lambda c: ratio(c.replace(flow="gradient"))
        ),
        rc.Control("simultaneous", "both at the same time", lambda cell: 1.0),
    ),
    plot=PLOT,
)

spectral_order_one = ratio_in(60)(
    "D.spectral-order-one",
    "The ratio under spectral flow stays near 1 while S/R goes from 1/4 to 16",
    "Under spectral flow the ratio of the learning times is of order 1, up to logarithms.",
    source=rc.Source("D", "D2", provenance="stated", reference="theory/spectral/flows.md"),
    predict=lambda cell: 1.0,
    latex=r"\rho \sim 1",
    regime=simulable(theory.SPECTRAL).searched(
        "S/R up to 16", holds=lambda cell: cell["subjects"] <= 16 * cell["relations"]
    ),
    size=lambda c: 0.2 * whole(c),
    cells={"smoke": SPECTRAL[:1], "standard": SPECTRAL},
    rule=rc.MeanRatio(rc.Region(0.93, 1.07), method=rc.Deterministic()),
    why="the reduced system has 0.976 to 1.051 here, and exponents of 0.02 in S and in R, from "
    "logarithms",
    controls=(
        rc.Control("root", "sqrt(S/R)", root),
        rc.Control("weak-root", "the eighth root of S/R", lambda cell: root(cell) ** 0.25),
        rc.times(1.15),
    ),
    plot=PLOT,
)
