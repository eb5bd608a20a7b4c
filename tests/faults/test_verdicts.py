"""A claim is judged again if, and only if, something that its verdict depends on has changed."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall_claims.plugin import verdicts
from tests.faults.conftest import LEDGER, PAPER, Suite, edited, judged, reported
from tests.faults.test_changes import ADD, CLAIM, CONFTEST, FORMULA, SUITE

KEPT = "1 claim as judged before: code, settings and evidence are the same"
COUNTED = edited(
    FORMULA,
    ("def mean", "from pathlib import Path\n\nfrom theory import other\n\n\ndef mean"),
    (
        "    return",
        '    with Path("calls").open("a") as file:\n        file.write("x")\n    return',
    ),
)
"""A theory that writes down each of its evaluations."""

Change = Callable[[Path], object]


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run(folder: Path, *options: str, status: int = 0) -> str:
    """Judge the suite in a folder; return the output."""
    arguments = ("claims", "--tier", "smoke", "-p", "recall_claims.plugin", *options)
    result = judged(folder, *arguments, "-p", "no:cacheprovider")
    assert result.status == status, result.text
    return result.text


def row(folder: Path) -> dict[str, Any]:
    """Return the claim of the latest report, with only a total as its count of blocks."""
    [claim] = reported(folder / "reports" / "latest")["claims"]
    claim["blocks"] = claim["blocks"]["total"]
    found: dict[str, Any] = claim
    return found


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    put(folder, SUITE | {"theory/tiny.py": COUNTED, "theory/other.py": ""})
    assert KEPT not in run(folder)
    return folder


@pytest.fixture
def again(origin: Path, tmp_path: Path) -> Path:
    """A copy of a suite whose claim was judged."""
    return shutil.copytree(origin, tmp_path / "again")


def file(name: str, text: str) -> Change:
    return lambda folder: put(folder, {name: text})


def sql(text: str) -> Change:
    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / LEDGER)) as database, database:
            assert database.execute(text).rowcount != 0

    return change


def test_an_unchanged_claim_is_not_judged_again(origin: Path, again: Path) -> None:
    evaluations = (again / "calls").stat().st_size
    assert KEPT in run(again)
    assert (again / "calls").stat().st_size == evaluations > 0
    assert row(again) == row(origin)
    assert reported(again / "reports/latest")["suite"]["blocks"]["reused"] == row(again)["blocks"]


CHANGES: dict[str, Change] = {
    "a formula": file("theory/tiny.py", COUNTED.replace("1.0", "1.00")),
    "another module of theory": file("theory/other.py", "ONE = 1\n"),
    "data of the theory": file("theory/table.txt", "1.0"),
    "a text of the claim": file("claims/test_tiny.py", CLAIM.replace("wide enough", "wide")),
    "the paper": file("claims/paper.toml", PAPER.replace("has its value", "is its value")),
    "code for all claims": file("claims/conftest.py", CONFTEST.replace(ADD, f"{ADD}\nONE = 1\n")),
    "a row that cannot be read": sql("UPDATE verdicts SET row = substr(row, 2)"),
    "a row of something else": sql("UPDATE verdicts SET row = '{}'"),
    "a row with another command": sql(
        """UPDATE verdicts SET row = replace(row, '"pytest ', '"rm ')"""
    ),
    "a missing block": sql("DELETE FROM blocks WHERE block = 0"),
    "a damaged block": sql("UPDATE blocks SET payload = x'00' WHERE block = 0"),
    "a ledger of before": sql("DROP TABLE verdicts"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_has_the_claim_judged_again(again: Path, name: str) -> None:
    CHANGES[name](again)
    assert KEPT not in run(again)
    if name == "a text of the claim":
        assert row(again)["why"].startswith("wide to be decided")


def test_another_error_budget_has_the_claim_judged_again(again: Path) -> None:
    assert KEPT not in run(again, "--error-budget=0.002")


def test_each_seed_has_its_verdict(origin: Path, again: Path) -> None:
    assert KEPT not in run(again, "--seed=1")
    assert KEPT in run(again)
    assert row(again)["components"] == row(origin)["components"]
    assert row(again)["draws"] == 2


def test_a_library_or_its_dependencies_may_change(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one")
    assert KEPT not in suite.run().text
    assert KEPT in suite.run().text
    library = verdicts._library()
    assert library.keys() > {"recall_claims/judge/methods.py", "recall_reports/record/values.py"}
    for name, other in (("versions", "another"), ("_library", {**library, "more": Path(__file__)})):
        monkeypatch.setattr(verdicts, name, lambda other=other: other)
        verdicts._files.cache_clear()
        assert KEPT not in suite.run().text
        assert KEPT in suite.run().text


def test_a_file_edited_during_a_run_leaves_no_verdict(again: Path) -> None:
    """The run may have imported the file before the edit."""
    edited_later = again / "theory" / "other.py"
    edited_later.write_text("ONE = 1\n")
    os.utime(edited_later, (2**33, 2**33))
    for _ in range(2):
        assert KEPT not in run(again)


def test_a_claim_that_failed_fails_again(again: Path) -> None:
    put(again, {"theory/tiny.py": COUNTED.replace("1.0", "1.30")})
    texts = [run(again, status=1) for _ in range(2)]
    assert [KEPT in text for text in texts] == [False, True]
    failures = [text[text.index("FAILURES") : text.index("REFUTED tiny.mean")] for text in texts]
    assert failures[0] == failures[1]
    assert row(again)["verdict"] == "REFUTED"
