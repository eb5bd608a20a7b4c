"""Judge the claims on evidence that is there already, under whatever the theory is now."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import grimp

from claims.engine import Claim, Verdict, executors, judge
from claims.engine.claim import TIERS
from claims.engine.ledger import Ledger
from claims.engine.run import Outcome, Settings, run
from tests.mutation.mutants import Mutant, forget

FILES = sorted((Path(__file__).parents[2] / "claims").glob("test_*.py"))


@dataclass
class Evidence:
    """What a run of the suite has found, and which claims have caught which mutants.

    Attributes:
        outcomes: by claim id.
        seconds: how long judging a claim took.
        catchers: by target of the mutants, the claim that caught one of them.
    """

    outcomes: Mapping[str, Outcome]
    seconds: Mapping[str, float]
    catchers: dict[str, str] = field(default_factory=dict)

    def catcher(self, mutant: Mutant, claims: Mapping[str, Claim]) -> str | None:
        """The id of a claim that the theory, as it is now, makes REFUTED.

        For a claim that is expected to be REFUTED: that it no longer makes so. None if no claim
        notices. Only claims whose file can see the falsified module are asked: those that caught
        a mutant of the same target first, then those that import it themselves, the quick first.
        """

        def rank(name: str) -> tuple[bool, bool, float]:
            direct = _graph().find_modules_directly_imported_by(claims[name].module)
            likely = self.catchers.get(mutant.target)
            return name != likely, mutant.module not in direct, self.seconds[name]

        seeing = [
            name
            for name in self.outcomes
            if mutant.module in _graph().find_upstream_modules(claims[name].module)
        ]
        for name in sorted(seeing, key=rank):
            if self._catches(claims[name]):
                self.catchers[mutant.target] = name
                return name
        return None

    def _catches(self, claim: Claim) -> bool:
        outcome = self.outcomes[claim.id]
        try:
            verdict = judge(claim.rule.components(outcome.evidence, claim.predict, outcome.alpha))
        except (ArithmeticError, ValueError):
            return False  # a theory that breaks down has not been refuted by evidence
        if claim.expected == Verdict.REFUTED:
            return verdict is not Verdict.REFUTED
        return verdict is Verdict.REFUTED


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("claims", "theory", cache_dir=None)


def imported() -> dict[str, Claim]:
    """All claims, by id, as the suite runs them."""
    return _claims(importlib.import_module(f"claims.{file.stem}") for file in FILES)


def reread() -> dict[str, Claim]:
    """All claims, by id, of files executed anew: with the numbers that the theory has now."""

    def execute() -> Iterator[object]:
        for file in FILES:
            spec = importlib.util.spec_from_file_location(f"claims.{file.stem}", file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module

    return _claims(execute())


def gather(tier: str, seed: int, ledger: Path) -> Evidence:
    """Run every claim that has cells in the tier (all that the ledger has is not run again)."""
    assert tier in TIERS
    settings = Settings(tier=tier, seed=seed)
    outcomes, seconds = {}, {}
    spec = executors.resolve("auto", "cpu", nested=False)
    with Ledger(ledger) as book, executors.make(spec) as executor:
        for name, claim in imported().items():
            if claim.cells.get(tier):
                outcome = run(claim, settings, book, executor)
                if outcome.decision.verdict == claim.expected:
                    outcomes[name] = outcome
    for name, outcome in outcomes.items():
        start = time.perf_counter()
        outcome.claim.rule.components(outcome.evidence, outcome.claim.predict, outcome.alpha)
        seconds[name] = time.perf_counter() - start
    return Evidence(outcomes, seconds)


@contextmanager
def fresh_caches() -> Iterator[None]:
    """Leave no number of one theory to another."""
    forget()
    try:
        yield
    finally:
        forget()


def _claims(modules: Iterable[object]) -> dict[str, Claim]:
    found = {}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, Claim):
                found[value.id] = value
    return found
