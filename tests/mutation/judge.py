"""Judge the claims under whatever the theory is now."""

import importlib.util
import inspect
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache

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
    """What claims found under the theory as it is.

    Attributes:
        outcomes: of the runs so far that ended as expected.
    """

    def __init__(self, ledger: Ledger, executor: Executor) -> None:
        self.outcomes: dict[Run, Outcome] = {}
        self._ledger, self._executor = ledger, executor
        self._seconds: dict[Run, float] = {}  # of judging, for all runs so far
        self._catchers: dict[str, Run] = {}

    def notices(self, mutant: Mutant) -> bool:
        """Whether a claim refutes the falsified theory; the theory must be the right one again.

        First it is judged on the evidence at hand. Then, from the nearest claim to the farthest,
        one that has not run yet runs under the right theory, and one that its evidence leaves in
        doubt runs anew under the false one: as who edits a formula sees it, for the grid follows
        the formula.
        """
        if self._catcher(mutant) is not None:
            return True
        for run in self._near(mutant):
            if run not in self._seconds:
                self._keep(run)
            if run not in self.outcomes:
                continue
            with falsified(mutant, run[0]) as claims:
                claim = claims[run[0]]
                verdict = self._verdict(run, claim)
                doubt = verdict != claim.expected and not _caught(claim, verdict)
                if _caught(claim, self._verdict(run, claim, anew=True) if doubt else verdict):
                    self._catchers[mutant.target] = run
                    return True
        return False

    def caught(self, claims: Mapping[str, Claim], runs: Iterable[Run]) -> Run | None:
        """The first run whose evidence refutes its claim, or no longer does where it should."""
        return next(
            (run for run in runs if _caught(claims[run[0]], self._verdict(run, claims[run[0]]))),
            None,
        )

    def _catcher(self, mutant: Mutant) -> Run | None:
        """A run that catches the mutant with the evidence at hand, if one does.

        The one that caught the last mutant of the same target is asked first.
        """
        likely = self._catchers.get(mutant.target)
        runs = sorted(
            (run for run in self.outcomes if sees(run[0], mutant)),
            key=lambda run: (run != likely, *_distance(run[0], mutant), self._seconds[run]),
        )
        with falsified(mutant, *(name for name, _ in runs)) as claims:
            return self.caught(claims, runs)

    def _keep(self, run: Run) -> None:
        outcome = self._run(run, imported()[run[0]])
        start = time.perf_counter()
        _judged(outcome.claim, outcome)
        self._seconds[run] = time.perf_counter() - start
        if outcome.decision.verdict == outcome.claim.expected:
            self.outcomes[run] = outcome

    def _run(self, run: Run, claim: Claim) -> Outcome:
        return run_claim(claim, Settings(tier=run[1]), self._ledger, self._executor)

    def _verdict(self, run: Run, claim: Claim, *, anew: bool = False) -> Verdict:
        try:
            if anew:
                return self._run(run, claim).decision.verdict
            return _judged(claim, self.outcomes[run])
        except (ArithmeticError, ValueError):
            return Verdict.INCONCLUSIVE  # a theory that breaks down is not refuted by evidence

    @staticmethod
    def _near(mutant: Mutant) -> list[Run]:
        """Runs of all claims that can see the falsified module, the nearest and smallest first."""

        def nearness(run: Run) -> tuple[bool, bool, int, int]:
            claim = imported()[run[0]]
            size = len(claim.cells[run[1]]) * claim.replicates[run[1]][0]
            return (*_distance(run[0], mutant), TIERS.index(run[1]), size)

        runs = [run for run in _runs() if sees(run[0], mutant)]
        return sorted(runs, key=nearness)


@cache
def _runs() -> tuple[Run, ...]:
    """Of every claim, the lowest tier that has it and the standard one; full tiers take hours."""
    found = []
    for name, claim in imported().items():
        if claim.needs is None:
            run = [tier for tier in TIERS if tier != "full" and claim.cells.get(tier)]
            found += [(name, tier) for tier in dict.fromkeys((*run[:1], *run[-1:]))]
    return tuple(found)


def _judged(claim: Claim, outcome: Outcome) -> Verdict:
    return judge(claim.rule.components(outcome.evidence, claim.predict, outcome.alpha))


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


def sees(name: str, mutant: Mutant) -> bool:
    """Whether a claim's file imports the falsified module, itself or through others."""
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
