"""Trained transformers: published figures, an explicit model, autograd, and cells of claims."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from claims.factual import test_trained_capacity as capacity
from claims.factual import test_trained_transformer as transformer
from claims.factual.trained import sizes, split
from simulation.factual import trained_transformer as tt
from simulation.factual import transformer_gradient as tg
from simulation.factual.trained_transformer import Sizes
from simulation.factual.transformer_gradient import EmbeddedFacts, Prompts, Weights
from theory.factual import trained_transformer as theory

SMALL = Sizes(subjects=3, relations=2, answers=2, heads=2, head_dim=2, width=4)
LARGE = Sizes(subjects=4, relations=3, answers=3, heads=3, head_dim=1, width=5)


def generators(*seeds: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def written_out(part: dict[str, Tensor], tokens: list[int], inputs: Tensor, u: Tensor) -> Tensor:
    """Compute logits of one prompt by steps: embeddings, attention from the last token, MLP."""
    x, total = inputs[tokens], torch.zeros_like(inputs[0])
    for query, key, value, out in zip(
        part["q"], part["k"], part["v"], part["o"].unbind(1), strict=True
    ):
        scores = (x @ key.T) @ (query @ x[-1]) / len(key) ** 0.5
        total = total + out @ (value @ (torch.softmax(scores, 0) @ x))
    hidden = torch.relu(part["w1"] @ total + part["b"][:, 0])
    return (total + part["w2"] @ hidden) @ u.T


def drawn(size: Sizes, dim: int, seed: int) -> tuple[EmbeddedFacts, Weights, Prompts]:
    rngs = generators(seed, seed + 1)
    task, weights = tt._draw(rngs, size, dim, "cpu", torch.float64)
    return task, weights, tt._prompts(rngs, task, size, 1, 7, 9)


@pytest.mark.parametrize("size", [SMALL, LARGE, dataclasses.replace(SMALL, width=0)])
def test_logits_and_gradient_are_those_of_a_transformer_written_out(size: Sizes) -> None:
    task, weights, prompts = drawn(size, 5, 0)
    tokens, labels = prompts.tokens[:, 0], prompts.labels[:, 0]
    weights.b.normal_(generator=torch.Generator().manual_seed(0))
    models = tg.Transformers(weights, task, size.heads, 7)
    logits = models.logits(tokens).clone()
    found = models.gradient(tokens, labels)
    for g in range(2):
        leaves = {n: part[g].clone().requires_grad_() for n, part in vars(weights).items()}
        part = {n: leaf.unflatten(0, (size.heads, -1)) for n, leaf in leaves.items() if n in "qkv"}
        part = leaves | part | {"o": leaves["o"].unflatten(1, (size.heads, -1))}
        known = task.inputs[g], task.outputs[g]
        naive = torch.stack([written_out(part, row, *known) for row in tokens[g].tolist()])
        torch.testing.assert_close(logits[g], naive.detach(), rtol=1e-12, atol=1e-12)
        loss = torch.nn.functional.cross_entropy(naive, labels[g])
        expected = torch.autograd.grad(loss, [*leaves.values()])
        largest = max(float(each.abs().max()) for each in expected if each.numel())
        for each, right in zip(found.tensors(), expected, strict=True):
            assert each[g].shape == right.shape
            assert not right.numel() or float((each[g] - right).abs().max()) < 1e-12 * largest


def test_prompts_hold_one_subject_one_relation_and_noise_and_the_answer_is_of_the_relation() -> (
    None
):
    task, _, prompts = drawn(SMALL, 4, 1)
    counts = torch.nn.functional.one_hot(prompts.tokens[0, 0], SMALL.tokens).sum(1)
    kinds = torch.split_with_sizes(counts, [3, 2, 5, 1], dim=1)
    assert [set(kind.sum(1).tolist()) for kind in kinds] == [{1}, {1}, {6}, {1}]
    subject, relation = (kind.argmax(1) for kind in kinds[:2])
    assert torch.equal(prompts.labels[0, 0], task.answers[0, subject, relation])
    assert torch.equal(prompts.labels[0, 0] // SMALL.answers, relation)
    assert SMALL.tokens == 11
    assert task.inputs.shape == (2, 11, 4)


def run(seeds: list[int], sizes: Sizes, **changes: Any) -> tt.Trained:
    options = {"dim": 8, "batch": 16, "steps": 40, "learning_rate": 0.01, "check_every": 20}
    return tt.train(generators(*seeds), sizes, **{**options, "test": 64, **changes})


def test_a_model_is_the_same_alone_and_among_others_that_leave_early() -> None:
    rates = [0.01, 0.01, 0.03, 0.01]
    company = run([5, 6, 7, 8], SMALL, target=0.4, learning_rate=rates)
    assert len(set(company.steps.tolist())) > 1  # some left early
    for index, rate in enumerate(rates):
        alone = run([5 + index], SMALL, target=0.4, learning_rate=rate)
        assert alone.accuracy[0] == company.accuracy[index]
        assert alone.steps[0] == company.steps[index]


def test_training_learns_the_facts_and_too_small_a_model_does_not() -> None:
    roomy = Sizes(subjects=4, relations=4, answers=4, heads=8, head_dim=4, width=16)
    cramped = dataclasses.replace(roomy, heads=1, head_dim=1, width=1)
    right, wrong = (
        run([1], each, dim=16, batch=64, steps=400, check_every=100) for each in (roomy, cramped)
    )
    assert right.accuracy[0] >= 0.99
    assert right.steps[0] < 400
    assert wrong.accuracy[0] < 0.8
    assert wrong.steps[0] == 400


def test_every_step_has_prompts_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    logits = tg.Transformers.logits

    def spy(models: tg.Transformers, prompts: Tensor) -> Tensor:
        seen.append(prompts.numpy().tobytes())
        return logits(models, prompts)

    monkeypatch.setattr(tg.Transformers, "logits", spy)
    monkeypatch.setattr(tt, "DRAWN_AT_ONCE", 2)
    run([1], SMALL, steps=6, check_every=6)
    assert len({*seen}) == len(seen) == 7  # those that the accuracy is tried by, too


def best(seeds: list[int], rates: list[float], **changes: float) -> tt.Trained:
    options = {"dim": 8, "batch": 16, "steps": 40, "check_every": 20, "test": 64, **changes}
    return tt.train_best(generators(*seeds), SMALL, learning_rates=rates, **options)


@pytest.mark.parametrize(("target", "least", "most"), [(0.0, 18, 18), (None, 9, 17), (2.0, 0, 0)])
def test_the_first_rate_that_reaches_the_target_counts_or_else_the_best(
    target: float | None, least: int, most: int
) -> None:
    """`least` to `most` of 18 trainings, 6 models at 3 rates, reach the target.

    If `target` is None, it is the median accuracy of these trainings when none of them stops early.
    So at least half of the trainings reach it.
    """
    rates, seeds = [0.01, 0.1, 0.03], [1, 2, 3, 4, 5, 6]
    if target is None:
        ends = [run(seeds, SMALL, learning_rate=rate, target=2.0) for rate in rates]
        target = float(np.median([end.accuracy for end in ends]))
    each = [run(seeds, SMALL, learning_rate=rate, target=target) for rate in rates]
    found = best(seeds, rates, target=target)
    counted = []
    for model in range(6):
        reached = [tried for tried in each if tried.accuracy[model] >= target]
        first = max(each, key=lambda tried: tried.accuracy[model]) if not reached else reached[0]
        counted.append(len(reached))
        assert found.accuracy[model] == first.accuracy[model]
        assert found.steps[model] == first.steps[model]
    assert least <= sum(counted) <= most
    alone = best(seeds, rates[:1], target=target)
    assert torch.equal(alone.accuracy, each[0].accuracy)


def test_sizes() -> None:
    found = (LARGE.facts, LARGE.noise_tokens, LARGE.parameters(10))
    assert found == (12, 7, 4 * 3 * 10 + 2 * 5 * 10)


def test_senseless_training_is_refused() -> None:
    with pytest.raises(ValueError, match="no learning rate"):
        best([1], [])
    for seeds, rates in (([1, 2], [0.1]), ([], [])):
        with pytest.raises(ValueError, match="one of each a model"):
            run(seeds, SMALL, learning_rate=rates)
    for wrong in ({"steps": 0}, {"length": 2}, {"learning_rate": 0}, {"test": 0}):
        with pytest.raises(ValueError, match="must be"):
            run([1], SMALL, **wrong)


def test_reference_line() -> None:
    assert theory.capacity(1536) == pytest.approx(230.4)
    assert theory.capacity(0) == 0


def test_boundary_is_the_drawn_one_at_the_published_size() -> None:
    for x in (1280, 2000, 4000):
        assert theory.traded_capacity(x, 2300 - x / 2) == pytest.approx(1024)
    assert theory.traded_capacity(1280, 10_000) == pytest.approx(1024)
    assert theory.traded_capacity(1279, 10_000) < 1024
    assert theory.traded_capacity(4600, 0) == pytest.approx(1024)


def test_a_number_of_facts_that_is_no_square_is_refused() -> None:
    assert sizes(split(15, answers=8)).facts == 225
    with pytest.raises(ValueError, match="226 facts"):
        sizes(split(15, answers=8).replace(facts=226))


@pytest.mark.parametrize(("heads", "factor"), [(9, 2), (17, 2), (3, 0.8), (5, 0.8)])
def test_points_lie_at_their_multiple_of_the_boundary(heads: int, factor: float) -> None:
    cell = transformer.sloping_point(heads, factor)
    x, y = heads * 4 * 32, cell["width"] * 32
    assert y + x / 2 == pytest.approx(factor * 2300 / 4, abs=16)  # half a row of the MLP
    assert theory.traded_capacity(x, y) == pytest.approx(factor * 256, rel=0.04)


@pytest.mark.parametrize("dim", [16, 32, 64, 128])
def test_edges_of_the_line_are_rungs_at_every_dimension(dim: int) -> None:
    rungs = [cell["facts"] for cell in capacity.at_edges(dim, answers=8)]
    assert rungs == [121 * (dim // 16) ** 2, 225 * (dim // 16) ** 2]
    line = 0.15 * 6 * dim**2
    region = capacity.CONSTANT.region
    assert rungs == [pytest.approx(edge * line) for edge in (region.low, region.high)]
