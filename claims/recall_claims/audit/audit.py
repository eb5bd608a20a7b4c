"""Audit a bundle: judge every claim again, and draw a random sample of its blocks again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass

import numpy as np
from msgspec import Struct, field

from recall_claims import recording
from recall_claims.audit.bundle import Bundle
from recall_claims.audit.judging import differences, judge_again
from recall_claims.audit.making import judged_here, processor, settings_of
from recall_claims.audit.sampling import order, share_at_most, wrong_at_most
from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import named
from recall_claims.errors import BundleError, SimulationError
from recall_claims.evidence.block import BlockResult
from recall_claims.evidence.draws import Chain, Place
from recall_claims.evidence.executors import capacity
from recall_claims.evidence.run import Prepared, set_of, task_of
from recall_claims.evidence.simulate import Task, find, simulate_each
from recall_claims.evidence.validate import difference
from recall_claims.judge.looks import Observations
from recall_claims.judge.methods import Array
from recall_reports import record
from recall_reports.record.certificates import Certificates

OF_IDENTITY = 1e-2
"""By which rounding may move what measures rounding itself, of the largest error it may have."""
Results = list[BlockResult]
Observed = Mapping[str, Mapping[str, Array]]


class Finding(Struct):
    """Something that is not what code and evidence give."""

    claim: str
    what: str


class Audited(Struct, kw_only=True):
    """The blocks of a claim: how many, drawn again, equal to the bit, and possibly wrong.

    `wrong_at_most` are not excluded at the confidence by those that were drawn.
    """

    blocks: int
    drawn: int = 0
    exact: int = 0
    wrong: int = 0
    wrong_at_most: int = 0


class Audit(Struct, kw_only=True):
    """What an audit has found: `share` and `share_by_claim` are what it excludes at 99%."""

    tier: str
    seed: int
    commit: str | None
    order: int = 0
    judged: int = 0
    claims: dict[str, Audited] = {}
    findings: list[Finding] = field(default_factory=list)
    elsewhere: list[str] = []
    share: float = 1.0
    share_by_claim: float = 1.0
    processors: tuple[str, str] = ("", "")

    def total(self, name: str) -> int:
        """A figure of all claims together."""
        return sum(getattr(claim, name) for claim in self.claims.values())


@dataclass(frozen=True)
class Ready:
    """A claim whose declaration is that of the bundle, with its observations there."""

    prepared: Prepared
    cells: Mapping[str, Cell]
    observed: Observed

    def block(self, cell: str, block: int) -> Observations:
        """A block as the bundle has it."""
        return {name: values[block] for name, values in self.observed[cell].items()}


class Auditor:
    """Goes through a bundle with the code of this checkout.

    Args:
        claims: of the checkout, by id; nothing else of the bundle's text is ever imported.
        device: where blocks are drawn again.
        part: whether the bundle may leave out claims of the checkout.

    Raises:
        BundleError: the bundle was made with other code.
    """

    def __init__(
        self,
        bundle: Bundle,
        claims: Mapping[str, Claim],
        certificates: Certificates,
        device: str,
        *,
        part: bool = False,
    ) -> None:
        self.bundle, self.claims, self.part, self.certificates = bundle, claims, part, certificates
        self.settings = settings_of(bundle.record, device)
        self.ready: dict[str, Ready] = {}
        suite = bundle.record.suite
        held = {n: h for n, h in bundle.index.claims.items() if n in claims}
        other = [n for n, h in held.items() if find(claims[n].module, n)[1] != h.code]
        if other:
            raise BundleError(
                f"made with other code than this checkout has, for {len(other)} of {len(held)} "
                f"claims, such as {other[0]}; check out commit {suite.commit} and audit it there"
            )
        self.found = Audit(tier=suite.tier, seed=suite.seed, commit=suite.commit)
        self.found.processors = bundle.index.processor, processor()

    def judge(self) -> None:
        """Hold records, declarations and blocks of all claims against one another."""
        entries = {entry.id: entry for entry in self.bundle.record.claims}
        decided = {name for name, entry in entries.items() if judged_here(entry)}
        self._papers()
        try:
            chain = Chain(self.bundle.index.chain)
        except ValueError as error:
            chain = Chain()
            self._find("", str(error))
        for name in sorted(decided ^ self.bundle.index.claims.keys()):
            self._find(name, "evidence without a verdict, or a verdict without evidence")
        for name, claim in self.claims.items():
            runs = claim.why_not_run(self.settings.tier, self.bundle.record.suite.device) is None
            entry, state = entries.get(name), "left out of the record"
            if entry is not None:
                state = entry.state
            absent = entry is None
            if name not in decided and runs and not (self.part and absent):
                self._find(name, f"has no verdict of this run, in whose tier it has cells: {state}")
        for name in sorted(decided & self.bundle.index.claims.keys()):
            try:
                self._judge(entries[name], chain)
            except Exception as error:  # a rule may raise anything on figures that are none
                self._find(name, f"cannot be judged: {type(error).__name__}: {error!s:.200}")

    def _papers(self) -> None:
        """Hold what the record says of papers and their budget against what the checkout says."""
        record, budget = self.bundle.record, self.settings.budget
        here = {c.source.paper: recording.paper(c, budget) for c in self.claims.values()}
        for paper in record.papers:
            told = recording.PaperEntry(paper, record.suite.error_budget.papers[paper.key])
            if here.get(paper.key) != told:
                self._find(f"paper {paper.key}", "statements or budget differ in this checkout")

    def _judge(self, entry: record.ClaimRow, chain: Chain) -> None:
        name, held = entry.id, self.bundle.index.claims[entry.id]
        if name not in self.claims:
            self._find(name, "no claim of this checkout")
            return
        prepared = Prepared.of(self.claims[name], self.settings.tier)
        if not prepared.registration == held.registration == named(held.declaration):
            self._find(name, "its declaration or predictions are not those of this checkout")
            return
        size = prepared.claim.block_size(self.settings.tier)
        cells = {cell.id: cell for cell in prepared.claim.cells[self.settings.tier]}
        observed = self.bundle.observations(name)
        if held.replicates != size or not observed.keys() <= cells.keys():
            self._find(name, "its blocks are not those of its cells")
            return
        ready = self.ready[name] = Ready(prepared, cells, observed)
        place = chain.place(set_of(prepared, self.settings)) or Place(0, 0)
        if not 1 <= place.shown == entry.draw <= entry.draws <= place.sets:
            self._find(name, f"evidence set {entry.draw} of {entry.draws}: not as the chain says")

        blocks = set(self.bundle.counts[name])

        def source(cell: Cell, block: int) -> Observations:
            if (cell.id, block) not in blocks:
                raise BundleError(f"the bundle lacks block {block} of {cell.id}")
            return ready.block(cell.id, block)

        outcome = judge_again(prepared, self.settings, source, place)
        for what in differences(entry, outcome, self.certificates):
            self._find(name, what)
        if outcome.blocks != len(blocks):
            self._find(name, "it has blocks that no look asks for")
        self.found.judged += 1

    def draw_again(
        self, executor: Executor, seed: int, *, blocks: int | None, seconds: float
    ) -> None:
        """Draw blocks again in the random order of a seed, until their number or time is reached.

        The number is that of all blocks, if it is not given.
        """
        found, settings = self.found, self.settings
        here = settings.tier, settings.device
        able = {n: r for n, r in self.ready.items() if not r.prepared.claim.why_not_run(*here)}
        found.elsewhere = sorted(self.bundle.index.claims.keys() - able.keys())
        counts = {name: self.bundle.counts[name] for name in able}
        found.claims = {name: Audited(blocks=len(own)) for name, own in counts.items()}
        found.order, plan, until = seed, order(counts, seed)[:blocks], time.time() + seconds
        units = ((able[name], cell, block) for name, cell, block in plan)
        tasks = (task_of(one.prepared, settings, one.cells[cell], n) for one, cell, n in units)
        done: dict[int, bool] = {}
        for place, future in _run(tasks, executor, until):
            name, cell, block = plan[place]
            try:
                [result] = future.result()
            except SimulationError as error:
                self._find(name, f"block {block} of {cell} cannot be drawn again: {error!s:.200}")
                continue
            done[place] = self._compared(name, cell, block, result)
        # What ended after one that did not is no random sample: it ended early for being short.
        first = next((place for place in range(len(plan)) if place not in done), len(plan))
        for place, (name, _, _) in enumerate(plan[:first]):
            found.claims[name].drawn += 1
            found.claims[name].exact += done[place]
        for one in found.claims.values():
            one.wrong_at_most = wrong_at_most(one.blocks, one.drawn)
        found.share, found.share_by_claim = share_at_most(counts, plan[:first])

    def _compared(self, name: str, cell: str, block: int, result: BlockResult) -> bool:
        """Whether a block is to the bit what was drawn again; where it is not, that is a finding,
        unless rounding explains it."""
        ready, again = self.ready[name], result.observations
        kept, claim = ready.block(cell, block), ready.prepared.claim
        if kept.keys() == again.keys() and all(np.array_equal(kept[k], again[k]) for k in kept):
            return True
        floor = OF_IDENTITY * getattr(claim.rule, "tolerance", 0.0)
        what = difference(kept, again, claim.dtype, floor)
        if what is not None:
            self.found.claims[name].wrong += 1
            self._find(name, f"block {block} of {cell} is not what the code gives: {what}")
        return False

    def _find(self, claim: str, what: str) -> None:
        self.found.findings.append(Finding(claim, what))


def _run(
    tasks: Iterator[Task], executor: Executor, until: float
) -> Iterator[tuple[int, Future[Results]]]:
    """Keep the executor busy with tasks until the time is up; each one's number and future."""
    flying: dict[Future[Results], int] = {}
    numbered = enumerate(tasks)
    while True:
        while len(flying) < capacity(executor) and time.time() < until:
            number, task = next(numbered, (-1, None))
            if task is None:
                break
            flying[executor.submit(simulate_each, (task,))] = number
        if not flying:
            return
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            yield flying.pop(future), future
