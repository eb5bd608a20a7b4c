"""simulation.spectral.softmax_groups against whole matrices of the same items."""

import math
from collections import deque

import numpy as np
import pytest
import torch
from scipy.fft import dct

from simulation.spectral import flows
from simulation.spectral import softmax_memory as memory
from simulation.spectral.softmax_groups import Groups
from theory.spectral import softmax_memory as theory

LIKE = torch.zeros((), dtype=torch.float64)


@pytest.mark.parametrize(("items", "groups", "power"), [(24, 1, 0.0), (24, 4, 1.5), (24, 12, 3.0)])
def test_groups_do_under_muon_as_their_items(items: int, groups: int, power: float) -> None:
    whole = memory.Memory.grouped(items, groups, power, 0.2, LIKE)
    few = Groups.of(items, groups, power, 0.2, LIKE, apart=True)
    one = memory.steps(whole, flows.polar, 0.3, 25)
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
    (one,) = deque(flows.flow(whole, whole.start(), "gradient", clock), maxlen=1)
    (other,) = deque(flows.flow(few, few.start(), "gradient", clock), maxlen=1)
    assert float(few.mean_excess(other)) == pytest.approx(float(whole.mean_excess(one)), rel=1e-12)


@pytest.mark.parametrize(("groups", "apart"), [(5, False), (24, True)])
def test_groups_that_have_no_such_table_are_refused(groups: int, apart: bool) -> None:
    with pytest.raises(ValueError, match=f"24 items make no {groups} groups"):
        Groups.of(24, groups, 1.0, 0.0, LIKE, apart=apart)


@pytest.mark.parametrize(("groups", "power"), [(2, 1.0), (4, 1.5), (16, 3.0)])
def test_muon_moves_entries_by_less_than_two_over_the_size_of_a_group(
    groups: int, power: float
) -> None:
    """And the mean lead of a group's items grows as its entry of the groups' polar factor says."""
    items, size = 4 * groups, 4
    task = memory.Memory.grouped(items, groups, power, 0.0, LIKE)
    factor = flows.polar(task.gradient(task.start()).matrix)
    assert (factor - torch.eye(items).to(factor)).abs().max() <= 2 / size
    frequencies = torch.arange(1, groups + 1, dtype=torch.float64) ** -power
    between = flows.polar((torch.eye(groups) - 1 / groups).to(LIKE) * frequencies)
    own = factor.diagonal()
    lead = own - (factor.sum(0) - own) / (items - 1)
    expected = items / (items - 1) * (1 + (between.diagonal() - 1) / size)
    assert torch.allclose(lead, expected.repeat_interleave(size), atol=1e-9)


def test_steps_of_the_logarithm_itself_stop_short_whatever_their_number() -> None:
    task = Groups.of(100_000, 1, 0.0, 0.2, LIKE, apart=True)
    short = theory.Memory(100_000, noise=0.2).excess(math.log(100_000))
    assert short == pytest.approx(0.1927, abs=1e-4)
    for count in (16, 64):
        rate = math.log(100_000) / count
        (end,) = deque(memory.steps(task, task.polar, rate, count), maxlen=1)
        assert float(task.mean_excess(end)) == pytest.approx(short)


def test_signs_in_a_basis_with_the_constant_vector_are_muon_s() -> None:
    task = memory.Memory.grouped(16, 1, 0.0, 0.0, LIKE)
    cosines = torch.from_numpy(dct(np.eye(16), norm="ortho", axis=0))
    signs = memory.in_basis(flows.sign, cosines)(task.gradient(task.start()).matrix)
    assert torch.allclose(signs, flows.polar(task.gradient(task.start()).matrix))
