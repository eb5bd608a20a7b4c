"""Rules for all pictures and titles of the suite's record, and figures at the top of its page."""

from collections import Counter
from functools import partial
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from recall_claims.model.papers import papers
from recall_reports import html, hunted, phrases, plots
from recall_reports.analyses import Analyses
from recall_reports.plots import collapse, curve, figure, phase_map
from recall_reports.plots.chart import COLOURS, Chart, Mark
from recall_reports.plots.panel import Painter
from recall_reports.record import ClaimRow, Hunt, Point, Record
from tests import every_claim, figures


@pytest.fixture(scope="module")
def claims(baseline: Record) -> dict[str, ClaimRow]:
    """The suite's claims by id, without the cells that were not simulated."""
    return {
        claim.id: replace(claim, cells=[cell for cell in claim.cells if cell.replicates])
        for claim in baseline.claims
    }


def test_an_alpha_that_looks_share_is_said_to_be_of_each_look(
    baseline: Record, claims: dict[str, ClaimRow]
) -> None:
    parts = baseline.suite.error_budget.papers
    for claim in claims.values():
        if claim.alpha is not None:
            of_a_look = claim.alpha < 0.99 * parts[claim.source.paper].per_claim
            assert phrases.at_each_look(claim) == of_a_look, claim.id


def test_a_hunt_of_a_critical_value_tells_how_far_a_rate_is_from_its_target(
    claims: dict[str, ClaimRow],
) -> None:
    claim = next(c for c in claims.values() if c.rule.name == "CriticalLocation" and c.components)
    for discrepancy, told in ((0.2, "20% of the target rate on the wrong side"), (-0.1, "right")):
        point = Point(params=claim.cells[0].params, discrepancy=discrepancy)
        assert told in hunted.summary(replace(claim, hunt=Hunt(tried=12, points=[point])))


def drawn(paint: Painter, claim: ClaimRow) -> list[Mark]:
    assert claim.plot is not None
    chart = Chart()
    paint(chart, claim, claim.plot)
    return chart.marks


def test_no_axis_is_named_observed(baseline: Record) -> None:
    plots = [claim.plot for claim in baseline.claims if claim.plot is not None]
    labels = {plot.y_label for plot in plots if plot.kind != "map"}
    assert not {label for label in labels if label.strip().lower() in ("", "observed", "value")}


def test_letters_of_a_formula_and_of_an_axis_are_spelt_out(claims: dict[str, ClaimRow]) -> None:
    product = claims["A.gradient-product"]
    assert (
        phrases.letters(product, {})
        == "$V$ vocabulary size, $L$ length, $N$ samples, $d$ dimension"
    )
    assert phrases.letters(claims["A.accuracy"], {}) == "$V$ vocabulary size, $N$ samples"
    assert phrases.letters(claims["B.relu-memory-capacity"], {}) == "$d$ dimension, $m$ width"
    others = {r"\tau": "trigger", "s_0": "unit", "s": "score", r"\tau_\phi": "deviation"}
    told = phrases.letters(claims["A.trigger-signal"], others)
    assert told.endswith(r"$d$ dimension, $\tau$ trigger, $s_0$ unit")
    assert phrases.axis("dim", product.symbols) == "dimension d"


def test_letters_of_a_papers_file_are_those_of_its_claims_formulas() -> None:
    claims = every_claim.imported().values()
    for paper in papers().values():
        formulas = [phrases.WORDS.sub(" ", c.latex) for c in claims if c.source.paper == paper.key]
        found = {mark[0] for latex in formulas for mark in phrases.LETTER.finditer(latex)}
        assert not paper.letters.keys() - found
        latin = {letter for letter in found if letter.isalpha()} - {*"eabjkv"}  # defined in place
        if paper.key in "AB":
            assert not latin - paper.letters.keys() - {*paper.symbols.values()}


def test_every_series_of_a_collapse_is_drawn(claims: dict[str, ClaimRow]) -> None:
    """A series is drawn even if the wrong theory predicts its critical value right."""
    claim = claims["A.gradient-product"]
    for paint in collapse.painters(claim):
        assert len([mark for mark in drawn(paint, claim) if mark.kind == "dots" and mark.xs]) == 4


def test_a_region_without_the_law_is_drawn_beside_it(claims: dict[str, ClaimRow]) -> None:
    for name, count in (("A.gradient-product", 8), ("A.critical-samples", 0)):
        marks = drawn(curve.paint, claims[name])
        dotted = [x for mark in marks if mark.style == curve.ALLOWED for x in mark.xs]
        assert len(dotted) == count
        for cell in claims[name].cells if count else []:
            assert cell.critical is not None
            assert {0.8 * cell.critical, 0.98 * cell.critical} <= {*dotted}


def test_wrong_theories_at_the_same_places_share_a_marker(claims: dict[str, ClaimRow]) -> None:
    assert "wrong: recall-only, weakest-link<" in plots.panels(claims["A.accuracy"])[0].svg


def test_no_two_claims_share_a_title(baseline: Record) -> None:
    titles = Counter(claim.title.lower() for claim in baseline.claims)
    assert [title for title, count in titles.items() if count > 1] == []


def test_lines_are_curves_of_the_theory_and_join_no_cells(claims: dict[str, ClaimRow]) -> None:
    """A claim on an exponent may have no curve of the theory.

    Its plot then has a straight line of the predicted slope, at the height of the data.
    """
    seen = 0
    for claim in claims.values():
        plot = claim.plot
        if plot is None or plot.kind != "curve" or not plot.x or not claim.cells:
            continue
        curves = [[*line.xs] for line in plot.line if not line.control]
        lines = [m for m in drawn(curve.paint, claim) if m.kind == "line" and m.colour in COLOURS]
        if claim.rule.scale != "exponent" or curves:
            assert sorted([*m.xs] for m in lines) == sorted(curves), claim.id
        seen += bool(plot.line)
    assert seen > 50


def test_six_figures_open_the_page(baseline: Record) -> None:
    found = figure.figures(baseline, Analyses(baseline.claims))
    assert [one.paper.key for one in found] == ["A", "B", "B", "D", "E", "F"]
    page = html.render(baseline)
    assert len(page.encode()) < 1.5e6
    assert page.index(found[0].svg) < page.index('class="attention') < page.index('id="marks"')
    svg = ElementTree.fromstring(html.picture(baseline))
    assert len([node for node in svg.iter() if node.get("class") == "plot"]) == 6
    for file, drawn in figures.pictures().items():
        assert file.read_text(encoding="utf-8") == drawn


def test_a_map_stands_on_what_theory_predicts_and_its_letters_have_a_key(
    claims: dict[str, ClaimRow],
) -> None:
    claim = claims["A.dominant-term-map"]
    assert claim.plot is not None
    whole, *planes = plots.panels(claim)
    assert len(planes) == len(claim.plot.tiles) > 1
    assert "measured T trigger direction" in whole.svg
    assert "$C2$ informative slots" in phrases.letters(claim, {})
    for tiles in claim.plot.tiles:
        marks = drawn(partial(phase_map.paint, plane=tiles), claim)
        areas = {m.label: m for m in marks if m.kind == "area"}
        assert {name.partition(" ")[0] for name in areas} == {*tiles.names}
        dots = [m for m in marks if m.kind == "dots"]
        cells = [c for c in claim.cells if tiles.params.items() <= c.params.items()]
        assert len(dots) == len(cells)
        for dot in dots:
            (area,) = [m for m in areas.values() if _covers(m, dot.xs[0], dot.ys[0])]
            assert area.colour == dot.colour, "the measured one is the predicted one"


def _covers(area: Mark, x: float, y: float) -> bool:
    corners = list(zip(area.xs, area.ys, strict=True))
    pairs = zip(corners[::2], corners[1::2], strict=True)
    return any(a <= x < b and low <= y < high for (a, high), (b, low) in pairs)
