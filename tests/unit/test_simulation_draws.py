"""Draws of every folder have different vectors as outputs and inputs, and differ by replicate."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch import Tensor

from simulation.attention import sampling
from simulation.attention_mlp import three_steps
from simulation.factual import task
from simulation.factual import trained_transformer as transformer
from simulation.lower_bound import gradient_channel
from simulation.memory import bits, linear, mlp, optimal, zipf
from simulation.streams import Streams
from tests.unit.draws import generators

DIM = 64
SIZES: dict[str, Any] = {"vocab_size": 12, "length": 3, "samples": 5, "dim": DIM}
Generators = list[np.random.Generator]
Tables = tuple[Tensor, ...]


def seen_by(module: Any, name: str, arguments: slice, run: Callable[[], object]) -> Tables:
    """Tables that ``run`` passes to a function of ``module`` for each replicate."""
    original = getattr(module, name)
    seen: list[Tensor] = []

    def spy(*given: Any, **options: Any) -> Any:
        seen.extend(given[arguments])
        return original(*given, **options)

    with patch.object(module, name, spy):
        run()
    return tuple(seen)


def of(drawn: Any, *names: str) -> Tables:
    return tuple(getattr(drawn, name) for name in names)


VECTORS, PAIRS = ("z", "u"), ("inputs", "outputs")
VOCABULARY = (*VECTORS, "trigger", "query")


def of_layers(rngs: Generators) -> Tables:
    batch, layer = three_steps.draw(rngs, **SIZES, width=9, activation="relu")
    return *of(batch, *VOCABULARY), layer.weights


def of_memories(rngs: Generators) -> Tables:
    facts = mlp.draw(rngs, associations=12, outputs=6, dim=DIM)
    cosine = mlp.cosine_memory(facts.z, facts.z, rngs, width=9).first
    relu = mlp.relu_memory(facts.z, facts.z, rngs, width=DIM + 2).first
    return *of(facts, *VECTORS), cosine, relu


def of_zipf(rngs: Generators) -> Tables:
    run = partial(zipf.error, rngs, stored=9, labels=4, dim=DIM, alpha=2.0)
    return seen_by(zipf, "memory", slice(2, 4), run)


def of_bits(rngs: Generators) -> Tables:
    run = partial(bits.bits_per_weight, rngs, construction="hebbian", dim=DIM, width=DIM)
    return tuple(table[:, :12] for table in seen_by(bits, "_searched", slice(1, 3), run))


def of_tasks(rngs: Generators) -> Tables:
    drawn = task.draw(Streams(rngs), subjects=4, relations=3, answers=2, dim=DIM)
    return of(drawn, "tokens", "outputs")


def of_transformers(rngs: Generators) -> Tables:
    one = transformer.Sizes(subjects=4, relations=3, answers=2, heads=2, head_dim=2, width=5)
    return of(transformer._draw(rngs, one, DIM, "cpu", torch.float64)[0], *PAIRS)


DRAWS: dict[str, Callable[[Generators], Tables]] = {
    "batches": lambda rngs: of(sampling.draw(rngs, **SIZES), *VOCABULARY),
    "facts": lambda rngs: of(
        sampling.draw_facts(rngs, vocab_size=12, samples=5, dim=DIM), *VOCABULARY
    ),
    "gradients": lambda rngs: of(gradient_channel.gaussian(rngs, **SIZES).observation, *VECTORS),
    "layers": of_layers,
    "pairs": lambda rngs: of(linear.draw(rngs, associations=12, dim=DIM), *PAIRS),
    "best pairs": lambda rngs: of(optimal.draw(rngs, associations=12, dim=DIM), *PAIRS),
    "own competitors": lambda rngs: of(
        optimal.draw(rngs, associations=5, dim=DIM, own_competitors=True), *PAIRS
    ),
    "memories": of_memories,
    "Zipf's law": of_zipf,
    "bits": of_bits,
    "tasks": of_tasks,
    "transformers": of_transformers,
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_no_vector_is_drawn_twice(draw: Callable[[Generators], Tables]) -> None:
    rngs = generators(3, seed=31)
    rows = torch.cat([table.reshape(-1, DIM) for table in draw(rngs)])
    assert len(rows) >= 3 * 10
    cosines = torch.nn.functional.normalize(rows, dim=1)
    cosines = (cosines @ cosines.T).fill_diagonal_(0).abs()
    # Random directions in 64 dimensions: the largest of some thousands is about 0.5.
    assert float(cosines.max()) < 0.8
