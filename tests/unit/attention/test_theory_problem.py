"""The problem, its validation, and the paper's assumptions."""

import pytest

from theory.attention.problem import Problem, assumptions

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


def test_a_setting_within_the_paper_breaks_no_assumption() -> None:
    assert assumptions(Problem.of(SIZES)) == ()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"length": 128}, ["length"]),
        ({"samples": 600}, ["samples"]),
        ({"dim": 128}, ["dim"]),
        ({"dim": 130, "embeddings": "orthonormal"}, ["embeddings"]),
        ({"length": 200, "samples": 64, "dim": 500}, ["length", "samples", "dim"]),
    ],
)
def test_broken_assumptions_are_named(change: dict[str, object], broken: list[str]) -> None:
    breaches = assumptions(Problem.of({**SIZES, **change}))
    assert [breach.assumption for breach in breaches] == broken
    assert all(breach.statement and breach.reason for breach in breaches)
