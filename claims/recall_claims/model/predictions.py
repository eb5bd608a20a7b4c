"""The registry of every number that a theory predicts: its formula, its source, and its error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from recall_claims.model.errors import ClaimError
from recall_claims.model.regime import Regime
from recall_claims.model.region import Region
from recall_reports.record.values import Provenance

Point = Mapping[str, Any]
"""The parameters of a point, such as a cell."""
Size = float | str | Callable[[Point], float]
Stated = tuple[Size, str] | tuple[Size, str, Callable[[Point], bool]]
"""The size of an error, words for the points that have it, and a test for such points."""
P = ParamSpec("P")
R = TypeVar("R")


def _anywhere(_: Point) -> bool:
    return True


@dataclass(frozen=True)
class Error:
    """Stated error of a prediction: its largest distance from the observations.

    Attributes:
        size: a number, or a function of the point, which `where` then has to describe.
        where: words for the points that have this error, if there are several errors. If the size
            is a function, words for the size.
        holds: whether a point has this error; if a point has several, the first counts.
        relative: whether the error is a share of the prediction.
    """

    size: float | Callable[[Point], float]
    where: str = ""
    holds: Callable[[Point], bool] = _anywhere
    relative: bool = False

    def __str__(self) -> str:
        if callable(self.size):
            return self.where
        size = f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"
        return f"{size} {self.where}".rstrip()

    def at(self, point: Point) -> float:
        """Return the error at a point: a difference, or a share of the prediction if `relative`."""
        return self.size(point) if callable(self.size) else self.size


def error_of(size: Size, where: str = "", holds: Callable[[Point], bool] = _anywhere) -> Error:
    """Read an error as its author writes it: a difference, "exact", or a share such as "5%".

    Raises:
        ValueError: the size is a text, but neither "exact" nor a percentage.

    >>> str(error_of("5%", "for V >= 256"))
    '5% for V >= 256'
    """
    if not isinstance(size, str):
        return Error(size, where, holds)
    # Rounding and the steps of an integrator may move even an exact value.
    share = "0.0001%" if size == "exact" else size
    if not re.fullmatch(r"\d+(\.\d+)?%", share):
        raise ValueError(f'error={size!r}: give a difference such as 0.02, "5%", or "exact"')
    return Error(float(share[:-1]) / 100, where, holds, relative=True)


@dataclass(frozen=True)
class Prediction:
    """A public prediction: ``getattr(import_module(module), name)`` is its function.

    Attributes:
        errors: stated errors; none if no number is stated.
        stated_in: regime of these errors, or a function that returns it.
        curve: for a critical value, the probability or mean that crosses a target there.
    """

    module: str
    name: str
    latex: str
    source: str
    provenance: Provenance
    function: Callable[..., Any]
    errors: tuple[Error, ...] = ()
    stated_in: Regime | Callable[[], Regime] | None = None
    curve: Callable[..., float] | None = None

    @property
    def regime(self) -> Regime | None:
        """The regime in which the formula holds to its stated errors; None if none is stated."""
        return self.stated_in() if callable(self.stated_in) else self.stated_in

    def region(self, point: Point | None = None) -> Region:
        """Return the region that the stated error allows.

        The region is for observed / predicted if the error is relative, and else for observed -
        predicted.

        Args:
            point: point whose error counts; not needed if all points have the same error.

        Raises:
            ClaimError: no error is stated for the point, or `point` is None and errors differ.
        """
        found = [error for error in self.errors if point is None or error.holds(point)]
        if not found or (point is None and (len(found) > 1 or callable(found[0].size))):
            raise ClaimError(
                f"{self.module}.{self.name} does not state one error for "
                f"{'all sizes' if point is None else dict(point)}; give the claim's rule a region "
                "of its own"
            )
        size, centre = found[0].at(point or {}), float(found[0].relative)
        return Region(round(centre - size, 12), round(centre + size, 12))


_registered: dict[tuple[str, str], Prediction] = {}


def prediction(
    *,
    latex: str,
    source: str,
    provenance: Provenance = "derived",
    error: float | str | tuple[Stated, ...] = (),
    regime: Regime | Callable[[], Regime] | None = None,
    curve: Callable[..., float] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a public function that returns a predicted number.

    Only the function's docstring changes: the error replaces ``{error}`` there, or is added at the
    end.

    Args:
        latex: the formula.
        source: paper and statement.
        provenance: "stated" by the paper, "reported" by its readers, or "derived" by us.
        error: largest error of the formula, by default not stated: a difference, such as 0.02, a
            share of the prediction, such as "5%", or "exact". Or a tuple of errors with conditions,
            each such as ``("5%", "for V >= 256", lambda cell: ...)``: the first that holds at a
            point counts.
        regime: regime of these errors; a function if the regime is defined further down.
        curve: for a critical value, the probability or mean that crosses a target there, for plots
            to draw.
    """
    several = error if isinstance(error, tuple) else ((error, ""),)
    errors = tuple(error_of(*one) for one in several)

    def register(function: Callable[P, R]) -> Callable[P, R]:
        key = (function.__module__, function.__name__)
        doc = function.__doc__ or ""
        if errors and "{error}" not in doc:
            doc += "\n\n    Stated error: {error}."
        told = "exact" if error == "exact" else ", ".join(map(str, errors))
        function.__doc__ = doc.replace("{error}", told)
        _registered[key] = Prediction(
            *key, latex, source, provenance, function, errors, regime, curve
        )
        return function

    return register


def predictions() -> tuple[Prediction, ...]:
    """Return every prediction of the theory modules imported so far, by module and name."""
    return tuple(_registered[key] for key in sorted(_registered))


def registered(function: Callable[..., Any]) -> Prediction | None:
    """Return the entry of a registered function, or None."""
    name = getattr(function, "__name__", "")  # a partial function has no name
    return _registered.get((getattr(function, "__module__", ""), name))
