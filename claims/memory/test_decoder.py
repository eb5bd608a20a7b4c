"""Facts decoded from short codes: the values' decodability predicts the length of code needed."""

import math

from torch import Tensor

import recall_claims as rc
from claims.common import claim, table
from simulation.memory import decoder as measured
from theory.memory import decoder as theory

needed = rc.on(theory.needed_code)
SIZES = table(
    "facts groups shared code",
    (128, 1, 0.75, "best"),
    (512, 16, 0.5, "best"),
    (256, 8, 0.75, "best"),
    (256, 1, 0.75, "plain"),
)


def by_margin(cell: rc.Cell) -> float:
    """Predict the code's dimension from the least difference of scores, not from the least cosine.

    A cosine is this difference divided by the distance of two values, which is shorter within a
    group.
    """
    least = theory.decodability(**cell.without("code_dim")) * math.sqrt(2 * (1 - cell["shared"]))
    return float(theory.needed_code(cell["facts"], 1, 1 - 2 * least**2, "plain"))


@claim(
    "G.decoder-code",
    "The least cosine predicts how long codes have to be so that 99% of facts are decoded",
    source=rc.Source("G", "G11"),
    predict=needed,
    regime=theory.VALUES,
    size=lambda c: c["facts"] ** 2,
    cells={"standard": lambda: rc.ladder(SIZES, "code_dim", needed, (0.7, 0.8, 0.9, 1.03, 1.15))},
    rule=rc.CriticalLocation(rc.Region(0.8, 1.03), scan="code_dim"),
    why="a bound from above: up to 20% fewer dimensions suffice, as the theory states after pilots "
    "with other seeds, which found 3 to 16%; 3% more are for whole numbers of dimensions",
    from_pilot=True,
    replicates=(32, 2048),
    controls=(
        rc.times(1.25),
        rc.times(0.85),
        rc.at("nothing-shared", "as for values that share nothing", groups=1, shared=0.0),
        rc.at("values", "as if the values served as codes", code="plain"),
        rc.Control("margin", "the least difference of scores, not the least cosine", by_margin),
        rc.Control(
            "no-logarithm",
            "ln 100 instead of ln(100 F), as for one rival",
            lambda c: needed(c) * math.log(100) / math.log(100 * c["facts"]),
        ),
    ),
    plot=rc.Plot(
        x="code_dim",
        group=("facts", "groups", "code"),
        collapse=True,
        y_label="share of decoders 99% right",
    ),
)
def decoder_code(cell: rc.Cell, block: rc.Block) -> Tensor:
    """A fact's code is a short random projection of a direction. From the code, a linear decoder
    scores the values of all facts. A rival wins if its value scores higher than the fact's own
    value. The probability of this depends only on the code's length, and on the angle between the
    direction and the difference of the two values. So the least cosine of these angles bounds the
    number of wrong facts, in any geometry. Here half to three quarters of the values' squared
    length is common, to all or to a group. Codes of the best directions then have to be up to 1.4
    times as long as for values that share nothing, and codes of the values themselves 5 times as
    long. The claim tests this decoder; no MLP is trained."""
    return (block.draw(measured.accuracy, cell) >= 0.99).to(block.dtype)
