"""Accuracy of the three-step algorithm on fresh sequences: train on one batch, localise, recall."""

from dataclasses import dataclass

import torch

from simulation import decoding
from simulation.attention import localisation, recall, three_steps
from simulation.attention.sampling import Batch
from simulation.attention.three_steps import Scores


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Probabilities of success after three steps on one batch, each (R,).

    ``accuracy``: a fresh sequence gets its label.  ``localisation``: attention finds a fresh
    sequence's informative position.  ``recall``: a uniform token, attended at an informative
    position, gives its label.
    """

    accuracy: torch.Tensor
    localisation: torch.Tensor
    recall: torch.Tensor


def run(batch: Batch) -> Outcome:
    """Take the three steps on ``batch``, and evaluate them exactly over all fresh sequences.

    The memory holds the values that attention picked in training, right or wrong.
    """
    scores = three_steps.token_scores(batch)
    attended = three_steps.attend(batch, scores)
    memory = three_steps.trained_memory(batch, attended)
    localised = localisation.by_token(scores, length=batch.length)
    correct = recall.correct(batch, memory)
    lucky = _lucky(batch, scores, decoding.predict(batch.u, memory, batch.z))
    return Outcome(
        accuracy=(localised * correct).mean(1) + lucky,
        localisation=localised.mean(1),
        recall=correct.to(localised.dtype).mean(1),
    )


def predictions(batch: Batch, scores: Scores, memory: torch.Tensor) -> torch.Tensor:
    """Find the labels that hard attention and ``memory`` give to sequences: (R, N) int64."""
    values = three_steps.attended_values(batch, three_steps.attend(batch, scores))
    return decoding.predict(batch.u, memory, values)


def _lucky(batch: Batch, scores: Scores, answers: torch.Tensor) -> torch.Tensor:
    """Compute the probability that a fresh sequence is not localised and yet gets its label: (R,).

    ``answers``: (R, V), the label predicted if attention is on a token without the trigger. F is
    the distribution function of token scores theta, F(theta-) its limit from below. The highest
    of the other L - 1 scores is theta_v with probability F(theta_v)^{L-1} - F(theta_v-)^{L-1};
    tokens of this score are equally likely. Attention is then on v, unless the
    informative token scores higher.
    """
    others = batch.length - 1
    ordered = scores.theta.sort().values
    below = torch.searchsorted(ordered, scores.theta).to(ordered.dtype)
    upto = torch.searchsorted(ordered, scores.theta, right=True).to(ordered.dtype)
    size = batch.vocab_size
    highest = ((upto / size) ** others - (below / size) ** others) / (upto - below)
    # The token whose label is the answer.
    token = batch.permutation.argsort(dim=1).gather(1, answers)
    missed = scores.theta >= scores.theta.gather(1, token) + scores.lead[:, None]
    return (highest * missed).sum(1) / size
