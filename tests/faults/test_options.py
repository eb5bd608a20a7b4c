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
        ("--seed", "abc", "--seed takes a non-negative integer or 'fresh', got 'abc'"),
        ("--seed", "-1", "--seed"),
        ("--error-budget", "2", "the error budget is a probability"),
        ("--error-budget", "abc", "--error-budget abc"),
        ("--executor", "bogus", "unknown executor 'bogus'"),
        ("--executor", "processes:none", "processes:K needs a positive number"),
        ("--executor", "nowhere:make", "nowhere"),
        ("--inconclusive", "bogus", "invalid choice: 'bogus'"),
    ],
)
def test_senseless_option(suite: Suite, option: str, value: str, says: str) -> None:
    suite.write("one")

    result = suite.run(option, value)

    assert result.status == 4, result.text
    assert says in result.text
    assert "Traceback" not in result.text
    assert not (suite.folder / "reports").exists()
