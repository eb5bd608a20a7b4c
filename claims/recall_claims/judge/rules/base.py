"""Interface of every decision rule, and the data that a rule reads."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from recall_claims.judge.methods import Array, Deterministic, Method
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Component, Interval, Region, Scale

Predict = Callable[[Cell], Any]
"""Function from a cell to a number, a name, a distribution function, or a mapping from names to
these (`Several`)."""
Components = tuple[Component, ...]


@dataclass(frozen=True)
class Sample:
    """The observations of one cell: per observable an array of shape (replicates,).

    If many samples are judged at once, the shape is (samples, replicates).
    """

    cell: Cell
    observations: Mapping[str, Array]

    @classmethod
    def joined(cls, cell: Cell, blocks: Sequence[Mapping[str, Array]]) -> Sample:
        """Join the observations of blocks, in order."""
        return cls(cell, {n: np.concatenate([part[n] for part in blocks]) for n in blocks[0]})

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return int(next(iter(self.observations.values())).shape[-1])

    def __getitem__(self, observable: str) -> Array:
        try:
            return self.observations[observable]
        except KeyError:
            raise ClaimError(
                f"the rule reads observable {observable!r}, but the claim's function returns "
                f"{sorted(self.observations)}; return it or name one of those"
            ) from None


Evidence = Sequence[Sample]


class Part(NamedTuple):
    """A coordinate of the estimand before it is judged; `Component` explains the fields.

    `bounds` returns the interval whose ends each miss with probability at most a level. `refuting`
    returns another such interval for refutation; without it, `bounds` refutes too. Without a
    `region`, the rule's region counts.
    """

    name: str
    estimate: float
    bounds: Callable[[float], Interval]
    open_cells: Iterable[str]
    params: Mapping[str, Any] = {}
    region: Region | None = None
    refuting: Callable[[float], Interval] | None = None


@dataclass(frozen=True)
class Rule(ABC):
    """A decision rule, which turns observations into a component per coordinate.

    A new rule defines `components`, or, as a subclass of a rule about means, `values`:

    >>> from recall_claims import MeanDifference
    >>> class LogMean(MeanDifference):
    ...     def values(self, sample, count):
    ...         return np.log(sample[self.observable][:count])
    >>> data = Sample(Cell(dim=2), {"value": np.exp([1.0, 2.0, 3.0])})
    >>> LogMean(Region(-1, 1)).components([data], lambda cell: 2.0, 1e-3)[0].estimate
    0.0
    """

    scale: ClassVar[Scale]
    estimand: ClassVar[str]
    """The estimand, in words."""
    needs_prediction: ClassVar[bool] = True
    methods: ClassVar[tuple[type[Method], ...]] = (Method,)
    """Methods under which the guarantee holds."""
    depends_on_all: ClassVar[bool] = False
    """Whether a replicate's value depends on the others, as a pseudo-value does. Then `components`
    takes many samples at once, and a certificate judges each sample by itself."""
    predicts_location: ClassVar[bool] = False
    """Whether the prediction is a parameter's critical value, and no value of an observable."""

    @property
    @abstractmethod
    def method(self) -> Method:
        """The method that bounds the means of cells."""

    @property
    def exact(self) -> bool:
        """Whether the verdict's guarantee is exact."""
        return self.method.exact

    @property
    def anytime(self) -> bool:
        """Whether the guarantee holds at all looks together, so that looks do not share alpha."""
        return self.exact and self.method.anytime

    def with_method(self, method: Method) -> Rule:
        """Return the rule with another method of bounding means."""
        return replace(self, method=method)  # type: ignore[call-arg]  # a field of most rules

    def parts(self, predict: Predict | None) -> list[tuple[Rule, Predict | None]]:
        """Return the rules that make up this rule, each with its prediction."""
        return [(self, predict)]

    def values(self, sample: Sample, count: int) -> Array:
        """Return a value for each of the first `count` replicates; their mean is the estimate."""
        return sample[self.observable][:count]  # type: ignore[attr-defined]  # most rules have it

    @property
    def guarantee(self) -> str:
        """The intervals in words: their estimand and their guarantee."""
        return f"{self.estimand} {self.method.guarantee}"

    def begun(self, cells: Sequence[Cell], predict: Predict | None) -> Sequence[Cell]:
        """Return the cells of the first look.

        Other cells wait until a component of the claim or of a control asks for them. The first
        cells depend on grid and theory, never on the evidence.
        """
        return cells

    @abstractmethod
    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        """Return the estimand's coordinates with their intervals.

        Args:
            evidence: one sample per cell; cells may differ in replicates.
            predict: the theory's prediction for a cell.
            alpha: the claim's alpha at this look.
        """

    def against(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        """Return the components of a control's wrong theory; only its refutation matters.

        Args:
            evidence, predict, alpha: as for `components`.
        """
        return self.components(evidence, predict, alpha)

    def joint(self, parts: Iterable[Part], alpha: float, edges: int = 2) -> Components:
        """Make components of parts; refutations split alpha over `edges` edges per part."""
        found = tuple(parts)
        strict = alpha / (edges * len(found))
        return tuple(
            Component(
                part.name,
                part.estimate,
                (part.refuting or part.bounds)(strict),
                part.region or self.region,  # type: ignore[attr-defined]  # most rules have it
                self.scale,
                part.params,
                part.bounds(alpha),
                tuple(part.open_cells),
            )
            for part in found
        )

    def doubt(self, evidence: Evidence) -> str:
        """Say how the evidence contradicts an assumption of the rule; "" if it does not."""
        return ""

    def looks_in_blocks(self, looks: int) -> tuple[int, ...]:
        """Return how much data a cell has at each look, in multiples of the first look's data.

        From the first look to the last, data double `looks` - 1 times. If looks share alpha, there
        is a look after each doubling. If they do not, there is a look at every multiple, and later
        whenever data have grown by 1/8.

        >>> from recall_claims import MeanRatio, ProportionDifference, Region
        >>> MeanRatio(Region(0.9, 1.1)).looks_in_blocks(4)
        (1, 2, 4, 8)
        >>> ProportionDifference(Region(-0.1, 0.1)).looks_in_blocks(4)
        (1, 2, 3, 4, 5, 6, 7, 8)
        >>> ProportionDifference(Region(-0.1, 0.1)).looks_in_blocks(5)[8:]
        (9, 10, 11, 12, 13, 14, 15, 16)
        """
        most = 2 ** (looks - 1)
        found = [1]
        while found[-1] < most:
            step = max(found[-1] + 1, found[-1] * 9 // 8) if self.anytime else 2 * found[-1]
            found.append(min(step, most))
        return tuple(found)

    def alpha_of_look(self, alpha: float, looks: int) -> float:
        """Return the part of the claim's alpha that one look may use."""
        return alpha if self.anytime else alpha / looks

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        """Refuse a grid on which the rule is impossible.

        Raises:
            ClaimError: names what is impossible and what to change.
            ValueError: the rule's numbers make no `Region`.
            TypeError: a parameter is text where the rule needs a number.
        """
        getattr(self, "region", None)  # a property may fail: now, not after simulations
        if not isinstance(self.method, self.methods):
            names = " or ".join(f"{method.__name__}()" for method in self.methods)
            raise ClaimError(
                f"{type(self).__name__} takes method={names}; its guarantee does not hold for "
                f"{self.method}"
            )
        if self.needs_prediction and predict is None:
            raise ClaimError(f"{type(self).__name__} compares with a prediction; give predict=")

    def completed(self, cells: Sequence[Cell], predict: Predict | None) -> tuple[Cell, ...]:
        """Return the cells, and further cells that the rule needs to decide about its region."""
        return tuple(cells)

    def decidable(self, cells: Sequence[Cell], predict: Predict | None) -> None:  # noqa: B027  (optional)
        """Refuse a grid on which no evidence could support the claim.

        Raises:
            ClaimError: names what is missing and the remedy.
        """

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        """Return the cells whose evidence judges one point of a theorem's regime by itself.

        A rule about means of groups takes the point as a group, because a theorem about a group
        should hold in each cell.

        Raises:
            ClaimError: the rule judges cells together; the message says why.
        """
        return (point,)

    def discrepancy(self, evidence: Evidence, predict: Predict | None, alpha: float) -> float:
        """Return the largest distance from an interval to its region, as by `Region.distance`.

        If all intervals meet their regions, the result is negative: minus the least distance that
        an interval reaches into its region. A search for violations looks for large results.

        Args:
            evidence, predict: as for `components`.
            alpha: level of the bounds.
        """
        parts = self.components(evidence, predict, alpha)
        return max(p.region.distance(p.bounds.high, p.bounds.low) for p in parts)

    def with_exponents_off(self, powers: Mapping[str, float]) -> Rule | None:
        """Return the rule with its exponents changed by these amounts; None if it has none."""
        return None

    def observed(self, sample: Sample) -> float | str | None:
        """Return the observed value that reports show for a cell: a mean, a name, or None."""
        values = self._shown(sample)
        return None if values is None else float(values.mean())

    def observed_interval(self, sample: Sample, alpha: float) -> Interval | None:
        """Bound `observed` with error probability at most alpha; None if no observable is shown."""
        values = self._shown(sample)
        return None if values is None else self.method.bounds(values, alpha / 2)

    def observed_error(self, sample: Sample) -> float | None:
        """Return the standard error of `observed` if it is a mean of several random replicates."""
        values = self._shown(sample)
        if values is None or values.size < 2 or isinstance(self.method, Deterministic):
            return None
        return float(values.std(ddof=1) / math.sqrt(values.size))

    def _shown(self, sample: Sample) -> Array | None:
        name = getattr(self, "observable", None)
        return None if name is None else sample[name]


def predicted(predict: Predict | None, cell: Cell) -> Any:
    """Return the prediction for a cell.

    Raises:
        ClaimError: there is no prediction.
    """
    if predict is None:
        raise ClaimError("the rule compares with a prediction; give predict=")
    return predict(cell)


def number(predict: Predict | None, cell: Cell) -> float:
    """Return the prediction for a cell as a finite float.

    Raises:
        ClaimError: there is no prediction, or it is not a finite number.
    """
    value = predicted(predict, cell)
    if not hasattr(value, "__float__") or not math.isfinite(value):
        raise ClaimError(f"the prediction at {cell.id} is {value!r}, not a finite number")
    return float(value)


def groups(cells: Sequence[Cell], by: str | Sequence[str] | None) -> dict[str, list[int]]:
    """Return the indices of the cells of each group, which agree in the parameters `by`.

    If `by` is None, each cell is a group.

    Raises:
        ClaimError: a cell lacks one of the parameters.
    """
    found: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        try:
            params = told_apart(cell, by)
        except KeyError as missing:
            raise ClaimError(f"cannot group by {by!r}: {missing.args[0]}") from None
        name = ",".join(f"{name}={value}" for name, value in params.items()) or "all cells"
        found.setdefault(cell.id if by is None else name, []).append(index)
    return found


def told_apart(cell: Cell, by: str | Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters by which `groups` separates the cell's group from others: all, if `by`
    is None."""
    names = tuple(cell) if by is None else (by,) if isinstance(by, str) else by
    return {name: cell[name] for name in names}
