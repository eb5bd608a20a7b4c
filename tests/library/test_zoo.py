"""Theorems of other fields, in a repository of their own: verdicts right, planted errors caught.

Their truth is known; each claim plants an error in its controls, and is SUPPORTED only if the same
data refute it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.apart import Result, run
from tests.faults.conftest import LIBRARY, judged, reported
from tests.library.gallery import PAGE, ZOO, page, text_of

FILES = ("means.py", "shapes.py", "growth.py", "own.py")


def verdicts(folder: Path, *options: str) -> dict[str, str]:
    """What a run in the zoo says of each claim."""
    files = [f"zoo/{name}" for name in FILES]
    done = judged(folder, *files, *options)
    assert done.status == 0, done.text
    record = reported(folder / "reports/latest")
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


def test_claims_on_numpy_need_no_torch(tmp_path: Path) -> None:
    """They are judged, by workers too, where torch cannot be imported; and say so on a GPU."""
    shutil.copytree(ZOO, tmp_path / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('there is no torch')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), LIBRARY])}

    def tried(*options: str) -> Result:
        command = (sys.executable, "-m", "pytest", "zoo/means.py", "-k", "coupons", *options)
        return run(tmp_path, *command, environment=environment)

    done = tried("--executor", "processes:1")
    assert (done.status, "SUPPORTED" in done.text) == (0, True), done.text
    refused = tried("--device", "cuda")
    assert "--device 'cuda' needs torch" in refused.text, refused.text


LATE = """
import numpy as np

import recall_claims as rc

from . import Array, theorem


@theorem(
    "zoo.threads",
    "Torch has one thread, although nothing has loaded it before",
    cells=rc.grid(n=(1,)),
    rule=rc.Identity(0.5),
    controls=(rc.reads("more", "a thread more", "more"),),
    replicates=16,
    looks=1,
)
def threads(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    \"\"\"A second thread would be an error of one.\"\"\"
    import torch

    more = np.ones(block.replicates)
    return {"error": (torch.get_num_threads() - 1) * more, "more": more}
"""


def test_a_simulation_that_loads_torch_itself_has_one_thread(tmp_path: Path) -> None:
    shutil.copytree(ZOO, tmp_path / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "zoo" / "late.py").write_text(LATE)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "3")
    environment = {**os.environ, **threads, "PYTHONPATH": LIBRARY}
    command = (sys.executable, "-m", "pytest", "zoo/late.py", "--executor", "serial")
    done = run(tmp_path, *command, environment=environment)
    assert "SUPPORTED zoo.threads" in " ".join(done.text.split()), done.text


def test_the_gallery_shows_what_runs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.library.gallery"
    own = (ZOO / "own.py").read_text(encoding="utf-8").partition("@theorem")[0]
    shown = PAGE.with_name("rules.md").read_text(encoding="utf-8")
    assert own[own.index("@dataclass") :].strip() in shown, "rules.md: a rule of your own"
