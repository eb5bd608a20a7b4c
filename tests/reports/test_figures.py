"""The pages print what the record and the declarations say, and their comments show nowhere."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from recall_claims import CriticalLocation
from recall_claims.predictions import predictions
from recall_reports import phrases
from recall_reports.record.files import load
from tests import figures
from tests.every_claim import imported

DOCS = figures.ROOT / ".github" / "docs"
README = figures.ROOT / "README.md"
FINDINGS = DOCS / "findings.md"
SWITCH = "<!-- figures: reports/baseline.json -->\n"


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_every_figure_is_that_of_the_record(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    right, wrong = figures.checked(text)
    assert not wrong, "mend this, or run `python -m tests.figures --write`"
    assert right == text


LAST = re.compile(r"(\d)[^\d<]*(<!--\s*(?:suite|[A-Z]\.)[^>]*-->)")
"""The last digit before a comment that says what it is."""


@pytest.mark.parametrize("page", [README, FINDINGS, DOCS / "glossary.md"], ids=lambda p: p.name)
def test_any_other_figure_and_a_lost_comment_are_noticed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blank = figures._LITERAL.sub(lambda literal: " " * len(literal.group()), text)
    named = list(LAST.finditer(blank))
    assert named
    for found in named[:: max(1, len(named) // 12)]:
        at, (begin, end) = found.start(1), found.span(2)
        other = str((int(found[1]) + 5) % 10)
        assert figures.checked(text[:at] + other + text[at + 1 :])[1], found
        assert figures.checked(text[:begin] + text[end:])[1], found


def test_another_verdict_is_noticed() -> None:
    text, count = re.subn(r"\bSURVIVES\b", "BREAKS", FINDINGS.read_text(encoding="utf-8"))
    assert len(figures.checked(text)[1]) >= count > 0


def test_the_figures_of_the_record_are_put_in_their_place() -> None:
    comment = "<!-- A.critical-samples: estimate low at-most -->"
    text = f"{SWITCH}At `d = 24` it is 7.00 [0.1, 99%] of N. {comment}\n"
    right, wrong = figures.checked(text)
    assert len(wrong) == 3
    record = load(figures.ROOT / "reports" / "baseline.json")
    [head] = [one.head for one in record.claims if one.id == "A.critical-samples"]
    assert head is not None
    assert right == f"{SWITCH}At `d = 24` it is {head.estimate:.2f} [0.9, 13%] of N. {comment}\n"
    assert figures.checked(right) == (right, [])


@pytest.mark.parametrize(
    ("prose", "says"),
    [
        ("It is 0.96.", "names 0 figures"),
        ("It is right. <!-- A.critical-samples: estimate -->", "names 1 figures"),
        ("It is 0.96. <!-- A.no-such-claim: estimate -->", "not one A.no-such-claim"),
        ("It is 0.96. <!-- A.critical-samples: beauty -->", "not one beauty"),
        ("It is 0.96. <!-- A.critical-samples -->", "claims: fields"),
        ("It BREAKS. <!-- A.critical-samples: verdict -->", "has SUPPORTED"),
        ("It is 8 times that. <!-- E.batch-overshoot: estimate -->", "no ratio"),
        ("It is 34 more. <!-- E.spectral-beats-gradient: estimate -->", "say so"),
        ("They hold. <!-- suite: joy -->", "no joy"),
    ],
)
def test_what_cannot_be_checked_is_said(prose: str, says: str) -> None:
    [wrong] = figures.checked(SWITCH + prose)[1]
    assert says in wrong


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_no_comment_divides_a_paragraph(page: Path) -> None:
    def blocks(text: str) -> list[str]:
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        return [token.type for token in tokens if token.type != "html_block"]

    text = page.read_text(encoding="utf-8")
    without = re.sub(r"^ *<!--[^>]*-->\n|<!--[^>]*-->", "", text, flags=re.MULTILINE)
    assert "<!--" not in without
    assert blocks(text) == blocks(without)
    assert "&lt;!--" not in MarkdownIt("commonmark").enable("table").render(text)


def test_the_claims_without_a_regime_are_counted() -> None:
    page = (DOCS / "regimes.md").read_text(encoding="utf-8")
    claims = imported().values()
    without = [claim for claim in claims if claim.regime is None]
    assert f"{len(claims) - len(without)} claims have a regime that can be searched." in " ".join(
        page.split()
    )
    maps = ("Exponents", "CriticalExponents", "WinnerShare")
    said: dict[str, list[str]] = {
        "exploratory claims": [claim.id for claim in without if claim.exploratory],
        "claims expected to be REFUTED": [c.id for c in without if c.expected == "REFUTED"],
        "exponents of limits and of critical values, shares of a map": [
            c.id
            for c in without
            if type(c.rule).__name__ in maps and c.expected == "SUPPORTED" and not c.exploratory
        ],
    }
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \|", page, re.MULTILINE)
    left = {claim.id for claim in without}
    for what, count in rows:
        names = re.findall(r"`([^`]+)`", what)
        row = said.get(what) or [i for i in left if any(fnmatch(i, name) for name in names)]
        assert len(row) == int(count), what
        left -= set(row)
    assert not left


def test_the_glossary_explains_every_outcome() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert [word for word in phrases.SYMBOLS if word not in page] == []


def test_a_region_narrower_than_a_stated_error_is_told_with_both() -> None:
    rule = imported()["A.mlp-offset-cost"].rule
    assert isinstance(rule, CriticalLocation)
    widest = max(abs(end - 1) for end in (rule.region.low, rule.region.high))
    [stated] = [
        entry.errors[0].at({})
        for entry in predictions()
        if entry.module == "theory.attention_mlp.recall" and entry.name == "critical_samples"
    ]
    page = (DOCS / "regimes.md").read_text(encoding="utf-8")
    assert "| `A.mlp-offset-cost` | 1 |" in page
    assert f"narrower than the stated error: {widest:.0%} against {stated:.0%} |" in page
