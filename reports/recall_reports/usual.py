"""A usual analysis of a record by statsmodels: regressions and 95% intervals.

The analysis decides nothing. A verdict rests on tests that assume no curve. Readers know fits and
confidence intervals, so the report shows these too, as a check of the engine by other code:

* a critical value is where a probit curve of success rates in log(scanned size) crosses the
  target rate; its error is by the delta method. Rates that are means of probabilities vary less
  than shares of successes, so the cells' errors give the curve's dispersion;
* an exponent is the slope of log(mean or critical value) in log(parameter), weighted by errors. A
  law that bends has no single exponent. For predicted means, the slopes of log(predicted) and
  log(observed / predicted) are added;
* a share of successes has Wilson's interval, and any other mean Student's.

If a fit's residuals are k > 1 times the replicates' errors, the fit's errors grow k-fold. This
module imports statsmodels, which is slow. Code that writes a record imports it, and keeps the
analyses in the record, from which `analyses` reads them.
"""

import math
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.families.links import Probit
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.proportion import proportion_confint
from statsmodels.tools.sm_exceptions import ModelWarning, PerfectSeparationWarning

from recall_reports.record import CellRow, ClaimRow, ComponentRow, Range, Record, Usual, UsualRow
from recall_reports.summary import grouped

Array = npt.NDArray[np.float64]

MISSES = 0.05
"""Probability that an interval misses the true value; level of the tests."""
OF_MEANS = ("MeanRatio", "MeanDifference", "ProportionDifference", "OneSided", "Functional")
"""Rules about means of cells, minus or divided by predictions."""


def analysed(record: Record) -> dict[str, UsualRow]:
    """Analyse all claims that have a usual analysis, and make the intervals that figures draw."""
    drawn = {one.claim for paper in record.papers for fig in paper.figures for one in fig.series}
    found = {}
    for claim in record.claims:
        cells = [interval(cell) for cell in claim.cells] if claim.id in drawn else []
        found[claim.id] = UsualRow(components=components(claim), cells=cells)
    return found


def components(claim: ClaimRow) -> list[Usual | None]:
    """Analyse each component of a claim; None for a component without a usual analysis."""
    nothing: list[Usual | None] = [None] * len(claim.components)
    name = claim.rule.name
    errors = [cell.error for cell in claim.cells if cell.replicates]
    if claim.state != "DECIDED" or not errors or None in errors:
        return nothing
    if name in ("Exponents", "CriticalExponents"):
        return _exponents(claim) or nothing
    analyse = {"CriticalLocation": _location, **dict.fromkeys(OF_MEANS, _mean)}.get(name)
    return [analyse(claim, part) for part in claim.components] if analyse else nothing


def _usual(
    estimate: float, error: float, region: tuple[float, float], dof: float = math.inf
) -> Usual | None:
    """Make an analysis of an estimate, its standard error, and the error's degrees of freedom."""
    if not (math.isfinite(estimate) and 0 < error < math.inf):
        return None
    reach = float(stats.t.isf(MISSES / 2, dof)) * error
    beyond = max(region[0] - estimate, estimate - region[1]) / error
    ends = Range.of(estimate - reach, estimate + reach)
    return Usual(estimate=estimate, ends=ends, p_value=float(stats.t.sf(beyond, dof)))


def _mean(claim: ClaimRow, component: ComponentRow) -> Usual | None:
    """Analyse a mean over a component's cells, each minus or divided by its prediction."""
    cells = _of(claim.cells, component)
    observed = [cell.observed for cell in cells if isinstance(cell.observed, float)]
    expected = [cell.predicted for cell in cells if isinstance(cell.predicted, float)]
    if claim.rule.name == "OneSided" and not expected:
        expected = [0.0] * len(cells)
    if not cells or not len(cells) == len(observed) == len(expected):
        return None
    ratio = claim.rule.scale == "ratio"
    if ratio and 0 in expected:
        return None
    units = [abs(value) if ratio else 1.0 for value in expected]
    if len(cells) == 1 and _is_coin(cells[0]):
        return _share(observed[0], cells[0].replicates, expected[0], component, ratio=ratio)
    means = [o / e if ratio else o - e for o, e in zip(observed, expected, strict=True)]
    errors = [(cell.error or 0.0) / unit for cell, unit in zip(cells, units, strict=True)]
    dof = min(cell.replicates for cell in cells) - 1
    error = math.hypot(*errors) / len(cells)
    return _usual(math.fsum(means) / len(cells), error, component.region.ends, dof)


def _share(
    share: float, count: int, expected: float, component: ComponentRow, *, ratio: bool
) -> Usual | None:
    """Analyse a share, minus or divided by its prediction, by Wilson's interval and test."""
    if ratio and expected < 0:
        return None

    def sent(value: float) -> float:
        return value / expected if ratio else value - expected

    low, high = proportion_confint(round(share * count), count, MISSES, method="wilson")
    edges = [edge * expected if ratio else edge + expected for edge in component.region.ends]
    beyond = [
        sign * (share - edge) / math.sqrt(edge * (1 - edge) / count)
        for edge, sign in zip(edges, (-1, 1), strict=True)
        if 0 < edge < 1
    ]
    p_value = float(stats.norm.sf(max(beyond, default=-math.inf)))
    ends = Range.of(sent(float(low)), sent(float(high)))
    return Usual(estimate=sent(share), ends=ends, p_value=p_value)


def interval(cell: CellRow) -> Range | None:
    """Return the 95% interval of a cell's observed value, if `cell.error` is known."""
    share, error = cell.observed, cell.error
    if not isinstance(share, float) or error is None:
        return None
    if _is_coin(cell):
        successes = round(share * cell.replicates)
        low, high = proportion_confint(successes, cell.replicates, MISSES, method="wilson")
        return Range.of(float(low), float(high))
    reach = float(stats.t.isf(MISSES / 2, max(cell.replicates - 1, 1))) * error
    return Range.of(share - reach, share + reach)


def _is_coin(cell: CellRow) -> bool:
    """Whether each replicate was 0 or 1: no other values in [0, 1] vary as much at this mean."""
    share, count = cell.observed, cell.replicates
    if not isinstance(share, float) or not 0 <= share <= 1 or count < 2 or cell.error is None:
        return False
    successes = share * count
    whole = math.isclose(successes, round(successes), rel_tol=1e-6)
    most = share * (1 - share) / (count - 1)
    return whole and math.isclose(cell.error**2, most, rel_tol=1e-3, abs_tol=1e-12)


def _location(claim: ClaimRow, component: ComponentRow) -> Usual | None:
    """Analyse a critical value divided by its prediction."""
    ladder = _of(claim.cells, component)
    critical = ladder[0].critical if ladder else None
    found = _crossing(claim, ladder)
    if found is None or not critical or critical <= 0:
        return None
    low, high = (math.log(edge) if edge > 0 else -math.inf for edge in component.region.ends)
    usual = _usual(found[0] - math.log(critical), found[1], (low, high))
    if usual is None or max(map(abs, usual.ends.ends)) > 100:
        return None
    left, right = map(math.exp, usual.ends.ends)
    ends = Range.of(left, right)
    return Usual(estimate=math.exp(usual.estimate), ends=ends, p_value=usual.p_value)


def _crossing(claim: ClaimRow, ladder: Sequence[CellRow]) -> tuple[float, float] | None:
    """Fit a probit curve; return the logarithm of the critical value, and its standard error.

    None if the shares allow no fit, or statsmodels warns about it.
    """
    ladder = [cell for cell in ladder if cell.replicates]
    scan, target = (claim.declared.get(f"rule's {name}", "") for name in ("scan", "target"))
    sizes = _numbers(cell.params.get(scan) for cell in ladder)
    shares = _numbers(cell.observed for cell in ladder)
    counts = np.array([cell.replicates for cell in ladder], dtype=float)
    errors = np.array([cell.error or 0.0 for cell in ladder])
    if sizes is None or shares is None or len(set(sizes)) < 2:
        return None
    try:
        level = float(ladder[0].params.get(target, target))
    except ValueError:
        return None
    if not (sizes.min() > 0 and shares.min() >= 0 and shares.max() <= 1 and 0 < level < 1):
        return None
    if counts.min() < 2 or _separated(shares[np.argsort(sizes)]):
        return None
    coins = float(counts @ (shares * (1 - shares)))
    spread = min(1.0, float(counts**2 @ errors**2) / coins)
    logs = np.log(sizes)
    middle = float(logs.mean())
    design = np.column_stack([np.ones_like(logs), logs - middle])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        # A curve always fits two sizes perfectly: `_separated` says if this shows nothing.
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        model = GLM(shares, design, family=Binomial(link=Probit()), var_weights=counts)
        try:
            fit = model.fit(scale=spread)
        except ModelWarning:
            return None
        misfit = fit.pearson_chi2 / spread / max(fit.df_resid, 1)
        intercept, slope = fit.params
        at = (stats.norm.ppf(level) - intercept) / slope
        gradient = np.array([1.0, at]) / slope
        error = math.sqrt(gradient @ fit.cov_params() @ gradient * max(1.0, misfit))
    return middle + float(at), error


def _separated(shares: Array) -> bool:
    """Check whether arbitrarily steep curves fit the shares, ordered by scanned size."""
    steps = np.diff(shares)
    within = int(((shares > 0) & (shares < 1)).sum())
    return within < 2 and bool((steps >= 0).all() or (steps <= 0).all())


def _exponents(claim: ClaimRow) -> list[Usual | None]:
    """Analyse exponents: slopes of the logarithms of means, or of critical values, in the
    parameters' logarithms."""
    cells, expected = claim.cells, None
    if claim.rule.locates:
        scan = claim.declared.get("rule's scan")
        ladders = grouped(cells, lambda cell: str({**cell.params, scan or "": None})).values()
        crossings = [found for ladder in ladders if (found := _crossing(claim, ladder))]
        if len(crossings) < len(ladders):
            return []
        cells = [ladder[0] for ladder in ladders]
        logs, errors = np.array(crossings).T
    else:
        means = _numbers(cell.observed for cell in cells)
        if means is None or means.min() <= 0:
            return []
        logs, errors = np.log(means), np.array([cell.error or 0.0 for cell in cells]) / means
        expected = _numbers(cell.predicted for cell in cells)
    names = [component.name for component in claim.components]
    sizes = [_numbers(cell.params.get(name) for cell in cells) for name in names]
    if errors.min(initial=1.0) <= 0 or any(s is None or s.min() <= 0 for s in sizes):
        return []
    design = np.column_stack([np.ones(len(cells)), *(np.log(s) for s in sizes if s is not None)])
    if np.linalg.matrix_rank(design) < len(names) + 1:
        return []
    base = np.zeros(len(names) + 1)
    if expected is not None and expected.min() > 0:
        base = np.linalg.lstsq(design, np.log(expected), rcond=None)[0]
        logs = logs - np.log(expected)
    fit = WLS(logs, design, weights=errors**-2).fit(cov_type="fixed scale")
    misfit = max(1.0, float(fit.wresid @ fit.wresid) / max(fit.df_resid, 1))
    slopes, slips = fit.params + base, fit.bse * math.sqrt(misfit)
    return [
        _usual(float(slope), float(error), component.region.ends)
        for slope, error, component in zip(slopes[1:], slips[1:], claim.components, strict=True)
    ]


def _of(cells: Sequence[CellRow], component: ComponentRow) -> list[CellRow]:
    """Return the cell of a component or, if none, the cells with the component's parameters."""
    named = [cell for cell in cells if cell.params == component.params]
    return named or [cell for cell in cells if component.params.items() <= cell.params.items()]


def _numbers(values: Iterable[object]) -> Array | None:
    """Return all values as numbers; None if one is no number, or if there are none."""
    found = list(values)
    if not found or any(isinstance(v, bool) or not isinstance(v, int | float) for v in found):
        return None
    return np.array(found, dtype=float)
