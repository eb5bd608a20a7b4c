"""simulation.spectral.one_step against automatic differentiation, scipy and loops over items."""

from functools import partial
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy import linalg

from simulation.spectral import one_step
from tests.unit import draws

Floats = npt.NDArray[np.float64]


generators = partial(draws.generators, seed=7)


def drawn(seed: int, items: int, dim: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    tables = rng.standard_normal((2, items, dim))
    p = torch.from_numpy(one_step.frequencies(items, 1.5))
    return p, torch.from_numpy(tables[0]), torch.from_numpy(tables[1])


def loss(
    memory: torch.Tensor, p: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    scores = inputs @ memory.mT @ outputs.mT
    return -(p * torch.log_softmax(scores, 1).diagonal()).sum()


def hits(memory: Floats, inputs: Floats, outputs: Floats) -> list[int]:
    """Items whose own output scores highest, by loops."""
    return [
        i
        for i, given in enumerate(inputs)
        if all(
            outputs[i] @ memory @ given > outputs[j] @ memory @ given
            for j in range(len(outputs))
            if j != i
        )
    ]


def step_of(rule: str, weights: Floats, inputs: Floats, outputs: Floats) -> Floats:
    """Gradient or polar factor, by loops over items and scipy's polar decomposition."""
    mean = outputs.mean(0)
    total: Floats = np.zeros((inputs.shape[1],) * 2)
    for i, weight in enumerate(weights):
        total += weight * np.outer(outputs[i] - mean, inputs[i])
    if rule == "gradient":
        return total
    factor: Floats = linalg.polar(total)[0]
    return factor


def test_gradient_is_that_of_automatic_differentiation() -> None:
    p, inputs, outputs = drawn(1, 7, 3)
    memory = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(loss(memory, p, inputs, outputs), memory)
    torch.testing.assert_close(one_step.gradient(p, inputs, outputs), -found)


def test_newton_step_is_that_of_the_differentiated_hessian() -> None:
    p, inputs, outputs = drawn(2, 9, 3)
    zero = torch.zeros(3, 3, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(  # type: ignore[no-untyped-call]
        lambda memory: loss(memory, p, inputs, outputs), zero
    )
    flat = one_step.gradient(p, inputs, outputs).flatten()
    expected = torch.linalg.solve(hessian.reshape(9, 9), flat).view(3, 3)
    torch.testing.assert_close(one_step.newton(p, inputs, outputs), expected)


@pytest.mark.parametrize("first", [1, 4, 32])
def test_recall_is_that_of_loops(first: int) -> None:
    _, inputs, outputs = drawn(3, 12, 4)
    memory = (
        torch.from_numpy(np.random.default_rng(4).standard_normal((4, 4))) + outputs.mT @ inputs
    )
    with patch.object(one_step, "_FIRST", first):
        found = torch.nonzero(one_step.recalled(memory, inputs, outputs))[:, 0].tolist()
    assert found == hits(memory.numpy(), inputs.numpy(), outputs.numpy())
    assert 0 < len(found) < 12


@pytest.mark.parametrize("batch", [None, 9, 2000])  # counts of more than a byte
def test_one_step_is_that_of_loops(batch: int | None) -> None:
    setting = {"dim": 4, "items": 12, "exponent": 1.5, "batch": batch}
    kinds = ("gradient", "spectral")
    found = one_step.one_step(generators(3), steps=kinds, **setting)  # type: ignore[arg-type]
    for r, rng in enumerate(generators(3)):
        inputs, outputs = (rng.standard_normal((12, 4)) / 2 for _ in range(2))
        weights = np.arange(1.0, 13) ** -1.5
        weights /= weights.sum()
        if batch is not None:
            weights = rng.multinomial(batch, weights) / batch
        for kind in kinds:
            expected = hits(step_of(kind, weights, inputs, outputs), inputs, outputs)
            assert found[kind][r] == len(expected), kind


def test_population_and_batch_have_the_same_embeddings() -> None:
    both = one_step.batch_and_population(
        generators(4), dim=6, items=30, exponent=1.5, batch=900, steps=("spectral",)
    )
    with_batch = {"dim": 6, "items": 30, "exponent": 1.5, "steps": ("spectral",)}
    alone = one_step.one_step(generators(4), **with_batch)  # type: ignore[arg-type]
    assert torch.equal(both["spectral_all"], alone["spectral"])
    sampled = one_step.one_step(generators(4), batch=900, **with_batch)  # type: ignore[arg-type]
    assert torch.equal(both["spectral"], sampled["spectral"])


@pytest.mark.parametrize("rule", ["gradient", "spectral"])
def test_several_steps_are_those_of_loops(rule: str) -> None:
    found = one_step.several_steps(generators(2), dim=4, items=14, exponent=1.5, steps=4, rule=rule)
    for r, rng in enumerate(generators(2)):
        inputs, outputs = (rng.standard_normal((14, 4)) / 2 for _ in range(2))
        weights = np.arange(1.0, 15) ** -1.5
        weights /= weights.sum()
        memory: Floats = np.zeros((4, 4))
        known: list[int] = []
        for step in range(4):
            left = np.array([0.0 if i in known else w for i, w in enumerate(weights)])
            taken = step_of(rule, left, inputs, outputs)
            memory = memory + taken / np.linalg.norm(taken, 2)
            known = hits(memory, inputs, outputs)
            assert found[r, step] == len(known)
