"""Use without pytest: `predict` prints a formula's value, `run` judges a claim in a notebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import claims.papers  # noqa: F401  (adds the papers)
from claims.memory.test_linear import linear_threshold
from recall_claims import ask
from recall_claims.__main__ import main
from recall_claims.model.errors import ClaimError
from recall_claims.notebook import run
from theory.attention.critical import threshold

Printed = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "reports" / "baseline.json"
FACTS = ("subjects=9", "relations=4")
SIZES = ("vocab_size=50257", "length=1024", "dim=768")


def asked(capsys: Printed, *arguments: str, status: int = 0) -> str:
    assert main(["predict", "--baseline", str(BASELINE), *arguments]) == status
    printed = capsys.readouterr()
    return printed.err if status else printed.out


def test_the_number_its_error_its_regime_and_the_verdicts_behind_it(capsys: Printed) -> None:
    """The formula gives the number of samples for localisation, here at the sizes of GPT-2."""
    number = threshold(vocab_size=50257, length=1024, dim=768)
    text = asked(capsys, "critical.threshold", *SIZES)
    assert text.startswith(f"threshold = {number:,.0f} at vocab_size = 50257, length = 1024, dim")
    between = f"the simulated value should be between {0.94 * number:,.0f} and "
    assert f"stated error 6%: {between}" in text
    assert "OUTSIDE" not in text
    assert "tested by A.critical-samples: ✓ SUPPORTED " in text
    assert "meaning: Closed form of the critical number of samples, at real-valued" in text
    assert "formula: N_c(N_c + M)^2 = κ^2(f_DN_DN_c^2 + SN_c + F), M = τV(1 + L/d ), S = " in text

    [answer] = ask.answers(ask.find("critical.threshold", "theory"), ask.values(SIZES))
    assert answer.value == pytest.approx(number, rel=1e-12)
    assert answer.ends == pytest.approx((0.94 * number, 1.06 * number))


def test_a_table_says_which_rows_are_outside(capsys: Printed) -> None:
    text = asked(capsys, "critical.threshold", *SIZES[:2], "dim=8,768")
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


def test_an_infinite_prediction_has_no_ends(capsys: Printed) -> None:
    text = asked(capsys, "capacity.critical_samples", "vocab_size=512", "length=64", "dim=32")
    assert text.startswith("critical_samples = inf at")
    assert "stated error" not in text


def test_without_a_name_all_are_listed(capsys: Printed) -> None:
    lines = asked(capsys).splitlines()
    assert any(told.startswith("attention.signal.trigger_signal: Mean trigger") for told in lines)
    assert all(": " in told for told in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nonsense",), "no prediction 'nonsense'; `python -m recall_claims predict` lists all"),
        (("linear.half_dimm",), "(did you mean theory.memory.linear.half_dim or"),
        (("critical_sample",), "theory.attention.capacity.critical_samples or theory."),
        (("capacity.critical_samples", "vocabsize=3"), "vocabsize (did you mean vocab_size?); it"),
        (("critical_samples",), "may be theory.attention.capacity.critical_samples or"),
        (("linear.half_dim",), "half_dim needs associations; it takes associations"),
        (("linear.half_dim", "lenght=3"), "half_dim has no parameter lenght; it takes"),
        (("linear.half_dim", "associations"), "'associations' sets no parameter: write name=value"),
        (("linear.half_dim", "associations=few"), "half_dim takes a number as associations, not "),
        (("linear.half_dim", "associations=nan"), "half_dim takes a finite number as associations"),
        (("linear.half_dim", "associations=-4"), "half_dim has no value at associations = -4: V"),
        (("linear.half_dim", "associations=9", "associations=8"), "associations is given twice"),
        (("flows.time_ratio", *FACTS, "flow=gradent"), "mean gradient?)"),
        (("flows.time_ratio", *FACTS, "flow=sign", "embeddings=onehot"), "OOH or OHO or OHH or"),
        (("critical.threshold", *SIZES, "trigger_in_values=maybe"), "takes True or False as trig"),
        (("linear.half_dim", "associations=9", "--baseline", "no.json"), "--baseline no.json: no"),
        (("mlp",), "(did you mean theory.attention_mlp.recall.mlp_"),
        (("Muon",), "(did you mean theory.spectral."),
        (("half_dim", "--theory", "nowhere"), "--theory nowhere: No module named 'nowhere'"),
        (("half_dim", "--theory", "nowhere"), "call this in the folder that has a package of"),
        *((("half_dim", "--theory", wrong), f"--theory {wrong}: ") for wrong in (".", "")),
    ],
)
def test_a_senseless_question(capsys: Printed, arguments: tuple[str, ...], says: str) -> None:
    text = asked(capsys, *arguments, status=2)
    assert says in text
    assert text.count("\n") == 1


LOOK = ROOT / ".github" / "docs" / "look.ipynb"
CELL = """
import numpy as np
import claims.papers
import recall_claims as rc
from recall_claims.notebook import run

@rc.claim("T.cell", "Written in a cell", source=rc.Source("A", "A3", provenance="derived"),
          regime="everywhere", cells=rc.grid(scale=(1.0, 2.0)), replicates=(64, 512),
          why="for the test", rule=rc.MeanRatio(rc.Region(0.9, 1.1)),
          predict=lambda cell: cell["scale"], controls=[rc.times(1.5)])
def in_a_cell(cell, block):
    \"\"\"A mean is its scale.\"\"\"
    return np.array([cell["scale"] * (1 + SPREAD * rng.normal()) for rng in block.rngs])

print(run(in_a_cell, ledger=LEDGER).claim.verdict)
"""


def test_a_claim_that_cannot_be_judged_says_why(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(ClaimError, match="needs `--device cuda`"):
        run(replace(linear_threshold, needs="cuda"), tier="smoke", ledger=ledger)
    with pytest.raises(ValueError, match=r"seed= takes a non-negative integer .*, got '-1'"):
        run(linear_threshold, tier="smoke", seed=-1, ledger=ledger)


def test_the_notebook_of_the_docs_runs_and_a_claim_of_a_cell_draws_fresh_evidence(
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    text = LOOK.read_text(encoding="utf-8")
    given = text.replace('tier=\\"smoke\\"', f'tier=\\"smoke\\", ledger=\\"{ledger}\\"')
    book = nbformat.reads(given, 4)  # type: ignore[no-untyped-call]
    for spread in (0.1, 100.0):
        code = CELL.replace("SPREAD", str(spread)).replace("LEDGER", repr(str(ledger)))
        book.cells.append(nbformat.v4.new_code_cell(code))  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": LOOK.parent}}
    NotebookClient(book, kernel_name="python3", resources=resources).execute()
    page, *texts = [cell.outputs[-1] for cell in book.cells if cell.cell_type == "code"]
    frame = page["data"]["text/html"]
    assert frame.startswith('<iframe srcdoc="')
    assert "B.linear-threshold" in frame
    assert "&lt;figure&gt;&lt;svg" in frame
    row, *verdicts = [said["text"] for said in texts]
    assert row.startswith("SUPPORTED\n")
    assert verdicts == ["SUPPORTED\n", "SUPPORTED\n", "INCONCLUSIVE\n"]
    first = run(linear_threshold, tier="smoke", ledger=ledger).claim
    assert (first.verdict, first.blocks.reused) == ("SUPPORTED", first.blocks.total)
