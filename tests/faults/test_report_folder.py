"""A report that cannot be written says so; the verdicts are shown all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.conftest import Suite


def test_report_folder_is_a_file(suite: Suite) -> None:
    suite.write("one")
    (suite.folder / "taken").touch()
    _expect_trouble(suite, "taken/report")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_report_folder(suite: Suite, tmp_path: Path) -> None:
    suite.write("one")
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    _expect_trouble(suite, "locked/report")


def _expect_trouble(suite: Suite, folder: str) -> None:
    result = suite.run("--report-dir", folder)
    assert result.status == pytest.ExitCode.INTERNAL_ERROR, result.text
    assert "no report was written" in result.text
    assert folder.split("/")[0] in result.text
    assert "SUPPORTED" in result.text
    assert "Traceback" not in result.text
