"""The usual analysis finds the truth of synthetic data; a disagreement with a verdict is listed."""

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from recall_reports import record as rec
from recall_reports import usual as usual_analyses
from recall_reports import write
from recall_reports.analyses import Analyses
from recall_reports.record import files
from recall_reports.record.values import Verdict
from tests.reports import builders

Array = npt.NDArray[np.floating]
Draw = Callable[[np.random.Generator, float, int], Array]
SIZES = (12, 15, 18, 21, 25, 30)
SCANNED = {"rule's scan": "dim", "rule's target": "0.5"}


def coins(rng: np.random.Generator, chance: float, count: int) -> Array:
    return (rng.random(count) < chance).astype(float)


def chances(rng: np.random.Generator, chance: float, count: int) -> Array:
    """Draw probabilities with mean `chance` and a quarter of a coin's variance."""
    return rng.beta(3 * chance, 3 * (1 - chance), count)


def cell(params: rec.Parameters, values: Array, **more: float | None) -> rec.CellRow:
    error = float(values.std(ddof=1) / math.sqrt(values.size))
    return rec.CellRow(
        params=params,
        observed=float(values.mean()),
        error=error,
        replicates=values.size,
        **more,  # type: ignore[arg-type]
    )


def usual(claim: rec.ClaimRow) -> rec.Usual | None:
    """Return the analysis of the only component."""
    (found,) = Analyses([claim]).of(claim)
    return found


def ends(claim: rec.ClaimRow) -> tuple[float, float]:
    found = usual(claim)
    assert found is not None
    return found.ends.ends


def claim(
    rule: rec.RuleRow,
    cells: list[rec.CellRow],
    *components: rec.ComponentRow,
    declared: dict[str, str] | None = None,
) -> rec.ClaimRow:
    parts = list(components)
    return builders.claim("A.made", "title", parts, rule=rule, cells=cells, declared=declared or {})


def location(rates: Sequence[Array], region: builders.Ends = (0.9, 1.1)) -> rec.ClaimRow:
    """Make a claim on the dim at which rates cross one half, predicted at 20."""
    cells = [
        cell({"dim": size, "length": 8}, values, critical=20.0)
        for size, values in zip(SIZES, rates, strict=False)
    ]
    part = builders.component("length=8", 1.0, 0.05, region, {"length": 8})
    rule = builders.rule("CriticalLocation", locates=True)
    return claim(rule, cells, part, declared=SCANNED)


@pytest.mark.parametrize("draw", [coins, chances])
def test_the_interval_of_a_probit_curve_holds_its_crossing_as_often_as_it_says(draw: Draw) -> None:
    rng, held, runs, widths = np.random.default_rng(7), 0, 400, []
    for _ in range(runs):
        rates = [draw(rng, norm.cdf(4 * math.log(size / 26)), 200) for size in SIZES]
        low, high = ends(location(rates))
        held += low <= 26 / 20 <= high
        widths.append(high - low)
    assert 0.93 <= held / runs <= 0.985  # the factor for misfit is never below 1
    if draw is chances:  # half the standard deviation, half the width
        rates = [coins(rng, norm.cdf(4 * math.log(size / 26)), 200) for size in SIZES]
        assert np.median(widths) < 0.7 * np.ptp(ends(location(rates)))


def test_shares_that_separate_completely_have_no_usual_interval() -> None:
    none, half, all_ = np.zeros(64), np.arange(64) % 2.0, np.ones(64)
    assert usual(location([none, none, none, all_, all_, all_])) is None
    assert usual(location([none, none, half, all_, all_, all_])) is None
    assert usual(location([none, half, half, all_, all_, all_])) is not None


def test_two_sizes_are_enough_and_those_that_nobody_simulated_do_not_count() -> None:
    rng = np.random.default_rng(9)
    found = location([coins(rng, norm.cdf(3 * math.log(size / 20)), 400) for size in SIZES])
    for row, size in zip(found.cells, SIZES, strict=True):
        if size not in (18, 21):
            row.observed, row.error, row.replicates = None, None, 0
    low, high = ends(found)
    assert low < 1 < high


def test_a_critical_value_is_told_from_a_wrong_prediction() -> None:
    rng = np.random.default_rng(8)
    rates = [coins(rng, norm.cdf(6 * math.log(size / 26)), 400) for size in SIZES]
    found = usual(location(rates))
    assert found is not None
    assert found.ends.ends[0] > 1.2
    assert found.p_value < 1e-9


def power_law(rng: np.random.Generator, exponent: float, *, bend: float = 0.0) -> rec.ClaimRow:
    """Make a claim on the exponent of means d^exponent + bend d; replicates vary by 2% to 20%."""
    cells = []
    for size, noise in zip((8, 16, 32, 64), (0.02, 0.2, 0.05, 0.2), strict=True):
        truth = size**exponent + bend * size
        values = truth * (1 + noise * rng.standard_normal(100))
        cells.append(cell({"dim": size}, values, predicted=truth if bend else None))
    part = builders.component("dim", exponent, 0.05, (exponent - 0.1, exponent + 0.1))
    return claim(builders.rule("Exponents", "exponent"), cells, part)


def test_the_interval_of_an_exponent_holds_it_as_often_as_it_says() -> None:
    rng, runs = np.random.default_rng(9), 400
    found = [ends(power_law(rng, -1.5)) for _ in range(runs)]
    assert 0.93 <= sum(low <= -1.5 <= high for low, high in found) / runs <= 0.985


def test_the_exponent_of_a_law_that_bends_is_that_of_its_prediction_on_the_grid() -> None:
    sizes = np.array([8.0, 16.0, 32.0, 64.0])
    slope = np.polyfit(np.log(sizes), np.log(sizes**-1.5 + 0.001 * sizes), 1)[0]
    low, high = ends(power_law(np.random.default_rng(10), -1.5, bend=0.001))
    assert low <= slope <= high
    assert high - low < 0.1


def test_a_law_that_bends_without_a_prediction_widens_its_interval() -> None:
    straight, bent = (power_law(np.random.default_rng(10), -1.5, bend=bend) for bend in (0.0, 0.01))
    for one in bent.cells:
        one.predicted = None
    assert np.ptp(ends(bent)) > 5 * np.ptp(ends(straight))


def test_a_share_has_wilsons_interval_and_another_mean_students() -> None:
    values = np.arange(100) % 5 == 0
    rule = builders.rule("ProportionDifference", "probability")
    part = builders.component("length=8", 0.0, 0.05, (-0.1, 0.1), {"length": 8})
    share = cell({"length": 8}, values.astype(float), predicted=0.3)
    wilson = [end - 0.3 for end in proportion_confint(20, 100, method="wilson")]
    assert ends(claim(rule, [share], part)) == pytest.approx(wilson)
    half = cell({"length": 8}, values * 0.5 + 0.1, predicted=0.3)  # no coin: 0.1 or 0.6
    reach = t.isf(0.025, 99) * 0.5 * 0.4 / math.sqrt(99)
    assert ends(claim(rule, [half], part)) == pytest.approx((-0.1 - reach, -0.1 + reach))


def test_a_mean_over_cells_has_the_error_of_all_and_a_ratio_that_of_its_unit() -> None:
    rng = np.random.default_rng(11)
    values = [2.0 * (1 + 0.1 * rng.standard_normal(50)) for _ in range(2)]
    cells = [cell({"length": 8, "dim": d}, v, predicted=2.0) for d, v in enumerate(values)]
    part = builders.component("length=8", 1.0, 0.05, (0.9, 1.1), {"length": 8})
    found = usual(claim(builders.rule(), cells, part))
    assert found is not None
    both = np.concatenate(values) / 2
    half = 1.96 * both.std() / 10
    assert found.estimate == pytest.approx(both.mean())
    low, high = found.ends.ends
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


def test_a_tiny_mean_is_no_share() -> None:
    values = 1e-13 * np.random.default_rng(5).gamma(4.0, 0.25, 256)
    part = builders.component("all", 1.0, 0.1, (0.9, 1.1))
    low, high = ends(claim(builders.rule(), [cell({}, values, predicted=1e-13)], part))
    assert 0.8 < low < 1 < high < 1.2


def test_a_component_about_one_cell_takes_no_cell_with_further_parameters() -> None:
    rng = np.random.default_rng(6)
    cells = [
        cell({"dim": 8}, 100 + rng.standard_normal(64), predicted=100.0),
        cell({"dim": 8, "batch": 4}, 50 + rng.standard_normal(64), predicted=100.0),
    ]
    part = builders.component("dim=8", 1.0, 0.1, (0.9, 1.1), {"dim": 8})
    low, high = ends(claim(builders.rule(), cells, part))
    assert 0.98 < low < 1 < high < 1.02


def test_a_record_without_standard_errors_has_no_usual_analysis() -> None:
    found = location([coins(np.random.default_rng(12), 0.5, 64)] * 6)
    for one in found.cells:
        one.error = None
    assert usual(found) is None


@pytest.mark.parametrize(
    ("verdict", "region", "disagrees"),
    [
        (Verdict.SUPPORTED, (0.9, 1.1), False),
        (Verdict.SUPPORTED, (1.5, 1.7), True),
        (Verdict.REFUTED, (1.5, 1.7), False),
        (Verdict.REFUTED, (0.5, 1.5), True),
        (Verdict.INCONCLUSIVE, (1.5, 1.7), False),
    ],
)
def test_it_disagrees_outside_a_supported_region_and_inside_a_refuted_one(
    verdict: Verdict, region: builders.Ends, disagrees: bool
) -> None:
    rng = np.random.default_rng(13)
    found = location([coins(rng, norm.cdf(4 * math.log(s / 20)), 400) for s in SIZES], region)
    found.components[0].verdict = verdict
    assert bool(Analyses([found]).disagreeing) is disagrees


def test_p_values_are_adjusted_for_all_tests_of_the_run() -> None:
    rng = np.random.default_rng(14)
    claims = []
    for i, at in enumerate((21, 21.2, 23)):
        rates = [coins(rng, norm.cdf(4 * math.log(s / at)), 200) for s in SIZES]
        claims.append(location(rates, (0.97, 1.03)))
        claims[-1].id = f"A.made-{i}"
    tested = Analyses(claims).tested
    assert tested[0].claim.id == "A.made-2"
    values = [found.usual.p_value for found in tested]
    adjusted = multipletests(values, method="holm")[1]
    assert [found.adjusted for found in tested] == pytest.approx(adjusted.tolist())


def test_a_written_record_has_its_analyses_and_its_page_is_made_without_statsmodels(
    report: rec.Record, tmp_path: Path
) -> None:
    paths = write.write(report, tmp_path / "first")
    found = files.load(paths["json"])
    assert found.usual == usual_analyses.analysed(found)
    assert any(row.cells for row in found.usual.values())
    again = f"from recall_reports.__main__ import main; main(['render', '{paths['json']}', '--to', "
    again += f"'{tmp_path / 'again'}']); import sys; print('statsmodels' in sys.modules)"
    run = [sys.executable, "-c", again]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert said.endswith("False\n")
    for name in ("report.html", "report.md"):
        assert (tmp_path / "again" / name).read_text() == (tmp_path / "first" / name).read_text()


def test_an_analysis_of_another_number_of_components_does_not_count() -> None:
    found = location([coins(np.random.default_rng(12), 0.5, 64)] * 6)
    assert Analyses([found], {found.id: rec.UsualRow(components=[])}).of(found) == [usual(found)]
