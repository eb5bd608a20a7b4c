"""A record is checked when written and read, and writing a report never destroys an earlier one.

`__snapshots__/test_golden/test_cases[refused].txt` lists edits of a record that are refused.
"""

import errno
import math
import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from recall_reports import html, markdown
from recall_reports.__main__ import main
from recall_reports.record import Range, Record, certificates
from recall_reports.record.certificates import Certificate, Certificates
from recall_reports.record.files import ReportError, dump, load
from recall_reports.write import render, write
from tests.reports import sample


def test_all_forms_are_written_and_the_record_is_read_as_it_was(
    tmp_path: Path, report: Record
) -> None:
    paths = write(report, tmp_path / "deep" / "latest")
    assert {kind: path.name for kind, path in paths.items()} == {
        "json": "report.json",
        "html": "report.html",
        "md": "report.md",
    }
    assert sorted((tmp_path / "deep" / "latest").iterdir()) == sorted(paths.values())
    found = load(paths["json"])
    assert found.usual
    assert found == replace(report, usual=found.usual)


def test_an_open_end_is_infinite() -> None:
    for ends in ((-math.inf, 3.0), (-1.0, math.inf), (-math.inf, math.inf), (1.0, 2.0)):
        assert Range.of(*ends).ends == ends
    assert Range.of(-math.inf, 3.0) == Range(None, 3.0)


VERSION = b'{"schema": "recall-claims/4"'
DAMAGED = "not a JSON record"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", DAMAGED),
        (b"", DAMAGED),
        (b"\0", DAMAGED),
        (b"\xff\xfe\x00", DAMAGED),
        (b"[" * 300_000 + b"]" * 300_000, DAMAGED),
        (b'{"a":' * 300_000, DAMAGED),
        (VERSION + b', "x": ' + b"[" * 700 + b"]" * 700 + b"}", "invalid record: the record"),
        (VERSION + b', "x": "\xed\xa0\x80"}', DAMAGED),
        (VERSION + b"}", "missing required field `suite`"),
        (b"[1, 2]", "format None"),
        (b'{"schema": "recall-claims/3"}', "reads 'recall-claims/4': run `pytest claims/` for a n"),
        (None, "no such file; run `pytest claims/`"),
        ("a folder", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_gives_one_clear_error(
    tmp_path: Path, content: bytes | str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    assert main(["show", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"recall_reports: {path}: ")
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_keeps_previous(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = dump(report, tmp_path / "report.json")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    report.suite.seed = 1
    with pytest.raises(ReportError, match=r"No space left on device.*unchanged"):
        dump(report, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_invalid_record_is_not_written(tmp_path: Path, report: Record) -> None:
    report.claims[0].verdict = None
    with pytest.raises(ReportError):
        write(report, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_form_that_breaks_takes_no_other_along(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("template")

    monkeypatch.setattr(html, "render", broken)
    monkeypatch.setattr(markdown, "render", lambda *_: "\ud800")
    written: dict[str, Path] = {}
    with pytest.raises(ReportError) as raised:
        write(report, tmp_path, written)
    said = str(raised.value)
    assert "report.html: cannot be made (RuntimeError: template)" in said
    assert "report.md: cannot be made (UnicodeEncodeError: " in said
    assert list(written) == ["json"]
    assert sorted(tmp_path.iterdir()) == sorted(written.values())
    assert load(tmp_path / "report.json").claims == report.claims


def test_control_characters_and_surrogates_are_written_out(tmp_path: Path, report: Record) -> None:
    bad = "\x01\x1b[31m\x9b\ud800\u202e\ufffe\u200b\u200f\ufeff\u2066"
    report.claims = [sample.trigger_signal()]
    [claim] = report.claims
    assert claim.plot is not None
    claim.title = claim.reason = claim.latex = claim.plot.y_label = f"a{bad}"
    claim.symbols = {f"length{bad}": bad}
    paths = write(report, tmp_path)
    assert list(paths) == ["json", "html", "md"]
    shown = bad.encode("unicode_escape").decode("ascii")
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


def test_a_certificate_is_of_one_registration_and_another_file_is_refused(
    tmp_path: Path,
) -> None:
    chances = {"alpha": 4e-6, "refutes": 1e-6, "supports": 2e-6, "least": 5e-7, "stress": 1e-6}
    one = Certificate(registration="abc", worlds=3, **chances)
    file = tmp_path / "certificates.json"
    assert certificates.load(file).claims == {}
    file.write_bytes(msgspec.json.encode(Certificates(tier="standard", claims={"A.one": one})))
    asked = [("A.one", "standard", "abc"), ("A.one", "standard", "abd"), ("A.one", "smoke", "abc")]
    asked.append(("A.two", "standard", "abc"))
    assert [certificates.load(file).of(*each) for each in asked] == [one, None, None, None]
    file.write_text('{"tier": "standard", "claims": {"A.one": {"alpha": 2}}}')
    with pytest.raises(ReportError, match="write it again with `python -m recall_claims certify`"):
        certificates.load(file)
