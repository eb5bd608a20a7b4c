"""A4, A13: what no estimator can do that sees the gradient at initialisation alone."""

import math
from collections.abc import Mapping

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalLocation,
    MeanRatio,
    OneSided,
    Plot,
    Region,
    Source,
    cells,
    claim,
    grid,
)
from simulation.attention import sampling
from simulation.lower_bound import erasure_channel, gradient_channel
from simulation.lower_bound.estimators import PANEL, exact_arithmetic, exact_bayes, named
from theory.attention.problem import Problem
from theory.lower_bound import ceiling
from theory.lower_bound import gradient_channel as channel

BOUND = Source("A", "A4", "A13", provenance="derived", reference="theory/lower_bound/ceiling.py")
CHANNEL = Source(
    "A", "A4", "A13", provenance="derived", reference="theory/lower_bound/gradient_channel.py"
)


def highest(cell: Cell, share: float = 1.0, rank_power: float = 2.0) -> float:
    """The ceiling on accuracy, for a share of the information, or another power of d."""
    problem = Problem.of(cell)
    entries = problem.dim**rank_power
    return ceiling.accuracy(
        share * entries * channel.entry_information(problem), problem.vocab_size
    )


def one_number(cell: Cell) -> float:
    """The ceiling on accuracy if the gradient is a single number, d = 1."""
    nats = channel.entry_information(Problem.of(cell.replace(dim=2)))
    return ceiling.accuracy(nats, int(cell.number("vocab_size")))


def revealed(cell: Cell, share: float = 1.0) -> float:
    """Information of the channel that reveals the map with some chance, in nats."""
    return share * cell.number("chance") * math.lgamma(cell.number("vocab_size") + 1)


NEARLY_TIGHT = cells(
    [
        {"vocab_size": 5, "length": 24, "samples": 20, "dim": 2},
        {"vocab_size": 5, "length": 48, "samples": 20, "dim": 3},
        {"vocab_size": 6, "length": 64, "samples": 36, "dim": 3},
        {"vocab_size": 6, "length": 192, "samples": 36, "dim": 4},
    ]
)


@claim(
    "A.gradient-information",
    "The gradient tells at most (d^2/2) log(1 + snr) about the map, and nearly that",
    source=CHANNEL,
    latex=r"I(\pi;G)\le\frac{d^2}{2}\log\left(1+\frac{N+V}{(L-1)(V-1)}\right)",
    regime="""The Gaussian-equivalent channel for which the bound is a theorem, at V = 5 and 6,
        where Bayes' rule can be summed over all maps; at most about 1 nat, where the bound is
        nearly attained.""",
    cells={
        "smoke": cells([{"vocab_size": 5, "length": 24, "samples": 20, "dim": 2}]),
        "standard": NEARLY_TIGHT,
        "full": NEARLY_TIGHT,
    },
    replicates={"smoke": 4096, "standard": 4096, "full": 8192},
    looks={"smoke": 2, "standard": 3, "full": 3},
    rule=MeanRatio(Region(0.82, 1.0)),
    why="""Above 1 the bound would be violated. A map is not Gaussian: pilots under seeds
        of 1000 and above give 0.87 to 0.95 of the bound at such information.""",
    predict=lambda cell: channel.information(Problem.of(cell)),
    controls=(
        Control(
            "equal-counts",
            "every label occurs equally often: N in place of N + V",
            predict=lambda cell: (
                channel.information(Problem.of(cell))
                * cell.number("samples")
                / (cell.number("samples") + cell.number("vocab_size"))
            ),
        ),
        Control(
            "linear-in-d",
            "d in place of d^2",
            predict=lambda cell: channel.information(Problem.of(cell)) / cell.number("dim"),
        ),
    ),
    plot=Plot(kind="parity", x_label="bound in nats", y_label="information in nats"),
)
def gradient_information(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """In the Gaussian-equivalent channel the mutual information between the map from tokens to
    labels and the gradient at initialisation is at most d^2/2 log(1 + snr) nats."""
    seen = gradient_channel.gaussian(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": exact_bayes.posterior(seen.observation).information}


ONE_SAMPLE = grid(vocab_size=(5, 7), length=(2, 4), samples=1, dim=2)


@claim(
    "A.sample-information",
    "One sequence tells log(V/L) nats, and a little more where tokens repeat",
    source=CHANNEL,
    latex=r"I_1 = \log\frac VL + E\log(1+n),\quad n\sim\mathrm{Bin}(L-1,1/V)",
    regime="Exact for uniform tokens; V = 5 to 7, where Bayes' rule can be summed over all maps.",
    cells={
        "smoke": grid(vocab_size=6, length=(2, 4), samples=1, dim=2),
        "standard": ONE_SAMPLE,
        "full": ONE_SAMPLE,
    },
    replicates={"smoke": 1024, "standard": 1024, "full": 2048},
    looks={"smoke": 2, "standard": 3, "full": 3},
    rule=MeanRatio(Region(0.93, 1.07)),
    why="The formula is exact; the region is the sampling error of about 2000 draws.",
    predict=lambda cell: channel.sample_information(Problem.of(cell)),
    controls=(
        Control(
            "distinct-tokens",
            "log(V/L): the tokens of a sequence never repeat",
            predict=lambda cell: math.log(cell.number("vocab_size") / cell.number("length")),
        ),
    ),
    plot=Plot(kind="parity", x_label="formula in nats", y_label="information in nats"),
)
def sample_information(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A single sequence and its label tell exactly log(V/L) + E log(1 + n) nats about the map, n
    binomial; N of them at most N times that, whatever is computed from them."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": exact_bayes.sample_posterior(batch).information}


REVEALING = grid(vocab_size=(256, 1024), chance=(0.6, 0.7))


@claim(
    "A.accuracy-from-information",
    "The step from information to accuracy loses little",
    source=BOUND,
    latex=r"\alpha\le\frac1V\frac{I-1}{W_0((I-1)/e)}",
    regime="""A channel built to come close: it reveals the whole map with some chance. The
        inequality knows nothing of the channel but its information.""",
    cells={
        "smoke": grid(vocab_size=1024, chance=0.7),
        "standard": REVEALING,
        "full": REVEALING,
    },
    replicates={"smoke": 4096, "standard": 8192, "full": 16384},
    looks=2,
    rule=MeanRatio(Region(0.86, 1.0)),
    why="""Above 1 the inequality would be violated. At these sizes it exceeds the
        accuracy of this channel, which is known, by 5 to 10%.""",
    predict=lambda cell: ceiling.accuracy(revealed(cell), int(cell.number("vocab_size"))),
    controls=(
        Control(
            "half-information",
            "a channel that tells half as much",
            predict=lambda cell: ceiling.accuracy(
                revealed(cell, 0.5), int(cell.number("vocab_size"))
            ),
        ),
    ),
    plot=Plot(x="chance", group=("vocab_size",), y_label="accuracy", log=""),
)
def accuracy_from_information(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With I nats about the map, the accuracy alpha of any guess obeys x log x - x + 1 <= I,
    x = alpha V; a channel that reveals the map with some chance comes close to equality."""
    return {"value": erasure_channel.guess(block.rngs, **cell).accuracy}


REVEALING_ALL = grid(vocab_size=(10, 12), chance=(0.6, 0.75))


@claim(
    "A.exact-from-information",
    "To recover the whole map takes log V! nats",
    source=BOUND,
    latex=r"P(\hat\pi=\pi)\le\frac{I+\log 2}{\log V!}",
    regime="""The channel that reveals the whole map with some chance, for which Fano's inequality
        is an equality but for log 2.""",
    cells={
        "smoke": grid(vocab_size=12, chance=0.75),
        "standard": REVEALING_ALL,
        "full": REVEALING_ALL,
    },
    replicates={"smoke": 4096, "standard": 8192, "full": 16384},
    looks=2,
    rule=MeanRatio(Region(0.88, 1.0)),
    why="""Above 1 the inequality would be violated; the slack log 2 is 4 to 7% at these
        sizes, and the sampling error about 3%.""",
    predict=lambda cell: ceiling.exact_recovery(revealed(cell), int(cell.number("vocab_size"))),
    controls=(
        Control(
            "with-replacement",
            "V log V nats, as if labels could repeat",
            predict=lambda cell: (
                ceiling.exact_recovery(revealed(cell), int(cell.number("vocab_size")))
                * math.lgamma(cell.number("vocab_size") + 1)
                / (cell.number("vocab_size") * math.log(cell.number("vocab_size")))
            ),
        ),
    ),
)
def exact_from_information(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With I nats about the map, every label is right with probability at most
    (I + log 2)/log V!."""
    return {"value": erasure_channel.guess(block.rngs, **cell).exact}


TINY = grid(vocab_size=6, length=(3, 8), samples=24, dim=(2, 3, 4))


@claim(
    "A.bayes-ceiling",
    "Not even Bayes' rule exceeds the ceiling",
    source=BOUND,
    latex=r"\alpha\le\frac1V\frac{I_B-1}{W_0((I_B-1)/e)}",
    regime="""The Gaussian-equivalent channel for which the ceiling is a theorem, at V = 6, where
        the best of all estimators can be computed by summing over all maps.""",
    cells={
        "smoke": grid(vocab_size=6, length=3, samples=24, dim=(2, 4)),
        "standard": TINY,
        "full": TINY,
    },
    replicates={"smoke": 256, "standard": 512, "full": 1024},
    looks=2,
    rule=OneSided(upper=0.0),
    why="A ceiling: accuracy less ceiling is at most 0, at any size.",
    predict=highest,
    controls=(
        Control(
            "third-of-the-information",
            "a ceiling for a third of the information",
            predict=lambda cell: highest(cell, share=1 / 3),
        ),
        Control("linear-in-d", "d in place of d^2", predict=lambda cell: highest(cell, 1.0, 1.0)),
    ),
    plot=Plot(x="dim", group=("length",), y_label="accuracy", log=""),
)
def bayes_ceiling(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """In the Gaussian-equivalent channel the accuracy of Bayes' rule, hence of any estimator that
    sees the gradient at initialisation, stays below the information-theoretic ceiling."""
    seen = gradient_channel.gaussian(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": gradient_channel.accuracy(seen, exact_bayes.labels)}


PANEL_GRID = grid(
    vocab_size=256,
    length=8,
    samples=8192,
    dim=(20, 28, 36, 42, 47),
    estimator=tuple(PANEL),
)


@claim(
    "A.ceiling",
    "No estimator of the panel exceeds the ceiling",
    source=BOUND,
    latex=r"\alpha\le\frac1V\frac{I_B-1}{W_0((I_B-1)/e)},\quad "
    r"I_B=\frac{d^2}{2}\log\left(1+\frac{N+V}{(L-1)(V-1)}\right)",
    regime="""Gradients of actual training batches, N = 32V, whose noise is close to the Gaussian
        one that the ceiling assumes. d runs through the ceiling's rise from 0.3 to 1 and on to
        where the best estimators are nearly right.""",
    cells={
        "smoke": grid(
            vocab_size=256,
            length=8,
            samples=8192,
            dim=47,
            estimator=("linear MMSE", "cancellation, assigned"),
        ),
        "standard": PANEL_GRID,
        "full": PANEL_GRID,
    },
    replicates={"smoke": 32, "standard": 24, "full": 48},
    looks=2,
    rule=OneSided(upper=0.0),
    why="A ceiling: accuracy less ceiling is at most 0, at any size.",
    predict=highest,
    controls=(
        Control(
            "third-of-the-information",
            "a ceiling for a third of the information",
            predict=lambda cell: highest(cell, share=1 / 3),
        ),
        Control("linear-in-d", "d in place of d^2", predict=lambda cell: highest(cell, 1.0, 1.0)),
    ),
    plot=Plot(x="dim", group=("estimator",), y_label="share of labels guessed right", log=""),
)
def panel_ceiling(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """No estimator of the map that sees only the gradient at initialisation exceeds the
    information-theoretic ceiling on its accuracy."""
    return {"value": estimated(cell, block)}


HALF_ACCURACY = (
    *grid(vocab_size=256, length=32, samples=2048, dim=(86, 98, 112)),
    *grid(vocab_size=256, length=32, samples=8192, dim=(48, 56, 64)),
    *grid(vocab_size=256, length=8, samples=8192, dim=(36, 40, 44)),
)


@claim(
    "A.ceiling-factor",
    "The best estimator needs 2 to 3.3 times the information of the ceiling",
    source=BOUND,
    latex=r"\sqrt{2}\le d_{1/2}\Big/\sqrt{\frac{2I_{1/2}}{\log(1+\rho)}}\le\sqrt{3.3}",
    regime="""V = 256 at N/(LV) of 1/4, 1 and 4: noise and interference in turn the larger. The best
        of the panel at half accuracy is interference cancellation with a one-to-one guess.""",
    cells={
        "smoke": grid(vocab_size=256, length=32, samples=8192, dim=(48, 56, 64)),
        "standard": HALF_ACCURACY,
        "full": HALF_ACCURACY,
    },
    replicates={"smoke": 24, "standard": 32, "full": 64},
    looks=2,
    rule=CriticalLocation(Region(math.sqrt(2.0), math.sqrt(3.3)), scan="dim"),
    why="""A pilot study of the panel found 2.3 to 2.9 times the ceiling's information at
        these sizes, with uncertainty of 0.3. The information grows as d^2.""",
    predict=lambda cell: ceiling.critical_dim(Problem.of(cell)),
    controls=(
        Control(
            "attained",
            "the best estimator attains the ceiling",
            rule=CriticalLocation(Region(0.9, 1.1), scan="dim"),
        ),
        Control(
            "loose",
            "the ceiling is off by a factor of 4 or more",
            rule=CriticalLocation(Region(2.0, math.inf), scan="dim"),
        ),
    ),
    plot=Plot(x="dim", group=("length", "samples"), y_label="accuracy"),
)
def ceiling_factor(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """The dimension at which the best estimator of the panel guesses half of the labels is 1.4 to
    1.8 times the one at which the ceiling allows it: 2 to 3.3 times the information."""
    return {"value": estimated(cell.replace(estimator="cancellation, assigned"), block)}


@claim(
    "A.exact-arithmetic",
    "In exact arithmetic a single real number beats the ceiling",
    source=CHANNEL,
    latex=r"\alpha(G) > \frac1V\frac{I_B-1}{W_0((I_B-1)/e)}\quad\text{for }d = 1",
    regime="""V = 4, L = 2, d = 1 and a gradient in double precision: all count tables can be
        listed, and each gives another gradient. The ceiling's assumption, Gaussian noise, fails
        completely.""",
    cells=grid(vocab_size=4, length=2, samples=(3, 4), dim=1, embeddings="gaussian"),
    replicates={"smoke": 128, "standard": 256, "full": 1024},
    looks={"smoke": 2, "standard": 2, "full": 2},
    rule=OneSided(lower=0.0),
    why="The decoder must do better than the ceiling would allow: any size counts.",
    predict=one_number,
    controls=(
        Control(
            "unconditional",
            "the ceiling holds whatever the arithmetic",
            rule=OneSided(upper=0.0),
        ),
    ),
    plot=Plot(x="samples", y_label="accuracy", log=""),
)
def exact_arithmetic_beats(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A decoder of infinite precision reads the counts off one real number and exceeds what the
    ceiling allows: the lower bound is about a gradient with Gaussian noise or finite precision."""
    seen = gradient_channel.discrete(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": gradient_channel.accuracy(seen, exact_arithmetic.labels)}


def estimated(cell: Cell, block: Block) -> torch.Tensor:
    """Accuracy of the cell's estimator on gradients of training batches."""
    sizes = {name: value for name, value in cell.items() if name != "estimator"}
    seen = gradient_channel.discrete(block.rngs, **sizes, device=block.device, dtype=block.dtype)
    return gradient_channel.accuracy(seen, named(str(cell["estimator"])))
