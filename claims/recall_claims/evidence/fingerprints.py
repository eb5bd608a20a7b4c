"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the whole file of its claim, without what only declares claims, and on every
module developed here that this file imports, directly or not, but for theory and this library.
It depends as well on every file of data beside these modules, and on what each conftest.py and each
plugin of pytest's configuration does besides making papers known, for that could change what is
observed.

Fingerprints are of syntax trees without docstrings, so a comment changes nothing. Imports are read
from the text of files, whether they belong to a package or not; nothing is imported for it. What
another repository calls theory or simulation is left alone.
"""

import ast
import dis
import hashlib
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.declare.claim import Claim
from recall_claims.declare.papers import is_paper
from recall_claims.evidence.ledger_file import is_ledger

LIBRARY = ("recall_claims", "recall_reports")
NOTEBOOK = "__main__"
"""The module of what is written in a notebook or at a prompt: it has no file."""
CONFIGURATION = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""Where pytest reads which plugins it loads."""
IDLE_CALLS = frozenset({"add_paper", "Path", "glob", "sorted", "with_name"})
"""What a conftest.py calls that makes papers known."""
PYTHON = (".py", ".pyc", ".pyi", ".so")


def fingerprint(function: Callable[..., Any]) -> str:
    """SHA-256 of all code that the results of a claim file's function depend on: 16 hex digits."""
    home = function.__module__
    return NOTEBOOK if home == NOTEBOOK else _fingerprint(sys.modules[home])


@cache  # a file has many claims
def _fingerprint(module: types.ModuleType) -> str:
    code = _code(module.__name__)
    digest = hashlib.sha256(code.pop(module.__name__))
    for name, text in code.items():
        digest.update(b"\0" + name.encode() + b"\0" + text)
    return digest.hexdigest()[:16]


def parts(module: str) -> dict[str, str]:
    """What the fingerprint of a claim file's functions is made of: a digest for each module."""
    code = {} if module == NOTEBOOK else _code(module)
    return {name: hashlib.sha256(text).hexdigest()[:16] for name, text in code.items()}


def _code(module: str) -> dict[str, bytes]:
    """All that counts for a claim file, first itself: modules, conftest files and files of data."""
    imported = {name: _module_code(name) for name in sorted(filter(_counts, upstream(module)))}
    data = {name: _content(path) for name, path in sorted(data_files(module).items())}
    return {module: _claim_code(module)} | imported | _loaded_code(module) | data


def _counts(module: str) -> bool:
    return "theory" not in module.split(".") and not in_library(module)


def in_library(module: str) -> bool:
    """Whether a module is one of this library."""
    return module.split(".")[0] in LIBRARY


@cache
def _module_code(module: str) -> bytes:
    return _without_docstrings(_parsed(module))


def _without_docstrings(tree: ast.Module) -> bytes:
    """The tree as bytes, after its docstrings are taken out of it."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode()


def _claim_code(module: str) -> bytes:
    """A claim file without what only declares its claims, such as regions and predictions.

    A claim's decorator does not count. Where a call makes a claim of a function, its arguments do
    not: `mine = family(observe)("T.mine", 1.1)` counts as `mine = family(observe)("observe")`.
    """
    tree, values = _parsed(module), vars(sys.modules[module])
    for node in tree.body:
        match node:
            case ast.FunctionDef(name) if isinstance(values.get(name), Claim):
                node.decorator_list = []
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call() as call):
                claim = values.get(name)
                if isinstance(claim, Claim) and _only_declares(call, claim):
                    lambdas = _lambdas(ast.walk(tree), claim.observe)
                    call.args = [ast.Constant(claim.observe.__qualname__), *lambdas]
                    call.keywords = []
    return _without_docstrings(tree)


def _only_declares(call: ast.Call, claim: Claim) -> bool:
    """Whether the arguments of a call cannot change what the claim that it makes simulates.

    They could if its function stands elsewhere, holds values of its own or is an argument.
    """
    function = claim.observe
    if not isinstance(function, types.FunctionType) or function.__module__ != claim.module:
        return False
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        return False
    nodes = [node for given in (*call.args, *call.keywords) for node in ast.walk(given)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    named = any(function.__globals__.get(name) is function for name in names)
    return not named and not _lambdas(nodes, function)


def _lambdas(nodes: Iterable[ast.AST], function: Callable[..., Any]) -> list[ast.Lambda]:
    """Those on the line of a function: it may be one of them."""
    line = function.__code__.co_firstlineno
    return [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line]


def folders(module: str) -> tuple[Path, ...]:
    """The folder of a module and those above it in its repository: pytest looks for files there."""
    file, found = source(module), list[Path]()
    for folder in file.parents if file else ():
        found.append(folder)
        if (folder / ".git").exists():
            break
    return tuple(found)


def _conftests(module: str) -> Iterator[tuple[int, ast.Module]]:
    """Each conftest.py beside a module or above it, after how many folders above it lies."""
    for up, folder in enumerate(folders(module)):
        file = folder / "conftest.py"
        if file.is_file():
            yield up, ast.parse(file.read_text(encoding="utf-8"))


def loaded(module: str) -> frozenset[str]:
    """Modules developed here that pytest loads before a claim file, or that these import.

    They are those that a conftest.py imports or names in a string, and the plugins of pytest's
    configuration; this library is left out.
    """
    names = set[str]()
    for up, conftest in _conftests(module):
        nodes = list(ast.walk(conftest))
        package = ".".join(module.split(".")[: -up - 1])
        names |= _imported_names(nodes, package) | _texts(nodes)
    for file in (folder / name for folder in folders(module) for name in CONFIGURATION):
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            names.update(re.findall(r"-p\W*([\w.]+)", text))
    names = {name for name in names if re.fullmatch(r"\w+(\.\w+)*", name)}
    own = {name for name in names if not in_library(name) and source(name)}
    return frozenset(n for n in own.union(*map(upstream, own)) if not in_library(n))


def _loaded_code(module: str) -> dict[str, bytes]:
    """Of each conftest.py and each other module loaded before a claim file, what could change what
    is observed: all but imports, which are followed, and making papers known."""
    trees = {name: _parsed(name) for name in filter(_counts, loaded(module) - upstream(module))}
    trees |= {f"{'../' * up}conftest.py": tree for up, tree in _conftests(module)}
    for tree in trees.values():
        tree.body = [node for node in tree.body if not _is_idle(node)]
    return {name: _without_docstrings(tree) for name, tree in sorted(trees.items()) if tree.body}


def _is_idle(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import under its own name, or adds papers."""
    match node:
        case ast.Expr(ast.Constant()):
            return True
        case ast.Import(names):
            return all(alias.asname is None for alias in names)
        case ast.ImportFrom(origin, names):
            kept = {alias.name for alias in names if alias.asname is None} - {"*"}
            genuine = origin in (*LIBRARY, "pathlib") or kept.isdisjoint(IDLE_CALLS)
            return genuine and len(kept) == len(names)
        case ast.Expr(ast.Call()):
            functions = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            called = {getattr(f, "id", getattr(f, "attr", None)) for f in functions}  # f or x.f
            return called <= IDLE_CALLS
        case ast.For(ast.Name(), iterated, body, []):
            return all(map(_is_idle, (ast.Expr(iterated), *body)))
    return False


@cache
def upstream(module: str) -> frozenset[str]:
    """Modules developed here that a module imports, directly or not.

    This library imports only itself, so its imports are not followed but for a module of its own.
    """
    inside = in_library(module)
    return _reach(module, lambda name: not inside and in_library(name))


def _reach(module: str, ends: Callable[[str], bool]) -> frozenset[str]:
    """What chains of imports from a module come to, if they go no further at `ends`."""
    found, waiting = set[str](), [module]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += [name for name in new if not ends(name)]
    return frozenset(found - {module})


def data_files(module: str) -> dict[str, Path]:
    """Files of data beside a claim file and the modules that it imports.

    They are all files there but Python's, hidden ones, Markdown, the settings of pytest, papers and
    ledgers.
    """
    counted = (module, *filter(_counts, upstream(module)))
    homes = {file.parent: _package(name, file) for name in counted if (file := source(name))}
    return {
        f"{package}: {path.name}": path
        for folder, package in homes.items()
        for path in folder.iterdir()
        if path.is_file() and not _is_no_data(path)
    }


def _is_no_data(path: Path) -> bool:
    if path.name.startswith(".") or path.name in CONFIGURATION:
        return True
    if path.suffix in (*PYTHON, ".md"):
        return True
    beside = re.sub("-(wal|shm|journal)$", "", path.name)  # what SQLite keeps beside a database
    return is_ledger(path.with_name(beside)) or (path.suffix == ".toml" and is_paper(path))


@cache
def _content(path: Path) -> bytes:
    """A digest of a file of data, which may be large."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def _imported(module: str) -> frozenset[str]:
    """Modules developed here that a module imports, anywhere in its text."""
    file = source(module)
    assert file is not None  # or nobody would ask
    names = _imported_names(ast.walk(_parsed(module)), _package(module, file))
    return frozenset(filter(source, names))


def _package(module: str, file: Path) -> str:
    return module if file.stem == "__init__" else module.rpartition(".")[0]


def _imported_names(nodes: Iterable[ast.AST], package: str) -> set[str]:
    """What a module of a package imports, with the names of what it takes from there."""
    names = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return names


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


@cache
def source(module: str) -> Path | None:
    """The file of a module that is developed here: neither Python's own nor installed.

    Imports nothing. A name that is no module, such as a function's, has none.
    """
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names or top == NOTEBOOK:
        return None
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).resolve()
    if {"site-packages", "dist-packages"}.intersection(file.parts):
        return None
    below = file.parent.joinpath(*rest)
    files = (below / "__init__.py", below.with_name(f"{below.name}.py")) if rest else (file,)
    return next(filter(Path.is_file, files), None)


def _parsed(module: str) -> ast.Module:
    file = source(module)
    if file is None:
        raise ModuleNotFoundError(f"cannot find the source of {module}")
    return ast.parse(file.read_text(encoding="utf-8"))


@cache  # asked when a claim is collected, and before it runs
def visible_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Full names of the modules and objects that a function can reach by its own module's names.

    Follows functions of claim files that it calls. Sorted, without duplicates.
    """
    found, seen = set[str](), set[tuple[str, str]]()
    waiting = [function]
    while waiting:
        current = inspect.unwrap(waiting.pop())
        scope = current.__globals__
        for name in _global_names(current.__code__):
            if name not in scope or (scope["__name__"], name) in seen:
                continue
            seen.add((scope["__name__"], name))
            value = scope[name]
            if isinstance(value, types.ModuleType):
                found.add(value.__name__)
            elif getattr(value, "__module__", None):
                found.add(f"{value.__module__}.{name}")
            if _is_followed(value, function.__module__):
                waiting.append(value)
    return tuple(sorted(found))


def _global_names(code: types.CodeType) -> Iterator[str]:
    # Not co_names: that holds attribute names too, which may equal an unrelated global's.
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _is_followed(value: Any, module: str) -> bool:
    """Whether it is a function, maybe a cached one, of this module or of a claim file."""
    if not callable(value) or not inspect.isfunction(inspect.unwrap(value)):
        return False
    home: str = value.__module__
    return home == module or home.startswith("claims.")


def theories(function: Callable[..., Any]) -> list[str]:
    """What of theory is imported, directly or not, by the modules that simulate for a function:
    those that it names, claim files apart, and imported ones with simulation in the name."""
    module, seen = function.__module__, visible_names(function)
    homes = {*seen, *(name.rpartition(".")[0] for name in seen)}
    named = {home for home in homes if not _is_of_claims(home)}
    imported = sorted(upstream(module)) if source(module) else []  # none in a notebook
    simulations = [m for m in imported if "simulation" in m.split(".") or m in named]
    return [
        f"{simulation} imports {name}"
        for simulation in simulations
        for name in sorted(upstream(simulation))
        if "theory" in name.split(".")
    ]


def _is_of_claims(module: str) -> bool:
    """Whether a module belongs to claims, which bring theory and simulation together."""
    return module.startswith("claims.") or module.rpartition(".")[2].startswith("test_")


def independence() -> dict[str, int]:
    """How many modules theory and simulation have, and how many of them import the other side."""
    theory, simulation = _modules("theory"), _modules("simulation")
    joined = [m for m in theory if not simulation.isdisjoint(upstream(m))]
    joined += [m for m in simulation if not theory.isdisjoint(upstream(m))]
    return {"theory": len(theory), "simulation": len(simulation), "chains": len(joined)}


def _modules(package: str) -> set[str]:
    """Modules of a package that is developed here, without the package itself."""
    file = source(package)
    if file is None or file.stem != "__init__":
        return set()
    below = (path.relative_to(file.parent) for path in file.parent.rglob("*.py"))
    names = {".".join((package, *path.with_suffix("").parts)) for path in below}
    return {name.removesuffix(".__init__") for name in names} - {package}


def bases(modules: Collection[str]) -> dict[str, list[str]]:
    """For each of these theory modules that exists, the nearest others on its chains of imports."""
    return {
        module: sorted(_reach(module, modules.__contains__).intersection(modules))
        for module in sorted(modules)
        if source(module) is not None
    }


def summary(module: str) -> str:
    """The first paragraph of a module's docstring."""
    return " ".join((ast.get_docstring(_parsed(module)) or "").split("\n\n")[0].split())
