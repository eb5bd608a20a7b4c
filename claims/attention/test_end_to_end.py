"""End to end: accuracy on fresh sequences after three steps is localisation times recall."""

from collections.abc import Mapping

import torch

from recall_claims import Block, Cell, Control, Plot, Probability, Region, Source, cells, claim
from simulation.attention import end_to_end as measured
from simulation.attention import sampling
from theory.attention import end_to_end, localisation, recall
from theory.attention.problem import Problem

SOURCE = Source(
    "A", "A1", "A2", "A7", "A9", provenance="derived", reference="theory/attention/end_to_end.py"
)


def points(vocab_size: int, *settings: tuple[int, int, int]) -> tuple[Cell, ...]:
    """Cells from (length, dim, samples)."""
    return cells(
        {"vocab_size": vocab_size, "length": length, "dim": dim, "samples": samples}
        for length, dim, samples in settings
    )


def factors(cell: Cell) -> tuple[float, float]:
    """Localisation and recall, each on its own."""
    problem = Problem.of(cell)
    return localisation.probability(problem), recall.accuracy(problem)


SMOKE = points(256, (64, 64, 384), (64, 64, 768))
STANDARD = SMOKE + points(
    256, (32, 48, 256), (32, 48, 512), (48, 128, 256), (64, 48, 1024), (64, 96, 384), (64, 96, 768)
)
REGIME = """V = 256 >= 2 d, L << V. N = V to 4 V crosses the transition of localisation, d = 48 to
    128 that of recall, so that neither factor alone decides."""
CONTROLS = (
    Control("localisation-only", "recall is perfect", predict=lambda cell: factors(cell)[0]),
    Control("recall-only", "localisation is perfect", predict=lambda cell: factors(cell)[1]),
    Control(
        "weakest-link", "the smaller of the two factors", predict=lambda cell: min(factors(cell))
    ),
    Control(
        "additive",
        "the two failures exclude each other and add up",
        predict=lambda cell: max(0.0, sum(factors(cell)) - 1),
    ),
)


@claim(
    "A.accuracy",
    "Accuracy on fresh sequences after the three steps",
    source=SOURCE,
    latex=r"\mathrm{Acc} = E_{s}E_{t}\left[P(s,t)\,\mathrm{Recall}(n, P(s,\cdot))\right]",
    regime=REGIME,
    cells={
        "smoke": SMOKE,
        "standard": STANDARD,
        "full": STANDARD + points(1024, (64, 96, 768), (64, 128, 1024), (96, 160, 1536)),
    },
    replicates=256,
    looks=4,
    rule=Probability(Region(-0.06, 0.06)),
    why="""The stated errors of localisation, 0.04, and of recall, 0.015, add up at
        worst.""",
    predict=lambda cell: end_to_end.accuracy(Problem.of(cell)),
    controls=CONTROLS,
    plot=Plot(kind="parity"),
)
def accuracy(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A fresh sequence gets its label if its informative token is found and recalled. Training
    misses the same tokens as fresh sequences do, and stores others in their place, which couples
    the two factors."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": measured.run(batch).accuracy}


@claim(
    "A.accuracy-product",
    "Accuracy is localisation times recall",
    source=SOURCE,
    latex=r"\mathrm{Acc} = P\cdot\mathrm{Recall}",
    regime=REGIME,
    cells={
        "standard": SMOKE + points(256, (32, 48, 256), (64, 96, 384)),
        "full": STANDARD,
    },
    replicates=256,
    looks=4,
    rule=Probability(Region(-0.07, 0.07)),
    why="""As for the accuracy itself, and 0.03 for the coupling of the two factors
        through the tokens that training misses.""",
    predict=lambda cell: end_to_end.product(Problem.of(cell)),
    controls=CONTROLS,
    plot=Plot(kind="parity"),
)
def accuracy_product(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """The accuracy on fresh sequences is the probability that attention finds the informative
    token times the recall of a memory whose training found every token."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": measured.run(batch).accuracy}
