"""A4, A13: one-step decoding at the vocabulary and the width of a language model."""

from collections.abc import Mapping

import torch

from claims.lower_bound.test_estimators import changed, source
from recall_claims import Block, Cell, Control, MeanDifference, Plot, Region, cells, claim
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import matched_filter as measured
from theory.attention.problem import Problem
from theory.lower_bound import matched_filter

QUERIES = 2048
"""Tokens asked for at large vocabularies."""

LARGE_VOCABULARIES = cells(
    {"vocab_size": size, "length": 4, "samples": 16 * size, "dim": dim}
    for size, dim in ((4096, 256), (16384, 512))
)


@claim(
    "A.one-step-decoding-large-vocabulary",
    "One-step decoding at the vocabulary and the width of a language model",
    source=source("matched_filter.py"),
    latex=r"\mathrm{Acc} = E_{s,c}\int\varphi(t)\,F\left(\frac{s+\sigma_At}{\sigma_B}\right)"
    r"^{V-1}dt",
    regime="""V from 4096 to 16384, and 131072 with d = 4096 in the full tier; N = 16V or 8V, L such
        that the formula's accuracy is between 0.3 and 0.6.""",
    cells={
        "smoke": cells([{"vocab_size": 1024, "length": 4, "samples": 16 * 1024, "dim": 128}]),
        "standard": LARGE_VOCABULARIES,
        "full": LARGE_VOCABULARIES
        + cells([{"vocab_size": 131072, "length": 32, "samples": 8 * 131072, "dim": 4096}]),
    },
    replicates=16,
    looks=3,
    rule=MeanDifference(Region(-0.03, 0.03)),
    why="""The theory states an error of 0.015 for V of at least 256; the rest is what
        some tens of replicates of 2048 queries resolve.""",
    predict=lambda cell: matched_filter.accuracy(Problem.of(cell)),
    controls=(
        Control(
            "no-noise",
            "the uninformative tokens add no noise, and there are infinitely many samples",
            predict=lambda cell: matched_filter.accuracy(
                Problem.of(cell).replace(length=2, samples=64 * int(cell.number("samples")))
            ),
        ),
        Control(
            "tenth-more-dim",
            "the accuracy of a tenth more dimensions",
            predict=changed(matched_filter.accuracy, dim=1.1),
        ),
    ),
    plot=Plot(kind="parity", x_label="formula", y_label="share of labels guessed right"),
    dtype="float32",
)
def one_step_decoding(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """After one gradient step a token's label is read as the highest of V scores, and that is right
    as often as at small vocabularies the formula says. Tokens are exchangeable, so that the first
    few stand for all; each is scored against every label, tile by tile, without a V x V matrix."""
    found = []
    for rng in block.rngs:  # one at a time: its embeddings are all that memory must hold
        seen = gradient_channel.discrete([rng], **cell, device=block.device, dtype=block.dtype)
        found.append(gradient_channel.accuracy(seen, few_tokens))
    return {"value": torch.cat(found)}


def few_tokens(observation: gradient_channel.Observation) -> torch.Tensor:
    """The matched filter's labels of the first tokens."""
    return measured.labels(observation, queries=QUERIES)
