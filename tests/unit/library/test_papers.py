"""The papers' statements and what they rest on."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_claims.declare.papers import _read, papers

HEAD = 'id = "X"\ntitle = "T"\nauthors = ["A", "B"]\nidentifier = "arXiv 1"\n'


def _paper(path: Path, rests_on: dict[str, list[str]]) -> Path:
    entries = (
        f'[[statements]]\nid = "{name}"\nprovenance = "stated"\ntext = "t"\nrests_on = {bases}\n'
        for name, bases in rests_on.items()
    )
    path.write_text(HEAD + "".join(entries))
    return path


def test_statements_and_what_they_rest_on(tmp_path: Path) -> None:
    paper = _read(_paper(tmp_path / "X.toml", {"1": [], "2": ["1"]}))
    assert [statement.rests_on for statement in paper.statements] == [(), ("1",)]


def test_unknown_statement(tmp_path: Path) -> None:
    file = _paper(tmp_path / "X.toml", {"1": [], "2": ["1", "9"]})
    with pytest.raises(ValueError, match=r"X.toml: statement 2 rests on 9, .* \(1, 2\)"):
        _read(file)


def test_circle(tmp_path: Path) -> None:
    file = _paper(tmp_path / "X.toml", {"1": ["3"], "2": ["1"], "3": ["2"], "4": []})
    with pytest.raises(ValueError, match=r"in a circle, (\d) <- \d <- \d <- \1: take one"):
        _read(file)


def test_bundled_papers_have_an_order() -> None:
    rests_on = {s.id: s.rests_on for paper in papers().values() for s in paper.statements}
    assert rests_on["A4"] == ("A3", "A13")
    assert rests_on["B4"] == ("B1", "B2", "B3")
