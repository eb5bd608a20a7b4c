"""Every way in which a predicted constant or exponent can be falsified, one at a time."""

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
from recall_claims import predictions as registry

FACTOR = 1.3
STEP = 0.25
SIZES = ("vocab_size", "length", "samples", "dim", "width")
PROBLEMS = {"Problem": SIZES[:4], "MlpProblem": SIZES}

# One sample tells what it tells whatever the number of samples, and is measured alone; recall
# comes after attention and knows no length. Claims give such a size one value, where no power of
# it shows.
MEANINGLESS = {
    ("theory.lower_bound.gradient_channel.sample_information", "samples"),
    ("theory.attention.recall.all_tokens_dim", "length"),
    ("theory.attention.recall.all_tokens_probability", "length"),
}

Patch = Callable[[Any], None]
"""Takes pytest's monkeypatch and falsifies the theory."""


@dataclass(frozen=True)
class Mutant:
    """A falsified theory.

    Attributes:
        id: what is falsified, and how.
        target: what is falsified; the mutants of one target tend to be caught by one claim.
        module: where it is.
        patch: does it.
    """

    id: str
    target: str
    module: str
    patch: Patch


def modules() -> tuple[ModuleType, ...]:
    """All modules of the theory, imported."""
    found = pkgutil.walk_packages(theory.__path__, "theory.")
    return tuple(importlib.import_module(module.name) for module in found)


def forget() -> None:
    """Empty the theory's caches, which may hold numbers of another theory."""
    for module in modules():
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()


def constants() -> Iterator[Mutant]:
    """Each public prediction, and each noise term, times FACTOR."""
    for module, name, _, change in _formulas():
        target = f"{module}.{name}"
        yield Mutant(f"{target} x {FACTOR}", target, module, change(lambda _: FACTOR))


def powers() -> Iterator[Mutant]:
    """Each public prediction, and each noise term, times each size it knows to the power +-STEP."""
    for module, name, known, change in _formulas():
        target = f"{module}.{name}"
        for size, step in itertools.product(known, (STEP, -STEP)):
            if (target, size) not in MEANINGLESS:
                yield Mutant(
                    f"{target} x {size}^{step:+}", target, module, change(_power(size, step))
                )


def exponents() -> Iterator[Mutant]:
    """Each exponent that the theory states as a number, changed by +-STEP."""
    for module in modules():
        for path, value in _numbers(getattr(module, "EXPONENTS", {})):
            for step in (STEP, -STEP):
                target = f"{module.__name__}.EXPONENTS"
                yield Mutant(
                    f"{target}[{', '.join(path)}] {step:+}",
                    target,
                    module.__name__,
                    _replace_number(module, path, value + step),
                )
        for symbol, term in getattr(module, "TERMS", {}).items():
            for name, power in getattr(term, "exponents", {}).items():
                for step in (STEP, -STEP):
                    changed = replace(term, exponents={**term.exponents, name: power + step})
                    yield Mutant(
                        f"{module.__name__}.TERMS[{symbol}].exponents[{name}] {step:+}",
                        f"{module.__name__}.TERMS[{symbol}].exponents",
                        module.__name__,
                        functools.partial(_set_item, module.TERMS, symbol, changed),
                    )


Factor = Callable[[Mapping[str, float]], float]


def _formulas() -> Iterator[tuple[str, str, tuple[str, ...], Callable[[Factor], Patch]]]:
    """(module, name, sizes it knows, how to multiply it) of every prediction and noise term."""
    imported = modules()
    for entry in registry.predictions():
        module = importlib.import_module(entry.module)
        yield (
            entry.module,
            entry.name,
            _known_sizes(entry.function),
            functools.partial(_scaled_function, module, entry.name, entry.function),
        )
    for module in imported:
        for symbol, term in getattr(module, "TERMS", {}).items():
            yield (
                module.__name__,
                f"TERMS[{symbol}]",
                PROBLEMS["Problem"],
                functools.partial(_scaled_term, module, symbol, term),
            )


def _scaled_function(
    module: ModuleType, name: str, function: Callable[..., Any], factor: Factor
) -> Patch:
    return lambda monkeypatch: monkeypatch.setattr(module, name, _scaled(function, factor))


def _scaled_term(module: ModuleType, symbol: str, term: Any, factor: Factor) -> Patch:
    changed = replace(term, variance=_scaled(term.variance, factor))
    return functools.partial(_set_item, module.__dict__["TERMS"], symbol, changed)


def _scaled(function: Callable[..., Any], factor: Factor) -> Callable[..., Any]:
    @functools.wraps(function)
    def falsified(*args: Any, **kwargs: Any) -> Any:
        return factor(_sizes(function, args, kwargs)) * function(*args, **kwargs)

    return falsified


def _sizes(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, float]:
    """The sizes among a prediction's arguments, or in the problem it is given."""
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    found = {name: float(bound[name]) for name in SIZES if name in bound}
    for value in bound.values():
        for name in SIZES:
            if isinstance(getattr(value, name, None), int | float):
                found[name] = float(getattr(value, name))
    return found


def _known_sizes(function: Callable[..., Any]) -> tuple[str, ...]:
    """The sizes that a prediction depends on, by the names and types of its arguments."""
    known = set()
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        kind = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        known |= {name, *PROBLEMS.get(kind, ())}
    return tuple(size for size in SIZES if size in known)


def _power(size: str, step: float) -> Factor:
    return lambda sizes: float(sizes[size] ** step)


def _numbers(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), number) for path, number in _numbers(value))
        else:
            yield (name,), float(value)


def _replace_number(module: ModuleType, path: tuple[str, ...], value: float) -> Patch:
    def patch(monkeypatch: Any) -> None:
        inner = module.__dict__["EXPONENTS"]
        for name in path[:-1]:
            inner = inner[name]
        monkeypatch.setitem(inner, path[-1], value)

    return patch


def _set_item(mapping: dict[str, Any], key: str, value: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(mapping, key, value)
