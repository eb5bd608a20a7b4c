"""The exit status says how a run ended, and each failed claim why.

`options.md` and `pytest claims/ --help` have the list. Statuses 2 and 4 are also in
test_claims_written_wrongly.py and test_options.py, 3 in test_report_folder.py.
"""

import pytest

from tests.faults.conftest import HEAD, Suite, written

NOISE = 'rng.normal(cell["scale"], 0.1)'
WIDE = (NOISE, 'rng.normal(cell["scale"], 100.0)')
WRONG = ("predict=predict", "predict=double")
EXPECTED = ("    why=", '    refuted="it is false",\n    why=')
SKIP = ("--inconclusive", "skip")


@pytest.mark.parametrize(
    ("edits", "options", "status"),
    [
        pytest.param([], (), 0, id="supported"),
        pytest.param([WRONG], (), 1, id="refuted"),
        pytest.param([(NOISE, "1 / 0")], (), 1, id="broken"),
        pytest.param([WIDE], (), 1, id="undecided"),
        pytest.param([WIDE], SKIP, 0, id="skipped"),
        pytest.param([WRONG], SKIP, 1, id="refuted-all-the-same"),
        pytest.param([WRONG, EXPECTED], (), 0, id="refuted-as-declared"),
        pytest.param([WIDE, EXPECTED], (), 1, id="undecided-all-the-same"),
        pytest.param([], ("-k", "nothing"), 5, id="no-claim"),
    ],
)
def test_status(
    suite: Suite, edits: list[tuple[str, str]], options: tuple[str, ...], status: int
) -> None:
    suite.write_text(HEAD + written("one", *edits))
    suite.run(*options, status=status)


def test_a_run_that_ends_early_says_how_many_claims_are_done(suite: Suite) -> None:
    stopped = written("two", ("time.sleep(0.0)", "raise KeyboardInterrupt"))
    suite.write_text(HEAD + written("one") + stopped + written("three"))
    result = suite.run(status=2)
    assert "INTERRUPTED, 1 of 3 claims done; the same command continues" in result.text
    assert suite.report()["suite"]["ahead"] == 2
    nothing = suite.run("-k", "two", "--seed", "1", status=2)
    assert "INTERRUPTED, 0 of 1 claim done; the same command continues" in nothing.text


def test_what_help_quiet_and_verbose_tell(suite: Suite) -> None:
    suite.write("one")
    words = ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "NOT RUN", "ERROR", "exit status")
    told, quiet, verbose = (suite.run(option).text for option in ("--help", "-q", "-v"))
    assert all(word in told for word in words)
    assert "The one claim passes: 1 SUPPORTED." in quiet
    assert "tiny.one" not in quiet
    assert "report.html" not in quiet
    assert "of 6, " in verbose
    assert "a constant off by" in verbose


ORDER = ["theorem", "data", "off by", "error", "controls", "replay"]


def test_a_claim_that_fails_says_why(suite: Suite) -> None:
    """In this order; what each line says of any claim is in `tests/reports/__snapshots__`."""
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
