"""Does the value matrix give the right label once attention has found the token?"""

import torch

from simulation.contractions import TILE_ELEMENTS
from simulation.sampling import Facts, Vocabulary


def localised_memory(facts: Facts) -> torch.Tensor:
    r"""``V2 / gamma`` after step 3, at perfect localisation in training: (R, d, d).

    .. math:: \frac1N \sum_v n_v\, U (e_{\pi(v)} - \tfrac1V \mathbf 1)\, a_v^\top

    with :math:`n_v` the counts and :math:`a_v` the value of token v at an informative position.
    """
    centred = facts.u - facts.u.mean(1, keepdim=True)
    targets = centred.gather(1, facts.permutation[..., None].expand(facts.z.shape))
    weights = facts.counts / facts.counts.sum(1, keepdim=True)
    return (weights[..., None] * targets).mT @ facts.informative_values


def predict(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The label argmax_k u_k . (memory value) of each value: (R, n) int64.

    ``u``: (R, V, d).  ``memory``: (R, d, d).  ``values``: (R, n, d).  Scores are made a tile of
    values at a time, never all (n, V) of them at large sizes.
    """
    answers = values @ memory.mT
    labels = torch.empty(values.shape[:2], dtype=torch.int64, device=values.device)
    budget = TILE_ELEMENTS[u.device.type]
    (replicates, count), vocab_size = labels.shape, u.shape[1]
    group = max(1, budget // (count * vocab_size))
    size = max(1, min(count, budget // vocab_size))
    for r in range(0, replicates, group):
        for n in range(0, count, size):
            tile = answers[r : r + group, n : n + size] @ u[r : r + group].mT
            labels[r : r + group, n : n + size] = tile.argmax(2)
    return labels


def correct(vocabulary: Vocabulary, memory: torch.Tensor) -> torch.Tensor:
    """Whether each token, attended at an informative position, gives its label: (R, V) bool."""
    labels = predict(vocabulary.u, memory, vocabulary.informative_values)
    return labels == vocabulary.permutation


def accuracy(facts: Facts) -> torch.Tensor:
    """Share of tokens recalled after training at perfect localisation: (R,)."""
    return correct(facts, localised_memory(facts)).to(facts.z.dtype).mean(1)


def all_tokens(facts: Facts) -> torch.Tensor:
    """1 where every token is recalled after training at perfect localisation, else 0: (R,)."""
    return correct(facts, localised_memory(facts)).all(1).to(facts.z.dtype)
