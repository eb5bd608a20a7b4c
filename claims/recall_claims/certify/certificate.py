"""What a claim's verdict is worth: how often it errs, and how often it decides.

Errors are certified at the claim's own alpha. Tests by betting and by ladders are exact by Ville's
inequality; the enumeration for observations of 0 and 1 checks that. Bounds by Student's t are
certified by importance sampling in worlds: distributions made of `VALUES` fresh values that the
claim's simulation gives in each cell, under a few seeds, of which the worst counts. A world of 32
to 128 values would say little of misses of one in a million. A stress world, with a rare failure
that no replicate has shown, stands beside it. How often a claim is undecided is counted in
bootstrapped evidence, as if the theory were as right as that evidence says.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from recall_claims.certify.enumeration import rejection
from recall_claims.certify.tilting import misses
from recall_claims.declare.claim import Claim
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import find
from recall_claims.judge.looks import decide, remembering
from recall_claims.judge.methods import Array, Deterministic, Method, Student
from recall_claims.judge.region import Component, Interval, Verdict
from recall_claims.judge.rules import Evidence, Predict, Rule, Sample
from recall_reports.certificates import Certificate

BOOTSTRAPS = 50
VALUES = 1024
"""Values of a world, at least: those of a cell's first look if they are more."""


@dataclass(frozen=True)
class Task:
    """A claim to certify, in words that any process understands.

    Attributes:
        module: of the claim.
        claim: its id.
        alpha: its slot of the error budget.
        settings: of the run that drew the evidence.
        ledger: where that is.
        seeds: of the worlds that a t rule is certified in.
    """

    module: str
    claim: str
    alpha: float
    settings: Settings
    ledger: Path
    seeds: Sequence[int] = ()


def certified(task: Task) -> Certificate:
    """Certify a claim from a ledger; this is what a worker process runs.

    Raises:
        SimulationError: the ledger lacks evidence.
    """
    claim, _ = find(task.module, task.claim)
    with Ledger(task.ledger) as ledger:
        outcome = run_claim(claim, task.settings, ledger, None, alpha=task.alpha)
        drawn = [
            run_claim(larger, settings, ledger, None, alpha=task.alpha).evidence
            for larger, settings in worlds(claim, task.settings, task.seeds)
        ]
    return certify(outcome, drawn)


def worlds(
    claim: Claim, settings: Settings, seeds: Sequence[int]
) -> tuple[tuple[Claim, Settings], ...]:
    """What to run so that the evidence is a world for each seed; nothing for an exact rule."""
    if claim.rule.exact:
        return ()
    tier = settings.tier
    block, least = claim.block_size(tier), max(VALUES, claim.replicates[tier])
    whole = replace(
        claim,
        replicates={tier: -(-least // block) * block},
        looks={tier: 1},
        block={tier: block},
    )
    return tuple((whole, replace(settings, seed=seed)) for seed in seeds)


def certify(
    outcome: Outcome, drawn: Sequence[Evidence] = (), bootstraps: int = BOOTSTRAPS
) -> Certificate:
    """The certificate of a claim, from what it found under some other seed.

    Args:
        outcome: of that seed.
        drawn: the worlds for a t rule; without any the outcome's own evidence is the world.
        bootstraps: how many times the evidence is drawn anew to see whether it decides.
    """
    claim, settings = outcome.claim, outcome.settings
    found = msgspec.structs.replace(
        without_evidence(claim, settings.tier, outcome.alpha, outcome.registration),
        undecided=missed_decisions(outcome, bootstraps),
        code=find(claim.module, claim.id)[1],
        evidence=_hash([outcome.evidence, *drawn]),
    )
    if found.method != "t":
        return found.sealed(claim.id, settings.tier)
    errors = [_tilted(outcome, evidence) for evidence in drawn or [outcome.evidence]]
    refutes, supports = zip(*errors, strict=True)
    found = msgspec.structs.replace(
        found,
        refutes=_rounded(max(refutes)),
        supports=_rounded(max(supports)),
        worlds=len(errors),
        least=_rounded(min(refutes)),
        stress=_rounded(_tilted(outcome, (drawn or [outcome.evidence])[0], stressed)[0]),
    )
    return found.sealed(claim.id, settings.tier)


def certifiable(claim: Claim) -> bool:
    """Whether its bounds are exact or t intervals: nothing is known of other methods' errors."""
    rules = [rule for rule, _ in claim.rule.parts(claim.predict)]
    return all(rule.exact or isinstance(rule.method, Student) for rule in rules)


def without_evidence(claim: Claim, tier: str, level: float, registered: str) -> Certificate:
    """As much of a claim's certificate as follows from its declaration: all but what a t rule errs.

    Args:
        claim: with cells in the tier.
        tier: that is certified.
        level: of each of the claim's tests.
        registered: its registration.
    """
    alpha = level * (1 if claim.rule.anytime else claim.looks[tier])
    found = Certificate(
        registration=registered,
        method="t",
        alpha=_rounded(alpha),
        refutes=0.0,
        supports=0.0,
        undecided=0.0,
    )
    if isinstance(claim.rule.method, Deterministic):
        return msgspec.structs.replace(found, method="deterministic")
    if not claim.rule.exact:
        return found
    worst = _rounded(max([alpha, *_enumerated(claim, tier, level)]))
    return msgspec.structs.replace(found, method="exact", refutes=worst, supports=worst)


def _hash(evidence: Sequence[Evidence]) -> str:
    """Of all values that a certificate was made of."""
    digest = hashlib.sha256()
    for sample in (sample for drawn in evidence for sample in drawn):
        for name, values in sample.observations.items():
            digest.update(f"{sample.cell.id}\0{name}\0".encode() + values.tobytes())
    return digest.hexdigest()[:16]


def stressed(values: Array, count: int) -> Array:
    """A world with a rare failure that no pilot showed: one value in 5 `count` is 20 sd off.

    Args:
        values: of a world.
        count: replicates of the claim's last look.
    """
    times = max(1, 5 * count // values.size)
    return np.append(np.tile(values, times), values.mean() - 20 * values.std())


def _rounded(probability: float) -> float:
    return float(f"{probability:.3g}")


def _enumerated(claim: Claim, tier: str, level: float) -> list[float]:
    """Probabilities that a coin of the target's rate is shown to differ from it, either way."""
    rule, cells = claim.rule, claim.cells[tier]
    of = getattr(rule, "target_of", lambda _: 0.5)
    rates = {rate for cell in cells for rate in (of(cell), 1 - of(cell))}
    return [rejection(rate, rate, level, _counts(claim, tier)) for rate in rates]


def _counts(claim: Claim, tier: str) -> list[int]:
    """Replicates of a cell at each look."""
    return [blocks * claim.block_size(tier) for blocks in claim.steps(tier)]


World = Callable[[Array, int], Array]
"""A world of a component's values, for a claim of so many replicates."""


def _tilted(
    outcome: Outcome, evidence: Evidence, world: World = lambda values, _: values
) -> tuple[float, float]:
    """Probabilities of refuting a true claim and of supporting a false one, over all looks.

    Components share alpha when it comes to refutation, and their errors add up; a false claim is
    supported where all components are, so that the worst counts. Where a claim has several rules,
    they share alpha in the same way.
    """
    parts = outcome.claim.rule.parts(outcome.claim.predict)
    errors = [_part(outcome, evidence, world, rule, predict, len(parts)) for rule, predict in parts]
    return sum(wrong for wrong, _ in errors), max(wrong for _, wrong in errors)


def _part(
    outcome: Outcome, evidence: Evidence, world: World, rule: Rule, predict: Predict | None, of: int
) -> tuple[float, float]:
    if not isinstance(rule.method, Student):  # exact, by theorem
        return outcome.alpha / of, outcome.alpha
    name, counts = outcome.claim.id, _counts(outcome.claim, outcome.settings.tier)
    recorder, spent = Recorder(), rule.method.spent
    components = rule.with_method(recorder).components(evidence, predict, outcome.alpha / of)
    strict = min(level for _, level in recorder.asked)
    values = [world(one, counts[-1]) for one, level in recorder.asked if level == strict]
    single = of * max(level for _, level in recorder.asked)
    refuting, supporting = (
        [_wronged(name, i, one, counts, spent * level, sides) for i, one in enumerate(values)]
        for level, sides in zip((strict, single), _sides(components[0]), strict=True)
    )
    return sum(refuting), max(supporting)


def _sides(component: Component) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """On which sides bounds miss that refute a true claim, and that support a false one.

    A lower bound that is too high is 1, an upper one that is too low -1. A share has, like a half
    line, one edge that can be wronged.
    """
    low, high = math.isfinite(component.region.low), math.isfinite(component.region.high)
    if low and high and component.scale != "share":
        return (1, -1), (1, -1)
    return ((-1,), (1,)) if low else ((1,), (-1,))


def _wronged(
    name: str, index: int, values: Array, counts: list[int], level: float, sides: tuple[int, ...]
) -> float:
    """Probability that a bound of one component misses at some look.

    At one edge of its region a component can be wronged from one side only: the worse.
    """
    rng = _rng(f"{name}\0{index}\0{level}")

    def missing(way: int, count: int) -> float:
        found = misses(way * values, count, level, rng)
        return found.value + 2 * found.error

    return max(sum(missing(way, n) for n in counts) for way in sides)


def _rng(name: str) -> np.random.Generator:
    seed = hashlib.sha256(name.encode()).digest()[:8]
    return np.random.default_rng(int.from_bytes(seed, "little"))


@dataclass(frozen=True)
class Recorder(Method):
    """Bounds as Student does, and keeps what it was asked."""

    asked: list[tuple[Array, float]] = field(default_factory=list)
    exact = False
    guarantee = Student.guarantee

    def bounds(self, values: Array, alpha: float) -> Interval:
        self.asked.append((values, alpha))
        return Student().bounds(values, alpha)


def missed_decisions(outcome: Outcome, bootstraps: int) -> float:
    """Share of bootstraps that do not end, at the last look, in the expected verdict.

    Every cell has its replicates drawn anew, with replacement, as many as the last look has.
    """
    claim, tier = remembering(outcome.claim), outcome.settings.tier
    last, rng = _counts(claim, tier)[-1], _rng(f"power\0{claim.id}")
    wanted = (
        (Verdict.SUPPORTED, Verdict.REFUTED) if claim.exploratory else (Verdict(claim.expected),)
    )
    missed = 0
    for _ in range(bootstraps):
        evidence = tuple(_resampled(sample, last, rng) for sample in outcome.evidence)
        # A rung of few replicates may be off by chance, which many of these would confirm.
        found = replace(decide(claim, evidence, outcome.alpha), doubt="")
        missed += found.verdict not in wanted
    return missed / bootstraps


def _resampled(sample: Sample, count: int, rng: np.random.Generator) -> Sample:
    chosen = rng.integers(0, sample.replicates, count)
    return Sample(sample.cell, {n: values[chosen] for n, values in sample.observations.items()})
