"""`python -m recall_claims predict`: what a formula says, how well, and who says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall_claims.__main__ import main
from theory.attention.critical import threshold

Printed = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "reports" / "baseline.json"
SIZES = ("vocab_size=50257", "length=1024", "dim=768")


def asked(capsys: Printed, *arguments: str, status: int = 0) -> str:
    assert main(["predict", *arguments, "--baseline", str(BASELINE)]) == status
    printed = capsys.readouterr()
    return printed.err if status else printed.out


def test_the_number_its_error_its_regime_and_the_verdicts_behind_it(capsys: Printed) -> None:
    """How many samples until attention finds the token, at the sizes of GPT-2?"""
    number = threshold(vocab_size=50257, length=1024, dim=768)
    text = asked(capsys, "critical.threshold", *SIZES)
    assert text.startswith(f"threshold = {number:,.0f} at vocab_size = 50257, length = 1024, dim")
    assert f"stated error 6%: from {0.94 * number:,.0f} to " in text
    assert "OUTSIDE" not in text
    assert "tested by A.critical-samples: ✓ SUPPORTED 1.0" in text

    plain = json.loads(asked(capsys, "critical.threshold", *SIZES, "--json"))
    [answer] = plain["answers"]
    assert answer["value"] == pytest.approx(number, rel=1e-12)
    assert answer["ends"] == pytest.approx([0.94 * number, 1.06 * number])
    assert plain["claims"]["A.critical-samples"] == "SUPPORTED"


def test_a_table_says_which_rows_are_outside(capsys: Printed) -> None:
    text = asked(capsys, "critical.threshold", *SIZES[:2], "--table", "dim=8,768")
    assert text.count("threshold = ") == 2
    assert "at dim = 8\n" in text
    assert text.count("OUTSIDE the regime of the formula and of its error: dim=8 is out") == 1


def test_a_formula_of_a_problem_and_how_far_it_was_seen_to_hold(capsys: Printed) -> None:
    sizes = ("vocab_size=64", "length=8", "samples=64", "dim=32")
    text = asked(capsys, "signal.trigger_signal", *sizes)
    assert "trigger_signal = 2.07e-4 at vocab_size = 64" in text
    assert "tested by A.trigger-signal: ✓ SUPPORTED" in text
    assert "seen to hold at samples 64 to 1024" in text
    assert "queries" not in asked(capsys, "linear.half_dim", "associations=1000")


def test_an_infinite_prediction_is_valid_json(capsys: Printed) -> None:
    sizes = ("vocab_size=512", "length=64", "dim=32")
    [answer] = json.loads(asked(capsys, "capacity.critical_samples", *sizes, "--json"))["answers"]
    assert (answer["value"], answer["ends"]) == ("inf", None)


def test_without_a_name_all_are_listed(capsys: Printed) -> None:
    assert "theory.attention.signal.trigger_signal" in asked(capsys).splitlines()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("nonsense",),
            "theory has no prediction 'nonsense'; `python -m recall_claims predict` lists all",
        ),
        (("linear.half_dimm",), "(did you mean theory.memory.linear.half_dim or"),
        (("critical_samples",), "may be theory.attention.capacity.critical_samples or"),
        (("linear.half_dim",), "half_dim needs associations; it takes associations"),
        (("linear.half_dim", "lenght=3"), "half_dim has no parameter lenght; it takes"),
        (("linear.half_dim", "associations"), "'associations' sets no parameter: write name=value"),
        (("linear.half_dim", "associations=few"), "half_dim has no value there: TypeError"),
        (("half_dim", "--theory", "nowhere"), "--theory nowhere: No module named 'nowhere'"),
    ],
)
def test_a_senseless_question(capsys: Printed, arguments: tuple[str, ...], says: str) -> None:
    text = asked(capsys, *arguments, status=2)
    assert says in text
    assert text.count("\n") == 1
