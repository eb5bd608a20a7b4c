"""End to end: accuracy on fresh sequences after three steps is localisation times recall."""

from functools import partial

import recall_claims as rc
from claims.common import claim, measuring, table
from simulation.attention import end_to_end as measured
from simulation.attention import sampling
from theory.attention import end_to_end, localisation, recall
from theory.attention.problem import Problem

SIZES = "vocab_size length dim samples"
SMOKE = table(SIZES, (256, 64, 64, 384), (256, 64, 64, 768))
STANDARD = SMOKE + table(
    SIZES,
    *((256, 32, 48, 256), (256, 32, 48, 512), (256, 48, 128, 256)),
    *((256, 64, 48, 1024), (256, 64, 96, 384), (256, 64, 96, 768)),
)
LARGE = table(SIZES, (1024, 64, 96, 768), (1024, 64, 128, 1024), (1024, 96, 160, 1536))
FOUND = rc.on(Problem, localisation.probability)
RECALLED = rc.on(Problem, recall.recall_accuracy)
CONTROLS = (
    rc.Control("localisation-only", "recall is perfect", FOUND),
    rc.Control("recall-only", "localisation is perfect", RECALLED),
    rc.Control(
        "weakest-link",
        "accuracy is the smaller of localisation and recall",
        lambda c: min(FOUND(c), RECALLED(c)),
    ),
    rc.Control(
        "additive",
        "the probabilities of failure to localise and to recall add up",
        lambda c: max(0.0, FOUND(c) + RECALLED(c) - 1),
    ),
)
common = partial(
    claim,
    source=rc.Source("A", "A1", "A2", "A7", "A9"),
    regime=end_to_end.DENSER.searched(
        "On the grid N crosses the transition of localisation, and d the transition of recall: "
        "neither localisation nor recall alone decides.",
    ),
    replicates=(32, 2048),
    controls=CONTROLS,
    plot=rc.Plot("parity", y_label="share of sequences answered right"),
    size=lambda c: 3 * (c["samples"] * c["length"] + c["vocab_size"] ** 2),
)
accuracy_claim = measuring(
    lambda cell, block: measured.run(block.draw(sampling.draw, cell)).accuracy, common
)

accuracy = accuracy_claim(
    "A.accuracy",
    "The formula predicts the accuracy after the three steps to within 0.06",
    """A fresh sequence gets its label if its informative token is found and recalled. Training
    misses the same tokens as fresh sequences do, and stores others in their place. So recall
    depends on localisation.""",
    predict=rc.on(Problem, end_to_end.end_to_end_accuracy),
    cells={"smoke": SMOKE, "standard": STANDARD, "full": STANDARD + LARGE},
    rule=rc.ProportionDifference(rc.Region(-0.06, 0.06)),
    why="The stated errors of localisation, 0.04, and of recall, 0.015, add up at worst.",
)

accuracy_product = accuracy_claim(
    "A.accuracy-product",
    "Accuracy is localisation times recall, to within 0.07",
    """The accuracy on fresh sequences is the probability that attention finds the informative token
    times the recall of a memory whose training found every token.""",
    predict=rc.on(Problem, end_to_end.product),
    cells={
        "standard": SMOKE + table(SIZES, (256, 32, 48, 256), (256, 64, 96, 384)),
        "full": STANDARD,
    },
    rule=rc.ProportionDifference,
    why="""The stated error of the full formula, 0.04, and 0.03 because recall depends on the tokens
        that training misses.""",
)
