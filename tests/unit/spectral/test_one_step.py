"""One step: theory by limits and random matrices, simulation by autograd, scipy and loops."""

import math
from unittest.mock import Mock, patch

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy import linalg, special, stats

from simulation.spectral import one_step
from simulation.streams import Streams
from tests.unit.draws import generators
from theory.spectral import one_step as theory
from theory.spectral import resolvent, several_steps

Floats = npt.NDArray[np.float64]
ALONG = theory._ALONG.size
"""Number of rows in a call of `ndtr` for a single item; calls for a table have another number."""


def weights(items: int, exponent: float = 1.5) -> Floats:
    p = np.arange(1.0, items + 1) ** -exponent
    return np.asarray(p / p.sum())


def hits(memory: Floats, inputs: Floats, outputs: Floats) -> list[int]:
    """List the items whose own output has the highest score."""
    best = (outputs @ memory @ inputs.T).argmax(0)
    return [item for item, answer in enumerate(best) if item == answer]


def test_resolvent_is_that_of_a_random_matrix() -> None:
    dim, items = 300, 4800
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
    p = weights(items, 1.5)
    values = np.linalg.svd((u * p[:, None]).T @ v, compute_uv=False)
    w, number = resolvent.Items.of(dim, items, 1.5).pooled()
    found = resolvent.Nodes.of(w, number, dim, count=96)
    # Far from t = 0 and from the largest singular values, so that fluctuations are small.
    for m in found.m[5:60:6]:
        rank = float(number @ ((w * m) ** 2 / (1 + (w * m) ** 2))) / dim
        t = (1 - rank) / m
        assert m == pytest.approx(float((t / (values**2 + t**2)).mean()), rel=0.02)


def memory(dim: int, items: int, exponent: float) -> tuple[np.ndarray, resolvent.Scores]:
    """Return the weights of items, and the scores of the polar factor."""
    w, number = resolvent.Items.of(dim, items, exponent).pooled()
    nodes = resolvent.Nodes.of(w, number, dim, count=96)
    return w, resolvent.Memory.of([nodes], w, [[number]], dim).scores(w[:, None])


def test_a_polar_factor_is_orthogonal() -> None:
    # Whatever the item, a rare competitor's score has the variance 1/d.
    w, found = memory(64, 1024, 2.0)
    signal, own, rivals = found.signal, found.own, found.rivals
    np.testing.assert_allclose(rivals, 1, atol=1e-3)
    assert signal[0] == pytest.approx(1, abs=0.01)
    assert signal[-1] / signal[-2] == pytest.approx(w[-1] / w[-2], rel=1e-3)
    assert own[-1] == pytest.approx(1, abs=1e-2)


def test_own_scores_have_the_mean_and_variance() -> None:
    dim, items, replicates = 40, 400, 300
    p = weights(items, 1.5)
    scores, compared = np.empty((2, replicates, items))
    for r in range(replicates):
        rng = np.random.default_rng([1, r])
        u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
        factor = linalg.polar((u * p[:, None]).T @ v)[0]
        scores[r] = np.einsum("id,de,ie->i", u, factor, v)
        compared[r] = scores[r] / np.linalg.norm(v, axis=1)
    _, found = memory(dim, items, 1.5)
    signal, own = found.signal, found.own
    for few in (slice(2, 12), slice(12, 24), slice(24, 40)):
        mean = scores[:, few].mean(1)
        assert abs(mean.mean() - signal[few].mean()) < 4 * stats.sem(mean) + 1 / dim
        variance = dim * float(compared[:, few].var(0, ddof=1).mean())
        error = math.sqrt(2 / (replicates * (few.stop - few.start)))
        assert variance == pytest.approx(float(own[few].mean()), rel=4 * error + 1 / dim)


def counts(
    step: str, dim: int, items: int, exponent: float, batch: int | None, replicates: int
) -> np.ndarray:
    """Count the items that memories in plain numpy recall: a number per replicate."""
    p, found = weights(items, exponent), np.empty(replicates)
    for r in range(replicates):
        rng = np.random.default_rng([2, r])
        u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
        w = p if batch is None else rng.multinomial(batch, p) / batch
        centred = u - u.mean(0)
        memory = (centred * w[:, None]).T @ v
        if step == "spectral":
            left, values, right = np.linalg.svd(memory)
            memory = left * (values > 1e-10 * values[0]) @ right
        if step == "newton":
            moment = (v * w[:, None]).T @ v
            memory = np.linalg.inv(centred.T @ centred / items) @ memory @ np.linalg.inv(moment)
        found[r] = len(hits(memory, v, u))
    return found


@pytest.mark.parametrize(
    ("step", "dim", "items", "exponent", "batch", "replicates"),
    [
        # Each of many competitors overlaps with the item itself.
        ("gradient", 12, 1600, 1.25, None, 250),
        ("gradient", 12, 1600, 1.25, 16, 250),
        # By chance, items are recalled that are not in the batch.
        ("spectral", 16, 64, 3.0, 8, 1500),
        # Noise and signal differ from input to input.
        ("newton", 24, 96, 2.0, None, 400),
    ],
)
def test_numbers_are_those_of_memories(
    step: str, dim: int, items: int, exponent: float, batch: int | None, replicates: int
) -> None:
    sizes = (dim, items, exponent) if step == "newton" else (dim, items, exponent, batch)
    found = counts(step, dim, items, exponent, batch, replicates)
    expected = getattr(theory, f"recalled_{step}")(*sizes)
    assert found.mean() == pytest.approx(expected, abs=5 * float(stats.sem(found)))


@pytest.mark.parametrize("exponent", [1.5, 2.0])
def test_gradient_step_tends_to_its_constant(exponent: float) -> None:
    dim = 10**6
    count = theory.recalled_gradient(dim, 2 * dim, exponent)
    limit = theory.gradient_constant(exponent) * dim ** theory.gradient_exponent(exponent)
    assert count == pytest.approx(limit, rel=0.03)


def test_published_rank_of_two_steps_by_hand() -> None:
    assert several_steps.last_rank(256, 2.0, 2) == pytest.approx(256 ** (2 - 3 / 4 * 3 / 4))


def test_counts_of_rare_items_are_binomial() -> None:
    found, chances = resolvent._counts(40, 0.07)
    assert chances == pytest.approx(stats.binom.pmf(found, 40, 0.07), rel=1e-4)


def test_many_samples_are_the_population() -> None:
    for law in (theory.recalled_gradient, theory.recalled_spectral):
        assert law(32, 512, 2.0, 10**8) == pytest.approx(law(32, 512, 2.0), rel=2e-3)


def test_critical_batch_recalls_half() -> None:
    batch = theory.critical_batch(48, 768, 2.0)
    found = theory.recalled_spectral(48, 768, 2.0, round(batch))
    assert found == pytest.approx(theory.recalled_spectral(48, 768, 2.0) / 2, rel=0.02)


def test_items_of_one_count_share_what_follows_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out = Mock(wraps=special.ndtr)
    monkeypatch.setattr(special, "ndtr", worked_out)
    found = resolvent.Items.of(33, 801, 1.5, 50)
    theory.recalled_gradient(33, 801, 1.5, 50)
    tables = [call for call in worked_out.call_args_list if len(call.args[0]) != ALONG]
    assert 0 < len(tables) < sum(map(len, found.weights)) / 2


def drawn(seed: int, items: int, dim: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    tables = rng.standard_normal((2, items, dim))
    p = torch.from_numpy(one_step.frequencies(items, 1.5))
    return p[None], torch.from_numpy(tables[:1]), torch.from_numpy(tables[1:])


def replicate(rng: np.random.Generator, items: int) -> tuple[torch.Tensor, torch.Tensor, Floats]:
    """Draw inputs and outputs (1, items, 4) as simulations do, with the items' frequencies."""
    one = Streams([rng])
    inputs, outputs = (one.normal(items, 4) / 2 for _ in range(2))
    return inputs, outputs, weights(items)


def loss(
    memory: torch.Tensor, p: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    scores = inputs @ memory.mT @ outputs.mT
    return -(p * torch.log_softmax(scores, 2).diagonal(dim1=1, dim2=2)).sum()


def step_of(rule: str, weights: Floats, inputs: Floats, outputs: Floats) -> Floats:
    """Compute minus the gradient by a loop over items, or scipy's polar factor of this matrix."""
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
    """An item's own output is compared with the first `first` outputs.

    Only if its score is above theirs is it compared with all outputs. Replicates differ in which of
    their items are recalled, and in how many.
    """
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
        *tables, p = replicate(rng, 12)
        inputs, outputs = (table[0].numpy() for table in tables)
        if batch is not None:
            p = rng.multinomial(batch, p) / batch
        for kind in kinds:
            expected = hits(step_of(kind, p, inputs, outputs), inputs, outputs)
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
        *tables, p = replicate(rng, 14)
        inputs, outputs = (table[0].numpy() for table in tables)
        memory: Floats = np.zeros((4, 4))
        known: list[int] = []
        for step in range(4):
            left = np.array([0.0 if i in known else w for i, w in enumerate(p)])
            taken = step_of(rule, left, inputs, outputs)
            memory = memory + taken / np.linalg.norm(taken, 2)
            known = hits(memory, inputs, outputs)
            assert found[r, step] == len(known)
            assert missing[r, step] == pytest.approx(1 - p[known].sum())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_regularised_factor_is_that_of_singular_values(dtype: torch.dtype) -> None:
    """A matrix times its transpose, in float32, would lose singular values below 2e-4 of the
    largest."""
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
    """The figures after the second step depend on the length of the first step."""
    setting = {"dim": 4, "items": 14, "exponent": 1.5, "steps": 2, "rule": "regularised"}
    found, _ = one_step.several_steps(generators(8), rate=3.0, **setting)  # type: ignore[arg-type]
    for r, rng in enumerate(generators(8)):
        inputs, outputs, frequencies = replicate(rng, 14)
        p = torch.from_numpy(frequencies)
        memory = torch.zeros(1, 4, 4).double()
        for step, exponent in enumerate((4 / 3, 14 / 9)):
            lost = one_step.softmax_gradient(memory, p, inputs, outputs)
            memory += 6 * one_step.regularised(lost, float(p[0] * 4 ** (-1.5 * exponent) * 2))
            assert found[r, step] == one_step.recalled(memory, inputs, outputs).sum()


def test_regularised_steps_have_the_published_schedule_and_batches_of_their_own() -> None:
    setting = {"dim": 4, "items": 14, "exponent": 1.5, "steps": 3, "rule": "regularised"}
    for batch in (None, 6, 600):  # 600 draws have the first item more often than a byte counts
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
    """Every replicate comes to recall all three items, but some replicates need several steps."""
    setting = {"dim": 8, "items": 3, "exponent": 1.5, "steps": 6}
    for rule in ("gradient", "spectral"):
        found, missing = one_step.several_steps(generators(5), rule=rule, **setting)  # type: ignore[arg-type]
        done = found == 3
        assert done.any(1).all()
        assert not done[:, 0].all()
        assert torch.equal(done.cummax(1).values, done)
        assert (missing[done] == 0).all()
