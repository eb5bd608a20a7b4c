"""Runs until a verdict follow the engine, and their opponents the formulas that they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recall_claims import Sample, cells
from recall_claims.judge.rules.critical import Ladder
from tests.benchmarks import samples

WORLDS = {world.name: world for world in samples.WORLDS}


def test_every_world_has_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "TOSSES", 3)
    rows = samples.section(runs=2).rows
    methods = ["t interval", *["t interval", "Hoeffding"] * 3, "–"]
    fits = ["probit fit, errors of the model", "probit fit, robust errors"]
    assert [row.against for row in rows] == methods + fits
    assert all("(1.00, 1.00)" in row.ours for row in rows[:-2])
    assert all(row.factor.count(" / ") == 1 for row in rows[:-3])


@pytest.mark.parametrize("method", ["t interval", "Hoeffding"])
@pytest.mark.parametrize("name", ["Probability, coin of 0.5", "Probability, rates of sd 0.13"])
def test_plans_have_the_power(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "ALPHA", alpha := 0.01)
    world, runs, rng = WORLDS[name], 400, np.random.default_rng(0)
    count = world.planned(method)
    shares = []
    for truth, level in zip(world.truths, (alpha, alpha / 2), strict=True):
        values = np.stack([world.draw(rng, world.cells[0], count, truth) for _ in range(runs)])
        errors = values.mean(1) - float(world.predict(world.cells[0]))
        half = math.sqrt(math.log(1 / level) / (2 * count))
        if method == "t interval":
            half = world.deviation / math.sqrt(count) * stats.norm.isf(level)
        supported = np.abs(errors) + half < world.margin
        shares.append(np.mean(supported if truth == 0 else np.abs(errors) - half > world.margin))
    low, high = stats.binom.interval(0.998, runs, samples.POWER)
    assert low / runs <= min(shares) <= high / runs


def test_plans_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "ALPHA", 0.01)
    coin = WORLDS["Probability, coin of 0.5"]
    # To support takes z(0.01) + z(0.05) = 3.971 deviations, to refute z(0.005) + z(0.1) = 3.858.
    assert coin.planned("t interval") == pytest.approx((3.971 * 0.5 / 0.1) ** 2, abs=1)
    # sqrt(ln(100) / 2) + z(0.05) / 2 = 2.340, and sqrt(ln(200) / 2) + z(0.1) / 2 = 2.268.
    assert coin.planned("Hoeffding") == pytest.approx((2.340 / 0.1) ** 2, abs=1)


def test_the_fit_finds_a_probit_law() -> None:
    logs, tosses = np.array([-1.0, 0.0, 1.5]), 20_000
    successes = np.round(stats.norm.cdf(2 * (logs - 0.3)) * tosses).astype(int)
    model, robust = (
        samples.fitted(logs, successes, tosses, 0.05, how) for how in ("nonrobust", "HC1")
    )
    assert (model.low + model.high) / 2 == pytest.approx(0.3, abs=1e-3)
    assert (robust.low, robust.high) == pytest.approx((model.low, model.high), rel=1e-2)
    weights = stats.norm.pdf(2 * (logs - 0.3)) ** 2 * tosses**2 / successes
    design = np.stack([np.ones(3), logs]) * np.sqrt(weights / (1 - successes / tosses))
    error = (
        math.sqrt(np.array([1, 0.3]) @ np.linalg.inv(design @ design.T) @ np.array([1, 0.3])) / 2
    )
    assert model.high - 0.3 == pytest.approx(1.96 * error, rel=2e-2)


def test_robust_errors_of_separated_data_are_an_artefact() -> None:
    logs = -stats.norm.ppf(samples.SEPARATED)
    model, robust = (
        samples.fitted(logs, (0, 22, 32), 32, 0.05, how) for how in ("nonrobust", "HC1")
    )
    assert robust.high - robust.low < 0.4 < 40 < model.high - model.low


def test_outcomes_have_their_probabilities() -> None:
    found = samples.outcomes((0.25, 0.5), 2)
    assert math.fsum(found.values()) == pytest.approx(1)
    assert found[1, 2] == pytest.approx(2 * 0.25 * 0.75 * 0.5**2)


def test_a_ladder_misses_as_its_brackets_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "LIKELY", 0.0)
    rates, tosses, alpha = (0.3, 0.55, 0.6), 12, 0.4
    rungs = cells({"samples": rung} for rung in (1, 2, 3))
    found = 0.0
    for successes, probability in samples.outcomes(rates, tosses).items():
        tossed = [
            Sample(cell, {"value": (np.arange(tosses) < count).astype(float)})
            for cell, count in zip(rungs, successes, strict=True)
        ]
        bracket = Ladder(tossed, "samples", 0.5, "value", rising=True).bracket(alpha / 2)
        found += probability * (bracket.low > 1 or bracket.high < 2)
    assert 0 < found < alpha
    assert samples.ladder_misses(rates, [tosses], alpha) == pytest.approx(found)
