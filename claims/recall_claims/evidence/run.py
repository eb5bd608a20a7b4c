"""Run a claim until its verdict, on blocks from the ledger or from an executor."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from recall_claims.declare.cell import Cell
from recall_claims.declare.check import check
from recall_claims.declare.claim import Claim
from recall_claims.declare.papers import papers
from recall_claims.declare.registration import registration
from recall_claims.errors import OutOfTime, SimulationError
from recall_claims.evidence import replay
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.draws import EvidenceSet, Place
from recall_claims.evidence.fingerprints import parts
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.simulate import Task, TimeLimit, find, versions
from recall_claims.judge.budget import Budget
from recall_claims.judge.looks import Decision, Look, looks_at, remembering
from recall_claims.judge.rules import Sample

Progress = Callable[[str, int, int, int, int], None]
"""Called with claim id, look, looks, blocks done and blocks wanted at this look."""


@dataclass(frozen=True)
class Settings:
    """What a run has been asked for.

    `costs`: what blocks are expected to take, which learns from those that are done. `limit`: when
    they must have ended.
    """

    tier: str = "standard"
    seed: int = 0
    device: str = "cpu"
    budget: Budget = field(default_factory=Budget)
    limit: TimeLimit | None = None
    costs: Costs | None = field(default=None, compare=False, repr=False)

    def alpha_of_look(self, claim: Claim, alpha: float | None = None) -> float:
        """Error probability of one look of a claim: of `alpha`, or of its slot of the budget."""
        if alpha is None:
            alpha = self.budget.per_claim(papers()[claim.source.paper])
        return claim.rule.alpha_of_look(alpha, claim.looks(self.tier))


@dataclass(frozen=True)
class Outcome:
    """A claim's decision with the evidence and the effort behind it."""

    claim: Claim
    settings: Settings
    decision: Decision
    evidence: tuple[Sample, ...]
    alpha: float
    registration: str
    looks: int
    blocks: int
    place: Place
    """How many evidence sets the ledger has drawn for the claim, and which this is."""
    seconds: float = 0.0
    reused: int = 0
    recomputed: Mapping[str, int] = field(default_factory=dict)
    divided: int = 0
    """Blocks of this run that memory allowed only in parts."""

    @property
    def replicates(self) -> int:
        """Replicates over all cells."""
        return sum(sample.replicates for sample in self.evidence)


@dataclass(frozen=True)
class Prepared:
    """A claim whose predictions are kept, so that nobody works them out twice.

    `registration`: of its declaration in the tier, or the name of the stream that it draws from.
    """

    claim: Claim
    registration: str

    @classmethod
    def of(
        cls, claim: Claim, tier: str, named: str | None = None, *, checked: bool = False
    ) -> Self:
        """Prepare a claim, which draws from its registration's stream unless that is named.

        Raises:
            ClaimError: it is to be `checked`, and written wrongly in the tier.
        """
        kept = remembering(claim)
        if checked:
            check(kept, [tier])
        return cls(kept, named or registration(kept, tier))


def task_of(ready: Prepared, settings: Settings, cell: Cell, block: int) -> Task:
    """A block of a claim, as this process would have it simulated."""
    claim = ready.claim
    key = BlockKey(
        claim=claim.id,
        registration=ready.registration,
        cell=cell.id,
        seed=settings.seed,
        block=block,
        replicates=claim.block_size(settings.tier),
        dtype=claim.dtype,
        device=settings.device.partition(":")[0],
        code=find(claim.module, claim.id)[1],
        versions=versions(),
    )
    return Task(module=claim.module, cell=cell, device=settings.device, key=key)


def set_of(ready: Prepared, settings: Settings) -> EvidenceSet:
    """What makes the evidence of a claim fresh, as this process would draw it."""
    claim = ready.claim
    code = find(claim.module, claim.id)[1]
    return EvidenceSet(claim.id, settings.tier, ready.registration, str(settings.seed), code)


class Running:
    """A claim between its first block and its verdict.

    Attributes:
        look: the one that waits for blocks, or the last.
        missing: these blocks.
        unsent: those of them that no executor has been given yet; the longest last.

    Args:
        ledger: where blocks are found; whoever simulates the missing ones keeps them there.
        alpha: the claim's error probability; if it is not given, its slot of the error budget.
    """

    def __init__(
        self, ready: Prepared, settings: Settings, ledger: Ledger, alpha: float | None = None
    ) -> None:
        self.settings, self._ledger, self._ready = settings, ledger, ready
        self.claim = claim = ready.claim
        tier = settings.tier
        self._cheapest = replay.cheapest(claim.cells[tier])
        drawn = set_of(ready, settings)
        self._place = ledger.register(drawn)
        ledger.remember_code(drawn.code, lambda: parts(claim.module))
        self._alpha = settings.alpha_of_look(claim, alpha)
        self.steps = claim.steps(tier)
        self._loop = looks_at(claim, tier, self._alpha)
        self._arrived: dict[tuple[str, int], BlockResult] = {}
        self._late, self._seconds, self._blocks = 0, 0.0, 0
        self._fresh: list[BlockResult] = []
        self._reasons: dict[BlockKey, str] = {}
        self._why: Counter[str] = Counter()
        self._advance(next(self._loop))

    @property
    def observables(self) -> tuple[str, ...] | None:
        """Names of what a block has to hold, as far as the first look has told."""
        evidence = self.look.evidence
        return tuple(evidence[0].observations) if evidence else None

    @property
    def progress(self) -> tuple[int, int, int, int]:
        """Look, looks, blocks at hand, and blocks wanted by the end of this look."""
        done = self._blocks + len(self._arrived)
        look = min(self.look.number + 1, len(self.steps))  # after the last, none is ahead
        return look, len(self.steps), done, done + len(self.missing)

    def seconds(self, task: Task) -> float | None:
        """Expected seconds of one block, or None if nothing is known."""
        costs, key = self.settings.costs, task.key
        return None if costs is None else costs.seconds(key.claim, key.cell, key.replicates)

    @property
    def path(self) -> float:
        """Expected seconds of its longest chain of blocks, one a look; infinite if nobody knows."""
        known = [self.seconds(task) for task in self.missing.values()]
        looks = self.settings.costs and self.settings.costs.looks(self.claim.id)
        left = max(1, (looks or len(self.steps)) - self.look.number)
        return left * max(math.inf if seconds is None else seconds for seconds in known)

    def put(self, key: BlockKey, result: BlockResult | OutOfTime) -> None:
        """Take a missing block; the last one of a look has it judged, and the next begins.

        Raises:
            OutOfTime: blocks of the look were late, and no earlier look has decided.
            Exception: whatever rule and theory raise.
        """
        del self.missing[key]
        if isinstance(result, OutOfTime):
            self._late += 1
        else:
            self._arrived[key.cell, key.block] = result
        if self._late and not self.missing:
            where = f"look {self.look.number + 1} of {self.claim.id}"
            raise OutOfTime(f"{self._late} blocks of {where} are left")
        if not self.missing:
            self._advance(self._judged())

    def outcome(self) -> Outcome:
        """What the looks taken have come to.

        Raises:
            SimulationError: there is none, for blocks of the first are missing.
        """
        if self.look.decision is None:
            raise SimulationError(f"the ledger lacks blocks of {self.claim.id}; run it first")
        fresh = self._fresh
        return Outcome(
            claim=self.claim,
            settings=self.settings,
            decision=self.look.decision,
            evidence=self.look.evidence,
            alpha=self._alpha,
            registration=self._ready.registration,
            looks=self.look.number,
            blocks=self._blocks,
            place=self._place,
            seconds=self._seconds,
            reused=self._blocks - len(fresh),
            recomputed=dict(self._why),
            divided=sum(result.parts > 1 for result in fresh),
        )

    def _advance(self, look: Look[Decision]) -> None:
        """Find the blocks of a look in the ledger; where it has them all, judge them at once."""
        while True:
            self.look = look
            tasks = [self._task(c, block) for c, blocks in look.wanted.items() for block in blocks]
            found = {task.key: self._ledger.get(task.key, self.observables) for task in tasks}
            self.missing = {task.key: task for task in tasks if found[task.key] is None}
            self._reasons = {key: self._ledger.why_missing(key) for key in self.missing}
            self._arrived = {(k.cell, k.block): result for k, result in found.items() if result}
            self.unsent = list(self.missing.values())[::-1]
            self.unsent.sort(key=lambda task: self.seconds(task) or 0.0)
            if self.missing or not tasks:
                return
            look = self._judged()

    def _judged(self) -> Look[Decision]:
        """Judge the look, now that all of its blocks are there; return the next."""
        results = self._arrived
        self._seconds += sum(result.seconds for result in results.values())
        self._blocks += len(results)
        self._fresh += [results[key.cell, key.block] for key in self._reasons]
        self._why.update(self._reasons.values())
        observed = {
            cell: [results[cell.id, block].observations for block in blocks]
            for cell, blocks in self.look.wanted.items()
        }
        look = self._loop.send(observed)
        problem = replay.constant(self.claim, look.evidence) if look.number == 1 else None
        if not look.wanted:  # the last: any look may be, so they share the level
            size, level = self.claim.block_size(self.settings.tier), self._alpha / len(self.steps)
            problem = problem or replay.alike(self.claim, look.evidence, size, level)
        if problem is not None:
            raise SimulationError(f"{self.claim.id}: {problem}")
        return look

    def _task(self, cell: Cell, block: int) -> Task:
        task = task_of(self._ready, self.settings, cell, block)
        return replace(task, replay=block == 0 and cell == self._cheapest)
