"""The page `.github/docs/api.md` has an example for every name, and the examples run."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import recall_claims as rc
from recall_claims.__main__ import main
from recall_claims.model import predictions as registry
from tests.apart import run
from tests.faults.conftest import REPOSITORY, environment

PAGE = (REPOSITORY / ".github/docs/api.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| .* \| `(.*)` \|$", PAGE, re.MULTILINE)


def test_every_name_has_an_example_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})  # an example has no module
    assert sorted(name for name, _ in ROWS) == sorted(rc.__all__)
    known = {"rc": rc, "np": np, "heads": None}
    for name, example in ROWS:
        assert re.search(rf"rc\.{name}\b", example), name
        if name != "add_paper":  # it is run below
            eval(example, dict(known))


def test_the_claim_of_the_page_is_supported(tmp_path: Path) -> None:
    assert main(["new", "hopfield", "--to", str(tmp_path)]) == 0
    whole, asked = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "coins.py").write_text(whole)
    *imports, last = asked.splitlines()
    call, says = last.split("  # ")
    script = "\n".join(["from coins import *", *imports, f"print(repr({call}))"])
    done = run(tmp_path, sys.executable, "-c", script, environment=environment())
    assert done.text.strip().splitlines()[-1] == says
