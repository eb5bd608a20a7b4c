"""Theorems of other fields, in a separate folder: verdicts are right, planted errors refuted.

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

from tests.apart import Result, run
from tests.faults.conftest import LIBRARY, REPOSITORY, judged, reported

ZOO = Path(__file__).with_name("zoo")
DOCS = REPOSITORY / ".github" / "docs"
FILES = ("means.py", "shapes.py", "growth.py", "own.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ZOO, tmp_path / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    "seed",
    [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (1, 2, 3, 4))],
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
    assert len(found) == 22
    assert set(found.values()) == {"SUPPORTED"}


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


def test_the_pages_show_what_runs() -> None:
    zoo = "".join(file.read_text(encoding="utf-8") for file in ZOO.glob("*.py"))
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shared = gallery.partition("```python\n")[2].partition("```")[0]
    assert shared[shared.index("Array = ") :] in zoo
    pasted: dict[str, object] = {"__name__": "pasted"}
    exec(shared, pasted)
    examples = re.findall(r"^## `(\w+)`: (.*)\n\n```python\n((?s:.*?))```", gallery, re.MULTILINE)
    assert len(examples) == 13
    for kind, title, block in examples:
        assert block in zoo, title
        assert f"rule=rc.{kind}(" in block
        assert f'"""{title}.' in " ".join(block.split())
        name = block.split('"')[1].removeprefix("zoo.")
        if name in ("last-coupon", "johnson-lindenstrauss", "gumbel", "half-life", "gaps"):
            assert block.count("\n") <= 10, "rules.md: they take ten lines each"
        exec(block, pasted)
    own = (ZOO / "own.py").read_text(encoding="utf-8").partition("@theorem")[0]
    rules = (DOCS / "rules.md").read_text(encoding="utf-8")
    assert own[own.index("@dataclass") :].strip() in rules, "rules.md: a rule of your own"
