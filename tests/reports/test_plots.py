"""Plots are small, safe SVG for any cells; `__snapshots__/` has their contents."""

from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_reports import plots
from recall_reports.analyses import Analyses
from recall_reports.plots import curve, figure, series
from recall_reports.plots.bars import bars
from recall_reports.plots.chart import COLOURS, MUTED, Axis, Chart, Mark
from recall_reports.plots.panel import svg as svg_of
from recall_reports.record import CellRow, Range
from recall_reports.record.values import Plot, Scale, Series
from tests.reports import builders, golden, sample

CLAIMS = {claim.id: claim for claim in sample.record().claims}


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.plot])
def test_panels_are_accessible_xml_in_the_colours_of_the_page(name: str) -> None:
    panels = plots.panels(CLAIMS[name])
    assert panels
    for panel in panels:
        svg = ElementTree.fromstring(panel.svg)
        assert svg.get("role") == "img"
        assert str(svg.get("aria-label")).endswith(panel.caption)
        found = {key for node in svg.iter() for key in node.attrib}
        assert not {"id", "style", "fill", "stroke"} & found
        assert len(panel.svg) < 10_000


@pytest.mark.parametrize("size", [1e300, -1e300, 2**63 - 1])
def test_the_largest_sizes_are_drawn(size: float) -> None:
    report = sample.record()
    for claim in report.claims:
        for cell in claim.cells[:1]:
            cell.params = dict.fromkeys(cell.params, size)
        plots.panels(claim)
    assert figure.figures(report, Analyses(report.claims))


def test_a_row_of_a_difference_adds_the_estimate_to_the_prediction() -> None:
    report = sample.record()
    [claim] = [claim for claim in report.claims if claim.id == "A.trigger-signal"]
    found: dict[str, float] = {}
    for claim.rule.scale in ("ratio", "difference"):
        drawn = figure._row(claim, Series(claim=claim.id), Analyses([claim]))
        assert drawn is not None
        found[claim.rule.scale] = drawn[2]
    predicted, estimate = claim.cells[0].predicted, claim.components[0].estimate
    assert isinstance(predicted, float)
    assert isinstance(estimate, float)
    assert found == {"ratio": predicted * estimate, "difference": predicted + estimate}


def test_brackets_of_crossings_are_shaded_up_to_the_last_point_where_an_end_is_open() -> None:
    claim = sample.critical_samples()
    first, second = claim.components
    cells = [c for c in claim.cells if first.params.items() <= c.params.items()]
    unit, last = cells[0].critical, max(float(c.params["samples"]) for c in cells)
    assert unit is not None
    assert claim.plot is not None
    second.one_sided = Range(None, None)
    for end, right in ((1.1, 1.1 * unit), (None, last)):
        first.one_sided, chart = Range(0.9, end), Chart()
        curve.paint(chart, claim, claim.plot)
        [band] = [mark for mark in chart.marks if mark.kind == "band"]
        assert band.xs == pytest.approx([0.9 * unit, right])


def test_strands_never_join_points_of_different_settings() -> None:
    for samples, sizes in (((1, 2, 3), [3, 3]), ((1,), [])):
        settings = [{"samples": n, "length": length} for length in (8, 16) for n in samples]
        cells = [CellRow(params={**params}, replicates=1) for params in settings]
        assert [len(part) for part in series.strands(cells, "samples")] == sizes


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.sampled_from(["A", "B"]) | FLOATS
PARAMS = st.fixed_dictionaries(
    {"samples": st.sampled_from([0, 1, 2, 1024, 0.5, "many"])},
    optional={"length": st.integers(1, 3), "embeddings": st.just("sphere")},
)
CONTROLS = st.fixed_dictionaries({"no-excess": VALUES})
CELLS = st.builds(builders.cell, PARAMS, VALUES, VALUES, st.just(0.5), CONTROLS, st.just(2.0))


@given(
    cells=st.lists(CELLS, max_size=6),
    kind=st.sampled_from(["curve", "parity", "map"]),
    scale=st.sampled_from(["exponent", "ratio"]),
    locates=st.booleans(),
    log=st.sampled_from(["", "x", "y", "xy"]),
)
@settings(max_examples=200, deadline=None)
def test_any_valid_cells_can_be_drawn(
    cells: list[CellRow], kind: Any, scale: Scale, locates: bool, log: Any
) -> None:
    claim = sample.trigger_signal()
    claim.cells = cells
    claim.rule = builders.rule(scale=scale, locates=locates)
    claim.plot = Plot(kind=kind, x="samples", group=("length",), log=log, collapse=True)
    for panel in plots.panels(claim):
        for node in ElementTree.fromstring(panel.svg).iter():
            assert all("nan" not in node.get(key, "") for key in ("x", "y", "d"))


ENDS = st.tuples(st.floats(-100, 100), st.floats(-100, 100)).map(lambda pair: tuple(sorted(pair)))


@given(region=ENDS, interval=ENDS)
def test_order_on_a_bar_is_order_of_the_numbers(
    region: tuple[float, float], interval: tuple[float, float]
) -> None:
    [bar] = bars([golden.part(interval[0], Range(*interval), region)])
    places = [*zip(region, bar.region, strict=True), *zip(interval, bar.bounds, strict=True)]
    ordered = [place for _, place in sorted(set(places))]
    assert all(0 <= place <= 100 for place in ordered)
    assert ordered == sorted(ordered)


@given(low=st.floats(-1e6, 1e6), wide=st.floats(1e-3, 1e9), log=st.booleans())
def test_ticks_are_few_and_inside(low: float, wide: float, log: bool) -> None:
    low = 10 ** (low / 1e5) if log else low
    ends = (low, low * (1 + wide) if log else low + wide)
    values = Axis(log=log, ends=ends).labels().values()
    assert 1 <= len(values) <= 8
    slack = 1e-6 * (ends[1] - ends[0])
    assert all(ends[0] - slack <= value <= ends[1] + slack for value in values)


def test_both_ends_of_a_logarithmic_axis_have_ticks_if_they_are_powers_of_ten() -> None:
    assert [*Axis(log=True, ends=(1.0, 100.0)).labels()] == ["1", "2", "5", "10", "20", "50", "100"]


def test_ticks_are_at_values_that_reach_over_half_of_the_axis() -> None:
    for end, ticks in ((80.0, [10.0, 40.0]), (1500.0, ())):
        axis = Axis(seen=[10.0, end])
        series.scale_axis(axis, [10.0, 40.0], log=True, at_values=True)
        assert axis.ticks == ticks


def test_a_name_stands_next_to_its_curve_or_in_the_legend_if_it_hides_something() -> None:
    chart = Chart()
    for name, height in (("eta", 0.0), ("high", 10.0)):
        ys = [height, height]
        chart.add(Mark("dots", COLOURS[0], [0.0, 1.0], ys, "o", label=name, name=name))
    apart = svg_of(chart, "caption")
    assert 'class="key"' not in apart
    assert ">η</text>" in apart
    for step in range(60):  # no room is left
        chart.add(Mark("line", MUTED, [0.0, 1.0], [step / 6, step / 6]))
    crowded = svg_of(chart, "caption")
    assert crowded.count('class="key"') == 2
    assert crowded.count(">η</text>") == 1
