"""Exploratory claims beyond the theorems of paper F: does Muon still hardly depend on frequencies?

The theorems assume the exact polar factor of the whole gradient, no momentum, and orthonormal
embeddings.
"""

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import measuring, relaxing
from claims.spectral.common import ALL, derived
from simulation.spectral import flows
from simulation.spectral.softmax_memory import Memory
from simulation.spectral.softmax_muon import Muon
from theory.spectral import softmax_memory as theory

CELLS = rc.grid([{"items": 32, "groups": 8, "power": 1.5, "time": 4.0, "rate": 0.1}])
REGION = rc.Region(0.9, 1.1)

beyond = relaxing(
    "Muon's loss",
    dtype="float64",
    predict=rc.on(theory.steady_loss),
    latex=r"E=\log\left(1+(K-1)e^{-t}\right)",
    source=derived("F1"),
    regime="K = 32 items in 8 groups of frequencies g^-1.5, t = 4",
    cells={"standard": CELLS},
    rule=rc.MeanRatio(REGION, method=ALL),
    replicates=2,
    why="under the theorem's assumptions F.muon-frequencies has 0.9 to 1 times this loss; we allow "
    "as much above 1",
    controls=(
        rc.Control("gradient", "as under gradient flow", rc.on(theory.gradient_excess)),
        rc.times(2.0),
        rc.times(0.5),
    ),
    plot=rc.Plot("parity", y_label="loss (nats)"),
)
SAMPLED = {"rule": rc.MeanRatio(REGION, method=rc.Student(spent=0.1)), "replicates": (32, 64)}


def loss(cell: rc.Cell, block: rc.Block, muon: Muon) -> Tensor:
    """Compute the excess loss of each replicate at the cell's time."""
    like = torch.zeros((), device=block.device, dtype=block.dtype)
    memory = Memory.grouped(cell["items"], cell["groups"], cell["power"], 0.0, like)
    rate = cell["rate"]
    return muon.excess(memory, block.rngs, rate=rate, count=round(cell["time"] / rate))


momentum = measuring(lambda cell, block: loss(cell, block, Muon(momentum=0.95)), beyond)(
    "F.beyond-momentum",
    "Momentum hardly changes Muon's loss",
    "no momentum: 0.95 of the old mean is kept",
    "A mean of gradients has nearly the same polar factor as the last one.",
)

newton_schulz = measuring(
    lambda cell, block: loss(cell, block, Muon(rule=flows.newton_schulz, momentum=0.95)), beyond
)(
    "F.beyond-newton-schulz",
    "Five Newton-Schulz steps with momentum hardly change Muon's loss",
    "the exact polar factor: five Newton-Schulz steps, momentum 0.95",
    "Steps whose singular values are 1 only on average lower the loss as fast as exact ones.",
    regime="K = 32 in 8 groups, t = 4; singular values become 0.7 to 1.2 instead of 1",
)

random_embeddings = measuring(
    lambda cell, block: loss(cell, block, Muon(dim=4 * cell["items"])), beyond
)(
    "F.beyond-random-embeddings",
    "With random embeddings Muon's loss falls more slowly",
    "orthonormal embeddings: uniform unit vectors",
    "If queries, and answers, overlap by 1/sqrt(d), the loss falls as fast as without overlaps.",
    **SAMPLED,
)

batches = measuring(lambda cell, block: loss(cell, block, Muon(batch=4 * cell["items"])), beyond)(
    "F.beyond-batches",
    "On mini-batches Muon's loss falls more slowly",
    "whole gradients: a batch of 4 K items for each step",
    "Half of the batches lack the rarest item, and the loss falls as fast as on whole gradients.",
    **SAMPLED,
)

batches_momentum = measuring(
    lambda cell, block: loss(cell, block, Muon(batch=4 * cell["items"], momentum=0.95)), beyond
)(
    "F.beyond-batches-momentum",
    "With momentum, mini-batches keep Muon's loss as predicted",
    "whole gradients: a batch of 4 K items for each step, momentum 0.95",
    "The mean over twenty batches lacks no item, and the loss falls as fast as on whole gradients.",
    **SAMPLED | {"replicates": (64, 128)},
)
