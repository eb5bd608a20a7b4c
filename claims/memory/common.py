"""Shared parts of the claim files on memories. Functions that a simulation calls must not use
theory."""

import torch

import recall_claims as rc
from simulation.memory import linear


def draw(cell: rc.Cell, block: rc.Block) -> linear.Associations:
    """Pairs of a cell's size, for a linear memory."""
    return block.draw(linear.draw, cell.without("width", "queries"))


def majority(share: torch.Tensor) -> torch.Tensor:
    """1 where a share of (R,) is above one half, 0 where it is below, 1/2 at a tie.

    Its mean crosses 1/2 where the median share does. Nearly all memories of many pairs are on the
    same side, so a few decide it; a mean of the share itself would need hundreds.
    """
    return (torch.sign(share - 0.5) + 1) / 2
