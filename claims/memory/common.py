"""What several claim files on memories share; what a simulation calls must not use theory."""

from recall_claims import Block, Cell
from simulation.memory import linear


def draw(cell: Cell, block: Block) -> linear.Associations:
    """Pairs of a cell's size, for a linear memory."""
    return block.draw(linear.draw, cell.without("width", "queries"))
