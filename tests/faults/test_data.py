"""Observations are written as a table, also for cells outside every grid."""

import csv
from pathlib import Path

import numpy as np
import pytest

from recall_claims.__main__ import main
from tests.faults.conftest import HEAD, LEDGER, Suite, edited, written


def test_the_observations_behind_a_verdict(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.write_text(HEAD + written())
    assert main(["data", "tiny.one", "--claims", "."]) == 2
    assert "the ledger lacks blocks of tiny.one; run it first" in capsys.readouterr().err
    assert not Path(LEDGER).exists()
    suite.run()
    assert main(["data", "tiny.one", "--claims", ".", "--seed", "1"]) == 2
    assert "run it first: the ledger lacks block 0 of scale=1.0: seed" in capsys.readouterr().err
    assert len(suite.ask("SELECT 1 FROM draws")) == 1, "a look at evidence is no attempt"
    assert main(["data", "tiny.one", "--claims", "."]) == 0
    [claim] = suite.claims().values()
    with Path("tiny.one.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for cell in claim["cells"]:
        own = [row for row in rows if float(row["scale"]) == cell["params"]["scale"]]
        assert [int(row["replicate"]) for row in own] == [*range(cell["replicates"])]
        assert np.mean([float(row["value"]) for row in own]) == pytest.approx(cell["observed"])
    assert main(["data", "tiny.one", "--claims", ".", "-o", "one.npz"]) == 0
    assert np.load("one.npz")["scale=1.0/value"].size == claim["cells"][0]["replicates"]

    kept = suite.kept(LEDGER)
    capsys.readouterr()
    assert main(["data", "tiny.one", "--claims", ".", "--cell", "scale=7", "-o", "7.csv"]) == 0
    assert "scale=7: exploratory, no verdict reads it" in capsys.readouterr().out
    assert len(Path("7.csv").read_text(encoding="utf-8").splitlines()) == 17
    assert suite.kept(LEDGER) == kept


def test_a_parameter_that_only_some_cells_have(suite: Suite) -> None:
    cells = ("grid(scale=(1.0, 2.0, 5.0))", '[*grid(scale=(1.0,)), *grid(scale=(2.0,), kind="x")]')
    suite.write_text(HEAD + written("one", cells))
    suite.run()
    (suite.folder / "reports" / "latest" / "mine.txt").touch()  # no report is written
    Path("pytest.ini").write_text("[pytest]\naddopts = -k two -m slow\n", encoding="utf-8")
    assert main(["data", "tiny.one", "--claims", "."]) == 0
    with Path("tiny.one.csv").open(encoding="utf-8") as file:
        kinds = {(row["scale"], row["kind"]) for row in csv.DictReader(file)}
    assert kinds == {("1.0", ""), ("2.0", "x")}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tiny.on",), "has no claim 'tiny.on' (did you mean tiny.one?)"),
        (("tiny.one", "--cell", "scale=7", "-o", "one.txt"), "name a file that ends with .csv or"),
        (("tiny.one", "--cell", "sacle=7"), "sacle=7 lacks scale; a cell of tiny.one is scale=1.0"),
        (("tiny.one", "--cell", "scale"), "'scale' sets no parameter: write name=value"),
        (("tiny.one", "--cell", "scale=7", "-o", "paper.csv"), "File exists: 'paper.csv'"),
    ],
)
def test_what_cannot_be_written_is_told(
    suite: Suite, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    suite.write_text(HEAD + written())
    Path("paper.csv").touch()
    assert main(["data", *arguments, "--claims", "."]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("cell", [(), ("--cell", "scale=7")])
def test_a_tier_without_cells_has_no_observations(
    suite: Suite, capsys: pytest.CaptureFixture[str], cell: tuple[str, ...]
) -> None:
    smoke = ("cells=grid(scale=(1.0, 2.0, 5.0))", "cells={'smoke': grid(scale=1.0)}")
    suite.write_text(HEAD + edited(written(), smoke))
    assert main(["data", "tiny.one", "--claims", ".", *cell]) == 2
    says = "tiny.one has no cells in tier standard (only in smoke)"
    assert says in capsys.readouterr().err
