"""theory.factual.constructions against exact geometry, plain draws and limits."""

import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.unit.draws import unit_vectors
from theory.factual import compressed_draws, hulls
from theory.factual import constructions as theory


@pytest.mark.parametrize(("points", "dim"), [(2, 5), (4, 9), (6, 40)])
def test_distance_to_the_hull_has_its_law(points: int, dim: int) -> None:
    rows = unit_vectors(np.random.default_rng(0), 4000, points, dim)
    lengths = np.linalg.solve(rows @ rows.mT, np.ones((4000, points, 1))).sum((1, 2))
    found = np.quantile(1 / np.sqrt(lengths), (0.1, 0.5, 0.9))
    nodes = hulls.hull(points, dim)
    assert np.quantile(nodes, (0.1, 0.5, 0.9)) == pytest.approx(found, rel=0.05)
    assert np.mean(nodes**2) == pytest.approx(
        (dim - points + 1) / (points * (dim - 2) + 2), rel=0.01
    )


def test_guessing_has_its_limits() -> None:
    assert theory.guess_by_relation(1, 7) == pytest.approx(1)
    assert theory.guess_by_relation(9, 1) == pytest.approx(1)
    assert theory.guess_by_relation(2, 4) == pytest.approx((1 + 1 / 4) / 2)
    counts = np.random.default_rng(0).multinomial(30, [0.2] * 5, size=50_000)
    assert theory.guess_by_relation(30, 5) == pytest.approx(counts.max(1).mean() / 30, rel=3e-3)


def test_focus_has_its_limits() -> None:
    firm = theory.focus(512, 256, 2, margin=0.85, scale=100.0)
    assert firm == pytest.approx(1, abs=1e-3)
    uniform = theory.focus(10, 10**9, 1, margin=0.5, scale=1e-9)
    assert uniform == pytest.approx(1 / 10), "no scale, no preference"


def test_compression_has_its_limits() -> None:
    sizes = {"subjects": 32, "relations": 32, "answers": 8, "dim": 256, "group": 16}
    shape: dict[str, Any] = {**sizes, "frequency": 6.0}
    assert theory.compressed_accuracy(**shape, width=10**6, head_dim=64) == 1
    assert math.isinf(theory.compressed_width(**shape, head_dim=2, target=0.95))


def test_a_search_for_a_width_draws_its_facts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Mock(wraps=np.random.default_rng)
    monkeypatch.setattr(np.random, "default_rng", drawn)
    compressed_draws.narrow.cache_clear()
    theory.compressed_width(12, 9, 4, 30, group=3, head_dim=2, frequency=0.9, target=0.6)
    assert drawn.call_count == 1
