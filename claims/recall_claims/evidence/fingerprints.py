"""Which code a block of evidence depends on, and a fingerprint of it.

A block depends on the claim's simulation function, on what that function names in its own module
and in other claim files, and on the simulation modules its file imports, directly or through one
another. It does not depend on theory: a changed formula re-judges old evidence and simulates
nothing. Fingerprints are of syntax trees without docstrings, so a comment changes nothing.

Imports are read from the text of modules, of packages and of files in none, and nothing is imported
for it: what another repository calls theory or simulation is left alone.
"""

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
    digest = hashlib.sha256(_tree(function))
    for name, value in sorted(_reached(function), key=lambda pair: pair[0]):
        if _is_local(value, function):
            digest.update(_tree(value))
        elif not isinstance(value, types.ModuleType) and not callable(value):
            # An address in a repr differs from process to process.
            digest.update(re.sub(r" at 0x[0-9a-f]+", "", f"{name}={value!r}").encode())
    for module in _evidence_modules(function.__module__):
        digest.update(_module_tree(module))
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
            full = scope["__name__"], name
            if name in scope and full not in seen:
                seen[full] = scope[name]
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
    return inspect.isfunction(value) and (
        value.__module__ == function.__module__ or value.__module__.startswith("claims.")
    )


def _tree(function: Callable[..., Any]) -> bytes:
    return _stripped(ast.parse(textwrap.dedent(inspect.getsource(function))))


def _stripped(tree: ast.Module) -> bytes:
    """The tree without docstrings and decorators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef):
            if isinstance(node, ast.FunctionDef):
                # A claim's decorator holds its region and prediction, not its simulation.
                node.decorator_list = []
            if ast.get_docstring(node, clean=False) is not None:
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


def _evidence_modules(module: str) -> list[str]:
    """Modules that simulated figures of a claim file depend on: neither theory nor claims."""
    others = {"claims", "recall_claims", "recall_reports"}
    return sorted(
        name
        for name in upstream(module)
        if "theory" not in name.split(".") and name.split(".")[0] not in others
    )
