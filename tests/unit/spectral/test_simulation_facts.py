"""simulation.spectral.facts, compared with autograd and plain loops over prompts."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from simulation.embeddings import gaussian
from simulation.spectral import facts
from simulation.spectral.facts import Facts, Weights
from simulation.streams import Streams
from tests.unit.draws import generators

S, R = 3, 2


def embedded(count: int = 2, dim: int = 8) -> Facts:
    """Make a task in embeddings that are not orthogonal."""
    rngs = generators(count)
    streams = Streams(rngs)
    inputs, outputs = gaussian(streams, S + R + 1, dim), gaussian(streams, S * R, dim + 1)
    return Facts(S, R, inputs=inputs, outputs=outputs)


def random_weights(task: Facts, size: float = 1.0) -> Weights:
    like = task.start(0.0, 0.0)
    rng = np.random.default_rng(9)
    return like.mapped(lambda x: size * torch.from_numpy(rng.standard_normal(x.shape)))


def probabilities(task: Facts, weights: Weights, b: int) -> Tensor:
    """Compute probabilities (S, R, answers) by prompts, from embeddings and whole matrices."""
    inputs = torch.eye(S + R + 1).double() if task.inputs is None else task.inputs[b]
    outputs = torch.eye(S * R).double() if task.outputs is None else task.outputs[b]
    query = inputs[-1]
    rows = []
    for s, r in itertools.product(range(S), range(R)):
        prompt = inputs[[s, S + r, S + R]]
        attention = prompt @ weights.kq[b] @ query
        rows.append((outputs @ weights.ov[b] @ (attention @ prompt)).softmax(0))
    return torch.stack(rows).view(S, R, -1)


@pytest.mark.parametrize("task", [embedded(), Facts(S, R, replicates=2)], ids=["gauss", "one-hot"])
def test_gradient_is_that_of_the_loss_over_all_prompts(task: Facts) -> None:
    weights = random_weights(task).mapped(lambda x: x.requires_grad_())
    often = torch.rand(2, S, R, generator=torch.Generator().manual_seed(0)).double()
    total = torch.zeros(())
    for b in range(2):
        p = probabilities(task, weights, b)
        right = p.reshape(S * R, -1).diagonal().view(S, R)
        total = total - (often[b] * right.log()).sum()
    total.backward()  # type: ignore[no-untyped-call]
    gradient = task.gradient(weights.mapped(Tensor.detach), often)
    for found, table in ((gradient.ov, weights.ov), (gradient.kq, weights.kq)):
        assert table.grad is not None
        assert torch.allclose(found, -table.grad, atol=1e-13)


def test_odds_and_loss_are_those_of_the_softmax() -> None:
    task = embedded()
    weights = random_weights(task)
    odds, loss = task.odds(weights), task.loss(weights)
    for b in range(2):
        p = probabilities(task, weights, b).view(S, R, S, R)
        subject = p.sum(3).diagonal(dim1=0, dim2=2).mean()
        relation = p.sum(2).diagonal(dim1=1, dim2=2).mean()
        answer = torch.stack([p[s, r, s, r] for s in range(S) for r in range(R)])
        assert odds.subject[b] == pytest.approx(subject.logit().item())
        assert odds.relation[b] == pytest.approx(relation.logit().item())
        assert loss[b] == pytest.approx(-answer.log().mean().item())


def test_large_logits_do_not_overflow() -> None:
    task = Facts(S, R)
    weights = random_weights(task, 12.0)
    values, scores = task.read(weights)
    assert (values * scores[:, None]).max() > 200
    assert task.gradient(weights).ov.isfinite().all()
    assert task.loss(weights).isfinite().all()


@pytest.mark.parametrize("turned", [False, True])
def test_coordinates_of_the_start_are_what_it_was_made_of(turned: bool) -> None:
    rngs = generators(2)
    inputs = facts.rotated(Streams(rngs), S + R + 1) if turned else None
    outputs = facts.rotated(Streams(rngs), S * R) if turned else None
    task = Facts(S, R, inputs=inputs, outputs=outputs)
    start = task.start(0.3, 0.7)
    found = task.scalars(start)
    for part in ("subject", "relation"):
        for name, value in ((f"alpha_{part}", 0.3), (f"beta_{part}", 0.7)):
            assert getattr(found, name).tolist() == pytest.approx([value] * task.replicates)
    assert found.rest.max() < 1e-14
    # At a start made of these coordinates, log odds depend on the product 0.3 * 0.7 alone.
    expected = 0.21 / math.sqrt(R) - math.log(S - 1)
    assert task.odds(start).subject[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("table", "index"), [("ov", (0, 1, 2)), ("kq", (0, 1, 5)), ("kq", (0, 3, 5)), ("kq", (0, 2, 0))]
)
def test_whatever_is_off_the_manifold_is_seen(table: str, index: tuple[int, ...]) -> None:
    task = Facts(S, R)
    start = task.start(0.3, 0.7)
    start.ov[0, :, 2] += 5.0  # all answers share it, so it does not count
    assert task.scalars(start).rest.item() < 1e-14
    getattr(start, table)[index] += 0.01
    assert 0.005 < task.scalars(start).rest.item() < 0.011


@pytest.mark.parametrize("kinds", ["".join(k) for k in itertools.product("OH", repeat=3)])
def test_one_hot_and_hadamard_embeddings_are_orthonormal(kinds: str) -> None:
    inputs, outputs = facts.hadamard_or_one_hot(kinds, 8, 4)
    for table in (inputs[0], outputs[0]):
        assert torch.allclose(table @ table.mT, torch.eye(len(table)).double())
    assert inputs[0, :8, 8:].abs().max() == 0, "subjects have coordinates of their own"
    sizes = [inputs[0, 1, 1], inputs[0, 9, 9], outputs[0, 1, 1]]
    expected = {"O": (1, 1, 1), "H": (8, 4, 32)}
    assert [abs(x.item()) for x in sizes] == pytest.approx(
        [1 / math.sqrt(expected[kind][i]) for i, kind in enumerate(kinds)]
    )


def test_random_embeddings_have_their_law() -> None:
    turned = facts.rotated(Streams(generators(400)), 3)
    assert torch.allclose(turned @ turned.mT, torch.eye(3).double().expand(400, 3, 3))
    for moments, error in ((turned.mean(0), 0.13), (turned.square().mean(0) - 1 / 3, 0.07)):
        assert moments.abs().max() < error, "more than 4 standard errors"
    wide = gaussian(Streams(generators(2)), 50, 200)
    assert wide.square().sum(2).mean() == pytest.approx(1, abs=0.03)
