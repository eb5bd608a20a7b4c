"""Draws have different vectors as outputs and inputs, and differ by replicate.

Some draws are left out: if one vector were used twice there, figures would be wrong, and other
tests would fail.
"""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch import Tensor

from simulation.attention_mlp import three_steps
from simulation.factual import task
from simulation.factual import trained_transformer as transformer
from simulation.memory import bits, mlp, optimal
from simulation.streams import Streams
from tests.unit.draws import VOCABULARY, generators

DIM = 64
Generators = list[np.random.Generator]


def of_layers(rngs: Generators) -> list[Tensor]:
    sizes: dict[str, Any] = {"vocab_size": 12, "length": 3, "samples": 5, "dim": DIM}
    batch, layer = three_steps.draw(rngs, **sizes, width=9, activation="relu")
    return [*(getattr(batch, name) for name in VOCABULARY[:4]), layer.weights]


def of_memories(rngs: Generators) -> list[Tensor]:
    facts = mlp.draw(rngs, associations=12, outputs=6, dim=DIM)
    cosine = mlp.cosine_memory(facts.z, facts.z, rngs, width=9).first
    relu = mlp.relu_memory(facts.z, facts.z, rngs, width=DIM + 2).first
    return [facts.z, facts.u, cosine, relu]


def of_pairs(rngs: Generators) -> list[Tensor]:
    pairs = optimal.draw(rngs, associations=12, dim=DIM)
    return [pairs.inputs, pairs.outputs]


def of_bits(rngs: Generators) -> list[Tensor]:
    with patch.object(bits, "_searched", wraps=bits._searched) as searched:
        bits.bits_per_weight(rngs, construction="hebbian", dim=DIM, width=DIM)
    return [table[:, :12] for call in searched.call_args_list for table in call.args[1:3]]


def of_tasks(rngs: Generators) -> list[Tensor]:
    drawn = task.draw(Streams(rngs), subjects=4, relations=3, answers=2, dim=DIM)
    return [drawn.tokens, drawn.outputs]


def of_transformers(rngs: Generators) -> list[Tensor]:
    one = transformer.Sizes(subjects=4, relations=3, answers=2, heads=2, head_dim=2, width=5)
    drawn, _ = transformer._draw(rngs, one, DIM, "cpu", torch.float64)
    return [drawn.inputs, drawn.outputs]


@pytest.mark.parametrize(
    "draw", [of_layers, of_memories, of_pairs, of_bits, of_tasks, of_transformers]
)
def test_no_vector_is_drawn_twice(draw: Callable[[Generators], list[Tensor]]) -> None:
    rngs = generators(3, seed=31)
    rows = torch.cat([table.reshape(-1, DIM) for table in draw(rngs)])
    assert len(rows) >= 3 * 10
    cosines = torch.nn.functional.normalize(rows, dim=1)
    cosines = (cosines @ cosines.T).fill_diagonal_(0).abs()
    # Of 2,000 to 40,000 cosines of random directions in 64 dimensions, the largest is about 0.5.
    assert float(cosines.max()) < 0.8
