"""Probability that hard attention finds the informative position of a fresh sequence.

A sequence is localised if only the informative position has the highest score; a tie is a miss
(:attr:`Scores.lead`). A copy of the informative token elsewhere lacks the trigger's score,
which can be negative.
"""

from dataclasses import replace

import torch
from torch.nn.functional import pad

from simulation.attention import three_steps
from simulation.attention.sampling import Batch
from simulation.attention.three_steps import Scores


def by_token(scores: Scores, *, length: int) -> torch.Tensor:
    r"""Compute the probability that a fresh sequence is localised, by informative token u: (R, V).

    The other L - 1 tokens, with L = ``length``, are independent and uniform on the vocabulary. So
    the probability is exactly

    .. math:: P_u = F(\theta_u + \theta_{trig})^{L-1}

    where F(x) is the share of tokens whose score theta is below x.
    """
    ranks = torch.searchsorted(scores.theta.sort().values, scores.theta + scores.lead[:, None])
    return (ranks.to(scores.theta.dtype) / scores.theta.shape[1]) ** (length - 1)


def probability(scores: Scores, *, length: int) -> torch.Tensor:
    """Compute the probability that a fresh sequence is localised: (R,), averaging `by_token`."""
    return by_token(scores, length=length).mean(1)


def mirrored(batch: Batch) -> torch.Tensor:
    r"""Average the `probability` after the three steps over the trigger and its opposite: (R,).

    Without the trigger in the values, neither the value step nor the logits of the attention step
    depend on the trigger, so that the score direction is

    .. math:: w = w_0 + s\,z_{trig}

    with the same :math:`w_0` and s for every trigger: one run gives both probabilities. If the
    trigger's law has no preferred sign, the result has the expectation of `probability`. Its
    variance is about 1/4 to 3/4 of the variance of `probability` if 1/4 to 1/2 of the sequences is
    localised, as replicates differ mostly in the trigger's chance overlap with :math:`w_0`.

    Raises ValueError if the trigger is in the values.
    """
    if batch.trigger_in_values:
        raise ValueError(
            "the trigger is in the values, so that its opposite would train other values: "
            "use probability(token_scores(batch))"
        )
    # With the trigger along an extra dimension, this dimension of w is the coefficient s.
    wider = pad(batch.z, (0, 1))
    own = torch.zeros_like(wider[:, 0])
    own[:, -1] = 1
    step = three_steps.token_scores(replace(batch, z=wider, trigger=own))
    direction, share = step.direction[:, :-1], step.direction[:, -1:]
    along = (batch.z @ batch.trigger[:, :, None])[..., 0]
    found = []
    for sign in (1, -1):
        told = direction + sign * share * batch.trigger
        scores = Scores(
            direction=told,
            theta=step.theta + sign * share * along,
            trigger=sign * (told * batch.trigger).sum(1),
            rounding=step.rounding,
        )
        found.append(probability(scores, length=batch.length))
    return torch.stack(found).mean(0)
