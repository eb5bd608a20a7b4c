"""Records and texts that nobody foresaw: a clean error, or a report."""

import io
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from recall_reports import formula, html, markdown
from recall_reports.compare import diff
from recall_reports.errors import ReportError
from recall_reports.files import validated
from recall_reports.terminal import print_verdicts
from recall_reports.text import clean
from tests.reports import sample

PIECES = [
    *("\\text{", "\\mbox{", "\\href{", "\\style{", "\\hbox{", "\\frac", "\\left(", "\\hspace{"),
    *("{", "}", "[", "]", "$", "`", "``", "^", "_", "-0.5", "\\", "&", "\n", " ", "|", "*", "~~"),
    *("<script>", "</script>", "<!--", "]]>", "&lt;", "&#x3c;", "\x1b[2J", "\ud800", "\0", "@a"),
    *("#1", "https://a.b", "x", "url(a)", "javascript:a", "'", '"', "![a](b)", "<b a=b>", "\r"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)
VALUES = TEXTS | st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.just([]), st.just({})),
    *(st.lists(TEXTS, max_size=2), st.dictionaries(TEXTS, st.floats(), max_size=2)),
)
TAGS = {*formula.ELEMENTS, "code", "p", "sub", "sup"}
MANY = [100, pytest.param(2000, marks=pytest.mark.thorough)]


@pytest.mark.parametrize("examples", MANY)
def test_no_text_becomes_markup(examples: int) -> None:
    reader = MarkdownIt().enable(["table", "strikethrough"])

    @settings(max_examples=examples, deadline=None)
    @given(TEXTS)
    def check(text: str) -> None:
        text = clean(text)
        for made in (formula.inline(text), formula.prose(text), formula.mathml(text)):
            root = ElementTree.fromstring(f"<p>{made}</p>")
            assert {node.tag.rpartition("}")[2] for node in root.iter()} <= TAGS
            given_names = {name for node in root.iter() for name, _ in node.items()}
            assert given_names <= {*formula.ATTRIBUTES, "class"}
        cell = reader.parse(f"| a | b |\n|-|-|\n| {markdown.escaped(text)} | z |\n")
        lines = [token for token in cell if token.type == "inline"]
        assert [line.content for line in lines[::3]] == ["a", "z"]
        assert {part.type for part in lines[2].children or []} <= {"text"}

    check()


@pytest.mark.parametrize("examples", MANY)
def test_a_changed_record_is_refused_or_reported(examples: int) -> None:
    """One value is replaced by another, anywhere."""
    report = sample.record()
    for claim in report.claims:
        claim.plot, claim.cells = None, claim.cells[:1]
    text = msgspec.json.encode(report)

    @settings(max_examples=examples, deadline=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        plain = msgspec.json.decode(text)
        part: Any = plain
        while True:
            keys = list(part) if isinstance(part, dict) else range(len(part))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.booleans()):
                break
            part = part[key]
        part[key] = data.draw(VALUES)
        try:
            found = validated(plain)
        except ReportError:
            return
        for form in (html, markdown):
            form.render(found).encode()
        said = io.StringIO()
        print_verdicts(found, Console(file=said))
        diff.print_changes(diff.changes(report, found), Console(file=said))
        assert not set("\x1b\x9b\r") & set(said.getvalue())

    check()
