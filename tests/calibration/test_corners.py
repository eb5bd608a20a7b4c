"""The claim's own rule judges each corner of a regime once, and the page has the results."""

import resource
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import recall_claims as rc
from recall_claims.hunt.campaign import why_not_hunted
from recall_claims.hunt.probe import TIER
from tests.calibration import corners
from tests.calibration.stated_errors import rows_in
from tests.every_claim import imported
from tests.unit.library.made import declared

LARGEST = 64
SIZES = {"dim": rc.log_range(8, LARGEST), "length": rc.log_range(4, 32)}
CELLS = {"standard": rc.grid(dim=16, length=8)}


@declared(
    "T.corners",
    CELLS,
    regime=rc.Regime("any", SIZES),
    size=lambda cell: cell["dim"] * cell["length"],
    replicates=(64, 1024),
    predict=lambda cell: cell.number("dim"),
)
def mean(cell: rc.Cell, block: rc.Block) -> np.ndarray:
    """The mean is the dimension, except at the largest dimension and shortest sequences."""
    wrong = cell["dim"] == LARGEST and cell["length"] == 4
    factor = 1.5 if wrong else 1.0
    return np.array([rng.normal(factor * cell["dim"], 0.2 * cell["dim"]) for rng in block.rngs])


@declared(
    "T.steps",
    {"standard": rc.grid(dim=10, samples=(18, 19, 21, 22))},
    regime=rc.Regime("any", {"dim": range(5, 2000)}),
    rule=rc.CriticalLocation(rc.Region(0.9, 1.1)),
    predict=lambda cell: 2 * cell.number("dim"),
)
def steps(cell: rc.Cell, block: rc.Block) -> np.ndarray:
    """A trial succeeds if the number of samples is at least twice the dimension."""
    return np.full(block.replicates, float(cell["samples"] >= 2 * cell["dim"]))


@declared(
    "T.constant",
    CELLS,
    regime=rc.Regime("any", SIZES),
    replicates=2,
    rule=rc.MeanRatio(rc.Region(0.9, 1.1), method=rc.Deterministic()),
    predict=lambda cell: cell.number("dim"),
)
def constant(cell: rc.Cell, block: rc.Block) -> np.ndarray:
    """Every replicate is the dimension."""
    return np.full(block.replicates, cell.number("dim"))


@pytest.fixture(autouse=True)
def without_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corners, "_code", str)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, Path]:
    kept, page = tmp_path / "kept.jsonl", tmp_path / "CORNERS.md"
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr(corners, "imported", lambda: {mean.id: mean, steps.id: steps})
    options = ("--seconds", "5", "--kept", kept, "--markdown", page)
    monkeypatch.setattr(sys, "argv", ["corners", *map(str, options)])
    return kept, page


def test_a_corner_that_fails_is_told_and_nothing_is_tried_twice(
    command: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, page = command
    assert corners.main() == 1
    lines = kept.read_text(encoding="utf-8").splitlines()
    row, other = page.read_text(encoding="utf-8").splitlines()[-2:]
    assert row.startswith("| `T.corners` | 4 | 3 |  |  |  | 1 |  | dim=64, length=4 | ")
    assert other.startswith("| `T.steps` | 2 | 2 |  |  |  |  |  | ")
    assert len(lines) == 6
    monkeypatch.setattr(corners, "judged", None)
    assert corners.main() == 1
    assert page.read_text(encoding="utf-8").splitlines()[-2:] == [row, other]


def test_corners_larger_than_one_out_of_reach_are_not_tried_until_there_is_more_time(
    command: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(corner: corners.Corner, seconds: float) -> corners.Tried:
        verdict = "OUT OF REACH" if corner.size > seconds else "SUPPORTED"
        return corners.Tried(corner.key, verdict, 0.0, "", 16, 0.0, seconds)

    _, page = command
    monkeypatch.setattr(corners, "judged", slow)
    monkeypatch.setattr(corners, "imported", lambda: {mean.id: mean})
    for seconds, row in ((40, "| 1 |  | 1 |  |  | 2 |"), (300, "| 3 |  | 1 |  |  |  |")):
        sys.argv[2] = str(seconds)
        assert corners.main() == 0
        last = page.read_text(encoding="utf-8").splitlines()[-1]
        assert last.startswith(f"| `T.corners` | 4 {row} ")


def test_the_first_look_has_no_more_replicates_than_the_claim_may_have() -> None:
    [first, *_] = corners.of(constant)
    assert corners.judged(first, 5.0).replicates == 2


def test_rungs_inside_an_edge_support_a_critical_value() -> None:
    point = rc.Cell(dim=10)
    assert [cell["samples"] for cell in corners.at(steps, point).cells[TIER]] == [18, 22]
    [first, _] = corners.of(steps)
    assert corners.judged(first, 5.0).verdict == "SUPPORTED"


def test_what_takes_too_long_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: rc.Cell) -> float:
        while True:
            pass

    [first, _] = corners.of(steps)
    found = corners.judged(replace(first, claim=replace(steps, predict=never)), 0.2)
    assert (found.verdict, found.found) == ("OUT OF REACH", "more than 0 s")
    monkeypatch.setattr(corners, "simulate", lambda _: never(rc.Cell(dim=1)))
    assert corners.judged(first, 0.2).verdict == "OUT OF REACH"


def test_the_committed_page_has_a_row_for_every_claim_that_can_be_hunted() -> None:
    text = corners.PAGE.read_text(encoding="utf-8")
    rows = rows_in(text)
    assert corners.document(rows.values()) == text
    hunted = (name for name, claim in imported().items() if not why_not_hunted(claim))
    assert rows.keys() == {f"`{name}`" for name in hunted}
