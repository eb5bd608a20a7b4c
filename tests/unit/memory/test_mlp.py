"""Memories of one hidden layer: limits, independent integrals and plain simulations."""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import integrate

from simulation.initial_weights import lecun_normal
from simulation.memory import mlp
from simulation.memory.mlp import (
    Associations,
    cosine_memory,
    draw,
    grouped,
    relu_memory,
    trained,
    trained_accuracy,
)
from simulation.streams import Streams
from tests.unit.draws import generators
from theory.memory.mlp import (
    FeatureLaw,
    asymptotic_width,
    capacity,
    critical_width,
    failures,
    feature_law,
    mlp_memory_accuracy,
)


def test_lost_neurons_count_as_absent() -> None:
    laws = (FeatureLaw(wide=1e-3, lost=lost, power=3.0) for lost in (30.0, 0.0))
    fewer, none = (
        failures(900, 800, 40, width, law) for width, law in zip((100, 70), laws, strict=True)
    )
    assert fewer == pytest.approx(none)


def test_relu_features_by_numerical_integration() -> None:
    dim = 7

    def mean(function: NDArray[np.float64]) -> float:
        density = (1 - cosines**2) ** ((dim - 3) / 2)
        return float(integrate.simpson(density * function, cosines)) / float(
            integrate.simpson(density, cosines)
        )

    cosines = np.linspace(-1, 1, 20001)
    overlap = 2 / math.pi * (np.sqrt(1 - cosines**2) + cosines * np.arcsin(cosines))
    size = mean(np.abs(cosines))
    centred = np.abs(cosines) - size
    law = feature_law("relu", dim)
    # The overlap is the mean over rows w of |w.x||w.y|, so its own mean is E|w|^2 = dim, times the
    # square of the mean of |w.x|/|w|.
    assert mean(overlap) == pytest.approx(dim * size**2, rel=1e-6)
    expected = (mean(overlap**2) - mean(overlap) ** 2) / (1 - mean(overlap)) ** 2
    assert law.wide == pytest.approx(expected, rel=1e-6)
    assert law.power == pytest.approx(mean(centred**4) / mean(centred**2) ** 2 - 1, rel=1e-3)
    assert law.lost == dim + 1


@pytest.mark.parametrize("features", ["cosine", "relu"])
@pytest.mark.parametrize("outputs", [None, 64])
def test_capacity_inverts_the_critical_width(features: str, outputs: int | None) -> None:
    width = critical_width(associations=256, dim=64, outputs=outputs, features=features)
    inverse = capacity(dim=64, width=width, outputs=outputs, features=features)
    assert inverse == pytest.approx(256, rel=1e-4)
    wrong = 1 - mlp_memory_accuracy(
        associations=256, dim=64, outputs=outputs, width=width, features=features
    )
    assert 256 * wrong == pytest.approx(math.log(2), rel=1e-3)


def test_limit_law() -> None:
    assert asymptotic_width(associations=100, dim=50, outputs=10) == pytest.approx(
        4 * math.log(1000) * (2 + 10)
    )
    near, far = (
        critical_width(associations=n, dim=d) / asymptotic_width(associations=n, dim=d)
        for n, d in ((128, 64), (10**5, 1000))
    )
    assert near < far < 1
    assert far > 0.85


def test_outputs_are_used_equally_often() -> None:
    facts = draw(generators(2), associations=12, outputs=4, dim=5)
    assert facts.z.shape == (2, 12, 5)
    assert facts.u.shape == (2, 4, 5)
    assert facts.targets.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert draw(generators(1), associations=5, outputs=3, dim=2).targets.tolist() == [0, 0, 1, 1, 2]
    many = draw(generators(1), associations=600, outputs=300, dim=2)
    assert many.targets.tolist() == [output for output in range(300) for _ in range(2)]
    assert torch.allclose(facts.z.norm(dim=2), torch.ones(2, 12, dtype=torch.float64))


def test_cosine_memory_is_a_sum_of_outer_products() -> None:
    facts = draw(generators(1), associations=4, outputs=4, dim=6)
    z, y = facts.z, facts.u
    memory = cosine_memory(z, y, [np.random.default_rng(1)], width=50, frequency=2.0)
    first, bias, second = memory.first[0], memory.bias[0], memory.second[0]
    features = [math.sqrt(2) * torch.cos(first @ x + bias) for x in z[0]]
    products = [torch.outer(f, t) for f, t in zip(features, y[0], strict=True)]
    assert torch.allclose(second, torch.stack(products).sum(0) / 50)
    assert torch.allclose(memory(z)[0], torch.stack([second.mT @ f for f in features]))


def test_cosine_features_overlap_as_their_kernel_says() -> None:
    z = torch.tensor([[[1.0, 0.0], [math.cos(0.4), math.sin(0.4)]]], dtype=torch.float64)
    memory = cosine_memory(
        z, torch.eye(2).double()[None], [np.random.default_rng(2)], width=200_000, frequency=2.0
    )
    kernel = math.exp(-4 * (1 - math.cos(0.4)))
    expected = torch.tensor([[1, kernel], [kernel, 1]], dtype=torch.float64)
    assert torch.allclose(memory(z), expected, atol=6 / math.sqrt(200_000))


def test_relu_memory_sees_neither_constant_nor_linear_parts() -> None:
    facts = draw(generators(1), associations=9, outputs=9, dim=4)
    z, y = facts.z, facts.u
    memory = relu_memory(z, y, [np.random.default_rng(1)], width=30)
    ones = torch.ones(1, 30, dtype=torch.float64)
    assert (ones @ memory.second).abs().max() < 1e-12
    assert (memory.first.mT @ memory.second).abs().max() < 1e-12
    # What is left of the features is the projection of |Wz| / 2.
    taken = torch.cat([ones.mT, memory.first[0]], 1)
    rest = torch.eye(30).double() - taken @ torch.linalg.pinv(taken)
    even = (z @ memory.first.mT).abs() / 2 @ rest
    assert torch.allclose(memory.second, 4 / 30 * even.mT @ y)
    assert torch.allclose(memory(z), even @ memory.second)
    plain = relu_memory(z, y, [np.random.default_rng(1)], width=30, project=False)
    assert torch.allclose(plain.second, 4 / 30 * torch.relu(z @ plain.first.mT).mT @ y)


def test_all_is_where_nothing_is_wrong() -> None:
    found = mlp.constructed(generators(40), associations=30, dim=16, width=60)
    assert 0 < found["all"].mean() < 1
    assert torch.equal(found["all"] == 1, found["accuracy"] == 1)


def network() -> tuple[mlp._Network, mlp.Associations]:
    rngs = generators(3)
    facts, streams = draw(rngs, associations=10, outputs=5, dim=4), Streams(rngs)
    first, second = (lecun_normal(streams, *shape) for shape in ((4, 7), (7, 4)))
    return mlp._Network(facts, first, second, 0.03), facts


def differentiated(facts: mlp.Associations, weights: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return gradients of each replicate's mean cross-entropy, also kept as ``grad`` of weights."""
    first, second = weights
    hidden = torch.relu(facts.z @ first[:, :, :-1].mT + first[:, None, :, -1])
    logits = hidden @ second.mT @ facts.u.mT
    targets = facts.targets.expand(len(logits), -1)
    loss = torch.nn.functional.cross_entropy(logits.mT, targets) * len(logits)
    for each, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
        each.grad = gradient
    return [each.grad for each in weights if each.grad is not None]


def test_training_is_autograd_with_adamw() -> None:
    trained, facts = network()
    copies = [weights.clone().requires_grad_() for weights in trained.weights]
    optimiser = torch.optim.AdamW(copies, lr=0.03, weight_decay=0.0)
    for _ in range(20):
        for found, right in zip(trained.gradient(), differentiated(facts, copies), strict=True):
            assert (found - right).abs().max() < 1e-12 * right.abs().max()
        optimiser.step()
        trained.step()
        for found, right in zip(trained.weights, copies, strict=True):
            torch.testing.assert_close(found, right.detach(), rtol=0, atol=1e-11)
            right.data.copy_(found)


def test_networks_that_stay_go_on_as_they_were() -> None:
    some, all_ = network()[0], network()[0]
    kept = torch.tensor([0, 2])
    for step in range(4):
        if step == 2:
            some.keep(kept)
        some.step()
        all_.step()
    for found, right in zip(some.weights, all_.weights, strict=True):
        torch.testing.assert_close(found, right[kept], rtol=1e-12, atol=1e-12)


def test_training_stops_when_it_is_good_enough_or_after_its_steps() -> None:
    def some() -> tuple[Associations, list[np.random.Generator]]:
        rngs = generators(3)
        return draw(rngs, associations=6, outputs=6, dim=8), rngs

    assert trained_accuracy(*some(), width=16).tolist() == [1.0, 1.0, 1.0]
    once = trained_accuracy(*some(), width=16, steps=1)
    assert once.mean() < 1
    facts, rngs = some()
    answers = trained(facts, rngs, width=16, steps=1)(facts.z)
    assert facts.correct(answers).double().mean(1).tolist() == once.tolist()


def test_outputs_of_a_group_share_a_part_of_their_length() -> None:
    facts = draw(generators(2), associations=9, outputs=9, dim=4000)
    found = grouped(facts, generators(2, seed=1), groups=3, shared=0.75).u
    same = torch.arange(9) // 3 == torch.arange(9)[:, None] // 3
    right = torch.where(same, 0.75, 0.0).fill_diagonal_(1.0).double().expand(2, 9, 9)
    torch.testing.assert_close(found @ found.mT, right, rtol=0, atol=0.08)
    torch.testing.assert_close(found.norm(dim=2), torch.ones(2, 9).double())


@pytest.mark.parametrize(("groups", "shared"), [(0, 0.5), (10, 0.5), (3, -0.1), (3, 1.0)])
def test_groups_that_cannot_be_are_refused(groups: int, shared: float) -> None:
    facts = draw(generators(1), associations=9, outputs=9, dim=4)
    with pytest.raises(ValueError, match="give 1 to 9 groups"):
        grouped(facts, generators(1), groups=groups, shared=shared)


def test_initial_weights_are_truncated_normal() -> None:
    weights = lecun_normal(Streams(generators(1)), 16, 4000)
    assert weights.var() * 16 == pytest.approx(1, abs=0.03)
    assert abs(weights).max() < 2 / 0.879 / 4
    assert abs(weights).max() > 1.9 / 0.88 / 4
