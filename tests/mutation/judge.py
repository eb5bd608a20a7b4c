"""Judge the claims under whatever the theory is now."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache

import grimp
import pytest

from recall_claims import Claim, Verdict
from recall_claims.declare.claim import TIERS
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings, run
from recall_claims.judge.region import judge
from tests.every_claim import FILES, claims_in, imported
from tests.mutation.mutants import Mutant, forget


class Evidence:
    """What claims found under the theory as it is, each in the lowest tier that has it.

    Attributes:
        outcomes: by claim id, of the claims that have run so far and ended as expected.
    """

    def __init__(self, ledger: Ledger, executor: Executor) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._ledger, self._executor = ledger, executor
        self._settings = {
            name: Settings(tier=next(tier for tier in TIERS if claim.cells.get(tier)))
            for name, claim in imported().items()
            if claim.needs is None
        }
        self._seconds: dict[str, float] = {}
        self._catchers: dict[str, str] = {}

    def notices(self, mutant: Mutant) -> bool:
        """Whether a claim refutes the falsified theory; the theory must be the right one again.

        First it is judged on the evidence at hand. Then, from the nearest claim to the farthest,
        one that has not run yet runs under the right theory, and one that its evidence leaves in
        doubt runs anew under the false one: as who edits a formula sees it, for the grid follows
        the formula.
        """
        if self._catcher(mutant) is not None:
            return True
        for name in self._near(mutant):
            if name not in self._seconds:
                self._keep(name)
            if name not in self.outcomes:
                continue
            with falsified(mutant, name) as claims:
                if self.caught(claims[name]) or (
                    self._verdict(claims[name]) != claims[name].expected
                    and self._caught_anew(claims[name])
                ):
                    self._catchers[mutant.target] = name
                    return True
        return False

    def caught(self, claim: Claim) -> bool:
        """Whether the evidence at hand refutes the claim, or no longer does where it should."""
        return _caught(claim, self._verdict(claim))

    def _catcher(self, mutant: Mutant) -> str | None:
        """The id of a claim that catches the mutant with the evidence at hand, if one does.

        The claim that caught the last mutant of the same target is asked first.
        """
        likely = self._catchers.get(mutant.target)
        seeing = [name for name in self.outcomes if _sees(name, mutant)]
        by_distance = sorted(
            seeing, key=lambda n: (n != likely, *_distance(n, mutant), self._seconds[n])
        )
        with falsified(mutant, *by_distance) as claims:
            return next((name for name in by_distance if self.caught(claims[name])), None)

    def _near(self, mutant: Mutant) -> list[str]:
        """Ids of all claims that can see the falsified module, the nearest and smallest first."""
        seeing = [name for name in self._settings if _sees(name, mutant)]
        return sorted(seeing, key=lambda name: (*_distance(name, mutant), *self._size(name)))

    def _size(self, name: str) -> tuple[int, int]:
        """Tier, and replicates of the first look."""
        claim, tier = imported()[name], self._settings[name].tier
        return TIERS.index(tier), len(claim.cells[tier]) * claim.replicates[tier]

    def _keep(self, name: str) -> None:
        outcome = self._run(imported()[name])
        start = time.perf_counter()
        judge(outcome.claim.rule.components(outcome.evidence, outcome.claim.predict, outcome.alpha))
        self._seconds[name] = time.perf_counter() - start
        if outcome.decision.verdict == outcome.claim.expected:
            self.outcomes[name] = outcome

    def _run(self, claim: Claim) -> Outcome:
        return run(claim, self._settings[claim.id], self._ledger, self._executor)

    def _verdict(self, claim: Claim) -> Verdict:
        outcome = self.outcomes[claim.id]
        try:
            return judge(claim.rule.components(outcome.evidence, claim.predict, outcome.alpha))
        except (ArithmeticError, ValueError):
            return Verdict.INCONCLUSIVE

    def _caught_anew(self, claim: Claim) -> bool:
        try:
            return _caught(claim, self._run(claim).decision.verdict)
        except (ArithmeticError, ValueError):
            return False  # a theory that breaks down has not been refuted by evidence


def _caught(claim: Claim, verdict: Verdict) -> bool:
    if claim.expected == Verdict.REFUTED:
        return verdict is not Verdict.REFUTED
    return verdict is Verdict.REFUTED


@contextmanager
def falsified(mutant: Mutant | None, *names: str) -> Iterator[dict[str, Claim]]:
    """The claims of these ids, of files executed anew under the falsified theory.

    Numbers that one theory left in caches are not left to another.
    """
    files = {imported()[name].module for name in names}
    with pytest.MonkeyPatch.context() as patch:
        forget()
        try:
            if mutant is not None:
                mutant.patch(patch)
            yield _reread(files)
        finally:
            forget()


def _reread(modules: set[str]) -> dict[str, Claim]:
    def execute() -> Iterator[object]:
        for name in modules:
            spec = importlib.util.spec_from_file_location(name, FILES[name])
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module

    return claims_in(execute())


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("claims", "theory", cache_dir=None)


@cache
def _upstream(module: str) -> set[str]:
    return _graph().find_upstream_modules(module)


def _sees(name: str, mutant: Mutant) -> bool:
    return mutant.module in _upstream(imported()[name].module)


def _distance(name: str, mutant: Mutant) -> tuple[bool, bool]:
    """How far a claim's file is from what is falsified: does it name it, or import its module?"""
    module = imported()[name].module
    called = ".".join(mutant.target.split("[")[0].split(".")[-2:])
    return (
        called not in _source(module),
        mutant.module not in _graph().find_modules_directly_imported_by(module),
    )


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])
