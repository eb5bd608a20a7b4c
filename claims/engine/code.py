"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the claim's simulation function, on what that function names in its own module,
and on the simulation modules its file imports, directly or through one another (by grimp's import
graph). It does not depend on theory: a changed formula re-judges old evidence and simulates
nothing. Fingerprints are of syntax trees without docstrings, so a comment changes nothing.
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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grimp

SIMULATION = "simulation"


def visible_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Full names of the modules and objects that a function can reach by its own module's names.

    Follows functions of the same module that it calls. Sorted, without duplicates.
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
    for module in _simulation_modules(function.__module__):
        digest.update(_module_tree(module).encode())
    return digest.hexdigest()[:16]


def _reached(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """(name, value) of every global that the function uses, following local functions."""
    seen: dict[str, Any] = {}
    waiting = [function]
    while waiting:
        current = waiting.pop()
        code = getattr(current, "__code__", None)
        if code is None:
            continue
        scope = current.__globals__
        for name in _names(code):
            if name in scope and name not in seen:
                seen[name] = scope[name]
                if _is_local(scope[name], function):
                    waiting.append(scope[name])
    return list(seen.items())


def _names(code: types.CodeType) -> Iterator[str]:
    # Not co_names: that holds attribute names too, which may equal an unrelated global's.
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_local(value: Any, function: Callable[..., Any]) -> bool:
    return inspect.isfunction(value) and value.__module__ == function.__module__


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
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(SIMULATION, "claims", cache_dir=None)


def _simulation_modules(module: str) -> tuple[str, ...]:
    """Simulation modules that a claim file depends on, sorted."""
    graph = _graph()
    if module in graph.modules:
        upstream = graph.find_upstream_modules(module)
        return tuple(sorted(m for m in upstream if m.split(".")[0] == SIMULATION))
    # A claim file outside the claims package is not in the graph: follow its own names.
    names = {
        getattr(value, "__module__", None) or getattr(value, "__name__", "")
        for value in vars(sys.modules[module]).values()
    }
    roots = {str(name) for name in names if str(name).split(".")[0] == SIMULATION}
    found = roots & set(graph.modules)
    for root in tuple(found):
        found |= {m for m in graph.find_upstream_modules(root) if m.split(".")[0] == SIMULATION}
    return tuple(sorted(found))
