"""Compare reports of the sample with the texts in `__snapshots__/test_golden/`.

Pages, documents and tables are stored whole. In a file of cases, such as `test_cases[refused].txt`,
lines `> ...` are a case, usually an edit of the sample. Lines `< ...` edit the record to compare
with. The answer follows. To add a case, write its lines. After a change of words, run

    pytest tests/reports/test_golden.py --snapshot-update

and read `git diff tests/reports`: users will read these texts.
"""

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from recall_reports import html, markdown
from tests.reports import golden, sample

FOLDER = Path(__file__).parent / "__snapshots__" / "test_golden"


class Text(SingleFileSnapshotExtension):
    """Extension for snapshots: each text has its own file."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def kept(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Read a stored text."""
    return snapshot.use_extension(Text)


def test_page(kept: SnapshotAssertion) -> None:
    assert golden.page(html.render(sample.record())) == kept


def test_interrupted_page(kept: SnapshotAssertion) -> None:
    assert golden.page(html.render(sample.interrupted())) == kept


def test_report(kept: SnapshotAssertion) -> None:
    assert markdown.render(sample.record()) == kept


def test_interrupted_report(kept: SnapshotAssertion) -> None:
    assert markdown.render(sample.interrupted()) == kept


def test_terminal(kept: SnapshotAssertion) -> None:
    assert golden.tables() == kept


def test_diff(kept: SnapshotAssertion) -> None:
    assert golden.changes() == kept


def answered(path: Path, answer: golden.Answer) -> str:
    """Answer each case of a file, and keep comments, `# ...`."""
    blocks = re.split(r"\n{2,}", path.read_text(encoding="utf-8").strip())
    made = []
    for block in blocks:
        lines = [line for line in block.splitlines() if line[:2] in ("> ", "< ", "# ")]
        new, old = ([line[2:] for line in lines if line.startswith(mark)] for mark in "><")
        made.append("\n".join([*lines, *([answer(new, old)] if new else ())]))
    return "\n\n".join(made) + "\n"


@pytest.mark.parametrize("name", golden.CASES)
def test_cases(name: str, kept: SnapshotAssertion) -> None:
    assert answered(FOLDER / f"test_cases[{name}].txt", golden.CASES[name]) == kept
