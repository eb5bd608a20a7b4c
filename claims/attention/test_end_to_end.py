"""End to end: accuracy on fresh sequences after three steps is localisation times recall."""

from torch import Tensor

from claims.attention.common import settings
from recall_claims import (
    Block,
    Cell,
    Control,
    Plot,
    ProportionDifference,
    Region,
    Source,
    claim,
    on,
)
from simulation.attention import end_to_end as measured
from simulation.attention import sampling
from theory.attention import end_to_end, localisation, recall
from theory.attention.problem import Problem

SOURCE = Source("A", "A1", "A2", "A7", "A9")
SIZES = "vocab_size length dim samples"
SMOKE = settings(SIZES, (256, 64, 64, 384), (256, 64, 64, 768))
STANDARD = SMOKE + settings(
    SIZES,
    *((256, 32, 48, 256), (256, 32, 48, 512), (256, 48, 128, 256)),
    *((256, 64, 48, 1024), (256, 64, 96, 384), (256, 64, 96, 768)),
)
LARGE = settings(SIZES, (1024, 64, 96, 768), (1024, 64, 128, 1024), (1024, 96, 160, 1536))
REGIME = """V = 256 >= 2 d, L << V. N = V to 4 V crosses the transition of localisation, d = 48 to
    128 that of recall, so that neither factor alone decides."""

FOUND = on(Problem, localisation.probability)
RECALLED = on(Problem, recall.recall_accuracy)
CONTROLS = (
    Control("localisation-only", "recall is perfect", FOUND),
    Control("recall-only", "localisation is perfect", RECALLED),
    Control("weakest-link", "the smaller of the two", lambda c: min(FOUND(c), RECALLED(c))),
    Control("additive", "the failures add up", lambda c: max(0.0, FOUND(c) + RECALLED(c) - 1)),
)


@claim(
    "A.accuracy",
    "Accuracy on fresh sequences after the three steps",
    source=SOURCE,
    predict=on(Problem, end_to_end.end_to_end_accuracy),
    regime=end_to_end.DENSER.searched(
        REGIME,
        size=lambda cell: cell["samples"] * cell["length"] + cell["vocab_size"] ** 2,
        largest=3e5,
    ),
    cells={"smoke": SMOKE, "standard": STANDARD, "full": STANDARD + LARGE},
    replicates=32,
    looks=7,
    rule=ProportionDifference(Region(-0.06, 0.06)),
    why="The stated errors of localisation, 0.04, and of recall, 0.015, add up at worst.",
    controls=CONTROLS,
    plot=Plot("parity"),
)
def accuracy(cell: Cell, block: Block) -> Tensor:
    """A fresh sequence gets its label if its informative token is found and recalled. Training
    misses the same tokens as fresh sequences do, and stores others in their place, which couples
    the two factors."""
    return measured.run(block.draw(sampling.draw, cell)).accuracy


@claim(
    "A.accuracy-product",
    "Accuracy is localisation times recall",
    source=SOURCE,
    predict=on(Problem, end_to_end.product),
    regime=end_to_end.DENSER.searched(
        REGIME,
        size=lambda cell: cell["samples"] * cell["length"] + cell["vocab_size"] ** 2,
        largest=3e5,
    ),
    cells={
        "standard": SMOKE + settings(SIZES, (256, 32, 48, 256), (256, 64, 96, 384)),
        "full": STANDARD,
    },
    replicates=32,
    looks=7,
    rule=ProportionDifference,
    why="""As for the accuracy itself, and 0.03 for the coupling of the two factors
        through the tokens that training misses.""",
    controls=CONTROLS,
    plot=Plot("parity"),
)
def accuracy_product(cell: Cell, block: Block) -> Tensor:
    """The accuracy on fresh sequences is the probability that attention finds the informative
    token times the recall of a memory whose training found every token."""
    return measured.run(block.draw(sampling.draw, cell)).accuracy
