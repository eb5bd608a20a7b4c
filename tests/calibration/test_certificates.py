"""Certificates are right where they can be checked, and committed for what the claims are now."""

import math
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from recall_claims import Claim
from recall_claims.certify.certificate import VALUES, certify, without_evidence, worlds
from recall_claims.certify.command import broken
from recall_claims.certify.enumeration import rejection
from recall_claims.certify.tilting import missed, misses
from recall_claims.declare.papers import papers
from recall_claims.declare.registration import registration
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.judge.budget import Budget
from recall_claims.judge.methods import Array, log_wealth
from recall_reports.record.certificates import Certificate, Certificates, load
from recall_reports.record.files import load as load_record
from tests.every_claim import imported

CERTIFICATES = Path(__file__).parents[2] / "reports" / "certificates.json"
BASELINE = CERTIFICATES.with_name("baseline.json")
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


def test_a_t_bound_at_32_skewed_values_misses_far_more_often_than_it_says() -> None:
    # What an audit counted: 23 times nominal at 1e-6, before bounds ran at half their level.
    ranks = (np.arange(20_000) + 0.5) / 20_000
    world: Array = -stats.lognorm.ppf(ranks, 0.5)
    few = misses(world, 32, 0.5e-5, np.random.default_rng(3))
    many = misses(world, 512, 0.5e-5, np.random.default_rng(4))
    assert few.value + 2 * few.error > 1e-5
    assert many.value < 1.3e-5


def test_nothing_misses_in_a_world_that_cannot_reach_so_far() -> None:
    coins = np.array([0.0, 1.0])
    assert misses(coins, 4, 1e-6, np.random.default_rng(0)).value == 0.0


def test_enumeration_adds_up_what_every_look_rejects() -> None:
    once = rejection(0.5, 0.5, 0.05, [64])
    assert rejection(0.5, 0.5, 0.05, [16, 32, 64]) >= once
    k = np.arange(65)
    law = stats.binom.pmf(k, 64, 0.5)
    values = np.array([0.0, 1.0])
    over = [log_wealth(values, 0.5, np.array([64.0 - ones, ones])) >= math.log(20) for ones in k]
    assert once == pytest.approx(law[over].sum())


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"refutes": 1e-5}, "errs"), ({"supports": 1e-5}, "errs"), ({"alpha": 1e-2}, "together")],
)
def test_a_broken_promise_is_told(changes: dict[str, float], words: str) -> None:
    sound = Certificate(
        registration="0", method="t", alpha=4e-6, refutes=4e-6, supports=4e-6, undecided=0.0
    )
    assert broken({"A.claim": sound}, 1e-3) == []
    if words == "together":
        changes = {"alpha": 1e-2, "refutes": 2e-3}
    [problem] = broken({"A.claim": replace(sound, **changes)}, 1e-3)
    assert words in problem


REMEDY = "certify again: python -m recall_claims certify"
DEAR = ("A.orthonormal-localisation", "B.mlp-threshold", "E.batch-gradient")
"""Claims of the longest predictions, together as long as those of all others."""


def certifiable() -> dict[str, Claim]:
    return {n: c for n, c in imported().items() if c.why_not_run("standard", "cpu") is None}


def test_every_claim_has_a_certificate() -> None:
    assert load(CERTIFICATES).claims.keys() >= certifiable().keys(), REMEDY


@pytest.mark.parametrize(
    "dear", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["cheap", "dear"]
)
def test_every_certificate_is_for_what_its_claim_declares_now(dear: bool) -> None:
    claims, certified = certifiable(), load(CERTIFICATES)
    assert certified.tier == "standard"
    assert claims.keys() >= set(DEAR)
    names = [name for name in claims if (name in DEAR) == dear]
    now = {name: registration(claims[name], "standard") for name in names}
    assert {name: certified.claims[name].registration for name in names} == now, REMEDY


def test_every_certificate_has_its_seal_and_what_follows_without_evidence() -> None:
    """A figure edited by hand shows by the seal; under a new seal, by what it has to be."""
    kept, budget = load(CERTIFICATES), Budget()
    for name, claim in certifiable().items():
        found = kept.claims[name]
        assert found == found.sealed(name, kept.tier), f"{name} was edited; {REMEDY}"
        share = budget.per_claim(papers()[claim.source.paper])
        level = claim.rule.alpha_of_look(share, claim.looks(kept.tier))
        follows = without_evidence(claim, kept.tier, level, found.registration)
        same = ["method", "alpha", *(["refutes", "supports"] if found.method != "t" else [])]
        if any(getattr(found, field) != getattr(follows, field) for field in same):
            # One for an older declaration is another test's to tell.
            assert found.registration != registration(claim, kept.tier), (name, found, follows)


EDITS: list[dict[str, Any]] = [
    {"refutes": 1e-12},
    {"supports": 1e-12},
    {"method": "deterministic"},
    {"alpha": 1e-3},
    {"evidence": "0"},
    {"seal": ""},
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: next(iter(edit)))
def test_a_certificate_that_was_edited_is_none(edit: dict[str, Any]) -> None:
    kept = load(CERTIFICATES)
    name, found = next(iter(kept.claims.items()))
    assert kept.of(name, "standard", found.registration) == found
    kept.claims[name] = replace(found, **edit)
    assert kept.of(name, "standard", found.registration) is None
    other = Certificates(tier="standard", claims={"A.other": found})
    assert other.of("A.other", "standard", found.registration) is None


@pytest.mark.thorough
def test_a_random_certificate_of_a_t_rule_is_what_its_evidence_gives(tmp_path: Path) -> None:
    """A seal can be made anew. Another certificate is recomputed each time; nobody knows which."""
    costs = {c.id: c.seconds / max(1, c.replicates) for c in load_record(BASELINE).claims}
    kept, claims = load(CERTIFICATES), certifiable()
    told = [n for n, c in kept.claims.items() if c.method == "t" and c.evidence and n in claims]
    cheap = [n for n in told if VALUES * len(claims[n].cells["standard"]) * costs.get(n, 1.0) < 4]
    if not cheap:
        pytest.skip("no certificate of a cheap claim tells of what evidence it was made")
    name = secrets.choice(cheap)
    claim, settings = claims[name], Settings(seed=SEED)
    seeds = range(SEED, SEED + (kept.claims[name].worlds or 1))
    share = Budget().per_claim(papers()[claim.source.paper])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        outcome, *drawn = (
            run_claim(one, of_seed, ledger, SerialExecutor(), alpha=share)
            for one, of_seed in ((claim, settings), *worlds(claim, settings, seeds))
        )
    found = certify(outcome, [world.evidence for world in drawn])
    for figure in ("alpha", "refutes", "supports", "undecided", "least", "stress"):
        again = getattr(found, figure)
        assert getattr(kept.claims[name], figure) == pytest.approx(again, rel=0.01), (name, figure)


def test_certificates_keep_every_claim_within_its_alpha_and_all_within_the_budget() -> None:
    assert broken(load(CERTIFICATES).claims, Budget().probability) == []


@pytest.mark.thorough
def test_t_claims_of_the_smoke_tier_keep_their_promise_too(tmp_path: Path) -> None:
    settings = Settings(tier="smoke", seed=SEED)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for claim in imported().values():
            if not claim.rule.exact and claim.why_not_run("smoke", "cpu") is None:
                outcome = run_claim(claim, settings, ledger, SerialExecutor())
                assert certify(outcome, bootstraps=1).holds, claim.id
