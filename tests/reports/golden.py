"""What the reports say of the sample: texts that are kept in `golden/`.

A page, a table or a card is kept whole. In a file of cases, such as `refused.txt`, lines `> ...`
are a case, usually an edit of the sample, and below them is what the code makes of it; `< ...`
edits the record that is compared with. To add a case, write its line. After a change of words, run

    python -m tests.reports.golden --write

and read `git diff tests/reports/golden`: what stands there is what a user will read.
"""

import difflib
import functools
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
from msgspec.structs import replace
from rich.console import Console

from recall_reports import (
    card,
    cite,
    failure,
    formula,
    html,
    hunted,
    markdown,
    phrases,
    plots,
    summary,
)
from recall_reports.compare import diff, history
from recall_reports.errors import ReportError
from recall_reports.files import validated
from recall_reports.plots.bars import bars, overshoot
from recall_reports.plots.chart import Axis
from recall_reports.record import Claim, Component, Range, Record
from recall_reports.terminal import print_verdicts
from tests.reports import builders, sample

FOLDER = Path(__file__).with_name("golden")
ALPHA, BUDGET = 4e-6, 1e-3
Case = Callable[[list[str], list[str]], str]


def terminal(record: Record, width: int = 80, verbosity: int = 0, encoding: str = "utf-8") -> str:
    """The table as it is printed where colours are not shown."""
    target = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_verdicts(record, Console(file=target, width=width, force_terminal=False), verbosity)
    target.flush()
    return target.buffer.getvalue().decode(encoding)


def page(text: str) -> str:
    """A page without style sheet and script, which are files; each formula as its text alone.

    Other versions of the converter write other MathML.
    """
    text = re.sub(r"<(style|script)>.*?</\1>", r"<\1/>", text, flags=re.S)
    text = re.sub(r"'sha256-[^']*'", "'sha256'", text)
    formulas = re.compile("<math.*?</math>")
    return formulas.sub(lambda m: "".join(ElementTree.fromstring(m[0]).itertext()), text)


def _plain(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _printed() -> str:
    tables = [(80, 0, "utf-8"), (80, -1, "utf-8"), (80, 1, "utf-8"), (60, 0, "utf-8")]
    tables.append((140, 0, "ascii"))
    return "\n".join(f"{made}\n{terminal(sample.record(), *made)}" for made in tables)


def _changes() -> str:
    found = diff.changes(sample.record(), sample.later(), ["claims/conftest.py"])
    target = io.StringIO()
    diff.print_changes(found, Console(file=target, width=110))
    return f"{diff.markdown(found)}\n{target.getvalue()}"


WHOLE: dict[str, Callable[[], str]] = {
    "page.html": lambda: page(html.render(sample.record())),
    "interrupted.html": lambda: page(html.render(sample.interrupted())),
    "history.html": lambda: page(history.page([sample.record(), sample.later()])),
    "report.md": lambda: markdown.render(sample.record()),
    "interrupted.md": lambda: markdown.render(sample.interrupted()),
    "summary.svg": lambda: card.render(sample.record()),
    "terminal.txt": _printed,
    "diff.txt": _changes,
    "ro-crate-metadata.json": lambda: _plain(cite.crate(sample.record(), [Path("report.html")])),
    "test-result.json": lambda: _plain(cite.statement(sample.record(), [])),
}
"""The texts that are kept whole, and what makes them."""


def edited(record: Record, lines: list[str]) -> Any:
    """The record as plain types after edits such as `claims/A.floor/controls/0/verdict = null`.

    `*` is each of a list; an edit without a value removes what is there.
    """
    plain = msgspec.to_builtins(record)
    for line in lines:
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
    return plain


def _at(place: Any, key: str) -> list[Any]:
    if isinstance(place, dict):
        return [key]
    names = [part.get("id") if isinstance(part, dict) else part for part in place]
    return [i for i, name in enumerate(names) if key in ("*", str(i), name)]


def _record(lines: list[str]) -> Record:
    return msgspec.convert(edited(sample.record(), lines), Record)


def _refused(lines: list[str], _: list[str]) -> str:
    try:
        validated(edited(sample.record(), lines))
    except ReportError as error:
        return str(error).partition(". `python -m recall_reports schema` prints")[0]
    return "valid"


def _compared(new: list[str], old: list[str]) -> str:
    found = diff.changes(_record(old), _record(new))
    said = [" | ".join(filter(None, (c.kind, c.claim, c.old, c.new, c.note))) for c in found]
    return "\n".join([*said, *["a verdict is lost"] * diff.lost(found)] or ["no change"])


def said(claim: Claim) -> dict[str, str]:
    """All that is said of a claim, by what it is about."""
    words = (phrases.label, phrases.title, phrases.reason, phrases.resolution, phrases.certificate)
    more = (phrases.controls, phrases.evidence, phrases.replicates, phrases.divided, phrases.draws)
    told = {make.__name__: make(claim) for make in (*words, *more)}
    told["not shown"] = phrases.not_shown(claim, "standard")
    told["components"] = "; ".join(phrases.component_names(claim))
    told["hunt"] = hunted.violation(claim) or hunted.summary(claim)
    if claim.state == "DECIDED":
        for line in failure.message(claim, ALPHA, BUDGET).splitlines():
            indented = line.startswith("  ")
            told[f"message, {line[2:11].strip()}" if indented else "message"] = line[
                12 * indented :
            ]
    for index, panel in enumerate(plots.panels(claim)):
        texts = [node.text for node in ElementTree.fromstring(panel.svg).iter() if node.text]
        told[f"panel {index}"] = f"{panel.caption} {' | '.join(texts)}"
    return told


def _of_claim(lines: list[str], _: list[str]) -> str:
    """What is said of an edited claim and is not said of it as it is."""
    name = lines[0].split("/")[1]
    before, after = (
        next(said(claim) for claim in record.claims if claim.id == name)
        for record in (sample.record(), _record(lines))
    )
    names = [*after, *(what for what in before if what not in after)]
    changed = [name for name in names if before.get(name) != after.get(name)]
    return "\n".join(f"{name}: {after.get(name, 'none')}" for name in changed) or "nothing else"


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
    """A record with a claim of each of these kinds."""
    names = ("state", "verdict", "expected", "outcome")
    parts = sample.all_tokens().components
    found = sample.record()
    found.claims = [
        builders.claim(
            f"{letter}{index}",
            letter,
            parts,
            reason=f"why {letter}",
            exploratory=letter.isupper(),
            **dict(zip(names, KINDS[letter], strict=True)),
        )
        for index, letter in enumerate(letters)
    ]
    return found


def _outcome(lines: list[str], _old: list[str]) -> str:
    letters, _, ahead = lines[0].partition(" and more: ")
    record = of_states(letters.strip("-"))
    record.suite.ahead = int(ahead or 0)
    entries = [" ".join(claim.id for claim in entry) for entry in summary.attention(record)]
    told = [summary.sentence(record), f"headline: {summary.headline(record)}"]
    told += [f"kind: {kind}" for kind in summary.kinds(record)]
    told.append(f"together: {summary.combined(record.claims)}")
    return "\n".join([*told, f"attention: {', '.join(entries) or 'none'}"])


def part(estimate: float | None, bounds: Range, region: builders.Ends) -> Component:
    """A component with these figures."""
    found = builders.component("some", 0, 0, region)
    return replace(found, estimate=estimate, interval=bounds, one_sided=bounds)


def _bars(*rows: list[float | None], log: bool = False) -> str:
    """A line for each `[estimate, low, high, region's low, region's high]`."""
    found = [part(row[0], Range(*row[1:3]), (row[3], row[4])) for row in rows]
    return "\n".join(str(bar).removeprefix("Bar") for bar in bars(found, log=log))


def _drift(*estimates: float) -> str:
    """What is said of a claim after records with these estimates."""
    records = []
    for estimate in estimates:
        claim, found = sample.all_tokens(), sample.record()
        claim.components = [builders.component("all", estimate, 0.01, (0.95, 1.05))]
        records.append(replace(found, claims=[claim]))
    return history.courses(records)[0].note or "nothing"


WORDS: dict[str, Callable[..., object]] = {
    "number": phrases.number,
    "seconds": phrases.seconds,
    "axis": phrases.axis,
    "interval": lambda estimate, *ends: phrases.with_interval(
        estimate, Range(*ends) if ends else None
    ),
    "region": lambda *ends: phrases.bounds(Range(*ends)),
    "ticks": lambda **axis: ", ".join(Axis(**axis).labels()),
    "overshoot": lambda bounds, region: round(overshoot(part(0, Range(*bounds), region)), 9),
    "bars": _bars,
    "errors": functools.partial(_bars, log=True),
    "drift": _drift,
    "text": formula.inline,
    "bare": formula.bare,
}


def _words(lines: list[str], _old: list[str]) -> str:
    name, _, arguments = lines[0].partition(" ")
    if arguments.startswith("{"):
        return str(WORDS[name](**json.loads(arguments)))
    return str(WORDS[name](*json.loads(f"[{arguments}]")))


CASES: dict[str, Case] = {
    "refused.txt": _refused,
    "changes.txt": _compared,
    "claims.txt": _of_claim,
    "outcomes.txt": _outcome,
    "words.txt": _words,
}
"""The files of cases, and what makes the answer to one."""


def answered(text: str, answer: Case) -> str:
    """A file of cases with the answers as they are now; a comment, `# ...`, stays."""
    kept = [line for line in text.splitlines() if line[:2] in ("> ", "< ", "# ") or not line]
    blocks = re.split(r"\n{2,}", "\n".join(kept).strip())
    made = []
    for block in blocks:
        lines = block.splitlines()
        new, old = ([line[2:] for line in lines if line.startswith(mark)] for mark in "><")
        made.append(f"{block}\n{answer(new, old)}" if new else block)
    return "\n\n".join(made) + "\n"


@functools.cache
def kept(name: str) -> str:
    """The text that is kept."""
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def now(name: str) -> str:
    """The text that the code makes now."""
    return WHOLE[name]() if name in WHOLE else answered(kept(name), CASES[name])


def difference(name: str) -> str:
    """The first lines that differ; empty where none does."""
    old, new = kept(name).splitlines(), now(name).splitlines()
    found = difflib.unified_diff(old, new, "kept", "now", lineterm="", n=1)
    return "\n".join(line[:300] for line in [*found][:60])


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    FOLDER.mkdir(exist_ok=True)
    for _name in (*WHOLE, *CASES):
        (FOLDER / _name).write_text(now(_name), encoding="utf-8")
