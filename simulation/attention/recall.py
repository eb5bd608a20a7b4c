"""Does the value matrix give the right label once attention has found the token?

The same code recalls 16 labels and 131072: scores are made a tile of queries and labels at a time,
and only the best so far is kept.  Memory is O(R V d) and one tile, never O(V^2).
"""

import math

import torch

from simulation.attention.sampling import Facts, Vocabulary
from simulation.contractions import TILE_ELEMENTS


def localised_memory(facts: Facts) -> torch.Tensor:
    r"""``V2 / gamma`` after step 3, at perfect localisation in training: (R, d, d).

    .. math:: \frac1N \sum_v n_v\, U (e_{\pi(v)} - \tfrac1V \mathbf 1)\, a_v^\top

    with :math:`n_v` the counts and :math:`a_v` the value of token v at an informative position.
    """
    targets = facts.u.gather(1, facts.permutation[..., None].expand(facts.z.shape))
    weights = facts.counts / facts.counts.sum(1, keepdim=True)
    targets.sub_(facts.u.mean(1, keepdim=True)).mul_(weights[..., None])  # one more table, not two
    return targets.mT @ facts.informative_values


def predict(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The label argmax_k u_k . (memory value) of each value: (R, n) int64.

    ``u``: (R, V, d).  ``memory``: (R, d, k).  ``values``: (R, n, k).
    """
    return nearest(u, values @ memory.mT)


def nearest(u: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """The label argmax_k u_k . answer of each answer, the first of equals: (R, n) int64.

    ``u``: (R, V, d).  ``answers``: (R, n, d).
    """
    labels = torch.empty(answers.shape[:2], dtype=torch.int64, device=answers.device)
    budget = TILE_ELEMENTS[u.device.type]
    (replicates, count), vocab_size = labels.shape, u.shape[1]
    # Nearly square tiles read each row of both factors least often.
    width = min(vocab_size, max(math.isqrt(budget), budget // count))
    size = min(count, budget // width)
    group = budget // (size * width)
    for r in range(0, replicates, group):
        for n in range(0, count, size):
            part = answers[r : r + group, n : n + size]
            best, label = (part @ u[r : r + group, :width].mT).max(2)
            for k in range(width, vocab_size, width):
                score, rival = (part @ u[r : r + group, k : k + width].mT).max(2)
                higher = score > best
                best = torch.where(higher, score, best)
                label = torch.where(higher, rival + k, label)
            labels[r : r + group, n : n + size] = label
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
