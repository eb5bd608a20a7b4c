"""Randomly damaged records and ledgers give a clear error, or a report and the same figures."""

import hashlib
import io
import shutil
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from recall_claims.evidence.block import fault
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.hunt_tables import HuntTables, Probe
from recall_claims.evidence.ledger import BlockKey, BlockResult, EvidenceSet, Ledger
from recall_claims.model.errors import LedgerError
from recall_claims.model.region import Verdict
from recall_reports import diff, formula, html, markdown
from recall_reports.record.files import ReportError, validated
from recall_reports.record.text import clean
from recall_reports.terminal import print_verdicts
from tests.reports import sample

MANY = [100, pytest.param(300, marks=pytest.mark.thorough)]
PIECES = [
    *("\\text{", "\\mbox{", "\\href{", "\\style{", "\\hbox{", "\\frac", "\\left(", "\\hspace{"),
    *("{", "}", "[", "]", "$", "`", "``", "^", "_", "-0.5", "\\", "&", "\n", " ", "|", "*", "~~"),
    *("<script>", "</script>", "<!--", "]]>", "&lt;", "&#x3c;", "\x1b[2J", "\ud800", "\0", "@a"),
    *("#1", "https://a.b", "x", "url(a)", "javascript:a", "'", '"', "![a](b)", "<b a=b>", "\r"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)
VALUES = TEXTS | st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.just([]), st.just({})),
    *(st.lists(TEXTS, max_size=2), st.dictionaries(TEXTS, st.floats(), max_size=2)),
)
TAGS = {*formula.ELEMENTS, "code", "p", "sub", "sup"}


@pytest.mark.parametrize("examples", MANY)
def test_no_text_becomes_markup(examples: int) -> None:
    reader = MarkdownIt().enable(["table", "strikethrough"])

    @settings(max_examples=examples, deadline=None)
    @given(TEXTS)
    def check(text: str) -> None:
        text = clean(text)
        for made in (formula.inline(text), formula.prose(text), formula.mathml(text)):
            root = ElementTree.fromstring(f"<p>{made}</p>")
            assert {node.tag.rpartition("}")[2] for node in root.iter()} <= TAGS
            given_names = {name for node in root.iter() for name, _ in node.items()}
            assert given_names <= {*formula.ATTRIBUTES, "class"}
        cell = reader.parse(f"| a | b |\n|-|-|\n| {markdown.escaped(text)} | z |\n")
        lines = [token for token in cell if token.type == "inline"]
        assert [line.content for line in lines[::3]] == ["a", "z"]
        assert {part.type for part in lines[2].children or []} <= {"text"}

    check()


@pytest.mark.parametrize("examples", MANY)
def test_a_changed_record_is_refused_or_reported(examples: int) -> None:
    """Another value replaces one value, anywhere in the record."""
    report = sample.record()
    for claim in report.claims:
        claim.plot, claim.cells = None, claim.cells[:1]
    text = msgspec.json.encode(report)

    @settings(max_examples=examples, deadline=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        plain = msgspec.json.decode(text)
        part: Any = plain
        while True:
            keys = list(part) if isinstance(part, dict) else range(len(part))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.booleans()):
                break
            part = part[key]
        part[key] = data.draw(VALUES)
        try:
            found = validated(plain)
        except ReportError:
            return
        for form in (html, markdown):
            form.render(found).encode()
        said = io.StringIO()
        print_verdicts(found, Console(file=said))
        diff.print_changes(diff.changes(report, found), Console(file=said))
        assert not set("\x1b\x9b\r") & set(said.getvalue())

    check()


KEYS = [
    BlockKey("claim", "reg", f"dim={dim}", 0, block, 4, "float64", "cpu", "code", "versions")
    for dim in (8, 16)
    for block in range(3)
]
DRAWN = EvidenceSet("claim", "smoke", "reg", "0", "code")
PROBE = Probe({"dim": 8}, "key", 0.5, Verdict.REFUTED, 0.1)


def result(key: BlockKey) -> BlockResult:
    values = np.random.default_rng(key.block).normal(size=(2, 4))
    return BlockResult({"one": values[0], "two": values[1]}, 0.5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with rows of blocks, attempts and hunts."""
    path = tmp_path_factory.mktemp("whole") / "ledger"
    with Ledger(path) as ledger:
        for key in KEYS:
            ledger.put(key, result(key))
        ledger.register(DRAWN)
        hunts = HuntTables(ledger, 0)
        hunts.keep("claim", "code", PROBE)
        hunts.end_confirmation(hunts.begin_confirmation("claim", PROBE), Verdict.REFUTED)
        ledger.ask("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


COLUMNS = (
    "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
    "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, 2"
)
"""Query for all pairs of a table and one of its columns."""


def edited(path: Path, place: int, value: object) -> None:
    """Change a column of all rows of a table, as far as its types and keys allow."""
    with closing(sqlite3.connect(path)) as database, database, suppress(sqlite3.Error):
        found = database.execute(COLUMNS).fetchall()
        table, column = found[place % len(found)]
        database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))


def forged(path: Path, at: int, size: int, other: bytes) -> None:
    """Replace bytes in each block's names and values, and write a checksum that matches."""
    with closing(sqlite3.connect(path)) as database, database:
        for key, old in database.execute("SELECT key, payload FROM blocks").fetchall():
            end = old.index(b"\n") + 1
            plain = old[:end] + zlib.decompress(old[end:])
            new = plain[:at] + other + plain[at + size :]
            end = new.find(b"\n") + 1
            packed = new[:end] + zlib.compress(new[end:])
            row = (packed, hashlib.sha256(new).hexdigest(), key)
            database.execute("UPDATE blocks SET payload = ?, checksum = ? WHERE key = ?", row)


def flipped(path: Path, places: list[tuple[int, int]], length: int | None) -> None:
    """Cut the file to `length` bytes, unless that is None, and change bytes at some places."""
    content = bytearray(path.read_bytes()[:length])
    for at, byte in places if content else ():
        content[at % len(content)] = byte
    path.write_bytes(content)


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
CELLS = st.one_of(
    *(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXT, st.binary()),
    st.sampled_from(['{"a": []}', "[" * 10**4, "dim=inf", "dim=1e-320"]),
)
BYTES = st.tuples(st.integers(0, 2**17), st.integers(0, 255))
SPOILT = st.one_of(
    st.tuples(st.just(edited), st.integers(0, 99), CELLS),
    st.tuples(st.just(forged), st.integers(0, 60), st.integers(0, 8), st.binary(max_size=8)),
    st.tuples(st.just(flipped), st.lists(BYTES, max_size=20), st.none() | st.integers(0, 2**17)),
)


@pytest.mark.parametrize("examples", MANY)
def test_a_spoilt_ledger_is_refused_or_has_the_same_figures(
    examples: int, whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"

    @settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(SPOILT)
    def check(spoilt: tuple[Any, ...]) -> None:
        for leftover in tmp_path.glob("ledger*"):
            leftover.unlink()
        shutil.copy(whole, path)
        spoil, *arguments = spoilt
        spoil(path, *arguments)
        with suppress(LedgerError), Ledger(path) as ledger:
            for key in KEYS:
                if ledger.get(key) is None:
                    ledger.put(key, result(key))
                found = ledger.get(key)
                assert found is not None
                assert fault(key, found) is None
                if spoil is not forged:  # only `forged` writes checksums
                    for name, values in result(key).observations.items():
                        assert found.observations[name].tobytes() == values.tobytes()
            ledger.register(DRAWN._replace(registration="later"))
            seconds = Costs(lambda: ledger, "cpu", {}).seconds("claim", "dim=32", 4)
            assert seconds is None or 0 <= seconds < 1e300
            hunts = HuntTables(ledger, 0)
            hunts.probes("claim", "code")
            hunts.confirmed("claim", {"key": None})

    check()
