"""theory/attention/capacity.py: the inverses invert, and the largest condition binds."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.attention import capacity, critical, recall
from theory.attention.problem import Problem

LENGTHS = st.integers(2, 300)
DIMS = st.integers(8, 160)
VOCABS = st.integers(64, 3000)


@settings(max_examples=40, deadline=None)
@given(vocab_size=VOCABS, length=LENGTHS, dim=DIMS)
def test_largest_vocabulary_inverts_the_critical_samples(
    vocab_size: int, length: int, dim: int
) -> None:
    dim = min(dim, vocab_size)
    needed = capacity.critical_samples(vocab_size, length, dim)
    if math.isinf(needed):
        return
    largest = int(capacity.max_vocab(int(needed), length, dim))
    assert largest >= vocab_size
    assert capacity.critical_samples(largest, length, dim) <= needed
    assert capacity.critical_samples(largest + 1, length, dim) > needed
    assert capacity.max_vocab(int(needed) - 1, length, dim) < vocab_size


@settings(max_examples=40, deadline=None)
@given(vocab_size=VOCABS, length=LENGTHS, dim=DIMS)
def test_longest_sequence_inverts_the_critical_samples(
    vocab_size: int, length: int, dim: int
) -> None:
    dim = min(dim, vocab_size)
    needed = capacity.critical_samples(vocab_size, length, dim)
    if math.isinf(needed):
        return
    longest = int(capacity.max_length(int(needed), vocab_size, dim))
    assert longest >= length
    assert capacity.critical_samples(vocab_size, longest, dim) <= needed
    assert capacity.critical_samples(vocab_size, longest + 1, dim) > needed


@settings(max_examples=40, deadline=None)
@given(vocab_size=VOCABS, length=LENGTHS, dim=DIMS)
def test_least_dimension_inverts_the_critical_samples(
    vocab_size: int, length: int, dim: int
) -> None:
    dim = min(dim, vocab_size)
    needed = capacity.critical_samples(vocab_size, length, dim)
    if math.isinf(needed):
        return
    least = int(capacity.min_dim(int(needed), vocab_size, length))
    assert least <= dim
    assert capacity.critical_samples(vocab_size, length, least) <= needed
    if least > 2:
        assert capacity.critical_samples(vocab_size, length, least - 1) > needed


@pytest.mark.parametrize(
    ("sizes", "condition"),
    [
        ((128, 128, 64), "A"),
        ((2048, 100, 1000), "coverage"),
        ((128, 16, 64), "recall"),
    ],
)
def test_binding_condition(sizes: tuple[int, int, int], condition: str) -> None:
    assert capacity.binding(*sizes) == condition


@pytest.mark.parametrize("sizes", [(128, 128, 64), (256, 16, 80), (1024, 8, 700)])
def test_critical_samples_meet_every_condition_and_one_sample_less_does_not(
    sizes: tuple[int, int, int],
) -> None:
    vocab_size, length, dim = sizes
    needed = int(capacity.critical_samples(vocab_size, length, dim))
    problem = Problem(vocab_size=vocab_size, length=length, samples=needed, dim=dim)

    def met(samples: int) -> bool:
        return (
            samples >= critical.critical_samples(problem)
            and recall.half_dim(problem.replace(samples=samples)) <= dim
            and samples >= capacity.coverage_samples(vocab_size)
        )

    assert met(needed)
    assert not met(needed - 1)


def test_sizes_that_are_never_learnt() -> None:
    assert capacity.critical_samples(4096, 8, 32) == math.inf
    assert capacity.max_vocab(5, 8, 32) == 0
    assert capacity.max_length(5, 128, 64) == 0
    assert capacity.min_dim(5, 128, 8) == math.inf


def test_dimensions_beyond_the_vocabulary_are_refused() -> None:
    with pytest.raises(ValueError, match="at most vocab_size"):
        capacity.critical_samples(64, 8, 65)
    with pytest.raises(ValueError, match="give an integer"):
        capacity.binding(64, 1, 32)
