"""The regime of a theorem, in a form that can be checked and searched.

A theorem claims a regime; a grid is a few points of it. A `Regime` states which values each
parameter of a cell may take, and what else must hold of them together. Every cell of a claim's grid
has to lie inside, and `pytest --hunt` searches the rest for a violation.

A theory states next to each formula where it holds, as a `Regime`, and a claim searches that
(`Regime.searched`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from recall_claims.model.errors import ClaimError

if TYPE_CHECKING:
    from recall_claims.model.cell import Cell, Scalar


@dataclass(frozen=True)
class Values:
    """The values of a parameter, from the simplest on; a search goes along them step by step.

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


Given = Values | int | float | str | bool | Iterable[int | float | str | bool]
"""A parameter's values as an author writes them: a range, one value, or several."""


def log_range(low: float, high: float, *, per_octave: int = 4) -> Values:
    """Numbers from `low` to `high` in equal steps of the logarithm, whole ones if both ends are.

    Where an end is written with a point, the numbers between have three digits.

    >>> log_range(8, 32, per_octave=2).steps
    (8, 11, 16, 23, 32)
    >>> log_range(0.5, 2, per_octave=2).steps
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


def _values(name: str, given: Given) -> Values:
    """The values of a parameter as an author writes them."""
    if isinstance(given, Values):
        return given
    steps = (given,) if isinstance(given, int | float | str) else tuple(given)
    if not steps:
        raise ClaimError(f"a regime has no values for {name}")
    decimals = len(steps) > 1 and all(isinstance(step, float) for step in steps)
    return Values(steps, between=decimals or isinstance(given, range))


def _anywhere(_: Cell) -> bool:
    return True


@dataclass(frozen=True)
class Regime:
    """Sizes for which a theorem holds.

    ``Regime("N >= V", {"vocab_size": log_range(64, 4096), "samples": log_range(64, 65536)},
    holds=lambda cell: cell["samples"] >= cell["vocab_size"])``

    Attributes:
        text: in words, and why the grid lies in it.
        given: the values of each parameter, the simplest first: a `log_range`, a `range`, a value,
            or several, such as ``("relu", "tanh")`` or ``(2, 8, 64)``. These alone are meant, but
            of decimals, such as ``(0.5, 1.0, 2.0)``, the numbers between as well. One that the grid
            does not name is another dimension of the search, such as an option of the theory.
        holds: what must hold of the parameters together.
    """

    text: str
    given: Mapping[str, Given]
    holds: Callable[[Cell], bool] = _anywhere

    def __post_init__(self) -> None:
        if not self.given:
            raise ClaimError("a regime needs the range of at least one parameter")

    @cached_property
    def ranges(self) -> Mapping[str, Values]:
        """The values of each parameter."""
        return {name: _values(name, values) for name, values in self.given.items()}

    def searched(
        self,
        text: str = "",
        *,
        holds: Callable[[Cell], bool] = _anywhere,
        without: Iterable[str] = (),
        **ranges: Given,
    ) -> Regime:
        """Return this regime, narrowed for one claim or test of a theory's formula.

        Args:
            text: what is added in words, such as where a grid lies.
            holds: further conditions.
            without: parameters that the cells do not have.
            **ranges: other values of parameters, or of other parameters.

        >>> sizes = Regime("d >= 12", {"dim": log_range(12, 96), "samples": range(1, 10)})
        >>> few = sizes.searched("few dimensions", holds=lambda c: c["dim"] < 20, part=("a", "b"))
        >>> few.text, [*few.ranges]
        ('d >= 12; few dimensions', ['dim', 'samples', 'part'])
        """
        kept = {name: values for name, values in self.given.items() if name not in {*without}}
        return replace(
            self,
            text="; ".join(filter(None, (self.text, text))),
            given=kept | ranges,
            holds=lambda cell: self.holds(cell) and holds(cell),
        )

    def why_outside(self, cell: Cell, ignoring: str | None = None) -> str | None:
        """Return why a cell of the grid is not in the regime, or None.

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
        return None if self.admits(point) else "its condition does not hold there"

    def draws(self, cell: Cell) -> bool:
        """Whether a search may draw this cell from the regime."""
        if cell.keys() != self.ranges.keys():
            return False
        steps = all(cell[name] in values.steps for name, values in self.ranges.items())
        return steps and self.admits(cell)

    def admits(self, cell: Cell) -> bool:
        """Whether the condition holds of a cell."""
        return self.holds(self.filled(cell))

    def filled(self, cell: Cell) -> Cell:
        """The cell, completed by the simplest value of each missing parameter."""
        missing = {n: values.steps[0] for n, values in self.ranges.items() if n not in cell}
        return cell.replace(**missing)
