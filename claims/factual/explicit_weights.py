"""Facts and prompts drawn for each replicate, for all claims about explicit weights."""

from collections.abc import Callable

import torch
from torch import Tensor

import recall_claims as rc
from claims.factual.common import NAMES
from simulation.factual import constructions
from simulation.factual import task as recall
from simulation.streams import Streams
from simulation.tiles import groups

LENGTH = 32  # of prompts, as published
FREQUENCY, MARGIN = 6.0, 0.85
"""Frequency of the features and score of EOS that predictions use. The construction has its own
copies of both: if a copy differed, simulation and prediction would disagree."""


def each(cell: rc.Cell, block: rc.Block, run: Callable[[Streams, recall.Facts], Tensor]) -> Tensor:
    """Call ``run`` on the facts of a tile of replicates at a time; join the results, (..., B)."""
    shape = {name: cell[name] for name in (*NAMES, "dim", "noise") if name in cell}
    s, r, answers = (cell[name] for name in NAMES)
    widest = max(s + r + cell.get("noise", s + r), r * answers, cell.get("width", 1))
    streams = Streams(block.rngs, block.device, block.dtype)
    parts = groups(len(streams), s * r * widest, streams)
    found = [run(some, recall.draw(some, **shape)) for some in (streams[part] for part in parts)]
    return torch.cat(found, -1).to(block.dtype)


def recalled(
    streams: Streams,
    facts: recall.Facts,
    attention: constructions.Attention,
    mlp: constructions.Mlp | None = None,
) -> Tensor:
    """Check whether the weights recall each fact from one prompt: (B, S, R)."""
    prompts = recall.prompts(streams, facts, length=LENGTH)
    return constructions.recalled(facts, prompts, attention, mlp)
