"""Facts and prompts drawn for each replicate, for all claims about explicit weights."""

from collections.abc import Callable, Iterator
from typing import SupportsFloat

import numpy as np
import torch
from torch import Tensor

import recall_claims as rc
from claims.factual.common import NAMES
from simulation.factual import constructions
from simulation.factual import task as recall

LENGTH = 32  # of prompts, as published
FREQUENCY, MARGIN = 6.0, 0.85
"""Frequency of the features and score of EOS that predictions use. The construction has its own
constants: if they differed, evidence and prediction would part."""


def each(
    cell: rc.Cell,
    block: rc.Block,
    run: Callable[[np.random.Generator, recall.Facts], SupportsFloat],
) -> Tensor:
    """One number per replicate, from facts drawn for it."""
    values = [float(run(rng, facts)) for rng, facts in drawn(cell, block)]
    return torch.tensor(values, dtype=block.dtype)


def drawn(cell: rc.Cell, block: rc.Block) -> Iterator[tuple[np.random.Generator, recall.Facts]]:
    """Each replicate's generator and the facts drawn with it."""
    shape = {name: cell[name] for name in (*NAMES, "dim", "noise") if name in cell}
    for rng in block.rngs:
        yield rng, recall.draw(rng, **shape, device=block.device, dtype=block.dtype)


def recalled(
    rng: np.random.Generator,
    facts: recall.Facts,
    attention: constructions.Attention,
    mlp: constructions.Mlp | None = None,
    *,
    length: int = LENGTH,
) -> Tensor:
    """Return which facts the weights recall, (S, R), each from one prompt."""
    outputs = constructions.attend(attention, facts, recall.prompts(rng, facts, length=length))
    return constructions.right((mlp(outputs) if mlp else outputs) @ facts.outputs.T, facts)
