"""What claims about explicit weights share: facts and prompts drawn for each replicate."""

from collections.abc import Callable
from typing import SupportsFloat

import numpy as np
import torch
from torch import Tensor

from claims.factual.common import NAMES
from recall_claims import Block, Cell
from simulation.factual import constructions
from simulation.factual import task as recall

LENGTH = 32  # of prompts, as published
WIDER = (0.7, 0.85, 1.0, 1.25)  # a scan around a threshold that is not sharp


def each(
    cell: Cell, block: Block, run: Callable[[np.random.Generator, recall.Facts], SupportsFloat]
) -> Tensor:
    """One number per replicate, from facts drawn for it."""
    shape = {name: cell[name] for name in (*NAMES, "dim", "noise") if name in cell}
    shape |= {"device": block.device, "dtype": block.dtype}
    values = [float(run(rng, recall.draw(rng, **shape))) for rng in block.rngs]
    return torch.tensor(values, dtype=block.dtype)


def recalled(
    rng: np.random.Generator,
    facts: recall.Facts,
    attention: constructions.Attention,
    mlp: constructions.Mlp | None = None,
    *,
    length: int = LENGTH,
) -> Tensor:
    """Which facts the weights recall, (S, R), each from one prompt."""
    outputs = constructions.attend(attention, facts, recall.prompts(rng, facts, length=length))
    return constructions.right((mlp(outputs) if mlp else outputs) @ facts.outputs.T, facts)
