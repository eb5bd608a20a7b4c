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


TEXTS = {
    "page": lambda: golden.page(html.render(sample.record())),
    "interrupted-page": lambda: golden.page(html.render(sample.interrupted())),
    "report": lambda: markdown.render(sample.record()),
    "interrupted-report": lambda: markdown.render(sample.interrupted()),
    "terminal": golden.tables,
    "diff": golden.changes,
}


class Text(SingleFileSnapshotExtension):
    """Extension for snapshots: each text has its own file."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def kept(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Text)


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, kept: SnapshotAssertion) -> None:
    assert TEXTS[name]() == kept


@pytest.mark.parametrize("name", golden.CASES)
def test_cases(name: str, kept: SnapshotAssertion) -> None:
    """Answer each case of a file again; comments, `# ...`, stay."""
    file = FOLDER / f"test_cases[{name}].txt"
    made = []
    for block in re.split(r"\n{2,}", file.read_text(encoding="utf-8").strip()):
        lines = [line for line in block.splitlines() if line[:2] in ("> ", "< ", "# ")]
        new, old = ([line[2:] for line in lines if line.startswith(mark)] for mark in "><")
        made.append("\n".join([*lines, *([golden.CASES[name](new, old)] if new else ())]))
    assert "\n\n".join(made) + "\n" == kept
