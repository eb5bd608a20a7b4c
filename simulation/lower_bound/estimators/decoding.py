"""Decoding: a label per token, from scores of (token, label) pairs."""

import torch
from scipy.optimize import linear_sum_assignment


def greedy(scores: torch.Tensor) -> torch.Tensor:
    """Choose the best label of each token independently: (R, V, V) to (R, V) int64."""
    return scores.argmax(2)


def assignment(scores: torch.Tensor) -> torch.Tensor:
    """Find the one-to-one map of largest total score: (R, V, V) to (R, V) int64.

    The linear assignment problem is solved exactly, on the CPU.
    """
    solved = [linear_sum_assignment(table, maximize=True)[1] for table in scores.cpu().numpy()]
    return torch.stack([torch.from_numpy(columns) for columns in solved]).to(scores.device)
