"""Listwise memories: reported numbers, projections, linear programming, differences."""

import math

import numpy as np
import pytest
import torch
from scipy import optimize, stats
from statsmodels.tools import numdiff

from recall_claims.evidence.block import replicate_generators
from simulation.memory import listwise, optimal
from tests.unit.draws import generators, pairs_of_numpy, pcg
from theory.memory import listwise as theory


@pytest.mark.parametrize(("share", "load"), [(0.5, 0.6577), (0.1, 0.2458), (0.01, 0.1234)])
def test_reported_loads(share: float, load: float) -> None:
    assert theory.critical_load(share) == pytest.approx(load, abs=5e-5)


def test_distances_are_those_of_projections() -> None:
    dim, share, count = 6, 0.3, 40000
    rng = np.random.default_rng(1)
    unit = rng.standard_normal((count, dim))
    first = np.sort(unit[:, 0] / np.linalg.norm(unit, axis=1))
    cosine = first[-round(share * count) :].mean()
    g = rng.standard_normal((count, dim))
    along, across = g[:, 0], np.linalg.norm(g[:, 1:], axis=1)
    # Outside the cone, the projection is on its edge, of direction (cos, sin), or at its tip.
    onto = np.maximum(along * cosine + across * math.sqrt(1 - cosine**2), 0)
    inside = along >= cosine * np.hypot(along, across)
    square = np.where(inside, 0, along**2 + across**2 - onto**2)
    expected = dim**2 / square.mean()
    error = expected * (stats.sem(square) / square.mean() + 0.01)
    assert abs(theory.critical_associations(dim, share) - expected) < 4 * error


def possible(pairs: optimal.Pairs, replicate: int, share: float) -> bool:
    """Check by a linear programme whether a bounded matrix has a positive least margin.

    Variables are the matrix, a level t_i and the excesses x_ij of every pair i, and the least
    margin. The average of the m largest scores is the minimum over t of t + (sum of excesses over
    t) / m.
    """
    e, u = pairs.inputs[replicate].numpy(), pairs.outputs[replicate].numpy()
    count, dim = e.shape
    top = listwise.competitors(count, share)
    square = dim**2
    size = square + count + count**2 + 1
    rows, least = [], np.zeros(size)
    least[-1] = 1
    for i in range(count):
        margin = least.copy()
        margin[:square] -= np.outer(u[i], e[i]).ravel()
        margin[square + i] = 1
        for j in range(count):
            if j != i:
                excess = square + count + count * i + j
                margin[excess] = 1 / top
                over = np.zeros(size)
                over[:square] = np.outer(u[j], e[i]).ravel()
                over[square + i] = over[excess] = -1
                rows.append(over)
        rows.append(margin)
    bounds = [(-1, 1)] * square + [(None, None)] * count + [(0, None)] * count**2 + [(None, 1)]
    found = optimize.linprog(-least, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds)
    return bool(-found.fun > 1e-7)


@pytest.mark.parametrize(("dim", "associations", "share"), [(3, 7, 0.3), (3, 9, 0.6), (4, 13, 0.4)])
def test_feasibility_is_that_of_the_linear_programme(
    dim: int, associations: int, share: float
) -> None:
    pairs = optimal.draw(generators(16), dim=dim, associations=associations)
    expected = [possible(pairs, r, share) for r in range(16)]
    assert listwise.feasible(pairs, share).tolist() == expected
    assert len(set(expected)) == 2, "the case should tell the methods apart"


def test_newton_step_is_that_of_the_differentiated_loss() -> None:
    pairs = optimal.draw(generators(1), dim=3, associations=12)
    memory = torch.from_numpy(np.random.default_rng(1).standard_normal((1, 3, 3)))
    hessian, gradient, _ = listwise._curvature(pairs, optimal.scores(pairs, memory), 4)
    none = torch.zeros(1).double()
    step, _ = optimal.damped_step(hessian, gradient, none + math.inf, none)

    def loss(flat: np.ndarray) -> float:
        given = torch.from_numpy(flat.reshape(1, 3, 3))
        return float(listwise._loss(optimal.scores(pairs, given), 4))

    flat = memory.numpy().ravel()
    slope = numdiff.approx_fprime(flat, loss, epsilon=1e-4, centered=True)
    bend = numdiff.approx_hess(flat, loss, epsilon=1e-4)
    np.testing.assert_allclose(step.numpy().ravel(), -np.linalg.solve(bend, slope), rtol=1e-3)


def test_levels_are_found_where_newtons_method_goes_round_in_a_circle() -> None:
    # Of these 70 pairs one has scores at which Newton's steps for the level never settle.
    cell = "associations=70,dim=8,share=0.75"
    rngs = replicate_generators(0, "C.listwise-capacity", "85dddde3e4f9d21c", cell, 0, range(3))
    pairs = pairs_of_numpy(pcg(rngs[2:]), dim=8, associations=70)
    assert not listwise.feasible(pairs, 0.75)
