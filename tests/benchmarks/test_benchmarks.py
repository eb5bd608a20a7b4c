"""Every benchmark runs at tiny sizes; an easy planted error is found in seconds."""

import re
from collections.abc import Iterator

import pytest

from tests.benchmarks import __main__, hunts, recall, three_steps
from tests.benchmarks.timing import Row

TINY = (64, 128, 4, 8)


def test_rows_at_tiny_sizes() -> None:
    assert [row.kept for row in three_steps.rows("cpu", {TINY: 0.0})] == [True]
    assert [row.kept for row in three_steps.rows("cpu", {TINY: 1e9})] == [False]
    rows = [*recall.rows("cpu", ((64, 8),), (64, 8)), *recall.language_model("cpu", (64, 8))]
    assert [row.kept for row in rows] == 4 * [True]


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "tiled", lambda u, memory, values: recall.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        next(recall.rows("cpu", ((64, 8),)))


def test_an_easy_error_is_found() -> None:
    [found] = hunts.rows(["never-guessed"], 0, minutes=1.0)
    assert found.kept
    assert re.fullmatch(r"\d+ s: A.orthonormal-recall at dim=.*, minimal", found.found)


def test_a_factor_has_two_digits() -> None:
    for theirs, shown in ((65.4, "65"), (0.333, "0.33"), (9.96, "10"), (9.94, "9.9")):
        assert str(Row("", 1, "", theirs)).endswith(f"| {shown} |")


@pytest.mark.parametrize("kept", [True, False])
def test_one_table_and_a_promise_not_kept_is_the_status(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    least = 0.1 if kept else 0.9

    def rows(_: object) -> Iterator[Row]:
        yield Row("of one", 1, "another", 2, "s")
        yield Row("of more", 1, "another", 2, "s", more=True, promised=least)

    monkeypatch.setattr(__main__, "PARTS", {"recall": rows})
    assert __main__.main(["recall"]) == int(not kept)
    printed = capsys.readouterr().out
    assert "| of one | 1.0 s | another | 2.0 s | 2 |" in printed
    assert f"| of more | 1.0 s | another (promised: {least}) | 2.0 s | 0.5 |" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["speed"], "no benchmark speed; there"), (["hunt", "--planted", "typo"], "choice: 'typo'")],
)
def test_an_unknown_name_is_said(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        __main__.main(arguments)
    assert says in capsys.readouterr().err
