"""All forms of a report are written together, the record first."""

from pathlib import Path

import pytest

from recall_reports import html, markdown
from recall_reports.record import Record
from recall_reports.record.errors import ReportError
from recall_reports.record.files import load
from recall_reports.write import render, write
from tests.reports import sample


def test_writes_all_forms(tmp_path: Path, report: Record) -> None:
    paths = write(report, tmp_path / "latest")
    assert {kind: path.name for kind, path in paths.items()} == {
        "json": "report.json",
        "html": "report.html",
        "md": "report.md",
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


def test_a_form_that_breaks_takes_no_other_along(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Record, **_options: bool) -> str:
        raise RuntimeError("template")

    monkeypatch.setattr(html, "render", broken)
    monkeypatch.setattr(markdown, "render", lambda _: "\ud800")
    written: dict[str, Path] = {}
    with pytest.raises(ReportError) as raised:
        write(report, tmp_path, written)
    said = str(raised.value)
    assert "report.html: cannot be made (RuntimeError: template)" in said
    assert "report.md: cannot be made (UnicodeEncodeError: " in said
    assert list(written) == ["json"]
    assert sorted(tmp_path.iterdir()) == sorted(written.values())
    assert load(tmp_path / "report.json") == report


def test_control_characters_and_surrogates_are_written_out(tmp_path: Path, report: Record) -> None:
    bad = "\x01\x1b[31m\x9b\ud800\u202e\ufffe"
    report.claims = [sample.trigger_signal()]
    [claim] = report.claims
    assert claim.plot is not None
    claim.title = claim.reason = claim.latex = claim.plot.y_label = f"a{bad}"
    claim.symbols = {f"length{bad}": bad}
    paths = write(report, tmp_path)
    assert list(paths) == ["json", "html", "md"]
    shown = r"\x01\x1b[31m\x9b\ud800\u202e\ufffe"
    kept = load(paths["json"]).claims[0]
    assert kept.title == kept.latex == f"a{shown}"
    assert kept.symbols == {f"length{shown}": shown}
    for path in paths.values():
        assert not set(bad) - set("[31m") & set(path.read_text(encoding="utf-8"))


def test_a_file_of_somebody_else_is_not_replaced(tmp_path: Path, report: Record) -> None:
    (tmp_path / "report.md").write_text("# My report\n")
    for action in (write, render):
        with pytest.raises(ReportError, match=r"report\.md was not written by this program"):
            action(report, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
