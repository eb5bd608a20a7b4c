"""Every decision rule errs as rarely, and detects as often, as it says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import pytest

from recall_reports import credibility
from tests.calibration import tails
from tests.calibration.cases import CASES, labels
from tests.calibration.harness import ALPHA
from tests.calibration.measure import measure, pool

STATED_POWER = 0.5


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with pool() as running:
        yield running


@pytest.mark.parametrize("name", CASES)
def test_rule_is_calibrated(name: str, executor: Executor) -> None:
    found = measure(name, executor)
    assert found.refuted.interval[0] <= ALPHA, f"a true claim is refuted: {found.refuted}"
    assert found.supported.interval[0] <= ALPHA, f"a false claim is supported: {found.supported}"
    assert found.power.interval[0] >= STATED_POWER, (
        f"an error of the resolution ({found.error:.3g}) is missed: refuted {found.power}"
    )
    [published] = [
        row for row in credibility.calibration().rules if (row.rule, row.data) == labels(name)
    ]
    remedy = (
        "measure again: python -m tests.calibration --json reports/recall_reports/calibration.json"
    )
    for rate, now in (
        ("false_refutation", found.refuted),
        ("false_support", found.supported),
        ("power", found.power),
    ):
        told = getattr(published, rate).interval
        assert now.interval[0] <= told.high, f"{rate} in the report is too low; {remedy}"
        assert now.interval[1] >= told.low, f"{rate} in the report is too high; {remedy}"


def test_report_has_no_rule_that_is_not_measured() -> None:
    published = [(row.rule, row.data) for row in credibility.calibration().rules]
    assert published == [labels(name) for name in CASES]


@pytest.mark.parametrize("data", ["normal", "skewness 1.75"])
def test_interval_for_a_mean_holds_at_small_alpha(data: str, executor: Executor) -> None:
    missed = tails.misses(data, 128, 1e-3, executor)
    assert missed.interval[0] <= 1e-3, str(missed)
