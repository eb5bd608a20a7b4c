"""Functions developed here (not installed) that a function may call, and seeds fixed in them.

A search by names in compiled code may find too many, seldom too few.
"""

import dis
import inspect
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import takewhile
from typing import Any

from recall_claims.evidence.imports import in_library, source
from recall_claims.model.source import On

SEEDED = (
    *("default_rng", "RandomState", "SeedSequence", "PCG64", "SFC64", "Philox", "MT19937"),
    *("manual_seed", "Random", "seed"),
)
IDLE = ("PUSH_NULL", "PRECALL", "KW_NAMES", "CACHE", "NOP")
"""Bytecode instructions that load no argument."""


def reached(*starts: Any) -> set[types.FunctionType]:
    """Return the functions that a call of one of these values may run, directly or not."""
    found, waiting = set[types.FunctionType](), [f for start in starts for f in _within(start)]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += _called(current)
    return found


def names(function: types.FunctionType) -> set[tuple[str, str]]:
    """Return the names that a function uses, and its own name, each with the function's module.

    For a method, the name of its class replaces its own name; for an inner function, the name of
    the outermost function. Imported names are paired with the module that uses them, not the
    one that defines them.
    """
    home = function.__module__
    top = function.__qualname__.partition(".")[0]
    return {(home, name) for name in (top, *_names(function.__code__))}


def fixed_seeds(start: Callable[..., Any]) -> list[str]:
    """List the lines that make a generator from a fixed seed, in a function or those it calls."""
    told = (
        f"{function.__module__}, line {line}"
        for function in reached(start)
        for line in _fixed(function)
    )
    return sorted(told)


@cache
def _called(function: types.FunctionType) -> tuple[types.FunctionType, ...]:
    scope, known = function.__globals__, _names(function.__code__)
    values = [scope[name] for name in known if name in scope]
    values += [
        getattr(module, name, None)
        for module in values
        if isinstance(module, types.ModuleType) and source(module.__name__)
        for name in known
    ]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # the variable has no value yet
            continue
    return tuple(found for value in values for found in _within(value))


def _within(value: Any) -> Iterator[types.FunctionType]:
    """Yield functions developed here, not in the library, that calling a value may run directly."""
    if isinstance(value, On | partial):
        value = value.law if isinstance(value, On) else value.func
    values = vars(value).values() if isinstance(value, type) else (value,)
    for each in values:
        found = inspect.unwrap(each) if callable(each) else None
        home = getattr(found, "__module__", None)
        own = home and not in_library(home) and source(home)
        if own and isinstance(found, types.FunctionType):
            yield found


@cache
def _names(code: types.CodeType) -> frozenset[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*inner)


@cache
def _fixed(function: types.FunctionType) -> tuple[int, ...]:
    codes = [function.__code__]
    for code in codes:  # the list grows by nested functions
        codes += (c for c in code.co_consts if isinstance(c, types.CodeType))
    return tuple(line for code in codes for line in _seeds(code, function.__globals__))


def _seeds(code: types.CodeType, scope: dict[str, Any]) -> Iterator[int]:
    if not set(SEEDED).intersection(code.co_names):
        return
    steps = [step for step in dis.get_instructions(code) if step.opname not in IDLE]
    for place, step in enumerate(steps):
        if not step.opname.startswith("LOAD_") or step.argval not in SEEDED:
            continue
        rest = takewhile(lambda s: not s.opname.startswith("CALL"), steps[place + 1 :])
        given = [_constant(one, scope) for one in rest]
        if given and all(given):
            yield step.positions.lineno if step.positions and step.positions.lineno else 0


def _constant(step: dis.Instruction, scope: dict[str, Any]) -> bool:
    if step.opname == "LOAD_GLOBAL":
        return isinstance(scope.get(step.argval), int)
    return step.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and step.argval is not None
