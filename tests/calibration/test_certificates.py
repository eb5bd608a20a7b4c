"""Certificates are right where they can be checked, and committed for the present claims."""

import math
import re
import secrets
from argparse import Namespace
from dataclasses import replace as replaced
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from recall_claims import Cell, Claim, Functional, Region, WinnerShare
from recall_claims.certify import tilting
from recall_claims.certify.certificate import Resampled, World, certify, worlds
from recall_claims.certify.command import broken, main
from recall_claims.certify.tilting import PRECISION, missed, misses
from recall_claims.declare.registration import registration
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.judge.methods import Array
from recall_claims.judge.rules import Sample
from recall_claims.model.budget import Budget
from recall_claims.model.papers import papers
from recall_reports.record.certificates import Certificate, load
from tests.every_claim import imported

CERTIFICATES = Path(__file__).parents[2] / "reports" / "certificates.json"
SEED = 1001

WORLDS = {
    "normal": np.random.default_rng(0).normal(size=500),
    "skewness 1.7": np.random.default_rng(1).lognormal(0, 0.5, 500),
    "skewness -1.7": -np.random.default_rng(1).lognormal(0, 0.5, 500),
    "coins": np.array([0.0] * 300 + [1.0] * 200),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("count", [32, 128])
def test_tilting_agrees_with_counting_misses(world: str, count: int) -> None:
    rng = np.random.default_rng(7)
    values, level, runs = WORLDS[world], 2e-3, 40_000
    standard = (values - values.mean()) / values.std()
    counted = missed(standard[rng.integers(0, values.size, (runs, count))], level).mean()
    found = misses(values, count, level, rng)
    spread = math.sqrt(counted * (1 - counted) / runs) + found.error
    assert found.value == pytest.approx(counted, abs=4 * spread + 1e-5)


def test_a_point_whose_winner_trails_hides_no_other_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of ten points has a tenth of alpha, and there the winner leads two rivals. If the winner
    trails at one point, the eighteen leads at the other points still count.
    """
    monkeypatch.setattr(tilting, "BATCH", 2**16)  # as many samples as the precision needs
    rule = WinnerShare(Region(0.9, 1.0))
    claim = replaced(imported()["A.dominant-term-map"], rule=rule, predict=lambda _: "a")
    rng = np.random.default_rng(3)

    def refutes(ahead: float) -> float:
        points = [
            {"a": rng.exponential(size=512), "b": rng.exponential(size=512) - 1, "c": np.zeros(512)}
            for _ in range(10)
        ]
        points[0]["c"] += ahead
        evidence = [Sample(Cell(dim=2 + i), values) for i, values in enumerate(points)]
        return World(claim, "standard", 1e-3, evidence).errors()[0]

    assert refutes(2.0) > 0.3 * refutes(0.0)


def test_a_function_of_means_is_worked_out_again_in_every_sample() -> None:
    """A count in 200,000 samples gives a miss rate of 1.38e-3. Pseudo-values that are computed only
    once would give 2.9e-4."""
    rng, count, level = np.random.default_rng(0), 64, 1e-4
    evidence = [Sample(Cell(dim=2), {"value": rng.exponential(size=4096)})]
    rule = Functional(Region(-0.1, 0.1), formula="value**2")
    again = Resampled(rule, lambda _: 0.0, evidence, 0)
    values = rule.values(evidence[0], 4096)
    found = misses(-values, count, level, rng, lambda drawn: again.less_truth(-1, drawn))
    drawn = rng.integers(0, 4096, (20_000, count))
    counted = missed(again.less_truth(-1, drawn), level).mean()
    assert found.value == pytest.approx(1.38e-3, rel=0.2)
    assert found.value == pytest.approx(counted, abs=4 * math.sqrt(counted / 20_000) + found.error)
    fixed = misses(-values, count, level, rng)
    assert fixed.value < 0.3 * found.value


def test_a_t_bound_at_32_skewed_values_misses_far_more_often_than_it_says() -> None:
    # An audit counted 23 times the nominal rate at 1e-6, before bounds ran at half their level.
    ranks = (np.arange(20_000) + 0.5) / 20_000
    world: Array = -stats.lognorm.ppf(ranks, 0.5)
    few = misses(world, 32, 0.5e-5, np.random.default_rng(3))
    many = misses(world, 512, 0.5e-5, np.random.default_rng(4))
    assert few.value - 2 * few.error > 10 * 0.5e-5
    assert many.value < 1.3e-5


def test_nothing_misses_in_a_world_that_cannot_reach_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tilting, "MOST", 4)
    coins = np.array([0.0, 1.0])
    assert misses(coins, 4, 1e-6, np.random.default_rng(0)).value == 0.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"refutes": 1e-5}, "errs"),
        ({"supports": 1e-5}, "errs"),
        ({"alpha": 1e-2, "refutes": 2e-3}, "together"),
    ],
)
def test_a_broken_promise_is_told(changes: dict[str, float], words: str) -> None:
    levels = dict.fromkeys(("alpha", "refutes", "supports"), 4e-6)
    sound = Certificate(registration="0", **levels, worlds=3, least=1e-6, stress=1e-5)
    assert broken({"A.claim": sound}, 1e-3) == []
    [problem] = broken({"A.claim": replace(sound, **changes)}, 1e-3)
    assert words in problem


def test_the_sum_of_errors_is_of_all_certificates_even_if_none_is_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims, kept = [imported()[name] for name in RENEWED[:2]], tmp_path / CERTIFICATES.name
    kept.write_bytes(CERTIFICATES.read_bytes())
    of = Namespace(tier="standard", k="", stale=True, ledger=tmp_path / "ledger", json=kept)
    assert main(of, claims) == 0
    total = sum(load(kept).claims[claim.id].refutes for claim in claims)
    assert re.search(rf"all .* {total:.2g} ", capsys.readouterr().out)


REMEDY = "certify again: python -m recall_claims certify"


def certifiable() -> dict[str, Claim]:
    """Return the claims by Student's t that run in the standard tier, by id."""
    claims = {n: c for n, c in imported().items() if c.why_not_run("standard", "cpu") is None}
    return {name: claim for name, claim in claims.items() if not claim.rule.exact}


def test_every_claim_by_students_t_has_a_certificate_for_what_it_declares_now() -> None:
    certified = load(CERTIFICATES)
    assert certified.tier == "standard"
    now = {name: registration(claim, "standard") for name, claim in certifiable().items()}
    assert {name: one.registration for name, one in certified.claims.items()} == now, REMEDY


RENEWED = [
    *("A.trigger-noise", "C.zipf-power-exponent-p", "C.zipf-cutoff-exponent"),
    *("C.zipf-samples-exponent", "E.batch-overshoot"),
]
"""Cheap claims whose certificates rest on draws by SFC64. Most other certificates rest on draws by
PCG64, which claims no longer use, and cannot be computed again."""


@pytest.mark.thorough
def test_a_random_certificate_is_what_its_evidence_gives(tmp_path: Path) -> None:
    """One certificate of `RENEWED`, chosen at random each time, is computed again.

    On another processor, rounding changes which samples are drawn. Then two estimates, each of a
    relative standard error of at most PRECISION, differ by three standard errors at most.
    """
    kept, claims = load(CERTIFICATES).claims, certifiable()
    name = secrets.choice(RENEWED)
    claim, seeds = claims[name], range(SEED, SEED + kept[name].worlds)
    alpha = Budget().per_claim(papers()[claim.source.paper])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        drawn = [
            run_claim(larger, settings, ledger, SerialExecutor(), alpha=alpha).evidence
            for larger, settings in worlds(claim, Settings(seed=SEED), seeds)
        ]
    found = certify(claim, "standard", alpha, drawn)
    assert kept[name].alpha == pytest.approx(found.alpha)
    for figure in ("refutes", "supports", "least", "stress"):
        again = pytest.approx(getattr(found, figure), rel=3 * math.sqrt(2) * PRECISION)
        assert getattr(kept[name], figure) == again, (name, figure)


def test_certificates_keep_every_claim_within_its_alpha_and_all_within_the_budget() -> None:
    assert broken(load(CERTIFICATES).claims, Budget().probability) == []


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(0, marks=pytest.mark.thorough),
        *(pytest.param(part, marks=pytest.mark.exhaustive) for part in range(1, 16)),
    ],
)
def test_t_claims_of_the_smoke_tier_keep_their_promise_too(part: int, tmp_path: Path) -> None:
    """Data sets have their full size, because a run that stopped early has too few values."""
    smoke = [c for c in imported().values() if c.why_not_run("smoke", "cpu") is None]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for claim in [claim for claim in smoke if not claim.rule.exact][part::16]:
            alpha = Budget().per_claim(papers()[claim.source.paper])
            [(larger, settings)] = worlds(claim, Settings(tier="smoke", seed=SEED), [SEED])
            drawn = run_claim(larger, settings, ledger, SerialExecutor(), alpha=alpha).evidence
            assert certify(claim, "smoke", alpha, [drawn]).holds, claim.id
