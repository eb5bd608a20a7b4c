"""Run a claim: simulate look after look until the evidence decides or the looks are spent."""

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from functools import cache

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.controls import Control
from recall_claims.declare.papers import Paper, papers
from recall_claims.declare.registration import registration
from recall_claims.errors import GivenUp, OutOfTime, SimulationError
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.fingerprints import parts
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.simulate import Task, TimeLimit, completed, find, simulate, versions
from recall_claims.judge.budget import Budget
from recall_claims.judge.region import Component, Verdict, headline, judge
from recall_claims.judge.resolution import Resolution, resolution
from recall_claims.judge.rules import Predict, Sample

BlockIndex = tuple[str, int]
"""A cell's id, and the index of a block in the cell."""

Progress = Callable[[str, int, int, int, int], None]
"""Called with claim id, look, looks, blocks done and blocks wanted at this look."""


@dataclass(frozen=True)
class Settings:
    """What a run has been asked for.

    `reuse_evidence`: judge evidence of an earlier declaration; that explores, and decides nothing.
    `costs`: what blocks are expected to take, which learns from those that are done. `limit`: when
    they must have ended.
    """

    tier: str = "standard"
    seed: int = 0
    device: str = "cpu"
    budget: Budget = field(default_factory=Budget)
    reuse_evidence: bool = False
    limit: TimeLimit | None = None
    costs: Costs | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Decision:
    """What the evidence of one look says."""

    components: tuple[Component, ...]
    controls: Mapping[str, tuple[Component, ...]]

    @property
    def on_region(self) -> Verdict:
        """Intervals against regions, before the controls have their say."""
        return judge(self.components)

    @property
    def unrefuted(self) -> tuple[str, ...]:
        """Controls that the data do not refute."""
        return tuple(
            name for name, parts in self.controls.items() if judge(parts) is not Verdict.REFUTED
        )

    @property
    def verdict(self) -> Verdict:
        """SUPPORTED only when every control is refuted as well."""
        if self.on_region is Verdict.SUPPORTED and self.unrefuted:
            return Verdict.INCONCLUSIVE
        return self.on_region

    @property
    def reads(self) -> frozenset[str]:
        """Ids of the cells of which more replicates may still change the verdict.

        First those that undecided components read. Once these are decided, for each control that
        still stands those of the component whose estimate contradicts it most.
        """
        waiting = [c for c in self.components if c.verdict is Verdict.INCONCLUSIVE]
        if not waiting:
            for name in self.unrefuted:
                able = [part for part in self.controls[name] if part.reads]
                waiting += [max(able, key=lambda part: part.distance)] if able else []
        return frozenset(cell for component in waiting for cell in component.reads)

    @property
    def resolution(self) -> Resolution:
        """The smallest error in the theory that these data would have refuted."""
        return resolution(self.components)

    @property
    def headline(self) -> Component:
        """The component that speaks for the claim in tables."""
        return headline(self.components)


@dataclass(frozen=True)
class Outcome:
    """A claim's decision with the evidence and the effort behind it."""

    claim: Claim
    settings: Settings
    decision: Decision
    evidence: tuple[Sample, ...]
    alpha: float
    registration: str
    registrations: int
    looks: int
    seconds: float
    blocks: int
    reused: int
    recomputed: Mapping[str, int]
    peak_memory: float | None
    divided: int = 0
    """Blocks of this run that memory allowed only in parts."""
    explored: bool = False
    """Whether the evidence was drawn for another declaration: then nothing is decided."""

    @property
    def replicates(self) -> int:
        """Replicates over all cells."""
        return sum(sample.replicates for sample in self.evidence)


def remembering(claim: Claim) -> Claim:
    """The claim with controls planted and predictions kept, for looks work them out once."""

    def kept(predict: Predict | None) -> Predict | None:
        return None if predict is None else cache(predict)

    right = replace(claim, predict=kept(claim.predict))

    def planted(control: Control) -> Control:
        wrong = control.planted(right)
        return Control(control.id, control.description, kept(wrong.predict), wrong.rule)

    return replace(right, controls=tuple(map(planted, claim.controls)))


def decide(
    claim: Claim, evidence: tuple[Sample, ...], alpha: float, before: Decision | None = None
) -> Decision:
    """Judge a claim and its controls on the same evidence.

    What was decided at the look before stays so: a component by its first rejection, a control by
    its refutation.
    """

    def parts(judged: Claim) -> tuple[Component, ...]:
        return judged.rule.components(evidence, judged.predict, alpha)

    def control(planted: Control) -> tuple[Component, ...]:
        if before is not None and planted.id not in before.unrefuted:
            return before.controls[planted.id]
        return parts(planted.planted(claim))

    settled = {c.name: c for c in before.components} if before is not None else {}
    settled = {n: c for n, c in settled.items() if c.verdict is not Verdict.INCONCLUSIVE}
    return Decision(
        tuple(settled.get(c.name, c) for c in parts(claim)),
        {c.id: control(c) for c in claim.controls},
    )


@dataclass(frozen=True)
class Prefetched:
    """A claim made ready to run.

    Attributes:
        claim: with its predictions kept.
        registration: of its declaration in the tier.
        blocks: those that an executor already works on.
    """

    claim: Claim
    registration: str
    blocks: Mapping[BlockKey, Future[BlockResult]]


def prefetch(
    claim: Claim, settings: Settings, ledger: Ledger, executor: Executor | None
) -> Prefetched:
    """Submit the blocks of a claim's first look that the ledger lacks, for `run` to collect.

    One claim ahead, they keep the workers busy while a claim is judged. A serial executor would
    run them at once: there, nothing is prefetched.
    """
    kept = remembering(claim)
    named = registration(kept, settings.tier)
    if executor is None or isinstance(executor, SerialExecutor) or settings.reuse_evidence:
        return Prefetched(kept, named, {})
    tasks = [_task(claim, settings, named, cell, 0) for cell in claim.cells[settings.tier]]
    missing = [task for task in tasks if ledger.get(task.key) is None]
    limit = settings.limit
    if limit is not None:
        missing = [limit.timed(task) for task in missing if limit.knows(task.key)]
    blocks = {task.key: executor.submit(simulate, task) for task in missing}
    return Prefetched(kept, named, blocks)


def run(
    claim: Claim,
    settings: Settings,
    ledger: Ledger,
    executor: Executor | None,
    progress: Progress | None = None,
    prefetched: Prefetched | None = None,
    alpha: float | None = None,
) -> Outcome:
    """Run a claim to its verdict.

    Blocks come from the ledger where it has them, and from the executor where not. At each look
    the cells that undecided components read get more replicates, all the same number; the claim
    stops at the first look that supports or refutes, and where no cell can help any more.

    Args:
        claim: a claim that has cells in the tier asked for.
        settings: tier, seed, device and budget.
        ledger: where blocks are found and kept.
        executor: where missing blocks run; None simulates nothing, and judges the looks for
            which the ledger has all blocks.
        progress: told after every block.
        prefetched: what `prefetch` has made ready.
        alpha: the claim's error probability; if it is not given, its slot of the error budget.

    Raises:
        SimulationError: the simulation returned no numbers, the wrong shape, or NaN; a worker has
            other code; or, without an executor, the ledger lacks a block of the first look.
        OutOfTime: blocks of a look are not expected to end before the deadline, or did not; the
            others are in the ledger.
        BrokenExecutor: the executor's workers or its scheduler are gone.
        LedgerError: the ledger cannot be read or written.
    """
    one_thread()
    ready = prefetched or prefetch(claim, settings, ledger, None)
    named, tier, limit = ready.registration, settings.tier, settings.limit
    if settings.reuse_evidence:
        named = _kept(claim, settings, ledger, named)
    explored = named != ready.registration
    if explored:
        executor = None
    registrations = ledger.register(claim.id, tier, ready.registration)
    ledger.remember_code(find(claim.module, claim.id)[1], lambda: parts(claim.module))
    points, looks = claim.cells[tier], claim.looks[tier]
    if alpha is None:
        alpha = settings.budget.per_claim(_paper(claim))
    alpha = claim.rule.alpha_of_look(alpha, looks)
    collected: dict[BlockIndex, BlockResult] = {}
    drawn = {cell.id: 0 for cell in points}
    why: Counter[str] = Counter()
    decision: Decision | None = None
    evidence: tuple[Sample, ...] = ()
    look = 0
    steps = claim.rule.looks_in_blocks(looks)
    while True:
        reads = drawn.keys() if decision is None else decision.reads
        # A cell that a control takes up again goes on from where it stopped.
        wanted = {cell: next((n for n in steps if n > drawn[cell]), 0) for cell in reads}
        tasks = [
            _task(claim, settings, named, cell, block)
            for cell in points
            for block in range(drawn[cell.id], wanted.get(cell.id, 0))
        ]
        if not tasks:
            break
        found = {task.key: ledger.get(task.key) for task in tasks}
        missing = [task for task in tasks if found[task.key] is None]
        if missing and executor is None:
            if decision is None:
                raise SimulationError(f"the ledger lacks blocks of {claim.id}; run it first")
            break
        collected |= {(k.cell, k.block): result for k, result in found.items() if result}
        why.update(ledger.why_missing(task.key) for task in missing)
        drawn |= {cell: blocks for cell, blocks in wanted.items() if blocks}
        if executor is not None:
            late = 0
            for key, result in completed(missing, executor, ready.blocks, limit):
                if isinstance(result, OutOfTime):
                    late += 1
                    if isinstance(result, GivenUp) and settings.costs is not None:
                        settings.costs.give_up(key, result.seconds)
                    continue
                ledger.put(key, result)
                if settings.costs is not None:
                    settings.costs.learn(key, result.seconds)
                collected[key.cell, key.block] = result
                if progress is not None:
                    progress(claim.id, look + 1, len(steps), len(collected), sum(drawn.values()))
            if late:  # this look is not complete, and an earlier one has decided nothing
                raise OutOfTime(f"{late} blocks of look {look + 1} of {claim.id} are left")
        evidence = _evidence(points, collected, drawn)
        decision = decide(ready.claim, evidence, alpha, decision)
        look += 1
        if decision.verdict is not Verdict.INCONCLUSIVE:
            break
    assert decision is not None  # a claim has at least one look
    return Outcome(
        claim=claim,
        settings=settings,
        decision=decision,
        evidence=evidence,
        alpha=alpha,
        registration=named,
        registrations=registrations,
        looks=look,
        seconds=sum(result.seconds for result in collected.values()),
        blocks=len(collected),
        reused=len(collected) - sum(why.values()),
        recomputed=dict(why),
        peak_memory=max(
            (r.peak_memory for r in collected.values() if r.peak_memory is not None), default=None
        ),
        divided=sum(result.parts > 1 for result in collected.values()),
        explored=explored,
    )


def _kept(claim: Claim, settings: Settings, ledger: Ledger, named: str) -> str:
    """The registration whose evidence is judged: this one, if the ledger has a block of every cell
    for it, else the newest that has; this one, if there is none."""
    cells = claim.cells[settings.tier]
    keys = [_task(claim, settings, named, cell, 0).key for cell in cells]
    if all(ledger.get(key) is not None for key in keys):
        return named
    newest = ledger.newest(
        claim.id,
        settings.tier,
        [cell.id for cell in cells],
        seed=settings.seed,
        dtype=keys[0].dtype,
        device=keys[0].device,
        code=keys[0].code,
        versions=keys[0].versions,
        replicates=keys[0].replicates,
    )
    return newest or named


def _task(claim: Claim, settings: Settings, named: str, cell: Cell, block: int) -> Task:
    key = BlockKey(
        claim=claim.id,
        registration=named,
        cell=cell.id,
        seed=settings.seed,
        block=block,
        replicates=claim.replicates[settings.tier],
        dtype=claim.dtype,
        device=settings.device.partition(":")[0],
        code=find(claim.module, claim.id)[1],
        versions=versions(),
    )
    return Task(module=claim.module, cell=cell, device=settings.device, key=key)


def _evidence(
    points: tuple[Cell, ...],
    collected: Mapping[BlockIndex, BlockResult],
    drawn: Mapping[str, int],
) -> tuple[Sample, ...]:
    return tuple(
        Sample.joined(
            cell, [collected[cell.id, block].observations for block in range(drawn[cell.id])]
        )
        for cell in points
    )


def _paper(claim: Claim) -> Paper:
    return papers()[claim.source.paper]
