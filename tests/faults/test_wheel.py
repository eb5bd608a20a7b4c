"""The wheel contains only the library, and works next to packages called `theory` or `claims`."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.apart import Result, run, run_pytest
from tests.faults.conftest import REPOSITORY, environment, reported

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def apart(folder: Path, *command: str, path: Path | None = None) -> Result:
    return run(folder, *command, environment=environment(PYTHONPATH=str(path or "")))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel offline, from a copy, because a build writes into the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "latest")
    for name in ("claims", "reports"):
        shutil.copytree(REPOSITORY / name, folder / "source" / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, folder / "source")
    built = apart(folder, *PIP, "wheel", "--no-deps", "--no-build-isolation", "./source")
    assert built.status == 0, built.text
    [file] = folder.glob("*.whl")
    return file


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    assert wheel.stat().st_size < 320 * 1024  # about 130 small files, none of the suite
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        file.relative_to(REPOSITORY / folder).as_posix()
        for folder in ("claims", "reports")
        for file in (REPOSITORY / folder).glob("recall_*/**/*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".md"
    }
    assert names == expected
    for name in ("py.typed", "templates/report.html.j2"):
        assert f"recall_reports/{name}" in names
    for name in ("py.typed", "new_paper/paper.toml.j2"):
        assert f"recall_claims/{name}" in names


def test_the_index_takes_its_metadata(wheel: Path) -> None:
    """Run the release workflow's check, if it is installed."""
    pytest.importorskip("twine")
    checked = apart(wheel.parent, sys.executable, "-m", "twine", "check", "--strict", wheel.name)
    assert checked.status == 0, checked.text


def test_a_repository_with_packages_of_the_suites_names(wheel: Path, tmp_path: Path) -> None:
    """The test follows `.github/docs/new-paper.md` on the wheel, and judges the paper twice: the
    second time every block is from the ledger.
    """
    library, folder = tmp_path / "library", tmp_path / "stranger"
    installed = apart(tmp_path, *PIP, "install", "--no-deps", "--target", str(library), str(wheel))
    assert installed.status == 0, installed.text
    for name in ("theory", "simulation", "claims", "reports"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise RuntimeError('{name} was imported')\n")

    python = (sys.executable, "-m")
    where = apart(folder, sys.executable, "-c", "import recall_claims as r; print(r)", path=library)
    assert str(library) in where.text
    new = apart(folder, *python, "recall_claims", "new", "hopfield", path=library)
    assert new.status == 0, new.text
    for _ in range(2):
        arguments = ("hopfield/", "--executor", "serial")
        judged = run_pytest(folder, arguments, environment(PYTHONPATH=str(library)))
        assert judged.status == 0, judged.text
        assert "1 SUPPORTED" in judged.text
    suite = reported(folder / "reports/latest")["suite"]
    assert suite["blocks"]["reused"] == suite["blocks"]["total"]
