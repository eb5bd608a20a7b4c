"""Argmax decoding: the label whose output embedding overlaps most with an answer vector.

Scores are computed for a tile of answers and labels at a time, and only the best so far is kept.
"""

import math

import torch

from simulation.tiles import TILE_ELEMENTS


def predict(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Find the label argmax_k u_k . (memory value) of each value: (R, n) int64.

    ``u``: (R, V, d) output embeddings.  ``memory``: (R, d, m).  ``values``: (R, n, m).
    """
    return nearest(u, values @ memory.mT)


def nearest(u: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Find the label argmax_k u_k . answer of each answer: (R, n) int64, the first of tied labels.

    ``u``: (R, V, d) output embeddings.  ``answers``: (R, n, d).
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


def mostly(shares: torch.Tensor) -> torch.Tensor:
    """Return 1 for a share above 1/2, 0 for a share below, and 1/2 for 1/2.

    As a task's size grows, batches' mean result crosses 1/2 where their median share does. A few
    batches show where, as their shares differ little.

    ``shares``: of right answers, in [0, 1].
    """
    return (torch.sign(shares - 0.5) + 1) / 2
