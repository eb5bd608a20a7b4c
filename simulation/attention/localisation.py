"""Does hard attention find the informative position of a fresh sequence?

Localised means that the informative position alone has the highest score; a tie is a miss
(:attr:`Scores.lead`).  A second copy of the informative token never wins against a positive
trigger score, and always does against a negative one.
"""

import torch

from simulation.attention.three_steps import Scores


def by_token(scores: Scores, *, length: int) -> torch.Tensor:
    r"""Probability that a fresh sequence is localised, for each informative token u: (R, V).

    Exact, as the ``length - 1`` other tokens are independent and uniform on the vocabulary:

    .. math:: P_u = F(\theta_u + \theta_{trig})^{L-1}

    with F the share of tokens whose score is strictly smaller.
    """
    ranks = torch.searchsorted(scores.theta.sort().values, scores.theta + scores.lead[:, None])
    return (ranks.to(scores.theta.dtype) / scores.theta.shape[1]) ** (length - 1)


def probability(scores: Scores, *, length: int) -> torch.Tensor:
    """Probability that a fresh sequence is localised: (R,), the mean of :func:`by_token`."""
    return by_token(scores, length=length).mean(1)
