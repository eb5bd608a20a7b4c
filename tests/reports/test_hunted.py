"""What a hunt found, in words, in the page and in the panel of the regime."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from recall_reports import html, hunted
from recall_reports.record import Beyond, Claim, Hunt, Point
from tests.reports import builders

INSIDE = [
    Point(params={"length": 8 * 2**i, "dim": 16 * 2**j}, discrepancy=0.1 * i * j - 0.5)
    for i in range(3)
    for j in range(3)
]


def point(parameter: str, edge: Any, value: Any, outside: bool = False) -> Beyond:
    params = {"length": 16, "dim": 32, "tied": False, parameter: value}
    return Beyond(params=params, parameter=parameter, edge=edge, outside=outside)


def searched(*beyond: Beyond) -> Claim:
    hunt = Hunt(tried=9, points=INSIDE, beyond=list(beyond))
    return builders.claim(
        "A.hunted", "A claim", [builders.component("", 1.0, 0.01, (0.97, 1.03))], hunt=hunt
    )


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((), ""),
        (
            (point("dim", 12, 6), point("dim", 12, 3)),
            "Nothing seen as far as d = 3 (edge 12).",
        ),
        (
            (point("dim", 12, 6), point("dim", 12, 3, True)),
            "Outside the region at d = 3 (edge 12), not yet at 6.",
        ),
        # Edges that lie elsewhere by the other parameters: as multiples.
        (
            (point("length", 16, 32), point("length", 32, 128, True), point("length", 16, 128)),
            "Outside the region at 4 times the edge of L, not yet at 2 times.",
        ),
        (
            (
                point("dim", 16, 8, True),
                point("dim", 32, 4, True),
                point("dim", 16, 32),
                point("dim", 32, 64),
            ),
            "Outside the region at 1/2 of the edge of d. "
            "Nothing seen as far as 2 times the edge of d.",
        ),
        # One of two already fails there.
        (
            (point("dim", 12, 6), point("dim", 12, 6, True)),
            "Outside the region at d = 6 (edge 12).",
        ),
        (
            (point("tied", False, True, True), point("dim", 12, 24)),
            "Outside the region at tied = yes. Nothing seen as far as d = 24 (edge 12).",
        ),
    ],
)
def test_how_far_beyond_the_edge_is_told(points: tuple[Beyond, ...], said: str) -> None:
    assert hunted.beyond(searched(*points)) == said


def test_the_nearest_point_is_told_in_regions_where_they_have_a_size() -> None:
    claim = searched()
    assert claim.hunt is not None
    claim.hunt.points = [Point(params={"dim": 8}, discrepancy=-2e-13)]
    claim.hunt.refused = {"ValueError: " + "too long " * 99: 3}
    said = hunted.summary(claim)
    assert said.endswith("; nearest at d = 8, -0.00 regions")
    assert "; 3 could not be tried, most often by “ValueError: too long too" in said
    assert len(said) < 300
    claim.components = [builders.component("", 1e-15, 0.0, (None, 1e-12))]
    assert hunted.summary(claim).endswith("; nearest at d = 8, 2e-13 within the edge")
    claim.hunt.suspected = True
    assert "a point of 9 fails and is not yet shrunk" in hunted.summary(claim)


def test_a_record_of_old_has_nothing_beyond_the_edge() -> None:
    plain = msgspec.to_builtins(searched(point("dim", 12, 6)))
    del plain["hunt"]["beyond"]
    old = msgspec.convert(plain, Claim)
    assert old == searched()
    assert hunted.beyond(old) == ""


def test_the_panel_and_the_page_show_what_is_beyond_the_edge() -> None:
    pages = [
        html.framed(searched(*beyond), builders.paper())
        for beyond in ((), (point("dim", 16, 8),), (point("dim", 16, 8), point("dim", 16, 4, True)))
    ]
    for shown, page in enumerate(pages):
        assert "The regime" in page
        assert ("beyond the edge, nothing seen" in page) == (shown > 0)
        assert ("beyond the edge, outside" in page) == (shown > 1)
        assert ("no verdict follows." in page) == (shown > 0)
        assert ("Squares are beyond its edge" in page) == (shown > 0)
    assert "Outside the region at d = 4 (edge 16), not yet at 8." in pages[2]
