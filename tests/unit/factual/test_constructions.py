"""Explicit weights: exact geometry, plain draws, limits, and a plain transformer."""

import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from simulation.factual import constructions, task
from tests.unit.draws import unit_vectors
from theory.factual import compressed_draws, hulls
from theory.factual import constructions as theory


@pytest.mark.parametrize(("points", "dim"), [(2, 5), (4, 9), (6, 40)])
def test_distance_to_the_hull_has_its_law(points: int, dim: int) -> None:
    rows = unit_vectors(np.random.default_rng(0), 4000, points, dim)
    lengths = np.linalg.solve(rows @ rows.mT, np.ones((4000, points, 1))).sum((1, 2))
    found = np.quantile(1 / np.sqrt(lengths), (0.1, 0.5, 0.9))
    nodes = hulls.hull(points, dim)
    assert np.quantile(nodes, (0.1, 0.5, 0.9)) == pytest.approx(found, rel=0.05)
    assert np.mean(nodes**2) == pytest.approx(
        (dim - points + 1) / (points * (dim - 2) + 2), rel=0.01
    )


def test_guessing_has_its_limits() -> None:
    assert theory.guess_by_relation(1, 7) == pytest.approx(1)
    assert theory.guess_by_relation(9, 1) == pytest.approx(1)
    assert theory.guess_by_relation(2, 4) == pytest.approx((1 + 1 / 4) / 2)
    counts = np.random.default_rng(0).multinomial(30, [0.2] * 5, size=50_000)
    assert theory.guess_by_relation(30, 5) == pytest.approx(counts.max(1).mean() / 30, rel=3e-3)


def test_focus_has_its_limits() -> None:
    firm = theory.focus(512, 256, 2, margin=0.85, scale=100.0)
    assert firm == pytest.approx(1, abs=1e-3)
    uniform = theory.focus(10, 10**9, 1, margin=0.5, scale=1e-9)
    assert uniform == pytest.approx(1 / 10), "no scale, no preference"


def test_compression_has_its_limits() -> None:
    sizes = {"subjects": 32, "relations": 32, "answers": 8, "dim": 256, "group": 16}
    shape: dict[str, Any] = {**sizes, "frequency": 6.0}
    assert theory.compressed_accuracy(**shape, width=10**6, head_dim=64) == 1
    assert math.isinf(theory.compressed_width(**shape, head_dim=2, target=0.95))


def test_a_search_for_a_width_draws_its_facts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Mock(wraps=np.random.default_rng)
    monkeypatch.setattr(np.random, "default_rng", drawn)
    compressed_draws.narrow.cache_clear()
    theory.compressed_width(12, 9, 4, 30, group=3, head_dim=2, frequency=0.9, target=0.6)
    assert drawn.call_count == 1


def facts(seed: int = 0, *, dim: int = 64, dtype: torch.dtype = torch.float64) -> task.Facts:
    rng = np.random.default_rng(seed)
    return task.draw(rng, subjects=8, relations=4, answers=4, dim=dim, dtype=dtype)


@pytest.fixture
def known() -> task.Facts:
    return facts()


@pytest.fixture
def prompts(known: task.Facts) -> torch.Tensor:
    """Prompts of twelve tokens, one for each fact."""
    return task.prompts(np.random.default_rng(1), known, length=12)


def plain(
    weights: constructions.Attention, known: task.Facts, prompts: torch.Tensor
) -> torch.Tensor:
    """Attention prompt by prompt and position by position, straight from its definition."""
    embedded, w = known.tokens[prompts], weights
    output = torch.zeros(len(prompts), known.dim, dtype=embedded.dtype)
    for query, key, value, out in zip(w.query, w.key, w.value, w.output, strict=True):
        scores = (embedded @ key.T) @ (query @ known.tokens[-1]) / math.sqrt(len(query))
        attention = torch.softmax(scores, dim=1)
        output += torch.einsum("pt,ptd->pd", attention, embedded) @ value.T @ out.T
    return output


@pytest.mark.parametrize("scale", [5.0, 100.0])
def test_attention_is_a_plain_softmax_over_positions(
    known: task.Facts, prompts: torch.Tensor, scale: float
) -> None:
    long = task.prompts(np.random.default_rng(1), known, length=4000)
    assert int(long[0].bincount().max()) > 256  # it holds a token many times
    weights = constructions.attention_only(known, head_dim=4, scale=scale)
    for some in (prompts, long):
        found = constructions.attend(weights, known, some)
        assert torch.allclose(found, plain(weights, known, some), atol=1e-10)


def test_focus_is_the_weight_of_the_subject(known: task.Facts, prompts: torch.Tensor) -> None:
    weights = constructions.attention_only(known, head_dim=2, margin=0.5, scale=4.0)
    scores = constructions.token_scores(weights, known)
    fact = 5 * known.relations + 2
    row = torch.softmax(scores[5 // 2, prompts[fact]], dim=0)
    found = constructions.focus(weights, known, prompts)[5, 2]
    assert float(found) == pytest.approx(float(row[prompts[fact] == 5].sum()))


def test_heads_score_their_tokens_one_and_eos_the_margin(known: task.Facts) -> None:
    scores = constructions.token_scores(
        constructions.attention_only(known, head_dim=4, margin=0.7, scale=10.0), known
    )
    assert scores.shape == (3, known.vocab_size)
    assert torch.allclose(scores[1, 4:8], torch.full((4,), 10.0, dtype=torch.float64))
    assert torch.allclose(scores[:, -1], torch.full((3,), 7.0, dtype=torch.float64))


def test_codes_give_the_answers_logit_two() -> None:
    known = facts(dim=96)
    prompts = task.prompts(np.random.default_rng(1), known, length=20)
    weights = constructions.attention_only(known, head_dim=2)
    logits = constructions.attend(weights, known, prompts) @ known.outputs.T
    own = logits.gather(1, known.answers.flatten()[:, None])
    assert torch.allclose(own, torch.full_like(own, 2.0), atol=1e-4)
    assert constructions.answered_share(logits, known) == 1
    assert weights.parameters == 4 * 12 * 96


def test_mlp_is_a_sum_of_outer_products(known: task.Facts) -> None:
    rng = np.random.default_rng(2)
    codes = torch.from_numpy(unit_vectors(rng, 12, known.dim))
    mlp = constructions.hebbian_mlp(rng, known, codes, width=16)
    outer = torch.zeros(16, known.dim, dtype=torch.float64)
    for s in range(8):
        for r in range(4):
            hidden = math.sqrt(2) * torch.cos(mlp.inner @ (codes[s] + codes[8 + r]) + mlp.bias)
            outer += torch.outer(hidden, known.outputs[known.answers[s, r]]) / 16
    assert torch.allclose(mlp.outer, outer)


def test_features_of_two_codes_overlap_as_their_kernel_says(known: task.Facts) -> None:
    """The frequency is 6: codes further apart than 1/6 look unrelated."""
    angle, width = 0.2, 100_000
    codes = torch.zeros(12, known.dim, dtype=torch.float64)
    codes[1, 0], codes[1, 1] = math.cos(angle), math.sin(angle)
    codes[0, 0] = 1.0
    mlp = constructions.hebbian_mlp(np.random.default_rng(2), known, codes, width=width)
    first, second = mlp.features(codes[:2])
    kernel = math.exp(-36 * (1 - math.cos(angle)))
    assert float(first @ second) / width == pytest.approx(kernel, abs=5 / math.sqrt(width))


def test_compressed_heads_output_unit_codes_in_few_dimensions() -> None:
    known, rng = facts(dim=128), np.random.default_rng(2)
    attention, _ = constructions.compressed_values(rng, known, group=4, head_dim=2, width=8)
    prompts = task.prompts(rng, known, length=16)
    outputs = constructions.attend(attention, known, prompts)
    assert torch.linalg.matrix_rank(outputs, atol=1e-3) == 2 * 3
    assert torch.allclose(outputs.norm(dim=1), torch.full((32,), math.sqrt(2)).double(), atol=1e-3)
    assert attention.parameters == 4 * 6 * 128


def test_prompts_hold_their_fact_once_and_end_with_eos(known: task.Facts) -> None:
    for length in (3, 5, 40):
        prompts = task.prompts(np.random.default_rng(length), known, length=length)
        assert prompts.shape == (32, length)
        assert ((prompts < 8).sum(1) == 1).all()
        assert (((prompts >= 8) & (prompts < 12)).sum(1) == 1).all()
        assert (prompts[:, -1] == known.vocab_size - 1).all()
        assert torch.equal(task.recovered(known, prompts), known.answers.flatten())


def test_tokens_and_answers_are_counted_beyond_a_byte() -> None:
    many = task.draw(np.random.default_rng(3), subjects=400, relations=2, answers=2, dim=2)
    prompts = task.prompts(np.random.default_rng(4), many, length=5)
    assert torch.equal(task.recovered(many, prompts), many.answers.flatten())
    most = [np.bincount(column).max() for column in many.answers.T.numpy()]
    assert task.best_guess(many, know="relation") == pytest.approx(np.mean(most) / 400)


def test_guessing_by_hand() -> None:
    known = task.Facts(
        answers=torch.tensor([[0, 2], [0, 3], [1, 3]]),
        tokens=torch.zeros(6, 2),
        outputs=torch.zeros(4, 2),
    )
    assert task.best_guess(known, know="relation") == pytest.approx(2 / 3)
    assert task.best_guess(known, know="subject") == pytest.approx(1 / 2)
