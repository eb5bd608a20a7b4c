"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the claim's simulation function, on what that function names in its own module
and in other claim files, and on the simulation modules its file imports, directly or through one
another (by grimp's import graph). It does not depend on theory: a changed formula re-judges old
evidence and simulates nothing. Fingerprints are of syntax trees without docstrings, so a comment
changes nothing.
"""

from __future__ import annotations

import ast
import dis
import hashlib
import importlib.util
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grimp


def visible_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Full names of the modules and objects that a function can reach by its own module's names.

    Follows functions of claim files that it calls. Sorted, without duplicates.
    """
    found = set()
    for name, value in _reached(function):
        if isinstance(value, types.ModuleType):
            found.add(value.__name__)
        elif hasattr(value, "__module__") and value.__module__:
            found.add(f"{value.__module__}.{name}")
    return tuple(sorted(found))


def fingerprint(function: Callable[..., Any]) -> str:
    """SHA-256 of everything the function's result depends on in code, as 16 hex digits."""
    digest = hashlib.sha256(_tree(inspect.getsource(function)).encode())
    for name, value in sorted(_reached(function), key=lambda pair: pair[0]):
        if _is_local(value, function):
            digest.update(_tree(inspect.getsource(value)).encode())
        elif not isinstance(value, types.ModuleType) and not callable(value):
            # An address in a repr differs from process to process.
            digest.update(re.sub(r" at 0x[0-9a-f]+", "", f"{name}={value!r}").encode())
    for module in _evidence_modules(function.__module__):
        digest.update(_module_tree(module).encode())
    return digest.hexdigest()[:16]


def _reached(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """(name, value) of every global that the function uses, following local functions."""
    seen: dict[tuple[str, str], Any] = {}
    waiting = [function]
    while waiting:
        current = waiting.pop()
        code = getattr(current, "__code__", None)
        if code is None:
            continue
        scope = current.__globals__
        for name in _names(code):
            place = scope["__name__"], name
            if name in scope and place not in seen:
                seen[place] = scope[name]
                if _is_local(scope[name], function):
                    waiting.append(scope[name])
    return [(name, value) for (_, name), value in seen.items()]


def _names(code: types.CodeType) -> Iterator[str]:
    # Not co_names: that holds attribute names too, which may equal an unrelated global's.
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_local(value: Any, function: Callable[..., Any]) -> bool:
    """Whether it is a function of the same module, or of another claim file."""
    if not inspect.isfunction(value):
        return False
    place = value.__module__.split(".")
    shared = place[0] == "claims"
    return shared or value.__module__ == function.__module__


def _tree(source: str) -> str:
    tree = ast.parse(textwrap.dedent(source))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef):
            if isinstance(node, ast.FunctionDef):
                # A claim's decorator holds its region and prediction, not its simulation.
                node.decorator_list = []
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:]
    return ast.dump(tree)


@cache
def _module_tree(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"cannot find the source of {module}")
    return _tree(Path(spec.origin).read_text(encoding="utf-8"))


@cache
def _graph(packages: frozenset[str]) -> grimp.ImportGraph:
    """Imports within these packages and within all that they reach, but for installed ones."""
    reached = packages
    while True:
        graph = grimp.build_graph(*sorted(reached), include_external_packages=True, cache_dir=None)
        outside = {name for name in graph.modules if graph.is_module_squashed(name)}
        found = reached.union(filter(_is_source, outside))
        if found == reached:
            for name in outside:
                graph.remove_module(name)
            return graph
        reached = found


@cache
def _is_source(package: str) -> bool:
    """Whether it is a package that is developed here: neither Python's own nor installed."""
    if package in sys.stdlib_module_names or package == "__main__":
        return False
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return False
    folder = Path(next(iter(spec.submodule_search_locations))).resolve()
    return not {"site-packages", "dist-packages"}.intersection(folder.parts)


def _roots(module: str) -> frozenset[str]:
    """A claim file itself or, if it lies in no package, the modules that its names come from."""
    if _is_source(module.split(".")[0]):
        return frozenset({module})
    values = vars(sys.modules[module]).values()
    names = {str(getattr(v, "__module__", None) or getattr(v, "__name__", "")) for v in values}
    return frozenset(name for name in names if _is_source(name.split(".")[0]))


def _graph_of(module: str) -> grimp.ImportGraph:
    packages = frozenset(root.split(".")[0] for root in _roots(module))
    return _graph(packages) if packages else grimp.ImportGraph()


@cache
def upstream(module: str) -> frozenset[str]:
    """Modules that a claim file imports, directly or not, and that are developed here."""
    graph = _graph_of(module)
    roots = _roots(module) & graph.modules
    found = roots.union(*(graph.find_upstream_modules(root) for root in roots))
    return found - {module}


def bases(modules: Collection[str]) -> dict[str, list[str]]:
    """For each of these theory modules, the others that it imports, maybe through further ones.

    Modules that are not there are left out.
    """
    packages = {module.split(".")[0] for module in modules}
    graph = _graph(frozenset(filter(_is_source, packages)))
    found = {}
    for module in graph.modules.intersection(modules):
        seen: set[str] = set()
        waiting = [module]
        while waiting:
            imported = graph.find_modules_directly_imported_by(waiting.pop()) - seen
            seen |= imported
            waiting += imported.difference(modules)
        found[module] = sorted(seen.intersection(modules) - {module})
    return dict(sorted(found.items()))


def summary(module: str) -> str:
    """The first sentence of a module's docstring."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def independence() -> dict[str, int]:
    """How many modules theory and simulation have, and how many chains of imports join the two."""
    packages = frozenset(filter(_is_source, ("theory", "simulation")))
    if len(packages) < 2:
        return {"theory": 0, "simulation": 0, "chains": 0}
    graph = _graph(packages)
    chains = [
        *graph.find_shortest_chains("theory", "simulation"),
        *graph.find_shortest_chains("simulation", "theory"),
    ]
    counts = {name: len(graph.find_descendants(name)) for name in ("theory", "simulation")}
    return {**counts, "chains": len(chains)}


def _evidence_modules(module: str) -> tuple[str, ...]:
    """Modules that simulated figures of a claim file depend on: neither theory nor claims."""
    return tuple(
        sorted(
            name
            for name in upstream(module)
            if "theory" not in name.split(".")
            and name.split(".")[0] not in ("claims", "recall_claims", "recall_reports")
        )
    )
