"""Decoding: scores of (token, label) pairs to one label per token."""

import torch
from scipy.optimize import linear_sum_assignment


def greedy(scores: torch.Tensor) -> torch.Tensor:
    """The best label of each token, whatever the others take: (R, V, V) to (R, V) int64."""
    return scores.argmax(2)


def assignment(scores: torch.Tensor) -> torch.Tensor:
    """The one-to-one map of largest total score: (R, V, V) to (R, V) int64.

    The linear assignment problem, solved exactly; rows come out in order, so the columns are the
    labels of tokens 0, 1, ...
    """
    solved = [linear_sum_assignment(table, maximize=True)[1] for table in scores.cpu().numpy()]
    return torch.stack([torch.from_numpy(columns) for columns in solved]).to(scores.device)
