"""`python -m recall_claims ledger merge`: half runs are the whole one, and bad blocks are named."""

import pytest

from recall_claims.__main__ import main
from tests.faults.conftest import LEDGER, Suite


def test_half_runs_merge_into_the_whole_one(suite: Suite) -> None:
    suite.write("one", "two")
    for name in ("one", "two"):
        suite.run("-k", name, "--ledger", f"{name}.sqlite")
    suite.run("--ledger", "whole.sqlite")
    whole = suite.figures()
    sets = suite.ask("SELECT * FROM draws ORDER BY claim", "whole.sqlite")
    halves = ["one.sqlite", "two.sqlite"]
    assert main(["ledger", "merge", *halves, "one.sqlite", "-o", "both.sqlite"]) == 0
    assert suite.ask("SELECT * FROM draws ORDER BY claim", "both.sqlite") == sets
    suite.run("--ledger", "both.sqlite")
    assert suite.figures() == whole
    blocks = suite.report()["suite"]["blocks"]
    assert blocks["reused"] == blocks["total"] == suite.kept("both.sqlite")
    for _ in range(2):
        assert main(["ledger", "merge", *halves, "-o", "both.sqlite"]) == 2
        assert "both.sqlite is there already" in suite.capture.readouterr().err
    assert main(["ledger", "merge", "one.sqlite", "gone.sqlite", "-o", "new.sqlite"]) == 2
    assert not {*suite.folder.glob("new.*"), *suite.folder.glob("gone.*")}


def test_confirmations_of_hunts_go_on_being_counted(suite: Suite) -> None:
    suite.write("one")
    for name, verdict in (("a", "REFUTED"), ("b", "SUPPORTED")):
        suite.run("--ledger", name)
        row = f"(7, 'tiny.one', '{{}}', '{name}', '{verdict}')"
        suite.ask(f"INSERT INTO confirmations VALUES {row}", name)
    assert main(["ledger", "merge", "a", "b", "-o", "both"]) == 0
    kept = suite.ask("SELECT number, key, verdict FROM confirmations", "both")
    assert kept == [(1, "a", "REFUTED"), (2, "b", "SUPPORTED")]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            "UPDATE blocks SET payload = (SELECT payload FROM blocks WHERE block = 1), "
            "checksum = (SELECT checksum FROM blocks WHERE block = 1) WHERE block = 0",
            "other.sqlite and one.sqlite have different results for block 0 of tiny.one at",
        ),
        ("UPDATE blocks SET payload = x'01'", "is no evidence (Input data was truncated)"),
        ("UPDATE blocks SET key = key || '0'", "it is kept under the key of another"),
        ("UPDATE blocks SET seed = 'seed'", "is no evidence (invalid literal"),
        ("UPDATE blocks SET claim = char(27)", r"block 0 of '\x1b' at 'scale=1.0' is no evidence"),
        ("UPDATE blocks SET replicates = 1 << 62", "bytes of values, where a block has at most"),
        ("UPDATE blocks SET replicates = -1", "bytes of values, where a block has at most"),
    ],
)
def test_bad_and_contradicting_blocks_are_refused_by_name(
    suite: Suite, edit: str, says: str
) -> None:
    suite.write("one")
    for name in ("one", "other"):
        suite.run("--ledger", f"{name}.sqlite")
    suite.ask(edit, "other.sqlite")
    before = [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")]
    assert main(["ledger", "merge", "one.sqlite", "other.sqlite", "-o", "both.sqlite"]) == 2
    error = suite.capture.readouterr().err
    assert says in error
    assert "other.sqlite" in error
    assert [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")] == before
    assert not (suite.folder / "both.sqlite").exists()
    assert not [*suite.folder.glob(".*")]
    assert LEDGER not in error
