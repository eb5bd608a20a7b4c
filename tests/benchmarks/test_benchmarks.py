"""Every benchmark runs at tiny sizes; the promises of some are kept or not as figures say."""

import pytest

from tests.benchmarks import __main__, recall, three_steps
from tests.benchmarks.table import Row, Section, as_markdown, factor

TINY = (64, 128, 4, 8)


def test_sections_at_tiny_sizes() -> None:
    assert three_steps.section("cpu", promised={TINY: 0.0}).kept
    assert not three_steps.section("cpu", promised={TINY: 1e9}).kept
    assert len(recall.section("cpu", sizes=((64, 8),), product=(64, 8)).rows) == 3
    assert recall.language_model("cpu", (64, 8)).kept


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "tiled", lambda u, memory, values: recall.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        recall.speed((64, 8), "cpu")


def test_factor_has_two_digits() -> None:
    pairs = ((825, 12.7), (1, 3), (9.96, 1), (9.94, 1))
    assert [factor(*pair) for pair in pairs] == ["65", "0.33", "10", "9.9"]


@pytest.mark.parametrize("kept", [True, False])
def test_one_table_and_a_promise_not_kept_is_the_status(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("of one", "1 s", "another", "2 s", "2")
    sections = [Section("three-steps", (row,), "Least."), Section("recall", (), "", kept=kept)]
    monkeypatch.setattr(__main__, "PARTS", {s.name: lambda _, s=s: s for s in sections})
    assert __main__.main(["three-steps", "recall"]) == int(not kept)
    printed = capsys.readouterr().out
    assert as_markdown(sections) in printed
    assert "| three-steps | of one | 1 s | another | 2 s | 2 |" in printed
    assert "- **three-steps**: Least." in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["speed"], "no benchmark speed; there"),
        (["hunt", "--planted", "typo"], "error typo; there"),
    ],
)
def test_an_unknown_name_is_said(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        __main__.main(arguments)
    assert says in capsys.readouterr().err
