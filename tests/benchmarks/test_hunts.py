"""An easy planted error is found in seconds, and what is found is kept."""

from pathlib import Path

import pytest

from tests.benchmarks import hunts
from tests.mutation.planted import PLANTED

EASY = PLANTED["never-guessed"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No hunt so far."""
    monkeypatch.setattr(hunts, "FILE", tmp_path / "hunts.json")
    monkeypatch.setattr(hunts, "TABLE", tmp_path / "HUNTS.md")
    return tmp_path


def test_an_easy_error_is_found_and_kept(here: Path) -> None:
    found = hunts.section([EASY.id], minutes=1.0)
    assert found.rows[0].case.startswith("never-guessed (tuning)")
    assert found.rows[0].ours.endswith("minimal")
    assert not found.kept  # none of those held out is
    [kept] = hunts._kept()["planted"].values()
    assert kept.claim == EASY.claims[0]
    assert kept.right_stands
    assert kept.confirmations == 1
    assert (kept.wrong, kept.right) == pytest.approx((0.5, 0.75))
    assert "never-guessed" in (here / "HUNTS.md").read_text(encoding="utf-8")
    again = hunts.section([EASY.id], minutes=1.0)  # what is kept is not hunted again
    assert again == found
