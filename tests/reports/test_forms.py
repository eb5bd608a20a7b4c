"""What every form of a report says, and what no text of a record does in it."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from recall_reports import card, html, markdown, phrases
from recall_reports.record import Record
from recall_reports.terminal import print_verdicts
from tests.reports import hostile


def terminal(report: Record) -> str:
    target = io.StringIO()
    print_verdicts(report, Console(file=target, width=200))
    return target.getvalue()


FORMS = {"html": html.render, "markdown": markdown.render, "card": card.render}
every_form = pytest.mark.parametrize(
    "render", [*FORMS.values(), terminal], ids=[*FORMS, "terminal"]
)
Render = Callable[[Record], str]


@every_form
def test_outcome_and_what_claims_test_are_said_and_pilots_counted_apart(
    render: Render, bare: Record
) -> None:
    text = " ".join(render(bare).split())
    assert "3 of 17 claims fail" in text
    assert "Learning to Recall with Transformers" in text or render is terminal
    assert "REFUTED as declared" in text
    assert "Statements as published: 1 claim, 1 SUPPORTED" in text
    assert "Our own derivations: 14 claims, 8 SUPPORTED" in text
    assert "Regions that only reproduce a pilot run, counted here alone: 1 claim" in text
    assert (phrases.EXPLORED in text) == (render is not card.render)
    bare.claims = [claim for claim in bare.claims if claim.state != "EXPLORED"]
    assert phrases.EXPLORED not in render(bare).partition("<main>")[0]


@every_form
def test_a_run_without_claims(render: Render, report: Record) -> None:
    report.claims, report.papers, report.derivations = [], [], []
    assert "No claim was selected." in render(report)


@pytest.mark.parametrize("render", [html.render, card.render], ids=["html", "card"])
def test_text_from_the_record_is_escaped(render: Render, report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.plot is None or claim.cells[30:]]
    text = render(hostile.everywhere(report, "http://nowhere"))
    assert "ran=1" in text
    for attack in (*hostile.attacks("http://nowhere"), "'\"></title>", "</noscript>'"):
        assert attack not in text
