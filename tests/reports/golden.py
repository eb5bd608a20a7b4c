"""Make the texts that `test_golden.py` compares with `__snapshots__/`."""

import base64
import functools
import io
import json
import math
import re
import zlib
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import msgspec
from msgspec.structs import replace
from rich.console import Console

from recall_reports import diff, failure, figures, formula, hunted, opening, phrases, plots, summary
from recall_reports.plots.bars import bars
from recall_reports.plots.chart import Axis
from recall_reports.record import ClaimRow, ComponentRow, Range, Record
from recall_reports.record.files import ReportError, validated
from recall_reports.record.values import Verdict
from recall_reports.terminal import print_verdicts
from tests.reports import builders, sample

ALPHA, BUDGET, SINCE = 4e-6, 1e-3, "since commit abc, its theory was edited"
Answer = Callable[[list[str], list[str]], str]


def terminal(record: Record, width: int = 80, verbosity: int = 0, encoding: str = "utf-8") -> str:
    """Return the table that a terminal without colours shows."""
    target = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_verdicts(record, Console(file=target, width=width, force_terminal=False), verbosity)
    target.flush()
    return target.buffer.getvalue().decode(encoding)


def unfolded(text: str) -> str:
    """Unpack a page's compressed parts in place, as the page's script does."""
    [packed] = re.findall(r'<script type="text/plain">(.*?)</script>', text)
    parts = iter(zlib.decompress(base64.b64decode(packed)).decode().split("\0"))
    text = text.replace(packed, "")
    return re.sub("(?<=<template>)(?=</template>)", lambda _: next(parts), text)


def page(text: str) -> str:
    """Unfold a page, take out style sheet, script and hashes, and reduce formulas to text.

    Style sheet and script are files in the repository, so no snapshot has to repeat them. Formulas
    are reduced because versions of the converter write different MathML.
    """
    text = unfolded(text)
    text = re.sub(r"<(style|script)>.*?</\1>", r"<\1/>", text, flags=re.S)
    text = re.sub(r"sha256-[\w+/=]+", "sha256", text)
    formulas = re.compile("<math.*?</math>")
    return formulas.sub(lambda m: "".join(ElementTree.fromstring(m[0]).itertext()), text)


def tables() -> str:
    """Return the sample's table at several widths, verbosities and encodings."""
    forms = [(80, 0, "utf-8"), (80, -1, "utf-8"), (80, 1, "utf-8"), (36, 0, "utf-8")]
    forms.append((140, 0, "ascii"))
    return "\n".join(f"{form}\n{terminal(sample.record(), *form)}" for form in forms)


def changes() -> str:
    """Describe the changes from the sample to its later run, as Markdown and in the terminal."""
    found = diff.changes(sample.record(), sample.later(), ["claims/conftest.py"])
    target = io.StringIO()
    diff.print_changes(found, Console(file=target, width=110))
    return f"{diff.markdown(found)}\n{target.getvalue()}"


def edited(lines: list[str]) -> Any:
    """Edit the sample, as plain types."""
    plain = msgspec.to_builtins(sample.record())
    for line in lines:
        edit(plain, line)
    return plain


def edit(plain: Any, line: str) -> None:
    """Edit a record in plain types, as by `claims/A.floor/controls/0/verdict = null`.

    `*` means each item of a list; an edit without a value removes the field or item.
    """
    path, _, value = line.partition(" =")
    *above, last = path.split("/")
    places: list[Any] = [plain]
    for key in above:
        places = [place[at] for place in places for at in _at(place, key)]
    for place in places:
        for at in _at(place, last):
            if value.strip():
                place[at] = json.loads(value)
            else:
                del place[at]


def _at(place: Any, key: str) -> list[Any]:
    if isinstance(place, dict):
        return [key]
    names = [part.get("id") if isinstance(part, dict) else part for part in place]
    return [i for i, name in enumerate(names) if key in ("*", str(i), name)]


def _record(lines: list[str]) -> Record:
    return msgspec.convert(edited(lines), Record)


def refused(lines: list[str], _old: list[str]) -> str:
    """Say why an edited record is refused."""
    try:
        validated(edited(lines))
    except ReportError as error:
        return str(error).partition(". `python -m recall_reports schema` prints")[0]
    return "valid"


def compared(new: list[str], old: list[str]) -> str:
    """Describe the changes from one edited record to another."""
    found = diff.changes(_record(old), _record(new))
    said = [" | ".join(filter(None, (c.kind, c.claim, c.old, c.new, c.note))) for c in found]
    return "\n".join([*said, *["a verdict is lost"] * diff.lost(found)] or ["no change"])


def said(claim: ClaimRow) -> dict[str, str]:
    """Return all texts about a claim, by topic."""
    words = (phrases.label, phrases.title, phrases.reason, phrases.resolution, phrases.certificate)
    more = (phrases.controls, phrases.evidence, phrases.replicates, phrases.divided, phrases.draws)
    told = {make.__name__: make(claim) for make in (*words, *more)}
    told["not shown"] = phrases.not_shown(claim, "standard")
    told["components"] = "; ".join(phrases.component_names(claim))
    told["hunt"] = hunted.violation(claim) or hunted.summary(claim)
    if claim.state == "DECIDED":
        for line in failure.message(claim, ALPHA, BUDGET, SINCE).splitlines():
            name, text = (f"message, {line[2:11].strip()}", line[12:])
            told |= {name: text} if line.startswith("  ") else {"message": line}
    for index, panel in enumerate(plots.panels(claim)):
        texts = [node.text for node in ElementTree.fromstring(panel.svg).iter() if node.text]
        told[f"panel {index}"] = f"{panel.caption} {' | '.join(texts)}"
    return told


def of_claim(lines: list[str], _old: list[str]) -> str:
    """Return the texts about an edited claim that differ from the original claim's."""
    name = lines[0].split("/")[1]
    before, after = (
        next(said(claim) for claim in record.claims if claim.id == name)
        for record in (sample.record(), _record(lines))
    )
    changed = [what for what in after | before if before.get(what) != after.get(what)]
    return "\n".join(f"{what}: {after.get(what, 'none')}" for what in changed) or "nothing else"


KINDS = {
    "s": ("DECIDED", "SUPPORTED", "SUPPORTED", "passed"),
    "r": ("DECIDED", "REFUTED", "SUPPORTED", "failed"),
    "d": ("DECIDED", "REFUTED", "REFUTED", "passed"),
    "i": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "failed"),
    "k": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "skipped"),
    "n": ("NOT RUN", None, "SUPPORTED", "skipped"),
    "e": ("ERROR", None, "SUPPORTED", "failed"),
    "S": ("DECIDED", "SURVIVES", "SUPPORTED", "passed"),
    "B": ("DECIDED", "BREAKS", "SUPPORTED", "passed"),
    "I": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "passed"),
}
"""Claims by letter: state, verdict, expected verdict and outcome; capitals are exploratory."""


def of_states(letters: str) -> Record:
    """Make a record with a claim of each of these kinds."""
    parts, found = sample.all_tokens().components, sample.record()
    found.claims = []
    for index, letter in enumerate(letters):
        kind = dict(zip(("state", "verdict", "expected", "outcome"), KINDS[letter], strict=True))
        more = {"reason": f"why {letter}", "exploratory": letter.isupper()}
        found.claims.append(builders.claim(f"{letter}{index}", letter, parts, **kind, **more))
    return found


def outcome(lines: list[str], _old: list[str]) -> str:
    """Summarise a run with these claims."""
    letters, _, ahead = lines[0].partition(" and more: ")
    record = of_states(letters.strip("-"))
    record.suite.ahead = int(ahead or 0)
    entries = [" ".join(claim.id for claim in entry) for entry in summary.attention(record)]
    told = [summary.sentence(record), f"headline: {opening.headline(record)}"]
    told += [f"line: {line}" for line in opening.first_lines(record)]
    told.append(f"together: {summary.combined(record.claims)}")
    return "\n".join([*told, f"attention: {', '.join(entries) or 'none'}"])


def part(estimate: float | None, bounds: Range, region: builders.Ends) -> ComponentRow:
    found = builders.component("some", 0, 0, region)
    return replace(found, estimate=estimate, interval=bounds, one_sided=bounds)


def _bars(*rows: list[float | None], log: bool = False) -> str:
    """Write the bar of each `[estimate, low, high, region's low, region's high]`, one per line."""
    found = [part(row[0], Range(*row[1:3]), (row[3], row[4])) for row in rows]
    return "\n".join(str(bar).removeprefix("Bar") for bar in bars(found, log=log))


def _needs(parts: list[tuple[float, float, builders.Ends]], locates: bool = False) -> str:
    """Say how many replicates would decide components of these estimates, half widths, regions."""
    found = [builders.component(f"a={i}", *part) for i, part in enumerate(parts)]
    cells = [builders.cell({"a": 1}, 1.0, 1.0, replicates=100)]
    rule = builders.rule(locates=locates)
    claim = builders.claim("A.made", "Title", found, cells=cells, rule=rule)
    return failure._needs(claim) or "nothing"


def _judged(estimate: float, low: float, high: float | None, *ends: float | None) -> ComponentRow:
    """Make a component, REFUTED if its bounds miss the region or only touch the upper end."""
    left, right = Range(*ends).ends
    found = part(estimate, Range(low, high), (ends[0], ends[1]))
    outside = low > right or (math.inf if high is None else high) < left
    return replace(found, verdict=Verdict.REFUTED if outside or low == right else Verdict.SUPPORTED)


WORDS: dict[str, Callable[..., object]] = {
    "number": figures.number,
    "seconds": phrases.seconds,
    "axis": phrases.axis,
    "interval": lambda estimate, *ends: figures.with_interval(
        estimate, Range(*ends) if ends else None
    ),
    "finding": lambda *given: figures.finding(_judged(*given)),
    "in_words": lambda *given: figures.in_words(_judged(*given)),
    "region": lambda *ends: figures.bounds(Range(*ends)),
    "needs": _needs,
    "ticks": lambda axis: ", ".join(Axis(**axis).labels()),
    "bars": _bars,
    "errors": functools.partial(_bars, log=True),
    "text": formula.inline,
}


def words(lines: list[str], _old: list[str]) -> str:
    name, _, arguments = lines[0].partition(" ")
    return str(WORDS[name](*json.loads(f"[{arguments}]")))


CASES: dict[str, Answer] = {
    "refused": refused,
    "changes": compared,
    "claims": of_claim,
    "outcomes": outcome,
    "words": words,
}
"""The files of cases, and the function that answers a case."""
