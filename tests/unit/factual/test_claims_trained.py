"""claims.factual.trained, and the points that claims about trained transformers stand on."""

import pytest

from claims.factual import test_trained_capacity as capacity
from claims.factual import test_trained_transformer as transformer
from claims.factual.trained import sizes, split
from theory.factual import trained_transformer as theory


def test_a_number_of_facts_that_is_no_square_is_refused() -> None:
    assert sizes(split(15, answers=8)).facts == 225
    with pytest.raises(ValueError, match="226 facts"):
        sizes(split(15, answers=8).replace(facts=226))


@pytest.mark.parametrize(("heads", "factor"), [(9, 2), (17, 2), (3, 0.8), (5, 0.8)])
def test_points_lie_at_their_multiple_of_the_boundary(heads: int, factor: float) -> None:
    cell = transformer.sloping_point(heads, factor)
    x, y = heads * 4 * 32, cell["width"] * 32
    assert y + x / 2 == pytest.approx(factor * 2300 / 4, abs=16)  # half a row of the MLP
    assert theory.traded_capacity(x, y) == pytest.approx(factor * 256, rel=0.04)


@pytest.mark.parametrize("dim", [16, 32, 64, 128])
def test_edges_of_the_line_are_rungs_at_every_dimension(dim: int) -> None:
    rungs = [cell["facts"] for cell in capacity.at_edges(dim, answers=8)]
    assert rungs == [121 * (dim // 16) ** 2, 225 * (dim // 16) ** 2]
    line = 0.15 * 6 * dim**2
    region = capacity.CONSTANT.region
    assert rungs == [pytest.approx(edge * line) for edge in (region.low, region.high)]
