"""The exit status says how a run ended; `options.md` and `pytest claims/ --help` have the list.

Statuses 2 and 4 are also in test_claims_written_wrongly.py and test_options.py, 3 in
test_report_folder.py.
"""

from __future__ import annotations

import pytest

from tests.faults.conftest import CLAIM, HEAD, Suite

GOOD = CLAIM.format(name="one", pause=0)
WIDE = 'rng.normal(cell["scale"], 100.0)'


@pytest.mark.parametrize(
    ("old", "new", "options", "status"),
    [
        ("", "", (), 0),
        ("predict=predict", "predict=double", (), 1),
        ('rng.normal(cell["scale"], 0.1)', "1 / 0", (), 1),
        ('rng.normal(cell["scale"], 0.1)', WIDE, (), 1),
        ('rng.normal(cell["scale"], 0.1)', WIDE, ("--inconclusive", "skip"), 0),
        ("predict=predict", "predict=double", ("--inconclusive", "skip"), 1),
        ("time.sleep(0)", "raise KeyboardInterrupt", (), 2),
        ("", "", ("-k", "nothing"), 5),
    ],
    ids=[
        "supported",
        "refuted",
        "broken",
        "undecided",
        "skipped",
        "refuted-all-the-same",
        "interrupted",
        "no-claim",
    ],
)
def test_status(suite: Suite, old: str, new: str, options: tuple[str, ...], status: int) -> None:
    assert old in GOOD
    suite.write_text(HEAD + GOOD.replace(old, new, 1))
    result = suite.run(*options)
    assert result.status == status, result.text


def test_a_claim_expected_to_be_refuted_fails_while_it_is_undecided(suite: Suite) -> None:
    expected = 'expected="REFUTED", explanation="it is false",\n    predict=predict'
    text = GOOD.replace("predict=predict", expected).replace('rng.normal(cell["scale"], 0.1)', WIDE)
    suite.write_text(HEAD + text)
    assert suite.run().status == 1
    right = text.replace("predict=predict", "predict=double").replace("100.0", "0.1")
    suite.write_text(HEAD + right)
    assert suite.run_apart().status == 0


def test_help_explains_verdicts_and_statuses(suite: Suite) -> None:
    suite.write("one")
    text = suite.run("--help").text
    for word in ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "NOT RUN", "ERROR", "exit status"):
        assert word in text


def test_quiet_run_tells_the_outcome_and_no_more(suite: Suite) -> None:
    suite.write("one")
    text = suite.run("-q").text
    assert "The one claim passes: 1 SUPPORTED." in text
    assert "tiny.one" not in text
    assert "report.html" not in text


def test_verbose_run_tells_looks_and_resolution(suite: Suite) -> None:
    suite.write("one")
    text = suite.run("-v").text
    assert "of 6, " in text
    assert "a constant off by" in text
