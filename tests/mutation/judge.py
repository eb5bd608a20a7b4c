"""Judge the claims on evidence that is there already, under whatever the theory is now."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import grimp

from recall_claims import Claim, Verdict
from recall_claims.declare.claim import TIERS
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings, run
from recall_claims.judge.region import judge
from tests.every_claim import FILES, claims_in, imported
from tests.mutation.mutants import Mutant, forget


class Evidence:
    """What the claims found under the theory as it is.

    Every claim runs in the lowest tier that has it: at first to its first look alone, which tells
    most wrong theories from the right one. Those of the smoke tier run at once, and others, or
    further looks, when they are needed.

    Attributes:
        outcomes: by claim id, of the claims that ended as expected or undecided.
    """

    def __init__(self, ledger: Ledger, executor: Executor) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._ledger, self._executor = ledger, executor
        self._tier = {
            name: next(tier for tier in TIERS if claim.cells.get(tier))
            for name, claim in imported().items()
            if claim.needs is None
        }
        self._run_so_far = dict.fromkeys(self._tier, 0)  # 1 after the first look, 2 after the last
        self._seconds: dict[str, float] = {}
        self._catchers: dict[str, str] = {}
        self._run([name for name, tier in self._tier.items() if tier == "smoke"])

    def catcher(self, mutant: Mutant, claims: Mapping[str, Claim], asked: set[str]) -> str | None:
        """The id of a claim that notices that the theory, as it is now, is wrong, if one does.

        Only claims whose file can see the falsified module are asked, and none twice: first those
        that caught a mutant of the same target, then the near, and of those the quick.
        """
        likely = self._catchers.get(mutant.target)
        for name in sorted(
            self._seeing(mutant, set(self.outcomes) - asked),
            key=lambda name: (name != likely, *_distance(name, mutant), self._seconds[name]),
        ):
            asked.add(name)
            if self.catches(claims[name]):
                self._catchers[mutant.target] = name
                return name
        return None

    def catches(self, claim: Claim) -> bool:
        """Whether the claim is now REFUTED, or, if it was expected to be so, no longer is."""
        outcome = self.outcomes[claim.id]
        try:
            verdict = judge(claim.rule.components(outcome.evidence, claim.predict, outcome.alpha))
        except (ArithmeticError, ValueError):
            return False  # a theory that breaks down has not been refuted by evidence
        if claim.expected == Verdict.REFUTED:
            return outcome.decision.verdict is Verdict.REFUTED and verdict is not Verdict.REFUTED
        return verdict is Verdict.REFUTED

    def extend(self, mutant: Mutant) -> str | None:
        """Run one more claim that may notice the mutant, or one further; its id if there is one.

        The theory must be the right one again: a claim stops when its verdict is clear.
        """
        more = [name for name in self._seeing(mutant, set(self._tier)) if self._unfinished(name)]
        if not more:
            return None
        name = min(more, key=lambda n: (*_distance(n, mutant), self._run_so_far[n], self._size(n)))
        self._run([name])
        return name

    def _unfinished(self, name: str) -> bool:
        if self._run_so_far[name] == 0:
            return True
        outcome = self.outcomes.get(name)
        return (
            self._run_so_far[name] == 1
            and outcome is not None
            and outcome.decision.verdict is Verdict.INCONCLUSIVE
        )

    def _size(self, name: str) -> int:
        """Replicates of the first look."""
        claim, tier = imported()[name], self._tier[name]
        return len(claim.cells[tier]) * claim.replicates[tier]

    def _seeing(self, mutant: Mutant, names: set[str]) -> list[str]:
        return [name for name in names if mutant.module in _upstream(imported()[name].module)]

    def _run(self, names: list[str]) -> None:
        for name in names:
            claim, tier = imported()[name], self._tier[name]
            if self._run_so_far[name] == 0:
                claim = replace(claim, looks={tier: 1})
            outcome = run(claim, Settings(tier=tier), self._ledger, self._executor)
            self._run_so_far[name] += 1
            if outcome.decision.verdict in (claim.expected, Verdict.INCONCLUSIVE):
                self.outcomes[name] = outcome
                start = time.perf_counter()
                claim.rule.components(outcome.evidence, claim.predict, outcome.alpha)
                self._seconds[name] = time.perf_counter() - start


def reread(mutant: Mutant | None = None) -> dict[str, Claim]:
    """All claims, or those that can see what is falsified, by id, of files executed anew: with the
    numbers that the theory has now."""

    def execute() -> Iterator[object]:
        for name, file in FILES.items():
            if mutant is not None and mutant.module not in _upstream(name):
                continue
            spec = importlib.util.spec_from_file_location(name, file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module

    return claims_in(execute())


@contextmanager
def fresh_caches() -> Iterator[None]:
    """Leave no number of one theory to another."""
    forget()
    try:
        yield
    finally:
        forget()


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("claims", "theory", cache_dir=None)


@cache
def _upstream(module: str) -> set[str]:
    return _graph().find_upstream_modules(module)


def _distance(name: str, mutant: Mutant) -> tuple[bool, bool]:
    """How far a claim's file is from what is falsified: does it name it, or import its module?"""
    module = imported()[name].module
    falsified = ".".join(mutant.target.split("[")[0].split(".")[-2:])
    return (
        falsified not in _source(module),
        mutant.module not in _graph().find_modules_directly_imported_by(module),
    )


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])
