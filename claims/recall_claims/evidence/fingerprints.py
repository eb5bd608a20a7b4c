"""Code that a block of evidence depends on, and its fingerprint.

A block depends on the file of its claim and on every module developed here that this file imports,
directly or not, except theory and this library. It also depends on every file of data next to these
modules. Each conftest.py next to or above the claim counts, and each plugin of pytest's
configuration, with their imports, because they could change the observations.

Fingerprints are of syntax trees without comments and docstrings. They also leave out decorators
that make claims of plain functions, and assignments that make a claim by a call. If such a call
makes a claim of a lambda or closure, this claim's fingerprint includes the assignment.
"""

import ast
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.declare.claim import Claim
from recall_claims.evidence.imports import (
    NOTEBOOK,
    imported_names,
    in_library,
    package,
    parsed,
    source,
    upstream,
)
from recall_claims.evidence.ledger_file import is_ledger
from recall_claims.model.papers import is_paper

CONFIGURATION = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""Files in which pytest looks for the plugins that it loads."""
PYTHON = (".py", ".pyc", ".pyi")
TEXTS = ("title", "why", "latex", "refuted")
"""Arguments of a claim that fingerprints leave out if they are plain text."""


def fingerprint(function: Callable[..., Any]) -> str:
    """Hash all code that a claim's function depends on, by SHA-256, to 16 hex digits."""
    home = function.__module__
    if home == NOTEBOOK:
        return NOTEBOOK
    tree, made = _shared(sys.modules[home])
    own = "" if _is_plain(function) else "".join(made.get(id(function), ()))
    name = getattr(function, "__qualname__", "")
    elsewhere = "\0".join(f"{part}\0{text}" for part, text in _imported_code(home).items())
    text = "\0".join((tree, name, own, elsewhere))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parts(module: str) -> dict[str, str]:
    """Return a digest of each module that the fingerprints of a claim file depend on."""
    if module == NOTEBOOK:
        return {}
    code = {module: without_docstrings(parsed(module))} | _imported_code(module)
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in code.items()}


def files_behind(module: str) -> dict[str, Path]:
    """Return a claim file, its imports (theory too), data next to them, and conftest.py files."""
    names = {module, *upstream(module), *_loaded(module)}
    conftests = (folder / "conftest.py" for folder in _folders(module))
    found = {f"{up} up": file for up, file in enumerate(conftests) if file.is_file()}
    return found | {name: path for name in names if (path := source(name))} | _data(names)


def uncounted(module: str, loaded: Iterable[str]) -> list[str]:
    """Name the loaded modules developed here that a claim file's fingerprints leave out."""
    counted = upstream(module) | _loaded(module) | {module}
    own = [name for name in loaded if not in_library(name) and source(name)]
    return sorted({*own} - counted)


def replaced(module: str, conftests: Iterable[types.ModuleType]) -> Iterator[str]:
    """Say which functions of a claim file's code another folder's conftest.py has replaced."""
    counted, folders = upstream(module) | {module}, _folders(module)
    for other in conftests:
        file = Path(other.__file__ or "").resolve()
        for name in sorted(counted) if file.parent not in folders else ():
            for key, value in vars(sys.modules.get(name, types)).items():
                if getattr(value, "__globals__", None) is vars(other):
                    yield f"{file} replaces {name}.{key}"


def _is_plain(function: Callable[..., Any]) -> bool:
    """Whether a function is no lambda or inner function, and has no closure or defaults."""
    if not isinstance(function, types.FunctionType) or "<" in function.__qualname__:
        return False
    return not (function.__closure__ or function.__defaults__ or function.__kwdefaults__)


@cache  # a file has many claims
def _shared(module: types.ModuleType) -> tuple[str, dict[int, list[str]]]:
    """Return the code that a file's claims share, and its assignments that make claims.

    Assignments are listed by the claim function's `id`.
    """
    tree, made = parsed(module.__name__), dict[int, list[str]]()
    for node in [*tree.body]:
        match node:
            case ast.FunctionDef(name):
                claim = vars(module).get(name)
                if isinstance(claim, Claim) and _is_plain(claim.observe):
                    node.decorator_list = []
            case ast.Assign(targets=[ast.Name(name)]):
                claim = vars(module).get(name)
                if isinstance(claim, Claim):
                    tree.body.remove(node)
                    made.setdefault(id(claim.observe), []).append(_without_texts(node))
    return without_docstrings(tree), made


def _without_texts(statement: ast.Assign) -> str:
    for call in ast.walk(statement):
        if isinstance(call, ast.Call):
            call.keywords = [
                given
                for given in call.keywords
                if given.arg not in TEXTS or not isinstance(given.value, ast.Constant)
            ]
    return ast.dump(statement)


@cache
def _imported_code(module: str) -> dict[str, str]:
    """Return the code outside a claim file that counts for it: modules, conftest and data files."""
    names = sorted((upstream(module) | _loaded(module)) - {module})
    counted = [name for name in names if "theory" not in name.split(".") and not in_library(name)]
    code = {name: _module_code(name) for name in counted}
    for up, tree in _conftests(module):
        code[f"{'../' * up}conftest.py"] = without_docstrings(tree)
    data = {name: content(path) for name, path in sorted(_data((module, *counted)).items())}
    return code | data


@cache
def _module_code(module: str) -> str:
    return without_docstrings(parsed(module))


def without_docstrings(tree: ast.AST) -> str:
    """Write the tree as text, without docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not _is_text(one)]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _folders(module: str) -> tuple[Path, ...]:
    """Return the folders of a repository, from a module's upwards, where pytest looks for files."""
    file, found = source(module), list[Path]()
    for folder in file.parents if file else ():
        found.append(folder)
        if (folder / ".git").exists():
            break
    return tuple(found)


def _conftests(module: str) -> Iterator[tuple[int, ast.Module]]:
    """Yield each conftest.py: how many folders it is above the module, and its syntax tree."""
    for up, folder in enumerate(_folders(module)):
        file = folder / "conftest.py"
        if file.is_file():
            yield up, ast.parse(file.read_bytes())


def _loaded(module: str) -> set[str]:
    """Return the modules developed here that pytest loads before a claim file, and their imports.

    A conftest.py imports them or names them in a string, or pytest's configuration has them as
    plugins.
    """
    names = set[str]()
    for up, conftest in _conftests(module):
        nodes = list(ast.walk(conftest))
        names |= imported_names(nodes, ".".join(module.split(".")[: -up - 1]))
        names |= {
            n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
    for file in (folder / name for folder in _folders(module) for name in CONFIGURATION):
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            names.update(re.findall(r"-p\W*([\w.]+)", text))
    own = {name for name in names if re.fullmatch(r"\w+(\.\w+)*", name) and source(name)}
    return own.union(*map(upstream, own))


def _data(modules: Iterable[str]) -> dict[str, Path]:
    """Find data files, and extension modules, next to modules.

    Python, Markdown, hidden files, pytest's settings, papers and ledgers are left out.
    """
    homes = {f.parent: package(m) for m in modules if (f := source(m))}
    return {f"{home}: {f.name}": f for folder, home in homes.items() for f in _beside(folder)}


@cache
def _beside(folder: Path) -> list[Path]:
    found = []
    for path in folder.iterdir():
        known = path.name in CONFIGURATION or path.suffix in (*PYTHON, ".md")
        if known or path.name.startswith(".") or not path.is_file():
            continue
        beside = re.sub("-(wal|shm|journal)$", "", path.name)  # SQLite's further files
        paper = path.suffix == ".toml" and is_paper(path)
        if not paper and not is_ledger(path.with_name(beside)):
            found.append(path)
    return found


@cache
def content(path: Path) -> str:
    """Digest a file of data, which may be large."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
