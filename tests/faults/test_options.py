"""An option value without sense is one clear usage error."""

from __future__ import annotations

import pytest

from tests.faults.conftest import Suite


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--tier", "bogus", "invalid choice: 'bogus'"),
        ("--device", "bogus", "--device 'bogus' is no torch device"),
        ("--device", "cuda:77", "--device cuda:77: torch sees"),
        ("--device", "meta", "--device meta: claims run on cpu and cuda"),
        ("--seed", "abc", "--seed takes a non-negative integer or 'fresh', got 'abc'"),
        ("--seed", "-1", "--seed"),
        ("--error-budget", "2", "the error budget is a probability"),
        ("--error-budget", "abc", "--error-budget abc"),
        ("--executor", "bogus", "unknown executor 'bogus'"),
        ("--executor", "processes:none", "processes:K needs a positive number"),
        ("--executor", "nowhere:make", "nowhere"),
        ("--inconclusive", "bogus", "invalid choice: 'bogus'"),
        ("--time-limit", "soon", "--time-limit takes a time such as 90s, 10m or 1h, got 'soon'"),
        ("--baseline", "nowhere.json", "--baseline nowhere.json: no such file"),
    ],
)
def test_senseless_option(suite: Suite, option: str, value: str, says: str) -> None:
    suite.write("one")

    result = suite.run(option, value)

    assert result.status == 4, result.text
    assert says in result.text
    assert "Traceback" not in result.text
    assert not (suite.folder / "reports").exists()


def test_dry_run_prints_the_plan_and_simulates_nothing(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # no row is squeezed into a narrow terminal
    suite.write("one", "two")

    result = suite.run("--dry-run")

    assert result.status == 0, result.text
    assert "tiny.one" in result.text
    assert "16-512" in result.text
    assert "2 of 2 claims run in tier" in result.text
    assert not (suite.folder / "reports").exists()


def test_dry_run_knows_seconds_and_resolution_of_the_baseline(suite: Suite) -> None:
    suite.write("one")
    suite.run()
    resolution = suite.report()["claims"][0]["resolution"]

    result = suite.run("--dry-run", "--baseline", "reports/latest/report.json")

    assert f"{resolution:.2g} ratio" in result.text
    [row] = [line.split() for line in result.text.splitlines() if line.startswith("tiny.one")]
    first, last = map(int, row[2].split("-"))
    assert first < int(row[3]) <= last
    assert "no record" not in result.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--dry-run", "-n", "2"), "leave out -n"),
        (("--dry-run", "--baseline", "test_tiny.json"), "not a JSON record"),
        (("--changed-since", "nowhere"), "git cannot compare"),
    ],
)
def test_senseless_combination(suite: Suite, options: tuple[str, ...], says: str) -> None:
    suite.write("one")
    (suite.folder / "test_tiny.json").write_text("{")

    result = suite.run(*options)

    assert result.status == 4, result.text
    assert says in result.text
