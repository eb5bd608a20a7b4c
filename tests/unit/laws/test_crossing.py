"""theory/laws/crossing.py: known roots, and what a bracket without one gives."""

import math

import numpy as np
import pytest

from theory.laws import crossing


@pytest.mark.parametrize("sign", [1, -1])
def test_root_of_rising_and_falling_functions(sign: int) -> None:
    def cube(x: float) -> float:
        return sign * x**3

    assert crossing.root(cube, 0, 5, level=sign * 8) == pytest.approx(2)
    assert crossing.root(cube, 0, 5, level=sign * 126) == math.inf
    assert crossing.root(cube, 1, 5, level=0) == -math.inf
    assert crossing.log_root(cube, 1, 5, level=sign * 8, tolerance=1e-12) == pytest.approx(2)
    assert crossing.log_root(cube, 1, 5, level=sign * 126, tolerance=1e-12) == math.inf
    assert crossing.log_root(cube, 1, 5, level=0, tolerance=1e-12) == 0


def test_ends_of_the_bracket_belong_to_it_and_a_constant_is_never_crossed() -> None:
    assert crossing.root(lambda x: x, 0, 1) == 0
    assert crossing.root(lambda x: x - 1, 0, 1) == 1
    assert crossing.root(lambda x: 0.3, 0, 1, level=0.5) == math.inf


def test_no_argument_is_evaluated_twice() -> None:
    seen: list[float] = []

    def square(x: float) -> float:
        seen.append(x)
        return x**2

    crossing.root(square, 0, 2, level=2)
    assert len(seen) == len(set(seen))


def test_open_bracket_is_doubled_until_the_level() -> None:
    found = crossing.log_root(lambda x: 1 - 1 / x, 1.5, level=0.999, tolerance=1e-9)
    assert found == pytest.approx(1000, rel=1e-6)
    assert crossing.log_root(lambda x: 0.3, 1.0, level=0.5, tolerance=1e-9) == math.inf


@pytest.mark.parametrize("true", [1.7, 2.0, 3.0, 63.0, 64.0, 65.2, 12345.6])
def test_integer_root_interpolates_a_power_law(true: float) -> None:
    found = crossing.integer_root(lambda n: math.log(n / true), level=0.0, within=0.02)
    assert found == pytest.approx(true, rel=1e-9)


def test_integer_root_outside_its_range() -> None:
    assert crossing.integer_root(float, level=1, within=0.01) == 1
    assert crossing.integer_root(float, level=64, most=64, within=0.01) == 64
    assert crossing.integer_root(float, level=65, most=64, within=0.01) == math.inf


@pytest.mark.parametrize("least", [1, 2, 3, 7, 8, 9, 1000])
def test_least_integer(least: int) -> None:
    assert crossing.least_integer(least.__le__, 1) == least
    assert crossing.least_integer(least.__le__, 1, 1024) == least
    assert crossing.least_integer(least.__le__, 5) == max(least, 5)
    assert crossing.least_integer(lambda _: False, least) == math.inf


def test_bisected_finds_every_element_at_once() -> None:
    squares = np.array([[0.25], [2.0], [9.0]])
    found = crossing.bisected(
        lambda x: x**2 > squares, np.zeros((3, 1)), np.full((3, 1), 4.0), steps=50
    )
    np.testing.assert_allclose(found, np.sqrt(squares))
