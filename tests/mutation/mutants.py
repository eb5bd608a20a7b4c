"""Mutants of the theory: each predicted constant or exponent is falsified, one at a time."""

import functools
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import theory
from recall_claims.model import predictions as registry

FACTOR = 1.3
STEP = 0.25
SIZES = ("vocab_size", "length", "samples", "dim", "width")
PROBLEMS = {"Problem": SIZES[:4], "MlpProblem": SIZES}

# The information of one sample does not depend on the number of samples, and recall, which follows
# attention, does not depend on the length. Claims give such a size a single value, so that no power
# of the size shows.
MEANINGLESS = {
    ("theory.lower_bound.gradient_channel.sample_information", "samples"),
    ("theory.attention.recall.all_tokens_dim", "length"),
    ("theory.attention.recall.all_tokens_probability", "length"),
}

Patch = Callable[[Any], None]
"""Function that takes pytest's monkeypatch and falsifies the theory."""


@dataclass(frozen=True)
class Mutant:
    """A falsified theory.

    Attributes:
        id: name of the falsified part and of the change.
        target: the falsified part; one claim often refutes all mutants of a target.
        module: module of the target.
        patch: function that falsifies the theory.
    """

    id: str
    target: str
    module: str
    patch: Patch


def modules() -> tuple[ModuleType, ...]:
    """Import all modules of the theory."""
    found = pkgutil.walk_packages(theory.__path__, "theory.")
    return tuple(importlib.import_module(module.name) for module in found)


def forget() -> None:
    """Empty the theory's caches, which may have numbers of another theory."""
    for module in modules():
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()


Factor = Callable[[Mapping[str, float]], float]


def constants() -> Iterator[Mutant]:
    """Yield mutants that multiply each registered prediction and each noise term by FACTOR."""
    for module, name, _, times in _formulas():
        target = f"{module}.{name}"
        yield Mutant(f"{target} x {FACTOR}", target, module, times(lambda _: FACTOR))


def powers() -> Iterator[Mutant]:
    """Yield mutants that multiply each prediction and noise term by a size to the power +-STEP."""
    for module, name, known, times in _formulas():
        target = f"{module}.{name}"
        for size, step in itertools.product(known, (STEP, -STEP)):
            if (target, size) not in MEANINGLESS:
                patch = times(functools.partial(_power, size, step))
                yield Mutant(f"{target} x {size}^{step:+}", target, module, patch)


def exponents() -> Iterator[Mutant]:
    """Yield mutants that change by +-STEP one of the exponents that the theory gives as numbers."""
    for module in modules():
        target = f"{module.__name__}.EXPONENTS"
        for path, inner, value in _numbers(getattr(module, "EXPONENTS", {})):
            for step in (STEP, -STEP):
                name = f"{target}[{', '.join(path)}] {step:+}"
                yield Mutant(name, target, module.__name__, _put(inner, path[-1], value + step))
        for symbol, term in getattr(module, "TERMS", {}).items():
            target = f"{module.__name__}.TERMS[{symbol}].exponents"
            for name, power in getattr(term, "exponents", {}).items():
                for step in (STEP, -STEP):
                    changed = replace(term, exponents={**term.exponents, name: power + step})
                    patch = _put(module.TERMS, symbol, changed)
                    yield Mutant(f"{target}[{name}] {step:+}", target, module.__name__, patch)


def _put(names: Any, name: str, value: Any) -> Patch:
    return lambda monkeypatch: monkeypatch.setitem(names, name, value)


def _formulas() -> Iterator[tuple[str, str, tuple[str, ...], Callable[[Factor], Patch]]]:
    """Yield module, name, sizes and a multiplying function of each prediction and noise term."""

    def function(entry: registry.Prediction, factor: Factor) -> Patch:
        names = vars(importlib.import_module(entry.module))
        return _put(names, entry.name, _scaled(entry.function, factor))

    def noise(terms: dict[str, Any], symbol: str, factor: Factor) -> Patch:
        term = terms[symbol]
        return _put(terms, symbol, replace(term, variance=_scaled(term.variance, factor)))

    imported = modules()
    for entry in registry.predictions():
        known = _known_sizes(entry.function)
        yield entry.module, entry.name, known, functools.partial(function, entry)
    for module in imported:
        terms = getattr(module, "TERMS", {})
        for symbol in terms:
            times = functools.partial(noise, terms, symbol)
            yield module.__name__, f"TERMS[{symbol}]", PROBLEMS["Problem"], times


def _scaled(function: Callable[..., Any], factor: Factor) -> Callable[..., Any]:
    @functools.wraps(function)
    def falsified(*args: Any, **kwargs: Any) -> Any:
        return factor(_sizes(function, args, kwargs)) * function(*args, **kwargs)

    return falsified


def _sizes(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, float]:
    """Return the sizes among a prediction's arguments, or in its problem."""
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    found = {name: float(bound[name]) for name in SIZES if name in bound}
    for value in bound.values():
        for name in SIZES:
            if isinstance(getattr(value, name, None), int | float):
                found[name] = float(getattr(value, name))
    return found


def _known_sizes(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the sizes that a prediction depends on, by names and types of its arguments."""
    known = set()
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        kind = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        known |= {name, *PROBLEMS.get(kind, ())}
    return tuple(size for size in SIZES if size in known)


def _power(size: str, step: float, sizes: Mapping[str, float]) -> float:
    return float(sizes[size] ** step)


def _numbers(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any, float]]:
    """Yield the path of names to each number, the mapping that contains it, and the number."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), *rest) for path, *rest in _numbers(value))
        else:
            yield (name,), tree, float(value)
