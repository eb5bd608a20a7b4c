"""Cells, the points of a claim's parameter grid, and blocks, batches of replicates in a cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

Scalar = int | float | str | bool
T = TypeVar("T")


class Cell(Mapping[str, Any]):  # Any: `**cell` must fit any parameter's type
    """A frozen set of named parameters.

    A cell is a mapping, so that ``simulate(**cell)`` works, and ``Problem.of(cell)`` makes a
    formula's argument. Two cells with the same text `id` are equal, in whatever order their
    parameters were written. Seeds and ledger keys use this text.

    Raises:
        TypeError: a parameter is neither a number nor a text.
        ValueError: there is no parameter, or a whole number has more than 64 bits.

    >>> Cell(length=8, dim=32).id
    'dim=32,length=8'
    >>> Cell(length=8, dim=32) == Cell(dim=32, length=8)
    True
    """

    def __init__(self, **params: Scalar | np.generic) -> None:
        if not params:
            raise ValueError("a cell needs at least one parameter")
        self._params: dict[str, Scalar] = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in params.items()
        }
        for name, value in self._params.items():
            if not isinstance(value, int | float | str | bool):
                raise TypeError(f"cell parameter {name} must be a number or text, not {value!r}")
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(f"cell parameter {name} has more than 64 bits, as no record holds")

        self.id = ",".join(f"{name}={self._params[name]}" for name in sorted(self._params))
        """Stable text: parameters in alphabetical order."""

    def replace(self, **params: Scalar) -> Cell:
        """Return a copy with some parameters changed or added."""
        return Cell(**{**self._params, **params})

    def without(self, *names: str) -> dict[str, Any]:
        """Return all parameters but these.

        >>> Cell(length=8, dim=32).without("dim")
        {'length': 8}
        """
        return {name: value for name, value in self._params.items() if name not in names}

    def number(self, name: str) -> float:
        """Return parameter `name` as a float.

        Raises:
            KeyError: the cell has no such parameter.
            TypeError: the parameter is text.
        """
        value = self[name]
        if isinstance(value, str):
            raise TypeError(f"cell parameter {name}={value!r} is text where a number is needed")
        return float(value)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._params[name]
        except KeyError:
            raise KeyError(f"the cell has no parameter {name!r}, only {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and other.id == self.id

    def __repr__(self) -> str:
        return f"Cell({self.id})"


def grid(
    points: Iterable[Mapping[str, Scalar]] = ({},),
    /,
    **axes: Scalar | np.generic | Iterable[Scalar],
) -> tuple[Cell, ...]:
    """Make a cell for each combination of values of the axes; the last axis varies fastest.

    Args:
        points: some parameters of each cell, for a grid that is no product. Each point is combined
            with all values of the axes.
        **axes: the values of each parameter; a scalar is one value.

    Raises:
        ValueError: an axis has no values, or a cell would have no parameter.

    >>> [cell.id for cell in grid(length=(8, 16), dim=32)]
    ['dim=32,length=8', 'dim=32,length=16']
    >>> [cell.id for cell in grid([{"dim": 2}, {"dim": 4}], length=8)]
    ['dim=2,length=8', 'dim=4,length=8']
    """
    values = {
        name: (axis,) if isinstance(axis, int | float | str | np.generic) else tuple(axis)
        for name, axis in axes.items()
    }
    empty = [name for name, axis in values.items() if not axis]
    if empty:
        raise ValueError(f"grid axis {', '.join(empty)} has no values")
    return tuple(
        Cell(**point, **dict(zip(values, crossed, strict=True)))
        for point in points
        for crossed in itertools.product(*values.values())
    )


def ladder(
    settings: Iterable[Mapping[str, Scalar]],
    parameter: str,
    centre: Callable[[Cell], float],
    factors: Iterable[float],
    *,
    to: Callable[[float], int] | None = None,
) -> tuple[Cell, ...]:
    """Make cells around a predicted centre: in each setting, at multiples of the centre, rounded.

    Args:
        settings: the other parameters, a mapping for each setting.
        parameter: the parameter that varies.
        centre: the predicted centre in a setting, given as a cell of the other parameters.
        factors: factors of the centre. Multiples that round to the same number make one cell.
        to: how to round a multiple to a whole number; by default towards the centre.
    """
    factors, found = tuple(factors), []
    for setting in (Cell(**point) for point in settings):
        middle = centre(setting)
        rungs = ((to or (math.ceil if f < 1 else math.floor))(f * middle) for f in factors)
        found += [setting.replace(**{parameter: rung}) for rung in dict.fromkeys(rungs)]
    return tuple(found)


@dataclass(frozen=True)
class Block:
    """A batch of replicates to simulate.

    Attributes:
        rngs: one generator per replicate. A replicate's draws depend only on its own generator,
            hence not on the batch size, the order or the executor.
        device: torch device, such as "cpu" or "cuda".
        precision: torch's floating-point type of the simulation, or its name.
    """

    rngs: tuple[np.random.Generator, ...]
    device: str
    precision: torch.dtype | str

    @property
    def dtype(self) -> torch.dtype:
        """Torch's floating-point type of the simulation; this loads torch."""
        if not isinstance(self.precision, str):
            return self.precision
        import torch

        found: torch.dtype = getattr(torch, self.precision)
        return found

    @property
    def replicates(self) -> int:
        """Number of replicates in the block."""
        return len(self.rngs)

    def each(self, function: Callable[[np.random.Generator], Any]) -> npt.NDArray[np.float64]:
        """Call a function with the generator of each replicate; return its values, (replicates,).

        >>> Block((np.random.default_rng(0),) * 2, "cpu", "float64").each(lambda rng: 3).tolist()
        [3.0, 3.0]
        """
        return np.array([function(rng) for rng in self.rngs], dtype=np.float64)

    def draw(self, function: Callable[..., T], parameters: Mapping[str, Any], **more: Any) -> T:
        """Call `function` with the block's generators and a cell's parameters.

        The call is ``function(rngs, **parameters, device=..., dtype=...)``. ``more`` adds
        arguments, or replaces parameters of the same name.
        """
        given = {**parameters, **more}
        return function(self.rngs, **given, device=self.device, dtype=self.dtype)
