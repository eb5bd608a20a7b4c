"""Modules that an import loads, as seen in a fresh process."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import claims
import theory


def loaded_by(*steps: str) -> list[set[str]]:
    """List the modules that a fresh process has loaded after each of these statements."""
    code = "; ".join(f"{step}; print(*sys.modules)" for step in ("import sys", *steps))
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [set(line.split()) for line in printed.splitlines()[1:]]


def test_theory_loads_no_torch_a_notebook_no_pytest_and_claims_no_second_library() -> None:
    modules = pkgutil.walk_packages(theory.__path__, "theory.")
    folder = Path(claims.__file__).parent
    files = sorted(file.relative_to(folder.parent) for file in folder.rglob("test_*.py"))
    names = [".".join(file.with_suffix("").parts) for file in files]
    assert "claims.attention.test_signal" in names
    of_theory, of_a_notebook, of_the_suite = loaded_by(
        f"import {', '.join(module.name for module in modules)}",
        "from recall_claims.notebook import run",
        f"import claims.papers, {', '.join(names)}",
    )
    assert "recall_claims.model.predictions" in of_theory
    assert "torch" not in of_theory
    assert "pytest" not in of_a_notebook
    assert not [name for name in of_the_suite if name.startswith("claims.recall_claims")]


def test_collection_loads_no_plots() -> None:
    arguments = "'-p', 'no:cacheprovider', '-qq', '-n0', '--collect-only'"
    claim = "claims/attention/test_signal.py"
    collected = loaded_by(f"import pytest; pytest.main(['{claim}', {arguments}])")[-1]
    assert "recall_claims.plugin" in collected
    assert "recall_reports.html" not in collected
