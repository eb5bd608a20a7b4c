"""Draw blocks of a ledger again, in random order, and report the result.

First we draw one block of every claim, and so find each claim that is wholly invented, however
costly or small. Then we draw blocks of all claims at the same rate. Within a claim all orders are
equally probable; nothing in the ledger changes them.

Let claim c have M_c blocks, of which n_c were drawn, and let d_c be its share of wrong blocks. The
probability that no drawn block is wrong is at most prod (1 - d_c)^n_c. Let f be the least
n_c / M_c, and d the share of wrong blocks among all M blocks. By the inequality of the means, the
probability is at most (1 - d)^(f M). If no drawn block is wrong, d is at most 1 - 0.01^(1/(f M))
with 99% confidence. If all C claims have equal weights, C min n_c replaces f M. While only
K < C claims have a drawn block, the bound on d is 1; with equal weights, K then replaces f M (by
Maclaurin's inequality).

The bound holds whenever time is up, however long blocks took. The order of blocks is fixed
beforehand, and no block raises the bound. So the bound errs only if it errs at one fixed
number of blocks: the number at which the bound first falls below the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from time import time

import numpy as np

from recall_claims.check.judging import Evidence
from recall_claims.evidence.block import ZERO, BlockResult, difference
from recall_claims.evidence.executors import capacity
from recall_claims.evidence.simulate import instructions, simulate, versions
from recall_claims.model.errors import SimulationError
from recall_reports import phrases

CONFIDENCE = 0.99
OF_IDENTITY = 1e-2
"""Largest difference of an identity's observable from its value when drawn again, as a share of
the claim's tolerance."""

Unit = tuple[str, int]
"""A block: its claim's id, and its place among the claim's blocks."""


def order(blocks: Mapping[str, int], seed: int) -> list[Unit]:
    """Return all blocks in the random order in which to draw them again.

    Args:
        blocks: number of blocks per claim.
        seed: a seed that the maker of the ledger cannot have known.
    """
    rng = np.random.default_rng(seed)
    placed = [
        (turn / count, rng.random(), (name, place))
        for name, count in sorted(blocks.items())
        for turn, place in enumerate(rng.permutation(count).tolist())
    ]
    return [unit for _, _, unit in sorted(placed)]


def share_at_most(blocks: Mapping[str, int], drawn: Sequence[Unit]) -> tuple[float, float]:
    """Bound the share of wrong blocks with 99% confidence, if no drawn block is wrong.

    Returns:
        the bound if every block counts the same, and the bound if every claim does.
    """
    seen = Counter(name for name, _ in drawn)
    rates = [seen[name] / count for name, count in blocks.items()]
    if not rates or min(rates) == 1:
        return 0.0, 0.0
    least = min(seen[name] for name in blocks)
    every = least * len(blocks) if least else len(seen)
    return _bound(min(rates) * sum(blocks.values())), _bound(every)


def _bound(draws: float) -> float:
    """Compute Clopper and Pearson's upper bound after `draws` draws, none of them wrong."""
    return 1 - (1 - CONFIDENCE) ** (1 / draws) if draws else 1.0


def _ids(names: Iterable[str]) -> list[str]:
    """Return the ids of claims, without the trials of hunts."""
    return sorted({name.partition(" (")[0] for name in names})


@dataclass
class Drawn:
    """Result of drawing blocks again.

    Attributes:
        blocks: number of blocks per claim, of claims that can be drawn on this machine.
        elsewhere: the other claims.
        units: the blocks drawn.
        exact: how many of these were equal to the ledger's, to the bit.
        wrong: faults: the claim, and what differs by more than rounding or cannot be drawn.
        made: versions and instructions with which the ledger's blocks were made.
    """

    blocks: Mapping[str, int]
    elsewhere: list[str]
    units: list[Unit]
    exact: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    made: str = ""

    def lines(self) -> list[str]:
        """State the result with its confidence."""
        rounded = len(self.units) - self.exact - len(self.wrong)
        text = f"{len(self.units):,} of {sum(self.blocks.values()):,} blocks drawn again, "
        text += f"{len(self.wrong)} differ" + f" ({rounded} by rounding alone)" * bool(rounded)
        share, each = share_at_most(self.blocks, self.units)
        if not self.wrong and share == each == 0:
            text += ": these are all"
        elif not self.wrong and self.units:
            same = f"{100 * each:.2g}% if every claim has the same weight"
            text += ": with 99% confidence fewer than "
            text += f"{100 * share:.2g}% are not what the code gives ({same})" * (share < 1)
            text += f"{same} are not what the code gives" * (share == 1)
        lines = [text]
        unseen = _ids(self.blocks.keys() - {name for name, _ in self.units})
        if unseen:
            of = f"some evidence of {phrases.claims(len(unseen))}"
            lines.append(f"no block was drawn again of {of}: give the check more time")
        if self.elsewhere:
            names = ", ".join(self.elsewhere[:5]) + ", ..." * (len(self.elsewhere) > 5)
            lines.append(
                f"{phrases.claims(len(self.elsewhere))} could not be drawn again here: {names}"
            )
        here = f"{versions()}, {instructions()} instructions"
        if (self.wrong or rounded) and self.made != here:
            lines.append(f"made with {self.made}, drawn again with {here}, which may round")
        return lines


def draw_again(
    evidence: Mapping[str, Evidence],
    executor: Executor,
    device: str,
    seed: int,
    until: float,
    made_on: object,
) -> Drawn:
    """Draw blocks in the random order of a seed, and compare them with the ledger's.

    Args:
        evidence: blocks of each claim, by its id.
        executor: executor that simulates blocks.
        device: device on which to draw blocks.
        seed: seed of the order.
        until: time after which no block begins, in seconds since 1970.
        made_on: instructions of the processor that made the ledger's blocks, as the record names
            them.
    """
    able = {
        name: one
        for name, one in evidence.items()
        if one.ready.claim.why_not_run(one.settings.tier, device) is None
    }
    counts = {name: len(one.blocks) for name, one in able.items() if one.blocks}
    found = Drawn(counts, _ids(evidence.keys() - able.keys()), [])
    made = f", {made_on} instructions"
    found.made = next((one.versions + made for one in evidence.values()), "")
    plan, flying = iter(order(counts, seed)), dict[Future[BlockResult], Unit]()
    while True:
        while len(flying) < capacity(executor) and time() < until:
            unit = next(plan, None)
            if unit is None:
                break
            found.units.append(unit)
            flying[executor.submit(simulate, able[unit[0]].task(unit[1], device))] = unit
        if not flying:
            return found
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            name, place = flying.pop(future)
            _compare(found, name, able[name], place, future)


def _compare(
    found: Drawn, name: str, one: Evidence, place: int, future: Future[BlockResult]
) -> None:
    (cell, block), claim = one.blocks[place], one.ready.claim
    kept = one.kept(cell, block)
    try:
        again = future.result().observations
    except SimulationError as error:
        found.wrong.append((name, f"block {block} of {cell.id} cannot be drawn again: {error}"))
        return
    if kept.keys() == again.keys() and all(np.array_equal(kept[k], again[k]) for k in kept):
        found.exact += 1
        return
    floor = OF_IDENTITY * getattr(claim.rule, "tolerance", ZERO / OF_IDENTITY)
    what = difference(kept, again, claim.dtype, floor)
    if what is not None:
        text = f"block {block} of {cell.id} is not what the code gives: {what}"
        found.wrong.append((name, text))
