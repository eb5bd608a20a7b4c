"""Whether claims hold at the corners of their regimes.

At a corner, two sizes, or ratios of sizes, are as small or as large as the regime allows, however
long a replicate takes there. The search for corners may miss some (`hunt/corners.py`). At each
corner the claim is judged separately, by its own rule and region, without controls. The
option `--seconds` limits the processor time of a corner. Replicates double, for at most 17 looks,
until the claim is decided or half of this limit is used. Each corner has the level 1e-3 / 10,000.
So with probability 0.999 or more, no corner of the table is REFUTED where its claim is true (for t
rules, as far as t holds at that level).

A corner is out of reach if the theory or the first look takes longer than the limit `--seconds`, or
more memory than 10 GiB. The first look has 16 replicates, or fewer if the claim never uses so many.
If a corner is out of reach, the claim's other corners that compute as many numbers, or more, are
not tried. A command that stops early leaves corners untried too. A corner is broken if theory or
simulation gives no number.

Strain is the distance of the worst estimate from the middle of its region, in half widths: above 1
the estimate is beyond an edge. In a region with one edge, strain is the distance beyond this edge.

The command tries cheap corners first. It keeps the results in a file, and continues after a stop.
Corners that were undecided or out of reach are tried again if they now get more time.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from random import Random

import msgspec

from recall_claims import Cell, Claim
from recall_claims.evidence.executors import one_thread
from recall_claims.evidence.fingerprints import without_docstrings
from recall_claims.evidence.imports import parsed
from recall_claims.evidence.looks import Decision, Look, Observations, decide, looks
from recall_claims.evidence.simulate import simulate
from recall_claims.hunt.campaign import why_not_hunted
from recall_claims.hunt.corners import corners
from recall_claims.hunt.probe import TIER, alone, task
from recall_claims.hunt.search import reachable
from recall_claims.model.errors import ClaimError, SimulationError
from recall_claims.model.region import Component
from tests.calibration.stated_errors import rows_in
from tests.every_claim import imported
from tests.mutation.judge import upstream
from tests.mutation.mutants import forget

ALPHA = 1e-3 / 10_000
"""Level of a corner: 1e-3 divided by a number larger than the number of corners."""
FIRST, LOOKS = 16, 17
"""Replicates of the first look, and the number of looks. Each look doubles the replicates."""
AT_ONCE = 4e6
"""Largest count of numbers in a block of several replicates. A claim that never uses `FIRST`
replicates has no such limit: its first look is one block."""
VERDICTS = ("SUPPORTED", "INCONCLUSIVE", "OUT OF REACH", "BROKEN", "REFUTED")
ROOM = 10 * 2**30
"""Bytes that the command may take."""
PAGE = Path(__file__).with_name("CORNERS.md")
KEPT = Path(".recall-claims/corners.jsonl")


class Tried(msgspec.Struct, frozen=True):
    """Result at a corner.

    Attributes:
        key: digest of the corner and of the code behind its claim.
        verdict: verdict of the claim's rule, or "OUT OF REACH" or "BROKEN".
        strain: distance of the worst component's estimate from the middle of its region, in half
            widths; if the region has one edge, the distance beyond this edge; 0 if unknown.
        found: the worst component's estimate and interval, or why there is none, in words.
        replicates: largest number of replicates of a cell.
        seconds: processor time used.
        limit: processor time allowed, in seconds.
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
        size: number of values that a replicate computes in the cell; 0 if the claim does not say.
    """

    claim: Claim
    point: Cell
    size: float

    @cached_property
    def key(self) -> str:
        """Digest of the corner and of the present code of claim, theory and simulation."""
        text = "\0".join((self.claim.id, self.point.id, _code(self.claim.module)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _code(module: str) -> str:
    """Hash the code, without docstrings, of a claim file and of the modules that it imports."""
    texts = (without_docstrings(parsed(name)) for name in sorted({module, *upstream(module)}))
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def of(claim: Claim) -> list[Corner]:
    """Make the corners of a claim that can be judged at a point."""
    assert claim.regime is not None
    regime, size = claim.regime, claim.size
    points = corners(regime, lambda one: reachable(claim, one, cheap=False), Random(0))
    return [Corner(claim, one, size(regime.filled(one)) if size else 0.0) for one in points]


class OutOfReach(BaseException):
    """Raised where theory or simulation takes too long; neither may catch it as an `Exception`."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the processor time of a block of code.

    Raises:
        OutOfReach: the code takes more seconds.
    """

    def end(*_: object) -> None:
        raise OutOfReach

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def at(claim: Claim, point: Cell) -> Claim:
    """Return the claim at one point, with the test sizes that it needs to be supported.

    Raises:
        ClaimError, ValueError: as for `alone`.
    """
    one = alone(claim, point)
    return replace(one, cells={TIER: one.rule.completed(one.cells[TIER], one.predict)})


def judged(corner: Corner, seconds: float) -> Tried:
    """Judge a corner until it is decided or the time is up."""
    start = time.process_time()

    def ended(verdict: str, found: str, strain: float = 0.0, replicates: int = 0) -> Tried:
        spent = time.process_time() - start
        return Tried(corner.key, verdict, strain, found, replicates, spent, seconds)

    try:
        with within(seconds):
            look = _last_look(corner, start + seconds / 2)
    except OutOfReach:
        return ended("OUT OF REACH", f"more than {seconds:.0f} s")
    except MemoryError:
        return ended("OUT OF REACH", "out of memory")
    except (SimulationError, ClaimError, ArithmeticError, ValueError) as error:
        memory = "out of memory" in str(error)
        return ended("OUT OF REACH" if memory else "BROKEN", " ".join(str(error).split()))
    assert look.decision is not None  # there is at least one look
    part = max(look.decision.components, key=strain)
    found = f"{part.estimate:.4g} [{part.interval.low:.4g}, {part.interval.high:.4g}]"
    replicates = max(sample.replicates for sample in look.evidence)
    return ended(str(look.decision.verdict), found, strain(part), replicates)


def _last_look(corner: Corner, end: float) -> Look[Decision]:
    """Return the look that decides, or the last finished one; only the first may begin after `end`.

    Raises:
        OutOfReach: the time is up before the first look.
    """
    one = at(corner.claim, corner.point)
    first = block = min(FIRST, max(last for _, last in corner.claim.replicates.values()))
    if first == FIRST:
        room = max(1.0, AT_ONCE / max(corner.size, 1.0))
        block = min(FIRST, 2 ** int(math.log2(room)))
    steps = [first // block * 2**n for n in range(LOOKS)]
    level = one.rule.alpha_of_look(ALPHA, len(steps))

    def drawn(cell: Cell, blocks: Iterable[int]) -> list[Observations]:
        stream = f"corner {corner.point.id}"
        tasks = (task(corner.claim, cell, n, 0, "cpu", stream, block) for n in blocks)
        return [simulate(each).observations for each in tasks]

    loop = looks(one.cells[TIER], steps, lambda seen, before: decide(one, seen, level, before))
    look = next(loop)
    while look.wanted and (look.decision is None or time.process_time() <= end):
        try:
            more = {cell: drawn(cell, blocks) for cell, blocks in look.wanted.items()}
        except OutOfReach:
            if look.decision is None:
                raise
            break
        look = loop.send(more)
    return look


def strain(part: Component) -> float:
    """Return how far an estimate is from a region's middle, in half widths; 0 if it is unknown.

    If the region has one edge, return how far the estimate is beyond this edge.
    """
    low, high, estimate = part.region.low, part.region.high, part.estimate
    if math.isnan(estimate):
        return 0.0
    if math.isinf(high - low):
        return max(0.0, low - estimate, estimate - high)
    return abs(2 * estimate - low - high) / (high - low)


def reach(every: Iterable[Corner], kept: Mapping[str, Tried], seconds: float) -> float:
    """Return the size of the claim's smallest corner that was out of reach; infinity if none was.

    Corners that had less than these seconds, or have no known size, do not count.
    """
    sizes = ((one.size, kept[one.key]) for one in every if one.size and one.key in kept)
    out = (size for size, found in sizes if found.verdict == VERDICTS[2] and found.limit >= seconds)
    return min(out, default=math.inf)


def row(claim: Claim, every: Sequence[Corner], kept: Mapping[str, Tried]) -> str:
    """Write the results at the corners of a claim as a row of the table."""
    tried = [(corner, kept[corner.key]) for corner in every if corner.key in kept]
    verdicts = Counter(found.verdict for _, found in tried)
    cells = [f"`{claim.id}`", str(len(every))]
    cells += [str(verdicts[one] or "") for one in VERDICTS]
    cells.append(str(len(every) - len(tried) or ""))
    if tried:
        corner, found = max(tried, key=lambda pair: (pair[1].verdict == "REFUTED", pair[1].strain))
        spent = sum(each.seconds for _, each in tried)
        point = corner.point.id.replace(",", ", ")
        cells += [point, f"{found.strain:.2f}: {found.found}", f"{spent:.0f}"]
    else:
        cells += ["", "", ""]
    return f"| {' | '.join(cells)} |"


def document(rows: Iterable[str]) -> str:
    """Write the page: the method, and the table."""
    head = (
        "# Claims at the corners of their regimes",
        "`python -m tests.calibration.corners --markdown FILE`",
        str(__doc__).partition("\n\n")[2].strip(),
        "| claim | corners | inside | undecided | out of reach | broken | REFUTED "
        "| not tried | worst | strain: estimate [interval] | core s |\n" + 11 * "|---" + "|",
    )
    return "\n\n".join(head) + "".join(f"\n{line}" for line in sorted(rows)) + "\n"


def main() -> int:
    """Try corners, and print those not SUPPORTED; return 1 if any is or was REFUTED."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.calibration.corners",
        description=str(__doc__).partition("\n")[0],
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only claims whose id holds it")
    parser.add_argument("--seconds", type=float, default=20.0, help="of processor time a corner")
    parser.add_argument("--kept", type=Path, default=KEPT, help="what was found so far")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--markdown", type=Path, help="the table; rows of other claims are kept")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (ROOM, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    one_thread()
    given.kept.parent.mkdir(exist_ok=True)
    lines = given.kept.read_bytes().splitlines() if given.kept.exists() else []
    kept = {found.key: found for found in (msgspec.json.decode(line, type=Tried) for line in lines)}
    chosen = {n: c for n, c in imported().items() if given.k in n and not why_not_hunted(c)}
    every = {name: of(claim) for name, claim in chosen.items()}
    broken, end = False, time.monotonic() + 60 * given.minutes
    for corner in sorted((c for found in every.values() for c in found), key=lambda c: c.size):
        known = kept.get(corner.key)
        again = known is None or (known.verdict in VERDICTS[1:3] and known.limit < given.seconds)
        if (
            again
            and corner.size < reach(every[corner.claim.id], kept, given.seconds)
            and time.monotonic() < end
        ):
            forget()  # what a theory keeps of one corner may be much
            kept[corner.key] = known = judged(corner, given.seconds)
            with given.kept.open("ab") as file:
                file.write(msgspec.json.encode(known) + b"\n")
            if known.verdict != "SUPPORTED":
                print(corner.claim.id, corner.point.id, known, flush=True)
        broken |= known is not None and known.verdict == "REFUTED"
    if given.markdown:
        page: Path = given.markdown
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        rows = rows_in(text)
        rows |= {f"`{n}`": row(imported()[n], found, kept) for n, found in every.items()}
        page.write_text(document(rows.values()), encoding="utf-8")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
