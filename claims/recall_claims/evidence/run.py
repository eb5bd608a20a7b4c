"""Run a claim to its verdict, on blocks from the ledger or from an executor."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence import replay
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.fingerprints import parts
from recall_claims.evidence.ledger import BlockKey, BlockResult, EvidenceSet, Ledger, Place
from recall_claims.evidence.looks import Decision, Look, looks_at, remembering
from recall_claims.evidence.precheck import check
from recall_claims.evidence.simulate import Task, find, versions
from recall_claims.judge.methods import Array
from recall_claims.judge.rules import Sample
from recall_claims.model.budget import Budget
from recall_claims.model.cell import Cell
from recall_claims.model.errors import OutOfTime, SimulationError, about
from recall_claims.model.papers import papers

Progress = Callable[[str, int, int, int], None]
"""Function to call with claim id, look, and the blocks done and wanted up to this look."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run, as its options give them.

    `costs`: expected seconds of blocks, updated by each finished block. `limit`: time by which
    blocks have to end, on the clock `time.monotonic`.
    """

    tier: str = "standard"
    seed: int = 0
    device: str = "cpu"
    budget: Budget = field(default_factory=Budget)
    limit: float | None = None
    costs: Costs | None = field(default=None, compare=False, repr=False)

    def alpha_of_look(self, claim: Claim, alpha: float | None = None) -> float:
        """Return a look's error probability, from `alpha`, or else from the claim's slot."""
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
    """Number of attempts at the claim in the ledger, and the place of this attempt."""
    seconds: float = 0.0
    reused: int = 0
    recomputed: Mapping[str, int] = field(default_factory=dict)
    divided: int = 0
    """Number of this run's blocks that were simulated in parts, for lack of memory."""

    @property
    def replicates(self) -> int:
        """Number of replicates over all cells."""
        return sum(sample.replicates for sample in self.evidence)


@dataclass(frozen=True)
class Prepared:
    """A claim that remembers its predictions.

    `registration`: hash of its declaration in the tier, or another name for its random stream.
    """

    claim: Claim
    registration: str

    @classmethod
    def of(
        cls, claim: Claim, tier: str, named: str | None = None, *, checked: bool = False
    ) -> Self:
        """Prepare a claim that draws from the random stream `named`, or else from its own.

        Raises:
            ClaimError: the claim is `checked`, and written wrongly in the tier.
        """
        kept = remembering(claim)
        if checked:
            check(kept, [tier])
        with about(claim.id):
            return cls(kept, named or registration(kept, tier))


def task_of(ready: Prepared, settings: Settings, cell: Cell, block: int) -> Task:
    """Make the task for a block of a claim, with this process's code and versions."""
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
    """Return registration, seed and code of an attempt with this process's code."""
    claim = ready.claim
    code = find(claim.module, claim.id)[1]
    return EvidenceSet(claim.id, settings.tier, ready.registration, str(settings.seed), code)


class Round:
    """The blocks of one look.

    Attributes:
        look: look that waits for the blocks.
        blocks: results from the ledger or from a worker, by key.
        missing: tasks for the other blocks, by key.
        reasons: why each block that the ledger lacked has to be simulated.
        unsent: missing tasks that no executor has received; the longest last.
        late: missing tasks that are not expected to end before the time limit.
        longest: expected seconds of the longest missing task; infinite if nothing is known.
    """

    def __init__(
        self,
        look: Look[Decision],
        tasks: Sequence[Task],
        ledger: Ledger,
        seconds: Callable[[Task], float | None],
    ) -> None:
        self.look = look
        found = {task.key: ledger.get(task.key, self.observables) for task in tasks}
        self.blocks = {key: block for key, block in found.items() if block is not None}
        self.missing = {task.key: task for task in tasks if found[task.key] is None}
        self.reasons = {key: ledger.why_missing(key) for key in self.missing}
        known = {task.key: seconds(task) for task in self.missing.values()}
        self.unsent = [*self.missing.values()][::-1]
        self.unsent.sort(key=lambda task: known[task.key] or 0.0)
        self.late: list[Task] = []
        self.longest = max((math.inf if s is None else s for s in known.values()), default=0.0)

    @property
    def observables(self) -> tuple[str, ...] | None:
        """Observables that a block must have; None before the first look."""
        evidence = self.look.evidence
        return tuple(evidence[0].observations) if evidence else None

    @property
    def observed(self) -> dict[Cell, list[Mapping[str, Array]]]:
        """The observations of the look, once no block is missing."""
        found = {(key.cell, key.block): result for key, result in self.blocks.items()}
        return {
            cell: [found[cell.id, block].observations for block in blocks]
            for cell, blocks in self.look.wanted.items()
        }


class Running:
    """A claim between its first block and its verdict.

    Attributes:
        round: the blocks of the next look; without blocks after the last look.

    Args:
        ledger: ledger with the blocks; a process that simulates missing blocks keeps them there.
        alpha: the claim's error probability; by default its slot of the error budget.
    """

    def __init__(
        self, ready: Prepared, settings: Settings, ledger: Ledger, alpha: float | None = None
    ) -> None:
        self.settings, self._ledger, self._ready = settings, ledger, ready
        self.claim = claim = ready.claim
        self._cheapest = replay.cheapest(
            claim.rule.begun(claim.cells[settings.tier], claim.predict)
        )
        drawn = set_of(ready, settings)
        self._place = ledger.register(drawn)
        ledger.remember_code(drawn.code, lambda: parts(claim.module))
        self._alpha = settings.alpha_of_look(claim, alpha)
        self.steps = claim.steps(settings.tier)
        self._loop = looks_at(claim, settings.tier, self._alpha)
        self._judged: list[Round] = []
        self.round = self._round_of(next(self._loop))
        self._judge()

    @property
    def progress(self) -> tuple[int, int, int]:
        """Number of the look, blocks received, and blocks wanted by the end of this look."""
        done = sum(len(each.blocks) for each in (*self._judged, self.round))
        look = min(self.round.look.number + 1, len(self.steps))  # no look after the last
        return look, done, done + len(self.round.missing)

    def seconds(self, task: Task) -> float | None:
        """Return the expected seconds of one block, or None if nothing is known."""
        costs, key = self.settings.costs, task.key
        return None if costs is None else costs.seconds(key.claim, key.cell, key.replicates)

    @property
    def path(self) -> float:
        """Expected seconds of the claim's longest chain of blocks, one per look.

        Infinite if the time of a missing block is unknown.
        """
        costs, looks = self.settings.costs, len(self.steps)
        taken = looks if costs is None else costs.looks(self.claim.id, looks)
        return self.round.longest * max(1, taken - self.round.look.number)

    def next_block(self) -> Task | None:
        """Take the longest block that may begin now; None if there is none.

        Blocks that are not expected to end before a time limit become late. Under a limit, a block
        of unknown length waits until the claim's blocks in flight show a length.
        """
        here, limit = self.round, self.settings.limit
        if limit is not None:
            left = limit - time.monotonic()
            while here.unsent and (self.seconds(here.unsent[-1]) or 0.0) > left:
                here.late.append(here.unsent.pop())
            in_flight = len(here.missing) - len(here.unsent) - len(here.late)
            if here.unsent and in_flight and self.seconds(here.unsent[-1]) is None:
                return None
        return here.unsent.pop() if here.unsent else None

    def joins(self, task: Task, seconds: float) -> bool:
        """Whether the next block may be simulated in one batch with a task.

        It may on a GPU, if both are of one cell, neither is replayed, and the batch is expected to
        end before a time limit.

        `seconds`: expected seconds of the batch so far.
        """
        after = self.round.unsent[-1] if self.round.unsent else None
        if after is None or after.cell != task.cell or task.device == "cpu":
            return False
        limit, ends = self.settings.limit, seconds + (self.seconds(after) or math.inf)
        in_time = limit is None or ends <= limit - time.monotonic()
        return in_time and not (task.replay or after.replay)

    @property
    def cut(self) -> bool:
        """Whether the time limit cuts off all blocks that are still missing."""
        return 0 < len(self.round.missing) == len(self.round.late)

    def put(self, key: BlockKey, result: BlockResult) -> None:
        """Accept a missing block; after the last one, judge the look and begin the next.

        Raises:
            SimulationError: as for `_judge`.
            Exception: any error of rule or theory.
        """
        del self.round.missing[key]
        self.round.blocks[key] = result
        self._judge()

    def outcome(self) -> Outcome:
        """Return the outcome of the looks taken.

        Raises:
            OutOfTime: the time limit left blocks of the look undone.
            SimulationError: blocks of the first look are missing.
        """
        look = self.round.look
        if self.round.late:
            where = f"look {look.number + 1} of {self.claim.id}"
            raise OutOfTime(f"{len(self.round.late)} blocks of {where} are left")
        if look.decision is None:
            raise SimulationError(f"the ledger lacks blocks of {self.claim.id}; run it first")
        blocks = [block for each in self._judged for block in each.blocks.values()]
        fresh = [each.blocks[key] for each in self._judged for key in each.reasons]
        return Outcome(
            claim=self.claim,
            settings=self.settings,
            decision=look.decision,
            evidence=look.evidence,
            alpha=self._alpha,
            registration=self._ready.registration,
            looks=look.number,
            blocks=len(blocks),
            place=self._place,
            seconds=sum(block.seconds for block in blocks),
            reused=len(blocks) - len(fresh),
            recomputed=Counter(why for each in self._judged for why in each.reasons.values()),
            divided=sum(block.parts > 1 for block in fresh),
        )

    def _judge(self) -> None:
        """Judge looks while all of their blocks are there, and begin the next look.

        Raises:
            SimulationError: a look's values do not vary, or its replicates share something.
        """
        while self.round.blocks and not self.round.missing:
            look = self._loop.send(self.round.observed)
            self._judged.append(self.round)
            problem = replay.constant(self.claim, look.evidence) if look.number == 1 else None
            if not look.wanted:
                size = self.claim.block_size(self.settings.tier)
                level = self._alpha * replay.part(look.number)
                problem = problem or replay.alike(self.claim, look.evidence, size, level)
            if problem is not None:
                raise SimulationError(f"{self.claim.id}: {problem}")
            self.round = self._round_of(look)

    def _round_of(self, look: Look[Decision]) -> Round:
        tasks = [
            replace(
                task_of(self._ready, self.settings, cell, block),
                replay=block == 0 and cell == self._cheapest,
            )
            for cell, blocks in look.wanted.items()
            for block in blocks
        ]
        return Round(look, tasks, self._ledger, self.seconds)
