"""Every benchmark runs at tiny sizes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall_claims.evidence.replay import Figures
from tests.benchmarks import __main__, kit, speed
from tests.every_claim import imported

TINY = (64, 128, 4, 8)


def test_rows_at_tiny_sizes() -> None:
    assert [row.kept for row in speed.steps("cpu", {TINY: 0.0})] == [True]
    assert [row.kept for row in speed.steps("cpu", {TINY: 1e9})] == [False]
    rows = [*speed.recall("cpu", ((64, 8),), (64, 8)), *speed.language_model("cpu", (64, 8))]
    assert [row.kept for row in rows] == 4 * [True]
    assert len([*speed.training("cpu", models=2, batch=8)]) == 1


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "tiled", lambda u, memory, values: speed.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        next(speed.recall("cpu", ((64, 8),)))


def test_the_kit_goes_on_where_it_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def step(name: str, kept: bool) -> Callable[[str], Iterator[kit.Finding]]:
        def run(place: str) -> Iterator[kit.Finding]:
            ran.append(name)
            yield kit.Finding(f"{name} on {place}", "0.5", "1", kept)

        return run

    ran: list[str] = []
    monkeypatch.setattr(kit, "STEPS", {"one": step("one", True), "two": step("two", False)})
    command = ["--device", "cpu", "--into", str(tmp_path / "kit.json")]
    assert kit.main([*command, "--minutes", "0"]) == 2
    monkeypatch.setitem(kit.STEPS, "two", step("two", True))
    assert kit.main(command) == 0
    assert kit.main(command) == 0
    assert ran == ["one", "two"]
    assert "| two | two on cpu | 0.5 | 1 | yes |" in capsys.readouterr().out
    monkeypatch.setitem(kit.STEPS, "three", step("three", False))
    assert kit.main(command) == 1
    monkeypatch.setattr(speed, "machine", lambda place: "another")
    with pytest.raises(SystemExit):
        kit.main(command)


def test_the_kit_tries_a_card_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "quick", lambda: iter([imported()["A.recall-accuracy"]]))
    monkeypatch.setattr(speed, "STEPS", {TINY: 0.0})
    found = [each for step in ("waits", "figures", "draws") for each in kit.STEPS[step]("cpu")]
    assert [each.kept for each in found] == 3 * [True]
    drawn: Figures = kit.block(imported()["A.recall-accuracy"], "cpu")
    other = {name: values + 0.5 for name, values in drawn.items()}
    monkeypatch.setattr(kit, "block", lambda _, place: other if place == "other" else drawn)
    assert [each.kept for each in kit.same_figures("other")] == [False]


@pytest.mark.parametrize(
    ("theirs", "promised", "shown"),
    [
        (65.4, 65.0, "| of one | 1.0 ms | another (promised: 65) | 65.4 ms | 65 |"),
        (0.333, 0.9, "| of one | 1.0 ms | another (promised: 0.9) | 0.3 ms | 0.33 |"),
        (9.96, 0.0, "| of one | 1.0 ms | another | 10.0 ms | 10 |"),
        (9.94, 10.0, "| of one | 1.0 ms | another (promised: 10) | 9.9 ms | 9.9 |"),
    ],
)
def test_a_factor_has_two_digits_and_a_promise_not_kept_is_the_status(
    theirs: float,
    promised: float,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = speed.Row("of one", 1.0, "another", theirs, promised)
    monkeypatch.setattr(__main__, "PARTS", {"recall": lambda _: [row, replace(row, promised=0.0)]})
    assert __main__.main(["recall"]) == int(theirs < promised)
    assert shown in capsys.readouterr().out


def test_an_unknown_name_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["speed"])
    assert "no benchmark speed; there" in capsys.readouterr().err
