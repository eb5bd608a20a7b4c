"""Rules for every picture and title of the suite's record, and the figures that open its page."""

from collections import Counter
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from recall_claims.model.papers import papers
from recall_reports import html, phrases, plots
from recall_reports.analyses import Analyses
from recall_reports.figures import finding as figure_of
from recall_reports.plots import collapse, curve, figure, phase_map
from recall_reports.plots.bars import sharpness
from recall_reports.plots.chart import COLOURS, Chart, Mark
from recall_reports.record import ClaimRow, Record
from tests import every_claim, figures
from tests.reports import sample


@pytest.fixture(scope="module")
def baseline() -> Record:
    return figures._record("reports/baseline.json")


def drawn(claim: ClaimRow) -> Chart:
    assert claim.plot is not None
    chart = Chart()
    simulated = replace(claim, cells=[cell for cell in claim.cells if cell.replicates])
    curve.paint(chart, simulated, claim.plot)
    return chart


def test_no_axis_is_named_observed(baseline: Record) -> None:
    plots = [claim.plot for claim in baseline.claims if claim.plot is not None]
    labels = {plot.y_label for plot in plots if plot.kind != "map"}
    assert not {label for label in labels if label.strip().lower() in ("", "observed", "value")}


def test_letters_of_a_formula_and_of_an_axis_are_spelt_out(baseline: Record) -> None:
    claims = {claim.id: claim for claim in baseline.claims}
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


def test_all_claims_stand_on_one_axis() -> None:
    claim = sample.trigger_signal()
    claim.components[0].estimate, claim.resolution = 1.01, 0.1
    assert sharpness(claim) == (50.0, 75.0)
    claim.components[0].estimate, claim.resolution = 40.0, None
    assert sharpness(claim) == (100.0, None)


def test_an_interval_narrower_than_its_digits_is_a_figure(baseline: Record) -> None:
    claim = next(claim for claim in baseline.claims if claim.id == "D.trajectory")
    assert "[" not in figure_of(claim.head)


def test_every_series_of_a_collapse_is_drawn(baseline: Record) -> None:
    """A series lies on the theory's curve if a wrong theory predicts the same for it."""
    claim = next(claim for claim in baseline.claims if claim.id == "A.gradient-product")
    plot = claim.plot
    assert plot is not None
    claim = replace(claim, cells=[cell for cell in claim.cells if cell.replicates])
    for paint in collapse.painters(claim):
        chart = Chart()
        paint(chart, claim, plot)
        assert len([mark for mark in chart.marks if mark.kind == "dots" and mark.xs]) == 4


def test_a_region_without_the_law_is_drawn_beside_it(baseline: Record) -> None:
    for name, count in (("A.gradient-product", 8), ("A.critical-samples", 0)):
        claim = next(claim for claim in baseline.claims if claim.id == name)
        dotted = [x for mark in drawn(claim).marks if mark.style == curve.ALLOWED for x in mark.xs]
        assert len(dotted) == count
        for cell in claim.cells if count else []:
            assert cell.critical is not None
            assert {0.8 * cell.critical, 0.98 * cell.critical} <= {*dotted}


def test_wrong_theories_at_the_same_places_share_a_marker(baseline: Record) -> None:
    claim = next(claim for claim in baseline.claims if claim.id == "A.accuracy")
    assert "wrong: recall-only, weakest-link<" in plots.panels(claim)[0].svg


def test_no_two_claims_share_a_title(baseline: Record) -> None:
    titles = Counter(claim.title.lower() for claim in baseline.claims)
    assert [title for title, count in titles.items() if count > 1] == []


def test_lines_are_curves_of_the_theory_and_join_no_cells(baseline: Record) -> None:
    """A power law is an exception: it is straight for any constant."""
    kept = [
        claim
        for claim in baseline.claims
        if claim.plot is not None and claim.plot.kind == "curve" and claim.plot.x and claim.cells
    ]
    assert sum(1 for claim in kept if claim.plot and claim.plot.line) > 50
    for claim in kept:
        assert claim.plot is not None
        curves = [[*line.xs] for line in claim.plot.line if not line.control]
        found = [[*m.xs] for m in drawn(claim).marks if m.kind == "line" and m.colour in COLOURS]
        if claim.rule.scale != "exponent" or curves:
            assert sorted(found) == sorted(curves), claim.id


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


def test_what_failed_comes_before_the_figures_and_figures_need_their_claims() -> None:
    report = sample.record()
    page = html.render(report)
    assert page.index('class="attention') < page.index('class="findings"')
    report.claims = [claim for claim in report.claims if claim.id != "A.trigger-signal"]
    assert 'class="findings"' not in html.render(report)


def test_dots_of_a_figure_stand_at_what_was_observed(baseline: Record) -> None:
    claim = next(claim for claim in baseline.claims if claim.id == "A.localisation")
    paper = next(paper for paper in baseline.papers if paper.key == "A")
    chart = Chart()
    chosen = [(claim, paper.figures[0].series[0])]
    figure._curves(chart, paper.figures[0], chosen, Analyses([claim]))
    dots = {at for m in chart.marks if m.kind == "dots" for at in zip(m.xs, m.ys, strict=True)}
    assert dots == {(cell.params["samples"], cell.observed) for cell in claim.cells}
    names = [mark.name for mark in chart.marks if mark.name]
    assert names == ["L = 16, d = 32", "L = 24, d = 12", "L = 32, d = 24", "L = 64, d = 32"]


def test_a_wrong_theory_far_off_is_named_and_does_not_stretch_the_axis() -> None:
    claim = sample.trigger_signal()
    assert claim.plot is not None
    usual = drawn(claim).y.ends
    far = replace(claim.plot.line[-1], ys=[1e6] * len(claim.plot.line[-1].ys))
    claim.plot.line[-1] = far
    chart = Chart()
    assert "Beyond the axis: no-length." in curve.paint(chart, claim, claim.plot)
    assert usual is not None
    assert chart.y.ends is not None
    assert chart.y.ends[1] <= usual[1]


def test_a_map_stands_on_what_theory_predicts_and_its_letters_have_a_key(baseline: Record) -> None:
    claim = next(claim for claim in baseline.claims if claim.id == "A.dominant-term-map")
    plot = claim.plot
    assert plot is not None
    whole, *planes = plots.panels(claim)
    assert len(planes) == len(plot.tiles) > 1
    assert "measured T trigger direction" in whole.svg
    assert "$C2$ informative slots" in phrases.letters(claim, {})
    for tiles in plot.tiles:
        chart = Chart()
        phase_map.paint(chart, claim, plot, plane=tiles)
        areas = {m.label: m for m in chart.marks if m.kind == "area"}
        assert {name.partition(" ")[0] for name in areas} == {*tiles.names}
        dots = [m for m in chart.marks if m.kind == "dots"]
        cells = [c for c in claim.cells if tiles.params.items() <= c.params.items()]
        assert len(dots) == len(cells)
        for dot in dots:
            (area,) = [m for m in areas.values() if _covers(m, dot.xs[0], dot.ys[0])]
            assert area.colour == dot.colour, "the measured one is the predicted one"


def _covers(area: Mark, x: float, y: float) -> bool:
    corners = list(zip(area.xs, area.ys, strict=True))
    pairs = zip(corners[::2], corners[1::2], strict=True)
    return any(a <= x < b and low <= y < high for (a, high), (b, low) in pairs)
