"""A claim that fails says why: theorem, data, distance, error, controls, replay, in this order.

What each line says of any claim is in `tests/reports/test_failure.py`.
"""

from tests.faults.conftest import HEAD, Suite, written

NOISE = 'rng.normal(cell["scale"], 0.1)'
ORDER = ["theorem", "data", "off by", "error", "controls", "replay"]


def test_a_claim_that_fails_says_why(suite: Suite) -> None:
    noises = {"refuted": "2.2 * SCALE, 0.1", "undecided": "SCALE, 1.0", "stands": "2 * SCALE, 0.1"}
    changed = {n: f"rng.normal({noise})" for n, noise in noises.items()}
    changed = {n: text.replace("SCALE", 'cell["scale"]') for n, text in changed.items()}
    suite.write_text(HEAD + "".join(written(n, (NOISE, text)) for n, text in changed.items()))
    result = suite.run(status=1)

    for name, claim in suite.claims().items():
        verdict, *lines = result.text.partition(f"{name} ___")[2].splitlines()[1 : 2 + len(ORDER)]
        told = {line[2:11].strip(): line[12:] for line in lines}
        assert verdict == f"{claim['verdict']} (expected SUPPORTED)"
        assert list(told) == ORDER
        assert "with probability nominally 3.85e-6, its slot of the error" in told["error"]
        assert told["replay"] == claim["replay"]
        if name == "tiny.refuted":
            assert told["data"].endswith("; replicates: 48, 16 per cell; look 1 of 6.")
            assert told["off by"].startswith("at least ")
            assert told["controls"] == "all refuted: double."
