"""A4, A13: the share of labels that matched filter and linear MMSE guess from the gradient.

Linear MMSE is the linear estimator of minimum mean square error.
"""

from functools import partial

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import claim, table
from claims.lower_bound.common import SOURCE, guessed
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import matched_filter as matched_filter_estimator
from theory.attention.problem import Problem
from theory.lower_bound import linear_mmse, matched_filter

RANGES = {
    "vocab_size": rc.log_range(256, 512),
    "length": rc.log_range(2, 256),
    "samples": rc.log_range(2048, 65536),
    "dim": rc.log_range(30, 254),
}


def searched(text: str) -> rc.Regime:
    """Make the regime in which the stated errors of both accuracy formulas hold.

    ``text``: the end of the sentence that begins with "On the grid".
    """
    return rc.Regime(
        f"V >= 256, d >= 30 and N >= 8 V. On the grid {text}",
        RANGES,
        holds=lambda cell: cell["samples"] >= 8 * cell["vocab_size"],
    )


sized = partial(table, "length samples dim", vocab_size=256)
MATCHED = sized((8, 8192, 44), (8, 16384, 64), (32, 8192, 62), (64, 8192, 96), (128, 8192, 144))
LINEAR = sized((8, 16384, 40), (8, 16384, 56), (32, 8192, 62), (64, 8192, 88), (128, 8192, 112))
FINITE_SIZE = """Finite size: pilots under seeds of 1000 and above agree to 0.015 at V = 256;
    the rest is sampling error."""
MORE_DIM = rc.at("tenth-more-dim", "a tenth more dimensions", dim=lambda c: round(1.1 * c["dim"]))
matched = rc.on(Problem, matched_filter.matched_filter_accuracy)
PARITY = rc.Plot("parity", y_label="share of labels guessed right")
reading_claim = partial(
    claim, source=SOURCE, plot=PARITY, size=lambda c: 0.9 * c["samples"] * c["length"]
)


@reading_claim(
    "A.matched-filter",
    "The formula predicts the accuracy of the matched filter on the first gradient to within 0.04",
    predict=matched,
    regime=searched(
        "interference, noise of the other tokens, or fluctuating label counts (L = 128) limit "
        "the accuracy in turn"
    ),
    cells={"smoke": MATCHED[:3:2], "standard": MATCHED},
    replicates=(64, 1024),
    rule=rc.ProportionDifference(rc.Region(-0.04, 0.04)),
    why=FINITE_SIZE,
    controls=(
        rc.at(
            "no-noise", "the uninformative tokens add no noise: the terms in L/N dropped", length=2
        ),
        rc.at(
            "no-interference",
            "twice as many dimensions, so a quarter of the interference",
            dim=lambda c: 2 * c["dim"],
        ),
        MORE_DIM,
    ),
)
def matched_filter_accuracy(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The matched filter scores labels by the gradient, as the network does after its first step.
    Its guess of a label is right if a signal exceeds V - 1 rivals, whose noise comes from
    interference, from the other tokens and from fluctuating label counts."""
    return guessed(cell, block, "matched filter")


@reading_claim(
    "A.linear-mmse",
    "The formula predicts the accuracy of the linear MMSE estimate to within 0.04",
    predict=rc.on(Problem, linear_mmse.linear_mmse_accuracy),
    regime=searched("a token meets a given label by chance about twice or more, on average"),
    cells={"smoke": LINEAR[:3:2], "standard": LINEAR},
    replicates=(64, 1024),
    rule=rc.ProportionDifference(rc.Region(-0.04, 0.04)),
    why=FINITE_SIZE,
    controls=(
        rc.Control(
            "matched-filter", "undoing the overlaps of the embeddings gains nothing", matched
        ),
        rc.at(
            "no-noise", "the uninformative tokens add no noise: the term in L/N dropped", length=2
        ),
        MORE_DIM,
    ),
)
def linear_mmse_accuracy(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The best linear estimate multiplies the gradient from both sides by pseudo-inverses of the
    embeddings. Its guess of a label is right if a signal exceeds V - 1 rivals. Overlaps of
    embeddings then have a smaller variance than in the matched filter, about 1 - d/V times as
    large."""
    return guessed(cell, block, "linear MMSE")


first_labels = partial(matched_filter_estimator.labels, queries=2048)
"""The matched filter for large vocabularies: it guesses the labels of the first 2,048 tokens."""

LARGE_VOCABULARIES = table(
    "vocab_size length samples dim",
    *((1024, 4, 16 * 1024, 128), (4096, 4, 16 * 4096, 256), (16384, 4, 16 * 16384, 512)),
    (131072, 32, 8 * 131072, 4096),
)


@reading_claim(
    "A.one-step-decoding-large-vocabulary",
    "One-step decoding is as accurate as predicted at large vocabularies, to within 0.03",
    predict=matched,
    regime=matched_filter.REGIME.searched(
        "the grid has accuracies between 0.3 and 0.6",
        length=rc.log_range(2, 64),
    ),
    size=lambda c: (c["samples"] * c["length"] + 2048 * c["vocab_size"]) / 9,
    cells={
        "smoke": LARGE_VOCABULARIES[:1],
        "standard": LARGE_VOCABULARIES[:2],
        "full": LARGE_VOCABULARIES[1:],
    },
    replicates={"smoke": (96, 192), "full": (16, 64)},
    block={"smoke": 32, "full": 16},
    rule=rc.MeanDifference(rc.Region(-0.03, 0.03)),
    why="The theory states an error of 0.015 for V >= 256; the rest is what 2048 queries resolve.",
    controls=(
        rc.at("no-noise", "no noise, at infinite N", length=2, samples=lambda c: 64 * c["samples"]),
        MORE_DIM,
    ),
)
def one_step_decoding(cell: rc.Cell, block: rc.Block) -> Tensor:
    """After one gradient step, the guess of a token's label is the label with the highest of V
    scores. The formula predicts how often the guess is right, for V from 1,024 to 131,072. Tokens
    are exchangeable, so the first 2,048 represent all. Each token is scored against every label,
    tile by tile, without a V x V matrix."""
    found = []
    for rng in block.rngs:  # one at a time, so that only its embeddings are in memory
        alone = rc.Block((rng,), block.device, block.dtype)
        seen = alone.draw(gradient_channel.discrete, cell)
        found.append(gradient_channel.estimator_accuracy(seen, first_labels))
    return torch.cat(found)
