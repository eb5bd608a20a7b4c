"""The regime of a theorem, in a form that can be checked and searched.

A theorem claims a regime; a grid is a few points of it. A `Regime` states the values that each
parameter of a cell may take, and a condition on all of them. Every cell of a claim's grid must lie
inside; only a parameter scanned for its critical value may leave its range. `pytest --hunt`
searches the regime for violations.

A theory states each formula's `Regime` next to the formula. A claim may narrow the regime by
`Regime.searched`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from recall_claims.model.cell import Cell, Scalar
from recall_claims.model.errors import ClaimError


@dataclass(frozen=True)
class Values:
    """The values of a parameter, the simplest first; a search moves along them step by step.

    Attributes:
        steps: the values that a search draws.
        between: whether all numbers from the smallest to the largest belong to the regime too.
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
    """Make numbers from `low` to `high` in equal steps of the logarithm, whole if both ends are.

    The last step may be shorter. If an end is a float, the numbers between have three digits.

    Args:
        low: the smallest number, positive.
        high: the largest number.
        per_octave: number of steps from a number to its double. Whole numbers that coincide after
            rounding are one.

    Raises:
        ClaimError: the ends are not positive numbers in order.

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
    return Values((float(low), *(value for value in between if value < high), float(high)))


def _values(name: str, given: Given) -> Values:
    """Read a parameter's values as an author writes them."""
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
        text: the regime in words, and why the grid lies in it.
        given: the values of each parameter, the simplest first. Only the values themselves belong
            to the regime if they are one value, or several such as ``("relu", "tanh")`` or
            ``(2, 8, 64)``. All numbers between them also belong to the regime if they are a
            `log_range`, a `range`, or several decimals such as ``(0.5, 1.0, 2.0)``. The grid may
            lack a parameter, such as an option of the theory: then only a search varies it.
        holds: condition on all parameters together.

    Raises:
        ClaimError: there is no parameter; also, when `ranges` is read, a parameter has no values.
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
            text: further words, such as where a grid lies.
            holds: a further condition.
            without: parameters that the cells lack.
            **ranges: values that replace a parameter's, or values of further parameters.

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
        """Return why a cell is outside the regime; None if it is inside.

        Args:
            cell: a cell of the grid.
            ignoring: a scanned parameter, whose critical value the theorem predicts. The condition
                is tested at this parameter's simplest value.
        """
        for name, value in cell.items():
            if name == ignoring:
                continue
            if name not in self.ranges:
                return f"it has no range for {name}"
            if value not in self.ranges[name]:
                return f"{name}={value} is out of its range ({self.ranges[name]})"
        met = self.admits(cell.without(ignoring or ""))
        return None if met else "its condition does not hold there"

    def draws(self, cell: Cell) -> bool:
        """Whether a search may draw this cell from the regime."""
        if cell.keys() != self.ranges.keys():
            return False
        steps = all(cell[name] in values.steps for name, values in self.ranges.items())
        return steps and self.admits(cell)

    def admits(self, cell: Mapping[str, Scalar]) -> bool:
        """Whether the condition holds for a cell; `filled` sets missing parameters."""
        return self.holds(self.filled(cell))

    def filled(self, cell: Mapping[str, Scalar]) -> Cell:
        """Complete a cell by the simplest value of each missing parameter."""
        missing = {n: values.steps[0] for n, values in self.ranges.items() if n not in cell}
        return cell if isinstance(cell, Cell) and not missing else Cell(**cell, **missing)
