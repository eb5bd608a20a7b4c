"""Benchmarks run on the CPU at tiny sizes, but no GPU's waits are counted, and no tier runs."""

import pytest

from tests.benchmarks import __main__, speed
from tests.benchmarks.speed import compared
from tests.every_claim import imported

TINY = (64, 128, 4, 8)


def test_rows_at_tiny_sizes() -> None:
    assert [row.kept for row in speed.steps("cpu", {TINY: 0.0})] == [True]
    assert [row.kept for row in speed.steps("cpu", {TINY: 1e9})] == [False]
    rows = [*speed.recall("cpu", (64, 8)), *speed.language_model("cpu", (64, 8))]
    assert [row.kept for row in [*rows, *speed.drawing("cpu", [TINY])]] == 4 * [True]
    assert len([*speed.training("cpu", models=2, batch=8)]) == 1


def test_a_card_is_tried_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = imported()["A.recall-accuracy"]
    monkeypatch.setattr(__main__, "quick", lambda: iter([claim]))
    assert [row.kept for part in ("waits", "figures") for row in __main__.PARTS[part]("cpu")] == [
        True,
        True,
    ]
    drawn = __main__.block(claim, "cpu")
    other = {name: values + 0.5 for name, values in drawn.items()}
    monkeypatch.setattr(__main__, "block", lambda _, place: other if place == "other" else drawn)
    assert [row.kept for row in __main__.same_figures("other")] == [False]


def test_a_promise_that_is_not_kept_is_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for theirs, status in ((65.4, 0), (64.6, 1)):
        rows = [compared("of one", 1.0, "another", theirs, 65.0), compared("two", 2.0, "one", 1.0)]
        monkeypatch.setattr(__main__, "PARTS", {"recall": lambda _, rows=rows: rows})
        assert __main__.main(["recall"]) == status
    printed = capsys.readouterr().out
    assert "| of one | 1 ms, another 65.4 ms: 65.4 times | 65 times | yes |" in printed
    assert "| of one | 1 ms, another 64.6 ms: 64.6 times | 65 times | NO |" in printed
    with pytest.raises(SystemExit):
        __main__.main(["speed"])
    assert "no benchmark speed; there" in capsys.readouterr().err
