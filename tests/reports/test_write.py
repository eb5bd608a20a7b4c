"""All forms of a report are written together, the record first."""

import errno
import os
from pathlib import Path

import pytest

from recall_reports import html
from recall_reports.errors import ReportError
from recall_reports.files import load
from recall_reports.record import Record
from recall_reports.write import render, write


def test_writes_all_forms(tmp_path: Path, report: Record) -> None:
    paths = write(report, tmp_path / "latest")
    assert {kind: path.name for kind, path in paths.items()} == {
        "json": "report.json",
        "html": "report.html",
        "md": "report.md",
        "svg": "summary.svg",
    }
    assert sorted(p.name for p in (tmp_path / "latest").iterdir()) == sorted(
        path.name for path in paths.values()
    )
    assert load(paths["json"]) == report


def test_rendering_again_gives_the_same_files(tmp_path: Path, report: Record) -> None:
    first = write(report, tmp_path / "a")
    second = render(load(first["json"]), tmp_path / "b")
    for kind, path in second.items():
        assert path.read_bytes() == first[kind].read_bytes()


def test_record_survives_a_failure_of_the_page(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Record) -> str:
        raise RuntimeError("template")

    monkeypatch.setattr(html, "render", broken)
    with pytest.raises(RuntimeError, match="template"):
        write(report, tmp_path)
    assert load(tmp_path / "report.json") == report


def test_directory_that_cannot_be_made(tmp_path: Path, report: Record) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReportError, match="cannot be written"):
        write(report, tmp_path / "file" / "latest")


def test_full_disk_in_the_middle(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write(report, tmp_path)
    before = {kind: path.read_bytes() for kind, path in paths.items()}
    replace = os.replace

    def full(source: str, target: Path) -> None:
        if target.name == "report.html":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ReportError, match=r"report\.html: cannot be written \(No space"):
        write(report, tmp_path)
    assert {kind: path.read_bytes() for kind, path in paths.items()} == before
