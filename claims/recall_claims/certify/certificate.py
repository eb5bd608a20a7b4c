"""Certificates: the error probability of a claim's verdict by Student's t, at the claim's own
alpha.

We compute this probability on a few resampled data sets, and certify its maximum. A data set
holds at least `VALUES` new values of each cell, simulated under a new seed. With only 32 to 128
values we could not estimate a probability of one in a million. `stress` is the probability after
adding a rare failure to the first data set. Exact rules need no certificate.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recall_claims.certify.tilting import misses
from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import remembering
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import find
from recall_claims.judge.methods import Array, Method, Student
from recall_claims.judge.rules import Evidence, Predict, Rule, Sample
from recall_claims.model.region import EVERYTHING, Component, Interval
from recall_reports.record.certificates import Certificate

VALUES = 1024
"""Least number of values per cell and data set; more if the claim's first look has more."""
LOWER, UPPER = 1, -1
"""Signs of bounds: the upper bound of x is minus the lower bound of -x."""


def certified(
    module: str, name: str, alpha: float, settings: Settings, path: Path, seeds: Sequence[int]
) -> Certificate:
    """Certify a claim from a ledger, in a worker process.

    Args:
        module: the claim's module.
        name: the claim's id.
        alpha: the claim's slot of the error budget.
        settings: settings of the runs that drew the data sets.
        path: ledger that holds the data sets.
        seeds: a seed per data set.

    Raises:
        SimulationError: the ledger lacks evidence.
    """
    claim, _ = find(module, name)
    with Ledger(path) as ledger:
        drawn = [
            run_claim(larger, of_seed, ledger, None, alpha=alpha).evidence
            for larger, of_seed in worlds(claim, settings, seeds)
        ]
    return certify(claim, settings.tier, alpha, drawn)


def worlds(
    claim: Claim, settings: Settings, seeds: Sequence[int]
) -> tuple[tuple[Claim, Settings], ...]:
    """List the runs whose evidence is resampled, one per seed."""
    tier = settings.tier
    block = claim.block_size(tier)
    blocks = math.ceil(max(VALUES, claim.replicates[tier][0]) / block)
    size = blocks * block
    larger = replace(claim, replicates={tier: (size, size)}, block={tier: block})
    return tuple((larger, replace(settings, seed=seed)) for seed in seeds)


def certify(claim: Claim, tier: str, alpha: float, drawn: Sequence[Evidence]) -> Certificate:
    """Certify a claim by its largest errors on resampled data sets.

    Args:
        claim: a claim that is not exact, with cells in the tier.
        tier: the tier to certify.
        alpha: the claim's slot of the error budget.
        drawn: the data sets that are resampled, at least one.
    """
    kept, level = remembering(claim), claim.rule.alpha_of_look(alpha, claim.looks(tier))
    errors = [World(kept, tier, level, evidence).errors() for evidence in drawn]
    refutes, supports = zip(*errors, strict=True)
    stress, _ = World(kept, tier, level, drawn[0], stress=True).errors()
    return Certificate(
        registration=registration(kept, tier),
        alpha=_rounded(alpha),
        refutes=_rounded(max(refutes)),
        supports=_rounded(max(supports)),
        worlds=len(drawn),
        least=_rounded(min(refutes)),
        stress=_rounded(stress),
    )


def certifiable(claim: Claim) -> bool:
    """Whether the claim's bounds are exact or t intervals; other bounds have unknown errors."""
    rules = [rule for rule, _ in claim.rule.parts(claim.predict)]
    return all(rule.exact or isinstance(rule.method, Student) for rule in rules)


@dataclass(frozen=True)
class World:
    """Evidence whose replicates are resampled; `stress` adds a rare failure to it.

    `alpha` is the level of one look.
    """

    claim: Claim
    tier: str
    alpha: float
    evidence: Evidence
    stress: bool = False

    def errors(self) -> tuple[float, float]:
        """Bound the probabilities of refuting a true claim and of supporting a false one, over all
        looks.

        All components of all rules share alpha for refutation, so their errors add up. A false
        claim is supported only if every component is, so the largest error counts.
        """
        parts = self.claim.rule.parts(self.claim.predict)
        errors = [self._errors_of(rule, predict, len(parts)) for rule, predict in parts]
        refutes, supports = zip(*errors, strict=True)
        return sum(refutes), max(supports)

    def _errors_of(self, rule: Rule, predict: Predict | None, rules: int) -> tuple[float, float]:
        """Bound the error probabilities of one rule, if `rules` rules share alpha."""
        if not isinstance(rule.method, Student):  # exact at all looks together, or at each look
            looks = 1 if rule.anytime else len(self.claim.steps(self.tier))
            return looks * self.alpha / rules, looks * self.alpha
        recorder = Recorder()
        components = rule.with_method(recorder).components(
            self.evidence, predict, self.alpha / rules
        )
        # To refute, components and rules share alpha; to support, each component has all of it.
        strict, single = min(recorder.asked), rules * max(recorder.asked)
        whole = rule.depends_on_all and not self.stress
        judged = [
            (i, values, Resampled(rule, predict, self.evidence, i) if whole else None)
            for i, values in enumerate(recorder.every(strict))
        ]
        refuting, supporting = _deciding_bounds(components[0])
        spent = rule.method.spent
        return (
            sum(self._missed(*one, spent * strict, refuting) for one in judged),
            max(self._missed(*one, spent * single, supporting) for one in judged),
        )

    def _missed(
        self,
        index: int,
        values: Array,
        again: Resampled | None,
        level: float,
        bounds: Sequence[int],
    ) -> float:
        """Bound the probability that the worse of a component's bounds misses at some look.

        The bound adds up each look's estimate and two standard errors of the estimate.
        """
        size = self.claim.block_size(self.tier)
        counts = [blocks * size for blocks in self.claim.steps(self.tier)]  # at each look
        world = stressed(values, counts[-1]) if self.stress else values
        name = f"{self.claim.id}\0{index}\0{level}"
        seed = hashlib.sha256(name.encode()).digest()[:8]
        rng = np.random.default_rng(int.from_bytes(seed, "little"))
        totals = []
        for bound in bounds:
            judged = None if again is None else partial(again.less_truth, bound)
            found = [misses(bound * world, count, level, rng, judged) for count in counts]
            totals.append(sum(one.value + 2 * one.error for one in found))
        return max(totals)  # the truth is at one edge, where only one bound can err


@dataclass(frozen=True)
class Resampled:
    """Samples of a resampled data set, for a rule whose values depend on the whole sample.

    The rule computes the values of each sample again. If we drew from values computed once, they
    would not vary with the sample.
    """

    rule: Rule
    predict: Predict | None
    evidence: Evidence
    component: int

    @cached_property
    def truth(self) -> float:
        """Estimand, from many copies of the data: n values would have a bias of order 1/n."""
        size = min(sample.replicates for sample in self.evidence)
        every = np.tile(np.arange(size), max(1, 2**18 // size))
        return float(self._values(every).mean())

    def less_truth(self, sign: int, drawn: npt.NDArray[np.intp]) -> Array:
        """Return samples' values minus the estimand, times `sign`; a row of `drawn` is a sample."""
        return sign * (self._values(drawn) - self.truth)

    def _values(self, drawn: npt.NDArray[np.intp]) -> Array:
        recorder = Recorder()
        evidence = [
            Sample(s.cell, {name: values[drawn] for name, values in s.observations.items()})
            for s in self.evidence
        ]
        self.rule.with_method(recorder).components(evidence, self.predict, 0.5)
        return recorder.asked[0.5][self.component]


@dataclass(frozen=True)
class Recorder(Method):
    """Method that bounds means by Student's t, and records each mean's values by level."""

    asked: dict[float, list[Array]] = field(default_factory=dict)

    def every(self, alpha: float) -> list[Array]:
        """Return the values of means bounded at this level, then of means bounded at others only.

        For example, `WinnerShare` bounds a lead at its stricter level only if the rival is ahead.
        """
        known = {values.tobytes() for values in self.asked[alpha]}
        others = {v.tobytes(): v for asked in self.asked.values() for v in asked}
        return [*self.asked[alpha], *(v for key, v in others.items() if key not in known)]

    def bounds(self, values: Array, alpha: float) -> Interval:
        self.asked.setdefault(alpha, []).append(values)
        return Student().bounds(values, alpha) if values.ndim == 1 else EVERYTHING


def _deciding_bounds(component: Component) -> tuple[Sequence[int], Sequence[int]]:
    """Return the bounds whose misses refute a true claim, and the bounds whose misses support a
    false claim.

    For a one-sided region (low, inf), the upper bound refutes and the lower bound supports. A share
    counts as one-sided: it cannot exceed 1.
    """
    low, high = math.isfinite(component.region.low), math.isfinite(component.region.high)
    if low and high and component.scale != "share":
        return [LOWER, UPPER], [LOWER, UPPER]
    return ([UPPER], [LOWER]) if low else ([LOWER], [UPPER])


def stressed(values: Array, count: int) -> Array:
    """Add a rare failure that no pilot showed: one value 20 standard deviations below the mean.

    A data set of fewer than 2.5 `count` values is first repeated, to 2.5 to 5 `count` values.

    `count`: replicates of a cell at the claim's last look.
    """
    times = max(1, 5 * count // values.size)
    return np.append(np.tile(values, times), values.mean() - 20 * values.std())


def _rounded(probability: float) -> float:
    return float(f"{probability:.3g}")
