"""Recall: whether the value matrix gives the right label once attention has found the token.

The code keeps O(R V d) numbers and a tile of scores, not O(V^2), so 131072 labels fit.
"""

import torch

from simulation.attention.sampling import Facts, Vocabulary
from simulation.decoding import predict


def localised_memory(facts: Facts) -> torch.Tensor:
    r"""Compute the value matrix that perfect localisation trains, times N V / gamma: (R, d, d).

    .. math:: \sum_v n_v\, U (V e_{\pi(v)} - \mathbf 1)\, a_v^\top

    with :math:`n_v` the counts, :math:`\pi(v)` the label and :math:`a_v` the value of token v at an
    informative position. The columns of U are the output embeddings, N is the number of samples,
    and gamma is the step size. In these units orthonormal embeddings make all numbers integers, so
    ties are exact in every dtype. The first of tied labels wins, which favours no token, as the
    permutation is random.
    """
    targets = facts.u.gather(1, facts.permutation[..., None].expand(facts.z.shape))
    # In place: one more table, not two.
    targets.mul_(facts.vocab_size).sub_(facts.u.sum(1, keepdim=True)).mul_(facts.counts[..., None])
    return targets.mT @ facts.informative_values


def correct(vocabulary: Vocabulary, memory: torch.Tensor) -> torch.Tensor:
    """Check whether each token, attended at an informative position, gives its label: (R, V)."""
    labels = predict(vocabulary.u, memory, vocabulary.informative_values)
    return labels == vocabulary.permutation


def recalled_share(facts: Facts) -> torch.Tensor:
    """Measure the share of tokens recalled after training at perfect localisation: (R,)."""
    return correct(facts, localised_memory(facts)).to(facts.z.dtype).mean(1)


def all_tokens(facts: Facts) -> torch.Tensor:
    """Return 1 if all tokens are recalled after training at perfect localisation, else 0: (R,)."""
    return correct(facts, localised_memory(facts)).all(1).to(facts.z.dtype)
