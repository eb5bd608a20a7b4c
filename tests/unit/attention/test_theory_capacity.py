"""theory/attention/capacity.py: the inverses invert, and the largest condition binds."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.attention import capacity, critical, recall
from theory.attention.problem import Problem


@settings(max_examples=60, deadline=None)
@given(sizes=st.tuples(st.integers(64, 3000), st.integers(2, 300), st.integers(8, 160)))
def test_each_inverse_is_the_last_size_that_the_samples_suffice_for(
    sizes: tuple[int, int, int],
) -> None:
    """The largest vocabulary, the longest sequence and the least dimension."""
    vocab_size, length, dim = sizes[0], sizes[1], min(sizes[2], sizes[0])
    needed = capacity.critical_samples(vocab_size, length, dim)
    if math.isinf(needed):
        return
    largest = int(capacity.max_vocab(int(needed), length, dim))
    longest = int(capacity.max_length(int(needed), vocab_size, dim))
    least = int(capacity.min_dim(int(needed), vocab_size, length))
    assert largest >= vocab_size
    assert longest >= length
    assert least <= dim
    assert capacity.max_vocab(int(needed) - 1, length, dim) < vocab_size
    for inside, outside in (
        ((largest, length, dim), (largest + 1, length, dim)),
        ((vocab_size, longest, dim), (vocab_size, longest + 1, dim)),
        ((vocab_size, length, least), (vocab_size, length, least - 1)),
    ):
        assert capacity.critical_samples(*inside) <= needed
        assert outside[2] < 2 or capacity.critical_samples(*outside) > needed


@pytest.mark.parametrize(
    ("sizes", "condition"),
    [((128, 128, 64), "A"), ((2048, 100, 1000), "coverage"), ((128, 16, 64), "recall")],
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
