"""What rests on what: bases to the left, nothing in the way of anything, no superfluous edge."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_reports import graph
from recall_reports.graph import HEIGHT, WIDTH


def _ends(edge: str) -> tuple[float, float, float, float]:
    numbers = [float(value) for value in re.findall(r"-?[\d.]+", edge)]
    return numbers[0], numbers[1], numbers[-2], numbers[-1]


def test_chain_runs_from_left_to_right() -> None:
    drawn = graph.draw({"c": ["b"], "b": ["a"], "a": []})
    xs = [drawn.places[name][0] for name in "abc"]
    assert xs == sorted(set(xs))
    assert {drawn.places[name][1] for name in "abc"} == {0.0}
    assert (drawn.width, drawn.height) == (xs[-1] + WIDTH, HEIGHT)


def test_edge_that_follows_from_others_is_left_out() -> None:
    assert len(graph.draw({"a": [], "b": ["a"], "c": ["a", "b"]}).edges) == 2


def test_what_touches_nothing_is_not_drawn() -> None:
    drawn = graph.draw({"a": [], "b": ["a"], "alone": []})
    assert drawn.alone == ["alone"]
    assert set(drawn.places) == {"a", "b"}
    assert graph.draw({"alone": []}).places == {}


def test_base_of_a_late_box_stands_next_to_it() -> None:
    drawn = graph.draw({"a": [], "b": ["a"], "c": ["b"], "d": ["c", "late"], "late": []})
    assert drawn.places["late"][0] == drawn.places["c"][0]


def test_two_chains_do_not_cross() -> None:
    drawn = graph.draw({"b1": ["a1"], "b2": ["a2"], "a2": [], "a1": []})
    above = drawn.places["a1"][1] < drawn.places["a2"][1]
    assert above == (drawn.places["b1"][1] < drawn.places["b2"][1])


@pytest.mark.parametrize(
    ("rests_on", "found"),
    [({"a": [], "b": ["a"]}, set()), ({"a": ["b"], "b": ["a"], "c": ["a"]}, {"a", "b"})],
)
def test_cycle(rests_on: dict[str, list[str]], found: set[str]) -> None:
    circle = graph.cycle(rests_on)
    assert set(circle) == found
    assert not circle or circle[0] == circle[-1]


@given(st.lists(st.sets(st.integers(0, 11)), max_size=12))
def test_any_graph_without_cycles(links: list[set[int]]) -> None:
    rests_on = {f"n{i}": [f"n{j}" for j in sorted(b) if j < i] for i, b in enumerate(links)}
    drawn = graph.draw(rests_on)
    boxes = list(drawn.places.values())
    for index, (x, y) in enumerate(boxes):
        assert 0 <= x <= drawn.width - WIDTH
        assert -0.1 <= y <= drawn.height - HEIGHT + 0.1
        for other_x, other_y in boxes[:index]:
            assert x != other_x or abs(y - other_y) >= HEIGHT
    for node, bases in rests_on.items():
        assert all(drawn.places[base][0] < drawn.places[node][0] for base in bases)
    places = {(x + WIDTH, y + HEIGHT / 2) for x, y in boxes}
    for edge in drawn.edges:
        x, y, right, level = _ends(edge)
        assert min(abs(x - a) + abs(y - b) for a, b in places) < 0.2
        assert min(abs(right + WIDTH + 5 - a) + abs(level - b) for a, b in places) < 0.2
