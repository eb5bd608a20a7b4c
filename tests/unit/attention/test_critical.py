"""Thresholds and capacities: inverses, the binding condition, and agreement with full forms."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.attention import capacity, critical, localisation, noise, recall
from theory.attention.problem import Problem

ROOT = Path(__file__).parents[3]


def _problem(vocab_size: int, length: int, dim: int, *, trigger_in_values: bool = False) -> Problem:
    sizes = {"vocab_size": vocab_size, "length": length, "samples": 2, "dim": dim}
    return Problem.of({**sizes, "trigger_in_values": trigger_in_values})


@pytest.mark.parametrize(
    ("length", "expected"), [(4, 0.84), (8, 1.35), (16, 1.73), (64, 2.33), (512, 3.04)]
)
def test_critical_snr_without_finite_size_effects(length: int, expected: float) -> None:
    value = critical.critical_snr(length=length, vocab_size=1e12, dim=math.inf)
    assert value == pytest.approx(expected, abs=0.01)


def test_too_few_dimensions_never_localise() -> None:
    assert critical.kappa(length=2000, vocab_size=1e6, dim=3) == math.inf
    assert critical.threshold(vocab_size=1e6, length=2000, dim=3) == math.inf
    assert critical.critical_samples_full(_problem(4096, 2000, 3)) == math.inf


@pytest.mark.parametrize(
    ("name", "vocab_size", "length", "dim"),
    [("A", 1e7, 1e6, 1e3), ("B", 1e15, 1e5, 1e3), ("C", 1e15, 1e3, 1e5)],
)
def test_threshold_follows_the_power_law_deep_in_each_regime(
    name: str, vocab_size: float, length: float, dim: float
) -> None:
    sizes: dict[str, Any] = {"vocab_size": vocab_size, "length": length, "dim": dim}
    assert critical.regime(**sizes) == name
    expected = critical.kappa(**sizes) * critical.power_law(name, **sizes)
    assert critical.threshold(**sizes) == pytest.approx(expected, rel=0.02)


NEAR = (
    *((512, 32, 24), (512, 64, 32), (1024, 16, 32), (1024, 24, 12), (4096, 16, 40), (256, 8, 12)),
    *((1024, 64, 64), (2048, 8, 48), (4096, 12, 12), (4095, 8, 501), (32768, 8, 4000)),
    *((2953, 499, 12), (4096, 4, 40), (256, 48, 16), (256, 96, 32), (1508, 7, 219)),
    *((132, 234, 12), (171, 200, 19), (152, 724, 17)),
)


@pytest.mark.parametrize("sizes", NEAR)
def test_closed_form_is_near_the_full_solution(sizes: tuple[int, int, int]) -> None:
    """Sizes include few dimensions, few tokens, short sequences, and a need for few samples."""
    problem = _problem(*sizes)
    full = critical.critical_samples_full(problem)
    assert critical.critical_samples(problem) == pytest.approx(full, rel=0.06)


@pytest.mark.parametrize("sizes", [(939, 70, 31), (2048, 128, 48), (218, 342, 15)])
def test_closed_form_localises_a_half_where_a_memorised_trigger_does_not_quite_suffice(
    sizes: tuple[int, int, int],
) -> None:
    problem = _problem(*sizes, trigger_in_values=True)
    found = problem.replace(samples=round(critical.critical_samples(problem)))
    assert localisation.probability(found) == pytest.approx(0.5, abs=0.045)


@pytest.mark.parametrize("symbol", noise.TERMS)
@pytest.mark.parametrize(("length", "trigger_in_values"), [(12, False), (40, False), (96, True)])
def test_a_factor_in_a_term_moves_closed_form_and_full_solution_alike(
    symbol: str, length: int, trigger_in_values: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _problem(512, length, 24, trigger_in_values=trigger_in_values)
    solutions = (critical.critical_samples, critical.critical_samples_full)
    before = [solution(problem) for solution in solutions]
    term = noise.TERMS[symbol]
    doubled = replace(term, variance=lambda problem: 2 * term.variance(problem))
    monkeypatch.setitem(noise.TERMS, symbol, doubled)
    after = [solution(problem) for solution in solutions]
    closed, full = (new / old for new, old in zip(after, before, strict=True))
    assert closed == pytest.approx(full, rel=0.1)
    assert (closed > 1.001) == (symbol in {"T", "A", "B", "C", "D", "E"})


@pytest.mark.parametrize("probability", [0.3, 0.5, 0.9])
def test_full_solution_inverts_the_probability(probability: float) -> None:
    problem = _problem(512, 24, 24)
    samples = critical.critical_samples_full(problem, probability=probability)
    solved = localisation.probability(problem.replace(samples=round(samples)))
    assert solved == pytest.approx(probability, abs=2e-3)


@settings(max_examples=60, deadline=None)
@given(sizes=st.tuples(st.integers(64, 3000), st.integers(2, 300), st.integers(8, 160)))
def test_each_inverse_is_the_last_size_that_the_samples_suffice_for(
    sizes: tuple[int, int, int],
) -> None:
    """The last sizes are the largest vocabulary, the longest sequence and the least dimension."""
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


def test_pages_tell_what_theory_says_of_the_sizes_of_models() -> None:
    page = (ROOT / ".github/docs/ask.md").read_text(encoding="utf-8")
    summary = (ROOT / "claims/papers/A.toml").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\|[^|]+\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (.+) \| (.+) \|$", page, re.M
    )
    assert len(rows) == 4
    for *sizes, told, condition in rows:
        vocab_size, length, dim = (int(size.replace(",", "")) for size in sizes)
        needed = capacity.critical_samples(vocab_size, length, dim)
        assert told == ("no number is enough" if math.isinf(needed) else f"{needed:,.0f}")
        rules = capacity.binding(vocab_size, length, dim)
        assert condition == ("localisation" if rules in critical.EXPONENTS else rules)
        assert told in summary or math.isinf(needed) or vocab_size != 50_257
    endless = Problem(vocab_size=50_257, length=2, samples=10**12, dim=768)
    assert f"d of {math.ceil(recall.half_dim(endless))} or more" in summary
