"""Pages keep the rules of CONTRIBUTING, and the check notices faults."""

import tomllib
from pathlib import Path

import pytest

from tests import prose


@pytest.mark.parametrize("page", prose.pages(), ids=lambda page: str(page.relative_to(prose.ROOT)))
def test_every_page_keeps_the_rules(page: Path) -> None:
    assert prose.faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("word " * 31 + "word.", "32 words"),
        ("One; two; three.", "2 semicolons"),
        ("- One; two.\n- Three; four.", ""),
        ("| one; two | three; four |\n|---|---|", ""),
        ("Short. Word " + "word " * 28 + "word.\nShort.", ""),
        ("What it does is this.", "nominal clause"),
        ("What does it do?", ""),
        ("# What it does", ""),
        ("The ledger\ntells of it.", "'tells', write 'show, say, list'"),
        ("It needs `the ladder`, and a formula `" + "x + " * 40 + "x`.", ""),
        ("```\nthe ladder; a rung; a world\n```", ""),
        ("He said “the world” and [a page](world.md).", ""),
        ("It is right.\n\n<!-- in place of -->", ""),
    ],
)
def test_a_fault_is_noticed(text: str, says: str) -> None:
    found = prose.faults(text)
    assert any(says in fault for fault in found) if says else not found


@pytest.mark.parametrize("paper", sorted((prose.ROOT / "claims/papers").glob("*.toml")))
def test_what_a_paper_is_said_to_state_keeps_the_rules(paper: Path) -> None:
    said = tomllib.loads(paper.read_text(encoding="utf-8"))
    texts = [said.get("summary", ""), *(one["text"] for one in said["statements"])]
    assert [fault for text in texts for fault in prose.faults(text)] == []
