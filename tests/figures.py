"""Compare figures in prose with the records that they come from.

    python -m tests.figures            # which figures of the pages differ from the record
    python -m tests.figures --write    # put the record's figures in their place

A page that quotes a record ends with a comment, which readers do not see: a table with a row for
each quotation.

    <!-- figures of reports/baseline.json
    at 1.000 [0.88, 1.13] of | A.critical-samples: estimate low high
    bits per weight, `1.25` | none
    ## Sources | none
    -->

A quotation is in the page once; line breaks do not matter. A row names each number and each verdict
in the quotation, in order; formulas and sizes are in backticks and are ignored.

- `A.one[dim=64,exponent=2.0]`: the components and cells of a claim that have these parameters.
- `A.one[dim]`: the exponent of `dim`.
- `A.one[times-2]`: a control.
- `A.one A.other: ...`: two claims together. A semicolon begins the next claim.

`estimate*0.15` multiplies. `FIELDS` and `SUITE` list the names; any other name is a parameter. A
figure keeps its number of decimals. With a per cent sign it is a distance from the theory: |x - 1|
of a ratio, |x| of anything else.

A page that quotes a record has no other results: `N of M`, or a number with a decimal point, a per
cent sign or an exponent, is an error. In backticks a number with a decimal point, a per cent sign
or a negative exponent is an error too, unless the backticks also hold a letter, `=` or `<`.

A row with `none` quotes no record. If the quotation ends with `...`, the row applies to the rest of
its paragraph; if it is a heading, to its section.
"""

import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from recall_reports import html, opening, phrases, summary
from recall_reports.record import CellRow, ClaimRow, Figure, Record, Series
from recall_reports.record.files import load
from tests import samples

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / ".github" / "figures.svg"
FIGURES_OF_PAPERS = ROOT / ".github" / "docs" / "figures"
PAGES = [ROOT / "README.md", *sorted((ROOT / ".github").rglob("*.md"))]

_TABLE = re.compile(r"<!-- figures of (\S+)\n(.*?)\n-->\n?", re.DOTALL)
_NUMBER = r"(?<![\w.])-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e-?\d+)?(?!\w)%?"
_VERDICTS = "SUPPORTED|false, as expected|REFUTED|INCONCLUSIVE|SURVIVES?|BREAKS?|NOT RUN"
_FIGURE = re.compile(rf"{_NUMBER}|\b(?i:{_VERDICTS})\b")
_RESULT = re.compile(rf"{_NUMBER}(\s+of\s+(?:the\s+)?\d)?")
_LITERAL = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|\d{4}\.\d{5}", re.DOTALL)
"""Code, formulas and sizes, links, and numbers of papers."""
_BARE = re.compile(r"`[^A-Za-z=<`]*\d(?:\.\d|e-\d|%)[^A-Za-z=<`]*`")
_CLAIM = re.compile(r"([\w.-]+)(?:\[(.*?)\])?")


@cache
def _record(file: str) -> Record:
    return load(ROOT / file)


def only(values: Iterable[Any]) -> Any:
    """Return the value that all items share."""
    first, *others = values
    if any(other != first for other in others):
        raise ValueError("there are several values")
    return first


@dataclass(frozen=True)
class Named:
    """Claims that a row names, and their named components, controls and cells."""

    claims: Sequence[ClaimRow]
    components: Sequence[Any]
    cells: Sequence[CellRow]

    @property
    def ratio(self) -> bool:
        return all(claim.rule.scale == "ratio" for claim in self.claims)

    @property
    def one(self) -> Any:
        """Only component, or the component that tables show for the claim."""
        if len(self.components) == 1:
            return self.components[0]
        return only(c for c in self.components if c is only(self.claims).head)

    def ends(self, side: str) -> list[float]:
        """Bounds on one side, `low` or `high`, of components that have one."""
        found = [getattr(component.shown, side) for component in self.components]
        return [end for end in found if end is not None]

    def farthest(self, *ends: float) -> float:
        """Return the largest distance of these ends from the theory (1 for ratios, else 0)."""
        return max(abs(end - self.ratio) for end in ends)


def bits(pairs: Named, times: float = 1.0) -> float:
    """Return the bits per weight of a memory, or a two-layer MLP, that stores a permutation.

    It stores ``times`` times the predicted number of pairs.
    """
    cell = pairs.cells[0].params
    count = times * only(c.critical for c in pairs.cells)
    weights = float(cell["dim"]) * float(2 * cell["width"] if "width" in cell else cell["dim"])
    return math.lgamma(count + 1) / math.log(2) / weights


FIELDS: dict[str, Callable[[Named], Any]] = {
    "estimate": lambda n: n.one.estimate,
    "low": lambda n: n.one.shown.low,
    "high": lambda n: n.one.shown.high,
    "least": lambda n: min(c.estimate for c in n.components),
    "most": lambda n: max(c.estimate for c in n.components),
    "lowest": lambda n: min(n.ends("low")),
    "highest": lambda n: max(n.ends("high")),
    # Certain bounds, rounded outwards so that they stay certain.
    "at-least": lambda n: min(n.ends("low")),
    "at-most": lambda n: max(n.ends("high")),
    "within": lambda n: n.farthest(*n.ends("low"), *n.ends("high")),
    # Declared numbers.
    "from": lambda n: n.one.region.low,
    "to": lambda n: n.one.region.high,
    "tolerance": lambda n: n.farthest(*(end for end in n.one.region.ends if end is not None)),
    # Of cells.
    "predicted": lambda n: only(c.critical or c.predicted for c in n.cells),
    "observed": lambda n: only(c.observed for c in n.cells),
    "bits-predicted": bits,
    "bits-observed": lambda n: bits(n, n.one.estimate),
    "replicates": lambda n: sum(c.replicates for c in n.cells),
    "cells": lambda n: len(n.cells),
    # Of the claim.
    "resolution": lambda n: only(n.claims).resolution,
    "alpha": lambda n: only(n.claims).alpha,
    "certificate": lambda n: only(n.claims).certificate,
    "looks": lambda n: only(n.claims).looks,
    "looks-planned": lambda n: only(n.claims).looks_planned,
    "caught": lambda n: sum(c.verdict == "REFUTED" for c in only(n.claims).controls),
    "controls": lambda n: len(only(n.claims).controls),
    "verdict": lambda n: only(phrases.label(claim)[2:] for claim in n.claims),
}
ROUNDED = {"at-least": ROUND_FLOOR} | dict.fromkeys(
    ("at-most", "within", "certificate"), ROUND_CEILING
)
"""Fields that are rounded so that they stay true; others are rounded to the nearest."""
DISTANCES = ("within", "tolerance", "resolution")
"""Fields that give a distance from the theory, not a value."""


def noticed(record: Record, *, locates: bool) -> float:
    """Return the median error that supported claims on ratios would have noticed.

    `locates`: whether the ratios are of critical values.
    """
    found = [c for c in summary.split(record)[0] if c.verdict == c.expected == "SUPPORTED"]
    ratios = [c for c in found if (c.rule.scale, c.rule.locates) == ("ratio", locates)]
    return statistics.median(c.resolution for c in ratios if c.resolution is not None)


SUITE: dict[str, Callable[[Record], Any]] = {
    "claims": lambda r: len(r.claims),
    "theorems": lambda r: len(summary.split(r)[0]),
    "exploratory": lambda r: len(summary.split(r)[1]),
    "decided": lambda r: sum(claim.state == "DECIDED" for claim in summary.split(r)[0]),
    "refuted": lambda r: summary.controls(r)[0],
    "controls": lambda r: summary.controls(r)[1],
    "noticed-in-means": lambda r: noticed(r, locates=False),
    "noticed-in-sizes": lambda r: noticed(r, locates=True),
    "core-minutes": lambda r: r.suite.seconds / 60,
    "core-hours": lambda r: r.suite.seconds / 3600,
    "seed": lambda r: r.suite.seed,
    "error-budget": lambda r: r.suite.error_budget.probability,
    "alpha": lambda r: max(p.per_claim for p in r.suite.error_budget.papers.values()),
}
"""Fields of the run. A state is a field too: `NOT-RUN` gives its name, and `count-NOT-RUN` counts
its claims (for NOT RUN, without exploratory claims). A kind of statement, such as `derived`, counts
the claims, on theorems, that test such a statement. Claims from a pilot count as `pilot` only."""


def of_suite(field: str, record: Record) -> Any:
    """Look up a figure of the run."""
    name = field.removeprefix("count-").replace("-", " ")
    state = next((one for one in summary.ORDER if one.replace(",", "") == name), None)
    if state is not None:
        both = state == "NOT RUN"  # a state of exploratory claims, too
        claims = [one for one in record.claims if not (both and one.exploratory)]
        return summary.count(claims).get(state, 0) if field.startswith("count-") else state
    if field in (*opening.TESTED, "pilot"):
        return len(summary.evidence(summary.split(record)[0]).get(field, []))
    return SUITE[field](record)


def select(who: str, record: Record) -> Named:
    """Select the named claims, and their components and cells with the given parameters."""
    claims, components, cells = [], list[Any](), []
    for name, said in _CLAIM.findall(who):
        [claim] = [claim for claim in record.claims if claim.id == name]
        asked = {part for part in said.split(",") if part}
        claims.append(claim)
        for part in claim.components:
            if asked <= {part.name, *(f"{k}={v}" for k, v in part.params.items())}:
                components.append(part)
        for control in claim.controls:  # its worst component
            if asked == {control.id}:
                worst = {"estimate": control.estimate, "region": control.region}
                components.append(SimpleNamespace(**worst, shown=control.interval))
        cells += [c for c in claim.cells if asked <= {f"{k}={v}" for k, v in c.params.items()}]
    return Named(claims, components, cells)


def written(field: str, who: str, record: Record, as_in: str, times: bool) -> str:
    """Format a field of the run or of some claims, with as many decimals as `as_in`.

    Args:
        field: a field of `FIELDS` or `SUITE`, or a parameter, perhaps with a factor.
        who: the claims, or "suite" for the run.
        record: the record that has the figure.
        as_in: the figure that the page has now.
        times: whether the page says "times" after it, so that the figure must be a ratio.
    """
    name, _, factor = field.partition("*")
    if who == "suite":
        value, ratio = of_suite(field, record), False
    else:
        named = select(who, record)
        ratio = named.ratio
        settings = (at.params[name] for at in named.cells if name in at.params)
        value = FIELDS[name](named) if name in FIELDS else float(only(settings))
    if isinstance(value, str) or as_in[-1].isalpha():
        # If a verdict has changed, somebody has to rewrite the sentence.
        if not str(value).casefold().startswith(as_in.casefold()):
            raise ValueError(f"the record has {value}")
        return as_in
    if times and not ratio:
        raise ValueError(f"{field} is no ratio, so it says nothing of how many times")
    found = Decimal(f"{value * float(factor or 1):.12g}")
    if as_in.endswith("%"):
        found = 100 * abs(found - (ratio and name not in DISTANCES))
    mantissa, e, _ = as_in.rstrip("%").partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = found.adjusted() if e else 0
    rounding = ROUNDED.get(name, ROUND_HALF_EVEN)
    rounded = found.quantize(Decimal(1).scaleb(power - decimals), rounding) + 0
    if e:
        return f"{rounded:.{decimals}e}".replace("e+", "e")
    right = f"{rounded:,f}" + "%" * as_in.endswith("%")
    return as_in if right.replace(",", "") == as_in.replace(",", "") else right


def figures(quote: str) -> list[re.Match[str]]:
    """Find the figures of a quotation outside code, addresses of links and numbers of papers."""
    return list(_FIGURE.finditer(_LITERAL.sub(lambda literal: " " * len(literal[0]), quote)))


def corrected(quote: str, names: str, record: Record) -> str:
    """Put the named figures into a quotation."""
    groups = [group.partition(":") for group in names.split(";")]
    named = [(field, who.strip()) for who, _, fields in groups for field in fields.split()]
    parts, end = list[str](), 0
    for at, (field, who) in zip(figures(quote), named, strict=True):
        times = quote[at.end() :].startswith(" times")
        parts += [quote[end : at.start()], written(field, who, record, at[0], times)]
        end = at.end()
    return "".join([*parts, quote[end:]])


def place(quote: str, page: str) -> tuple[int, int]:
    """Find the place on a page that a row quotes."""
    words, rest = quote.removesuffix(" ...").split(), ""
    if quote.endswith(" ..."):
        rest = r"(?:.|\n(?!\n))*"
    elif quote.startswith("#"):  # up to the next heading of its level or above
        rest = rf"\n(?:.|\n(?!#{{1,{len(words[0])}}} ))*"
    found = list(re.finditer(r"\s+".join(map(re.escape, words)) + rest, page))
    if len(found) != 1:
        raise ValueError(f"the page has this {len(found)} times")
    return found[0].span()


def checked(text: str) -> tuple[str, list[str]]:
    """Return the page with the figures of its records, and the faults of the given page."""
    page, *tables = _TABLE.split(text)
    if not tables:
        return text, []
    wrong = ["a comment beside the tables at the end"] * (
        "<!--" in page or "".join(tables[2::3]).strip() != ""
    )
    ended, quoted = text[len(page) :], list[tuple[str, bool]]()
    for file, table in zip(tables[::3], tables[1::3], strict=True):
        for row in filter(None, table.splitlines()):
            quote, _, names = row.rpartition(" | ")
            right = quote
            try:
                begin, end = place(quote, page)
                if names != "none":
                    right = corrected(quote, names, _record(file))
                    found = corrected(page[begin:end], names, _record(file))
                    page = page[:begin] + found + page[end:]
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                wrong.append(f"{row!r}: {error}")
            if right != quote:
                wrong.append(f"{quote!r} should be {right!r} ({names})")
                ended = ended.replace(row, f"{right} | {names}")
            quoted.append((right, names == "none"))
    return page + ended, wrong + [f"no row has {result!r}" for result in unquoted(page, quoted)]


def unquoted(page: str, quoted: Sequence[tuple[str, bool]]) -> list[str]:
    """Find the results on a page that no row names.

    A row with `none` names its whole quotation, and any other row only the figures in it.
    """
    left = page
    for quote, whole in quoted:
        with suppress(ValueError):
            begin, end = place(quote, page)
            spans = [(0, end - begin)] if whole else [f.span() for f in figures(page[begin:end])]
            for first, last in spans:
                left = left[: begin + first] + " " * (last - first) + left[begin + last :]
    left = _LITERAL.sub(lambda m: m[0] if _BARE.fullmatch(m[0]) else " ", left)
    return [m[0] for m in _RESULT.finditer(left) if m[1] or {*".%e"} & {*m[0]}]


def _leads(claim: str, step: str, rarest: int) -> list[Series]:
    """Return the leads of the most frequent and of the rarest of sixteen classes."""
    named = {1: "most frequent", rarest: "rarest"}
    return [
        Series(claim=claim, label=f"{step}: {name} class", where={"items": 16, "group": group})
        for group, name in named.items()
    ]


IN_PAGES = {
    "C": Figure(
        title="Pairs stop being storable as predicted",
        series=[Series(claim="C.decoupled-transition")],
    ),
    "H": Figure(
        title="Muon's first step favours no class, Adam's does",
        kind="rows",
        x_label="lead of a class after one step",
        series=_leads("H.adam-classes", "Adam", 4) + _leads("H.muon-classes", "Muon", 16),
    ),
}
"""Figures of papers that have none in reports, by the paper's key."""


def pictures() -> dict[Path, str]:
    """Draw the README's picture, the figures of each paper, and the figure of samples."""
    record = _record("reports/baseline.json")
    found = {PICTURE: html.picture(record)}
    for paper in record.papers:
        drawn = [IN_PAGES[paper.key]] if paper.key in IN_PAGES else paper.figures
        for number, figure in enumerate(drawn, 1):
            alone = replace(record, papers=[replace(paper, figures=[figure])])
            found[FIGURES_OF_PAPERS / f"{paper.key}{number}.svg"] = html.picture(alone)
    found[FIGURES_OF_PAPERS / "samples.svg"] = samples.picture()
    return found


def main(write: bool) -> int:
    """Check all pages and pictures, or renew them; return 1 if any is still out of date."""
    left = 0
    for file, drawn in pictures().items():
        if write:
            file.write_text(drawn, encoding="utf-8")
        elif not file.exists() or drawn != file.read_text(encoding="utf-8"):
            print(f"{file.relative_to(ROOT)} is not what the record gives")
            left += 1
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
