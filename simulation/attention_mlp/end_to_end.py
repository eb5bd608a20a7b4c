"""Attention and recall together: the three steps of the Attention-MLP on one batch."""

from dataclasses import dataclass

import torch

from simulation.attention import localisation, three_steps
from simulation.attention.sampling import Batch
from simulation.attention_mlp import three_steps as mlp
from simulation.attention_mlp.three_steps import Layer


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Probabilities of success after three steps on one batch, each (R,) for R replicates.

    ``hit``: a fresh sequence is localised and its token recalled.  ``localisation``: attention
    finds a fresh sequence's informative position.  ``recall``: a uniform token, attended at an
    informative position, gives its label.
    """

    hit: torch.Tensor
    localisation: torch.Tensor
    recall: torch.Tensor


def run(batch: Batch, layer: Layer, *, centred: bool = False) -> Outcome:
    """Take the three steps on ``batch``, and compute the exact probabilities of success.

    ``centred``: as in `three_steps`.
    """
    scores = mlp.token_scores(batch, layer, centred=centred)
    attended = three_steps.attend(batch, scores)
    memory = mlp.trained_memory(batch, layer, attended, centred=centred)
    localised = localisation.by_token(scores, length=batch.length)
    recalled = mlp.correct(batch, layer, memory).to(localised.dtype)
    return Outcome(
        hit=(localised * recalled).mean(1), localisation=localised.mean(1), recall=recalled.mean(1)
    )
