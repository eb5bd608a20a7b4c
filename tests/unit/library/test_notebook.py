"""`run` judges without pytest, and a notebook shows it."""

import html
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import claims.papers  # noqa: F401  (adds the papers)
from claims.memory.test_linear import linear_threshold
from recall_claims import run
from recall_claims.errors import ClaimError

ROOT = Path(__file__).parents[3]
LOOK = ROOT / ".github" / "docs" / "look.ipynb"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evidence") / "ledger.sqlite"


def test_a_claim_is_judged_and_shown(ledger: Path) -> None:
    first = run(linear_threshold, tier="smoke", ledger=ledger)
    again = run(linear_threshold, tier="smoke", ledger=ledger)
    assert first.verdict == again.verdict == "SUPPORTED"
    assert str(first).startswith("B.linear-threshold: SUPPORTED, ")
    assert (first.outcome.reused, again.outcome.reused) == (0, first.outcome.blocks)
    frame = first._repr_html_()
    page = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)".*</iframe>', frame, re.S)[1])  # type: ignore[index]
    assert 'id="B.linear-threshold"' in page
    assert "<figure><svg" in page
    assert page.rstrip().endswith("</html>")


def test_a_claim_that_cannot_be_judged_says_why(ledger: Path) -> None:
    with pytest.raises(ClaimError, match="is written in this notebook, which other processes"):
        run(replace(linear_threshold, module="__main__"), executor="processes:2", ledger=ledger)
    with pytest.raises(ClaimError, match="needs --device cuda"):
        run(replace(linear_threshold, needs="cuda"), ledger=ledger)
    with pytest.raises(ValueError, match=r"seed= takes a non-negative integer .*, got '-1'"):
        run(linear_threshold, seed=-1, ledger=ledger)
    with pytest.raises(ValueError, match="--device 'bogus' is no torch device"):
        run(linear_threshold, device="bogus", ledger=ledger)


CELL = """
import numpy as np
import claims.papers
import recall_claims as rc

@rc.claim("T.cell", "Written in a cell", source=rc.Source("A", "A3", provenance="derived"),
          regime="everywhere", cells=rc.grid(scale=(1.0, 2.0)), replicates=64, why="for the test",
          rule=rc.MeanRatio(rc.Region(0.9, 1.1)), predict=lambda cell: cell["scale"],
          controls=[rc.times(1.5)])
def in_a_cell(cell, block):
    \"\"\"A mean is its scale.\"\"\"
    return np.array([cell["scale"] * (1 + SPREAD * rng.normal()) for rng in block.rngs])

print(rc.run(in_a_cell, ledger=LEDGER).verdict)
"""


def test_the_notebook_of_the_docs_runs_and_a_claim_of_a_cell_is_drawn_anew_when_the_cell_is(
    tmp_path: Path,
) -> None:
    ledger = f"{tmp_path}/ledger"
    text = LOOK.read_text(encoding="utf-8")
    given = text.replace('tier=\\"smoke\\"', f'tier=\\"smoke\\", ledger=\\"{ledger}\\"')
    book = nbformat.reads(given, 4)  # type: ignore[no-untyped-call]
    for spread in (0.1, 100.0):
        code = CELL.replace("SPREAD", str(spread)).replace("LEDGER", repr(ledger))
        book.cells.append(nbformat.v4.new_code_cell(code))  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": LOOK.parent}}
    NotebookClient(book, kernel_name="python3", resources=resources).execute()
    page, *texts = [cell.outputs[-1] for cell in book.cells if cell.cell_type == "code"]
    assert "iframe" in page["data"]["text/html"]
    told, *verdicts = [said["text"] for said in texts]
    assert "B.linear-threshold: SUPPORTED" in told
    assert verdicts == ["SUPPORTED\n", "SUPPORTED\n", "INCONCLUSIVE\n"]
