"""Figures in prose, and the records that they come from.

    python -m tests.figures            # which figures of the pages are not those of the record
    python -m tests.figures --write    # put the record's figures in their place

A page names its record, and then, after some figures, what they are. Both are comments, which no
reader of the page sees:

    <!-- figures: reports/baseline.json -->
    It sets in at 0.963 [0.88, 1.13]<!-- A.critical-samples: estimate low high --> of ...

From the first comment on, every number and every verdict has to be named by the next comment, all
of them in their order. Formulas and sizes stand in backticks and are left alone. `figures: none`
ends this. `A.one[dim=64,exponent=2.0]` are those components and cells of a claim that have these
parameters, `A.one[dim]` is the exponent of `dim`, `A.one[times-2]` a control, `A.one A.other: ...`
are two claims together, and a semicolon begins the next claim. `estimate*0.15` multiplies. `FIELDS`
and `SUITE` say what can be named; any other name is that of a parameter. A figure keeps the number
of digits that it is written with. With a per cent sign it is a distance from the theory: |x - 1| of
a ratio, |x| of anything else.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from recall_reports import phrases, summary
from recall_reports.record import CellRow, ClaimRow, ComponentRow, ControlRow, Record
from recall_reports.record.files import load

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / ".github").rglob("*.md"))]
T = TypeVar("T")

_COMMENT = re.compile(r"(<!--.*?-->)", re.DOTALL)
_LITERAL = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|^ *\d\. ", re.DOTALL | re.MULTILINE)
_VERDICTS = "SUPPORTED|REFUTED as declared|REFUTED|INCONCLUSIVE|SURVIVES?|BREAKS?|NOT RUN"
_FIGURE = re.compile(
    rf"(?<![\w.])-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e-?\d+)?(?!\w)%?|\b(?:{_VERDICTS})\b"
)
_CLAIMS = re.compile(r"([\w.-]+)(?:\[(.*?)\])?")
_TIMES = re.compile(
    r"(?<![\w.])(?:\d+|two|three|four|five|six|eight|ten|fifteen|forty) times\b", re.I
)
_VERDICT_LINE = re.compile(r"^[✓✕◆◇] .*? (\w\.[\w-]+) .*$", re.MULTILINE)


@cache
def _record(file: str) -> Record:
    return load(ROOT / file)


class Mismatch(Exception):
    """A comment that names nothing, or not what stands before it."""


@dataclass(frozen=True)
class Named:
    """Claims, and those of their components and cells that a comment names."""

    claims: Sequence[ClaimRow]
    components: Sequence[ComponentRow]
    cells: Sequence[CellRow]

    @property
    def ratio(self) -> bool:
        return all(claim.rule.scale == "ratio" for claim in self.claims)

    @property
    def one(self) -> ComponentRow:
        """The only component, or the one that speaks for the claim."""
        if len(self.components) == 1:
            return self.components[0]
        head = self.claims[0].head
        if len(self.claims) == 1 and head is not None and head in self.components:
            return head
        raise Mismatch(f"there are {len(self.components)} components, where one is named")

    @property
    def lows(self) -> list[float | None]:
        return [component.shown.low for component in self.components]

    @property
    def highs(self) -> list[float | None]:
        return [component.shown.high for component in self.components]

    @property
    def estimates(self) -> list[float | None]:
        return [component.estimate for component in self.components]

    def farthest(self, ends: Sequence[float | None]) -> float:
        return max(abs(end - self.ratio) for end in known(ends))


def bits(pairs: "Named", times: float = 1.0) -> float:
    """Bits a weight of a memory, or of an MLP of two layers, that knows a permutation of so many
    times the predicted number of pairs."""
    cell = pairs.cells[0].params
    count = times * only([c.critical or 0.0 for c in pairs.cells], "number of pairs")
    weights = float(cell["dim"]) * float(2 * cell["width"] if "width" in cell else cell["dim"])
    return math.lgamma(count + 1) / math.log(2) / weights


Value = float | str | None
FIELDS: dict[str, Callable[[Named], Value]] = {
    "estimate": lambda n: n.one.estimate,
    "low": lambda n: n.one.shown.low,
    "high": lambda n: n.one.shown.high,
    "least": lambda n: min(known(n.estimates)),
    "most": lambda n: max(known(n.estimates)),
    "lowest": lambda n: min(known(n.lows)),
    "highest": lambda n: max(known(n.highs)),
    # What is certain, rounded so that it stays so.
    "at-least": lambda n: min(known(n.lows)),
    "at-most": lambda n: max(known(n.highs)),
    "within": lambda n: n.farthest(n.lows + n.highs),
    # What was declared.
    "from": lambda n: n.one.region.low,
    "to": lambda n: n.one.region.high,
    "tolerance": lambda n: n.farthest([n.one.region.low, n.one.region.high]),
    # Of cells.
    "predicted": lambda n: only([c.critical or c.predicted for c in n.cells]),
    "observed": lambda n: only([c.observed for c in n.cells]),
    "bits-predicted": bits,
    "bits-observed": lambda n: bits(n, n.one.estimate or 0.0),
    "replicates": lambda n: sum(c.replicates for c in n.cells),
    "hits": lambda n: sum(hits(c) for c in n.cells),
    # Of the claim.
    "resolution": lambda n: only(n.claims).resolution,
    "alpha": lambda n: only(n.claims).alpha,
    "certificate": lambda n: only(n.claims).certificate,
    "looks": lambda n: only(n.claims).looks,
    "looks-planned": lambda n: only(n.claims).looks_planned,
    "cells": lambda n: len(n.cells),
    "verdict": lambda n: only([phrases.label(c)[2:] for c in n.claims]),
}
ROUNDED = {"at-least": ROUND_FLOOR} | dict.fromkeys(
    ("at-most", "within", "certificate"), ROUND_CEILING
)
"""Fields that are rounded so that they stay true; others are rounded to the nearest."""
DISTANCES = ("within", "tolerance", "resolution")
"""Fields that say how far something is from the theory, and not where it is."""


def _of_kind(kind: str, record: Record) -> int:
    """Count the claims on theorems that test a kind of statement."""
    return len(summary.evidence(summary.split(record)[0]).get(kind, []))


SUITE: dict[str, Callable[[Record], float]] = {
    "claims": lambda r: len(r.claims),
    "theorems": lambda r: len(summary.split(r)[0]),
    "exploratory": lambda r: len(summary.split(r)[1]),
    "decided": lambda r: sum(claim.state == "DECIDED" for claim in summary.split(r)[0]),
    **{kind: partial(_of_kind, kind) for kind in summary.KINDS},
    "controls": lambda r: summary.controls(r)[1],
    "refuted-controls": lambda r: summary.controls(r)[0],
    "core-minutes": lambda r: r.suite.seconds / 60,
    "core-hours": lambda r: r.suite.seconds / 3600,
    "seed": lambda r: r.suite.seed,
    "error-budget": lambda r: r.suite.error_budget.probability,
    "alpha": lambda r: max(p.per_claim for p in r.suite.error_budget.papers.values()),
}
"""Of the run. `count-NOT-RUN` is how many claims on theorems are NOT RUN, `NOT-RUN` its name."""


@dataclass(frozen=True)
class Figure:
    """What a comment says that a figure is."""

    name: str
    value: Value
    ratio: bool = False

    def written(self, as_in: str, times: bool) -> str:
        """The figure with as many digits as `as_in`. Where a word is another, the prose is too."""
        if isinstance(self.value, str):
            if not self.value.startswith(as_in):
                raise Mismatch(f"the record has {self.value}, and the page {as_in}")
            return as_in
        if self.value is None or as_in[-1].isalpha():
            raise Mismatch(f"the record has {self.value} as {self.name}, and the page {as_in}")
        if times and not self.ratio:
            raise Mismatch(f"{self.name} is no ratio, so it says nothing of how many times")
        found = Decimal(f"{self.value:.12g}")
        if as_in.endswith("%"):
            found = 100 * abs(found - (self.ratio and self.name not in DISTANCES))
        mantissa, e, _ = as_in.rstrip("%").partition("e")
        decimals = len(mantissa.partition(".")[2])
        power = found.adjusted() if e else 0
        rounding = ROUNDED.get(self.name.partition("*")[0], ROUND_HALF_EVEN)
        rounded = found.quantize(Decimal(1).scaleb(power - decimals), rounding) + 0
        if e:
            return f"{rounded:.{decimals}e}".replace("e+", "e")
        return f"{rounded:,f}" + "%" * as_in.endswith("%")


def checked(text: str) -> tuple[str, list[str]]:
    """The page with the figures of its records, and what is wrong with the one that is given."""
    record: Record | None = None
    parts: list[str] = []
    wrong: list[str] = []
    pieces = _COMMENT.split(text)
    for prose, comment in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        says = comment[4:-3].strip()
        end = not comment or says.startswith("figures:")
        if record is not None:
            try:
                scope(prose, says, record)
                named = [] if end else read(says, record)
                prose = "".join(replaced(prose, named, wrong))
            except Mismatch as error:
                wrong.append(f"{error}, in {' '.join((prose + comment).split())[-160:]!r}")
        parts += [prose, comment]
        if comment and end:
            file = says.removeprefix("figures:").strip()
            record = None if file == "none" else _record(file)
    return verdict_lines("".join(parts), wrong), wrong


def replaced(prose: str, named: Sequence[Figure], wrong: list[str]) -> Iterator[str]:
    """The prose with the figures that are named; what differs is added to `wrong`."""
    blank = _LITERAL.sub(lambda literal: " " * len(literal.group()), prose)
    shown = list(_FIGURE.finditer(blank))
    if len(shown) != len(named):
        listed = " ".join(figure.group() for figure in shown)
        raise Mismatch(f"the comment names {len(named)} figures, and before it are {listed!r}")
    end = 0
    for at, figure in zip(shown, named, strict=True):
        right = figure.written(at.group(), times=blank[at.end() :].startswith(" times"))
        if right.replace(",", "") != at.group().replace(",", ""):
            around = " ".join(prose[max(0, at.start() - 50) : at.end() + 30].split())
            wrong.append(f"{at.group()} should be {right} ({figure.name}) in {around!r}")
            yield prose[end : at.start()] + right
        else:
            yield prose[end : at.end()]
        end = at.end()
    yield prose[end:]


def read(comment: str, record: Record) -> list[Figure]:
    """The figures that a comment names."""
    found = []
    for group in comment.split(";"):
        who, colon, fields = group.partition(":")
        if not colon:
            raise Mismatch("a comment among figures is `claims: fields`")
        found += [figure(field, who.strip(), record) for field in fields.split()]
    return found


def figure(field: str, who: str, record: Record) -> Figure:
    """What a field of the run or of some claims is."""
    if who == "suite":
        state = field.removeprefix("count-").replace("-", " ")
        if state in summary.ORDER:
            both = state == "NOT RUN"  # what happens to exploratory claims too
            claims = [one for one in record.claims if not (both and one.exploratory)]
            count = summary.count(claims).get(state, 0)
            return Figure(field, count if field.startswith("count-") else state)
        if field not in SUITE:
            raise Mismatch(f"a run has no {field}")
        return Figure(field, SUITE[field](record))
    named = select(who, record)
    name, _, factor = field.partition("*")
    if name in FIELDS:
        value = FIELDS[name](named)
    else:
        settings = [at.params[name] for at in named.cells if name in at.params]
        value = float(only(settings, name))
    if factor and isinstance(value, float):
        value *= float(factor)
    return Figure(field, value, named.ratio)


def select(who: str, record: Record) -> Named:
    """The claims that are named, and their components and cells with the parameters said."""
    claims, components, cells = [], [], []
    for name, settings in _CLAIMS.findall(who):
        claim = only([claim for claim in record.claims if claim.id == name], name)
        asked = [part for part in settings.split(",") if part]

        def has(at: ComponentRow | CellRow, asked: list[str] = asked) -> bool:
            said = {f"{name}={value}" for name, value in at.params.items()}
            return said.union([at.name] if isinstance(at, ComponentRow) else []).issuperset(asked)

        claims.append(claim)
        components += [component for component in claim.components if has(component)]
        components += [_planted(c) for c in claim.controls if asked == [c.id]]
        cells += [cell for cell in claim.cells if has(cell)]
    return Named(claims, components, cells)


def _planted(control: ControlRow) -> ComponentRow:
    """The worst component of a control, as if it were one of the claim."""
    if control.interval is None or control.region is None or control.verdict is None:
        raise Mismatch(f"control {control.id} was not tried")
    return ComponentRow(
        name=control.id,
        estimate=control.estimate,
        interval=control.interval,
        one_sided=control.interval,
        region=control.region,
        verdict=control.verdict,
    )


def scope(prose: str, comment: str, record: Record) -> None:
    """Refuse a figure of a claim about five times as many, say, in prose that does not say so."""
    names = {name for name, _ in _CLAIMS.findall(comment)}
    for claim in record.claims:
        for said in _TIMES.findall(claim.title) if claim.id in names else ():
            if said.lower() not in " ".join(prose.lower().split()):
                raise Mismatch(f"{claim.id} is about {said!r}: say so")


def verdict_lines(text: str, wrong: list[str]) -> str:
    """The page with lines such as `✓ SUPPORTED A.one 1.0 [0.9, 1.1] 2/2 3 s` as in the baseline."""
    claims = {claim.id: claim for claim in _record("reports/baseline.json").claims}

    def line(found: re.Match[str]) -> str:
        claim = claims.get(found[1])
        if claim is None:
            return found[0]
        figures = f"{phrases.finding(claim.head)} {phrases.controls(claim)}"
        right = f"{phrases.label(claim)} {claim.id} {figures} {claim.seconds:.0f} s"
        if right != found[0]:
            wrong.append(f"{found[0]!r} should be {right!r}")
        return right

    return _VERDICT_LINE.sub(line, text)


def known(values: Sequence[float | None]) -> list[float]:
    """The values that are numbers, of which there is one at least."""
    found = [value for value in values if value is not None]
    if not found:
        raise Mismatch("the record has no such figure")
    return found


def only(values: Sequence[T], what: str = "value") -> T:
    """The one value that all of them are."""
    if values and all(value == values[0] for value in values):
        return values[0]
    raise Mismatch(f"there is not one {what}")


def hits(cell: CellRow) -> int:
    """How many replicates of a cell succeed."""
    if not isinstance(cell.observed, float):
        raise Mismatch("a cell has no rate")
    return round(cell.observed * cell.replicates)


def main(write: bool) -> int:
    """Check all pages; the exit status is 1 where something is left to do."""
    left = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        right, wrong = checked(text)
        if write and right != text:
            page.write_text(right, encoding="utf-8")
            wrong = checked(right)[1]
        left += len(wrong)
        for line in wrong:
            print(f"{page.relative_to(ROOT)}: {line}")
    return min(left, 1)


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
