"""The registry of every number that a theory predicts, with its formula and where it comes from.

Free of torch, so that a theory that registers its predictions stays light.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from recall_reports.values import Provenance

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Prediction:
    """A public prediction: ``getattr(import_module(module), name)`` is its function."""

    module: str
    name: str
    latex: str
    source: str
    provenance: Provenance
    function: Callable[..., Any]


_registered: dict[tuple[str, str], Prediction] = {}


def prediction(
    *, latex: str, source: str, provenance: Provenance
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a public function that returns a predicted number; the function is left as it is."""

    def register(function: Callable[P, R]) -> Callable[P, R]:
        key = (function.__module__, function.__name__)
        _registered[key] = Prediction(*key, latex, source, provenance, function)
        return function

    return register


def predictions() -> tuple[Prediction, ...]:
    """Every prediction of the theory modules imported so far, ordered by module and name."""
    return tuple(_registered[key] for key in sorted(_registered))


def registered(function: Callable[..., Any]) -> Prediction | None:
    """The entry of a registered function, or None."""
    name = getattr(function, "__name__", "")  # a partial function has none
    return _registered.get((getattr(function, "__module__", ""), name))
