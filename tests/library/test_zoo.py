"""Theorems of other fields, in a separate repository: verdicts are right, planted errors refuted.

The theorems are known to be true. Each claim plants an error in its controls, and is SUPPORTED only
if the same data refute this error.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from recall_claims import Claim
from tests.apart import Result, run
from tests.faults.conftest import LIBRARY, judged, reported
from tests.library.gallery import PAGE, SHOWN, ZOO, page, text_of

FILES = ("means.py", "shapes.py", "growth.py", "own.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a copy of the zoo."""
    shutil.copytree(ZOO, tmp_path / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2, 3, 4))]
)
def test_every_theorem_is_supported_and_every_planted_error_refuted(
    seed: int, folder: Path
) -> None:
    files = [f"zoo/{name}" for name in FILES]
    done = judged(folder, *files, "--seed", str(seed))
    assert done.status == 0, done.text
    claims = reported(folder / "reports/latest")["claims"]
    assert {c["verdict"] for claim in claims for c in claim["controls"]} == {"REFUTED"}
    assert all(claim["controls"] for claim in claims)
    methods = {claim["rule"]["method"] for claim in claims}
    assert any("of a tail. Hoeffding's inequality: each end" in method for method in methods)
    found = {claim["id"]: claim["verdict"] for claim in claims}
    assert len(found) == 27
    assert set(found.values()) == {"SUPPORTED"}


@pytest.mark.parametrize(
    "name", ["last_coupon", "johnson_lindenstrauss", "gumbel", "half_life", "gaps"]
)
def test_a_median_a_variance_a_law_a_limit_and_a_logarithm_take_ten_lines(name: str) -> None:
    assert len(text_of(name)[1].splitlines()) <= 10


def coupons(folder: Path, *options: str, **environment: str) -> Result:
    """Judge one claim in a process where nothing else has loaded torch or set its threads."""
    command = (sys.executable, "-m", "pytest", "zoo/means.py", "-k", "coupons", *options)
    path = {"PYTHONPATH": os.pathsep.join([str(folder), LIBRARY])}
    return run(folder, *command, environment={**os.environ, **path, **environment})


def test_claims_on_numpy_need_no_torch(folder: Path) -> None:
    """They are judged without torch, by workers too; on a GPU they say that torch is missing."""
    (folder / "torch.py").write_text("raise ModuleNotFoundError('there is no torch')")
    done = coupons(folder, "--executor", "processes:1")
    assert (done.status, "SUPPORTED" in done.text) == (0, True), done.text
    refused = coupons(folder, "--device", "cuda")
    assert "--device 'cuda' needs torch" in refused.text, refused.text


def test_a_simulation_that_loads_torch_itself_has_one_thread(folder: Path) -> None:
    file = folder / "zoo/means.py"
    right = '    n = cell["n"]\n'
    late = '    import torch\n\n    n = cell["n"] * torch.get_num_threads()\n'
    file.write_text(file.read_text().replace(right, late))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "3")
    done = coupons(folder, "--executor", "serial", **threads)
    assert "SUPPORTED zoo.coupons" in " ".join(done.text.split()), done.text


def test_the_gallery_shows_what_runs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "python -m tests.library.gallery"
    pasted: dict[str, object] = {"__name__": "pasted"}
    for block in re.findall("```python\n(.*?)```", text, re.DOTALL):
        exec(block, pasted)
    assert sum(isinstance(value, Claim) for value in pasted.values()) == len(SHOWN)
    own = (ZOO / "own.py").read_text(encoding="utf-8").partition("@theorem")[0]
    shown = PAGE.with_name("rules.md").read_text(encoding="utf-8")
    assert own[own.index("@dataclass") :].strip() in shown, "rules.md: a rule of your own"
