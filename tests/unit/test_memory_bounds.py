"""No tensor of a replicate has more elements than the largest of four tensors.

The four are the tokens of all sequences, all embeddings, one vector per sequence, and a tile: the
part of a large product that is in memory at a time.
"""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from simulation.attention import end_to_end, noise_decomposition, recall, sampling
from simulation.lower_bound import gradient_channel, width_information
from simulation.lower_bound.estimators import PANEL
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import generators

TILE = 4096


class LargestTensor(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Mode that records the largest number of elements in the storage of any operation's result."""

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


def batch(vocab_size: int, samples: int, length: int) -> sampling.Batch:
    return sampling.draw(
        generators(1), vocab_size=vocab_size, samples=samples, length=length, dim=16
    )


def facts() -> sampling.Facts:
    return sampling.draw_facts(generators(1), vocab_size=600, samples=900, dim=16)


def estimated(channel: Callable[..., gradient_channel.Instance], estimator: str) -> None:
    seen = channel(generators(1), vocab_size=600, length=8, samples=900, dim=16)
    gradient_channel.estimator_accuracy(seen, PANEL[estimator])


LAYER: dict[str, Any] = {"vocab_size": 600, "length": 4, "dim": 8, "width": 20}
BOUNDS: dict[str, tuple[Callable[[], object], int]] = {
    "gathered products": (lambda: end_to_end.run(batch(600, 300, 8)), 600 * 16),
    # Without MKL, embedding_bag notes the bag of every token, and one end mark.
    "tiled products": (lambda: end_to_end.run(batch(600, 2000, 24)), 2000 * 24 + 1),
    "recall": (lambda: recall.recalled_share(facts()), 600 * 16),
    "recall of all tokens": (lambda: recall.all_tokens(facts()), 600 * 16),
    **{
        f"{estimator}, {channel.__name__}": (partial(estimated, channel, estimator), 600 * 16)
        for estimator in ("matched filter", "ridge", "linear MMSE")
        for channel in (gradient_channel.discrete, gradient_channel.gaussian)
    },
    "tokens counted sparsely": (
        lambda: noise_decomposition.decompose(batch(600, 900, 8)),
        900 * 16,
    ),
    "tokens in a table": (lambda: noise_decomposition.decompose(batch(60, 900, 8)), 900 * 16),
    "a layer": (
        lambda: width_information.shares(generators(1), **LAYER, activation="relu", sequences=700),
        700 * 20,
    ),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_no_tensor_is_larger(kind: str) -> None:
    run, most = BOUNDS[kind]
    with (
        patch.dict(TILE_ELEMENTS, cpu=TILE),
        patch.object(gradient_channel, "TOKENS", TILE),
        LargestTensor() as largest,
    ):
        run()
    assert largest.elements <= most
