"""Critical values: where a success probability crosses a target as one parameter is scanned."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.tools.sm_exceptions import PerfectSeparationError

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.region import EVERYTHING, Component, Interval, Region, Scale
from recall_claims.judge.rules.base import Evidence, Predict, Rule, number
from recall_claims.judge.rules.least_squares import ExponentRule, functional


def scans(cells: Sequence[Cell], scan: str) -> list[list[int]]:
    """Indices of the cells of each scan: equal in everything but `scan`, at least three values.

    Raises:
        ClaimError: a cell has no positive `scan`, or a scan is too short.
    """
    found: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for index, cell in enumerate(cells):
        if scan not in cell or cell.number(scan) <= 0:
            raise ClaimError(f"cell {cell.id} has no positive {scan} to scan")
        found.setdefault(tuple(sorted(cell.without(scan).items())), []).append(index)
    for members in found.values():
        if len(members) < 3:
            raise ClaimError(
                f"the scan of {scan} through {cells[members[0]].id} has {len(members)} values; "
                "a transition needs at least 3"
            )
    return list(found.values())


def locate(evidence: Evidence, scan: str, target: float, observable: str) -> tuple[float, float]:
    """Logarithm of the value of `scan` at which the success probability is `target`.

    A binomial GLM (probit link in log scan) with heteroscedasticity-robust covariance: the
    observations are success rates of independent replicates, not necessarily 0 or 1.

    Returns:
        The estimate and its delta-method standard error; NaN, NaN where the data show no clear
        transition (flat, separable, or extrapolated beyond half the scan's extent).
    """
    x = np.concatenate(
        [np.full(s[observable].size, math.log(s.cell.number(scan))) for s in evidence]
    )
    y = np.concatenate([sample[observable] for sample in evidence])
    if y.min() < 0 or y.max() > 1:
        raise ClaimError(f"observable {observable!r} leaves [0, 1]: not a success rate")
    centre, extent = (x.min() + x.max()) / 2, x.max() - x.min()
    family = sm.families.Binomial(link=sm.families.links.Probit())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fit = sm.GLM(y, sm.add_constant(x - centre), family=family).fit(cov_type="HC1")
        except (Warning, PerfectSeparationError, np.linalg.LinAlgError, ValueError):
            return math.nan, math.nan
    intercept, slope = fit.params
    covariance = fit.cov_params()
    if not abs(slope) > 4 * math.sqrt(covariance[1, 1]):
        return math.nan, math.nan
    offset = (stats.norm.ppf(target) - intercept) / slope
    if abs(offset) > extent:
        return math.nan, math.nan
    gradient = np.array([-1.0, -offset]) / slope
    return centre + offset, math.sqrt(gradient @ covariance @ gradient)


@dataclass(frozen=True)
class CriticalLocation(Rule):
    """Located critical value of `scan` over its prediction, one component per scan.

    `predict` gives the critical value and must not depend on `scan`.

    `CriticalLocation(Region(0.9, 1.1), scan="dim")`: at fixed other parameters, the success rate
    crosses one half at a dim within 10 per cent of the predicted one.
    """

    region: Region
    scan: str = "samples"
    target: float = 0.5
    observable: str = "value"
    scale: ClassVar[Scale] = "ratio"
    predicts_location: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "Critical values from a binomial GLM with robust covariance; delta-method intervals for "
        "located over predicted, jointly valid over the scans."
    )

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for members in scans(cells, self.scan):
            values = [number(predict, cells[i]) for i in members]
            if min(values) <= 0 or max(values) > min(values) * (1 + 1e-9):
                raise ClaimError(
                    f"predict must give one positive critical {self.scan} for the whole scan "
                    f"through {cells[members[0]].id}, got {min(values):g} to {max(values):g}"
                )

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        found = scans([sample.cell for sample in evidence], self.scan)
        quantile = stats.norm.isf(alpha / len(found) / 2)
        result = []
        for members in found:
            samples = [evidence[i] for i in members]
            location, error = locate(samples, self.scan, self.target, self.observable)
            log_ratio = location - math.log(number(predict, samples[0].cell))
            interval = EVERYTHING
            if math.isfinite(error):
                reach = quantile * error
                interval = Interval(math.exp(log_ratio - reach), math.exp(log_ratio + reach))
            params = samples[0].cell.without(self.scan)
            name = ",".join(f"{k}={v}" for k, v in sorted(params.items()))
            ratio = math.exp(log_ratio)
            result.append(Component(name, ratio, interval, self.region, self.scale, params))
        return tuple(result)


@dataclass(frozen=True)
class CriticalExponents(ExponentRule):
    """Exponents of the critical value of `scan` in the other parameters, jointly.

    Each scan is located by its own GLM, then the log locations are regressed on the log
    parameters; `reference` is as for `Exponents`.
    """

    exponents: Mapping[str, float]
    half_width: float | Mapping[str, float]
    scan: str = "samples"
    target: float = 0.5
    observable: str = "value"
    reference: Literal["asymptotic", "prediction"] = "asymptotic"
    predicts_location: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "Critical values from binomial GLMs with robust covariance, then least-squares exponents "
        "of their logarithms; delta-method intervals, jointly valid over the exponents."
    )

    def points(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        return [cells[members[0]] for members in scans(cells, self.scan)]

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        found = scans([sample.cell for sample in evidence], self.scan)
        located = np.array(
            [
                locate([evidence[i] for i in members], self.scan, self.target, self.observable)
                for members in found
            ]
        )
        names = list(self.exponents)
        points = [evidence[members[0]].cell for members in found]
        matrix = functional(points, names)
        estimates = matrix @ located[:, 0]
        reach = stats.norm.isf(alpha / len(names) / 2) * np.sqrt(matrix**2 @ located[:, 1] ** 2)
        intervals = [
            Interval(float(e - r), float(e + r)) if math.isfinite(r) else EVERYTHING
            for e, r in zip(estimates, reach, strict=True)
        ]
        return self.compared(points, list(estimates), intervals, predict)
