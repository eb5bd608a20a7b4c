"""Origin of a claim, and the prediction of its cells by a registered formula."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, overload

from recall_claims.model.cell import Cell
from recall_claims.model.predictions import Prediction, registered
from recall_reports.record.values import Provenance

P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, init=False)
class Source:
    """Paper and statements that a claim tests.

    Attributes:
        paper: key of a paper's file, such as "A".
        statements: the paper's statements that the claim tests, such as "A3", "A9".
        provenance: "stated" (in the paper's abstract), "reported" (by reviewers, readers or code)
            or "derived" (our own derivation, which makes a statement quantitative). By default, the
            provenance of the claim's prediction.
        reference: the file of the derivation; by default, the file of the prediction.

    >>> Source("A", "A3", "A9").statements
    ('A3', 'A9')
    """

    paper: str
    statements: tuple[str, ...]
    provenance: Provenance | None
    reference: str

    def __init__(
        self,
        paper: str,
        *statements: str,
        provenance: Provenance | None = None,
        reference: str = "",
    ) -> None:
        given = {"paper": paper, "statements": statements, "provenance": provenance}
        vars(self).update(given, reference=reference)  # the class is frozen

    def completed(self, entry: Prediction | None) -> Source:
        """Fill in the source from the registry's entry for the claim's prediction."""
        if entry is None:
            return self
        return Source(
            self.paper,
            *self.statements,
            provenance=self.provenance or entry.provenance,
            reference=self.reference or f"{entry.module.replace('.', '/')}.py",
        )


class Parametrised(Protocol[P_co]):
    """A type whose `of` builds an instance from a cell's parameters."""

    def of(self, parameters: Cell, /) -> P_co: ...


@dataclass(frozen=True)
class On:
    """A formula of theory as a prediction for cells; made by `on`.

    Attributes:
        law: the formula.
        arguments: returns the formula's positional and named arguments for a cell.
        likewise: makes a prediction of another formula with the same arguments.
    """

    law: Callable[..., Any]
    arguments: Callable[[Cell], tuple[tuple[Any, ...], dict[str, Any]]]
    likewise: Callable[[Callable[..., Any]], On]

    def __call__(self, cell: Cell) -> Any:
        positional, named = self.arguments(cell)
        # Looked up at each call, so that a changed formula changes the prediction.
        home = sys.modules.get(getattr(self.law, "__module__", ""))
        current = getattr(home, getattr(self.law, "__qualname__", ""), self.law)
        return current(*positional, **named)

    @property
    def entry(self) -> Prediction | None:
        """The formula's entry in the registry of predictions, or None."""
        return registered(self.law)

    @property
    def curve(self) -> On | None:
        """The formula whose value crosses a target at the critical value, or None."""
        law = self.entry and self.entry.curve
        return self.likewise(law) if law else None


@overload
def on(law: Callable[..., Any], /, **fixed: Any) -> On: ...
@overload
def on(problem: Parametrised[Any], law: Callable[..., Any], /, **fixed: Any) -> On: ...
def on(problem: Any, law: Callable[..., Any] | None = None, /, **fixed: Any) -> On:
    """Turn a formula of theory, the law, into a prediction.

    ``on(Problem, law)`` predicts ``law(Problem.of(cell))``. ``on(law)`` calls the law with those
    parameters of the cell that the law names, or with all if it takes ``**`` arguments. ``fixed``
    arguments are the same in every cell. From a registered law, the claim gets its LaTeX,
    provenance, reference, regime and curve.

    >>> def load(samples: int, vocab_size: int) -> float:
    ...     return samples / vocab_size
    >>> on(load)(Cell(samples=8, vocab_size=4, dim=2))
    2.0
    """
    if law is not None:
        return On(law, lambda cell: ((problem.of(cell),), fixed), partial(on, problem, **fixed))
    taken = inspect.signature(problem).parameters
    everything = any(p.kind is p.VAR_KEYWORD for p in taken.values())

    def named(cell: Cell) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = {name: value for name, value in cell.items() if everything or name in taken}
        return (), {**given, **fixed}

    return On(problem, named, partial(on, **fixed))
