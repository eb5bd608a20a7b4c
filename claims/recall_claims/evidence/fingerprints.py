"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the whole file of its claim, without the decorators of claims, and on every
module developed here that this file imports, directly or not, other claim files among them. It
does not depend on theory, nor on this library. Fingerprints are of syntax trees without docstrings,
so a comment changes nothing.

Imports are read from the text of modules, of packages and of files in none, and nothing is imported
for it: what another repository calls theory or simulation is left alone.
"""

import ast
import dis
import hashlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.declare.claim import Claim

LIBRARY = ("recall_claims", "recall_reports")


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

    That is all of its file but docstrings and the decorators of claims, and all of the modules
    that this imports, directly or not, theory and the library apart.
    """
    name = function.__module__
    digest = hashlib.sha256(_claim_tree(name))
    for module in _simulating(name):
        digest.update(b"\0" + module.encode() + b"\0" + _module_tree(module))
    return digest.hexdigest()[:16]


def parts(module: str) -> dict[str, str]:
    """What the fingerprint of a claim file's functions is made of: a digest for each module."""
    trees = {module: _claim_tree(module)}
    trees |= {name: _module_tree(name) for name in _simulating(module)}
    return {name: hashlib.sha256(tree).hexdigest()[:16] for name, tree in trees.items()}


def _simulating(module: str) -> list[str]:
    """What a module imports, directly or not, but theory and the library."""
    split = {name: name.split(".") for name in upstream(module)}
    return sorted(n for n, p in split.items() if "theory" not in p and p[0] not in LIBRARY)


def _claim_tree(name: str) -> bytes:
    """The tree of a claim file: a claim's decorator has its region and prediction, no evidence."""
    tree, scope = _parsed(name), vars(sys.modules[name])
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and isinstance(scope.get(node.name), Claim):
            node.decorator_list = []
    return _stripped(tree)


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
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _imports(module: str) -> frozenset[str]:
    """Modules developed here that a module's text imports, anywhere in it."""
    file = source(module)
    package = module if file is not None and file.stem == "__init__" else module.rpartition(".")[0]
    names = set[str]()
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return frozenset(name for name in names if source(name) is not None)


@cache
def upstream(module: str) -> frozenset[str]:
    """Modules developed here that a module imports, directly or not."""
    return _reach(module, ()) - {module}


def _reach(module: str, ends: Collection[str]) -> frozenset[str]:
    """What a chain of imports from a module comes to, if it goes no further at `ends`."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = _imports(waiting.pop()) - found
        found |= new
        waiting += new.difference(ends)
    return frozenset(found)


def bases(modules: Collection[str]) -> dict[str, list[str]]:
    """For each of these theory modules, the others that it imports, maybe through further ones.

    Modules that are not there are left out.
    """
    return {
        module: sorted(_reach(module, modules).intersection(modules) - {module})
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
