"""A run without claims in each form; the table keeps its shape."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

from recall_reports import html, markdown, phrases
from recall_reports.record import Record
from recall_reports.record.files import load
from tests.reports import golden

FORMS = {"html": html.render, "markdown": markdown.render}
Render = Callable[[Record], str]
BASELINE = Path(__file__).parents[2] / "reports" / "baseline.json"


@pytest.mark.parametrize("render", [*FORMS.values(), golden.terminal], ids=[*FORMS, "terminal"])
def test_a_run_without_claims(render: Render, report: Record) -> None:
    report.claims, report.papers, report.derivations = [], [], []
    assert "No claim was selected." in render(report)


def test_a_bound_on_an_edge_is_explained_wherever_it_stands(report: Record) -> None:
    for render in (*FORMS.values(), golden.terminal):
        assert phrases.STAR not in unescape(render(report)).replace("\\*", "*")
    [head] = [claim.head for claim in report.claims if claim.id == "A.recall-accuracy"]
    assert head is not None
    head.one_sided = head.region
    for render in (*FORMS.values(), golden.terminal):
        text = unescape(render(report)).replace("\\*", "*")
        assert "within 0.97" in text
        assert phrases.STAR in text


def test_what_is_printed_of_a_refuted_control_is_not_in_its_region() -> None:
    for claim in load(BASELINE).claims:
        for control in claim.controls:
            if control.verdict == "REFUTED":
                assert control.region is not None
                text = phrases.finding(control)
                low, high = control.region.ends
                estimate = re.match(r"(1 [+-] )?([-\d.,e]+)", text)
                assert estimate, text
                value = float(estimate[2].rstrip(",").replace(",", ""))
                if estimate[1]:
                    value = 1 + value if "+" in estimate[1] else 1 - value
                assert not low <= value <= high, f"{claim.id} {control.id}: {text}"


HEADINGS = ["verdict", "claim", "estimate", "caught", "time"]


@pytest.mark.parametrize("width", [40, 80, 130, 200])
def test_it_fits_and_names_every_claim(report: Record, width: int) -> None:
    text = golden.terminal(report, width)
    assert max(map(len, text.splitlines())) <= width
    for claim in report.claims:
        assert width < 80 or claim.id[:18] in text
        assert phrases.state(claim).replace(" ", "") in "".join(text.split())


@pytest.mark.parametrize("width", [60, 80])
def test_long_names_fold_and_push_nothing_out(report: Record, width: int) -> None:
    report.claims[1].id = "A.a-name-that-is-longer-than-any-sensible-column"
    lines = golden.terminal(report, width).splitlines()
    assert lines[0].split() == HEADINGS
    tried = [claim for claim in report.claims if claim.state != "NOT RUN"]
    assert sum(line.endswith(" s") for line in lines) == len(tried)


def test_headings_keep_their_width_where_nothing_was_found(report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.state == "ERROR"]
    assert golden.terminal(report).split()[:5] == HEADINGS


def test_many_claims_that_were_not_run_are_counted_and_named_when_asked(report: Record) -> None:
    left_out = next(claim for claim in report.claims if claim.state == "NOT RUN")
    report.claims += [replace(left_out, id=f"A.left-out-{k}") for k in range(20)]
    assert "A.left-out-7" not in golden.terminal(report, 100)
    assert "21 claims" in golden.terminal(report, 100)
    assert "A.left-out-7" in golden.terminal(report, 100, verbosity=1)
