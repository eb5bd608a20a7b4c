"""theory.memory.listwise against reported numbers, limits and projections of random vectors."""

import math

import numpy as np
import pytest
from scipy import stats

from theory.memory import listwise


@pytest.mark.parametrize(("share", "load"), [(0.5, 0.6577), (0.1, 0.2458), (0.01, 0.1234)])
def test_reported_loads(share: float, load: float) -> None:
    assert listwise.critical_load(share) == pytest.approx(load, abs=5e-5)


def test_limits_of_the_load() -> None:
    assert listwise.critical_load(1 - 1e-9) == pytest.approx(2, rel=1e-3)  # Cover
    small = listwise.critical_load(1e-12) * 2 * math.log(1e12)
    assert small == pytest.approx(1, rel=0.15)


def test_large_dimensions_have_the_load() -> None:
    for share in (0.03, 0.25, 0.75, 0.95):
        found = listwise.critical_associations(1000, share) / 1000**2
        assert found == pytest.approx(listwise.critical_load(share), rel=3e-3)


def test_distances_are_those_of_projections() -> None:
    dim, share, count = 6, 0.3, 40000
    rng = np.random.default_rng(1)
    unit = rng.standard_normal((count, dim))
    first = np.sort(unit[:, 0] / np.linalg.norm(unit, axis=1))
    cosine = first[-round(share * count) :].mean()
    g = rng.standard_normal((count, dim))
    along, across = g[:, 0], np.linalg.norm(g[:, 1:], axis=1)
    # On the cone's edge, of direction (cos, sin), or at its tip.
    onto = np.maximum(along * cosine + across * math.sqrt(1 - cosine**2), 0)
    inside = along >= cosine * np.hypot(along, across)
    square = np.where(inside, 0, along**2 + across**2 - onto**2)
    expected = dim**2 / square.mean()
    error = expected * (stats.sem(square) / square.mean() + 0.01)
    assert abs(listwise.critical_associations(dim, share) - expected) < 4 * error
