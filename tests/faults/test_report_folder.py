"""A report that cannot be written says so; the verdicts are shown all the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_reports import files
from tests.faults.conftest import Suite


def test_report_folder_is_a_file(suite: Suite) -> None:
    suite.write("one")
    (suite.folder / "taken").touch()
    _expect_write_error(suite, "taken/report")


def test_read_only_report_folder(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.write("one")
    locked = suite.folder / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:  # root may write everywhere: let another user write the report
        monkeypatch.setattr(files, "replace_text", _as_nobody(files.replace_text))
    _expect_write_error(suite, "locked/report")
    assert list(locked.iterdir()) == []


def _as_nobody(write: Callable[[Path, str], Path]) -> Callable[[Path, str], Path]:
    def written(path: Path, text: str) -> Path:
        os.seteuid(65534)
        try:
            return write(path, text)
        finally:
            os.seteuid(0)

    return written


def _expect_write_error(suite: Suite, folder: str) -> None:
    result = suite.run("--report-dir", folder)
    assert result.status == pytest.ExitCode.INTERNAL_ERROR, result.text
    assert "no report was written" in result.text
    assert folder.split("/")[0] in result.text
    assert "SUPPORTED" in result.text
    assert "Traceback" not in result.text
