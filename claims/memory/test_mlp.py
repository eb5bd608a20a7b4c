"""Constructed MLP associative memories: accuracy, width, capacity, and ReLU features.

A memory maps N inputs in d dimensions to M outputs, by m neurons. All sizes are from 24 to
4096, too small for the limit law N log N ~ m d. The claims test the law at finite size, and state
the limit.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from scipy import special

import recall_claims as rc
from claims.common import claim, measuring, rungs, table, tiers
from simulation.memory.mlp import constructed
from theory.laws import quadrature
from theory.memory import mlp

mlp_claim = partial(claim, source=rc.Source("B", "B2"), replicates=(16, 1024))
share_right = measuring(lambda cell, block: block.draw(constructed, cell)["accuracy"], mlp_claim)
all_right = measuring(lambda cell, block: block.draw(constructed, cell)["all"], mlp_claim)
ALL_RIGHT = "share of memories with all right"
STATED = "the theory states an error of 3%; as much again is left for sampling error"
PILOTS = "2% is left for sampling error. Region and looks follow pilots with other seeds"
SHARPER = f"the theory states an error of 3%; {PILOTS}"
SMALL = rc.Cell(associations=128, dim=32)
SQUARE = (SMALL, SMALL.replace(associations=512), SMALL.replace(dim=128))
FEW_OUTPUTS = table("associations dim", (256, 32), (512, 64), outputs=64)
LIMIT = (SMALL, rc.Cell(associations=512, dim=128))
STORED = table("width dim", (128, 32), (512, 32), (128, 128), features="cosine")
RELU = table("width dim", (256, 32), (512, 32), (512, 64), features="relu")
RELU_WIDE = table("associations dim", (800, 24), (1200, 32), width=4096, features="relu")

critical_width, capacity = rc.on(mlp.critical_width), rc.on(mlp.capacity)


def widths(*settings: rc.Cell) -> tuple[rc.Cell, ...]:
    """Make cells around the width from which all associations are right."""
    return rc.ladder(settings, "width", critical_width, (0.86, 0.94, 0.98, 1.02, 1.06, 1.14))


def below_limit(*settings: rc.Cell) -> tuple[rc.Cell, ...]:
    """Make cells below the width that the limit's law requires."""
    factors = (0.66, 0.73, 0.78, 0.82, 0.87, 0.96)
    return rc.ladder(settings, "width", rc.on(mlp.asymptotic_width), factors)


capacities = partial(rungs, "associations", capacity, 0.05)
"""Cells around the number of associations up to which all are right."""


def middle(*parts: float) -> tuple[rc.Cell, ...]:
    """Make cells in the middle of the transition: memories with M = N, and one with M < N."""
    sizes = rc.grid(associations=512, dim=(32, 64)) + rc.grid(associations=512, dim=64, outputs=128)
    return rc.ladder(sizes, "width", critical_width, parts, to=round)


def anchored(
    shape: Callable[[rc.Cell], float], law: Callable[[rc.Cell], float], base: rc.Cell
) -> Callable[[rc.Cell], float]:
    """Return the power law ``shape``, scaled to equal ``law`` at the cell ``base``."""
    return lambda cell: law(base) * shape(cell) / shape(base)


def leading_accuracy(cell: rc.Cell) -> float:
    """Predict accuracy from Gaussian scores of variance (N/d + N/M)/m, and a constant signal."""
    n, outputs = cell["associations"], cell.get("outputs", cell["associations"])
    own, weights = quadrature.normal(64)
    deviation = math.sqrt(n * (1 / cell["dim"] + 1 / outputs) / cell["width"])
    return float(weights @ special.ndtr(1 / deviation + own) ** (outputs - 1))


def n_log_n(cell: rc.Cell) -> float:
    """Compute N log N."""
    return float(cell["associations"] * math.log(cell["associations"]))


memory_accuracy = share_right(
    "B.mlp-memory-accuracy",
    "The theory predicts the accuracy of the cosine memory across its transition to within 0.02",
    """A Hebbian second layer on m random cosine features recalls an association if its right score
    exceeds all competitors'. Other associations disturb all scores, to leading order with variance
    N/(md) + N/(mM).""",
    predict=rc.on(mlp.mlp_memory_accuracy),
    regime=mlp.COSINE,
    size=lambda c: c["associations"] * (c["width"] + c["outputs"]),
    cells={
        "smoke": lambda: middle(0.25)[1:2],
        "standard": lambda: middle(0.25) + middle(0.5)[:1],
        "full": lambda: middle(0.25, 0.5),
    },
    rule=rc.ProportionDifference(rc.Region(-0.02, 0.02)),
    why="the theory states an error of 0.01; as much again for sampling",
    replicates=(64, 2048),
    controls=(
        rc.Control(
            "leading-order", "Gaussian scores of variance N/(md) + N/(mM) alone", leading_accuracy
        ),
        rc.at(
            "both-layers",
            "2 md, the weights of both layers, not md",
            width=lambda c: 2 * c["width"],
        ),
        rc.at("wider", "as with 8% more neurons", width=lambda c: 1.08 * c["width"]),
    ),
    plot=rc.Plot(x="width", group=("associations", "dim", "outputs"), y_label="accuracy"),
)

memory_width = all_right(
    "B.mlp-memory-width",
    "A memory of cosine features recalls all from the predicted width, within 6%",
    """All N associations are right with probability 1/2 at the width where the mean number of wrong
    ones is log 2. At M = N this width grows as N to the power 1.20, a little faster than N. It
    falls as d to the power -0.85, not -1, because of the interference N/M. Either power is right to
    within 0.15.""",
    predict=critical_width,
    regime=mlp.PAIRS.searched("the grid has as many outputs as pairs"),
    size=lambda c: 50 * c["associations"] ** 2 * (1 / c["dim"] + 1 / c["outputs"]),
    cells=tiers(
        widths,
        smoke=SQUARE[2:],
        standard=SQUARE,
        full=SQUARE + rc.grid(associations=2048, dim=(64, 128)),
    ),
    replicates=(64, 2048),
    rule=rc.CriticalLocation(rc.Region(0.94, 1.06), scan="width"),
    why=STATED,
    controls=(
        rc.times(1.15),
        rc.times(0.5, "average-association", "4 log N instead of 8 log N: a steady right score"),
        rc.Control(
            "no-logarithm",
            "m in proportion to N/d, right at N = 128 and d = 32",
            anchored(lambda c: c["associations"] / c["dim"], critical_width, SMALL),
        ),
        rc.Control(
            "dimension-counts-twice",
            "m d^2 in proportion to N log N, right at N = 128 and d = 32",
            anchored(lambda c: n_log_n(c) / c["dim"] ** 2, critical_width, SMALL),
        ),
        rc.Control(
            "linear-memory",
            "a layer of width m stores as many as its m^2 parameters would in a linear memory",
            lambda c: (c["dim"] * critical_width(c)) ** 0.5,
        ),
    ),
    plot=rc.Plot(x="width", group=("associations", "dim"), collapse=True, y_label=ALL_RIGHT),
)

# Declared again, as it was INCONCLUSIVE at seed 0: now with two more looks and a narrower region.
memory_few_outputs = all_right(
    "B.mlp-memory-few-outputs",
    "Interference from inputs of the same output and of other outputs adds up",
    """With fewer outputs than associations, a score is disturbed by the N/M inputs of the same
    output. Through the overlaps of outputs, all N inputs disturb it too. The variances of these
    disturbances, N/(mM) and N/(md), add up.""",
    latex=r"m_* \propto \frac Nd + \frac NM",
    predict=critical_width,
    regime=mlp.PAIRS.searched("on the grid M = N/4 = 2 d and M = N/8 = d, where both terms count"),
    size=lambda c: 50 * c["associations"] ** 2 * (1 / c["dim"] + 1 / c["outputs"]),
    cells=tiers(
        partial(rungs, "width", critical_width, 0.05),
        standard=FEW_OUTPUTS,
        full=FEW_OUTPUTS + rc.grid(associations=2048, dim=128, outputs=256),
    ),
    rule=rc.CriticalLocation(rc.Region(0.95, 1.05), scan="width"),
    replicates=(16, 4096),
    why=SHARPER,
    controls=(
        rc.times(1.12),
        rc.Control(
            "between-only",
            "drops the interference N/M within an output's own score",
            lambda c: critical_width(c) / (1 + c["dim"] / c["outputs"]),
        ),
        rc.Control(
            "within-only",
            "drops the interference N/d between outputs",
            lambda c: critical_width(c) / (1 + c["outputs"] / c["dim"]),
        ),
    ),
    plot=rc.Plot(x="width", group=("associations", "dim"), collapse=True, y_label=ALL_RIGHT),
)

memory_capacity = all_right(
    "B.mlp-memory-capacity",
    "The capacity grows with the product of width and dimension",
    """Four times the width at fixed dimension stores 3.2 times as many associations, to within a
    fifth. So does four times the dimension at fixed width: both count alike.""",
    latex=r"N_*\log N_* \propto m\,d",
    predict=capacity,
    regime=mlp.STORED.searched(features=("cosine",)),
    size=lambda c: 16 * c["width"] * c["dim"],
    cells=tiers(capacities, smoke=STORED[2:], standard=STORED),
    rule=rc.CriticalLocation(rc.Region(0.95, 1.05), scan="associations", rising=False),
    why=SHARPER,
    replicates=(16, 4096),
    controls=(
        rc.times(1.12),
        rc.Control(
            "no-logarithm",
            "N in proportion to md, right at m = 128 and d = 32",
            anchored(lambda c: c["width"] * c["dim"], capacity, STORED[0]),
        ),
        rc.Control(
            "dimension-alone",
            "N in proportion to d^2, right at m = 128 and d = 32",
            anchored(lambda c: c["dim"] ** 2, capacity, STORED[0]),
        ),
        rc.Control(
            "width-alone",
            "N in proportion to m, right at m = 128 and d = 32",
            anchored(lambda c: c["width"], capacity, STORED[0]),
        ),
    ),
    plot=rc.Plot(x="associations", group=("width", "dim"), collapse=True, y_label=ALL_RIGHT),
)

memory_asymptotic = all_right(
    "B.mlp-memory-asymptotic",
    "Memories of finite size need 0.73 to 0.87 of the limit's width, md = 8 N log N (1 + d/M)",
    """A layer of md parameters stores N associations once md exceeds 8 N log N (1 + d/M). If d/M is
    small, a linear memory needs as many parameters. Memories of a few hundred associations need 13
    to 27% fewer than this limit.""",
    predict=rc.on(mlp.asymptotic_width),
    regime=rc.Regime(
        "as many outputs as pairs, d^3 >= 1.4 N^2 and d <= N/4, where by the theory of finite size "
        "the width is 0.77 to 0.845 of the limit's",
        {"associations": rc.log_range(128, 1024), "dim": rc.log_range(16, 256)},
        holds=lambda c: (
            4 * c["dim"] <= c["associations"] and c["dim"] ** 3 >= 1.4 * c["associations"] ** 2
        ),
    ),
    size=lambda c: 3 * c["associations"] ** 2,
    cells=tiers(below_limit, smoke=LIMIT[:1], standard=LIMIT),
    replicates=(64, 1024),
    rule=rc.CriticalLocation(rc.Region(0.73, 0.87), scan="width"),
    why="""the approach to the limit is logarithmic. The theory of finite size puts the ratio at
        0.78 and 0.82 in this grid. Its own error of 3% makes that 0.757 to 0.845; the rest allows
        for sampling error. The regime was wider until the claim was refuted at N = 128 and d = 23,
        where that theory has 0.885""",
    controls=(
        rc.times(1.22, "ten", "md = 9.8 N log N"),
        rc.times(0.25, "two", "md = 2 N log N, the conjectured optimum of linear memories"),
        rc.Control(
            "no-logarithm", "md = 8 N (1 + d/M)", lambda c: 8 * (c["associations"] / c["dim"] + 1)
        ),
        rc.Control(
            "width-alone", "m = 8 log N, without N/d", lambda c: 8 * math.log(c["associations"])
        ),
    ),
    plot=rc.Plot(x="width", group=("associations", "dim"), collapse=True, y_label=ALL_RIGHT),
)

relu_capacity = all_right(
    "B.relu-memory-capacity",
    "ReLU features without constant and linear parts store associations as cosine features do",
    """Random ReLU features, projected off the constant and linear directions, store associations by
    the law of the cosine memory. The projection costs d + 1 neurons, and the quadratic part of
    the features adds interference that no width removes.""",
    latex=r"T^2 = \frac{1}{m-d-1} + T_\infty^2,\quad T_\infty^2\approx\frac{1.53}{d^2}",
    predict=rc.on(mlp.capacity),
    regime=mlp.STORED.searched(
        "on the grid, most interference falls with the width", features=("relu",)
    ),
    size=lambda c: 16 * c["width"] * c["dim"],
    cells=tiers(
        capacities,
        smoke=RELU[:1],
        standard=RELU,
        full=RELU + rc.grid(width=1024, dim=(64, 128), features="relu"),
    ),
    rule=rc.CriticalLocation(rc.Region(0.95, 1.05), scan="associations", rising=False),
    why=f"the theory states an error of 3% up to m = d^2/1.53; {PILOTS}",
    replicates=(16, 4096),
    controls=(
        rc.times(1.12),
        rc.at("as-cosine", "no lost neurons, no quadratic part", features="cosine"),
        rc.at(
            "no-quadratic-part",
            "the cosine's law with m - d - 1 neurons",
            features="cosine",
            width=lambda c: c["width"] - c["dim"] - 1,
        ),
    ),
    plot=rc.Plot(x="associations", group=("width", "dim"), collapse=True, y_label=ALL_RIGHT),
)

relu_floor = share_right(
    "B.relu-memory-floor",
    "Beyond d^2 neurons, wider ReLU layers store no more",
    """Without their constant and linear parts, ReLU features are nearly quadratic functions of the
    inputs. Such functions interfere as if there were at most d^2/1.53 neurons. Layers much
    wider than that have the accuracy of infinite width.""",
    latex=r"T^2 \to T_\infty^2 = \mathrm{Var}_t\,k(t) \approx\frac{2}{(\pi-2)^2d^2}",
    predict=rc.on(mlp.mlp_memory_accuracy),
    regime=mlp.RELU.searched(
        "on the grid, the quadratic part interferes 6 to 11 times as much as the limited width"
    ),
    size=lambda c: 0.15 * c["associations"] * (c["width"] + c["associations"]),
    cells={"standard": RELU_WIDE},
    rule=rc.ProportionDifference(rc.Region(-0.03, 0.03)),
    why="""overlaps of quadratic features are skewed, not normal, which the theory neglects: it
        states an error of 0.02; the rest is sampling""",
    replicates=(32, 1024),
    controls=(
        rc.at("width-suffices", "interference falls as 1/m for ever", features="cosine"),
        rc.at("tenth-more", "a tenth more pairs", associations=lambda c: c["associations"] / 1.1),
        rc.at(
            "linear-part-left",
            "interference of the linear part, 1/d, as in a linear memory",
            features="cosine",
            width=lambda c: c["dim"],
        ),
    ),
    plot=rc.Plot("parity", y_label="share of associations recalled"),
)


@claim(
    "B.relu-memory-projection",
    "Plain ReLU features make no memory",
    source=rc.Source("B", "B2", provenance="derived", reference="theory/memory/mlp.py"),
    latex=r"\kappa(\rho) = \frac1\pi + \frac\rho2 + \frac{\rho^2}{2\pi} + \dots",
    regime="sizes at which the projected features recall nearly everything",
    cells={
        "smoke": rc.grid(associations=128, dim=32, width=256),
        "standard": table("associations dim", (128, 32), (256, 64), width=512),
        "full": rc.grid(associations=(128, 256, 512), dim=(64, 128), width=1024),
    },
    rule=rc.Ordering(smaller="plain", larger="projected", margin=0.5, method=rc.Betting()),
    why="by no memory we mean that half of the associations are lost",
    replicates=(16, 256),
    controls=(
        rc.Control(
            "the-plain-one",
            "plain features recall more",
            rule=rc.Ordering("projected", "plain", method=rc.Betting()),
        ),
        rc.Control(
            "projection-idle",
            "what is projected off costs less than a tenth of the associations",
            rule=rc.OneSided(upper=0.1, observable="difference", method=rc.Betting(-1, 1)),
        ),
    ),
)
def relu_projection(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """With plain ReLU features, the overlap of two inputs is 1/pi of a feature vector's squared
    length, so each answer is mostly the sum of all outputs. Without the constant and linear parts
    of the features, the memory recalls more associations. The difference is more than half of all
    associations."""
    projected = block.draw(constructed, cell, features="relu")["accuracy"]
    plain = block.draw(constructed, cell, features="plain relu")["accuracy"]
    return {"projected": projected, "plain": plain, "difference": projected - plain}
