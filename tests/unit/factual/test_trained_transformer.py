"""Trained transformers: published figures, one written out, autograd, and the points of claims."""

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
from simulation.factual.trained_transformer import EmbeddedFacts, Prompts, Shape, Sizes
from theory.factual import trained_transformer as theory

SMALL = Sizes(subjects=3, relations=2, answers=2, heads=2, head_dim=2, width=4)
LARGE = Sizes(subjects=4, relations=3, answers=3, heads=3, head_dim=1, width=5)


def generators(*seeds: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def written_out(part: dict[str, Tensor], tokens: list[int], inputs: Tensor, u: Tensor) -> Tensor:
    """Logits of one prompt: embed the tokens, attend from the last one, apply the MLP."""
    x = inputs[tokens]
    total = torch.zeros(inputs.shape[1], dtype=inputs.dtype)
    for head in range(part["q"].shape[1]):
        query, key = x[-1] @ part["q"][:, head], x @ part["k"][:, head]
        attention = torch.softmax(key @ query / key.shape[1] ** 0.5, 0)
        total = total + attention @ x @ part["v"][:, head] @ part["o"][head]
    hidden = torch.relu(total @ part["w1"] + part["b"])
    return (total + hidden @ part["w2"]) @ u.T


def drawn(
    size: Sizes, dim: int, seed: int
) -> tuple[Shape, EmbeddedFacts, Tensor, tt.Integers, Prompts]:
    shape, rngs = Shape.of([size], dim), generators(seed)
    task, weights = tt._draw(rngs, [size], shape, "cpu", torch.float64)
    tokens = tt._tokens(rngs, [size], shape, (7,), 9)
    return shape, task, weights, tokens, tt._prompts(tokens, task, shape)


@pytest.mark.parametrize("size", [SMALL, LARGE, dataclasses.replace(SMALL, width=0)])
def test_logits_and_gradient_are_those_of_a_transformer_written_out(size: Sizes) -> None:
    shape, task, weights, tokens, prompts = drawn(size, 5, 0)
    scale = torch.full((1, 1, 1), size.head_dim**-0.5, dtype=torch.float64)
    fast = tt.logits(weights, prompts.counts, task, shape, scale)[0]
    leaf = weights.clone().requires_grad_()
    part = {name: value[0] for name, value in shape.split(leaf).items()}
    eos = shape.tokens - 1
    naive = torch.stack(
        [
            written_out(part, [*row, eos], task.inputs[0], task.outputs[0])
            for row in tokens[0].tolist()
        ]
    )
    torch.testing.assert_close(fast, naive.detach(), rtol=1e-12, atol=1e-12)
    (expected,) = torch.autograd.grad(
        torch.nn.functional.cross_entropy(naive, prompts.labels[0]), leaf
    )
    gradient = tt._gradient(weights, prompts, task, shape, scale)
    torch.testing.assert_close(gradient, expected, rtol=1e-10, atol=1e-12)


def test_prompts_hold_one_subject_one_relation_and_noise_and_the_answer_is_of_the_relation() -> (
    None
):
    shape, task, _, _, prompts = drawn(SMALL, 4, 1)
    kinds = torch.split_with_sizes(prompts.counts[0], [3, 2, 5, 1], dim=1)
    assert [set(kind.sum(1).tolist()) for kind in kinds] == [{1}, {1}, {6}, {1}]
    relation = kinds[1].argmax(1)
    assert torch.equal(prompts.labels[0] // SMALL.answers, relation)
    assert shape.tokens == prompts.counts.shape[2] == 11
    assert task.inputs.shape == (1, 11, 4)


def run(seeds: list[int], sizes: list[Sizes], **changes: float) -> tt.Trained:
    options = {"dim": 8, "batch": 16, "steps": 40, "learning_rate": 0.01, "check_every": 20}
    return tt.train(generators(*seeds), sizes, **{**options, "test": 64, **changes})  # type: ignore[arg-type]


def test_a_model_is_the_same_alone_and_padded_among_larger_ones_that_leave_early() -> None:
    company = run([5, 6, 7], [LARGE, SMALL, SMALL], target=0.4)
    assert len(set(company.steps.tolist())) > 1  # some left early
    for index, size in enumerate([LARGE, SMALL, SMALL]):
        alone = run([5 + index], [size], target=0.4)
        assert alone.accuracy[0] == company.accuracy[index]
        assert alone.steps[0] == company.steps[index]


def test_training_learns_the_facts_and_too_small_a_model_does_not() -> None:
    roomy = Sizes(subjects=4, relations=4, answers=4, heads=8, head_dim=4, width=16)
    cramped = dataclasses.replace(roomy, heads=1, head_dim=1, width=1)
    found = run([1, 2], [roomy, cramped], dim=16, batch=64, steps=400, check_every=100)
    assert found.accuracy[0] >= 0.99
    assert found.steps[0] < 400
    assert found.accuracy[1] < 0.8
    assert found.steps[1] == 400


def test_every_step_has_prompts_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    prompts = tt._prompts

    def spy(drawn: tt.Integers, *given: Any) -> Prompts:
        seen.append(drawn.tobytes())
        return prompts(drawn, *given)

    monkeypatch.setattr(tt, "_prompts", spy)
    monkeypatch.setattr(tt, "DRAWN_AT_ONCE", 2)
    run([1], [SMALL], steps=6, check_every=6)
    assert len({*seen}) == len(seen) == 7  # those that the accuracy is tried by, too


def test_weights_of_the_mlp_are_cut_at_two_standard_deviations() -> None:
    size = Sizes(subjects=3, relations=2, answers=2, heads=2, head_dim=2, width=400)
    shape = Shape.of([size], 50)
    part = shape.split(tt._draw(generators(3), [size], shape, "cpu", torch.float64)[1])
    for name, fan_in in (("w1", 50), ("w2", 400)):
        deviations = part[name][0] * fan_in**0.5
        assert deviations.std() == pytest.approx(1, abs=0.03)
        assert 2.2 < deviations.abs().max() < 2.28  # 2 / 0.8796


def best(seeds: list[int], rates: list[float], **changes: float) -> tt.Trained:
    options = {"dim": 8, "batch": 16, "steps": 40, "check_every": 20, "test": 64, **changes}
    sizes = [SMALL] * len(seeds)
    return tt.train_best(generators(*seeds), sizes, learning_rates=rates, **options)


@pytest.mark.parametrize(("target", "reach"), [(0.0, {3}), (0.4, {1, 2, 3}), (2.0, {0})])
def test_the_first_rate_that_reaches_the_target_counts_or_else_the_best(
    target: float, reach: set[int]
) -> None:
    rates, seeds = [0.01, 0.1, 0.03], [1, 2, 3, 4, 5, 6]
    each = [run(seeds, [SMALL] * 6, learning_rate=rate, target=target) for rate in rates]
    found = best(seeds, rates, target=target)
    counted = set()
    for model in range(6):
        reached = [tried for tried in each if tried.accuracy[model] >= target]
        first = max(each, key=lambda tried: tried.accuracy[model]) if not reached else reached[0]
        counted.add(len(reached))
        assert found.accuracy[model] == first.accuracy[model]
        assert found.steps[model] == first.steps[model]
    assert counted == reach
    alone = best(seeds, rates[:1], target=target)
    assert torch.equal(alone.accuracy, each[0].accuracy)


def test_sizes() -> None:
    found = (LARGE.facts, LARGE.noise_tokens, LARGE.parameters(10))
    assert found == (12, 7, 4 * 3 * 10 + 2 * 5 * 10)


def test_senseless_training_is_refused() -> None:
    with pytest.raises(ValueError, match="no learning rate"):
        best([1], [])
    for seeds, some in (([1, 2], [SMALL]), ([], [])):
        with pytest.raises(ValueError, match="one per model"):
            run(seeds, some)
    for wrong in ({"steps": 0}, {"length": 2}, {"learning_rate": 0.0}, {"test": 0}):
        with pytest.raises(ValueError, match="must be"):
            run([1], [SMALL], **wrong)


def test_reference_line() -> None:
    assert theory.capacity(1536) == pytest.approx(230.4)
    assert theory.capacity(0) == 0


def test_boundary_is_the_drawn_one_at_the_published_size() -> None:
    for x in (1280, 2000, 4000):
        assert theory.traded_capacity(x, 2300 - x / 2) == pytest.approx(1024)
    assert theory.traded_capacity(1280, 10_000) == pytest.approx(1024)
    assert theory.traded_capacity(1279, 10_000) < 1024
    assert theory.traded_capacity(4600, 0) == pytest.approx(1024)


def test_boundary_is_linear_and_the_mlp_alone_stores_nothing() -> None:
    assert theory.traded_capacity(600, 900) * 3 == pytest.approx(theory.traded_capacity(1800, 2700))
    assert theory.traded_capacity(0, 1000) == 0


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
