"""The summary card: well-formed, self-contained, and no text that leaves it."""

import re
from xml.etree import ElementTree

from msgspec.structs import replace

from recall_reports import card, phrases
from recall_reports.record import Record
from tests.reports import builders


def _texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iterfind("{*}text")]


def test_says_how_it_was_run(report: Record) -> None:
    text = " ".join(_texts(card.render(report)))
    assert "standard tier, seed 0, cpu, error budget 0.001, 2026-11-20" in text
    assert "recall-claims 0.1.0, commit 0123456789" in text


def test_bars_are_in_proportion(report: Record) -> None:
    report.papers.append(builders.paper("B"))
    for claim in report.claims[:2]:
        claim.source = replace(claim.source, paper="B")
    widths: dict[str, float] = {}
    for bar in ElementTree.fromstring(card.render(report)).iterfind("{*}rect[@class]"):
        row = bar.get("y", "")
        widths[row] = widths.get(row, 0.0) + float(bar.get("width", ""))
    small, large = sorted(widths.values())
    assert abs(small / large - 2 / (len(report.claims) - 2)) < 0.01


def crowded(report: Record) -> Record:
    """The record with words as long as they get."""
    report.suite.device = "cuda:1 (a device with rather a long name)"
    report.papers += [builders.paper(f"P{index}", "A long title " * 9) for index in range(2)]
    for claim in report.claims[1:]:  # one paper with claims in every state
        claim.source = replace(claim.source, paper="P0")
    report.claims[0].source = replace(report.claims[0].source, paper="P1")
    return report


def test_fits_and_needs_no_network(report: Record) -> None:
    svg = card.render(crowded(report))
    assert set(re.findall(r"https?://[^\"\s]+", svg)) == {"http://www.w3.org/2000/svg"}
    root = ElementTree.fromstring(svg)
    for node in root.iterfind("{*}text"):
        assert float(node.get("y", "")) < float(root.get("height", "")) - 8


def test_every_state_has_a_colour(report: Record) -> None:
    svg = card.render(report)
    for state in phrases.SYMBOLS:
        name = state.lower().replace(" ", "-")
        assert svg.count(f"--{name}: #") == 2
        assert f".{name} {{ fill: var(--{name}); }}" in svg
