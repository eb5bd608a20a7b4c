"""Shared parts of the claims about trained transformers: sizes, and short and published training.

The released code of paper B trains with batches of 1024 prompts for 16384 steps, tests after every
128 steps, and takes the best of three learning rates. The figure of the boundary between attention
and MLP has one rate, 1e-2.

A CPU has time for fewer prompts. Pilots had d = 16 and 1536 weights, each run had one rate, and
success was to recall 99% of the facts. The published training succeeded in 6 of 8 runs with 12^2 or
13^2 facts, and in none of 12 with 14^2 to 16^2. The short training below has 1/64 of the prompts.
At the rate 1e-2 the short training succeeded in 4 of 4 runs with 11^2 facts, 3 of 4 with 12^2, and
none of 5 with 14^2.

Sizes: H heads of dimension d_h, m hidden neurons, d dimensions, S subjects and R relations.
"""

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

import recall_claims as rc
from simulation.factual.trained_transformer import Sizes, train_best

SHORT = {"answers": 8, "batch": 64, "steps": 2**12}
PUBLISHED = {"answers": 8, "batch": 1024, "steps": 2**14}
RATES = (1e-2, 3e-3, 1e-3)
"""Published learning rates; the largest comes first, as it is best in a short training."""

MOST = rc.ProportionDifference(rc.Region(-0.5, 0.5))
"""More than half of the replicates are 1 where 1 is predicted, and fewer than half where 0 is."""


def sizes(cell: rc.Cell) -> Sizes:
    """Return the sizes of a cell's task and model, at S = R.

    Raises ValueError if the number of facts is not a square.
    """
    side = math.isqrt(cell["facts"])
    if side**2 != cell["facts"]:
        raise ValueError(f"{cell['facts']} facts are no square: S = R has none of that number")
    model = {name: cell[name] for name in ("answers", "heads", "head_dim", "width")}
    return Sizes(subjects=side, relations=side, **model)


def within(cell: rc.Cell, capacity: float) -> float:
    """Return 1 if the cell's facts are within a capacity, else 0."""
    return float(cell["facts"] <= capacity)


def trained(
    cell: rc.Cell, block: rc.Block, target: float = 0.99, rates: Sequence[float] = RATES
) -> Tensor:
    """Measure the accuracy of a cell's model, trained until it reaches ``target``: (R,).

    The best of several learning rates counts. The other rates are tried only if the first does not
    reach the target.
    """
    run: dict[str, Any] = {name: cell[name] for name in ("dim", "batch", "steps")}
    run["sizes"] = sizes(cell)
    return block.draw(train_best, run, learning_rates=rates, target=target).accuracy


def split(side: int, dim: int = 16, alpha: int = 1, beta: float = 1, **run: int) -> rc.Cell:
    """Make a cell of H d_h = alpha d in eight heads, m = beta d, and side^2 facts."""
    return rc.Cell(
        **run, dim=dim, heads=8, head_dim=alpha * dim // 8, width=int(beta * dim), facts=side**2
    )
