"""Memory under softmax, also reduced to groups of items and under Muon, compared with quadrature,
autograd and whole matrices.
"""

import itertools
import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from scipy import integrate
from scipy.fft import dct
from torch import Tensor

from simulation.embeddings import unit_vectors
from simulation.spectral import flows
from simulation.spectral import softmax_memory as memory
from simulation.spectral.facts import rotated
from simulation.spectral.singular_values import polar
from simulation.spectral.softmax_groups import Groups
from simulation.spectral.softmax_muon import Muon
from simulation.streams import Streams
from tests.unit.draws import end, generators
from theory.spectral import softmax_memory as theory

LIKE = torch.zeros((), dtype=torch.float64)
MEMORY = memory.Memory.grouped(8, 4, 1.5, 0.1, LIKE)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_time_to_a_lead_is_the_integral_over_its_speed(noise: float) -> None:
    task = theory.Memory(12, groups=3, power=1.5, noise=noise)
    for group, time in ((1, 4.0), (3, 90.0)):
        lead = theory.gradient_lead(task, group, time)
        rate = task.frequencies[group - 1] * 12 / 11

        def slowness(q: float, rate: float = rate) -> float:
            return 1 / (rate * (task.own - math.exp(q) / (math.exp(q) + 11)))

        assert integrate.quad(slowness, 0, lead)[0] == pytest.approx(time, rel=1e-9)
    assert 4 * task.frequencies.sum() == pytest.approx(1)
    assert theory.gradient_lead(task, 1, 1e9) <= task.end


def test_the_gradient_is_that_of_the_mean_cross_entropy() -> None:
    task = memory.Memory.grouped(8, 4, 1.5, 0.2, LIKE)
    matrix = torch.linspace(-1, 1, 64, dtype=torch.float64).reshape(8, 8).cos().requires_grad_()
    (found,) = torch.autograd.grad(task.mean_excess(memory.Weights(matrix)), matrix)
    assert torch.allclose(-found, task.gradient(memory.Weights(matrix)).matrix, atol=1e-14)
    best = memory.Weights(task.labels.log())
    assert torch.allclose(task.excess(best), torch.zeros(8, dtype=torch.float64), atol=1e-14)


def test_muon_comes_to_its_floor_after_as_many_steps_as_stated() -> None:
    task = memory.Memory.grouped(16, 1, 0.0, 0.2, LIKE)
    rate, floor = 0.1, theory.steps_to_floor(16, 0.2, 0.1)
    factor = torch.eye(16, dtype=torch.float64) - 1 / 16
    path = list(memory.steps(task, lambda g: factor * g.diagonal()[0].sign(), rate, 60))
    losses = [float(task.mean_excess(weights)) for weights in path]
    falls = [after < before for before, after in itertools.pairwise(losses)]
    assert all(falls[: math.floor(floor)])
    assert not all(falls[: math.ceil(floor) + 1])
    assert theory.spectral_floor(16, 0.0, rate) == 0.0


def test_muon_is_exact_where_a_decomposition_has_many_equal_values() -> None:
    """MKL's decomposition may be wrong at the 90th of these steps."""
    task = memory.Memory.grouped(154, 1, 0.0, 0.0, LIKE)
    last = end(memory.steps(task, polar, 0.1, 92))
    assert float(task.mean_excess(last)) == pytest.approx(
        math.log1p(153 * math.exp(-9.2)), rel=1e-9
    )


def test_muon_goes_on_where_a_decomposition_does_not_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matrices = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.manual_seed(0))
    right = polar(matrices)
    gives_up = Mock(side_effect=torch.linalg.LinAlgError)  # type: ignore[attr-defined]
    monkeypatch.setattr(torch.linalg, "svd", gives_up)
    torch.testing.assert_close(polar(matrices), right)


@pytest.mark.parametrize(("items", "groups", "power"), [(24, 1, 0.0), (24, 4, 1.5), (24, 12, 3.0)])
def test_groups_do_under_muon_as_their_items(items: int, groups: int, power: float) -> None:
    whole = memory.Memory.grouped(items, groups, power, 0.2, LIKE)
    few = Groups.of(items, groups, power, 0.2, LIKE, apart=True)
    one = memory.steps(whole, polar, 0.3, 25)
    for here, there in zip(one, memory.steps(few, few.polar, 0.3, 25), strict=True):
        table, size = there.matrix, items // groups
        assert float(few.mean_excess(there)) == pytest.approx(float(whole.mean_excess(here)))
        blocks = table[1:].repeat_interleave(size, 0).repeat_interleave(size, 1)
        blocks.diagonal().copy_(table[0].repeat_interleave(size))
        assert torch.allclose(blocks, here.matrix, atol=1e-9)


@pytest.mark.parametrize(("groups", "apart"), [(4, True), (4, False), (24, False)])
def test_groups_do_under_gradient_flow_as_their_items(groups: int, apart: bool) -> None:
    whole = memory.Memory.grouped(24, groups, 1.5, 0.1, LIKE)
    few = Groups.of(24, groups, 1.5, 0.1, LIKE, apart=apart)
    clock = flows.clock(200.0, 40)
    one = end(flows.flow(whole, whole.start(), "gradient", clock))
    other = end(flows.flow(few, few.start(), "gradient", clock))
    assert float(few.mean_excess(other)) == pytest.approx(float(whole.mean_excess(one)), rel=1e-12)


def test_steps_of_the_logarithm_itself_stop_short_whatever_their_number() -> None:
    task = Groups.of(100_000, 1, 0.0, 0.2, LIKE, apart=True)
    short = theory.Memory(100_000, noise=0.2).excess(math.log(100_000))
    assert short == pytest.approx(0.1927, abs=1e-4)
    for count in (16, 64):
        rate = math.log(100_000) / count
        last = end(memory.steps(task, task.polar, rate, count))
        assert float(task.mean_excess(last)) == pytest.approx(short)


def test_signs_in_a_basis_with_the_constant_vector_are_muon_s() -> None:
    task = memory.Memory.grouped(16, 1, 0.0, 0.0, LIKE)
    cosines = torch.from_numpy(dct(np.eye(16), norm="ortho", axis=0))
    signs = memory.in_basis(flows.sign, cosines)(task.gradient(task.start()).matrix)
    assert torch.allclose(signs, polar(task.gradient(task.start()).matrix))


def test_signs_move_scores_further_in_two_bases_than_in_one() -> None:
    """A sign step in a basis that queries and answers share moves the mean lead by less than 2,
    by Cauchy's inequality. A sign step in two different bases moves the mean lead by about
    sqrt(2 K/pi): 6.4 for K = 64 items.
    """
    task, streams = memory.Memory.grouped(64, 1, 0.0, 0.0, LIKE), Streams(generators(8))
    answers, queries = rotated(streams, 64), rotated(streams, 64)
    first = task.gradient(task.start()).matrix
    one = memory.leads(memory.in_basis(flows.sign, answers)(first)).mean(1)
    two = memory.leads(memory.in_bases(flows.sign, answers, queries)(first)).mean(1)
    assert bool((one < 2).all() and (two > 6).all())


def test_embeddings_need_no_more_coordinates_than_there_are_items() -> None:
    streams = Streams(generators(1))
    queries, answers = (unit_vectors(streams, 8, 20)[0] for _ in range(2))
    weights = torch.zeros(20, 20, dtype=torch.float64)
    for _ in range(12):
        scores = memory.Weights(answers @ weights @ queries.mT)
        weights += 0.1 * polar(answers.mT @ MEMORY.gradient(scores).matrix @ queries)
    expected = MEMORY.mean_excess(memory.Weights(answers @ weights @ queries.mT))
    found = Muon(dim=20).excess(MEMORY, generators(1), rate=0.1, count=12)
    torch.testing.assert_close(found, expected[None])


def _handed(**options: Any) -> Tensor:
    """Return the matrices that Muon passes to its rule in three steps at a learning rate of 0.

    Their shape is (steps, replicates, items, items).
    """
    given: list[Tensor] = []

    def rule(mean: Tensor) -> Tensor:
        given.append(mean)
        return mean

    Muon(rule, **options).excess(MEMORY, generators(2), rate=0.0, count=3)
    return torch.stack(given)


def test_momentum_takes_the_mean_of_the_gradients_from_zero() -> None:
    weights = 1 - 0.75 ** torch.arange(1, 4, dtype=torch.float64)[:, None, None, None]
    torch.testing.assert_close(_handed(momentum=0.75), weights * _handed())


def test_a_batch_weighs_its_items_by_how_often_they_were_drawn() -> None:
    shares = _handed(batch=4000) / (MEMORY.labels - 1 / 8)
    torch.testing.assert_close(shares, shares[..., :1, :].expand_as(shares))
    often = shares[..., 0, :] * 4000
    torch.testing.assert_close(often, often.round())
    assert torch.equal(often.round().sum(-1), torch.full((3, 2), 4000.0, dtype=torch.float64))
    assert not torch.equal(often[0], often[1])
