"""No tensor of a replicate is larger than the tokens, the embeddings or one tile."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from simulation.attention import end_to_end, noise_decomposition, recall, sampling
from simulation.lower_bound import gradient_channel, width_information
from simulation.lower_bound.estimators import PANEL
from simulation.tiles import TILE_ELEMENTS

TILE = 4096


class LargestTensor(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers the most elements of any tensor that an operation stores."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            # A sparse matrix has no storage: the tensors that it is made of are seen before it.
            if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
                self.elements = max(self.elements, leaf.untyped_storage().nbytes() // leaf.itemsize)
        return result


# The first takes the gathered products (few tokens for a V x V table), the second the tiled ones.
@pytest.mark.parametrize(("vocab_size", "samples", "length"), [(600, 300, 8), (600, 2000, 24)])
def test_three_steps_and_evaluation(vocab_size: int, samples: int, length: int) -> None:
    dim = 16
    batch = sampling.draw(
        [np.random.default_rng(0)], vocab_size=vocab_size, samples=samples, length=length, dim=dim
    )
    with patch.dict(TILE_ELEMENTS, cpu=TILE), LargestTensor() as largest:
        end_to_end.run(batch)
    # embedding_bag notes the bag of every token, and one end mark.
    assert largest.elements <= max(samples * length + 1, vocab_size * dim, TILE)


@pytest.mark.parametrize("measure", [recall.recalled_share, recall.all_tokens])
def test_recall(measure: Callable[[sampling.Facts], torch.Tensor]) -> None:
    facts = sampling.draw_facts([np.random.default_rng(0)], vocab_size=600, samples=900, dim=16)
    with patch.dict(TILE_ELEMENTS, cpu=TILE), LargestTensor() as largest:
        measure(facts)
    assert largest.elements <= max(600 * 16, TILE)


@pytest.mark.parametrize("estimator", ["matched filter", "ridge", "linear MMSE"])
@pytest.mark.parametrize("channel", [gradient_channel.discrete, gradient_channel.gaussian])
def test_linear_estimators(
    channel: Callable[..., gradient_channel.Instance], estimator: str
) -> None:
    with (
        patch.dict(TILE_ELEMENTS, cpu=TILE),
        patch.object(gradient_channel, "TOKENS", TILE),
        LargestTensor() as largest,
    ):
        seen = channel([np.random.default_rng(0)], vocab_size=600, length=8, samples=900, dim=16)
        gradient_channel.estimator_accuracy(seen, PANEL[estimator])
    assert largest.elements <= max(900 * 8 + 1, 600 * 16, TILE)


# The first counts the tokens of few samples sparsely, the second those of many in a table.
@pytest.mark.parametrize(("vocab_size", "samples"), [(600, 900), (60, 900)])
def test_noise_decomposition(vocab_size: int, samples: int) -> None:
    length, dim = 8, 16
    batch = sampling.draw(
        [np.random.default_rng(0)], vocab_size=vocab_size, samples=samples, length=length, dim=dim
    )
    with LargestTensor() as largest:
        noise_decomposition.decompose(batch)
    assert largest.elements <= samples * dim


def test_width_information() -> None:
    sizes: dict[str, Any] = {"vocab_size": 600, "length": 4, "dim": 8, "width": 20}
    with LargestTensor() as largest:
        width_information.shares(
            [np.random.default_rng(0)], **sizes, activation="relu", sequences=700
        )
    assert largest.elements <= 700 * 20
