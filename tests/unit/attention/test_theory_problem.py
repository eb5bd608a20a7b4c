"""The problem and its validation."""

import pytest

from theory.attention.problem import Problem

SIZES = {"vocab_size": 128, "length": 8, "samples": 1024, "dim": 32}


def test_derived_quantities() -> None:
    problem = Problem.of(SIZES)
    assert problem.load == 8
    assert problem.ratio == 4
    assert problem.overlap == 1 / 32


def test_orthonormal_embeddings_do_not_overlap() -> None:
    problem = Problem.of({**SIZES, "dim": 130, "embeddings": "orthonormal"})
    assert problem.ratio == 0
    assert problem.overlap == 0


def test_of_ignores_other_keys() -> None:
    assert Problem.of({**SIZES, "term": "A", "trigger_in_values": True}) == Problem.of(
        SIZES
    ).replace(trigger_in_values=True)


def test_replace_validates_again() -> None:
    problem = Problem.of(SIZES)
    assert problem.replace(dim=64).dim == 64
    with pytest.raises(ValueError, match="dim is 0"):
        problem.replace(dim=0)
