"""An option value without sense is one clear usage error."""

import pytest

from recall_claims.plugin.options import PATHS, VALUED
from tests.faults.conftest import Suite

CHOICES = ("--tier", "--inconclusive")


@pytest.mark.parametrize("option", VALUED)
def test_two_dashes_are_no_value(suite: Suite, option: str) -> None:
    """Of them argparse makes an empty list, or, from Python 3.13 on, what they are."""
    suite.write("one")
    result = suite.run(f"{option}=--", status=None)
    assert result.status in (4, 1), result.text
    assert option in result.text
    assert "Traceback" not in result.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--tier=bogus", "invalid choice: 'bogus'"),
        ("--device=bogus", "--device 'bogus' is no torch device"),
        ("--device=cuda:77", "--device cuda:77: torch sees"),
        ("--device=meta", "--device meta: claims run on cpu and cuda"),
        ("--seed=abc", "18 digits or 'fresh', got 'abc'"),
        ("--seed=-1", "--seed"),
        ("--error-budget=2", "the error budget is a probability"),
        ("--error-budget=abc", "--error-budget takes a probability such as 1e-3, got 'abc'"),
        ("--executor=bogus", "unknown executor 'bogus'"),
        ("--executor=processes:none", "processes:K needs a positive number"),
        ("--executor=nowhere:make", "nowhere"),
        ("--inconclusive=bogus", "invalid choice: 'bogus'"),
        ("--time-limit=soon", "--time-limit takes a time such as 90s, 10m or 1h, got 'soon'"),
        ("--baseline=nowhere.json", "nowhere.json: no such file"),
        (f"--seed={'9' * 5000}", "--seed takes a non-negative integer of up to 18 digits"),
        (f"--time-limit={'9' * 400}h", "--time-limit takes a time such as"),
        (f"--executor=processes:{'9' * 5000}", "a positive number below 10000"),
        ("--executor=..:x", "--executor ..:x: TypeError"),
        ("--executor=dask:tcp://10.0.0.1:8786", "can run code in this process; use TLS"),
        ("--executor=dask:node1:8786", "dask-insecure:node1:8786"),
        ("--executor=dask:tcp://localhost.evil.example:1", "can run code in this process"),
        ("--executor=dask:tcp://[", "can run code in this process"),
        ("--hunt=soon", "--hunt takes a time such as 90s, 10m or 1h, got 'soon'"),
        ("--hunt=0s", "--hunt takes a time such as"),
        *((f"{option}={'x' * 5000}", f"{option} 'xxx") for option in PATHS),
        *((f"{option}=", f"{option} needs a value") for option in VALUED if option not in CHOICES),
        *((f"{option}=", "invalid choice: ''") for option in CHOICES),
        ("--dry-run -n 2", "leave out -n"),
        ("--baseline test_tiny.json", "not a JSON record"),
        ("--pilot", "is a part of --dry-run"),
        ("--hunt 9s --dry-run", "--hunt simulates, and --dry-run does not: leave out one"),
    ],
)
def test_senseless_options(suite: Suite, options: str, says: str) -> None:
    suite.write("one")
    (suite.folder / "test_tiny.json").write_text("{")

    result = suite.run(*options.split(), status=4)
    assert says in result.text
    assert "Traceback" not in result.text
    assert not (suite.folder / "reports").exists()
