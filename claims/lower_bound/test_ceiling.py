"""A4, A13: the ceiling on the accuracy of estimators that see the gradient at initialisation.

In the Gaussian channel normal noise replaces what context tokens add to the gradient.
"""

import math
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.common import claim, table
from claims.lower_bound import common
from claims.lower_bound.common import MEDIAN, critical_rungs, derived, guessed, mostly_guessed
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import PANEL, exact_arithmetic, exact_bayes
from theory.attention.problem import Problem
from theory.lower_bound import ceiling
from theory.lower_bound import gradient_channel as channel


def highest(cell: rc.Cell, share: float = 1.0) -> float:
    """Predict the ceiling on accuracy from a share of the information."""
    problem = Problem.of(cell)
    return ceiling.largest_accuracy(share * channel.information(problem), problem.vocab_size)


def is_below_one(cell: rc.Cell) -> bool:
    """Check whether the channel's information allows fewer than V right labels.

    The condition uses only the cell's sizes, so an error of the tested bound cannot change it.
    """
    v = cell["vocab_size"]
    noise = (cell["length"] - 1) * (v - 1)
    nats = min(cell["dim"], v - 1) ** 2 / 2 * math.log1p((cell["samples"] + v) / noise)
    return bool(nats < v * math.log(v) - v + 1)


below_ceiling = partial(
    claim,
    source=derived("ceiling.py"),
    predict=highest,
    rule=rc.OneSided(upper=0.0, method=rc.Betting(0, 1)),
    why="accuracy less ceiling is at most 0, at any size at which the ceiling is below 1",
)
LINEAR = rc.Control(
    "linear-in-d",
    "the ceiling from information that grows as d instead of d^2",
    lambda c: highest(c, 1 / c["dim"]),
)

BAYES = table("length dim", (3, 2), (8, 2), (8, 3), (8, 4), vocab_size=6, samples=24)


@below_ceiling(
    "A.bayes-ceiling",
    "Not even Bayes' rule exceeds the information-theoretic ceiling on accuracy",
    latex=r"\alpha\le\frac1V\frac{I_B-1}{W_0((I_B-1)/e)}",
    regime=channel.EVERY_MAP.searched(
        "the Gaussian-equivalent channel, for which the ceiling is a theorem and Bayes' rule is "
        "the best of all estimators; sizes at which the ceiling is below 1",
        holds=is_below_one,
    ),
    cells={"smoke": BAYES[2:], "standard": BAYES},
    replicates=(64, 2048),
    controls=(
        rc.Control(
            "fifth-of-the-information",
            "the ceiling from a fifth of the information",
            lambda c: highest(c, 1 / 5),
        ),
        LINEAR,
    ),
    plot=rc.Plot(x="dim", group=("length",), y_label="accuracy", log=""),
)
def bayes_ceiling(cell: rc.Cell, block: rc.Block) -> Tensor:
    """In the Gaussian channel the accuracy of Bayes' rule stays below the information-theoretic
    ceiling. So does the accuracy of any other estimator in this channel, because Bayes' rule is the
    best."""
    seen = block.draw(gradient_channel.gaussian, cell)
    return gradient_channel.estimator_accuracy(seen, exact_bayes.labels)


PANEL_SIZES = {"vocab_size": 256, "length": 8, "samples": 8192}


@below_ceiling(
    "A.ceiling",
    "No estimator that we tried exceeds the ceiling on accuracy",
    latex=r"\alpha\le\frac1V\frac{I_B-1}{W_0((I_B-1)/e)},\quad "
    r"I_B=\frac{d^2}{2}\log\left(1+\frac{N+V}{(L-1)(V-1)}\right)",
    regime="Gradients of actual training batches, whose noise is close to the Gaussian one that "
    "the ceiling assumes. On the grid the ceiling rises with d from 0.38 to 0.98. At larger d it "
    "is 1, and any accuracy is below it.",
    cells={
        "smoke": rc.grid(**PANEL_SIZES, dim=36, estimator=("linear MMSE", "cancellation")),
        "standard": rc.grid(**PANEL_SIZES, dim=(20, 28, 36), estimator=PANEL),
    },
    replicates=(8, 256),
    controls=(
        rc.Control(
            "sixteenth-of-the-information",
            "the ceiling from a sixteenth of the information",
            lambda c: highest(c, 1 / 16),
        ),
        LINEAR,
    ),
    plot=rc.Plot(x="dim", group=("estimator",), y_label="share of labels guessed right", log=""),
)
def panel_ceiling(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The panel is a list of estimators, such as the matched filter. None of them exceeds the
    information-theoretic ceiling on accuracy. All of them see the gradient at initialisation, and
    no sequences."""
    return guessed(cell, block, cell["estimator"])


located = partial(rc.CriticalLocation, scan="dim")
ALLOWED = rc.on(Problem, ceiling.critical_dim)
FACTOR = rc.Region(math.sqrt(2.0), math.sqrt(3.3))
HALF_ACCURACY = critical_rungs(
    table("length samples", (8, 8192), (32, 2048), vocab_size=256), "dim", ALLOWED, FACTOR
)


@claim(
    "A.ceiling-factor",
    "For half of the labels the best estimator needs 2 to 3.3 times the ceiling's information",
    source=common.SOURCE,
    latex=r"\sqrt{2}\le d_{1/2}\Big/\sqrt{\frac{2I_{1/2}}{\log(1+\frac{N+V}{(L-1)(V-1)})}}"
    r"\le\sqrt{3.3}",
    predict=ALLOWED,
    regime="Noise limits one setting, interference the other. The best of the panel at half "
    "accuracy is interference cancellation in 12 rounds, with a one-to-one guess at the end. It "
    "does not know how often each label occurs.",
    cells={"smoke": HALF_ACCURACY[:6], "standard": HALF_ACCURACY},
    from_pilot=True,
    replicates=(16, 512),
    rule=located(FACTOR),
    why=f"""A pilot study of the panel found 2.3 to 2.9 times the ceiling's information at
        these sizes, with uncertainty of 0.3. The information grows as d^2. {MEDIAN}""",
    controls=(
        rc.times(1.3),
        rc.Control(
            "attained", "the best estimator attains the ceiling", rule=located(rc.Region(0.9, 1.1))
        ),
        rc.Control(
            "loose",
            "the best estimator needs 4 times the information or more",
            rule=located(rc.Region(2.0, math.inf)),
        ),
    ),
    plot=rc.Plot(
        x="dim",
        group=("length", "samples"),
        y_label="share of batches with half of the labels right",
    ),
)
def ceiling_factor(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The ceiling allows half of the labels from some dimension on. The best estimator of the panel
    guesses half of them at 1.4 to 1.8 times this dimension, so with 2 to 3.3 times the
    information."""
    return mostly_guessed(cell, block, "cancellation, assigned")


@claim(
    "A.exact-arithmetic",
    "In exact arithmetic a single real number beats the ceiling on accuracy",
    source=derived("gradient_channel.py"),
    latex=r"\alpha(G) > \frac1V\frac{I_B-1}{W_0((I_B-1)/e)}\quad\text{for }d = 1",
    # The theory has d of at least 2; the information grows as d^2.
    predict=lambda cell: highest(cell.replace(dim=2), 1 / 4),
    regime="In double precision all count tables can be listed, and each gives another gradient. "
    "The ceiling's assumption, Gaussian noise, fails completely.",
    cells=rc.grid(vocab_size=4, length=2, samples=(3, 4), dim=1, embeddings="gaussian"),
    replicates=(64, 2048),
    rule=rc.OneSided(lower=0.0, method=rc.Betting(0, 1)),
    why="the decoder must do better than the ceiling would allow, by any amount",
    controls=(
        rc.Control(
            "unconditional",
            "the ceiling holds in any arithmetic",
            rule=rc.OneSided(upper=0.0, method=rc.Betting(0, 1)),
        ),
    ),
    plot=rc.Plot(x="samples", y_label="accuracy", log=""),
)
def exact_arithmetic_beats(cell: rc.Cell, block: rc.Block) -> Tensor:
    """In one dimension the gradient is a single real number. From this number a decoder of infinite
    precision finds how much more often each token occurs with one label than with another. So the
    decoder exceeds the ceiling. The lower bound is about a gradient with Gaussian noise or finite
    precision."""
    seen = gradient_channel.discrete(block.rngs, **cell)  # on the CPU, which lists all tables
    return gradient_channel.estimator_accuracy(seen, exact_arithmetic.labels)
