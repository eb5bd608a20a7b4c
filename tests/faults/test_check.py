"""`python -m recall_claims check` finds and names forgeries in record or ledger."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall_claims import __main__ as command
from recall_claims.__main__ import main
from recall_claims.evidence import executors, ledger_file
from recall_claims.evidence.block import pack, unpack
from recall_claims.judge.methods import Array
from recall_claims.model import papers
from tests.apart import saved
from tests.faults.conftest import HOOKS, LEDGER, PAPER, judged, reported, written
from tests.faults.test_hunt import WRONG
from tests.reports.golden import edit

Printed = pytest.CaptureFixture[str]
Values = dict[str, Array]
FILE = "test_tiny_checked.py"


@dataclass(frozen=True)
class Run:
    """A record in plain types, and a ledger, for changes."""

    record: dict[str, Any]
    ledger: sqlite3.Connection

    def entry(self, name: str = "one") -> dict[str, Any]:
        return next(claim for claim in self.record["claims"] if claim["id"] == f"tiny.{name}")

    def block(self, number: int, cell: str = "scale=1.0", claim: str = "two") -> Values:
        sql = "SELECT payload, checksum, replicates FROM blocks "
        where = "WHERE claim = ? AND cell = ? AND block = ?"
        [row] = self.ledger.execute(sql + where, (f"tiny.{claim}", cell, number))
        return unpack(*row)

    def put(self, number: int, values: Values) -> None:
        """Give a block of tiny.two at scale 1 other observations, with a matching checksum."""
        sql = "UPDATE blocks SET payload = ?, checksum = ? WHERE claim = 'tiny.two' "
        self.ledger.execute(sql + "AND cell = 'scale=1.0' AND block = ?", (*pack(values), number))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A suite of four claims, one of them refuted by a hunt, with its record and its ledger."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "claims").mkdir()
    (folder / "claims" / "paper.toml").write_text(PAPER, encoding="utf-8")
    two = ('return {"value"', 'return {"zero": np.zeros(len(block.rngs)), "value"')
    open_end = ("Region(0.95, 1.05)", "Region(0.95, np.inf)")
    text = WRONG + written("one") + written("two", two) + written("three", two, open_end)
    (folder / "claims" / FILE).write_text(text, encoding="utf-8")
    saved(folder, {})
    done = judged(folder, *HOOKS, "claims/", "--hunt", "60s")
    assert "4 passed, 1 refuted by the hunt" in done.text, done.text
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(papers, "_added", {})
        patch.setattr(executors, "cores", lambda: 1)
        yield folder


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Iterator[Run]:
    """The suite's record and a copy of its ledger, for changes."""
    shutil.copy(folder / LEDGER, tmp_path / "ledger")
    with closing(sqlite3.connect(tmp_path / "ledger", isolation_level=None)) as database:
        yield Run(reported(folder / "reports/latest"), database)


def check(run: Run, folder: Path, *options: str) -> int:
    run.ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (folder / "report.json").write_text(json.dumps(run.record), encoding="utf-8")
    return main(["check", str(folder / "ledger"), str(folder / "report.json"), *options])


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the contents of a folder's files, except compiled code, which imports may write."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path: path.read_bytes() for path in files}


def test_an_honest_record_holds_and_nothing_is_changed(folder: Path, capsys: Printed) -> None:
    files = [LEDGER, "reports/latest/report.json"]
    before = contents(folder)
    assert main(["check", *files]) == 0
    assert contents(folder) == before
    printed = capsys.readouterr().out
    assert "4 claims judged again" in printed
    assert "0 differ: these are all" in printed
    assert main(["check", *files, "--time-limit", "0.001s", "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert "0 of 52 blocks drawn again, 0 differ\n" in printed
    assert "no block was drawn again of some evidence of 4 claims: " in printed
    assert main(["check", *files, "--time-limit", "0.001s", "-k", "two"]) == 0
    assert "1 claim judged again" in capsys.readouterr().out


def test_some_blocks_show_less(
    folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("recall_claims.check.drawing.time", lambda: next(clock))
    monkeypatch.setattr(command, "time", lambda: 0.0)
    files = [LEDGER, "reports/latest/report.json", "--seed", "1"]
    assert main(["check", *files, "--time-limit", "15s"]) == 0
    assert "15 of 52 blocks drawn again, 0 differ: with 99% confidence fewer" in (
        capsys.readouterr().out
    )


Edit = str | Callable[[Run], object]


def changed_figure(run: Run) -> None:
    """Change a figure by a thousandth, too little for any verdict."""
    values = run.block(3)
    values["value"][2] *= 1.001
    run.put(3, values)


def other_blocks(run: Run) -> None:
    """Replace block 0 by a block of another cell, scaled to look right, and block 1 by block 2."""
    values = run.block(0)
    run.put(0, values | {"value": run.block(0, "scale=2.0")["value"] / 2})
    run.put(1, run.block(2))


def another_control(run: Run) -> None:
    run.entry()["controls"].append(dict(run.entry()["controls"][0], id="another"))
    for part in (run.entry(), run.entry()["cells"][0]):
        part["replicates"] += 2**62


def another_hunt(run: Run) -> None:
    """Record tiny.one as refuted by a hunt, though the ledger has no violation of tiny.one."""
    told = dict(run.entry("mean")["hunt"], points=[])
    run.entry().update(hunt=told, verdict="REFUTED", outcome="failed")


def another_claim(run: Run) -> None:
    run.record["claims"].append(dict(run.entry(), id="tiny.four"))


def forge(run: Run, *edits: Edit) -> None:
    """Change the record by a path and a value, the ledger by SQL, or either by a function."""
    for each in edits:
        if callable(each):
            each(run)
        elif "/" in each.partition(" =")[0]:
            edit(run.record, each)
        else:
            run.ledger.executescript(each)


MISSING = "tiny.two: cannot be judged: CheckError: the ledger lacks block 1 of scale=1.0:"
NO_HUNT = "tiny.mean: its hunt's confirmed violation does not follow from the ledger"
ONE, TINY = "claims/tiny.one", "suite/error_budget/papers/tiny"
FORGERIES: dict[str, tuple[list[Edit], list[str]]] = {
    "a figure": (
        [changed_figure],
        ["tiny.two: block 3 of scale=1.0 is not what the code gives: 'value' is off by 0.001"],
    ),
    "a figure, on another processor": (
        [changed_figure, 'suite/hardware/instructions = "AVX9"'],
        ["tiny.two: block 3 of scale=1.0 is not what the code gives", ", AVX9 instructions, drawn"],
    ),
    "blocks of another place": (
        [other_blocks],
        [f"tiny.two: block {n} of scale=1.0 is not what the code gives" for n in (0, 1)],
    ),
    "a missing block": (["DELETE FROM blocks WHERE block = 1"], [f"{MISSING} new"]),
    "a damaged block": (
        ["UPDATE blocks SET payload = x'01' WHERE block = 1"],
        [f"{MISSING} it has none of the forms"],
    ),
    "a block of any length": (
        [
            "UPDATE blocks SET payload = zeroblob(1 << 25) "
            "WHERE claim = 'tiny.two' AND cell = 'scale=1.0' AND block = 1"
        ],
        ["tiny.two: cannot be judged: LedgerError: cannot read "],
    ),
    "fields of the run": (
        [
            "suite/blocks/total = 4611686018427387904",
            "usual/tiny.one/components/0/estimate = 5.0",
            r'suite/commit = "c0ffee\u001b[2J\n"',
        ],
        [
            "the record: suite.blocks.total: 4611686018427387904 in the record, ",
            "the record: usual.tiny.one.components.0.estimate: 5.0 in the record, 0.99",
            r"the record: is of commit c0ffee\x1b[2J , and ",
        ],
    ),
    "another seed": (["suite/seed = 5", "claims/*/seed = 5"], ["scale=1.0: seed changed"]),
    "another tier": (['suite/tier = "smoke"'], ["scale=1.0: registration changed"]),
    "another budget": (
        [
            "suite/error_budget/probability = 0.5",
            f"{TINY}/share = 0.2",
            f"{TINY}/per_claim = {0.5 * 0.2 / 26}",
            'papers/0/statements/0/text = "Another statement."',
        ],
        [
            "the record: has an error budget of 0.5, more than the usual 0.001",
            "the record: suite.error_budget.papers.tiny.share: 0.2 in the record, 0.1 when",
            "the record: papers.0.statements.0.text: Another statement. in the record, A mean",
            "tiny.one: alpha:",
        ],
    ),
    "no commit": (["suite/commit = null"], ["the record: names no commit, so nobody "]),
    "a verdict": (
        [
            *(f'{ONE}/{part}verdict = "REFUTED"' for part in ("", "components/0/")),
            f"{ONE}/components/0/interval = [1.2, 1.3]",
            f"{ONE}/components/0/one_sided = [1.21, 1.29]",
            f"{ONE}/components/0/estimate = 1.25",
            f'{ONE}/outcome = "failed"',
            f"{ONE}/alpha = 1e-9",
        ],
        [
            "tiny.one: verdict: REFUTED in the record, SUPPORTED when judged again",
            "tiny.one: components.0.verdict: REFUTED in the record, SUPPORTED when judged",
            "tiny.one: alpha:",
            "tiny.one: and 1 more",
        ],
    ),
    "other fields": (
        [
            another_control,
            f"{ONE}/looks = 1",
            f"{ONE}/certificate = 1e-12",
            f'{ONE}/registration = "0000000000000000"',
            f'{ONE}/file = "../other.py"',
            f'{ONE}/replay = "rm -rf ."',
            f"{ONE}/blocks/total = 1000000000",
        ],
        [
            "tiny.one: blocks.total: 1000000000 in the record, ",
            "tiny.one: controls: 2 entries in the record, 1 when judged again",
            "tiny.one: certificate: 1e-12 in the record, None when judged again",
            "tiny.one: looks: 1 in the record",
            "tiny.one: file: ../other.py in the record, ",
            "tiny.one: registration: 0000000000000000 in the record",
        ],
    ),
    "the set that is shown": (
        [f"{ONE}/draw = 2", f"{ONE}/draws = 2"],
        ["tiny.one: draws: 2 in the record, 1 when"],
    ),
    "sets that were drawn": (
        ["INSERT INTO draws SELECT 0, claim, tier, registration, '9', code FROM draws LIMIT 1"],
        [": draw: 1 in the record, 2 when"],
    ),
    "an invented claim": ([another_claim], ["tiny.four: is no claim of this checkout"]),
    "a claim left out": ([ONE], ["tiny.one: is run in the tier standard, and the record lacks it"]),
    "a claim without a verdict": (
        [
            f'{ONE}/state = "NOT RUN"',
            f"{ONE}/verdict = null",
            f'{ONE}/outcome = "skipped"',
            f"{ONE}/components = []",
            f'{ONE}/reason = "time: 9m"',
        ],
        ["tiny.one: has no verdict: NOT RUN, time: 9m"],
    ),
    "an invented hunt": ([another_hunt], [NO_HUNT.replace("mean", "one")]),
    "a hunt left out": (
        ["claims/tiny.mean/hunt = null"],
        ["tiny.mean: verdict: REFUTED in the record, SUPPORTED when judged again"],
    ),
    "a confirmation": (["DELETE FROM confirmations"], [NO_HUNT]),
    "a confirmation's verdict": (["UPDATE confirmations SET verdict = 'SUPPORTED'"], [NO_HUNT]),
    "a confirmation's evidence": (
        ["UPDATE blocks SET registration = 'x' || registration WHERE cell LIKE 'length=32%'"],
        [NO_HUNT],
    ),
    "a hunt's figures": (
        ["claims/tiny.mean/components/0/estimate = 1.5"],
        ["tiny.mean: components.0.estimate: 1.5 in the record"],
    ),
}
"""Forgeries by name: edits of the record or the ledger, and parts of the messages."""


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forgery_is_found(run: Run, tmp_path: Path, capsys: Printed, kind: str) -> None:
    edits, says = FORGERIES[kind]
    forge(run, *edits)
    assert check(run, tmp_path) == 1
    text = capsys.readouterr().out
    assert not [each for each in says if each not in text], text
    assert "\x1b" not in text


VIEW = "ALTER TABLE blocks RENAME TO other; CREATE VIEW blocks AS SELECT * FROM other"
TRIGGER = "CREATE TRIGGER more AFTER INSERT ON blocks BEGIN DELETE FROM blocks; END"


def of_unknown_code(run: Run) -> None:
    """Let the ledger be of other code, and the record of no commit."""
    run.ledger.execute("UPDATE codes SET code = 'x' || code")
    run.record["suite"]["commit"] = None


UNUSABLE: dict[str, tuple[Edit, str]] = {
    "code": ("UPDATE codes SET code = 'x' || code", "was made with other code"),
    "unknown code": (of_unknown_code, "in a checkout of its code, commit unknown"),
    "a view": (VIEW, "views or triggers"),
    "a trigger": (TRIGGER, "views or triggers"),
    "a version": ("PRAGMA user_version = 4", "was written by an older version"),
    "a tier": ('suite/tier = "all"', "a record of tier 'all'"),
    "a seed": ("suite/seed = -1", "and seed -1"),
    "a record": (lambda run: run.record.clear(), "the record has the format None"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_checked_gives_one_clear_error(
    run: Run, tmp_path: Path, capsys: Printed, kind: str
) -> None:
    spoilt, says = UNUSABLE[kind]
    forge(run, spoilt)
    assert check(run, tmp_path) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_files_that_are_too_large_or_not_there_are_refused(
    run: Run, tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(run, tmp_path) == 0
    files = [str(tmp_path / "ledger"), str(tmp_path / "report.json")]
    for given, says in (
        ([files[0], "gone"], "gone: no such file"),
        (["gone", files[1]], "gone: no such file; name a ledger"),
        ([files[1], files[1]], "damaged or no ledger"),
        ([*files, "--time-limit", "5"], "--time-limit takes a time"),
        ([*files, "-k", "tiny.oen"], "no claim with 'tiny.oen' in its id (did you mean tiny.one?)"),
    ):
        assert main(["check", *given]) == 2
        assert says in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file, "LARGEST", 200)
        assert main(["check", *files]) == 2
        assert "too big" in capsys.readouterr().err
    monkeypatch.setattr(command, "LARGEST_RECORD", 1000)
    assert main(["check", *files]) == 2
    assert "larger than any record" in capsys.readouterr().err


def test_a_run_that_goes_on_can_be_checked(run: Run, tmp_path: Path) -> None:
    """The ledger of such a run has a write-ahead log."""
    run.ledger.execute("INSERT INTO codes VALUES ('newest', '{}')")
    assert (tmp_path / "ledger-wal").stat().st_size
    (tmp_path / "report.json").write_text(json.dumps(run.record), encoding="utf-8")
    assert main(["check", str(tmp_path / "ledger"), str(tmp_path / "report.json")]) == 0
    assert np.isfinite(run.block(0)["value"]).all()
