"""simulation.spectral.one_step, compared with autograd, scipy and loops over items."""

from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy import linalg

from simulation.spectral import one_step
from simulation.streams import Streams
from tests.unit.draws import generators

Floats = npt.NDArray[np.float64]


def drawn(seed: int, items: int, dim: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    tables = rng.standard_normal((2, items, dim))
    p = torch.from_numpy(one_step.frequencies(items, 1.5))
    return p[None], torch.from_numpy(tables[:1]), torch.from_numpy(tables[1:])


def replicate(rng: np.random.Generator, items: int) -> tuple[torch.Tensor, torch.Tensor, Floats]:
    """Draw inputs and outputs (1, items, 4) as simulations do, with the items' frequencies."""
    one = Streams([rng])
    inputs, outputs = (one.normal(items, 4) / 2 for _ in range(2))
    weights = np.arange(1.0, items + 1) ** -1.5
    return inputs, outputs, weights / weights.sum()


def loss(
    memory: torch.Tensor, p: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    scores = inputs @ memory.mT @ outputs.mT
    return -(p * torch.log_softmax(scores, 2).diagonal(dim1=1, dim2=2)).sum()


def hits(memory: Floats, inputs: Floats, outputs: Floats) -> list[int]:
    """Items with the highest score for their own output, by loops."""
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
    """Step along gradient or polar factor, by loops over items and scipy's polar decomposition."""
    mean = outputs.mean(0)
    total: Floats = np.zeros((inputs.shape[1],) * 2)
    for i, weight in enumerate(weights):
        total += weight * np.outer(outputs[i] - mean, inputs[i])
    if rule == "gradient":
        return total
    factor: Floats = linalg.polar(total)[0]
    return factor


def test_newton_step_is_that_of_the_differentiated_hessian() -> None:
    p, inputs, outputs = drawn(2, 9, 3)
    zero = torch.zeros(1, 3, 3, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(  # type: ignore[no-untyped-call]
        lambda memory: loss(memory, p, inputs, outputs), zero
    )
    flat = one_step.gradient(p, inputs, outputs).flatten()
    expected = torch.linalg.solve(hessian.reshape(9, 9), flat).view(1, 3, 3)
    torch.testing.assert_close(one_step.newton(p, inputs, outputs), expected)


@pytest.mark.parametrize("first", [1, 4, 32, None])
def test_recall_is_that_of_loops(first: int | None) -> None:
    """After a first comparison, replicates keep different numbers of different items."""
    tables = [drawn(seed, 12, 4)[1:] for seed in (3, 4, 5)]
    inputs, outputs = (torch.cat(table) for table in zip(*tables, strict=True))
    memory = torch.from_numpy(np.random.default_rng(4).standard_normal((3, 4, 4)))
    memory += torch.tensor([1, 8, -8])[:, None, None] * outputs.mT @ inputs
    with patch.dict(one_step._FIRST, cpu=first):
        found = one_step.recalled(memory, inputs, outputs)
    for r, right in enumerate(found):
        here = (table[r].numpy() for table in (memory, inputs, outputs))
        assert right.nonzero()[:, 0].tolist() == hits(*here)
    few, many, none = found.sum(1).tolist()
    assert 0 == none < few < many < 12


@pytest.mark.parametrize("batch", [None, 30, 2000])  # counts of more than a byte
def test_one_step_is_that_of_loops(batch: int | None) -> None:
    setting = {"dim": 4, "items": 12, "exponent": 1.5, "batch": batch}
    kinds = ("gradient", "spectral")
    found = one_step.one_step(generators(3), steps=kinds, **setting)  # type: ignore[arg-type]
    for r, rng in enumerate(generators(3)):
        *tables, weights = replicate(rng, 12)
        inputs, outputs = (table[0].numpy() for table in tables)
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
    found, missing = one_step.several_steps(
        generators(2), dim=4, items=14, exponent=1.5, steps=4, rule=rule
    )
    for r, rng in enumerate(generators(2)):
        *tables, weights = replicate(rng, 14)
        inputs, outputs = (table[0].numpy() for table in tables)
        memory: Floats = np.zeros((4, 4))
        known: list[int] = []
        for step in range(4):
            left = np.array([0.0 if i in known else w for i, w in enumerate(weights)])
            taken = step_of(rule, left, inputs, outputs)
            memory = memory + taken / np.linalg.norm(taken, 2)
            known = hits(memory, inputs, outputs)
            assert found[r, step] == len(known)
            assert missing[r, step] == pytest.approx(1 - weights[known].sum())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_regularised_factor_is_that_of_singular_values(dtype: torch.dtype) -> None:
    """In float32 a square loses values below 2e-4 of the largest."""
    turn = torch.linalg.qr(torch.from_numpy(np.random.default_rng(9).standard_normal((6, 6))))[0]
    matrix = (turn * torch.logspace(0, -5, 6)).to(dtype) @ turn.mT.to(dtype)
    left, values, right = torch.linalg.svd(matrix.double())
    expected = left * (values / values.hypot(torch.tensor(1e-4))) @ right
    torch.testing.assert_close(one_step.regularised(matrix, 1e-4), expected.to(dtype))


def test_gradient_of_the_whole_softmax_is_that_of_automatic_differentiation() -> None:
    p, inputs, outputs = drawn(5, 7, 3)
    memory = torch.from_numpy(np.random.default_rng(6).standard_normal((1, 3, 3))).requires_grad_()
    (found,) = torch.autograd.grad(loss(memory, p, inputs, outputs), memory)
    exact = one_step.softmax_gradient(memory.detach(), p, inputs, outputs)
    torch.testing.assert_close(exact, -found)
    at_zero = one_step.softmax_gradient(torch.zeros_like(exact), p, inputs, outputs)
    torch.testing.assert_close(at_zero, one_step.gradient(p, inputs, outputs))


def test_exact_steps_are_as_long_as_they_are_told() -> None:
    """The second draw depends on the length of the first."""
    setting = {"dim": 4, "items": 14, "exponent": 1.5, "steps": 2, "rule": "regularised"}
    found, _ = one_step.several_steps(generators(8), rate=3.0, **setting)  # type: ignore[arg-type]
    for r, rng in enumerate(generators(8)):
        inputs, outputs, weights = replicate(rng, 14)
        p = torch.from_numpy(weights)
        memory = torch.zeros(1, 4, 4).double()
        for step, exponent in enumerate((4 / 3, 14 / 9)):
            lost = one_step.softmax_gradient(memory, p, inputs, outputs)
            memory += 6 * one_step.regularised(lost, float(p[0] * 4 ** (-1.5 * exponent) * 2))
            assert found[r, step] == one_step.recalled(memory, inputs, outputs).sum()


def test_regularised_steps_have_the_published_schedule_and_batches_of_their_own() -> None:
    setting = {"dim": 4, "items": 14, "exponent": 1.5, "steps": 3, "rule": "regularised"}
    for batch in (None, 6, 600):  # 600 holds more of the first item than a byte does
        found, _ = one_step.several_steps(generators(1), batch=batch, **setting)  # type: ignore[arg-type]
        (rng,) = generators(1)
        inputs, outputs, p = replicate(rng, 14)
        memory, known = torch.zeros(1, 4, 4).double(), torch.zeros(1, 14).bool()
        for step, exponent in enumerate((4 / 3, 14 / 9, 46 / 27)):
            last = 4**exponent if batch is None else min(4**exponent, batch ** (2 / 3))
            often = torch.from_numpy(p if batch is None else rng.multinomial(batch, p) / batch)
            lost = one_step.gradient(often * ~known, inputs, outputs)
            memory = memory + one_step.regularised(lost, float(p[0] * last**-1.5 * 2))
            known = one_step.recalled(memory, inputs, outputs)
            assert found[0, step] == known.sum()


def test_items_that_are_all_known_are_stored_no_further() -> None:
    """One of two replicates recalls all three items first."""
    setting = {"dim": 8, "items": 3, "exponent": 1.5, "steps": 6}
    for rule in ("gradient", "spectral"):
        found, missing = one_step.several_steps(generators(5), rule=rule, **setting)  # type: ignore[arg-type]
        done = found == 3
        assert done.any(1).all()
        assert not done[:, 0].all()
        assert torch.equal(done.cummax(1).values, done)
        assert (missing[done] == 0).all()
