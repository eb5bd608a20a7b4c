"""Judge the claims under the present theory, right or falsified."""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache
from types import ModuleType

import grimp
import pytest

from recall_claims import Claim
from recall_claims.declare.claim import TIERS
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.model.region import Verdict, judge
from tests.every_claim import FILES, claims_in, imported
from tests.mutation.mutants import Mutant, forget

Run = tuple[str, str]
"""A claim's id and the tier that it runs in."""


class Evidence:
    """Results of claims under the right theory.

    Attributes:
        outcomes: outcomes of the runs so far that ended as expected.
    """

    def __init__(self, ledger: Ledger, executor: Executor) -> None:
        self.outcomes: dict[Run, Outcome] = {}
        self._ledger, self._executor = ledger, executor
        self._tried: set[Run] = set()
        self._catchers: dict[str, Run] = {}

    def notices(self, mutant: Mutant) -> bool:
        """Whether a claim is refuted under the falsified theory only, or under the right one only.

        The theory must be right when this is called. First the existing evidence is judged,
        starting with a run that noticed an earlier mutant of the same target. Then claims that have
        not run yet run under the right theory, from the nearest to the farthest. An undecided claim
        runs again under the falsified theory, as after an edit of the formula: the grid follows the
        formula.
        """
        importing = (run for run in _runs() if mutant.module in upstream(imported()[run[0]].module))
        near = sorted(importing, key=_nearness(mutant))
        likely = self._catchers.get(mutant.target)
        known = sorted(self.outcomes.keys() & {*near}, key=lambda r: (r != likely, near.index(r)))
        with falsified(mutant, *(name for name, _ in known)) as claims:
            if self.caught(claims, known) is not None:
                return True
        for run in near:
            if run not in self._tried:
                self._tried.add(run)
                outcome = self._run(run, imported()[run[0]])
                if outcome.decision.verdict == outcome.claim.expected:
                    self.outcomes[run] = outcome
            if run not in self.outcomes:
                continue
            with falsified(mutant, run[0]) as claims:
                claim = claims[run[0]]
                verdict = self._verdict(run, claim)
                if verdict != claim.expected and not _caught(claim, verdict):
                    verdict = self._verdict(run, claim, again=True)
                if _caught(claim, verdict):
                    self._catchers[mutant.target] = run
                    return True
        return False

    def caught(self, claims: Mapping[str, Claim], runs: Iterable[Run]) -> Run | None:
        """Return the first run whose claim is refuted though it should not be, or the reverse."""
        return next(
            (run for run in runs if _caught(claims[run[0]], self._verdict(run, claims[run[0]]))),
            None,
        )

    def _run(self, run: Run, claim: Claim) -> Outcome:
        return run_claim(claim, Settings(tier=run[1]), self._ledger, self._executor)

    def _verdict(self, run: Run, claim: Claim, *, again: bool = False) -> Verdict:
        try:
            if again:
                return self._run(run, claim).decision.verdict
            found = self.outcomes[run]
            return judge(claim.rule.against(found.evidence, claim.predict, found.alpha))
        except (ArithmeticError, ValueError):
            return Verdict.INCONCLUSIVE  # a theory that breaks down is not refuted by evidence


def _nearness(mutant: Mutant) -> Callable[[Run], tuple[bool, bool, int, int]]:
    """Return a key that sorts runs by the nearness of their files to the falsified function.

    First are files that name the function, then files that import its module. Among these the
    lowest tier is first, and then the smallest run.
    """
    called = ".".join(mutant.target.split("[")[0].split(".")[-2:])

    def key(run: Run) -> tuple[bool, bool, int, int]:
        claim = imported()[run[0]]
        size = len(claim.cells[run[1]]) * claim.replicates[run[1]][0]
        unnamed = called not in _source(claim.module)
        direct = _graph().find_modules_directly_imported_by(claim.module)
        return unnamed, mutant.module not in direct, TIERS.index(run[1]), size

    return key


@cache
def _runs() -> tuple[Run, ...]:
    """List the lowest and the standard tier of claims that need no GPU; full tiers take hours."""
    found = []
    for name, claim in imported().items():
        if claim.needs is None:
            run = [tier for tier in TIERS if tier != "full" and claim.cells.get(tier)]
            found += [(name, tier) for tier in dict.fromkeys((*run[:1], *run[-1:]))]
    return tuple(found)


def _caught(claim: Claim, verdict: Verdict) -> bool:
    return (verdict is Verdict.REFUTED) != (claim.expected == Verdict.REFUTED)


@contextmanager
def falsified(mutant: Mutant | None, *names: str) -> Iterator[dict[str, Claim]]:
    """Make the claims of these ids again, from files executed under the falsified theory.

    All claims of these files are made. None as mutant means the right theory. Caches are emptied
    before and after, so that no number of one theory remains under another.
    """
    files = {imported()[name].module for name in names}
    with pytest.MonkeyPatch.context() as patch:
        forget()
        try:
            if mutant is not None:
                mutant.patch(patch)
            yield claims_in(map(_executed, files))
        finally:
            forget()


def _executed(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FILES[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("claims", "theory", "simulation", cache_dir=None)


@cache
def upstream(module: str) -> set[str]:
    """Return the modules that a claim file imports, directly or indirectly."""
    return _graph().find_upstream_modules(module)


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])
