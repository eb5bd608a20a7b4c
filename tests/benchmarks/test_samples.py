"""Runs until a verdict follow the engine, and their opponents the formulas that they stand for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from recall_claims import (
    Block,
    Cell,
    ProportionDifference,
    Region,
    Sample,
    Source,
    Verdict,
    cells,
    claim,
    grid,
)
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run
from recall_claims.judge.methods import Array
from recall_claims.judge.rules.critical import Ladder
from tests.benchmarks import planning, probit, samples, skewed, worlds
from tests.benchmarks.cases import CASES, Case
from tests.calibration.pools import pool

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes, and a scan that is enumerated in no time."""
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")  # then `pool` starts none
    monkeypatch.setattr(samples, "TOSSES", 3)
    monkeypatch.setattr(skewed.plain, "__defaults__", (100,))


@pytest.mark.parametrize(
    "name",
    [
        "OneSided, skewness 1.75",
        "Probability, coin of 0.98",
        "Probability, rates of sd 0.03",
        "CriticalLocation, slope 2",
    ],
)
def test_samples(name: str) -> None:
    methods = samples.OPPONENTS[name]
    found = samples.section({name: methods}, runs=3)
    assert [row.against for row in found.rows[:-3]] == list(methods)
    assert all(row.factor.count(" / ") == 2 for row in found.rows[:-3])
    assert ["TFP" in row.theirs for row in found.rows] == [
        *(method == "DKWM" for method in methods),
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("name", CASES)
def test_worlds_are_right_and_wrong(name: str) -> None:
    found = [worlds.Engine(name, 0.01).run(truth, RNG).verdict for truth in CASES[name].truths]
    assert found == [Verdict.SUPPORTED, Verdict.REFUTED, Verdict.REFUTED]


def eighths(cell: Cell, count: int) -> Array:
    """As many ones in every 8 as the cell says; no chance."""
    return (np.arange(count) % 8 < cell.number("eighths")).astype(float)


CELLS = grid(eighths=(4, 5))


@claim(
    "T.eighths",
    "Rates without chance",
    source=Source("A", "A3", provenance="derived", reference="nowhere"),
    cells=CELLS,
    replicates=16,
    looks=6,
    rule=ProportionDifference(Region(-0.3, 0.3)),
    predict=lambda cell: 0.5,
)
def without_chance(cell: Cell, block: Block) -> Array:
    """A rate is within 0.3 of one half."""
    return eighths(cell, block.replicates)


def test_runs_are_those_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(
        rule=without_chance.rule,
        cells=CELLS,
        draw=lambda rng, cell, count, truth: {"value": eighths(cell, count)},
        predict=without_chance.predict,
        centre=0.0,
        edge=0.3,
        looks=6,
    )
    monkeypatch.setitem(CASES, "eighths", case)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        outcome = run(without_chance, Settings(), ledger, SerialExecutor())
    counts = [sample.replicates for sample in outcome.evidence]
    assert counts[0] < counts[1] < 16 * 32  # the first is decided before
    found = worlds.Engine("eighths", outcome.alpha).run(0.0, RNG)
    assert found == worlds.Run(outcome.decision.verdict, sum(counts))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("Probability, coin of 0.5", "exact binomial"),
        ("Probability, rates of sd 0.13", "t interval"),
        ("Probability, rates of sd 0.03", "DKWM"),
        ("Probability, coin of 0.5", "Hoeffding"),
    ],
)
def test_plans_have_the_power(name: str, method: str) -> None:
    alpha, runs, known = 0.01, 400, worlds.bounded(name)
    count = planning.by_method(method, name, alpha)
    ready = worlds.ReadyMade(method, known.low, known.high)
    design = worlds.OneLook(name, ready, count, alpha)
    with pool() as executor:
        shares = [
            samples.share_of(verdict, worlds.runs_of(design, truth, runs, executor))
            for verdict, truth in zip(
                (Verdict.SUPPORTED, Verdict.REFUTED), CASES[name].truths[:2], strict=True
            )
        ]
    # Of 400 runs at a power of 0.9, between 340 and 380 are right but for one time in a thousand.
    low, high = stats.binom.interval(0.998, runs, planning.POWER)
    assert low / runs <= min(shares) <= high / runs


def test_a_plan_by_hand() -> None:
    # To support takes z(0.05) + z(0.01) = 3.971 standard errors of sqrt(0.9 0.1 / 5) to an edge, to
    # refute z(0.1) + z(0.005) = 3.858 of the larger sqrt(0.84 0.16 / 5): more values.
    found = planning.by_method("t interval", "Probability, rates of sd 0.13", 0.01)
    deviation = math.sqrt(0.84 * 0.16 / 5)
    assert found == pytest.approx((3.858 * deviation / 0.03) ** 2, rel=0.02)


def test_plain_t_misses_skewed_means_and_ours_does_not() -> None:
    alpha = samples.ALPHA
    assert 0 < skewed.ours(alpha) <= alpha
    # Some 35 misses are counted, where 0.4 are promised.
    assert skewed.plain(30, alpha, runs=100_000) > 20 * alpha


def test_plain_t_misses_as_often_as_it_says_at_large_levels() -> None:
    assert skewed.plain(2000, 0.1, runs=2000) == pytest.approx(0.1, abs=0.04)


def test_the_fit_finds_a_probit_law() -> None:
    logs, tosses = np.array([-1.0, 0.0, 1.5]), 20_000
    rates = stats.norm.cdf(2 * (logs - 0.3))
    found = probit.fitted(logs, np.round(rates * tosses).astype(int), tosses, "nonrobust")
    assert found.estimate == pytest.approx(0.3, abs=1e-3)
    assert found.error == pytest.approx(probit.error_of(logs, 2.0, 0.3, tosses), rel=1e-2)
    robust = probit.fitted(logs, np.round(rates * tosses).astype(int), tosses, "HC1")
    assert robust.error == pytest.approx(found.error, rel=1e-2)


def test_robust_errors_of_separated_data_are_an_artefact() -> None:
    logs = -stats.norm.ppf(samples.SEPARATED)
    model, robust = (probit.fitted(logs, (0, 22, 32), 32, how) for how in ("nonrobust", "HC1"))
    assert robust.error < 0.1 < 10 < model.error


def test_outcomes_have_their_probabilities() -> None:
    found = dict(probit.outcomes((0.25, 0.5), 2))
    assert math.fsum(found.values()) == pytest.approx(1)
    assert found[1, 2] == pytest.approx(2 * 0.25 * 0.75 * 0.5**2)


def test_misses_are_of_the_outcomes_that_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(logs: Array, successes: tuple[int, ...], *_: object) -> probit.Crossing:
        return probit.Crossing(float(logs[0]) if successes == (2, 0) else 0.1, 0.1)

    monkeypatch.setattr(probit, "fitted", fitted)
    assert probit.misses((0.25, 0.5), 2, 0.05, "HC1") == pytest.approx(0.25**2 * 0.5**2)


def test_a_ladder_misses_as_its_brackets_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probit, "LIKELY", 0.0)
    rates, tosses, alpha = (0.3, 0.55, 0.6), 12, 0.4
    rungs = cells({"samples": rung} for rung in (1, 2, 3))
    found = 0.0
    for successes, probability in probit.outcomes(rates, tosses):
        tossed = [
            Sample(cell, {"value": (np.arange(tosses) < count).astype(float)})
            for cell, count in zip(rungs, successes, strict=True)
        ]
        bracket = Ladder(tossed, "samples", 0.5, "value", rising=True).bracket(alpha / 2)
        found += probability * (bracket.low > 1 or bracket.high < 2)
    assert 0 < found < alpha
    assert probit.ladder_misses(rates, [tosses], alpha) == pytest.approx(found)
