"""A user's paper: pytest judges the files from `python -m recall_claims new`, and notices edits."""

import importlib.util
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from recall_claims.__main__ import main
from tests.faults.conftest import REPOSITORY, Suite, judged, reported

GUIDE = (REPOSITORY / ".github/docs/new-paper.md").read_text(encoding="utf-8")
LOAD = "[pytest]\naddopts = -p recall_claims.plugin\n"  # as in the guide


def test_new_paper_runs_and_notices_what_changes(tmp_path: Path) -> None:
    latest = tmp_path / "reports/latest"
    assert main(["new", "hebb", "--to", str(tmp_path)]) == 0
    first = judged(tmp_path, "hebb")
    assert first.status == 0, first.text
    assert [paper["key"] for paper in reported(latest)["papers"]] == ["hebb"]
    assert [claim["source"]["statements"] for claim in reported(latest)["claims"]] == [["1"]]
    assert "SUPPORTED hebb.flipped" in first.text

    # From the root, without naming the folder.
    theory = tmp_path / "hebb" / "theory.py"
    theory.write_text(theory.read_text().replace("return float(", "return 1.3 * float("))
    second = judged(tmp_path, "--tier", "smoke")
    [claim] = reported(latest)["claims"]
    assert second.status == 1, second.text
    assert claim["verdict"] == "REFUTED"
    # A judged claim is judged again on fresh evidence after its formula has changed.
    assert claim["blocks"]["reused"] == 0
    assert set(claim["blocks"]["recomputed"]) == {"registration changed"}

    # From another folder.
    simulation = tmp_path / "hebb" / "simulation.py"
    simulation.write_text(simulation.read_text().replace("* first < 0", "* first < 100"))
    (tmp_path / "elsewhere").mkdir()
    judged(tmp_path / "elsewhere", "../hebb")
    [claim] = reported(latest)["claims"]
    assert claim["blocks"]["reused"] == 0


def test_papers_below_the_root(suite: Suite) -> None:
    """Options and report need the plugin before collection; without it, the error says so."""
    for name in ("below_one", "below_two"):
        assert main(["new", name]) == 0
    Path("pytest.ini").unlink()

    assert LOAD in GUIDE
    late = suite.main("-p", "no:cacheprovider")
    assert late.status == pytest.ExitCode.INTERRUPTED, late.text
    assert "(`pytest below_one`)" in late.text
    told = late.text.count("too late to read their options")
    assert told in (1, 2)  # before pytest 9.2, of the first folder alone
    assert LOAD.splitlines()[1] in late.text

    dry = ("-p", "no:cacheprovider", "--dry-run")
    named = suite.main("below_one", "below_two", *dry)
    (suite.folder / "pytest.ini").write_text(LOAD)
    for result in (named, suite.main(*dry)):
        assert result.status == 0, result.text
        assert "2 of 2 claims would run in tier standard on cpu" in result.text


def test_guide_shows_what_is_written(tmp_path: Path) -> None:
    assert main(["new", "hopfield", "--to", str(tmp_path)]) == 0
    files = [path.read_text(encoding="utf-8") for path in (tmp_path / "hopfield").iterdir()]
    blocks = [block.split("```")[0] for block in GUIDE.split("```python\n")[1:]]
    assert len(blocks) == 3
    for block in blocks:
        assert any(block in text for text in files), block
    code = [
        line
        for path in (tmp_path / "hopfield").glob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line
    ]
    assert f"Its {len(code)} lines of Python" in GUIDE


def test_what_is_written_around_a_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is written once, and none is overwritten."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "hebb"]) == 0
    told = "hebb, .gitignore, .github/workflows/claims.yml, pytest.ini: judge it with `pytest hebb`"
    assert capsys.readouterr().out.startswith(told)
    assert ".recall-claims/" in Path(".gitignore").read_text(encoding="utf-8")
    assert Path("pytest.ini").read_text(encoding="utf-8") == LOAD
    flow = yaml.safe_load(Path(".github/workflows/claims.yml").read_text(encoding="utf-8"))
    said = [step.get("run", "") for step in flow["jobs"]["judge"]["steps"]]
    assert "pytest hebb/ --tier smoke" in said
    assert any(text.endswith(f"recall-claims=={version('recall-claims')}") for text in said)
    assert main(["new", "hopf"]) == 0
    assert capsys.readouterr().out.startswith("hopf: judge it with")
    Path("pytest.ini").rename("tox.ini")
    assert main(["new", "oja"]) == 0
    assert not Path("pytest.ini").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("theory", "names a paper or a Python module already"),
        ("A", "names a paper or a Python module already"),
        ("two words", "cannot be the name of a paper"),
        ("class", "cannot be the name of a paper"),
        ("ε", "cannot be the name of a paper"),
        ("_hidden", "cannot be the name of a paper"),
        ("hebb", "hebb exists; choose another name"),
    ],
)
def test_senseless_name(
    tmp_path: Path,
    name: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if name == "theory":  # even if no such module exists: all of the package would count as theory
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    (tmp_path / "hebb").mkdir()
    assert main(["new", name, "--to", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert [*tmp_path.rglob("*")] == [tmp_path / "hebb"]
