"""One step on classes of unequal frequency: decompositions, plain numpy and values by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from simulation.spectral import flows, singular_values
from simulation.spectral import softmax_memory as memory
from simulation.spectral.facts import rotated
from simulation.streams import Streams
from tests.unit.draws import generators
from theory.spectral import tail_classes as theory

LIKE = torch.zeros((), dtype=torch.float64)
GROUPED = st.tuples(
    st.sampled_from([(2, 2), (4, 4), (12, 3), (12, 12), (16, 2), (20, 5)]),
    st.floats(0, 3),
)


def first_gradient(items: int, groups: int, power: float) -> torch.Tensor:
    task = memory.Memory.grouped(items, groups, power, 0.0, LIKE)
    return task.gradient(task.start()).matrix


def bases(items: int, count: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    streams = Streams(generators(count), "cpu", torch.float64)
    return rotated(streams, items), rotated(streams, items)


@settings(max_examples=30, deadline=None)
@given(GROUPED)
def test_muon_gives_the_predicted_leads_between_their_bounds_in_all_bases(
    drawn: tuple[tuple[int, int], float],
) -> None:
    (items, groups), power = drawn
    gradient = first_gradient(items, groups, power)
    step = memory.in_bases(singular_values.polar, *bases(items))(gradient)
    found = memory.leads(step)
    assert torch.allclose(step, singular_values.polar(gradient), atol=1e-9)
    for group in range(1, groups + 1):
        lead = theory.muon_lead(items, groups, power, group)
        size = items // groups
        of_group = found[:, (group - 1) * size : group * size]
        assert torch.allclose(of_group, torch.full_like(of_group, lead), atol=1e-8)
        as_rare = size * (groups - group + 1) if power else items
        most = items / (items - 1)
        assert most * (1 - 1 / as_rare) - 1e-9 <= lead < most


@pytest.mark.parametrize(("items", "groups", "power"), [(4, 4, 1.0), (12, 3, 2.0), (8, 1, 0.0)])
def test_adam_gives_the_predicted_leads_on_average(items: int, groups: int, power: float) -> None:
    gradient = first_gradient(items, groups, power)
    found = memory.leads(memory.in_bases(flows.sign, *bases(items, 4000))(gradient)).numpy()
    size = items // groups
    for group in range(1, groups + 1):
        values = found[:, (group - 1) * size : group * size].mean(1)
        lead = theory.adam_lead(items, groups, power, group)
        assert abs(values.mean() - lead) < 4.5 * stats.sem(values)


def gap(items: int, imbalance: float, error: float) -> float:
    """Compute the gap in log odds by plain numpy, after a step whose size a root finder gives."""
    frequencies = np.repeat([1.0, imbalance], items // 2)
    left, _, right = np.linalg.svd((np.eye(items) - 1 / items) * frequencies)
    factor = left[:, :-1] @ right[:-1]

    def odds(size: float) -> np.ndarray:
        powers = np.exp(size * (factor - factor.diagonal()))
        return np.asarray(np.log(powers.sum(0) - 1))

    wanted = math.log(error / (1 - error))
    size = optimize.brentq(lambda size: odds(size).min() - wanted, 0.0, 20.0)
    return float(odds(size).max() - wanted)


@pytest.mark.parametrize("imbalance", [0.02, 0.5])
@pytest.mark.parametrize(("items", "error"), [(128, 0.01), (256, 0.2)])
def test_the_worst_class_is_behind_by_the_gap(items: int, imbalance: float, error: float) -> None:
    predicted = theory.muon_gap(items, imbalance, error)
    exact = gap(items, imbalance, error)
    # The end of tail_classes.md: with a step of size s and K items, the next order adds at most
    # 0.3 s / K of the gap. With other terms of order 1 / K this is at most 2.6%.
    assert predicted < exact < 1.026 * predicted
    matrix = singular_values.polar(first_gradient(items, 2, -math.log2(imbalance)))
    found = memory.worst_gap(matrix[None], error)
    assert found.tolist() == pytest.approx([exact], rel=1e-6)
    assert theory.muon_gap(items, 1.0, error) == 0


def test_gap_of_two_classes_and_of_gradient_descent_by_hand() -> None:
    leads = torch.tensor([[[2.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    # The step of log 9 / 2 leaves the first class an error of 1/10, the second one of 1/4.
    assert memory.worst_gap(leads, 0.1).tolist() == pytest.approx([math.log(9) - math.log(3)])
    descent = memory.worst_gap(first_gradient(8, 2, 2.0), 0.1)
    assert float(descent) == pytest.approx(0.75 * math.log(7 * 9))


def test_adams_steps_are_those_of_plain_numpy_for_each_replicate() -> None:
    task = memory.Memory.grouped(4, 2, 1.0, 0.0, LIKE)
    answers, queries = bases(4)
    found = memory.adam_steps(task, answers, queries, rate=0.3, count=4).matrix
    first = memory.in_bases(flows.sign, answers, queries)(task.gradient(task.start()).matrix)
    moved = memory.adam_steps(task, answers, queries, rate=0.3, count=1).matrix
    # Adam adds 1e-8 to a gradient's size, less than a thousandth of the least entries here.
    torch.testing.assert_close(moved, 0.3 * first, atol=1e-3, rtol=1e-3)
    frequencies = task.frequencies.numpy()
    for u, v, matrix in zip(answers.numpy(), queries.numpy(), found.numpy(), strict=True):
        weights, mean, square = np.zeros((3, 4, 4))
        for step in range(1, 5):
            scores = np.exp(u.T @ weights @ v)
            gradient = u @ ((np.eye(4) - scores / scores.sum(0)) * frequencies) @ v.T
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            weights = weights + 0.3 * mean / (1 - 0.9**step) / root
        np.testing.assert_allclose(matrix, u.T @ weights @ v, atol=1e-9)
