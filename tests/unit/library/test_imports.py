"""What is loaded along with what, seen from processes of their own."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import claims
import theory


def loaded_by(statements: str) -> set[str]:
    """Modules that a fresh process has loaded after these statements."""
    code = f"import sys; {statements}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_the_library_is_never_imported_as_a_part_of_the_suite() -> None:
    folder = Path(claims.__file__).parent
    files = sorted(file.relative_to(folder.parent) for file in folder.rglob("test_*.py"))
    names = [".".join(file.with_suffix("").parts) for file in files]
    assert "claims.attention.test_signal" in names
    loaded = loaded_by(f"import claims.papers, {', '.join(names)}")
    assert not [name for name in loaded if name.startswith("claims.recall_claims")]


def test_theory_loads_no_torch() -> None:
    packages = (theory.__path__, "theory.")
    names = ", ".join(module.name for module in pkgutil.walk_packages(*packages))
    loaded = loaded_by(f"import {names}")
    assert "recall_claims.predictions" in loaded
    assert "torch" not in loaded


def test_a_notebook_loads_no_pytest() -> None:
    assert "pytest" not in loaded_by("from recall_claims import claim, run")


def test_collection_loads_no_plots() -> None:
    claim = "claims/attention/test_signal.py"
    run = "import pytest; pytest.main(['-p', 'no:cacheprovider', '-q', '-n0', {}])"
    collected = loaded_by(run.format(f"'{claim}', '--collect-only'"))
    assert "recall_claims.plugin" in collected
    assert "recall_reports.html" not in collected


def test_an_unknown_name_of_the_library() -> None:
    with pytest.raises(ImportError, match="nothing_like_it"):
        from recall_claims import nothing_like_it  # type: ignore[attr-defined]  # noqa: F401
