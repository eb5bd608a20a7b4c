"""Imports between modules developed here (not installed), and modules that a function can reach.

We read imports from the text of files, in packages or not, and import nothing.
"""

import ast
import dis
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

LIBRARY = ("recall_claims", "recall_reports")
INSTALLED = {"site-packages", "dist-packages"}
NOTEBOOK = "__main__"
"""The module of code typed in a notebook or at a prompt, which has no file."""


def in_library(module: str) -> bool:
    """Whether a module belongs to this library."""
    return module.split(".")[0] in LIBRARY


@cache
def source(module: str) -> Path | None:
    """Find the file of a module developed here; None for Python's own and installed modules.

    The result is None also for compiled modules, and for names of other things, such as functions.
    """
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names or top == NOTEBOOK:
        return None
    spec = importlib.util.find_spec(top)
    files = [Path(spec.origin)] if spec and spec.origin else []
    if rest:  # a package without an __init__.py may have several folders
        places = (spec and spec.submodule_search_locations) or ()
        below = [Path(place).joinpath(*rest) for place in places]
        files = [f for b in below for f in (b / "__init__.py", b.with_name(f"{b.name}.py"))]
    found = (file.resolve() for file in files if file.suffix == ".py" and file.is_file())
    return next((file for file in found if not INSTALLED.intersection(file.parts)), None)


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module developed here."""
    file = source(module)
    if file is None:
        raise ModuleNotFoundError(f"cannot find the source of {module}")
    return ast.parse(file.read_bytes())  # the file may declare its encoding


def package(module: str) -> str:
    """Return the package that a module belongs to; a package belongs to itself."""
    file = source(module)
    return module if file and file.stem == "__init__" else module.rpartition(".")[0]


@cache
def upstream(module: str) -> frozenset[str]:
    """Return the modules developed here that a module imports, directly or not.

    Unless the search begins in this library, it stops there: the library imports no claim's code.
    """
    inside = in_library(module)
    return _reach(module, lambda name: not inside and in_library(name))


def _reach(module: str, ends: Callable[[str], bool]) -> frozenset[str]:
    """Return the modules that chains of imports from a module reach, stopping at `ends`."""
    found, waiting = set[str](), [module]
    while waiting:
        new = _imports(waiting.pop()) - found
        found |= new
        waiting += [name for name in new if not ends(name)]
    return frozenset(found - {module})


@cache
def _imports(module: str) -> frozenset[str]:
    """Return the modules developed here that a module imports by name, and its own packages."""
    names = imported_names(ast.walk(parsed(module)), package(module)) | _with_parents(module)
    return frozenset(filter(source, names))


def imported_names(nodes: Iterable[ast.AST], package: str) -> set[str]:
    """Return the full names that import statements name, and the packages that contain them.

    Args:
        nodes: nodes of a module's syntax tree.
        package: the module's package, from which relative imports start.
    """
    names = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return {parent for name in names for parent in _with_parents(name)}


def _with_parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[: n + 1]) for n in range(len(parts))}


@cache  # needed at collection, and before a claim runs
def visible_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the full names of modules and objects that a function reaches by names of its module.

    If the function calls functions of claim files, the names that these reach are included. The
    result is sorted, without duplicates.
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
            if callable(value) and inspect.isfunction(inspect.unwrap(value)):  # maybe a cached one
                home: str = value.__module__
                if home == function.__module__ or home.startswith("claims."):
                    waiting.append(value)
    return tuple(sorted(found))


def _global_names(code: types.CodeType) -> Iterator[str]:
    # Not co_names: it also has names of attributes, which may equal an unrelated global.
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def theories(function: Callable[..., Any]) -> list[str]:
    """List imports of theory, direct or not, by the modules with which a function simulates.

    A module counts if its name contains "simulation", or if the function names it and it is no
    claim file.
    """
    module, seen = function.__module__, visible_names(function)
    homes = {*seen, *(name.rpartition(".")[0] for name in seen)}
    claims = {h for h in homes if h.startswith("claims.") or h.split(".")[-1].startswith("test_")}
    named = homes - claims  # claim files import both
    imported = sorted(upstream(module)) if source(module) else []  # none in a notebook
    simulations = [m for m in imported if "simulation" in m.split(".") or m in named]
    return [
        f"{simulation} imports {name}"
        for simulation in simulations
        for name in sorted(upstream(simulation))
        if "theory" in name.split(".")
    ]


def independence() -> dict[str, int]:
    """Count the modules of theory and simulation, and the chains of imports between the two.

    A module counts as a chain if it imports a module of the other side, directly or not.
    """
    theory, simulation = _modules("theory"), _modules("simulation")
    joined = [m for m in theory if not simulation.isdisjoint(upstream(m))]
    joined += [m for m in simulation if not theory.isdisjoint(upstream(m))]
    return {"theory": len(theory), "simulation": len(simulation), "chains": len(joined)}


def _modules(package: str) -> set[str]:
    """Return the modules in a package developed here, without the package itself."""
    file = source(package)
    if file is None or file.stem != "__init__":
        return set()
    below = (path.relative_to(file.parent) for path in file.parent.rglob("*.py"))
    names = {".".join((package, *path.with_suffix("").parts)) for path in below}
    return {name.removesuffix(".__init__") for name in names} - {package}


def bases(modules: Collection[str]) -> dict[str, list[str]]:
    """Map each of `modules` that exists to the first of the others on each chain of its imports."""
    return {
        module: sorted(_reach(module, modules.__contains__).intersection(modules))
        for module in sorted(modules)
        if source(module) is not None
    }


def summary(module: str) -> str:
    """Return the first paragraph of a module's docstring."""
    return " ".join((ast.get_docstring(parsed(module)) or "").split("\n\n")[0].split())
