"""The papers' statements, their sources, and their shares of the error budget."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from recall_claims.model import papers as registry
from recall_claims.model.budget import Budget
from recall_claims.model.papers import _read, add_paper, papers
from recall_reports.record import Work

HEAD = 'id = "X"\ntitle = "T"\nauthors = ["A", "B"]\nidentifier = "arXiv 1"\n'
SENSELESS = (
    ("share = 0.1", "missing required field `slots`; a paper has"),
    ("slots = 20", "missing required field `share`; a paper has"),
    ("share = 0\nslots = 20", r"Expected `float` > 0.0 - at `\$.share`"),
    ("share = 1.01\nslots = 20", r"Expected `float` <= 1.0 - at `\$.share`"),
    ("share = nan\nslots = 20", r"Expected `float` .* - at `\$.share`"),
    ('share = "0.1"\nslots = 20', r"Expected `float`, got `str` - at `\$.share`"),
    ("share = 0.1\nslots = 0", r"Expected `int` >= 1 - at `\$.slots`"),
    ("share = 0.1\nslots = 2.5", r"Expected `int`, got `float` - at `\$.slots`"),
)


def text(rests_on: Mapping[str, Sequence[str]], budget: str = "share = 0.1\nslots = 20") -> str:
    entries = ", ".join(
        f"{{id = '{name}', provenance = 'stated', text = 't', rests_on = {bases}}}"
        for name, bases in rests_on.items()
    )
    return f"{HEAD}{budget}\nstatements = [{entries}]\n"


GROUP = """
id = "X"
title = "Some papers"
share = 0.1
slots = 20
works = {w = {authors = ["A", "B"], title = "T", identifier = "arXiv 1"}}
statements = [{id = "1", text = "t", provenance = "stated", work = 'w'}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "X.toml"


def test_a_group_of_papers_is_cited_by_its_works_alone(file: Path) -> None:
    file.write_text(GROUP)
    paper = _read(file)
    assert (paper.title, paper.authors, paper.identifier) == ("Some papers", "", "")
    assert [s.work for s in paper.statements] == [
        Work(authors="A, B", title="T", identifier="arXiv 1")
    ]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (text({"1": [], "2": ["1", "9"]}), r"statement 2 rests on 9, .* \(1, 2\)"),
        (
            text({"1": ["3"], "2": ["1"], "3": ["2"], "4": []}),
            r"in a circle, (\d) <- \d <- \d <- \1: take one",
        ),
        (text({}).replace('authors = ["A", "B"]\n', ""), "missing `authors` and `identifier`, or"),
        (GROUP.replace(", work = 'w'", ""), r"statement 1 cites the work '', .* \(w\)"),
        (GROUP.replace("work = 'w'", "work = 'v'"), "statement 1 cites the work 'v'"),
        ("id = A", "is not TOML"),
        (text({}).replace('"X"', '"X "'), "matching regex"),
        (text({"1": []}).replace("id = '1'", "id = '\u0661'"), "matching regex"),
        (text({"1": [], "2": []}).replace("id = '2'", "id = '1'"), r"two .* share an id \(1, 1\)"),
        (text({"1": []}).replace("'stated'", "'told'"), "Invalid enum value 'told'"),
        (text({}).replace('"X"', '"A"'), "another paper has the id 'A'"),
        *((text({}, budget), says) for budget, says in SENSELESS),
    ],
)
def test_a_file_that_is_no_paper_of_its_own(file: Path, wrong: str, says: str) -> None:
    file.write_text(wrong)
    with pytest.raises(ValueError, match=rf"X\.toml.* {says}"):
        add_paper(file)


def test_bundled_papers_have_an_order_and_leave_room_for_another() -> None:
    rests_on = {s.id: s.rests_on for paper in papers().values() for s in paper.statements}
    assert rests_on["A4"] == ["A3", "A13"]
    assert rests_on["B4"] == ["B1", "B2", "B3"]
    assert sum(papers()[key].share for key in "ABCDE") <= 0.95


def test_the_shares_of_all_papers_fit_into_the_budget(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_added", {})
    for number, share in enumerate((0.5, 0.3, 0.2)):
        other = file.with_stem(str(number))
        other.write_text(text({}, f"share = {share}\nslots = 1").replace("X", f"X{number}"))
        add_paper(other)
        add_paper(other)  # as when two folders ask for it
    file.write_text(text({"1": []}))
    with pytest.raises(ValueError, match=r"X\.toml: .* \(X0 0.5, X1 0.3, X2 0.2, X 0.1\); make"):
        add_paper(file)
    assert "X" not in papers()


def test_a_claim_owns_a_slot_of_its_papers_share() -> None:
    paper = replace(papers()["A"], share=0.4, slots=100)
    assert Budget(0.01).per_claim(paper) == pytest.approx(0.01 * 0.4 / 100)
