"""The loop of every verdict: look at the evidence, decide, ask for more.

`looks` is a generator. It yields a `Look`, which lists the blocks that each cell lacks. The
caller sends these, until no block is lacking. `looks` knows no ledger, clock or executor, so a run,
a check, a probe of a hunt and a trial of a stated error share it. Each adds a source of blocks and
a way to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from recall_claims.declare.claim import Claim, Control
from recall_claims.judge.methods import Array, Betting
from recall_claims.judge.rules import Predict, Sample
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError, about, told
from recall_claims.model.region import Component, Interval, Verdict, headline, judge, resolution

Observations = Mapping[str, Array]
"""The observables of a block, each of shape (replicates,)."""


class Reading(Protocol):
    """The part of a decision that `looks` needs."""

    @property
    def open_cells(self) -> Collection[str]:
        """Ids of the cells whose further replicates may still change the decision."""


D = TypeVar("D", bound=Reading)


@dataclass(frozen=True)
class Look(Generic[D]):
    """Evidence so far, its decision, and the blocks that the next look needs.

    Attributes:
        number: number of looks taken.
        wanted: indices of the blocks that the next look needs, by cell; none after the last look.
        decision: decision of the last look taken; None before the first.
        evidence: evidence for this decision, one sample per cell.
    """

    number: int
    wanted: Mapping[Cell, range]
    decision: D | None
    evidence: tuple[Sample, ...]


Blocks = Mapping[Cell, Sequence[Observations]]
"""The blocks that a look wanted, by cell, in the order of their indices."""
Looks = Generator[Look[D], Blocks, None]


def looks(
    cells: Sequence[Cell],
    steps: Sequence[int],
    decided: Callable[[tuple[Sample, ...], D | None], D],
    begun: Sequence[Cell] | None = None,
) -> Looks[D]:
    """Ask for blocks, look after look, until no cell is open or no look is left.

    At each look the cells that the decision leaves open get blocks up to the next of `steps`. If an
    unrefuted control opens a cell again, the cell goes on from its own last step.

    Args:
        cells: at least one cell.
        steps: number of a cell's blocks at each look, ascending.
        decided: judges all evidence so far, given its decision at the look before.
        begun: the cells of the first look, if not all; a cell without blocks has an empty sample.
    """
    drawn = {cell.id: 0 for cell in cells}
    first = {cell.id for cell in (cells if begun is None else begun)}
    parts: dict[Cell, list[Observations]] = {cell: [] for cell in cells}
    look: Look[D] = Look(0, {}, None, ())
    while True:
        open_cells = first if look.decision is None else look.decision.open_cells
        wanted: dict[Cell, range] = {}
        for cell in cells:
            blocks = range(drawn[cell.id], next((n for n in steps if n > drawn[cell.id]), 0))
            if cell.id in open_cells and blocks:
                wanted[cell] = blocks
        look = replace(look, wanted=wanted)
        observed = yield look
        for cell, more in observed.items():
            # Joined at once: a later look copies no evidence of cells without new blocks.
            parts[cell] = [Sample.joined(cell, [*parts[cell], *more]).observations]
            drawn[cell.id] = wanted[cell].stop
        none = {name: np.empty(0) for name in next(filter(None, parts.values()))[0]}
        evidence = tuple(Sample(cell, (parts[cell] or [none])[0]) for cell in cells)
        look = Look(look.number + 1, {}, decided(evidence, look.decision), evidence)


def ended(loop: Looks[D], source: Callable[[Look[D]], Blocks]) -> Look[D]:
    """Run a loop on a source of blocks; return its last look."""
    look = next(loop)
    while look.wanted:
        look = loop.send(source(look))
    return look


@dataclass(frozen=True)
class Decision:
    """Decision on a claim at one look."""

    components: tuple[Component, ...]
    controls: Mapping[str, tuple[Component, ...]]
    doubt: str = ""
    """Reason why there is no verdict: evidence that contradicts an assumption of the rule."""

    @property
    def on_region(self) -> Verdict:
        """The verdict of intervals against regions, before controls count."""
        return judge(self.components)

    @property
    def unrefuted(self) -> tuple[str, ...]:
        """Controls that the data do not refute."""
        return tuple(
            name for name, parts in self.controls.items() if judge(parts) is not Verdict.REFUTED
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict: SUPPORTED only if every control is refuted as well."""
        if self.doubt or (self.on_region is Verdict.SUPPORTED and self.unrefuted):
            return Verdict.INCONCLUSIVE
        return self.on_region

    @property
    def open_cells(self) -> frozenset[str]:
        """Ids of the cells whose further replicates may still change the verdict.

        These are the cells of undecided components. If all are decided, these are, for each
        unrefuted control, the cells of the component whose estimate contradicts the control most.
        """
        if self.verdict is not Verdict.INCONCLUSIVE:
            return frozenset()
        waiting = [c for c in self.components if c.verdict is Verdict.INCONCLUSIVE]
        if not waiting:
            for name in self.unrefuted:
                able = [part for part in self.controls[name] if part.open_cells]
                if able:
                    far = [p.region.distance(p.estimate, p.estimate) for p in able]
                    waiting.append(able[far.index(max(far))])
        return frozenset(cell for component in waiting for cell in component.open_cells)

    @property
    def resolution(self) -> float | None:
        """The smallest error in the theory that these data would have refuted."""
        return resolution(self.components)

    @property
    def headline(self) -> Component:
        """The component that tables show for the claim."""
        return headline(self.components)


def decide(
    claim: Claim, evidence: tuple[Sample, ...], alpha: float, before: Decision | None = None
) -> Decision:
    """Judge a claim and its controls on the same evidence.

    Decisions of the look before stay: a component's verdict, a control's refutation, and a bet won
    at any look.
    """

    bets = all(isinstance(rule.method, Betting) for rule, _ in claim.rule.parts(None))

    def with_earlier(
        found: Sequence[Component], earlier: Sequence[Component], *, settled: bool
    ) -> tuple[Component, ...]:
        known = {component.name: component for component in earlier}
        return tuple(
            _after(known[c.name], c, settled=settled, bets=bets) if c.name in known else c
            for c in found
        )

    def control(planted: Control) -> tuple[Component, ...]:
        if before is not None and planted.id not in before.unrefuted:
            return before.controls[planted.id]
        wrong = planted.planted(claim)
        found = wrong.rule.against(evidence, wrong.predict, alpha)
        return with_earlier(found, before.controls[planted.id] if before else (), settled=False)

    with about(claim.id):
        found = claim.rule.components(evidence, claim.predict, alpha)
        return Decision(
            with_earlier(found, before.components if before else (), settled=True),
            {c.id: control(c) for c in claim.controls},
            claim.rule.doubt(evidence),
        )


def _after(earlier: Component, found: Component, *, settled: bool, bets: bool) -> Component:
    """Return `earlier` if it is decided and decided components stay (`settled`), else `found`.

    With `bets`, intersect the intervals of the two looks.
    """
    kept, other = found, earlier
    if settled and earlier.verdict is not Verdict.INCONCLUSIVE:
        kept, other = earlier, found
    if not bets:
        return kept
    interval = _both(kept.interval, other.interval)
    return replace(kept, interval=interval, one_sided=_both(kept.bounds, other.bounds))


def _both(kept: Interval, other: Interval) -> Interval:
    """Intersect two intervals; return the first if they are disjoint."""
    low, high = max(kept.low, other.low), min(kept.high, other.high)
    return Interval(low, high) if low <= high else kept


def looks_at(claim: Claim, tier: str, alpha: float) -> Looks[Decision]:
    """Return the loop of a claim in a tier, which judges each look at level `alpha`."""
    return looks(
        claim.cells[tier],
        claim.steps(tier),
        lambda seen, before: decide(claim, seen, alpha, before),
        claim.rule.begun(claim.cells[tier], claim.predict),
    )


def _asked(predict: Predict, cell: Cell) -> Any:
    """Return the prediction for a cell, after a check.

    Raises:
        ClaimError: the theory fails, or returns nothing that a rule could compare with.
    """
    try:
        value: Any = predict(cell)
    except ClaimError:
        raise
    except Exception as error:
        raise ClaimError(f"its prediction at {cell.id}: {told(error)}") from error
    single = hasattr(value, "__float__") and not np.ndim(value)
    if not (single or isinstance(value, str | Mapping) or callable(value)):
        kind = type(value).__name__
        raise ClaimError(f"its prediction at {cell.id} is a {kind}, not a number (or a text)")
    return value


def remembering(claim: Claim) -> Claim:
    """Return the claim with controls and predictions that are computed once, for all looks."""

    def kept(predict: Predict | None) -> Any:
        if predict is None:
            return None
        found: Any = cache(partial(_asked, predict))
        found.entry = getattr(predict, "entry", None)  # its entry in the registry
        found.changes = getattr(predict, "changes", None)
        return found

    predict = kept(claim.predict)
    critical = predict if claim.critical is claim.predict else kept(claim.critical)
    right = replace(claim, predict=predict, critical=critical)

    def planted(control: Control) -> Control:
        wrong = control.planted(right)
        changed = predict if wrong.predict is predict else kept(wrong.predict)
        return Control(control.id, control.description, changed, wrong.rule)

    return replace(right, controls=tuple(map(planted, claim.controls)))
