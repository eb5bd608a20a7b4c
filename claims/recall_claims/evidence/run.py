"""Run a claim: simulate look after look until the evidence decides or the looks are spent."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.controls import Control
from recall_claims.declare.papers import papers
from recall_claims.declare.registration import registration
from recall_claims.errors import SimulationError
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.simulate import Task, find, simulate, versions
from recall_claims.judge.budget import Budget
from recall_claims.judge.region import Component, Verdict, headline, judge
from recall_claims.judge.resolution import Resolution, resolution
from recall_claims.judge.rules import Sample

BlockIndex = tuple[str, int]
"""A cell's id, and the index of a block in the cell."""

Progress = Callable[[str, int, int, int, int], None]
"""Called with claim id, look, looks, blocks done and blocks wanted at this look."""

Prefetched = dict[BlockKey, "Future[BlockResult]"]
"""Blocks that an executor already works on."""


@dataclass(frozen=True)
class Settings:
    """What a run has been asked for."""

    tier: str = "standard"
    seed: int = 0
    device: str = "cpu"
    budget: Budget = field(default_factory=Budget)
    reuse_evidence: bool = False


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
    looks: int
    seconds: float
    blocks: int
    reused: int
    recomputed: Mapping[str, int]
    peak_memory: float | None
    divided: int = 0
    """Blocks of this run that memory allowed only in parts."""
    registration: str = ""
    registrations: int = 1
    explored: bool = False

    @property
    def replicates(self) -> int:
        """Replicates over all cells."""
        return sum(next(iter(s.observations.values())).size for s in self.evidence)


def decide(claim: Claim, evidence: tuple[Sample, ...], alpha: float) -> Decision:
    """Judge a claim and its controls on the same evidence."""

    def parts(judged: Claim) -> tuple[Component, ...]:
        return judged.rule.components(evidence, judged.predict, alpha)

    def control(planted: Control) -> tuple[Component, ...]:
        return parts(planted.planted(claim))

    return Decision(parts(claim), {c.id: control(c) for c in claim.controls})


def prefetch(claim: Claim, settings: Settings, ledger: Ledger, executor: Executor) -> Prefetched:
    """Submit the blocks of a claim's first look that the ledger lacks, for `run` to collect.

    One claim ahead, they keep the workers busy while a claim is judged. A serial executor would
    run them at once: there, nothing is prefetched.
    """
    if isinstance(executor, SerialExecutor):
        return {}
    registered = registration(claim, settings.tier)
    missing = _missing(claim, settings, registered, ledger, 0, {})
    return {task.key: executor.submit(simulate, task) for task in missing}


def run(
    claim: Claim,
    settings: Settings,
    ledger: Ledger,
    executor: Executor | None,
    progress: Progress | None = None,
    prefetched: Prefetched | None = None,
) -> Outcome:
    """Run a claim to its verdict.

    Blocks come from the ledger where it has them, and from the executor where not. Each look
    doubles the replicates per cell; the claim stops at the first look that supports or refutes.

    Args:
        claim: a claim that has cells in the tier asked for.
        settings: tier, seed, device and budget.
        ledger: where blocks are found and kept.
        executor: where missing blocks run; None simulates nothing, and judges the looks for
            which the ledger has all blocks.
        progress: told after every block.
        prefetched: what `prefetch` has submitted.

    Raises:
        SimulationError: the simulation returned no numbers, the wrong shape, or NaN; a worker has
            other code; or, without an executor, the ledger lacks a block of the first look.
        BrokenExecutor: the executor's workers or its scheduler are gone.
        LedgerError: the ledger cannot be read or written.
    """
    one_thread()
    points = claim.cells[settings.tier]
    looks = claim.looks[settings.tier]
    alpha = settings.budget.per_claim(papers()[claim.source.paper]) / looks
    collected: dict[BlockIndex, BlockResult] = {}
    why: Counter[str] = Counter()
    look = 0
    registered = registration(claim, settings.tier)
    registrations = ledger.register(claim.id, settings.tier, registered)
    while True:
        missing = _missing(claim, settings, registered, ledger, look, collected)
        if missing and executor is None:
            if look == 0:
                raise SimulationError(f"the ledger lacks blocks of {claim.id}; run it first")
            break
        why.update(ledger.why_missing(task.key) for task in missing)
        if executor is not None:
            for key, result in _completed(missing, executor, prefetched or {}):
                ledger.put(key, result)
                collected[key.cell, key.block] = result
                if progress is not None:
                    progress(claim.id, look + 1, looks, len(collected), len(points) * 2**look)
        evidence = _evidence(points, collected, 2**look)
        decision = decide(claim, evidence, alpha)
        look += 1
        if decision.verdict is not Verdict.INCONCLUSIVE or look == looks:
            break
    return Outcome(
        claim=claim,
        settings=settings,
        decision=decision,
        evidence=evidence,
        alpha=alpha,
        looks=look,
        seconds=sum(result.seconds for result in collected.values()),
        blocks=len(collected),
        reused=len(collected) - sum(why.values()),
        recomputed=dict(why),
        peak_memory=max(
            (r.peak_memory for r in collected.values() if r.peak_memory is not None), default=None
        ),
        divided=sum(result.parts > 1 for result in collected.values()),
        registration=registered,
        registrations=registrations,
    )


def _missing(
    claim: Claim,
    settings: Settings,
    registered: str,
    ledger: Ledger,
    look: int,
    collected: dict[BlockIndex, BlockResult],
) -> list[Task]:
    """Add the blocks of a look that the ledger has to those collected; return what is missing."""
    missing = []
    for block in range(2**look // 2, 2**look):  # the others are of earlier looks
        for cell in claim.cells[settings.tier]:
            task = _task(claim, settings, registered, cell, block)
            found = ledger.get(task.key)
            if found is None:
                missing.append(task)
            else:
                collected[cell.id, block] = found
    return missing


def _completed(
    missing: Sequence[Task], executor: Executor, prefetched: Prefetched
) -> Iterator[tuple[BlockKey, BlockResult]]:
    """Blocks as they are done, so that a run killed at any point loses only those in flight."""
    queue = deque(missing)
    # A serial executor runs a block when it is submitted: one at a time, or none would be kept
    # before the last is done.
    window = 1 if isinstance(executor, SerialExecutor) else len(missing)
    flying: dict[Future[BlockResult], BlockKey] = {}
    try:
        while queue or flying:
            while queue and len(flying) < window:
                task = queue.popleft()
                future = prefetched.get(task.key) or executor.submit(simulate, task)
                flying[future] = task.key
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield flying.pop(future), _result(future)
    finally:
        for future in flying:
            future.cancel()


def _result(future: Future[BlockResult]) -> BlockResult:
    try:
        return future.result()
    except CancelledError as error:
        raise BrokenExecutor(
            "the executor gave up its blocks; is its scheduler gone? Start it and run again: "
            "finished blocks are kept"
        ) from error


def _task(claim: Claim, settings: Settings, registered: str, cell: Cell, block: int) -> Task:
    key = BlockKey(
        claim=claim.id,
        registration=registered,
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
    points: tuple[Cell, ...], collected: Mapping[BlockIndex, BlockResult], blocks: int
) -> tuple[Sample, ...]:
    samples = []
    for cell in points:
        parts = [collected[cell.id, b].observations for b in range(blocks)]
        samples.append(
            Sample(cell, {name: np.concatenate([p[name] for p in parts]) for name in parts[0]})
        )
    return tuple(samples)
