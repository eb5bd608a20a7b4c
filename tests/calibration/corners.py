"""Whether claims hold at the corners of their regimes.

A corner is where two sizes, or ratios of sizes, are at their ends together (`hunt/corners.py`),
over the whole range that is declared, whatever a hunt may spend. At each the claim is judged alone,
by its own rule and region, on replicates that double until it is decided or the seconds of
processor time are over that a corner has. A corner has the level 1e-3 / 10,000, so that any corner
of the table is REFUTED where its claim is true with a probability of at most 0.001 (by t, as far as
t holds at that level). It is not tried if 16 replicates are expected to take longer than that, at
the speed of the claim's other corners (the table has the longest such time), or one more memory
than there is. Where theory or simulation says no number, it is broken. Strain is how far the worst
estimate is from the middle of its region, in half widths: it is beyond an edge above 1. Cheap
corners come first. What was found is kept in a file, so that the command goes on where it stopped,
and takes up what had less time.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import msgspec

from recall_claims import Cell, Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence.executors import one_thread
from recall_claims.evidence.looks import Decision, Observations, decide, looks
from recall_claims.evidence.simulate import simulate
from recall_claims.hunt.campaign import why_not_hunted
from recall_claims.hunt.corners import corners
from recall_claims.hunt.probe import TIER, alone, task
from recall_claims.hunt.search import reachable
from recall_claims.judge.rules import Sample
from recall_claims.model.errors import ClaimError, SimulationError
from recall_claims.model.region import Component
from tests.calibration.stated_errors import rows_in
from tests.every_claim import imported

ALPHA = 1e-3 / 10_000
"""Level of a corner; there are fewer than so many."""
FIRST, LOOKS = 16, 17
"""Replicates of the first look, and how many there are at most, each on twice as many."""
AT_ONCE, MOST = 4e6, 3e8
"""Numbers that a block works through at most, if a replicate leaves the choice, and a replicate."""
PAGE = Path(__file__).with_name("CORNERS.md")
KEPT = Path(".recall-claims/corners.jsonl")


class Tried(msgspec.Struct, frozen=True):
    """What was found at a corner.

    Attributes:
        key: of the corner.
        verdict: of the claim's rule there, or "ERROR".
        strain: of the worst component: how far its estimate is from the middle of its region, in
            half widths, or beyond the only edge; 0 if nothing is known.
        found: the component, its estimate and interval, in words.
        replicates: of a cell.
        seconds: of processor time.
        limit: that it could have had.
    """

    key: str
    verdict: str
    strain: float
    found: str
    replicates: int
    seconds: float
    limit: float


@dataclass(frozen=True)
class Corner:
    """A claim at a corner of its regime.

    Attributes:
        key: names the claim there as it is declared and predicted now.
        size: numbers that a replicate works through in all cells that judge the corner.
    """

    claim: Claim
    point: Cell
    key: str
    size: float


def of(claim: Claim) -> list[Corner]:
    """The corners of a claim that can be judged at a point."""
    assert claim.regime is not None
    regime, found = claim.regime, []
    for point in corners(regime, lambda one: reachable(claim, one, cheap=False), Random(0)):
        try:
            one = at(claim, point)
            key = registration(one, TIER)
        except (ClaimError, ArithmeticError, ValueError):  # such as no whole number below an edge
            continue
        sizes = [claim.size(regime.filled(cell)) for cell in one.cells[TIER]] if claim.size else []
        found.append(Corner(claim, point, key, float(sum(sizes))))
    return found


def at(claim: Claim, point: Cell) -> Claim:
    """The claim at a point alone, with the rungs inside an edge, by which it is supported.

    Raises:
        ClaimError, ValueError: as of `alone`.
    """
    one = alone(claim, point)
    return replace(one, cells={TIER: one.rule.completed(one.cells[TIER], one.predict)})


def judged(corner: Corner, seed: int, seconds: float) -> Tried:
    """Judge a corner until it is decided or the time is up."""
    one, start = at(corner.claim, corner.point), time.process_time()
    room = max(1.0, AT_ONCE / max(corner.size, 1.0))
    block = min(FIRST, 2 ** int(math.log2(room)))
    steps = [FIRST // block * 2**n for n in range(LOOKS)]
    level = one.rule.alpha_of_look(ALPHA, len(steps))

    def decided(evidence: tuple[Sample, ...], before: Decision | None) -> Decision:
        return decide(one, evidence, level, before)

    def drawn(cell: Cell, blocks: Iterable[int]) -> list[Observations]:
        stream = f"corner {corner.key}"
        tasks = (task(corner.claim, cell, n, seed, "cpu", stream, block) for n in blocks)
        return [simulate(each).observations for each in tasks]

    def spent() -> float:
        return time.process_time() - start

    try:
        loop = looks(one.cells[TIER], steps, decided)
        look = next(loop)
        while look.wanted and (look.decision is None or 2 * spent() <= seconds):
            look = loop.send({cell: drawn(cell, blocks) for cell, blocks in look.wanted.items()})
        assert look.decision is not None  # there is at least one look
    except (SimulationError, ClaimError, ArithmeticError, ValueError) as error:
        return Tried(corner.key, "ERROR", 0.0, str(error), 0, spent(), seconds)
    part = max(look.decision.components, key=strain)
    found = f"{part.estimate:.4g} [{part.interval.low:.4g}, {part.interval.high:.4g}]"
    replicates = max(sample.replicates for sample in look.evidence)
    verdict = str(look.decision.verdict)
    return Tried(corner.key, verdict, strain(part), found, replicates, spent(), seconds)


def strain(part: Component) -> float:
    """How far an estimate is from the middle of its region, in half widths, or beyond its edge."""
    low, high, estimate = part.region.low, part.region.high, part.estimate
    if math.isnan(estimate):
        return 0.0
    if math.isinf(high - low):
        return max(0.0, low - estimate, estimate - high)
    return abs(2 * estimate - low - high) / (high - low)


class Speeds:
    """Seconds that a replicate takes, a number of its size, at the corners of each claim."""

    def __init__(self) -> None:
        self._slowest = defaultdict[str, list[float]](list)

    def learn(self, corner: Corner, found: Tried) -> None:
        """Take note of a corner that was tried."""
        if corner.size and found.replicates:
            each = found.seconds / found.replicates / corner.size
            self._slowest[corner.claim.id].append(each)

    def minutes(self, corner: Corner) -> float:
        """What a first look is expected to take; 0 if nothing is known."""
        known = self._slowest[corner.claim.id]
        return FIRST * corner.size * min(known, default=0.0) / 60


def row(claim: Claim, every: Sequence[Corner], kept: Mapping[str, Tried], speeds: Speeds) -> str:
    """What was found at the corners of a claim, as a row of the table."""
    tried = [(corner, kept[corner.key]) for corner in every if corner.key in kept]
    verdicts = Counter(found.verdict for _, found in tried)
    left = [corner for corner in every if corner.key not in kept]
    longest = max((60 * speeds.minutes(corner) for corner in left), default=0.0)
    cells = [f"`{claim.id}`", str(len(every))]
    cells += [str(verdicts[one] or "") for one in ("SUPPORTED", "INCONCLUSIVE", "REFUTED", "ERROR")]
    cells.append(f"{len(left)}, {longest:.0f} s" if longest else str(len(left) or ""))
    if tried:
        corner, found = max(tried, key=lambda pair: (pair[1].verdict == "REFUTED", pair[1].strain))
        spent = sum(each.seconds for _, each in tried)
        point = corner.point.id.replace(",", ", ")
        cells += [point, f"{found.strain:.2f}: {found.found}", f"{spent:.0f}"]
    else:
        cells += ["", "", ""]
    return f"| {' | '.join(cells)} |"


def document(rows: Iterable[str]) -> str:
    """The page that is kept: what was done, and the table."""
    head = (
        "# Claims at the corners of their regimes",
        "`python -m tests.calibration.corners --markdown FILE`",
        str(__doc__).partition("\n\n")[2].strip(),
        "| claim | corners | inside | undecided | REFUTED | broken | not tried, first look | worst "
        "| strain: estimate [interval] | core s |\n|---|---|---|---|---|---|---|---|---|---|",
    )
    return "\n\n".join(head) + "".join(f"\n{line}" for line in sorted(rows)) + "\n"


def main() -> int:
    """Try corners and print those that are not shown to be inside; 1 if one is REFUTED."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.calibration.corners",
        description=str(__doc__).partition("\n")[0],
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only claims whose id holds it")
    parser.add_argument("--seed", type=int, default=0, help="of the evidence")
    parser.add_argument("--seconds", type=float, default=20.0, help="of processor time a corner")
    parser.add_argument("--kept", type=Path, default=KEPT, help="what was found so far")
    parser.add_argument("--markdown", type=Path, help="the table; rows of other claims are kept")
    given = parser.parse_args()
    one_thread()
    given.kept.parent.mkdir(exist_ok=True)
    lines = given.kept.read_bytes().splitlines() if given.kept.exists() else []
    kept = {found.key: found for found in (msgspec.json.decode(line, type=Tried) for line in lines)}
    chosen = {n: c for n, c in imported().items() if given.k in n and not why_not_hunted(c)}
    every = {name: of(claim) for name, claim in chosen.items()}
    speeds, broken = Speeds(), False
    for corner in (corner for found in every.values() for corner in found if corner.key in kept):
        speeds.learn(corner, kept[corner.key])
    for corner in sorted((c for found in every.values() for c in found), key=lambda c: c.size):
        known = kept.get(corner.key)
        again = known is None or (known.verdict == "INCONCLUSIVE" and known.limit < given.seconds)
        dear = corner.size > MOST or 60 * speeds.minutes(corner) > given.seconds
        if again and not dear:
            kept[corner.key] = known = judged(corner, given.seed, given.seconds)
            speeds.learn(corner, known)
            with given.kept.open("ab") as file:
                file.write(msgspec.json.encode(known) + b"\n")
            if known.verdict != "SUPPORTED":
                print(corner.claim.id, corner.point.id, known, flush=True)
        broken |= known is not None and known.verdict == "REFUTED"
    if given.markdown:
        page: Path = given.markdown
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        rows = rows_in(text)
        rows |= {f"`{n}`": row(imported()[n], found, kept, speeds) for n, found in every.items()}
        page.write_text(document(rows.values()), encoding="utf-8")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
