"""Plots show the observed points, what was predicted, and the controls; as small, safe SVG."""

import dataclasses
import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from recall_reports import plots
from recall_reports.plots import curve, parity, series
from recall_reports.plots.chart import Axis, Chart, Mark
from recall_reports.plots.panel import Painter
from recall_reports.record import Cell, Claim, Parameters, Range
from recall_reports.values import Plot, Scale
from tests.reports import builders, sample

CLAIMS = {claim.id: claim for claim in sample.record().claims}


def low(interval: Range | None) -> float:
    assert interval is not None
    assert interval.low is not None
    return interval.low


def plotted(claim: Claim) -> Plot:
    assert claim.plot is not None
    return claim.plot


def painted(paint: Painter, claim: Claim) -> tuple[Chart, str]:
    """The chart of a claim before it is written, and its caption."""
    chart = Chart()
    return chart, paint(chart, claim, plotted(claim))


def drawn(chart: Chart, kind: str) -> list[Mark]:
    return [mark for mark in chart.marks if mark.kind == kind]


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.plot])
def test_panels_are_accessible_xml_in_the_colours_of_the_page(name: str) -> None:
    panels = plots.panels(CLAIMS[name])
    assert panels
    for panel in panels:
        svg = ElementTree.fromstring(panel.svg)
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == panel.caption
        found = {key for node in svg.iter() for key in node.attrib}
        assert not {"id", "style", "fill", "stroke"} & found
        assert len(panel.svg) < 10_000


def test_figures_in_the_text_are_as_they_were_drawn() -> None:
    claim = sample.convergence()
    for cell, eta in zip(claim.cells, (0.125, 0.25, 0.375, 0.4375, 0.5), strict=True):
        cell.params["eta"] = eta
    plotted(claim).log = ""
    [panel] = plots.panels(claim)
    assert {"0.125", "0.25", "0.375"} <= set(re.findall(r">([\d.]+)</text>", panel.svg))


def test_what_leaves_the_axes_is_clipped() -> None:
    claim = sample.trigger_signal()
    for cell in claim.cells[::2]:  # lines that leave the axes and come back
        assert isinstance(cell.predicted, float)
        cell.controls = {"no-excess": 1e3 * cell.predicted}
    [panel] = plots.panels(claim)
    svg = ElementTree.fromstring(panel.svg)
    [frame] = svg.iterfind("svg")
    bottom = float(frame.get("y", "")) + float(frame.get("height", ""))
    top = float(frame.get("y", ""))

    def heights(paths: Iterable[ElementTree.Element]) -> list[float]:
        """The y of all points of dashed lines."""
        lines = [path.get("d", "") for path in paths if "dash" in path.get("class", "")]
        return [float(y) for line in lines for y in re.findall(r"-?[\d.]+", line)[1::2]]

    assert min(heights(frame.iterfind("path"))) < top
    assert all(y > bottom for y in heights(svg.iterfind("path")))  # in the legend


def test_number_of_panels() -> None:
    counts = {name: len(plots.panels(claim)) for name, claim in CLAIMS.items()}
    assert counts["A.critical-samples"] == 3  # data, collapse, collapse under the control
    assert counts["A.trigger-signal"] == 1
    assert counts["A.all-tokens"] == 0
    assert counts["A.scale"] == 0


def test_the_control_that_collapses_worst_is_shown() -> None:
    claim = sample.critical_samples()
    claim.controls = [replace(claim.controls[0], id="constant"), *claim.controls]
    for cell in claim.cells:
        assert cell.critical is not None
        cell.controls["constant"] = 5 * cell.critical
    assert [panel.caption.count("additive") for panel in plots.panels(claim)] == [0, 0, 1]


def test_curve_draws_points_prediction_and_controls() -> None:
    claim = CLAIMS["A.trigger-signal"]
    chart, caption = painted(curve.paint, claim)
    points = drawn(chart, "dots")
    assert [mark.label for mark in points] == ["L = 16", "L = 32", "L = 64"]
    cells = [cell for cell in claim.cells if cell.params["length"] == 16]
    assert points[0].xs == [cell.params["samples"] for cell in cells]
    assert points[0].ys == [cell.observed for cell in cells]
    assert [end for end, _ in points[0].whiskers] == [low(cell.interval) for cell in cells]
    lines = drawn(chart, "line")
    assert lines[0].ys == [cell.predicted for cell in cells]
    labels = [mark.label for mark in lines]
    assert "control: no-excess" in labels
    assert "control: no-length" in labels
    assert "Dashed" in caption


def test_exponents_without_predicted_values_show_the_predicted_slope() -> None:
    claim = sample.signal_exponents()
    for cell in claim.cells:
        cell.predicted = None
    chart, caption = painted(curve.paint, claim)
    assert "predicted slope" in caption
    for line in drawn(chart, "line"):
        assert line.ys[-1] / line.ys[0] == pytest.approx((line.xs[-1] / line.xs[0]) ** -2)


def test_critical_values_are_marked_and_no_control_is_drawn_as_a_curve() -> None:
    claim = CLAIMS["A.critical-samples"]
    chart, _ = painted(curve.paint, claim)
    marked = {x for mark in drawn(chart, "upright") for x in mark.xs}
    assert marked == {cell.critical for cell in claim.cells}
    assert drawn(chart, "line") == []


def test_brackets_of_crossings_are_shaded_with_open_ends_too() -> None:
    claim = sample.critical_samples()
    chart, caption = painted(curve.paint, claim)
    assert "Shaded: the bracket" in caption
    ends = {part.params["length"]: part.shown for part in claim.components}
    critical = {c.params["length"]: c.critical for c in claim.cells if c.params["dim"] == 32}
    unit = critical[256]
    assert unit is not None
    shaded = pytest.approx([low(ends[256]) * unit, 1.1 * unit])
    assert any(mark.xs == shaded for mark in drawn(chart, "band"))
    first, second = claim.components
    first.one_sided, second.one_sided = Range(0.9, None), Range(None, None)
    [band] = drawn(painted(curve.paint, claim)[0], "band")
    xs = [c.params["samples"] for c in claim.cells if first.params.items() <= c.params.items()]
    assert band.xs == [pytest.approx(0.9 * unit), max(map(float, xs))]
    assert plots.panels(claim)


def test_a_crowded_plot_draws_all_controls_for_one_group() -> None:
    chart, caption = painted(curve.paint, sample.trigger_signal())
    dashed = [line for line in drawn(chart, "line") if "dash" in line.style and line.xs]
    assert len(dashed) == 2
    assert len({line.colour for line in dashed}) == 1
    assert "drawn for L = 64 only" in caption


def test_group_parameters_that_a_cell_lacks_are_not_in_its_label() -> None:
    claim = sample.trigger_signal()
    plotted(claim).group = ("length", "embeddings")
    assert [group.label for group in series.series(claim, plotted(claim))] == [
        "L = 16",
        "L = 32",
        "L = 64",
    ]


def test_control_off_the_scale_does_not_flatten_the_data() -> None:
    claim = sample.trigger_signal()
    for cell in claim.cells:
        cell.controls = {"no-excess": 1e9}
    chart, _ = painted(curve.paint, claim)
    assert chart.y.ends is not None
    assert chart.y.ends[1] < 10


def test_parity_draws_the_diagonal_and_the_wrong_theory() -> None:
    claim = CLAIMS["A.localisation-probability"]
    chart, _ = painted(parity.paint, claim)
    [diagonal] = drawn(chart, "line")
    assert diagonal.xs == diagonal.ys
    [wrong] = [mark for mark in drawn(chart, "dots") if "control" in mark.label]
    assert list(wrong.xs) == [cell.controls["additive"] for cell in claim.cells]


def test_map_says_when_prediction_and_measurement_differ() -> None:
    claim = sample.dominant_map()
    [panel] = plots.panels(claim)
    assert "Boxed: the two disagree" in panel.caption
    assert panel.svg.count(">is B<") == 1
    for cell in claim.cells:
        cell.observed = cell.predicted
    [panel] = plots.panels(claim)
    assert "Boxed" not in panel.caption


def test_map_shows_all_its_cells() -> None:
    claim = sample.dominant_map()
    claim.cells += [
        replace(cell, params={**cell.params, "vocab_size": 64}) for cell in claim.cells[:6]
    ]
    [panel] = plots.panels(claim)
    texts = [node.text for node in ElementTree.fromstring(panel.svg).iter() if node.text]
    assert sum(text.strip() in ("A", "B", "C") for text in texts) == len(claim.cells)
    for value in ("8", "16", "32", "64", "128", "256"):
        assert texts.count(value) == 2
    assert "side by side" in panel.caption


@pytest.mark.parametrize("label", ["温度 😀", "<script>x</script>", "$x^2$", "_hidden", "a\nb"])
def test_any_label_is_drawn_as_text(label: str) -> None:
    claim = CLAIMS["A.trigger-signal"]
    named = replace(claim, plot=dataclasses.replace(plotted(claim), y_label=label))
    svg = ElementTree.fromstring(plots.panels(named)[0].svg)
    assert not list(svg.iter("script"))
    assert label in "\n".join(svg.itertext())


def test_strands_never_join_points_of_different_settings() -> None:
    cells = [
        Cell(params={"samples": samples, "length": length}, replicates=1)
        for length in (8, 16)
        for samples in (1, 2, 3)
    ]
    assert [len(part) for part in series.strands(cells, "samples")] == [3, 3]
    ambiguous = [Cell(params={"samples": 1, "length": length}, replicates=1) for length in (8, 16)]
    assert series.strands(ambiguous, "samples") == []


def test_broken_values_do_not_stop_a_plot() -> None:
    claim = sample.trigger_signal()
    first, second, third, *_ = claim.cells
    first.observed = first.interval = None
    second.predicted, second.interval = None, Range(None, None)
    third.observed, third.interval, third.controls = -1.0, Range(-2.0, 0.0), {}
    plotted(claim).log = "xy"
    assert plots.panels(claim)
    plotted(claim).kind = "parity"
    assert plots.panels(claim)


VALUES = st.one_of(
    st.none(), st.sampled_from(["A", "B"]), st.floats(allow_nan=False, allow_infinity=False)
)


@given(
    cells=st.lists(
        st.tuples(
            st.fixed_dictionaries(
                {"samples": st.sampled_from([0, 1, 2, 1024, 0.5, "many"])},
                optional={"length": st.integers(1, 3), "embeddings": st.just("sphere")},
            ),
            VALUES,
            VALUES,
            VALUES,
        ),
        max_size=6,
    ),
    kind=st.sampled_from(["curve", "parity", "map"]),
    scale=st.sampled_from(["exponent", "ratio"]),
    locates=st.booleans(),
    log=st.sampled_from(["", "x", "y", "xy"]),
)
@settings(max_examples=200, deadline=None)
def test_any_valid_cells_can_be_drawn(
    cells: list[tuple[Parameters, Any, Any, Any]], kind: Any, scale: Scale, locates: bool, log: Any
) -> None:
    claim = sample.trigger_signal()
    claim.cells = [
        builders.cell(params, predicted, observed, 0.5, {"no-excess": wrong}, critical=2.0)
        for params, predicted, observed, wrong in cells
    ]
    claim.rule = builders.rule(scale=scale, locates=locates)
    claim.plot = Plot(kind=kind, x="samples", group=("length",), log=log, collapse=True)
    for panel in plots.panels(claim):
        for node in ElementTree.fromstring(panel.svg).iter():
            assert all("nan" not in node.get(key, "") for key in ("x", "y", "d"))


@given(low=st.floats(-1e6, 1e6), wide=st.floats(1e-3, 1e9), log=st.booleans())
def test_ticks_are_few_and_inside(low: float, wide: float, log: bool) -> None:
    low = 10 ** (low / 1e5) if log else low
    ends = (low, low * (1 + wide) if log else low + wide)
    values = Axis(log=log, ends=ends).labels().values()
    assert 1 <= len(values) <= 8
    slack = 1e-6 * (ends[1] - ends[0])
    assert all(ends[0] - slack <= value <= ends[1] + slack for value in values)


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (Axis(ends=(0.03, 0.97)), ["0.2", "0.4", "0.6", "0.8"]),
        (Axis(ends=(-1, 1)), ["-1", "-0.5", "0", "0.5", "1"]),
        (Axis(ends=(0, 30_000)), ["0", "5000", "10,000", "15,000", "20,000", "25,000", "30,000"]),
        (Axis(log=True, ends=(40, 800)), ["50", "100", "200", "500"]),
        (Axis(log=True, ends=(1e-13, 1e-10)), ["1e-13", "1e-12", "1e-11", "1e-10"]),
        (Axis(log=True, ends=(50, 200)), ["50", "75", "100", "125", "150", "175", "200"]),
        (Axis(log=True, ends=(8, 64), ticks=[8, 16, 64]), ["8", "16", "64"]),
        (Axis(seen=[3.0]), ["2.7", "2.8", "2.9", "3", "3.1", "3.2", "3.3"]),
    ],
)
def test_ticks(axis: Axis, labels: list[str]) -> None:
    assert list(axis.labels()) == labels
