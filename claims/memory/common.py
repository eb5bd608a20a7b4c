"""Shared parts of the claims on memories.

Functions that a simulation calls must not use theory.
"""

import torch

import recall_claims as rc
from simulation.memory import linear


def draw(cell: rc.Cell, block: rc.Block) -> linear.Associations:
    """Draw pairs of a cell's sizes, for a linear memory."""
    return block.draw(linear.draw, cell.without("width", "queries"))


def majority(share: torch.Tensor) -> torch.Tensor:
    """Return 1 where a share, (R,), is above one half, 0 where it is below, 1/2 where it is equal.

    The mean of these numbers crosses 1/2 where the median share does. Nearly all memories of many
    pairs are on one side of 1/2, so a few replicates decide; the mean share would need hundreds.
    """
    return (torch.sign(share - 0.5) + 1) / 2
