"""A record is checked when written and read, and writing a report never destroys an earlier one.

`__snapshots__/` has the refused records.
"""

import errno
import math
import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from recall_claims.model.cell import Cell
from recall_reports import html, markdown
from recall_reports.__main__ import main
from recall_reports.record import Range, Record, certificates
from recall_reports.record.certificates import Certificate, Certificates
from recall_reports.record.files import ReportError, dump, load, validated
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


@pytest.mark.parametrize("end", [1e308, -1e308])
def test_a_region_whose_width_is_no_number_is_refused(report: Record, end: float) -> None:
    report.claims[0].components[0].region = Range(min(end, 0), max(end, 0))
    with pytest.raises(ReportError, match=r"1e\+300"):
        validated(report)


@pytest.mark.parametrize("size", [1e308, -1e308, 10**400])
def test_a_size_that_no_axis_has_is_refused(report: Record, size: float) -> None:
    claim = next(claim for claim in report.claims if claim.cells)
    claim.cells[0].params = {"dim": size}
    with pytest.raises(ReportError, match=r"params"):
        validated(report)
    if isinstance(size, int):
        with pytest.raises(ValueError, match="dim has more than 64 bits"):
            Cell(dim=size)


UNSEEN = ("A.b\n", "::error::", "\u0410.b", "A b", "budget", "statement-A1", "derivation-x.y")


@pytest.mark.parametrize("name", UNSEEN)
def test_an_id_is_what_it_seems_to_be(report: Record, name: str) -> None:
    report.claims[0].id = name  # one has a Cyrillic twin of A, some are ids of the page's own
    with pytest.raises(ReportError, match="matching regex"):
        validated(report)


@pytest.mark.parametrize("name", ["", " A", "A\n", "\u0410"])
@pytest.mark.parametrize("what", ["key", "statement", "control"])
def test_a_name_has_no_twin(report: Record, what: str, name: str) -> None:
    if what == "key":
        report.papers[0].key = name
    elif what == "statement":
        report.papers[0].statements[0].id = name
    else:
        report.claims[0].controls[0].id = name
    with pytest.raises(ReportError, match="matching regex"):
        validated(report)


def test_marks_that_nobody_sees_are_shown(report: Record) -> None:
    report.claims[0].title = "a\u200bb\u200fc\ufeffd\u2066e"
    assert validated(report).claims[0].title == r"a\u200bb\u200fc\ufeffd\u2066e"


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


def test_rendering_again_gives_the_same_files(tmp_path: Path, report: Record) -> None:
    first = write(report, tmp_path / "a")
    second = render(load(first["json"]), tmp_path / "b")
    for kind, path in second.items():
        assert path.read_bytes() == first[kind].read_bytes()


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


def test_a_certificate_speaks_of_one_registration(tmp_path: Path) -> None:
    one = Certificate(
        registration="abc",
        alpha=4e-6,
        refutes=1e-6,
        supports=2e-6,
        worlds=3,
        least=5e-7,
        stress=1e-6,
    )
    file = tmp_path / "certificates.json"
    file.write_bytes(msgspec.json.encode(Certificates(tier="standard", claims={"A.one": one})))
    kept = certificates.load(file)
    assert kept.of("A.one", "standard", "abc") == one
    assert kept.of("A.one", "standard", "abd") is None
    assert kept.of("A.one", "smoke", "abc") is None
    assert kept.of("A.two", "standard", "abc") is None


def test_a_file_without_certificates_is_told(tmp_path: Path) -> None:
    file = tmp_path / "certificates.json"
    assert certificates.load(file).claims == {}
    file.write_text('{"tier": "standard", "claims": {"A.one": {"alpha": 2}}}')
    with pytest.raises(ReportError, match="write it again with `python -m recall_claims certify`"):
        certificates.load(file)
