"""`run` judges without pytest, and a notebook shows it."""

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import claims.papers  # noqa: F401  (adds the papers)
from claims.memory.test_linear import linear_threshold
from recall_claims.model.errors import ClaimError
from recall_claims.notebook import run

LOOK = Path(__file__).parents[3] / ".github" / "docs" / "look.ipynb"
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
    with pytest.raises(ClaimError, match="needs --device cuda"):
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
