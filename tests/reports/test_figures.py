"""Every figure of a page agrees with the record, or with the declarations."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from recall_claims import CriticalLocation
from recall_claims.model.predictions import predictions
from recall_reports import phrases
from tests import figures
from tests.every_claim import imported

DOCS = figures.ROOT / ".github" / "docs"
README = figures.ROOT / "README.md"
FINDINGS = DOCS / "findings.md"


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_every_figure_is_that_of_the_record(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    right, wrong = figures.checked(text)
    assert not wrong, "correct this, or run `python -m tests.figures --write`"
    assert right == text


@pytest.mark.parametrize("page", [README, FINDINGS, DOCS / "glossary.md"], ids=lambda p: p.name)
def test_any_other_figure_is_noticed_and_corrected(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = text.partition("<!--")[0]
    rows = [row for row in text[len(prose) :].splitlines() if re.search(r"\| \S+: ", row)]
    for row in rows[:: max(1, len(rows) // 12)]:
        quote = row.rpartition(" | ")[0]
        begin, end = figures.place(quote, prose)
        found = figures.figures(prose[begin:end])[-1]
        number = found[0][-1].isdigit()
        other = re.sub(r"\d$", lambda digit: str((int(digit[0]) + 5) % 10), found[0])
        at = begin + found.start()
        changed = text[:at] + (other if number else "BROKEN") + text[at + len(found[0]) :]
        assert figures.checked(changed)[1], row
        if number and quote.count(found[0]) == 1:
            wrong_row = row.replace(found[0], other, 1)
            right, wrong = figures.checked(changed.replace(row, wrong_row))
            assert wrong, row
            assert right == text


@pytest.mark.parametrize(
    ("prose", "row", "says"),
    [
        ("It is 0.96.", "", "no row has '0.96'"),
        ("They are 3 of 4.", "", "no row has '3 of 4"),
        ("It is 12%.", "", "no row has '12%'"),
        ("It is `0.96`.", "", "no row has '0.96'"),
        ("It is `d = 0.96`.", "", ""),
        ("It is `96%`.", "", "no row has '96%'"),
        ("It is `9e-7`.", "", "no row has '9e-7'"),
        ("Half of `64` pairs.", "", ""),
        ("It is 0.96.", "It is 0.96. | none", ""),
        ("Here:\nit is 0.96.", "Here: ... | none", ""),
        ("## A\n0.96\n### B\n0.97\n", "## A | none", ""),
        ("## A\n0.96\n## B\n0.97\n", "## A | none", "no row has '0.97'"),
        ("It is right.", "is right | A.critical-samples: estimate", "zip() argument 2 is longer"),
        ("It is 0.96. It is 0.96.", "is 0.96 | A.critical-samples: estimate", "this 2 times"),
        ("It is 1.000.", "is 1.000 | A.no-such-claim: estimate", "not enough values"),
        ("It is 1.000.", "is 1.000 | A.critical-samples: beauty", "not enough values"),
        ("It BREAKS.", "It BREAKS | A.critical-samples: verdict", "has SUPPORTED"),
        ("It is 8 times.", "8 times | E.batch-overshoot: estimate", "no ratio"),
        ("They hold.", "They hold | suite: joy", "zip() argument 2 is longer"),
        ("It is 1.000 <!-- so -->.", "is 1.000 | A.critical-samples: estimate", "a comment beside"),
    ],
)
def test_what_cannot_be_checked_is_said(prose: str, row: str, says: str) -> None:
    page = f"{prose}\n\n<!-- figures of reports/baseline.json\n{row}\n-->\n"
    wrong = figures.checked(page)[1]
    assert any(says in line for line in wrong) if says else not wrong


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
        "exponents of limits and of critical values, shares of cells with the predicted winner": [
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


def test_the_glossary_has_every_outcome() -> None:
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
