"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the whole file of its claim, without what only declares claims, and on every
module developed here that this file imports, directly or not, other claim files among them. It
does not depend on theory, nor on this library. A conftest.py could change what is observed, and so
could a plugin that pytest's configuration names: what these do besides making papers known counts
too. Fingerprints are of syntax trees without docstrings, so a comment changes nothing.

A file beside a module counts where the module names it, as in `Path(__file__).with_name("a.csv")`.

Imports are read from the text of files, whether they belong to a package or not; nothing is
imported for it. What another repository calls theory or simulation is left alone.
"""

import ast
import dis
import hashlib
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.declare.claim import Claim

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
FILE_NAME = re.compile(r"\w[\w./-]{0,80}\.\w+")
"""Of a text in code that may name a file of data."""


@cache  # asked when a claim is collected, and before it runs
def visible_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Full names of the modules and objects that a function can reach by its own module's names.

    Follows functions of claim files that it calls. Sorted, without duplicates.
    """
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [function]
    while waiting:
        current = inspect.unwrap(waiting.pop())
        scope = current.__globals__
        for name in _names(current.__code__):
            if name not in scope or (scope["__name__"], name) in seen:
                continue
            seen.add((scope["__name__"], name))
            value = scope[name]
            if isinstance(value, types.ModuleType):
                found.add(value.__name__)
            elif getattr(value, "__module__", None):
                found.add(f"{value.__module__}.{name}")
            if _is_local(value, function):
                waiting.append(value)
    return tuple(sorted(found))


def theories(function: Callable[..., Any]) -> list[str]:
    """What of theory is reached by the modules that simulate for a function, directly or not.

    They are those that it names, claim files apart, and imported ones with simulation in the name.
    """
    module = function.__module__
    reached = sorted(upstream(module)) if source(module) else []  # none in a notebook
    seen = visible_names(function)
    named = {*seen, *(name.rpartition(".")[0] for name in seen)}
    return [
        f"{simulation} imports {name}"
        for simulation in reached
        if "simulation" in simulation.split(".")
        or (simulation in named and not _claims(simulation))
        for name in sorted(upstream(simulation))
        if "theory" in name.split(".")
    ]


def _claims(module: str) -> bool:
    """Whether a module belongs to claims, which bring theory and simulation together."""
    return module.startswith("claims.") or module.rpartition(".")[2].startswith("test_")


def _names(code: types.CodeType) -> Iterator[str]:
    # Not co_names: that holds attribute names too, which may equal an unrelated global's.
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_local(value: Any, function: Callable[..., Any]) -> bool:
    """Whether it is a function, maybe a cached one, of the same module or another claim file."""
    if not callable(value) or not inspect.isfunction(inspect.unwrap(value)):
        return False
    home: str = value.__module__
    return home == function.__module__ or home.startswith("claims.")


def fingerprint(function: Callable[..., Any]) -> str:
    """SHA-256 of everything the function's result depends on in code, as 16 hex digits.

    That is all of its file but docstrings and what only declares claims, and all of the modules
    that this imports, directly or not, theory and the library apart; and what is loaded before it
    and does more than make papers known.
    """
    home = function.__module__
    return NOTEBOOK if home == NOTEBOOK else _fingerprint(sys.modules[home])


@cache  # a file has many claims
def _fingerprint(module: types.ModuleType) -> str:
    (_, own), *others = _trees(module.__name__).items()
    digest = hashlib.sha256(own)
    for name, tree in others:
        digest.update(b"\0" + name.encode() + b"\0" + tree)
    return digest.hexdigest()[:16]


def parts(module: str) -> dict[str, str]:
    """What the fingerprint of a claim file's functions is made of: a digest for each module."""
    trees = {} if module == NOTEBOOK else _trees(module)
    return {name: hashlib.sha256(tree).hexdigest()[:16] for name, tree in trees.items()}


def _trees(module: str) -> dict[str, bytes]:
    """Of a claim file, then of what it imports but theory and the library, and what acts before."""
    imported = {name: _module_tree(name) for name in sorted(filter(_counts, upstream(module)))}
    data = {name: path.read_bytes() for name, path in sorted(data_files(module).items())}
    return {module: _claim_tree(module)} | imported | _acting(module) | data


def _counts(module: str) -> bool:
    return "theory" not in module.split(".") and not in_library(module)


def in_library(module: str) -> bool:
    """Whether a module is one of this library."""
    return module.split(".")[0] in LIBRARY


def folders(module: str) -> tuple[Path, ...]:
    """The folder of a module and those above it in its repository: pytest looks for files there."""
    file = source(module)
    above = () if file is None else tuple(file.parents)
    ends = (index + 1 for index, folder in enumerate(above) if (folder / ".git").exists())
    return above[: next(ends, len(above))]


def loaded(module: str) -> frozenset[str]:
    """Modules developed here that pytest loads before a claim file, or that these import.

    They are those that a conftest.py imports or names in a string, and the plugins of pytest's
    configuration; this library is left out.
    """
    names = set[str]()
    for up, folder in enumerate(folders(module), 1):
        if (folder / "conftest.py").is_file():
            package = module.rsplit(".", up)[0] if module.count(".") >= up else ""
            names = names.union(*_mentioned(_parsed_file(folder / "conftest.py"), package))
        for file in filter(Path.is_file, (folder / name for name in CONFIGURATION)):
            text = file.read_text(encoding="utf-8", errors="replace")
            names.update(re.findall(r"-p\W*([\w.]+)", text))
    names = {name for name in names if re.fullmatch(r"\w+(\.\w+)*", name)}
    own = {name for name in names if not in_library(name) and source(name)}
    found = own.union(*map(upstream, own))
    return frozenset(name for name in found if not in_library(name))


def _acting(module: str) -> dict[str, bytes]:
    """What each conftest.py does, and each other module loaded before a claim file, that could
    change what it observes: all but imports, which are followed, and making papers known."""
    found = {name: _parsed(name) for name in filter(_counts, loaded(module) - upstream(module))}
    for up, folder in enumerate(folders(module)):
        if (folder / "conftest.py").is_file():
            found[f"{'../' * up}conftest.py"] = _parsed_file(folder / "conftest.py")
    for tree in found.values():
        tree.body = [node for node in tree.body if not _idle(node)]
    return {name: _stripped(tree) for name, tree in sorted(found.items()) if tree.body}


def _idle(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import under its own name, or adds papers."""
    match node:
        case ast.Expr(ast.Constant()):
            return True
        case ast.Import(names):
            return all(alias.asname is None for alias in names)
        case ast.ImportFrom(origin, names):
            known = {alias.name for alias in names if alias.asname is None} - {"*"}
            own = origin in (*LIBRARY, "pathlib") or not known & IDLE_CALLS
            return own and len(known) == len(names)
        case ast.Expr(ast.Call()):
            calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            return all(
                (isinstance(call, ast.Name) and call.id in IDLE_CALLS)
                or (isinstance(call, ast.Attribute) and call.attr in IDLE_CALLS)
                for call in calls
            )
        case ast.For(ast.Name(), iterated, body, []):
            return all(map(_idle, (ast.Expr(iterated), *body)))
    return False


def _claim_tree(name: str) -> bytes:
    """The tree of a claim file: a claim's decorator has its region and prediction, no evidence;
    the call of a family, which makes a claim of a function that stands elsewhere, has its name."""
    tree, scope = _parsed(name), vars(sys.modules[name])
    for node in tree.body:
        match node:
            case ast.FunctionDef() if isinstance(scope.get(node.name), Claim):
                node.decorator_list = []
            case ast.Assign(targets=[ast.Name(id=made)], value=ast.Call() as call):
                if isinstance(claim := scope.get(made), Claim) and _only_declares(call, claim):
                    call.args, call.keywords = _which(claim.observe, tree), []
    return _stripped(tree)


def _which(function: Callable[..., Any], tree: ast.Module) -> list[ast.expr]:
    """What tells a function of a file from others: its name, and itself where it has none."""
    line = function.__code__.co_firstlineno
    same = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == line]
    return [ast.Constant(function.__qualname__), *same]


def _only_declares(call: ast.Call, claim: Claim) -> bool:
    """Whether the arguments of a call cannot change what the claim that it makes simulates."""
    function = claim.observe
    if not isinstance(function, types.FunctionType) or function.__module__ != claim.module:
        return False
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        return False
    return not any(
        function.__globals__.get(part.id) is function
        if isinstance(part, ast.Name)
        else isinstance(part, ast.Lambda) and part.lineno == function.__code__.co_firstlineno
        for given in (*call.args, *call.keywords)
        for part in ast.walk(given)
    )


def meaning(text: bytes) -> bytes:
    """What Python makes of a module's text but for its docstrings: not comments, nor layout.

    Raises:
        SyntaxError: Python makes nothing of it.
    """
    return _stripped(ast.parse(text))


def _stripped(tree: ast.Module) -> bytes:
    """The tree without docstrings."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree).encode()


@cache
def source(module: str) -> Path | None:
    """The file of a module that is developed here: neither Python's own nor installed.

    Imports nothing. A name that is no module, such as a function's, has none.
    """
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names or top == "__main__":
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


@cache
def _module_tree(module: str) -> bytes:
    return _stripped(_parsed(module))


def _parsed(module: str) -> ast.Module:
    file = source(module)
    if file is None:
        raise ModuleNotFoundError(f"cannot find the source of {module}")
    return _parsed_file(file)


def _parsed_file(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _named(module: str) -> tuple[frozenset[str], dict[str, Path]]:
    """What a module's text names, anywhere in it: modules developed here that it imports, and
    files beside it."""
    file, tree = source(module), _parsed(module)
    assert file is not None  # or it could not be parsed
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    names, texts = _mentioned(tree, package)
    imported = frozenset(name for name in names if source(name))
    beside = {f"{module}: {t}": file.parent / t for t in sorted(texts) if FILE_NAME.fullmatch(t)}
    return imported, {name: path for name, path in beside.items() if path.is_file()}


def data_files(module: str) -> dict[str, Path]:
    """Files that count as code, for a claim file or a module that it imports names them.

    Such as `Path(__file__).with_name("rates.csv")`, which may be a path below the module's folder.
    """
    found: dict[str, Path] = {}
    for name in (module, *filter(_counts, upstream(module))):
        found |= _named(name)[1]
    return found


def _mentioned(tree: ast.Module, package: str) -> tuple[set[str], set[str]]:
    """What a module of a package imports, with the names of what it takes from there; its texts."""
    names, texts = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return names, texts


@cache
def upstream(module: str) -> frozenset[str]:
    """Modules developed here that a module imports, directly or not; of this library, which imports
    nothing else, only those that the others name, unless the module is one of them itself."""
    inside = in_library(module)
    return _reach(module, lambda name: not inside and in_library(name)) - {module}


def _reach(module: str, ends: Callable[[str], bool]) -> frozenset[str]:
    """What a chain of imports from a module comes to, if it goes no further at `ends`."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = _named(waiting.pop())[0] - found
        found |= new
        waiting += [name for name in new if not ends(name)]
    return frozenset(found)


def bases(modules: Collection[str]) -> dict[str, list[str]]:
    """For each of these theory modules, the others that it imports, maybe through further ones.

    Modules that are not there are left out.
    """
    return {
        module: sorted(_reach(module, modules.__contains__).intersection(modules) - {module})
        for module in sorted(modules)
        if source(module) is not None
    }


def summary(module: str) -> str:
    """The first paragraph of a module's docstring."""
    return " ".join((ast.get_docstring(_parsed(module)) or "").split("\n\n")[0].split())


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
    parts = (
        path.relative_to(file.parent).with_suffix("").parts for path in file.parent.rglob("*.py")
    )
    return {".".join((package, *p)).removesuffix(".__init__") for p in parts} - {package}
