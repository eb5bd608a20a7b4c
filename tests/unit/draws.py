"""What tests of many rooms draw from."""

import itertools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    """One generator a replicate, as simulations take them."""
    return [np.random.default_rng([seed, index]) for index in range(count)]


def unit_vectors(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Uniform on the sphere, along the last axis."""
    vectors = rng.standard_normal(shape)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def every_training_set(vocab_size: int, length: int, samples: int) -> tuple[Tensor, Tensor]:
    """Tokens and informative positions of all possible training sets, once each."""
    sequences = itertools.product(range(vocab_size), repeat=length)
    one = [(tokens, position) for tokens in sequences for position in range(length)]
    sets = list(itertools.product(one, repeat=samples))
    tokens = torch.tensor([[tokens for tokens, _ in batch] for batch in sets])
    return tokens, torch.tensor([[position for _, position in batch] for batch in sets])
