"""Plots show the observed points, what was predicted, and the controls; as small, safe SVG."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from recall_reports import plots
from recall_reports.plots import curve, parity, series
from recall_reports.record import Cell, Claim, Parameters, Plot, Range, Scale
from tests.reports import builders, sample

CLAIMS = {claim.id: claim for claim in sample.record().claims}


def low(interval: Range | None) -> float:
    assert interval is not None
    assert interval.low is not None
    return interval.low


def plotted(claim: Claim) -> Plot:
    assert claim.plot is not None
    return claim.plot


class Axes:
    """Stands in for matplotlib axes and keeps the data drawn into them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name in ("xaxis", "yaxis"):
            return Axes()

        def call(*args: Any, **options: Any) -> Any:
            self.calls.append((name, args, options))
            return "linear"

        return call

    def drawn(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(args, options) for called, args, options in self.calls if called == name]


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.plot])
def test_panels_are_accessible_xml_in_the_colours_of_the_page(name: str) -> None:
    styles: plots.Styles = {}
    panels = plots.panels(CLAIMS[name], styles)
    assert panels
    for panel in panels:
        svg = ElementTree.fromstring(panel.svg)
        assert svg.get("role") == "img"
        [title] = [node for node in svg if node.tag.endswith("title")]
        assert title.text == panel.caption
        assert svg.get("aria-labelledby") == title.get("id")
        used = {node.get("class") for node in svg.iter()} - {None, "plot"}
        assert used <= {*styles.values()}
        assert len(panel.svg) < 25_000
    assert any("var(--ink)" in style for style in styles)
    assert not any("#" in style for style in styles)


def test_figures_in_the_text_are_as_they_were_drawn() -> None:
    claim = sample.convergence()
    for cell, eta in zip(claim.cells, (0.125, 0.25, 0.375, 0.4375, 0.5), strict=True):
        cell.params["eta"] = eta
    plotted(claim).log = ""
    [panel] = plots.panels(claim)
    assert {"0.125", "0.25", "0.375"} <= set(re.findall(r">([\d.]+)</text>", panel.svg))


def test_only_what_leaves_the_axes_is_clipped() -> None:
    claim = sample.trigger_signal()
    for cell in claim.cells[::2]:  # lines that leave the axes and come back
        assert isinstance(cell.predicted, float)
        cell.controls = {"no-excess": 1e3 * cell.predicted}
    [panel] = plots.panels(claim)
    [box] = ElementTree.fromstring(panel.svg).iterfind(".//{*}clipPath/{*}rect")
    left, top = float(box.get("x", "")), float(box.get("y", ""))
    right, bottom = left + float(box.get("width", "")), top + float(box.get("height", ""))
    clipped = 0
    for path in ElementTree.fromstring(panel.svg).iterfind("{*}path"):
        assert path.get("d")
        places = [float(value) for value in re.findall(r"-?[\d.]+", path.get("d", ""))]
        inside = left <= min(places[::2]) and max(places[::2]) <= right
        inside = inside and top <= min(places[1::2]) and max(places[1::2]) <= bottom
        in_legend = min(places[1::2]) > bottom
        assert inside or in_legend or path.get("clip-path")
        assert not (inside and path.get("clip-path"))
        clipped += path.get("clip-path") is not None
    assert clipped


def test_panels_are_deterministic() -> None:
    claim = CLAIMS["A.critical-samples"]
    assert plots.panels(claim) == plots.panels(claim)


def test_only_ids_that_are_used_remain() -> None:
    [panel] = plots.panels(CLAIMS["A.trigger-signal"])
    for name in re.findall(r'\bid="([^"]+)"', panel.svg):
        assert len(re.findall(re.escape(name), panel.svg)) > 1


def test_ids_of_panels_do_not_collide() -> None:
    found = [
        node.get("id")
        for claim in CLAIMS.values()
        for panel in plots.panels(claim)
        for node in ElementTree.fromstring(panel.svg).iter()
        if node.get("id")
    ]
    assert found
    assert len(found) == len(set(found))


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
    claim, axes = CLAIMS["A.trigger-signal"], Axes()
    caption = curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    points = axes.drawn("errorbar")
    assert [options["label"] for _, options in points] == ["L = 16", "L = 32", "L = 64"]
    cells = [cell for cell in claim.cells if cell.params["length"] == 16]
    (xs, ys), options = points[0]
    assert xs == [cell.params["samples"] for cell in cells]
    assert ys == [cell.observed for cell in cells]
    assert options["yerr"][0] == pytest.approx(
        [observed - low(cell.interval) for cell, observed in zip(cells, ys, strict=True)]
    )
    lines = axes.drawn("plot")
    assert lines[0][0][1] == [cell.predicted for cell in cells]
    labels = [options.get("label") for _, options in lines]
    assert "control: no-excess" in labels
    assert "control: no-length" in labels
    assert "Dashed" in caption


def test_exponents_without_predicted_values_show_the_predicted_slope() -> None:
    claim, axes = sample.signal_exponents(), Axes()
    for cell in claim.cells:
        cell.predicted = None
    caption = curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    assert "predicted slope" in caption
    for (xs, ys), _ in axes.drawn("plot"):
        assert ys[-1] / ys[0] == pytest.approx((xs[-1] / xs[0]) ** -2)


def test_critical_values_are_marked_and_no_control_is_drawn_as_a_curve() -> None:
    axes = Axes()
    claim = CLAIMS["A.critical-samples"]
    curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    marked = {args[0] for args, _ in axes.drawn("axvline")}
    assert marked == {cell.critical for cell in claim.cells}
    assert axes.drawn("plot") == []


def test_brackets_of_crossings_are_shaded_with_open_ends_too() -> None:
    claim, axes = sample.critical_samples(), Axes()
    caption = curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    assert "Shaded: the bracket" in caption
    ends = {part.params["length"]: part.shown for part in claim.components}
    critical = {c.params["length"]: c.critical for c in claim.cells if c.params["dim"] == 32}
    unit = critical[256]
    assert unit is not None
    assert any(
        args == pytest.approx((low(ends[256]) * unit, 1.1 * unit))
        for args, _ in axes.drawn("axvspan")
    )
    first, second = claim.components
    first.one_sided, second.one_sided = Range(0.9, None), Range(None, None)
    axes = Axes()
    curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    [((left, right), _)] = axes.drawn("axvspan")
    xs = [c.params["samples"] for c in claim.cells if first.params.items() <= c.params.items()]
    assert (left, right) == (pytest.approx(0.9 * unit), max(map(float, xs)))
    assert plots.panels(claim)


def test_a_crowded_plot_draws_all_controls_for_one_group() -> None:
    claim, axes = sample.trigger_signal(), Axes()
    caption = curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    dashed = [options for (xs, _), options in axes.drawn("plot") if "dashes" in options and xs]
    assert len(dashed) == 2
    assert len({options["color"] for options in dashed}) == 1
    assert "drawn for L = 64 only" in caption


def test_group_parameters_that_a_cell_lacks_are_not_in_its_label() -> None:
    claim = sample.trigger_signal()
    plotted(claim).group = ["length", "embeddings"]
    assert [group.label for group in series.series(claim, plotted(claim))] == [
        "L = 16",
        "L = 32",
        "L = 64",
    ]


def test_control_off_the_scale_does_not_flatten_the_data() -> None:
    claim, axes = sample.trigger_signal(), Axes()
    for cell in claim.cells:
        cell.controls = {"no-excess": 1e9}
    curve.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    [((_, high), _)] = axes.drawn("set_ylim")
    assert high < 10


def test_parity_draws_the_diagonal_and_the_wrong_theory() -> None:
    claim, axes = CLAIMS["A.localisation-probability"], Axes()
    parity.paint(axes, claim, plotted(claim))  # type: ignore[arg-type]
    diagonal = [args for args, options in axes.drawn("plot") if "observed" in options["label"]]
    assert diagonal[0][0] == diagonal[0][1]
    wrong = [args for args, options in axes.drawn("plot") if "control" in options["label"]]
    assert list(wrong[0][0]) == [cell.controls["additive"] for cell in claim.cells]


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
    st.none(), st.sampled_from(["A", "B"]), st.floats(-1e12, 1e12), st.sampled_from([0.0, 1e-100])
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
# Without shrinking, which would draw thousands of figures to make a failure smaller.
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
def test_any_valid_cells_can_be_drawn(
    cells: list[tuple[Parameters, Any, Any, Any]], kind: Any, scale: Scale, locates: bool, log: Any
) -> None:
    claim = sample.trigger_signal()
    claim.cells = [
        builders.cell(params, predicted, observed, 0.5, {"no-excess": wrong}, critical=2.0)
        for params, predicted, observed, wrong in cells
    ]
    claim.rule = builders.rule(scale=scale, locates=locates)
    claim.plot = Plot(kind=kind, x="samples", group=["length"], log=log, collapse=True)
    for panel in plots.panels(claim):
        ElementTree.fromstring(panel.svg)
