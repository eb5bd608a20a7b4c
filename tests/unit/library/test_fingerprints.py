"""A block's fingerprint depends on code and data that may change its figures, and not on theory."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock, call

import pytest

from recall_claims.evidence import fingerprints, imports
from recall_claims.evidence.fingerprints import fingerprint
from recall_claims.evidence.ledger import Ledger
from tests.faults.conftest import PAPER

SOURCE = '''
"""A module."""
from functools import cache
from recall_claims import MeanRatio, Region, claim, grid
from simulation.attention import sampling
from theory.attention import problem

SIZE = 3
"""A number."""

class Shape:
    """A class."""
    sides = 4
    """A field."""

@cache
def cached(x):
    return x + 1

def closure(n):
    return lambda x: x + n

later = closure(5)

def helper(x):
    """Doc."""
    return x + SIZE

def decorate(f):
    return f

@decorate
def observe(cell, block):
    """Statement."""
    return sampling, helper(1)

@claim("T.one", "One", cells=grid(a=1), replicates=2, rule=MeanRatio(Region(0.9, 1.1)))
def one(cell, block):
    """The theorem."""
    return Shape(), cached(1), later(1)

def family(observe):
    return lambda id, high, why='': claim(
        id, "One of many", cells=grid(a=1), replicates=2, rule=MeanRatio(Region(0.9, high))
    )(observe)

def other(cell, block):
    return 2

of_one, of_none = family(lambda cell, block: 1.0), family(lambda cell, block: 0.0)
listed = of_one("T.listed", 1.1)
by_name = dict(first=observe, second=other)
picked = (lambda name, high, **kept: family(by_name[name])("T.picked", high))("second", 1.2)

def cheat(cell, block):
    return problem.Problem

def innocent(cell, block):
    return block.problem
'''


def load(folder: Path, text: str, name: str = "claimlike") -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    for loaded in [m for m in sys.modules if m == name or m.partition(".")[0] == "own"]:
        del sys.modules[loaded]
    for cached in (
        imports._imports,
        fingerprints._imported_code,
        fingerprints._module_code,
        fingerprints._beside,
        fingerprints.content,
        imports.upstream,
        imports.source,
    ):
        cached.cache_clear()
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.mark.parametrize(
    ("claim", "old", "new", "same"),
    [
        ("one", '"One", cells', '"The one", cells', True),
        ("one", '"T.listed", 1.1', '"T.listed", 1.3', True),
        ("one", 'listed = of_one("', 'listed = of_none("', True),
        ("one", '"second", 1.2', '"first", 1.2', True),
        ("one", '"""Doc."""', '"""Another docstring."""', True),
        ("one", '"""A class."""', '"""Another docstring."""', True),
        ("one", '"""A number."""', '"""Another docstring."""', True),
        ("one", '"""A field."""', '"""Another docstring."""', True),
        ("one", "@decorate\n", "@decorate  # a comment\n", True),
        ("one", '"""The theorem."""', '"""The theorem, reworded."""', True),
        ("one", "Region(0.9, 1.1)", "Region(0.8, 1.2)", True),
        ("one", "lambda cell, block: 0.0", "lambda cell, block: 1.0", False),
        ("one", "@decorate\n", "", False),
        ("one", "@cache\n", "", False),
        ("one", "sides = 4", "sides = 5", False),
        ("one", "return x + 1", "return x + 2", False),
        ("one", "closure(5)", "closure(6)", False),
        ("one", "x + SIZE", "x - SIZE", False),
        ("one", "SIZE = 3", "SIZE = 4", False),
        ("one", "helper(1)", "helper(2)", False),
        ("listed", 'of_one("', 'of_none("', False),
        ("listed", "block: 1.0", "block: 2.0", False),
        ("listed", '"T.listed", 1.1', '"T.listed", 1.3', False),  # it may be part of the closure
        ("listed", '"T.listed", 1.1', '"T.listed", 1.1, why="so"', True),
        ("listed", '"T.listed", 1.1', '"T.listed", 1.1, why=SIZE', False),
        ("listed", "0.9, 1.1", "0.8, 1.2", True),
        ("picked", '"second", 1.2', '"second", 1.4, why="so"', True),
        ("picked", '"second", 1.2', '"first", 1.2', False),
    ],
)
def test_fingerprint_changes_with_what_the_figures_depend_on(
    folder: Path, claim: str, old: str, new: str, same: bool
) -> None:
    assert old in SOURCE
    before, after = (
        fingerprint(vars(load(folder, text))[claim].observe)
        for text in (SOURCE, SOURCE.replace(old, new))
    )
    assert (before == after) is same


def test_a_file_is_parsed_once_whatever_the_number_of_its_claims(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (
        "@claim('T.{0}', '', cells=grid(a=1), replicates=2, rule=RULE)\n"
        "def claim_{0}(cell, block):\n    return 0\n"
    )
    claims = "".join(one.format(n) for n in range(20))
    loaded = load(folder, f"{SOURCE}\nRULE = MeanRatio(Region(0.9, 1.1))\n{claims}")
    parsed = Mock(wraps=imports.parsed)
    monkeypatch.setattr(fingerprints, "parsed", parsed)
    monkeypatch.setattr(imports, "parsed", parsed)
    assert len({fingerprint(getattr(loaded, f"claim_{n}").observe) for n in range(20)}) == 20
    assert parsed.call_args_list.count(call("claimlike")) == 2  # its tree, and its imports
    named = Mock(wraps=imports._global_names)
    monkeypatch.setattr(imports, "_global_names", named)
    assert imports.visible_names(loaded.one.observe) is imports.visible_names(loaded.one.observe)
    assert named.call_args_list.count(call(loaded.one.observe.__code__)) == 1


def test_a_simulation_that_uses_theory_is_seen_and_an_attribute_of_its_name_is_not(
    folder: Path,
) -> None:
    module = load(folder, SOURCE)
    assert "theory.attention.problem" in imports.visible_names(module.cheat)
    assert not any(name.startswith("theory") for name in imports.visible_names(module.observe))
    assert imports.visible_names(module.innocent) == ()


def test_a_file_in_no_package_counts_with_what_it_imports(folder: Path) -> None:
    (folder / "flat_helper.py").write_text("from simulation import tiles\n")
    load(folder, "import json\nimport numpy\nimport flat_helper\n", "flat")
    assert imports.upstream("flat") >= {"flat_helper", "simulation", "simulation.tiles"}
    assert imports.source("flat") == (folder / "flat.py").resolve()
    assert {imports.source(name) for name in ("json", "numpy", "flat.nothing")} == {None}


def test_code_in_a_folder_without_init_counts(folder: Path) -> None:
    (folder / "helpers").mkdir()
    found = set()
    for value in (1, 2):
        (folder / "helpers" / "drawing.py").write_text(f"VALUE = {value}\n")
        module = load(folder, f"from helpers.drawing import VALUE\n{SOURCE}")
        found.add(fingerprint(module.one.observe))
    assert imports.upstream("claimlike") >= {"helpers.drawing"}
    assert len(found) == 2


def test_a_compiled_module_counts_as_data(folder: Path) -> None:
    found = set()
    for content in (b"\x7fELF\xff", b"\x7fELF\xfe"):
        (folder / "fast.so").write_bytes(content)
        found.add(fingerprint(load(folder, f"if False:\n    import fast\n{SOURCE}").one.observe))
    assert imports.source("fast") is None
    assert len(found) == 2


def test_a_file_in_any_encoding_that_python_reads(folder: Path) -> None:
    for name, begin in {
        "marked": b"\xef\xbb\xbf",
        "latin": b"# coding: latin-1\nE = '\xe9'\n",
    }.items():
        (folder / f"{name}.py").write_bytes(begin + b"import helpers_helper\n")
    (folder / "helpers_helper.py").touch()
    load(folder, "import marked, latin\n", "flat")
    assert imports.upstream("flat") == {"marked", "latin", "helpers_helper"}


OWN = {
    **{f"own/{place}__init__.py": "" for place in ("", "claims/", "elsewhere/")},
    **dict.fromkeys(("own/simulation_like.py", "own/theory.py"), "VALUE = 1\n"),
    **dict.fromkeys(("own/claims/rates.csv", "own/elsewhere/other.csv"), "1"),
    "own/claims/common.py": "from .. import simulation_like\nVALUE = 1\n",
    "own/claims/test_it.py": """
from pathlib import Path
from own import theory
from own.claims import common
RATES = Path(__file__).with_name("rates.csv").read_text()
def observe(): ...
""",
}


@pytest.mark.parametrize(
    ("files", "same"),
    [
        ({"own/theory.py": "VALUE = 2\n"}, True),
        ({"own/simulation_like.py": "VALUE = 2\n"}, False),
        ({"own/claims/common.py": "from .. import simulation_like\nVALUE = 2\n"}, False),
        ({"own/claims/rates.csv": "2"}, False),
        ({"own/rates.csv": "1"}, False),
        ({"own/elsewhere/other.csv": "2"}, True),
        ({"own/claims/README.md": "2", "own/claims/.other.csv": "2"}, True),
        ({"own/claims/paper.toml": PAPER}, True),
        ({"own/claims/rates.toml": "id = 1"}, False),
        ({"own/claims/rates.sqlite": "2"}, False),
        ({"own/claims/conftest.py": "VALUE = 1\n"}, False),
        ({"own/conftest.py": "import recall_claims, own.theory\n"}, False),
        ({"own/__init__.py": "VALUE = 1\n"}, False),
        ({"pytest.ini": "[pytest]\naddopts = -p recall_claims.plugin -ra\n"}, True),
        ({"own/elsewhere/conftest.py": "import numpy\nnumpy.mean = max\n"}, True),
        ({"own/claims/conftest.py": "import numpy\nnumpy.mean = max\n"}, False),
        ({"own/conftest.py": "import numpy\nnumpy.mean = max\n"}, False),
        ({"conftest.py": "import numpy\nnumpy.mean = max\n"}, False),
        ({"own/conftest.py": "import evil\n", "evil.py": "VALUE = 1\n"}, False),
        ({"own/conftest.py": "from . import evil\n", "own/evil.py": "VALUE = 1\n"}, False),
        ({"own/conftest.py": 'pytest_plugins = ["evil"]\n', "evil.py": "VALUE = 1\n"}, False),
        ({"pytest.ini": "[pytest]\naddopts = -p evil\n", "evil.py": "VALUE = 1\n"}, False),
        ({"pyproject.toml": 'addopts = ["-p", "evil"]\n', "evil.py": "VALUE = 1\n"}, False),
    ],
)
def test_what_is_read_for_a_claim_file_counts_but_for_theory(
    folder: Path, files: dict[str, str], same: bool
) -> None:
    def with_(changed: dict[str, str]) -> str:
        for file, text in changed.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        load(folder, "from own.claims import test_it\n")
        return fingerprint(sys.modules["own.claims.test_it"].observe)

    before, after = with_(OWN), with_(files)
    assert (before == after) is same
    if "evil.py" in files:
        assert with_({"evil.py": "VALUE = 2\n"}) != after


def test_a_ledger_beside_a_claim_is_no_data_of_it(folder: Path) -> None:
    module = load(folder, SOURCE)
    before = fingerprint(module.one.observe)
    with Ledger(folder / "evidence.db"):
        assert len(list(folder.iterdir())) > 2  # with SQLite's log of what is written
        assert fingerprint(load(folder, SOURCE).one.observe) == before


def test_formulas_rest_on_the_nearest_that_are_asked_about() -> None:
    names = (
        "theory.attention.signal",
        "theory.attention.localisation",
        "theory.attention.critical",
        "theory.attention.capacity",
    )
    assert imports.bases([*names, "theory.nowhere"]) == {
        "theory.attention.capacity": ["theory.attention.critical", "theory.attention.localisation"],
        "theory.attention.critical": ["theory.attention.localisation"],
        "theory.attention.localisation": ["theory.attention.signal"],
        "theory.attention.signal": [],
    }


def test_summary_is_the_first_paragraph_of_the_docstring() -> None:
    expected = "Localisation: the probability that the attention finds the informative token."
    assert imports.summary("theory.attention.localisation") == expected


def test_theory_and_simulation_are_independent_and_counted() -> None:
    found = imports.independence()
    assert found["chains"] == 0
    for package in ("theory", "simulation"):
        folder = Path(__file__).parents[3] / package
        assert found[package] == len([*folder.rglob("*.py")]) - 1  # without the package itself
