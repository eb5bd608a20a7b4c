"""Words of all forms of a report, and the table's shape; most cases are in `__snapshots__/`."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from msgspec.structs import replace

from recall_reports import figures, html, markdown, phrases, summary
from recall_reports.analyses import Analyses
from recall_reports.record import Record
from tests.reports import builders, golden, sample
from tests.reports.golden import of_states


def test_a_hundred_components_are_not_compared_each_with_each() -> None:
    asked: list[str] = []

    class Counted(dict[str, int | float | str | bool]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.append(key)
            return super().get(key, default)

    settings = [Counted(length=8, dim=dim) for dim in range(1, 101)]
    parts = [builders.component("some", 1.0, 0.1, (0.8, 1.2), params) for params in settings]
    names = phrases.component_names(builders.claim("A.some", "Some", parts))
    assert names[-1] == "d = 100"
    assert len(asked) <= 200


def test_the_most_telling_claim() -> None:
    """A failed claim comes first, then theorems: constants before exponents, the most precise
    first.
    """
    claims = of_states("nBdsssr").claims
    claims[3].rule.scale = "exponent"
    for claim, resolution in zip(claims[3:6], (0.01, 0.2, 0.05), strict=True):
        claim.resolution = resolution
    claims[0].components = []
    order = []
    while (found := summary.telling(claims)) is not None:
        order.append(found.id)
        claims.remove(found)
    assert order == ["r6", "s5", "s4", "s3", "d2", "B1"]


def test_assumptions_meet_theorems() -> None:
    report = of_states("BSBBs")
    named = ("one head: two", "plateau"), ("frozen: learned", "plateau"), ("one head: two", "order")
    for claim, relaxes in zip(report.claims, named, strict=False):
        claim.relaxes = relaxes
    found = summary.assumptions(report.claims)["A"]
    assert {
        row: {name: [c.id for c in cell] for name, cell in cells.items()}
        for row, cells in found.items()
    } == {
        "one head: two": {"plateau": ["B0"], "order": ["B2"]},
        "frozen: learned": {"plateau": ["S1"], "order": []},
    }


Render = Callable[[Record], str]
FORMS: dict[str, Render] = {"html": html.render, "markdown": markdown.render}


@pytest.mark.parametrize("render", [*FORMS.values(), golden.terminal], ids=[*FORMS, "terminal"])
def test_a_run_without_claims(render: Render, report: Record) -> None:
    report.claims, report.papers, report.derivations = [], [], []
    assert "No claim was selected." in render(report)


def test_a_bound_on_an_edge_is_explained_wherever_it_stands(report: Record) -> None:
    for render in (*FORMS.values(), golden.terminal):
        assert figures.STAR not in unescape(render(report)).replace("\\*", "*")
    [head] = [claim.head for claim in report.claims if claim.id == "A.recall-accuracy"]
    assert head is not None
    head.one_sided = head.region
    for render in (*FORMS.values(), golden.terminal):
        text = unescape(render(report)).replace("\\*", "*")
        assert "within 0.97" in text
        assert figures.STAR in text


def test_what_is_printed_of_a_refuted_control_is_not_in_its_region(baseline: Record) -> None:
    for claim in baseline.claims:
        for control in claim.controls:
            if control.verdict == "REFUTED":
                assert control.region is not None
                text = figures.finding(control)
                low, high = control.region.ends
                estimate = re.match(r"(1 [+-] )?([-\d.,e]+)|\[([-\d.]+), ∞\]", text)
                assert estimate, text
                value = float((estimate[2] or estimate[3]).rstrip(",").replace(",", ""))
                if estimate[1]:
                    value = 1 + value if "+" in estimate[1] else 1 - value
                assert value > high or (value < low and not estimate[3]), f"{claim.id}: {text}"


@pytest.mark.parametrize("width", [40, 80, 130, 200])
def test_it_fits_and_names_every_claim(report: Record, width: int) -> None:
    text = golden.terminal(report, width)
    assert max(map(len, text.splitlines())) <= width
    for claim in report.claims:
        assert claim.id[:18] in text
        assert phrases.state(claim).replace(" ", "") in "".join(text.split())


@pytest.mark.parametrize("width", [70, 80, 100, 120, 160])
def test_names_never_break_and_findings_stand_beside_or_below(report: Record, width: int) -> None:
    report.claims[1].id = "A.a-name-that-is-longer-than-any-sensible-column"
    text = golden.terminal(report, width)
    for claim in report.claims:
        if claim.state != "NOT RUN":
            assert claim.id in text
            assert all(word in text for word in figures.finding(claim.head).split())


def test_a_title_says_so_where_the_region_excludes_the_law_that_it_names(baseline: Record) -> None:
    named = re.compile(r"\d to \d|less than|by \d")
    for claim in baseline.claims:
        sides = {part.region.ends[0] <= 1 <= part.region.ends[1] for part in claim.components}
        if claim.rule.scale == "ratio" and claim.verdict == "SUPPORTED" and False in sides:
            assert named.search(claim.title), f"{claim.id}: {claim.title}"


def test_the_usual_analysis_is_told_when_asked_and_where_it_disagrees(report: Record) -> None:
    found = Analyses(report.claims)
    assert found.disagreeing
    for verbosity in (-1, 0, 1):
        text = " ".join(golden.terminal(report, 160, verbosity).split())
        assert all(one.disagreement in text for one in found.disagreeing)
    assert f"{phrases.USUAL}: {found.headline(report.claims[0])}" in text
    for claim in report.claims:
        for cell in claim.cells:
            cell.error = None
    for form in FORMS.values():
        assert "disagrees with SUPPORTED at" in form(sample.record())
        assert "disagrees with SUPPORTED at" not in form(report)


def test_headings_keep_their_width_where_nothing_was_found(report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.state == "ERROR"]
    headings = ["verdict", "claim", "estimate", "notices", "controls"]
    assert golden.terminal(report).split()[:5] == headings


def test_many_claims_that_were_not_run_are_counted_and_named_when_asked(report: Record) -> None:
    left_out = next(claim for claim in report.claims if claim.state == "NOT RUN")
    report.claims += [replace(left_out, id=f"A.left-out-{k}") for k in range(20)]
    assert "A.left-out-7" not in golden.terminal(report, 100)
    assert "21 claims" in golden.terminal(report, 100)
    assert "A.left-out-7" in golden.terminal(report, 100, verbosity=1)
