"""Explicit weights, compared with exact laws, plain draws, limits, and a plain transformer."""

import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from simulation.factual import constructions, task
from simulation.streams import Streams
from tests.unit.draws import generators, unit_vectors
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
    few: dict[str, Any] = {"subjects": 12, "relations": 9, "answers": 5, "dim": 30, "group": 3}
    few |= {"head_dim": 2, "frequency": 0.9}
    width = theory.compressed_width(**few, target=0.4)
    assert theory.compressed_accuracy(**few, width=width) == pytest.approx(0.4, abs=0.002)


FAR: dict[str, Any] = {"dim": 10**9, "group": 2}


def test_two_facts_with_one_answer_in_a_neighbouring_relation_outweigh_a_fact() -> None:
    """On a sphere in three dimensions two codes overlap by 1 - 2 t, with t uniform in [0, 1]. So
    kernels of frequency f are exp(-2 f^2 t).

    Let k be the kernel of two relations, and l of two subjects. If both subjects have the same
    answer in the neighbouring relation, this answer has the logit k(1 + l). The right answer has
    the logit 1, or 1 + l if both subjects have the right answer.
    """
    sizes: dict[str, Any] = {"subjects": 12, "relations": 9, "answers": 5, "width": 1e9}
    found = theory.compressed_accuracy(**sizes, **FAR, head_dim=3, frequency=0.7)
    kernel = np.exp(-2 * 0.7**2 * (np.arange(1000) + 0.5) / 1000)
    wrong = 1 / 5 * (1 - 1 / 5) * np.mean(np.outer(kernel, 1 + kernel) > 1)
    assert 0.05 < wrong == pytest.approx(1 - found, abs=4 * math.sqrt(wrong / 8000))


def test_noise_of_an_answer_grows_with_the_facts_that_have_it() -> None:
    """Codes in 64 dimensions do not overlap, so all logits but the right one are noise alone."""
    sizes: dict[str, Any] = {"subjects": 30, "relations": 4, "answers": 3, "width": 25}
    found = theory.compressed_accuracy(**sizes, **FAR, head_dim=64, frequency=6.0)
    rng = np.random.default_rng(3)
    variance = rng.binomial(30, 1 / 3, (100_000, 12)) / 25
    variance[:, 0] += 1 / 50  # of its own feature
    logits = rng.standard_normal(variance.shape) * np.sqrt(variance)
    logits[:, 0] += 1
    right = np.mean(logits.argmax(1) == 0)
    assert found == pytest.approx(right, abs=4 * math.sqrt(right * (1 - right) / 8000))


def test_features_of_independent_phases_recall_all_facts_as_often() -> None:
    """Ideal codes have features of independent phases. With these, all facts are recalled as often
    as predicted at a width that is at most 6% larger or smaller. The width's stated error is 6%.
    """
    subjects, relations, answers, dim, width = 18, 10, 5, 130, 152
    rng, right = np.random.default_rng(4), []
    for _ in range(500):
        drawn = rng.integers(answers, size=(subjects, relations))
        own = (answers * np.arange(relations) + drawn).ravel()
        outputs = unit_vectors(rng, relations * answers, dim)
        features = np.cos(rng.uniform(0, 2 * np.pi, (subjects * relations, width)))
        scores = features @ (features.T @ outputs[own]) @ outputs.T
        right.append((scores.argmax(1) == own).all())
    sizes = subjects, relations, answers, dim
    low, high = (theory.all_by_mlp(*sizes, width * factor) for factor in (0.94, 1.06))
    error = 4 * float(np.std(right)) / math.sqrt(500)
    assert low - error < np.mean(right) < high + error
    assert theory.mlp_width(*sizes) == pytest.approx(width, rel=0.06)


def test_few_subjects_share_no_rivals_among_many_answers() -> None:
    sizes: dict[str, Any] = {"subjects": 3, "relations": 4, "answers": 60, "dim": 400}
    apart = theory.all_by_attention(**sizes, shared_rivals=False)
    assert theory.all_by_attention(**sizes) == pytest.approx(apart, rel=0.01)


def test_a_search_for_a_width_draws_its_facts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Mock(wraps=np.random.default_rng)
    monkeypatch.setattr(np.random, "default_rng", drawn)
    compressed_draws.narrow.cache_clear()
    theory.compressed_width(12, 9, 4, 30, group=3, head_dim=2, frequency=0.9, target=0.6)
    assert drawn.call_count == 1


def streams(seed: int = 1) -> Streams:
    return Streams(generators(2, seed))


def facts(*, dim: int = 64) -> task.Facts:
    return task.draw(streams(0), subjects=8, relations=4, answers=4, dim=dim)


@pytest.fixture
def known() -> task.Facts:
    return facts()


@pytest.fixture
def prompts(known: task.Facts) -> torch.Tensor:
    return task.prompts(streams(), known, length=12)


def plain(
    weights: constructions.Attention, known: task.Facts, prompts: torch.Tensor
) -> torch.Tensor:
    """Compute attention by its definition, replicate by replicate and head by head."""
    found = []
    for b, tokens in enumerate(known.tokens):
        embedded = tokens[prompts[b]]
        output = torch.zeros(len(embedded), known.dim, dtype=embedded.dtype)
        for query, key, value, out in zip(
            *(part[b] for part in vars(weights).values()), strict=True
        ):
            scores = (embedded @ key.T) @ (query @ tokens[-1]) / math.sqrt(len(query))
            attention = torch.softmax(scores, dim=1)
            output += torch.einsum("pt,ptd->pd", attention, embedded) @ value.T @ out.T
        found.append(output)
    return torch.stack(found)


@pytest.mark.parametrize("scale", [5.0, 100.0, 400.0])
def test_attention_is_a_plain_softmax_over_positions(
    known: task.Facts, prompts: torch.Tensor, scale: float
) -> None:
    long = task.prompts(streams(), known, length=4000)
    assert int(long[0, 0].bincount().max()) > 256  # it holds a token many times
    weights = constructions.attention_only(known, head_dim=4, scale=scale)
    for some in (prompts, long):
        found = constructions.attend(weights, known, some)
        assert torch.allclose(found, plain(weights, known, some), atol=1e-10)


def test_no_exponential_is_denormal_in_single_precision(
    known: task.Facts, prompts: torch.Tensor
) -> None:
    weights = constructions.attention_only(known, head_dim=4)
    exponentials = constructions._softmax(weights, known, prompts)[1]
    assert float(exponentials.min()) > torch.finfo(torch.float32).tiny


def test_focus_is_the_weight_of_the_subject(known: task.Facts, prompts: torch.Tensor) -> None:
    weights = constructions.attention_only(known, head_dim=2, margin=0.5, scale=4.0)
    scores = constructions.token_scores(weights, known)
    fact = 5 * known.relations + 2
    found = constructions.focus(weights, known, prompts)[:, 5, 2]
    for score, prompt, share in zip(scores[:, 5 // 2], prompts[:, fact], found, strict=True):
        row = torch.softmax(score[prompt], dim=0)
        assert float(share) == pytest.approx(float(row[prompt == 5].sum()))


def test_codes_give_the_answers_logit_two() -> None:
    known = facts(dim=96)
    prompts = task.prompts(streams(), known, length=20)
    weights = constructions.attention_only(known, head_dim=2)
    logits = constructions.attend(weights, known, prompts) @ known.outputs.mT
    own = logits.gather(2, known.answers.flatten(1)[..., None])
    assert torch.allclose(own, torch.full_like(own, 2.0), atol=1e-4)
    assert constructions.recalled(known, prompts, weights).all()
    assert weights.parameters == 4 * 12 * 96


def test_mlp_is_a_sum_of_outer_products(known: task.Facts) -> None:
    codes = torch.from_numpy(unit_vectors(np.random.default_rng(2), 2, 12, known.dim))
    mlp = constructions.hebbian_mlp(known, codes, constructions.cosines(streams(2), known.dim, 16))
    for b in range(2):
        outer, first, second = torch.zeros(16, known.dim).double(), codes[b, :8], codes[b, 8:]
        for s in range(8):
            for r in range(4):
                inner = mlp.inner[b] @ (first[s] + second[r]) + mlp.bias[b, 0]
                answer = known.outputs[b, known.answers[b, s, r]]
                outer += torch.outer(math.sqrt(2) * torch.cos(inner), answer) / 16
        assert torch.allclose(mlp.outer[b], outer)


def test_heads_that_name_tokens_and_an_mlp_recall_the_facts(known: task.Facts) -> None:
    one = streams(2)
    weights = constructions.attention_mlp(one, known, head_dim=2, width=256)
    prompts = task.prompts(one, known, length=32)
    assert constructions.recalled(known, prompts, *weights).all()


def test_narrow_heads_and_a_wide_mlp_recall_the_facts() -> None:
    one = streams(2)
    known = task.draw(one, subjects=16, relations=8, answers=2, dim=128)
    weights = constructions.compressed_values(one, known, group=8, head_dim=4, width=1024)
    assert weights[0].parameters == 4 * 12 * 128  # H d_h = 12, where S + R = 24
    prompts = task.prompts(one, known, length=32)
    assert constructions.recalled(known, prompts, *weights).all()


def test_features_of_two_codes_overlap_as_their_kernel_says() -> None:
    """Features of codes at an angle of 0.2 overlap by exp(-36 (1 - cos 0.2)) = 0.49.

    Their frequency is 6.
    """
    angle, width = 0.2, 100_000
    codes = torch.zeros(2, 64, dtype=torch.float64)
    codes[1, 0], codes[1, 1] = math.cos(angle), math.sin(angle)
    codes[0, 0] = 1.0
    first, second = constructions.cosines(streams(2), 64, width).features(codes).unbind(1)
    kernel = math.exp(-36 * (1 - math.cos(angle)))
    for overlap in ((first * second).sum(1) / width).tolist():
        assert overlap == pytest.approx(kernel, abs=5 / math.sqrt(width))


def test_prompts_hold_their_fact_once_and_end_with_eos(known: task.Facts) -> None:
    for length in (3, 5, 40):
        prompts = task.prompts(streams(length), known, length=length)
        assert prompts.shape == (2, 32, length)
        assert ((prompts < 8).sum(2) == 1).all()
        assert (((prompts >= 8) & (prompts < 12)).sum(2) == 1).all()
        assert (prompts[..., -1] == known.vocab_size - 1).all()
        assert torch.equal(task.recovered(known, prompts), known.answers.flatten(1))


def test_tokens_and_answers_are_counted_beyond_a_byte() -> None:
    many = task.draw(streams(3), subjects=400, relations=2, answers=2, dim=2)
    prompts = task.prompts(streams(4), many, length=5)
    assert torch.equal(task.recovered(many, prompts), many.answers.flatten(1))
    most = [np.bincount(column).max() for column in many.answers[1].T.numpy()]
    assert task.best_guess(many, know="relation")[1] == pytest.approx(np.mean(most) / 400)


def test_guessing_by_hand() -> None:
    known = task.Facts(
        answers=torch.tensor([[[0, 2], [0, 3], [1, 3]]]),
        tokens=torch.zeros(1, 6, 2),
        outputs=torch.zeros(1, 4, 2),
    )
    assert task.best_guess(known, know="relation").tolist() == pytest.approx([2 / 3])
    assert task.best_guess(known, know="subject").tolist() == pytest.approx([1 / 2])
