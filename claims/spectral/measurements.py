"""Shared parts of the claims about fewer measurements than weights."""

from functools import partial

import recall_claims as rc
from simulation.spectral import underdetermined as measured

derived = partial(
    rc.Source, "H", provenance="derived", reference="theory/spectral/underdetermined.py"
)


def drawn(cell: rc.Cell, block: rc.Block) -> tuple[measured.Task, float]:
    """Draw the cell's task, a regression or Gaussian measurements; return the task and a time.

    The time is the cell's ``time``, at which claims examine the weights, or 0 if there is none.
    """
    sizes = {name: value for name, value in cell.items() if name != "time"}
    task: measured.Regression | measured.Sensing
    if "measurements" in cell:
        task = block.draw(measured.sensing, sizes)
    else:
        task = block.draw(measured.regression, sizes)
    return task, cell.get("time", 0.0)
