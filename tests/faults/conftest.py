"""A small suite of claims in its own folder, run by an inner pytest, here or in another process."""

import itertools
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import recall_claims
import recall_reports
from recall_claims.model import papers
from tests.apart import Result, run_pytest

REPOSITORY = Path(__file__).parents[2]
LIBRARY = os.pathsep.join(
    str(Path(package.__path__[0]).parent) for package in (recall_claims, recall_reports)
)
"""Path of this process's library, which is a copy in the mutation test of the engine."""
HOOKS = ("-p", "recall_claims.plugin", "-p", "no:cacheprovider")
OUTER = ("-p", "no:faulthandler", "-p", "no:unraisableexception")
"""Options of an inner pytest that runs in the outer one's process. Without them it would switch off
the outer one's faulthandler, and look for garbage in all that the outer one has loaded.
"""

PAPER = """
id = "tiny"
title = "Tiny"
authors = ["Nobody"]
identifier = "none"
share = 0.1
slots = 26

[[statements]]
id = "1"
provenance = "stated"
text = "A mean has its value."
"""

HEAD = """
import time
from pathlib import Path

import numpy as np

from recall_claims import Control, MeanRatio, Region, Source, add_paper, claim, grid

add_paper(Path(__file__).with_name("paper.toml"))
SOURCE = Source("tiny", "1", provenance="derived", reference="tests/faults")


def predict(cell):
    return cell.number("scale")


def double(cell):
    return 2 * predict(cell)
"""

CLAIM = '''

@claim(
    id="tiny.{name}",
    title="A mean has its value",
    source=SOURCE,
    regime="everywhere",
    cells=grid(scale=(1.0, 2.0, 5.0)),
    replicates=(16, 512),
    rule=MeanRatio(Region(0.95, 1.05)),
    why="wide enough to be decided after some looks",
    predict=predict,
    controls=[Control("double", "twice the value", predict=double)],
)
def {name}(cell, block):
    """The mean of the value is the cell's scale."""
    time.sleep({pause})
    return {{"value": np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])}}
'''


WAYS = {
    "serial": ("--executor", "serial"),
    "processes": ("--executor", "processes:2"),
}
NUMBERS = itertools.count()
LEDGER = ".recall-claims/ledger.sqlite"


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def written(name: str = "one", *edits: tuple[str, str], pause: float = 0.0) -> str:
    """Return the code of a claim of this name, with edits."""
    return edited(CLAIM.format(name=name, pause=pause), *edits)


def until(holds: Callable[[], bool], seconds: float = 240) -> bool:
    """Wait until a condition holds; return whether it does within this time."""
    deadline = time.monotonic() + seconds  # workers of a busy machine take long to start
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def environment(**more: str) -> dict[str, str]:
    """Return an environment for another process, without the variables of an outer pytest."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    return {**inherited, "PYTHONPATH": LIBRARY, "COLUMNS": "200", **more}


def judged(folder: Path, *arguments: str) -> Result:
    """Run pytest in a folder, in a separate process that simulates all blocks itself."""
    return run_pytest(folder, (*arguments, "--executor", "serial"), environment())


def reported(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Suite:
    folder: Path
    file: str
    capture: pytest.CaptureFixture[str]

    def write(self, *names: str, pause: float = 0.0) -> None:
        """Put claims of these names into one file."""
        self.write_text(HEAD + "".join(written(name, pause=pause) for name in names))

    def write_text(self, text: str) -> None:
        path = self.folder / self.file
        path.write_text(text, encoding="utf-8")
        # Python matches bytecode to a file by whole seconds and length.
        os.utime(path, (next(NUMBERS), next(NUMBERS)))

    def run(self, *options: str, status: int | None = 0) -> Result:
        """Run the suite in this process, which has loaded the library already.

        The exit status has to be ``status``, unless this is None.
        """
        result = self.main(*HOOKS, *self.arguments(*options))
        assert status in (None, result.status), result.text
        return result

    def main(self, *arguments: str) -> Result:
        """Run pytest in this process, with only these arguments and `OUTER`."""
        self.capture.readouterr()
        ended = pytest.main([*OUTER, *arguments])
        captured = self.capture.readouterr()
        return Result(int(ended), captured.out + captured.err)

    def arguments(self, *options: str) -> list[str]:
        """Return a run's arguments: by default it is serial, because workers take long to start."""
        serial = () if "--executor" in options else ("--executor", "serial")
        return [self.file, *serial, *options]

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "pytest", *HOOKS, self.file, *options]

    def run_apart(self, *options: str, status: int | None = 0) -> Result:
        """Run the suite in another process, which loads the library itself and may start others."""
        arguments = (*HOOKS, *self.arguments(*options))
        result = run_pytest(self.folder, arguments, environment())
        assert status in (None, result.status), result.text
        return result

    def report(self, folder: str = "reports/latest") -> dict[str, Any]:
        return reported(self.folder / folder)

    def claims(self, folder: str = "reports/latest") -> dict[str, dict[str, Any]]:
        return {claim["id"]: claim for claim in self.report(folder)["claims"]}

    def states(self) -> dict[str, str]:
        return {name: claim["state"] for name, claim in self.claims().items()}

    def figures(self, folder: str = "reports/latest") -> dict[str, Any]:
        """Return the report's claims, by id, without seconds and counts of blocks."""
        return {
            name: {k: v for k, v in claim.items() if k not in ("seconds", "blocks")}
            for name, claim in self.claims(folder).items()
        }

    def ask(self, sql: str, ledger: str = LEDGER) -> list[Any]:
        """Query a ledger; return no rows if the ledger or its table does not exist yet."""
        if not (self.folder / ledger).exists():
            return []
        with closing(sqlite3.connect(self.folder / ledger, timeout=60)) as database, database:
            try:
                return database.execute(sql).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
                return []

    def kept(self, ledger: str = LEDGER) -> int:
        """Count the blocks of a ledger."""
        return len(self.ask("SELECT 1 FROM blocks", ledger))


@pytest.fixture
def suite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Suite:
    """Make a folder that has a paper but no claims, and change to this folder."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "paper.toml").write_text(PAPER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(papers, "_added", {})  # papers of other tests have no share here
    monkeypatch.setenv("COLUMNS", "200")
    # Claims are looked up by module name, so every suite of this process has its own.
    return Suite(tmp_path, f"test_tiny_{next(NUMBERS)}.py", capsys)
