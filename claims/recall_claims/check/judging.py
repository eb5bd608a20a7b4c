"""Judge every claim of a record again from the ledger, and say where the record differs.

The check takes no verdict from the record, and no figure that evidence determines. Only the record
says which tier, seed, device, error budget and versions a run had, and how long the run took. The
code of this checkout determines the claims, their declarations, the blocks that they need and the
number of replicates per block.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from recall_claims import parse, recording
from recall_claims.declare.claim import TIERS, Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence.block import BlockResult
from recall_claims.evidence.hunt_tables import HuntTables, alpha_of
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import Look, Observations, ended, looks_at
from recall_claims.evidence.run import Outcome, Prepared, Settings, set_of, task_of
from recall_claims.evidence.simulate import Task, find
from recall_claims.hunt.probe import TIER, alone, trials
from recall_claims.model.budget import DEFAULT, Budget
from recall_claims.model.cell import Cell
from recall_claims.model.errors import CheckError
from recall_claims.model.region import Verdict
from recall_reports.record import ClaimRow, Confirmed, Record
from recall_reports.record.certificates import Certificates

SAME = 1e-6
"""Relative difference to ignore: other versions of NumPy and SciPy round differently."""
SHOWN = 8
"""Largest number of differences to name per claim."""
VERSIONS = ("python", "numpy", "scipy", "torch")


@dataclass
class Evidence:
    """The blocks that the looks of a claim asked for, by cell and index."""

    ledger: Ledger
    versions: str
    ready: Prepared
    settings: Settings
    blocks: list[tuple[Cell, int]] = field(default_factory=list)

    def kept(self, cell: Cell, block: int) -> Observations:
        """Return a block of the ledger.

        Raises:
            CheckError: the ledger lacks the block, or the block is not evidence.
        """
        key = replace(task_of(self.ready, self.settings, cell, block).key, versions=self.versions)
        found = self.ledger.read(key)
        if not isinstance(found, BlockResult):
            why = found or self.ledger.why_missing(key)
            raise CheckError(f"the ledger lacks block {block} of {cell.id}: {why}")
        return found.observations

    def _source(self, look: Look[Any]) -> dict[Cell, list[Observations]]:
        found: dict[Cell, list[Observations]] = {cell: [] for cell in look.wanted}
        for cell, numbers in look.wanted.items():
            for block in numbers:
                found[cell].append(self.kept(cell, block))
                self.blocks.append((cell, block))  # counts even if the next block is missing
        return found

    def task(self, place: int, device: str) -> Task:
        """Return the task that simulates one block again."""
        return task_of(self.ready, replace(self.settings, device=device), *self.blocks[place])

    def judged(self, alpha: float | None = None) -> Outcome:
        """Judge the ledger's blocks, look by look.

        Raises:
            Exception: any error of reading blocks, of the rule or of the theory.
        """
        claim, settings = self.ready.claim, self.settings
        level = settings.alpha_of_look(claim, alpha)
        last = ended(looks_at(claim, settings.tier, level), self._source)
        assert last.decision is not None
        return Outcome(
            claim=claim,
            settings=settings,
            decision=last.decision,
            evidence=last.evidence,
            alpha=level,
            registration=self.ready.registration,
            looks=last.number,
            blocks=len(self.blocks),
            place=self.ledger.place(set_of(self.ready, settings)),
        )


class Check:
    """The comparison of a record with claims and ledger.

    Attributes:
        judged: number of claims that were judged again.
        found: faults: the claim, or another part of the record, and what is wrong with it.
        evidence: blocks of each claim and each hunt that was judged again.

    Args:
        record: the record.
        claims: the checkout's claims, by id.
        ledger: the ledger of the record's run.
        certificates: the checkout's certificates.
        commit: the commit checked out; None outside a repository.
        only: judge only the claims with this text in their ids, and compare no papers, totals or
            derivations. Commit, budget and the list of claims are compared all the same.

    Raises:
        CheckError: no run can have had the record's settings, or the run had other code.
    """

    def __init__(
        self,
        record: Record,
        claims: Mapping[str, Claim],
        ledger: Ledger,
        certificates: Certificates,
        commit: str | None,
        only: str = "",
    ) -> None:
        self._record, self._ledger, self._certificates = record, ledger, certificates
        self._settings = _settings(record)
        self.judged = 0
        self.found: list[tuple[str, str]] = []
        self.evidence: dict[str, Evidence] = {}
        if not ledger.codes() & {find(claim.module, name)[1] for name, claim in claims.items()}:
            raise CheckError(
                f"{ledger.path} was made with other code than this checkout has; check it in a "
                f"checkout of its code, commit {record.suite.commit or 'unknown'}"
            )
        if record.suite.commit is None:
            self._find("the record", "names no commit, so nobody knows which code it is of")
        elif record.suite.commit != commit:
            here = f"{commit} is here" if commit else "this folder has none"
            self._find("the record", f"is of commit {record.suite.commit}, and {here}")
        if self._settings.budget.probability > DEFAULT:
            budget = f"has an error budget of {self._settings.budget.probability:g}"
            self._find("the record", f"{budget}, more than the usual {DEFAULT:g}")
        for name, count in Counter(entry.id for entry in record.claims).items():
            if name not in claims:
                self._find(name, "is no claim of this checkout")
            if count > 1:
                self._find(name, "is in the record more than once")
        entries = {entry.id: entry for entry in record.claims}
        for name, claim in claims.items():
            if only not in name:
                continue
            if name in entries:
                self._check_claim(claim, entries[name])
            elif claim.why_not_run(self._settings.tier, self._settings.device) is None:
                tier = self._settings.tier
                self._find(name, f"is run in the tier {tier}, and the record lacks it")
        if not only:
            self._check_whole([claims[name] for name in entries if name in claims])

    def _find(self, where: str, what: str) -> None:
        self.found.append((where, what))

    def _check_claim(self, claim: Claim, entry: ClaimRow) -> None:
        """Compare a claim's record with the record that its evidence gives."""
        settings = self._settings
        file = os.path.relpath(Path(sys.modules[claim.module].__file__ or "").resolve())
        why = claim.why_not_run(settings.tier, settings.device)
        if why is None and entry.state != "DECIDED":
            self._find(claim.id, f"has no verdict: {entry.state}, {entry.reason}")
            return
        try:
            if why is None:
                again = self._judged(claim, entry, file)
            else:
                again = recording.undecided(
                    claim, settings, file, state="NOT RUN", reason=why, outcome="skipped"
                )
        except Exception as error:  # a rule may raise anything on senseless figures
            self._find(claim.id, f"cannot be judged: {type(error).__name__}: {error!s:.300}")
            return
        again.seconds, again.hunt = entry.seconds, entry.hunt
        again.blocks = structs.replace(entry.blocks, total=again.blocks.total)
        self._compare(claim.id, entry, again)

    def _judged(self, claim: Claim, entry: ClaimRow, file: str) -> ClaimRow:
        """Judge a claim, and the confirmed violation if its record has one."""
        outcome = self._outcome(claim.id, Prepared.of(claim, self._settings.tier), self._settings)
        self.judged += 1
        again = recording.decided(outcome, file, self._certificates)
        again.draw = max(1, again.draw)
        if again.draw <= entry.draws <= again.draws:  # the ledger may have more attempts since
            again.draws = entry.draws
        if entry.hunt is not None and entry.hunt.confirmed is not None:
            again.reason = entry.reason
            violation = self._violation(claim, entry.hunt.confirmed)
            if violation is None:
                what = "its hunt's confirmed violation does not follow from the ledger"
                self._find(claim.id, what)
            else:  # confirmed by this run, or by an earlier one
                fresh = len(entry.components) != len(again.components)
                recording.overturn(again, violation.decision.components if fresh else ())
        return again

    def _outcome(
        self, name: str, ready: Prepared, settings: Settings, alpha: float | None = None
    ) -> Outcome:
        versions = self._record.suite.versions
        told = ", ".join(f"{package} {versions.get(package)}" for package in VERSIONS)
        self.evidence[name] = Evidence(self._ledger, told, ready, settings)
        return self.evidence[name].judged(alpha)

    def _violation(self, claim: Claim, told: Confirmed) -> Outcome | None:
        """Judge a confirmed violation again; None if the ledger does not show it refuted."""
        point = Cell(**told.params)
        if claim.regime is None or not claim.regime.draws(point):
            return None
        one = alone(claim, point)
        key, tables = registration(one, TIER), HuntTables(self._ledger, self._settings.seed)
        kept = tables.confirmed(claim.id, {key: None}).get(key)
        if kept != (told.number, Verdict.REFUTED) or alpha_of(told.number) != told.alpha:
            return None
        settings = replace(self._settings, tier=TIER)
        for first in self._ledger.registrations(claim.id):
            drawn = re.fullmatch(f"hunt ([0-9]{{1,9}}) {re.escape(key)}", first)
            if not drawn:
                continue
            for trial in trials(claim):
                ready = Prepared.of(one, TIER, f"{trial} {drawn[1]} {key}")
                alpha = alpha_of(int(drawn[1]))
                outcome = self._outcome(f"{claim.id} ({trial})", ready, settings, alpha)
                if outcome.decision.verdict is not Verdict.REFUTED:
                    break
            else:
                return outcome
        return None

    def _check_whole(self, claims: list[Claim]) -> None:
        """Compare papers, budget and derivations with the checkout's."""
        rows, suite = self._record.claims, self._record.suite
        names, budget = {claim.id for claim in claims}, self._settings.budget
        again = recording.suite(
            self._settings,
            [entry for entry in rows if entry.id in names],
            {claim.source.paper: recording.paper(claim, budget) for claim in claims},
            executor=suite.executor,
            started=suite.started,
            wall_seconds=suite.wall_seconds,
            command=suite.command,
            commit=suite.commit,
        )
        chains, error_budget = again.suite.independence.chains, again.suite.error_budget
        independence = structs.replace(suite.independence, chains=chains)
        blocks = structs.replace(suite.blocks, total=again.suite.blocks.total)
        again.suite = structs.replace(
            suite, error_budget=error_budget, independence=independence, blocks=blocks
        )
        again.claims = rows
        if self._record.usual:
            from recall_reports import usual  # this import is slow

            again.usual = usual.analysed(again)
        self._compare("the record", self._record, again)

    def _compare(self, where: str, told: Struct, again: Struct) -> None:
        found = sorted(_differ("", told, again), key=lambda what: what.split(":")[0].count("."))
        for what in found[:SHOWN]:
            self._find(where, what)
        if len(found) > SHOWN:
            self._find(where, f"and {len(found) - SHOWN} more")


def _settings(record: Record) -> Settings:
    """Return the run's settings.

    Raises:
        CheckError: no run can have had these.
    """
    suite = record.suite
    if suite.tier not in TIERS or not 0 <= suite.seed < 10**parse.MOST_DIGITS:
        of = f"tier {suite.tier!r:.50} and seed {suite.seed!s:.50}"
        raise CheckError(f"no run makes a record of {of}")
    try:
        budget = Budget(suite.error_budget.probability)
    except ValueError as error:
        raise CheckError(str(error)) from error
    return Settings(suite.tier, suite.seed, suite.device, budget)


def _differ(place: str, told: Any, again: Any) -> Iterator[str]:
    """Yield the differences between two values of a record that exceed rounding."""
    if isinstance(told, Struct) and isinstance(again, Struct):
        told, again = structs.asdict(told), structs.asdict(again)
    if isinstance(told, dict) and isinstance(again, dict):
        for key in dict.fromkeys([*told, *again]):
            yield from _differ(f"{place}.{key}".strip("."), told.get(key), again.get(key))
    elif isinstance(told, list) and isinstance(again, list):
        if len(told) != len(again):
            yield f"{place}: {len(told)} entries in the record, {len(again)} when judged again"
        for index, (one, other) in enumerate(zip(told, again, strict=False)):
            yield from _differ(f"{place}.{index}", one, other)
    elif isinstance(told, float) and isinstance(again, int | float):
        if not math.isclose(told, again, rel_tol=SAME, abs_tol=1e-12):
            yield f"{place}: {told} in the record, {again} when judged again"
    elif told != again:
        yield f"{place}: {told!s:.80} in the record, {again!s:.80} when judged again"
