"""theory.memory.optimal against projections on the cones, geometry and its own limits."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from tests.unit.draws import unit_vectors
from theory.memory import optimal as theory


def projected(dim: int, count: int, replicates: int) -> tuple[theory.Array, theory.Array]:
    """Squared length of a Gaussian's projection on a tangent cone, and the dimension of its face.

    The latter has the conic intrinsic volumes as its law: they are defined so.
    """
    rng = np.random.default_rng([dim, count])
    squares, faces = np.empty(replicates), np.empty(replicates, dtype=int)
    for index in range(replicates):
        outputs, target = unit_vectors(rng, count, dim), rng.standard_normal(dim)
        weights, distance = optimize.nnls((outputs[1:] - outputs[0]).T, target)
        squares[index] = target @ target - distance**2
        faces[index] = np.count_nonzero(weights)
    return squares, faces


@pytest.mark.parametrize(("dim", "count"), [(2, 5), (4, 9), (8, 24), (16, 65)])
def test_intrinsic_volumes_are_the_law_of_the_face_projected_on(dim: int, count: int) -> None:
    replicates = 4000
    squares, faces = projected(dim, count, replicates)
    volumes = theory._intrinsic_volumes(dim, count)
    assert volumes.sum() == pytest.approx(1)
    observed = np.bincount(faces, minlength=dim + 1)
    common = volumes * replicates > 5
    deviations = (observed - replicates * volumes)[common] / np.sqrt(replicates * volumes[common])
    assert np.abs(deviations).max() < 4.5
    mean = float(np.arange(dim + 1) @ volumes)
    assert abs(squares.mean() - mean) < 4 * stats.sem(squares)


def test_dimension_two_is_plane_geometry() -> None:
    # The angles of a polygon of n corners add up to n/2 - 1 turns, its outer angles to 1.
    assert theory._intrinsic_volumes(2, 7) == pytest.approx([1 / 7, 0.5, 0.5 - 1 / 7])
    assert theory.critical_associations(2) == pytest.approx(4)


def test_angles_of_a_triangle_add_up_to_half_a_turn() -> None:
    for dim in (3, 8, 128):
        assert np.exp(theory._log_internal(dim)[:3]) == pytest.approx([1, 1, 0.5])


def test_saddle_point_line_changes_no_angle() -> None:
    # The same integral on the real line, where it oscillates: good to a few digits for m = 5.
    alpha, m = 6, 5
    x = np.linspace(0, 8, 400_001)
    inner = np.concatenate([[0], np.cumsum(np.cosh(x)[1:] ** alpha + np.cosh(x)[:-1] ** alpha)])
    constant = math.gamma(alpha / 2 + 1) / math.gamma((alpha + 1) / 2) / math.sqrt(math.pi)
    bracket = 0.5 + 1j * constant * inner * (x[1] - x[0]) / 2
    density = np.cosh(x) ** -(alpha * m + 2.0)
    direct = m * np.sum(density * bracket ** (m - 1)).real / density.sum()
    assert np.exp(theory._log_internal(alpha + 2)[m - 1]) == pytest.approx(direct, rel=1e-3)


def test_critical_number_solves_its_equation_and_halves_the_probability() -> None:
    for dim in (4, 8, 16):
        critical = theory.critical_associations(dim)
        volumes = theory._intrinsic_volumes(dim, critical)
        assert critical * np.arange(dim + 1) @ volumes == pytest.approx(dim**2)
        assert theory.separable_probability(dim, math.floor(critical)) > 0.44
        assert theory.separable_probability(dim, math.ceil(critical)) < 0.56


def test_frozen_competitors_cost_pairs() -> None:
    for dim in (8, 32):
        share = theory.frozen_associations(dim) / theory.critical_associations(dim)
        assert 0.6 < share < 0.7
