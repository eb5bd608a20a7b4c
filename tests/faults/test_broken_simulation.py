"""A simulation that returns no evidence is an error, never a verdict."""

from __future__ import annotations

import pytest

from tests.faults.conftest import CLAIM, HEAD, Suite

GOOD = CLAIM.format(name="one", pause=0)
VALUE = '"value": np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])'


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('"value": np.full(block.replicates, np.nan)', "16 values that are not finite"),
        ('"value": np.ones(3)', "not one value per replicate"),
        ("", "returned no observables"),
        ('"value": 1 / 0', "ZeroDivisionError"),
        ('"other": np.ones(block.replicates)', "observable 'value'"),
    ],
)
def test_no_evidence_no_verdict(suite: Suite, broken: str, says: str) -> None:
    assert VALUE in GOOD
    suite.write_text(HEAD + GOOD.replace(VALUE, broken) + CLAIM.format(name="two", pause=0))

    result = suite.run()

    assert result.status == 1, result.text
    one, two = suite.report()["claims"]
    assert (one["state"], one["verdict"], one["outcome"]) == ("ERROR", None, "failed")
    assert says in one["reason"]
    assert (two["state"], two["verdict"]) == ("DECIDED", "SUPPORTED")


def test_no_evidence_from_a_worker_process(suite: Suite) -> None:
    suite.write_text(HEAD + GOOD.replace(VALUE, '"value": 1 / 0'))

    result = suite.run_apart("--executor", "processes:1")

    assert result.status == 1, result.text
    (one,) = suite.report()["claims"]
    assert (one["state"], one["verdict"], one["outcome"]) == ("ERROR", None, "failed")
    assert "ZeroDivisionError" in one["reason"]


def test_blocks_too_large_for_memory_are_simulated_in_parts_and_counted(suite: Suite) -> None:
    short = f"{{{VALUE}}} if block.replicates < 5 else np.empty(2**50)"
    assert f"{{{VALUE}}}" in GOOD
    suite.write_text(HEAD + GOOD.replace(f"{{{VALUE}}}", short))

    result = suite.run()

    assert result.status == 0, result.text
    (one,) = suite.report()["claims"]
    total = one["blocks"]["total"]
    assert one["blocks"]["divided"] == total
    assert sum(cell["replicates"] for cell in one["cells"]) == 16 * total
    assert f"{total} of {total} blocks simulated in parts" in result.text


@pytest.mark.parametrize(
    "options", [(), pytest.param(("-n", "1"), marks=pytest.mark.thorough)], ids=["one", "xdist"]
)
def test_what_an_exception_says_breaks_neither_report_nor_terminal(
    suite: Suite, options: tuple[str, ...]
) -> None:
    said = r'ValueError("\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>")'
    broken = GOOD.replace("time.sleep(0)", f"print('\\x1b[2J'); raise {said}")
    assert broken != GOOD
    suite.write_text(HEAD + broken + CLAIM.format(name="two", pause=0))

    result = (suite.run_apart if options else suite.run)(*options, "--color=no")

    assert result.status == 1, result.text
    one, two = suite.report()["claims"]
    assert r"\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>" in one["reason"]
    assert two["verdict"] == "SUPPORTED"
    assert not set("\x1b\x07\x9b\u202e") & set(result.text)
    assert r"ValueError: \ud800 \x1b]0;mine" in result.text
