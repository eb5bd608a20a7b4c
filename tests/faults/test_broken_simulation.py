"""A simulation that returns no evidence is an error, never a verdict."""

from xml.etree import ElementTree

import pytest

from tests.faults.conftest import HEAD, Suite, written

VALUE = '{"value": np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])}'
BROKEN = {
    "nan": ('{"value": np.full(block.replicates, np.nan)}', "16 values that are not finite"),
    "short": ('{"value": np.ones(3)}', "not one value per replicate"),
    "nothing": ("{}", "returned no observables"),
    "raises": ('{"value": 1 / 0}', "ZeroDivisionError"),
    "texts": ('["a"] * block.replicates', "observable 'value' is not made of numbers: it has text"),
    "misspelt": (
        '{"value": block.draw(drawn, cell)}',
        "tiny.misspelt at scale=1.0, block 0: TypeError: drawn() got an unexpected keyword "
        "argument 'scale' (test_tiny_",
    ),
    "unknown": ('{"value": np.ones(cell["scal"])}', "has no parameter 'scal', only scale ("),
    "other": ('{"other": np.ones(block.replicates)}', "observable 'value'"),
}


@pytest.mark.parametrize(
    "executor", ["serial", pytest.param("processes:1", marks=pytest.mark.thorough)]
)
def test_no_evidence_no_verdict(suite: Suite, executor: str) -> None:
    broken = [written(name, (VALUE, value)) for name, (value, _) in BROKEN.items()]
    drawn = "\n\ndef drawn(rngs, *, device, dtype):\n    return np.ones(len(rngs))\n"
    suite.write_text(HEAD + drawn + "".join(broken) + written("right"))

    result = suite.run("--executor", executor, status=1)
    claims = suite.claims()
    right = claims.pop("tiny.right")
    assert (right["state"], right["verdict"]) == ("DECIDED", "SUPPORTED")
    assert {name.removeprefix("tiny.") for name in claims} == set(BROKEN)
    for name, (_, says) in BROKEN.items():
        claim = claims[f"tiny.{name}"]
        assert (claim["state"], claim["verdict"], claim["outcome"]) == ("ERROR", None, "failed")
        assert says in claim["reason"]
    assert f"({suite.file}, line " in claims["tiny.raises"]["reason"]
    assert "simulate.py:" not in result.text, "a traceback"


def test_blocks_too_large_for_memory_are_simulated_in_parts_and_counted(suite: Suite) -> None:
    short = f"{VALUE} if block.replicates < 5 else np.empty(2**50)"
    suite.write_text(HEAD + written("one", (VALUE, short)))

    result = suite.run()
    (one,) = suite.report()["claims"]
    total = one["blocks"]["total"]
    assert one["blocks"]["divided"] == total
    assert sum(cell["replicates"] for cell in one["cells"]) == 16 * total
    assert f"{total} of {total} blocks simulated in parts" in result.text


@pytest.mark.parametrize(
    "options", [(), pytest.param(("-n", "1"), marks=pytest.mark.thorough)], ids=["one", "xdist"]
)
def test_what_an_exception_says_breaks_no_form_of_the_report(
    suite: Suite, options: tuple[str, ...]
) -> None:
    said = r'ValueError("\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>")'
    broken = written("one", ("time.sleep(0.0)", f"print('\\x1b[2J'); raise {said}"))
    suite.write_text(HEAD + broken + written("two"))

    result = suite.run(*options, "--color=no", "--junitxml", "junit.xml", status=1)
    one, two = suite.report()["claims"]
    assert r"\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>" in one["reason"]
    assert two["verdict"] == "SUPPORTED"
    [failure] = ElementTree.parse("junit.xml").iter("failure")
    for text in (result.text, str(failure.get("message")), str(failure.text)):
        assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert r"ValueError: \ud800 \x1b]0;mine" in result.text
