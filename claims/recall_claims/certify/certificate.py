"""What a claim's verdict is worth: how often it errs, and how often it decides.

Errors are certified at the claim's own alpha. Tests by betting and by ladders are exact by Ville's
inequality; the enumeration for observations of 0 and 1 checks that. Bounds by Student's t are
certified in a world made of the claim's own evidence, drawn under another seed, by importance
sampling. Decisions are counted in bootstrapped worlds, in which the theory is as right as that
evidence says.
"""

import hashlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from recall_claims.certify.enumeration import rejection
from recall_claims.certify.tilting import Estimate, misses
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.scheduler import run
from recall_claims.evidence.simulate import find
from recall_claims.judge.looks import decide, remembering
from recall_claims.judge.methods import Array, Deterministic, Method, Student
from recall_claims.judge.region import Component, Interval, Verdict
from recall_claims.judge.rules import Predict, Rule, Sample
from recall_reports.certificates import Certificate

WORLDS = 50


@dataclass(frozen=True)
class Task:
    """A claim to certify, in words that any process understands.

    Attributes:
        module: of the claim.
        claim: its id.
        alpha: its slot of the error budget.
        settings: of the run that drew the evidence.
        ledger: where that is.
    """

    module: str
    claim: str
    alpha: float
    settings: Settings
    ledger: Path


def certified(task: Task) -> Certificate:
    """Certify a claim from a ledger; this is what a worker process runs.

    Raises:
        SimulationError: the ledger lacks evidence.
    """
    claim, _ = find(task.module, task.claim)
    with Ledger(task.ledger) as ledger:
        return certify(run(claim, task.settings, ledger, None, alpha=task.alpha))


def certify(outcome: Outcome, worlds: int = WORLDS) -> Certificate:
    """The certificate of a claim, from what it found under some other seed."""
    claim, tier = outcome.claim, outcome.settings.tier
    alpha = outcome.alpha * (1 if claim.rule.anytime else claim.looks[tier])
    if isinstance(claim.rule.method, Deterministic):
        method: Literal["exact", "t", "deterministic"] = "deterministic"
        refutes = supports = 0.0
    elif claim.rule.exact:
        refutes = supports = max([alpha, *_enumerated(outcome)])
        method = "exact"
    else:
        method = "t"
        refutes, supports = _tilted(outcome)
    return Certificate(
        registration=outcome.registration,
        method=method,
        alpha=_rounded(alpha),
        refutes=_rounded(refutes),
        supports=_rounded(supports),
        undecided=missed_decisions(outcome, worlds),
    )


def _rounded(probability: float) -> float:
    return float(f"{probability:.3g}")


def _enumerated(outcome: Outcome) -> list[float]:
    """Probabilities that a coin of the target's rate is shown to differ from it, either way."""
    claim, tier = outcome.claim, outcome.settings.tier
    target = getattr(claim.rule, "target", 0.5)
    counts = [
        blocks * claim.replicates[tier] for blocks in claim.rule.looks_in_blocks(claim.looks[tier])
    ]
    return [rejection(rate, rate, outcome.alpha, counts) for rate in {target, 1 - target}]


def _tilted(outcome: Outcome) -> tuple[float, float]:
    """Probabilities of refuting a true claim and of supporting a false one, over all looks.

    The latter is that of the component that is wronged most when it comes to refutation, and the
    largest of all rules where a claim has several, which share alpha in the former.
    """
    parts = outcome.claim.rule.parts(outcome.claim.predict)
    if len(parts) == 1:
        return _part(outcome, *parts[0], outcome.alpha)
    refutes = [_part(outcome, rule, predict, outcome.alpha / len(parts)) for rule, predict in parts]
    supports = [_part(outcome, rule, predict, outcome.alpha) for rule, predict in parts]
    return sum(wrong for wrong, _ in refutes), max(wrong for _, wrong in supports)


def _part(
    outcome: Outcome, rule: Rule, predict: Predict | None, alpha: float
) -> tuple[float, float]:
    if not isinstance(rule.method, Student):  # exact, by theorem
        return alpha, alpha
    claim, tier = outcome.claim, outcome.settings.tier
    recorder, spent = Recorder(), rule.method.spent
    components = rule.with_method(recorder).components(outcome.evidence, predict, alpha)
    counts = [
        blocks * claim.replicates[tier] for blocks in claim.rule.looks_in_blocks(claim.looks[tier])
    ]
    refuting, supporting = _sides(components[0])
    strict, single = (pick(level for _, level in recorder.asked) for pick in (min, max))
    worlds = [values for values, level in recorder.asked if level == strict]
    wrongs = [
        _wronged(claim.id, i, values, counts, spent * strict, refuting)
        for i, values in enumerate(worlds)
    ]
    worst = worlds[int(np.argmax(wrongs))]
    return sum(wrongs), _wronged(claim.id, -1, worst, counts, spent * single, supporting)


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
    seed = hashlib.sha256(f"{name}\0{index}\0{level}".encode()).digest()[:8]
    rng = np.random.default_rng(int.from_bytes(seed, "little"))
    return max(sum(_upper(misses(way * values, n, level, rng)) for n in counts) for way in sides)


def _upper(estimate: Estimate) -> float:
    return estimate.value + 2 * estimate.error


@dataclass(frozen=True)
class Recorder(Method):
    """Bounds as Student does, and keeps what it was asked."""

    asked: list[tuple[Array, float]] = field(default_factory=list)
    exact = False
    guarantee = Student.guarantee

    def bounds(self, values: Array, alpha: float) -> Interval:
        self.asked.append((values, alpha))
        return Student().bounds(values, alpha)


def missed_decisions(outcome: Outcome, worlds: int) -> float:
    """Share of bootstrapped worlds that do not end, at the last look, in the expected verdict.

    Every cell has its replicates drawn anew, with replacement, as many as the last look has.
    """
    claim, tier = remembering(outcome.claim), outcome.settings.tier
    last = claim.replicates[tier] * 2 ** (claim.looks[tier] - 1)
    seed = hashlib.sha256(f"power\0{claim.id}".encode()).digest()[:8]
    rng = np.random.default_rng(int.from_bytes(seed, "little"))
    wanted = (
        (Verdict.SUPPORTED, Verdict.REFUTED) if claim.exploratory else (Verdict(claim.expected),)
    )
    missed = 0
    for _ in range(worlds):
        evidence = tuple(_resampled(sample, last, rng) for sample in outcome.evidence)
        missed += decide(claim, evidence, outcome.alpha).verdict not in wanted
    return missed / worlds


def _resampled(sample: Sample, count: int, rng: np.random.Generator) -> Sample:
    chosen = rng.integers(0, sample.replicates, count)
    return Sample(sample.cell, {n: values[chosen] for n, values in sample.observations.items()})
