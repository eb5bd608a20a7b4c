"""The regime of a theorem, in a form that can be checked and searched.

A theorem claims a regime; a grid is a few points of it. A `Regime` states which values each
parameter of a cell may take, and what else must hold of them together. Every cell of a claim's grid
has to lie inside, and `pytest --hunt` searches the rest for a violation.

A theory states beside each formula where it holds, as a `Regime`, and a claim searches that
(`Regime.searched`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recall_claims.errors import ClaimError

if TYPE_CHECKING:
    from recall_claims.declare.cell import Cell, Scalar


@dataclass(frozen=True)
class Values:
    """The values of a parameter, from the simplest on; the search goes along them step by step.

    Attributes:
        steps: the values that are drawn.
        between: whether other numbers between the least and the largest belong to the regime too.
    """

    steps: tuple[Scalar, ...]
    between: bool = True

    def __str__(self) -> str:
        if self.between:
            return f"{min(self.steps)} to {max(self.steps)}"
        return ", ".join(map(str, self.steps))

    def __contains__(self, value: object) -> bool:
        if value in self.steps:
            return True
        if not self.between or isinstance(value, bool) or not isinstance(value, int | float):
            return False
        numbers = [float(step) for step in self.steps]
        return min(numbers) <= value <= max(numbers)


def log_integers(low: float, high: float, *, per_octave: int = 4) -> Values:
    """Numbers from `low` to `high` in equal steps of the logarithm: whole ones.

    Where `low` or `high` is written with a point, they have three digits or so.

    >>> log_integers(8, 32, per_octave=2).steps
    (8, 11, 16, 23, 32)
    >>> log_integers(0.5, 2, per_octave=2).steps
    (0.5, 0.707, 1.0, 1.41, 2.0)
    """
    if not 0 < low < high:
        raise ClaimError(f"a range needs two positive ends in order, got {low} and {high}")
    count = math.ceil(math.log2(high / low) * per_octave - 1e-9)
    drawn = [low * 2 ** (i / per_octave) for i in range(count)]
    if isinstance(low, int) and isinstance(high, int):
        return Values(tuple(dict.fromkeys((*map(round, drawn), high))))
    between = (float(f"{value:.3g}") for value in drawn[1:])
    return Values((float(low), *between, float(high)))


def integers(low: int, high: int) -> Values:
    """All whole numbers from `low` to `high`."""
    if not low < high:
        raise ClaimError(f"a range needs two ends in order, got {low} and {high}")
    return Values(tuple(range(low, high + 1)))


def one_of(*values: Scalar) -> Values:
    """These values alone, the simplest first: an option of the theory, such as its embeddings."""
    return Values(values, between=False)


def _anywhere(_: Cell) -> bool:
    return True


@dataclass(frozen=True)
class Regime:
    """Where a theorem holds.

    ``Regime("N >= V", {"vocab_size": log_integers(64, 4096), "samples": log_integers(64, 65536)},
    holds=lambda cell: cell["samples"] >= cell["vocab_size"])``

    Attributes:
        text: in words, and why the grid lies in it.
        ranges: the values of each parameter. One that the grid does not name may be given: it is
            another dimension of the search, such as an option of the theory.
        holds: what must hold of the parameters together.
        size: numbers that one replicate holds or works through, about; the search stays below
            `largest`, and so do the cells of every tier but the full one.
        largest: see `size`.
    """

    text: str
    ranges: Mapping[str, Values]
    holds: Callable[[Cell], bool] = _anywhere
    size: Callable[[Cell], float] | None = None
    largest: float = 1e8

    def __post_init__(self) -> None:
        if not self.ranges:
            raise ClaimError("a regime needs the range of at least one parameter")

    def searched(
        self,
        text: str = "",
        *,
        holds: Callable[[Cell], bool] = _anywhere,
        size: Callable[[Cell], float] | None = None,
        largest: float | None = None,
        without: Iterable[str] = (),
        **ranges: Values | Iterable[Scalar],
    ) -> Regime:
        """This regime, as one claim or test of a theory's formula searches it.

        Args:
            text: what is added in words, such as where a grid lies.
            holds: what has to hold besides.
            size: of one replicate of the simulation; with `largest`, in place of this one's.
            largest: see `size`.
            without: parameters that the cells do not have.
            **ranges: other values of parameters, or of other parameters; an option's values may be
                given as they are.

        >>> sizes = Regime("d >= 12", {"dim": log_integers(12, 96), "samples": integers(1, 9)})
        >>> few = sizes.searched("few dimensions", holds=lambda c: c["dim"] < 20, part=("a", "b"))
        >>> few.text, [*few.ranges]
        ('d >= 12; few dimensions', ['dim', 'samples', 'part'])
        """
        own = {
            name: values if isinstance(values, Values) else one_of(*values)
            for name, values in ranges.items()
        }
        kept = {name: v for name, v in self.ranges.items() if name not in {*without}}
        return replace(
            self,
            text="; ".join(filter(None, (self.text, text))),
            ranges=kept | own,
            holds=lambda cell: self.holds(cell) and holds(cell),
            size=size or self.size,
            largest=self.largest if largest is None else largest,
        )

    def why_outside(self, cell: Cell, ignoring: str | None = None) -> str | None:
        """Why a cell of the grid is not in the regime, or None.

        Args:
            cell: of the grid.
            ignoring: a parameter that is scanned, of which the theorem says where it is critical.
        """
        for name, value in cell.items():
            if name == ignoring:
                continue
            if name not in self.ranges:
                return f"it has no range for {name}"
            if value not in self.ranges[name]:
                return f"{name}={value} is out of its range ({self.ranges[name]})"
        point = cell if ignoring is None else type(cell)(**cell.without(ignoring))
        return None if self._together(point) else "its condition does not hold there"

    def too_large(self, cell: Cell) -> bool:
        """Whether a cell costs more than a search may spend on a point."""
        return self.size is not None and self.size(self._filled(cell)) > self.largest

    def draws(self, cell: Cell) -> bool:
        """Whether a search may draw a cell: of steps of the ranges, and searchable."""
        if cell.keys() != self.ranges.keys():
            return False
        steps = all(cell[name] in values.steps for name, values in self.ranges.items())
        return steps and self.searchable(cell)

    def searchable(self, cell: Cell) -> bool:
        """Whether a drawn cell lies in the regime and is small enough to be simulated."""
        return self._together(cell) and not self.too_large(cell)

    def _together(self, cell: Cell) -> bool:
        return self.holds(self._filled(cell))

    def _filled(self, cell: Cell) -> Cell:
        """The cell, with the simplest value of each parameter that it leaves out."""
        missing = {n: values.steps[0] for n, values in self.ranges.items() if n not in cell}
        return cell.replace(**missing)
