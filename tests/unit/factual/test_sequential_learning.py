"""Sequential learning, compared with autograd, SGD on whole prompts, and values by hand."""

import itertools
import math

import numpy as np
import pytest
import torch

import recall_claims as rc
from claims.factual import test_sequential_stages as stages
from simulation.factual import sequential_learning as learning
from simulation.factual.sequential_learning import FactPrompts, Losses, Weights
from tests.unit.draws import end, generators
from theory.factual import sequential_learning as theory
from theory.factual.sequential_learning import Sizes


def test_rates_are_the_distance_of_the_conditional_law_from_uniform() -> None:
    s, r, d = 6, 3, 3
    sizes = Sizes(subjects=s, relations=r, answers=d)
    answers = np.random.default_rng(0).integers(d, size=(4000, s, r)) + d * np.arange(r)
    deviation = np.eye(r * d)[answers] - 1 / (r * d)
    known = deviation.mean(1)[:, 0] / r, deviation.mean(2)[:, 0] / s, deviation.mean((1, 2))
    relation, subject, background = ((one**2).sum(1) for one in known)
    for squares, law in (
        (relation, theory.random_relation_square_rate),
        (background, theory.background_square_rate),
    ):
        assert abs(squares.mean() - law(sizes)) < 4 * squares.std() / math.sqrt(4000)
    assert subject == pytest.approx(theory.subject_rate(sizes) ** 2)
    assert theory.background_square_rate(sizes, count=2) == pytest.approx(
        4 * theory.background_square_rate(sizes)
    )
    # A product dictionary is what many subjects make of a random one.
    many = Sizes(subjects=10**9, relations=r, answers=d)
    assert theory.random_relation_square_rate(many) == pytest.approx(
        theory.relation_rate(sizes) ** 2
    )


def test_random_plateau_is_the_mean_entropy() -> None:
    sizes = Sizes(subjects=12, relations=2, answers=4)
    rng = np.random.default_rng(1)
    shares = rng.multinomial(12, [0.25] * 4, size=20000) / 12
    entropies = -np.where(shares > 0, shares * np.log(np.maximum(shares, 1e-300)), 0).sum(1)
    error = entropies.std() / math.sqrt(entropies.size)
    assert abs(entropies.mean() - theory.random_plateau(sizes)) < 4 * error
    many = Sizes(subjects=5000, relations=2, answers=4)
    assert theory.random_plateau(many) == pytest.approx(math.log(4) - 3 / 10000, rel=1e-6)


def random_task(*, length: int = 32, noise: int = 20) -> FactPrompts:
    facts = learning.random_dictionaries(generators(2), 3, 2, 2)
    return FactPrompts(facts, answers=2, length=length, noise=noise)


def random_weights(task: FactPrompts) -> Weights:
    rng, start = np.random.default_rng(7), vars(task.start(0.0))
    return Weights(**{n: torch.from_numpy(rng.standard_normal(w.shape)) for n, w in start.items()})


def test_gradient_is_that_of_the_mean_loss_over_all_prompts() -> None:
    # Prompts of four tokens have one noise token, so that all prompts can be written down.
    task = random_task(length=4, noise=1)
    weights = random_weights(task)
    attention, values = (weight.clone().requires_grad_() for weight in vars(weights).values())
    total = torch.zeros(())
    for b, s, r in itertools.product(range(2), range(3), range(2)):
        prompt = [s, 3 + r, 5, 6]  # subject, relation, EOS, noise
        logits = (attention[b, prompt, None] * values[b, prompt]).sum(0)
        total = total - logits.log_softmax(0)[task.dictionary[b, s, r]] / 6
    gradient = task.gradient(weights, 1 / 6)
    by_attention, by_values = torch.autograd.grad(total, (attention, values))
    assert torch.allclose(gradient.attention, -by_attention, atol=1e-14)
    assert torch.allclose(gradient.values, -by_values, atol=1e-14)
    assert task.losses(weights).total.sum().item() == pytest.approx(total.item())


def test_counts_replace_prompts() -> None:
    """The reference is SGD in numpy, on prompts with their own noise tokens."""
    s, r, d, noise, length, batch, steps = 4, 2, 2, 3, 6, 64, 250
    dictionary = learning.product_dictionary(s, r, d)
    task = FactPrompts([dictionary], answers=d, length=length, noise=noise)
    rngs = [np.random.default_rng(5)]
    fast = end(learning.sgd(task, task.start(0.01), rngs, rate=0.3, batch=batch, steps=steps))
    pairs = np.random.default_rng(5).multinomial(batch, [1 / (s * r)] * (s * r), steps)
    rng = np.random.default_rng(6)
    attention = np.full(s + r + 1 + noise, 0.01)
    values = np.zeros((s + r + 1 + noise, r * d))
    for counts in pairs:
        pair = np.repeat(np.arange(s * r), counts)
        prompts = np.zeros((batch, s + r + 1 + noise))
        prompts[np.arange(batch), pair // r] = 1
        prompts[np.arange(batch), s + pair % r] = 1
        prompts[:, s + r] = 1
        prompts[:, s + r + 1 :] = rng.multinomial(length - 3, [1 / noise] * noise, batch)
        logits = (prompts * attention) @ values
        residual = -np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        residual[np.arange(batch), dictionary[pair // r, pair % r]] += 1
        gradient = prompts.T @ residual / batch
        attention, values = (
            attention + 0.3 * (values * gradient).sum(1),
            values + 0.3 * attention[:, None] * gradient,
        )
    assert fast.attention[0, :s].mean() > 0.05, "something was learned"
    assert np.allclose(fast.attention[0, : s + r], attention[: s + r], rtol=0.01)
    assert np.allclose(fast.values[0, : s + r], values[: s + r], atol=0.01 * values.max())


def test_flow_converges_with_its_step() -> None:
    task = random_task()
    start = task.start(0.3, 0.1)
    ends = [end(learning.flow(task, start, duration=30.0, steps=n)) for n in (30, 60, 480)]
    coarse, fine = ((found.values - ends[2].values).abs().max() for found in ends[:2])
    assert 10 < coarse / fine < 25, "fourth order"


def test_distances_tell_who_knows_what() -> None:
    task = FactPrompts([learning.product_dictionary(4, 3, 2)], answers=2)
    weights = task.start(1.0)
    weights.values[:, 4:7] = 100 * task.target.mean(1)  # each relation speaks for its block
    found = learning.distances(task, weights)
    expected = {"relation": 0, "nothing": 2 / 3, "fact": 1 / 2, "subject": 2 / 3}
    assert {name: far.item() for name, far in found.items()} == pytest.approx(expected, abs=1e-12)


def test_half_step_interpolates() -> None:
    path = torch.tensor([[8.0, 8.0], [6.0, 8.0], [3.0, 5.0], [1.0, 1.0]])
    assert learning.half_step(path).tolist() == pytest.approx([1 + 2 / 3, 2 + 1 / 4])
    with pytest.raises(ValueError, match="train longer"):
        learning.half_step(path[:3])


def test_flattest_lies_between_the_half_times() -> None:
    relation = torch.tensor([4.0, 4, 3, 1, 0, 0, 0, 0, 0, 0])[:, None]
    subject = torch.tensor([2.0, 2, 2, 2, 2, 2, 1.9, 0.5, 0, 0])[:, None]
    assert learning.flattest(Losses(relation=relation, subject=subject)).tolist() == [2.0]


def test_growth_rate_undoes_the_hyperbolic_cosine() -> None:
    before = Weights(attention=torch.full((1, 3), 0.2), values=torch.zeros(1, 3, 2))
    after = Weights(attention=0.2 * torch.full((1, 3), math.cosh(1.5)), values=before.values)
    rates = learning.growth_rates(before, after, 3.0)
    assert torch.allclose(rates, torch.tensor(0.5))


def test_losses_along_a_path_are_those_of_every_so_many_steps() -> None:
    task = FactPrompts([learning.product_dictionary(4, 2, 2)], answers=2)
    start = task.start(0.1)
    path = list(learning.sgd(task, start, generators(1), rate=0.5, batch=8, steps=6))
    losses = learning.losses_along(task, start, path, every=3)
    expected = [task.losses(weights).total for weights in (start, path[2], path[5])]
    assert torch.equal(losses.total, torch.stack(expected))


def test_the_simulated_loss_is_right_where_growth_times_are_farthest_apart() -> None:
    claim = stages.flow_loss_curve
    cell = rc.Cell(answers=2, relations=2, subjects=64, time=1024.0)
    block = rc.Block((np.random.default_rng(0),), "cpu", torch.float64)
    assert claim.predict is not None
    assert claim.observe(cell, block).item() == pytest.approx(claim.predict(cell), abs=1e-6)
