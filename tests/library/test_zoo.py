"""Theorems of other fields, in a repository of their own: verdicts right, planted errors caught.

Their truth is known; each claim plants an error in its controls, and is SUPPORTED only if the same
data refute it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.apart import run_pytest
from tests.faults.conftest import LIBRARY
from tests.library.gallery import PAGE, ZOO, page, text_of

FILES = ("means.py", "shapes.py", "growth.py", "own.py")


def verdicts(folder: Path, *options: str) -> dict[str, str]:
    """What a run in the zoo says of each claim."""
    files = [f"zoo/{name}" for name in FILES]
    environment = {**os.environ, "PYTHONPATH": LIBRARY}
    done = run_pytest(folder, (*files, "--executor", "serial", *options), environment)
    assert done.status == 0, done.text
    record = json.loads((folder / "reports/latest/report.json").read_text(encoding="utf-8"))
    caught = {c["verdict"] for claim in record["claims"] for c in claim["controls"]}
    assert caught == {"REFUTED"}
    assert all(claim["controls"] for claim in record["claims"])
    methods = {claim["rule"]["method"] for claim in record["claims"]}
    assert any("of a tail. Hoeffding's inequality: each end" in method for method in methods)
    return {claim["id"]: claim["verdict"] for claim in record["claims"]}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2, 3, 4))]
)
def test_every_theorem_is_supported_and_every_planted_error_refuted(
    seed: int, tmp_path: Path
) -> None:
    shutil.copytree(ZOO, tmp_path / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
    found = verdicts(tmp_path, "--seed", str(seed), "--no-plots")
    assert len(found) == 27
    assert set(found.values()) == {"SUPPORTED"}


@pytest.mark.parametrize(
    "name", ["last_coupon", "johnson_lindenstrauss", "gumbel", "half_life", "gaps"]
)
def test_a_median_a_variance_a_law_a_limit_and_a_logarithm_take_ten_lines(name: str) -> None:
    assert len(text_of(name)[1].splitlines()) <= 10


def test_the_gallery_shows_what_runs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.library.gallery"
    own = (ZOO / "own.py").read_text(encoding="utf-8").partition("@theorem")[0]
    shown = PAGE.with_name("rules.md").read_text(encoding="utf-8")
    assert own[own.index("@dataclass") :].strip() in shown, "rules.md: a rule of your own"
