"""theory.factual.trained_transformer against the numbers of the published figures."""

import pytest

from theory.factual import trained_transformer as tt


def test_reference_line() -> None:
    assert tt.capacity(1536) == pytest.approx(230.4)
    assert tt.capacity(0) == 0


def test_boundary_is_the_drawn_one_at_the_published_size() -> None:
    for x in (1280, 2000, 4000):
        assert tt.traded_capacity(x, 2300 - x / 2) == pytest.approx(1024)
    assert tt.traded_capacity(1280, 10_000) == pytest.approx(1024)
    assert tt.traded_capacity(1279, 10_000) < 1024
    assert tt.traded_capacity(4600, 0) == pytest.approx(1024)


def test_boundary_is_linear_and_the_mlp_alone_stores_nothing() -> None:
    assert tt.traded_capacity(600, 900) * 3 == pytest.approx(tt.traded_capacity(1800, 2700))
    assert tt.traded_capacity(0, 1000) == 0
