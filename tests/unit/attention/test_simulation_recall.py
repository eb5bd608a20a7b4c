from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from simulation import decoding
from simulation.attention import recall, sampling, three_steps
from simulation.tiles import TILE_ELEMENTS
from tests.unit import draws

generators = partial(draws.generators, seed=8)


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_counts_give_the_memory_of_perfectly_localised_training(trigger_in_values: bool) -> None:
    sizes: dict[str, Any] = {"vocab_size": 20, "length": 4, "samples": 70, "dim": 9}
    batch = sampling.draw(generators(3), **sizes, trigger_in_values=trigger_in_values)
    attended, facts = draws.perfectly_seen(batch)
    memory = recall.localised_memory(facts) / (70 * 20)
    assert torch.allclose(memory, three_steps.trained_memory(batch, attended), atol=1e-15)


def test_orthonormal_embeddings_recall_exactly_the_tokens_seen() -> None:
    draw = partial(sampling.draw_facts, vocab_size=30, samples=30, dim=32, embeddings="orthonormal")
    facts = draw(generators(20))
    seen = facts.counts > 0
    # An unseen token has all logits zero and gets label 0, the first of equals.
    expected = seen | (facts.permutation == 0)
    assert torch.equal(recall.correct(facts, recall.localised_memory(facts)), expected)
    assert torch.allclose(recall.recalled_share(facts), expected.double().mean(1))
    assert not bool(recall.all_tokens(facts).any())
    balanced = draw(generators(2), balanced=True)
    assert recall.recalled_share(balanced).tolist() == [1.0, 1.0]
    assert recall.all_tokens(balanced).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("tile", [1, 7, 50, 999, 4000, 2**18])
def test_first_of_equal_labels_wins_in_every_tiling(tile: int, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(9)
    # Small integers: sums are exact in any order, and most maxima are attained several times.
    u = torch.from_numpy(rng.integers(-1, 2, size=(2, 61, 3))).to(dtype)
    answers = torch.from_numpy(rng.integers(-1, 2, size=(2, 17, 3))).to(dtype)
    scores = answers @ u.mT
    best = scores.amax(2, keepdim=True)
    assert ((scores == best).sum(2) > 1).any()
    first = (scores == best).int().argmax(2)
    with patch.dict(TILE_ELEMENTS, cpu=tile):
        assert torch.equal(decoding.nearest(u, answers), first)


def test_mostly_right_is_more_than_half_and_a_tie_counts_half() -> None:
    shares = torch.tensor([0.0, 127 / 256, 0.5, 129 / 256, 1.0], dtype=torch.float64)
    assert decoding.mostly(shares).tolist() == [0, 0, 0.5, 1, 1]
