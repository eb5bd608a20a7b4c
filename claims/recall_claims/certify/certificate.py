"""What a claim's verdict is worth: how often it errs, and how often it decides.

Errors are certified at the claim's own alpha. Tests by betting and by ladders are exact by Ville's
inequality; the enumeration for observations of 0 and 1 checks that. How often bounds by Student's t
err is computed in a few worlds, of which the worst counts. A world is a distribution made of fresh
values, `VALUES` or more, that the claim's simulation gives in each cell under a seed of its own: 32
to 128 values would say little of misses of one in a million. A stress world, with a rare failure
that no replicate has shown, stands beside it. How often a claim is undecided is counted in
bootstrapped evidence, as if the theory were as right as that evidence says.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
from msgspec import structs

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
from recall_reports.record.certificates import Certificate

BOOTSTRAPS = 50
VALUES = 1024
"""Values of a world, at least: those of a cell's first look if they are more."""
LOWER, UPPER = 1, -1
"""The bounds that may miss. An upper bound is the lower one of the values times -1."""


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
    block = claim.block_size(tier)
    blocks = math.ceil(max(VALUES, claim.replicates[tier][0]) / block)
    size = blocks * block
    larger = replace(claim, replicates={tier: (size, size)}, block={tier: block})
    return tuple((larger, replace(settings, seed=seed)) for seed in seeds)


def certify(
    outcome: Outcome, drawn: Sequence[Evidence] = (), bootstraps: int = BOOTSTRAPS
) -> Certificate:
    """The certificate of a claim, from what it found under some other seed.

    Args:
        outcome: of that seed.
        drawn: the worlds for a t rule; without any the outcome's own evidence is the world.
        bootstraps: how many times the evidence is drawn anew to see whether it decides.
    """
    claim, tier = outcome.claim, outcome.settings.tier
    found = structs.replace(
        without_evidence(claim, tier, outcome.alpha, outcome.registration),
        undecided=missed_decisions(outcome, bootstraps),
        code=find(claim.module, claim.id)[1],
        evidence=_hash_of_values([outcome.evidence, *drawn]),
    )
    if found.method == "t":
        found = _with_errors(found, outcome, drawn or [outcome.evidence])
    return found.sealed(claim.id, tier)


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
    alpha = level * (1 if claim.rule.anytime else claim.looks(tier))
    found = Certificate(
        registration=registered,
        method="t",
        alpha=_rounded(alpha),
        refutes=0.0,
        supports=0.0,
        undecided=0.0,
    )
    if isinstance(claim.rule.method, Deterministic):
        return structs.replace(found, method="deterministic")
    if not claim.rule.exact:
        return found
    worst = _rounded(max([alpha, *_enumerated(claim, tier, level)]))
    return structs.replace(found, method="exact", refutes=worst, supports=worst)


def missed_decisions(outcome: Outcome, bootstraps: int) -> float:
    """Share of bootstraps that do not end, at the last look, in the expected verdict.

    Every cell has its replicates drawn anew, with replacement, as many as the last look has.
    """
    claim = remembering(outcome.claim)
    wanted = [Verdict.SUPPORTED, Verdict.REFUTED]
    if not claim.exploratory:
        wanted = [Verdict(claim.expected)]
    count = _counts(claim, outcome.settings.tier)[-1]
    rng = _rng(f"power\0{claim.id}")
    missed = 0
    for _ in range(bootstraps):
        evidence = tuple(_resampled(sample, count, rng) for sample in outcome.evidence)
        # A rung of few replicates may be off by chance, which many of these would confirm.
        decision = replace(decide(claim, evidence, outcome.alpha), doubt="")
        missed += decision.verdict not in wanted
    return missed / bootstraps


def _resampled(sample: Sample, count: int, rng: np.random.Generator) -> Sample:
    chosen = rng.integers(0, sample.replicates, count)
    return Sample(sample.cell, {n: values[chosen] for n, values in sample.observations.items()})


def _hash_of_values(evidence: Sequence[Evidence]) -> str:
    digest = hashlib.sha256()
    for sample in chain.from_iterable(evidence):
        for name, values in sample.observations.items():
            digest.update(f"{sample.cell.id}\0{name}\0".encode() + values.tobytes())
    return digest.hexdigest()[:16]


def _enumerated(claim: Claim, tier: str, level: float) -> list[float]:
    """Probabilities that a coin of the target's rate is shown to differ from it, either way."""
    target_of = getattr(claim.rule, "target_of", lambda _: 0.5)
    targets = {target_of(cell) for cell in claim.cells[tier]}
    rates = targets | {1 - target for target in targets}
    return [rejection(rate, rate, level, _counts(claim, tier)) for rate in rates]


def _with_errors(found: Certificate, outcome: Outcome, drawn: Sequence[Evidence]) -> Certificate:
    """The certificate of a t rule with its errors in at least one world."""
    errors = [World(outcome, evidence).errors() for evidence in drawn]
    refutes, supports = zip(*errors, strict=True)
    stress, _ = World(outcome, drawn[0], stress=True).errors()
    return structs.replace(
        found,
        refutes=_rounded(max(refutes)),
        supports=_rounded(max(supports)),
        worlds=len(drawn),
        least=_rounded(min(refutes)),
        stress=_rounded(stress),
    )


@dataclass(frozen=True)
class World:
    """Evidence that a claim's replicates are drawn from; under `stress` some fail badly."""

    outcome: Outcome
    evidence: Evidence
    stress: bool = False

    def errors(self) -> tuple[float, float]:
        """Probabilities of refuting a true claim and of supporting a false one, over all looks.

        Rules, and the components of each, share alpha when it comes to refutation, and their errors
        add up; a false claim is supported where all of them are, so that the worst counts.
        """
        parts = self.outcome.claim.rule.parts(self.outcome.claim.predict)
        errors = [self._errors_of(rule, predict, len(parts)) for rule, predict in parts]
        refutes, supports = zip(*errors, strict=True)
        return sum(refutes), max(supports)

    def _errors_of(self, rule: Rule, predict: Predict | None, rules: int) -> tuple[float, float]:
        """Those of one rule, where so many share alpha."""
        alpha = self.outcome.alpha
        if not isinstance(rule.method, Student):  # exact, by theorem
            return alpha / rules, alpha
        recorder = Recorder()
        components = rule.with_method(recorder).components(self.evidence, predict, alpha / rules)
        # To refute, components and rules share alpha; to support, each of them has all of it.
        strict, single = min(recorder.asked), rules * max(recorder.asked)
        judged = list(enumerate(recorder.asked[strict]))
        refuting, supporting = _deciding_bounds(components[0])
        spent = rule.method.spent
        return (
            sum(self._missed(i, values, spent * strict, refuting) for i, values in judged),
            max(self._missed(i, values, spent * single, supporting) for i, values in judged),
        )

    def _missed(self, index: int, values: Array, level: float, bounds: Sequence[int]) -> float:
        """Probability that one of a component's bounds misses at some look: the worse bound."""
        claim = self.outcome.claim
        counts = _counts(claim, self.outcome.settings.tier)
        world = stressed(values, counts[-1]) if self.stress else values
        rng = _rng(f"{claim.id}\0{index}\0{level}")
        totals = []
        for bound in bounds:
            found = [misses(bound * world, count, level, rng) for count in counts]
            totals.append(sum(one.value + 2 * one.error for one in found))
        return max(totals)  # the truth is at one edge, where one bound alone can err


@dataclass(frozen=True)
class Recorder(Method):
    """Bounds as Student does, and keeps the values that it was asked to bound at each level."""

    asked: dict[float, list[Array]] = field(default_factory=dict)

    def bounds(self, values: Array, alpha: float) -> Interval:
        self.asked.setdefault(alpha, []).append(values)
        return Student().bounds(values, alpha)


def _deciding_bounds(component: Component) -> tuple[Sequence[int], Sequence[int]]:
    """Which bounds refute a true claim when they miss, and which support a false one.

    A half line from an edge up is refuted by an upper bound and supported by a lower one. A share
    has, like a half line, one edge that can be wronged.
    """
    low, high = math.isfinite(component.region.low), math.isfinite(component.region.high)
    if low and high and component.scale != "share":
        return [LOWER, UPPER], [LOWER, UPPER]
    return ([UPPER], [LOWER]) if low else ([LOWER], [UPPER])


def stressed(values: Array, count: int) -> Array:
    """A world with a rare failure that no pilot showed: one value in 5 `count` is 20 sd off.

    `count`: replicates of a cell at the claim's last look.
    """
    times = max(1, 5 * count // values.size)
    return np.append(np.tile(values, times), values.mean() - 20 * values.std())


def _counts(claim: Claim, tier: str) -> list[int]:
    """Replicates of a cell at each look."""
    return [blocks * claim.block_size(tier) for blocks in claim.steps(tier)]


def _rng(name: str) -> np.random.Generator:
    seed = hashlib.sha256(name.encode()).digest()[:8]
    return np.random.default_rng(int.from_bytes(seed, "little"))


def _rounded(probability: float) -> float:
    return float(f"{probability:.3g}")
