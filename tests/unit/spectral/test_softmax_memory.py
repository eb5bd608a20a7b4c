"""A memory under softmax: theory against quadrature, simulation against autograd."""

import itertools
import math
from collections import deque
from unittest.mock import Mock

import pytest
import torch
from scipy import integrate

from simulation.spectral import flows
from simulation.spectral import softmax_memory as memory
from theory.spectral import softmax_memory as theory


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
    like = torch.zeros((), dtype=torch.float64)
    task = memory.Memory.grouped(8, 4, 1.5, 0.2, like)
    matrix = torch.linspace(-1, 1, 64, dtype=torch.float64).reshape(8, 8).cos().requires_grad_()
    (found,) = torch.autograd.grad(task.mean_excess(memory.Weights(matrix)), matrix)
    assert torch.allclose(-found, task.gradient(memory.Weights(matrix)).matrix, atol=1e-14)
    best = memory.Weights(task.labels.log())
    assert torch.allclose(task.excess(best), torch.zeros(8, dtype=torch.float64), atol=1e-14)


def test_muon_comes_to_its_floor_after_as_many_steps_as_stated() -> None:
    task = memory.Memory.grouped(16, 1, 0.0, 0.2, torch.zeros((), dtype=torch.float64))
    rate, end = 0.1, theory.steps_to_floor(16, 0.2, 0.1)
    factor = torch.eye(16, dtype=torch.float64) - 1 / 16
    path = list(memory.steps(task, lambda g: factor * g.diagonal()[0].sign(), rate, 60))
    losses = [float(task.mean_excess(weights)) for weights in path]
    falls = [after < before for before, after in itertools.pairwise(losses)]
    assert all(falls[: math.floor(end)])
    assert not all(falls[: math.ceil(end) + 1])


def test_muon_is_exact_where_a_decomposition_has_many_equal_values() -> None:
    """MKL's is wrong at the 90th of these steps."""
    task = memory.Memory.grouped(154, 1, 0.0, 0.0, torch.zeros((), dtype=torch.float64))
    (end,) = deque(memory.steps(task, flows.polar, 0.1, 92), maxlen=1)
    assert float(task.mean_excess(end)) == pytest.approx(math.log1p(153 * math.exp(-9.2)), rel=1e-9)


def test_muon_goes_on_where_a_decomposition_does_not_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matrices = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.manual_seed(0))
    right = flows.polar(matrices)
    gives_up = Mock(side_effect=torch.linalg.LinAlgError)  # type: ignore[attr-defined]
    monkeypatch.setattr(torch.linalg, "svd", gives_up)
    torch.testing.assert_close(flows.polar(matrices), right)


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="no 3 groups"):
        theory.Memory(16, groups=3)
    with pytest.raises(ValueError, match="share below 1"):
        theory.Memory(16, noise=1.0)
