"""If a report cannot be written, the run says so and still shows the verdicts."""

import errno
import os
import tempfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from recall_reports.record import files
from tests.apart import saved
from tests.faults.conftest import HEAD, LEDGER, Suite, written


def test_a_folder_that_cannot_be_is_refused_before_anything_is_simulated(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one")
    (suite.folder / "taken").touch()
    taken = suite.run("--report-dir", "taken/report", status=4)
    (suite.folder / "mine").mkdir()
    (suite.folder / "mine" / "thesis.tex").touch()
    mine = suite.run("--report-dir", "mine", status=4)

    def read_only(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)  # root may write in any real folder
    locked = suite.run("--report-dir", "locked/deep", status=4)
    assert f"written to {suite.folder / 'taken'} (Not a directory); name another" in taken.text
    assert f"written to {suite.folder} (Read-only file system); name another" in locked.text
    assert "holds other things than a report, such as 'thesis.tex'; name a new" in mine.text
    assert not (suite.folder / ".recall-claims").exists()


def test_paths_belong_to_where_the_command_was_typed(suite: Suite) -> None:
    """Default paths are relative to pytest's rootdir, and do not depend on the current folder."""
    suite.write("one")
    (suite.folder / "sub").mkdir()
    sub = replace(suite, folder=suite.folder / "sub", file=f"../{suite.file}")
    sub.run_apart("--ledger", "ledger.sqlite", "--report-dir", "there")
    sub.run_apart("--ledger", "ledger.sqlite", "--baseline", "there/report.json")
    assert suite.report()["suite"]["blocks"]["reused"] == sub.kept("ledger.sqlite") > 0
    assert {path.name for path in sub.folder.iterdir()} == {"ledger.sqlite", "there"}


def test_a_run_without_a_commit_or_with_a_new_ledger_says_so(suite: Suite) -> None:
    suite.write("one")
    first, second = suite.run(), suite.run()
    assert f"new ledger {LEDGER}" in " ".join(first.text.split())
    assert "new ledger" not in second.text
    assert "the record names no commit, so nobody can check it: fatal: not a git" in first.text
    saved(suite.folder, {})
    assert "names no commit" not in suite.run().text


def test_a_part_of_the_claims_does_not_replace_the_report_of_more(suite: Suite) -> None:
    suite.write("one", "two")
    suite.run()
    for options in (("-k", "one"), ("--deselect", f"{suite.file}::tiny.one")):
        part = suite.run(*options)
        assert "has 1 claim that this run left out, and stays as it is" in part.text
        assert {*suite.states()} == {"tiny.one", "tiny.two"}
        assert len(suite.claims("reports/part")) == 1
    suite.write_text(HEAD + written("one", ("predict=predict", "predict=double")) + written("two"))
    suite.run_apart(status=1)
    for first in ("-x", "--lf"):
        part = suite.run_apart(".", first, "-p", "cacheprovider", status=1)
        assert "has 1 claim that this run left out, and stays as it is" in part.text
        assert {*suite.states()} == {"tiny.one", "tiny.two"}
    suite.run("-k", "one", "--report-dir", "reports/latest", status=None)
    assert {*suite.states()} == {"tiny.one"}, "as it was asked for"
    suite.run()
    assert {*suite.states()} == {"tiny.one", "tiny.two"}
    suite.write("two")
    gone = suite.run_apart()
    assert {*suite.states()} == {"tiny.two"}, "the other claim is gone for good"
    assert "left out" not in gone.text


def test_a_folder_that_can_no_longer_be_written_to(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one")
    locked, write = suite.folder / "locked", files.replace
    locked.mkdir(mode=0o500)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: BytesIO())  # the first check passes

    def as_nobody(path: Path, content: bytes) -> Path:
        os.seteuid(65534)
        try:
            return write(path, content)
        finally:
            os.seteuid(0)

    if os.geteuid() == 0:  # root may write everywhere: let another user write the report
        monkeypatch.setattr(files, "replace", as_nobody)
    result = suite.run("--report-dir", "locked/report", status=1)
    for says in ("no report was written", "locked", "SUPPORTED"):
        assert says in result.text
    assert "Traceback" not in result.text
    assert list(locked.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "text") for name in ("report.json", "report.html", "report.md")),
        *(("report.md", kind) for kind in ("empty", "link to nothing", "folder")),
    ],
)
def test_a_file_that_is_none_of_a_report_is_not_replaced(
    suite: Suite, name: str, kind: str
) -> None:
    suite.write("one")
    folder = suite.folder / "mine"
    folder.mkdir()
    path = folder / name
    if kind == "folder":
        path.mkdir()
    elif kind == "link to nothing":
        path.symlink_to("nowhere")
    else:
        path.write_text("# My report\n" if kind == "text" else "")
    result = suite.run("--report-dir", "mine", status=4)
    assert f"{path} was not written by this program" in result.text
    assert "--report-dir" in result.text
    assert [*folder.iterdir()] == [path]
    assert not (suite.folder / ".recall-claims").exists(), "it was simulated for nothing"
