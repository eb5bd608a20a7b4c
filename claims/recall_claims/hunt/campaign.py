"""Give each claim its turns, and judge each violation again on fresh evidence."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence.executors import capacity
from recall_claims.evidence.hunt_tables import HuntTables, Probe, alpha_of
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import find
from recall_claims.hunt.probe import TIER, alone, trials
from recall_claims.hunt.search import Catch, Turn, search
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Verdict

TURN, LEAST_TURN = 12.0, 2.0
"""Longest turn of a claim, and the shortest length of turns in a brief hunt, in seconds."""


@dataclass(frozen=True)
class Confirmation:
    """A violation, judged on fresh evidence at its own error probability.

    Attributes:
        number: the confirmation's number, over all claims and runs of the ledger.
        probe: probe of the shrunk point.
        outcome: outcome at this point; None if an earlier run judged it.
    """

    number: int
    probe: Probe
    outcome: Outcome | None = None


@dataclass
class Trail:
    """Progress of the search for a violation of one claim.

    Attributes:
        why_not: why the claim cannot be hunted, or "".
        probes: all known probes, by key.
        confirmation: the confirmed violation, if there is one.
        turns: number of finished turns.
        seconds: duration of these turns.
        exhausted: whether every point of the regime has been tried.
        cornered: whether every corner of the regime has been tried.
        refused: number of points at which theory or simulation failed, by error message.
    """

    claim: Claim
    why_not: str = ""
    probes: dict[str, Probe] = field(default_factory=dict)
    confirmation: Confirmation | None = None
    turns: int = 0
    seconds: float = 0.0
    exhausted: bool = False
    cornered: bool = False
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def worst(self) -> Probe | None:
        """The probe with the largest discrepancy."""
        return max(self.probes.values(), key=lambda probe: probe.discrepancy, default=None)

    @property
    def over(self) -> bool:
        """Whether there is nothing more to search."""
        return bool(self.why_not) or self.confirmation is not None or self.exhausted


Watch = Callable[[Sequence[Trail], float], None]
"""Function to call after every turn, with the trails and the seconds left."""


def why_not_hunted(claim: Claim) -> str:
    """Return why a claim cannot be hunted, or ""."""
    if claim.regime is None:
        return "its regime is stated in words alone"
    if claim.expected == "REFUTED":
        return "it is expected to be refuted"
    first = Cell(**{name: values.steps[0] for name, values in claim.regime.ranges.items()})
    try:
        claim.rule.alone(first, lambda _: 1000.0)
    except ClaimError as error:
        return f"{type(claim.rule).__name__}: {error}"
    return ""


def hunt(
    claims: Sequence[Claim],
    settings: Settings,
    ledger: Ledger,
    executor: Executor,
    seconds: float,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Trail]:
    """Search the regimes of claims in turns until the time is up; return a trail per claim.

    Claims take turns, each turn on one worker. A claim whose violation is not shrunk yet has the
    next turn. A shrunk violation is judged again at once. Searches use no error probability; the
    ledger's j-th confirmation uses `hunt_tables.alpha_of(j)`.

    Args:
        claims: claims to hunt; the trail of an unsuitable claim says why.
        ledger: ledger that keeps probes and confirmations.
        executor: executor of turns and confirmations.
        seconds: time for the hunt; turns that have begun are finished.
        watch: called after every turn.
        clock: clock for these seconds, such as one of processor time on a shared machine.
    """
    end = clock() + seconds
    tables = HuntTables(ledger, settings.seed)
    trails = [_trail(claim, tables) for claim in claims]
    waiting = deque(trail for trail in trails if not trail.over)
    workers = capacity(executor)
    length = min(TURN, max(LEAST_TURN, seconds * workers / max(len(waiting), 1)))
    flying: dict[Future[Catch], tuple[Trail, float]] = {}
    try:
        while True:
            while waiting and len(flying) < workers and clock() < end:
                trail, began = waiting.popleft(), clock()
                turn = Turn(
                    module=trail.claim.module,
                    claim=trail.claim.id,
                    seed=settings.seed,
                    device=settings.device,
                    seconds=min(length, max(end - began, 0.1)),
                    number=trail.turns,
                    known=trail.probes,
                    cornered=trail.cornered,
                )
                flying[executor.submit(search, turn)] = trail, began
            if not flying:
                return trails
            for done in wait(flying, return_when=FIRST_COMPLETED).done:
                trail, began = flying.pop(done)
                catch = done.result()
                _take(trail, catch, clock() - began, tables)
                if catch.violation is not None and not catch.shrunk:
                    waiting.appendleft(trail)
                else:
                    if catch.violation is not None:
                        _confirm(trail, catch.violation, settings, ledger, executor, tables)
                    if not trail.over:
                        waiting.append(trail)
                if watch is not None:
                    watch(trails, max(end - clock(), 0.0))
    finally:
        for future in flying:
            future.cancel()


def _trail(claim: Claim, tables: HuntTables) -> Trail:
    """Begin a claim's trail with what the ledger has on its present declaration and code."""
    trail = Trail(claim, why_not_hunted(claim))
    if trail.why_not:
        return trail
    kept = tables.probes(claim.id, _code(claim))
    trail.probes = {key: probe for key, probe in kept.items() if _key(claim, probe) == key}
    for key, (number, verdict) in tables.confirmed(claim.id, trail.probes).items():
        if verdict is Verdict.REFUTED and tables.judged_by(claim.id, key, _code(claim)):
            trail.confirmation = Confirmation(number, trail.probes[key])
    return trail


def _key(claim: Claim, probe: Probe) -> str:
    """Return the probe's present key, or "" if the present regime lacks the point."""
    assert claim.regime is not None
    point = Cell(**probe.point)
    try:
        drawn = claim.regime.draws(point) and not claim.too_large(point)
        return registration(alone(claim, point), TIER) if drawn else ""
    except (ClaimError, ArithmeticError, ValueError):
        return ""


def _take(trail: Trail, catch: Catch, seconds: float, tables: HuntTables) -> None:
    claim, code = trail.claim, _code(trail.claim)
    for probe in catch.probes:
        trail.probes[probe.key] = probe
        tables.keep(claim.id, code, probe)
    trail.refused.update(catch.refused)
    trail.turns += 1
    trail.seconds += seconds
    trail.exhausted, trail.cornered = catch.exhausted, catch.cornered


def _confirm(
    trail: Trail,
    probe: Probe,
    settings: Settings,
    ledger: Ledger,
    executor: Executor,
    tables: HuntTables,
) -> None:
    """Judge a shrunk violation on fresh evidence, once and for all.

    A violation that rests on t must be confirmed twice, each time on fresh evidence at the whole
    level. On skewed data t errs with a probability p above its level, but twice only with p^2.
    """
    claim = trail.claim
    number = tables.begin_confirmation(claim.id, probe)
    one = alone(claim, Cell(**probe.point))
    for stream in trials(claim):
        outcome = run_claim(
            one,
            Settings(TIER, settings.seed, settings.device, settings.budget),
            ledger,
            executor,
            registered=f"{stream} {number} {probe.key}",
            alpha=alpha_of(number),
        )
        if outcome.decision.verdict is not Verdict.REFUTED:
            break
    verdict = outcome.decision.verdict
    tables.end_confirmation(number, verdict)
    if verdict is Verdict.REFUTED:
        trail.confirmation = Confirmation(number, probe, outcome)
        return
    # Not refuted: mark the point as settled, so that no search tries it again.
    settled = replace(probe, verdict=Verdict.SUPPORTED)
    trail.probes[probe.key] = settled
    tables.keep(claim.id, _code(claim), settled)


def _code(claim: Claim) -> str:
    return find(claim.module, claim.id)[1]
