"""The papers' statements and what they rest on."""

from pathlib import Path

import pytest

from recall_claims.declare import papers as registry
from recall_claims.declare.papers import _read, add_paper, papers

HEAD = 'id = "X"\ntitle = "T"\nauthors = ["A", "B"]\nidentifier = "arXiv 1"\n'
BUDGET = "share = 0.1\nslots = 20\n"


def _paper(path: Path, rests_on: dict[str, list[str]]) -> Path:
    entries = (
        f'[[statements]]\nid = "{name}"\nprovenance = "stated"\ntext = "t"\nrests_on = {bases}\n'
        for name, bases in rests_on.items()
    )
    path.write_text(HEAD + BUDGET + "".join(entries))
    return path


def test_a_paper_is_read(tmp_path: Path) -> None:
    paper = _read(_paper(tmp_path / "X.toml", {"1": [], "2": ["1"]}))
    assert [statement.rests_on for statement in paper.statements] == [[], ["1"]]
    assert (paper.share, paper.slots, paper.file.name) == (0.1, 20, "X.toml")


@pytest.mark.parametrize(
    ("rests_on", "says"),
    [
        ({"1": [], "2": ["1", "9"]}, r"X.toml: statement 2 rests on 9, .* \(1, 2\)"),
        (
            {"1": ["3"], "2": ["1"], "3": ["2"], "4": []},
            r"in a circle, (\d) <- \d <- \d <- \1: take one",
        ),
    ],
)
def test_statements_rest_on_others_of_the_paper_and_in_no_circle(
    tmp_path: Path, rests_on: dict[str, list[str]], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        _read(_paper(tmp_path / "X.toml", rests_on))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('id = "A"', "has no entry 'authors'"),
        ("id = A", "is not TOML"),
        (f"{HEAD}{BUDGET}statements = []".replace('"X"', '"A"'), "another paper has the id 'A'"),
    ],
)
def test_a_file_that_is_no_paper_of_its_own(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "X.toml").write_text(text)
    with pytest.raises(ValueError, match=says):
        add_paper(tmp_path / "X.toml")


def test_bundled_papers_have_an_order() -> None:
    rests_on = {s.id: s.rests_on for paper in papers().values() for s in paper.statements}
    assert rests_on["A4"] == ["A3", "A13"]
    assert rests_on["B4"] == ["B1", "B2", "B3"]


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        ("", "has no entry share and slots: say which part of the error budget"),
        ("share = 0.1", "has no entry slots: say"),
        ("slots = 20", "has no entry share: say"),
        ("share = 0\nslots = 20", r"in \(0, 1\], not 0"),
        ("share = 1.01\nslots = 20", r"in \(0, 1\], not 1.01"),
        ("share = nan\nslots = 20", r"in \(0, 1\], not nan"),
        ('share = "0.1"\nslots = 20', r"in \(0, 1\], not '0.1'"),
        ("share = true\nslots = 20", r"in \(0, 1\], not True"),
        ("share = 0.1\nslots = 0", "at least 1, not 0"),
        ("share = 0.1\nslots = 2.5", "at least 1, not 2.5"),
        ("share = 0.1\nslots = true", "at least 1, not True"),
    ],
)
def test_a_senseless_part_of_the_budget(tmp_path: Path, budget: str, says: str) -> None:
    file = tmp_path / "X.toml"
    file.write_text(f"{HEAD}{budget}\nstatements = []\n")
    with pytest.raises(ValueError, match=rf"X\.toml.* {says}"):
        _read(file)


def test_the_shares_of_all_papers_fit_into_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_added", {})
    for number, share in enumerate((0.5, 0.3, 0.2)):
        file = tmp_path / f"{number}.toml"
        text = HEAD.replace("X", f"X{number}") + f"share = {share}\nslots = 1\nstatements = []\n"
        file.write_text(text)
        add_paper(file)
        add_paper(file)  # as when two folders ask for it
    file = _paper(tmp_path / "X.toml", {"1": []})
    with pytest.raises(ValueError, match=r"X\.toml: .* \(X0 0.5, X1 0.3, X2 0.2, X 0.1\); make"):
        add_paper(file)
    assert "X" not in papers()


def test_bundled_papers_leave_room_for_another() -> None:
    bundled = [paper for key, paper in papers().items() if key in set("ABCDE")]
    assert len(bundled) == 5
    assert sum(paper.share for paper in bundled) <= 0.95
