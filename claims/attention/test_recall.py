"""Recall: how many tokens come out right once the informative token is attended to."""

import math
from collections.abc import Iterable, Mapping

import torch

from recall_claims import Block, Cell, Control, Plot, Probability, Region, Source, cells, claim
from simulation.attention import recall as measured
from simulation.attention import sampling
from theory.attention import recall
from theory.attention.problem import Problem

SOURCE = Source("A", "A2", "A3", "A9", provenance="derived", reference="theory/attention/recall.py")


def problem(cell: Cell) -> Problem:
    """The setting of a cell; recall does not depend on the length of the sequences."""
    return Problem.of({"length": 2, "dim": 64} | dict(cell))


def across(
    vocab_sizes: Iterable[int], loads: Iterable[int], factors: Iterable[float], **more: bool | str
) -> tuple[Cell, ...]:
    """Cells at these multiples of the dimension at which half of the tokens are right."""
    points = []
    for size in vocab_sizes:
        for load in loads:
            setting = Cell(vocab_size=size, samples=load * size, **more)
            half = recall.half_dim(problem(setting))
            points += [setting.replace(dim=round(factor * half)) for factor in factors]
    return cells(points)


def infinite_load(cell: Cell) -> Problem:
    """The setting without the fluctuations of the counts."""
    return problem(cell).replace(samples=10**6 * int(cell.number("vocab_size")))


def share(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Share of the tokens that are recalled."""
    facts = sampling.draw_facts(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": measured.accuracy(facts)}


STANDARD = across((256, 512), (2, 16), (0.75, 1.0, 1.4)) + across((1024,), (4,), (0.75, 1.4))


@claim(
    "A.recall-accuracy",
    "Recall accuracy across the transition",
    source=SOURCE,
    latex=r"\mathrm{Acc} = E_{n,r,t}\left[E_mF_D\left(\frac{s_n+\xi}"
    r"{\sqrt{|y|^2/d+(m/\lambda)^2T^2}}\right)\right]^{V-1}",
    regime="""V >> d, d across the dimension at which half of the tokens are right, loads N/V from 2
        to 16; the interference is a sum over V >= 256 tokens.""",
    cells={
        "smoke": across((256,), (2, 16), (0.75, 1.4)),
        "standard": STANDARD,
        "full": STANDARD + across((2048,), (2, 16), (0.75, 1.0, 1.4)),
    },
    replicates={"smoke": 128, "standard": 128, "full": 128},
    looks={"smoke": 3, "standard": 3, "full": 3},
    rule=Probability(Region(-0.02, 0.02)),
    why="The theory states an error of 0.015 for V >= 256 (competitors' correlations).",
    predict=lambda cell: recall.accuracy(problem(cell)),
    controls=(
        Control(
            "half-the-constant",
            "d^2 = V log V in place of 2 V log V",
            predict=lambda cell: recall.accuracy(
                problem(cell).replace(dim=round(math.sqrt(2) * cell.number("dim")))
            ),
        ),
        Control(
            "no-count-fluctuations",
            "drops the factor 1 + 1/lambda and the spread of the counts",
            predict=lambda cell: recall.accuracy(infinite_load(cell)),
        ),
        Control(
            "gaussian",
            "Gaussian scores, independent between competitors",
            predict=lambda cell: recall.accuracy_gaussian(problem(cell)),
        ),
    ),
    plot=Plot(x="dim", group=("vocab_size", "samples")),
)
def accuracy(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A token is recalled if its own score, carried by its count, exceeds those of all other
    labels, which interfere through the overlaps of the embeddings."""
    return share(cell, block)


@claim(
    "A.recall-variants",
    "Recall accuracy with Gaussian embeddings, and with the trigger in the values",
    source=SOURCE,
    latex=r"\kappa_{wv} = (z_w+\tau z_{trig})^\top(z_v+\tau z_{trig})",
    regime="V >> d; V = 256 and 512, loads from 16 to 64, d across the transition.",
    cells={
        tier: across((256,), (16,), (0.75, 1.4), embeddings="gaussian")
        + across((256,), (64,), (0.6, 1.0), trigger_in_values=True)
        for tier in ("smoke", "standard", "full")
    },
    replicates=256,
    looks={"smoke": 2, "standard": 4, "full": 4},
    rule=Probability(Region(-0.04, 0.04)),
    why="""The theory states an error of 0.02 with embeddings of fluctuating length; with
        the trigger in the values all tokens share a direction, so accuracy varies widely between
        replicates and the width is what 2048 of them resolve.""",
    predict=lambda cell: recall.accuracy(problem(cell)),
    controls=(
        Control(
            "plain",
            "unit embeddings without the trigger in the values",
            predict=lambda cell: recall.accuracy(
                problem(cell).replace(embeddings="sphere", trigger_in_values=False)
            ),
        ),
    ),
    plot=Plot(kind="parity"),
)
def accuracy_of_variants(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """The same law holds with Gaussian embeddings, whose lengths blur the signal, and with the
    trigger in the values, which adds a direction that all tokens share."""
    return share(cell, block)


@claim(
    "A.recall-gaussian",
    "Gaussian interference gives the recall accuracy to within 0.06",
    source=SOURCE,
    latex=r"\mathrm{Acc} = E_n\int\varphi(t)\,\Phi\left(\frac{s_n+\sigma_At}{\sigma_B}\right)"
    r"^{V-1}dt",
    regime="V >> d, V from 512 to 1024, d across the transition.",
    cells={
        "smoke": across((512,), (2,), (0.75, 1.4)),
        "standard": across((512,), (2, 16), (0.75, 1.4)),
        "full": across((512, 1024), (2, 16), (0.75, 1.4)),
    },
    replicates=32,
    looks=4,
    rule=Probability(Region(-0.06, 0.06)),
    why="""Treating the competitors' scores as independent Gaussians raises their maximum
        by an amount of order log(V)/d: 0.04 in accuracy at V = 512.""",
    predict=lambda cell: recall.accuracy_gaussian(problem(cell)),
    controls=(
        Control(
            "half-the-constant",
            "d^2 = V log V in place of 2 V log V",
            predict=lambda cell: recall.accuracy_gaussian(
                problem(cell).replace(dim=round(math.sqrt(2) * cell.number("dim")))
            ),
        ),
        Control(
            "no-count-fluctuations",
            "drops the factor 1 + 1/lambda and the spread of the counts",
            predict=lambda cell: recall.accuracy_gaussian(infinite_load(cell)),
        ),
    ),
    plot=Plot(x="dim", group=("vocab_size", "samples")),
)
def gaussian(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Interference that is Gaussian and independent between labels already gives the accuracy,
    up to a few hundredths."""
    return share(cell, block)
