"""A claim that fails says why: theorem, data, distance, error, controls, replay, in this order.

What each line says of any claim is in `tests/reports/test_failure.py`.
"""

from tests.faults.conftest import HEAD, Suite, written

NOISE = 'rng.normal(cell["scale"], 0.1)'
ORDER = ["theorem", "data", "off by", "error", "controls", "replay"]


def message(text: str, name: str) -> dict[str, str]:
    """The lines of a claim's message by what they are about, and its first as `verdict`."""
    _, _, rest = text.partition(f"tiny.{name} ___")
    lines = rest.splitlines()[1:]
    told = [line[2:] for line in lines[1 : 1 + len(ORDER)]]
    assert [line[:9].strip() for line in told] == ORDER
    return {"verdict": lines[0], **{line[:9].strip(): line[10:] for line in told}}


def test_a_claim_that_fails_says_why(suite: Suite) -> None:
    suite.write_text(
        HEAD
        + written("refuted", (NOISE, 'rng.normal(2.2 * cell["scale"], 0.1)'))
        + written("undecided", (NOISE, 'rng.normal(cell["scale"], 1.0)'))
        + written("stands", (NOISE, 'rng.normal(2 * cell["scale"], 0.1)'))
    )
    result = suite.run()
    assert result.status == 1, result.text

    told, claim = message(result.text, "refuted"), suite.claims()["tiny.refuted"]
    head = claim["components"][claim["headline"]]
    scale, low = head["params"]["scale"], head["interval"][0]
    assert told["verdict"] == "REFUTED (expected SUPPORTED)"
    assert told["theorem"] == (
        f"A mean has its value (tiny 1). At scale = {scale:g}: {scale:g} predicted, region "
        "[0.95, 1.05] (Observed mean over prediction)."
    )
    assert told["data"].startswith("2.2")
    assert "the worst of 3 components (3 beyond an edge); " in told["data"]
    assert told["data"].endswith("; replicates: 48, 16 per cell; look 1 of 6.")
    off = f"at least {low - 1.05:.2%} of the prediction beyond the upper edge"
    assert told["off by"].startswith(off)
    assert told["error"] == (
        "refutes wrongly with probability nominally 3.85e-6, its share of the error budget 0.001."
    )
    assert told["controls"] == "none stands; the data refute double."
    assert told["replay"] == claim["replay"]

    told = message(result.text, "undecided")
    assert told["verdict"] == "INCONCLUSIVE (expected SUPPORTED)"
    assert "look 6 of 6" in told["data"]
    assert "undecided" in told["data"]
    assert told["off by"].startswith("bounds reach ")
    assert "(the estimate is " in told["off by"]
    assert told["error"].startswith("decided wrongly with probability nominally ")

    told = message(result.text, "stands")
    assert told["controls"].startswith("not refuted: double 1.0")
    assert told["controls"].endswith(" against [0.95, 1.05].")
