"""An easy planted error is found in seconds."""

from tests.benchmarks import hunts
from tests.mutation.planted import PLANTED

EASY = PLANTED["never-guessed"]


def test_an_easy_error_is_found() -> None:
    found = hunts.section([EASY.id], minutes=1.0)
    [row] = found.rows
    assert row.case.startswith("never-guessed (tuning)")
    assert f"s: {EASY.claims[0]} at " in row.ours
    assert row.ours.endswith(", minimal")
    assert found.kept


def test_a_half_of_the_errors_has_a_name() -> None:
    assert hunts.named(["tuning", "held-out", EASY.id]).count(EASY.id) == 2
    assert {*hunts.named(["tuning", "held-out"])} == PLANTED.keys()
