"""What a hunt found, in words, in the page and in the panel of the regime."""

import msgspec

from recall_reports import html, hunted
from recall_reports.record import Claim, Hunt, Point
from tests.reports import builders

INSIDE = [
    Point(params={"length": 8 * 2**i, "dim": 16 * 2**j}, discrepancy=0.1 * i * j - 0.5)
    for i in range(3)
    for j in range(3)
]


def searched() -> Claim:
    return builders.claim(
        "A.hunted",
        "A claim",
        [builders.component("", 1.0, 0.01, (0.97, 1.03))],
        hunt=Hunt(tried=9, points=INSIDE),
    )


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


def test_a_record_of_old_that_has_points_beyond_the_edge_is_read() -> None:
    plain = msgspec.to_builtins(searched())
    plain["hunt"]["beyond"] = [{"params": {"dim": 6}, "parameter": "dim", "edge": 12}]
    assert msgspec.convert(plain, Claim) == searched()


def test_the_page_shows_the_regime() -> None:
    assert "The regime" in html.framed(searched(), builders.paper())
