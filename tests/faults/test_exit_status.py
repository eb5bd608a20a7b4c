"""The exit status says how a run ended; `options.md` and `pytest claims/ --help` have the list.

Statuses 2 and 4 are also in test_claims_written_wrongly.py and test_options.py, 3 in
test_report_folder.py.
"""

import pytest

from tests.faults.conftest import HEAD, Suite, written

NOISE = 'rng.normal(cell["scale"], 0.1)'
WIDE = 'rng.normal(cell["scale"], 100.0)'
SKIP = ("--inconclusive", "skip")


@pytest.mark.parametrize(
    ("edit", "options", "status"),
    [
        pytest.param(("", ""), (), 0, id="supported"),
        pytest.param(("predict=predict", "predict=double"), (), 1, id="refuted"),
        pytest.param((NOISE, "1 / 0"), (), 1, id="broken"),
        pytest.param((NOISE, WIDE), (), 1, id="undecided"),
        pytest.param((NOISE, WIDE), SKIP, 0, id="skipped"),
        pytest.param(("predict=predict", "predict=double"), SKIP, 1, id="refuted-all-the-same"),
        pytest.param(("time.sleep(0.0)", "raise KeyboardInterrupt"), (), 2, id="interrupted"),
        pytest.param(("", ""), ("-k", "nothing"), 5, id="no-claim"),
    ],
)
def test_status(suite: Suite, edit: tuple[str, str], options: tuple[str, ...], status: int) -> None:
    suite.write_text(HEAD + written("one", edit))
    suite.run(*options, status=status)


def test_a_run_that_ends_early_says_how_many_claims_are_done(suite: Suite) -> None:
    stopped = written("two", ("time.sleep(0.0)", "raise KeyboardInterrupt"))
    suite.write_text(HEAD + written("one") + stopped + written("three"))
    result = suite.run(status=2)
    assert "INTERRUPTED, 1 of 3 claims done; the same command continues" in result.text
    assert suite.report()["suite"]["ahead"] == 2
    nothing = suite.run("-k", "two", "--seed", "1", status=2)
    assert "INTERRUPTED, 0 of 1 claim done; the same command continues" in nothing.text


def test_a_claim_expected_to_be_refuted_fails_while_it_is_undecided(suite: Suite) -> None:
    expected = ("    why=", '    refuted="it is false",\n    why=')
    undecided = written("undecided", expected, (NOISE, WIDE))
    refuted = written("refuted", expected, ("predict=predict", "predict=double"))
    suite.write_text(HEAD + undecided + refuted)
    suite.run("-k", "undecided", status=1)
    suite.run("-k", "refuted")


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
