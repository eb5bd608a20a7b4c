"""Claims, and the decorator that makes a claim of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar

from recall_claims.judge.rules import Predict, Rule
from recall_claims.model.cell import Block, Cell
from recall_claims.model.errors import ClaimError, about
from recall_claims.model.predictions import Prediction
from recall_claims.model.regime import Regime
from recall_claims.model.region import Region
from recall_claims.model.source import Source
from recall_reports.record.values import Plot

TIERS = ("smoke", "standard", "full")
Tier = Literal["smoke", "standard", "full"]
Observe = Callable[[Cell, Block], Any]
Points = Sequence[Cell] | Callable[[], Sequence[Cell]]
Tiers = Points | Mapping[Tier, Points]
Grid = Tiers | Callable[[], Tiers]
Sizes = int | tuple[int, int]
"""Replicates per cell: at the only look, or at the first and the last look."""
LARGEST = 1e6
"""Largest `size` of a cell that a search simulates."""
T = TypeVar("T")


class Grids(Mapping[str, tuple[Cell, ...]]):
    """The cells of each tier; a function that makes a grid is called when its cells are needed.

    Grids around a predicted threshold take seconds to work out. A run builds the grid of its tier
    only; collection builds only the grids that are given as cells.

    Args:
        claim: the claim's id.
        declared: cells, for all tiers or per tier, or functions that return them.
        completed: adds the further cells that the rule needs.
    """

    def __init__(
        self, claim: str, declared: Grid, completed: Callable[[Sequence[Cell]], tuple[Cell, ...]]
    ) -> None:
        self._claim, self._declared, self._completed = claim, declared, completed
        self._known: dict[int, tuple[Cell, ...]] = {}  # one entry if tiers share a grid

    @cached_property
    def _tiers(self) -> dict[str, Points]:
        with about(self._claim):
            found = self._declared() if callable(self._declared) else self._declared
        given: dict[str, Points] = _per_tier(found)
        tiers = {tier: points for tier, points in given.items() if points}
        return {"full": tiers["standard"], **tiers} if "standard" in tiers else tiers

    @property
    def listed(self) -> bool:
        """Whether the tiers with cells are known without calling a slow function."""
        return not callable(self._declared) or "_tiers" in vars(self)

    def written(self) -> dict[str, Sequence[Cell]]:
        """Return the cells of each tier that the author wrote as values, not as a function."""
        tiers = {} if callable(self._declared) else self._tiers
        return {tier: points for tier, points in tiers.items() if not callable(points)}

    def known(self, tier: str) -> bool:
        """Whether a tier's cells are known without calling a slow function."""
        points = self._tiers.get(tier) if self.listed else self._declared
        return not callable(points) or id(points) in self._known

    def __getitem__(self, tier: str) -> tuple[Cell, ...]:
        points = self._tiers[tier]
        if id(points) not in self._known:
            with about(self._claim):
                self._known[id(points)] = self._completed(points() if callable(points) else points)
        return self._known[id(points)]

    def __contains__(self, tier: object) -> bool:
        return tier in self._tiers  # Mapping's method would work out the grid

    def __iter__(self) -> Iterator[str]:
        return iter(self._tiers)

    def __len__(self) -> int:
        return len(self._tiers)


@dataclass(frozen=True)
class Claim:
    """A theorem made executable.

    Fields are the arguments of the `claim` decorator, by tier where tiers differ. The decorated
    function is `observe`, its docstring `statement`, its module `module`. `regime_text` says why
    the grid lies in the theorem's regime; `regime` is None if only text is given.
    """

    id: str
    title: str
    statement: str
    source: Source
    latex: str
    regime_text: str
    regime: Regime | None
    size: Callable[[Cell], float] | None
    cells: Mapping[str, tuple[Cell, ...]]
    replicates: Mapping[str, tuple[int, int]]
    block: Mapping[str, int]
    rule: Rule
    why: str
    predict: Predict | None
    controls: tuple[Control, ...]
    plot: Plot | None
    refuted: str
    dtype: Literal["float64", "float32"]
    critical: Callable[[Cell], float] | None
    curve: Predict | None
    relaxes: tuple[str, str] | None
    from_pilot: bool
    needs: Literal["cuda"] | None
    observe: Observe
    module: str

    @property
    def expected(self) -> Literal["SUPPORTED", "REFUTED"]:
        """The verdict with which the claim passes."""
        return "REFUTED" if self.refuted else "SUPPORTED"

    @property
    def exploratory(self) -> bool:
        """Whether the claim tests a result without one of its assumptions."""
        return self.relaxes is not None

    @property
    def entry(self) -> Prediction | None:
        """The claim's prediction in the registry, or None."""
        return getattr(self.predict, "entry", None)

    def block_size(self, tier: str) -> int:
        """Return the replicates per block: as many as the first look has, or fewer if declared."""
        return self.block.get(tier, self.replicates[tier][0])

    def steps(self, tier: str) -> tuple[int, ...]:
        """Return the number of blocks that a cell has at each look."""
        first = self.replicates[tier][0] // self.block_size(tier)
        return tuple(first * n for n in self.rule.looks_in_blocks(self.looks(tier)))

    def looks(self, tier: str) -> int:
        """Count the looks if each doubles the replicates, from the first number to the last.

        `steps` has more if looks do not share alpha. A tier without replicates has no look.
        """
        first, last = self.replicates.get(tier, (0, 0))
        return (last // max(first, 1)).bit_length()

    def cells_known(self, tier: str) -> bool:
        """Whether a tier's cells are known without calling a slow function."""
        return not isinstance(self.cells, Grids) or self.cells.known(tier)

    def too_large(self, cell: Cell) -> bool:
        """Whether a cell is too expensive for a search."""
        if self.size is None or self.regime is None:
            return False
        return self.size(self.regime.filled(cell)) > LARGEST

    def searchable(self, cell: Cell) -> bool:
        """Whether a drawn cell lies in the regime and is cheap enough for a search."""
        return self.regime is not None and self.regime.admits(cell) and not self.too_large(cell)

    def why_not_run(self, tier: str, device: str) -> str | None:
        """Return why the claim cannot run in this tier on this device; None if it can.

        A claim without any cells is written wrongly; the error is raised when it runs.
        """
        if self.cells and tier not in self.cells:
            return f"the claim has no cells in tier {tier} (only in {', '.join(self.cells)})"
        if self.needs is not None and not device.startswith(self.needs):
            return f"the claim needs `--device {self.needs}`; this run is on {device}"
        return None


@dataclass(frozen=True)
class Control:
    """A planted wrong theory; unless the same data refute it, the claim is not supported.

    The control replaces the claim's `predict`, `rule` or both, or changes the claim by `alter`.

    >>> control = Control("one-length", "1/L for 1/L^2", lambda cell: 1 / cell["length"])
    >>> control.predict(Cell(length=4))
    0.25
    """

    id: str
    description: str
    predict: Predict | None = None
    rule: Rule | None = None
    alter: Callable[[Claim], Claim] | None = None

    def planted(self, claim: Claim) -> Claim:
        """Return the claim with the wrong theory planted."""
        if self.alter is not None:
            claim = self.alter(claim)
        predict, rule = self.predict or claim.predict, self.rule or claim.rule
        return replace(claim, predict=predict, rule=rule, controls=())


def claim(
    id: str,
    title: str = "",
    *,
    source: Source | None = None,
    latex: str = "",
    regime: str | Regime = "",
    size: Callable[[Cell], float] | None = None,
    cells: Grid,
    replicates: Sizes | Mapping[Tier, Sizes],
    block: int | Mapping[Tier, int] | None = None,
    rule: Rule | Callable[[Region], Rule],
    why: str = "",
    predict: Predict | None = None,
    controls: Sequence[Control] = (),
    plot: Plot | None = None,
    refuted: str = "",
    dtype: Literal["float64", "float32"] = "float64",
    critical: Callable[[Cell], float] | None = None,
    curve: Predict | None = None,
    relaxes: tuple[str, str] | None = None,
    from_pilot: bool = False,
    needs: Literal["cuda"] | None = None,
) -> Callable[[Observe], Claim]:
    """Make a claim of the function that simulates a block of replicates in a cell.

    The function takes ``(cell, block)`` and returns observables of shape (replicates,): one array
    or tensor, which is the observable "value", or a mapping from names to arrays. Its docstring is
    the theorem in words. The function must not use theory: predictions enter only through
    `predict`, `rule`, `cells` and `controls`.

    Args:
        id: stable name; seeds and ledger keys derive from it.
        title: one line; by default the docstring.
        source: paper and statements; provenance and derivation too if the prediction has none.
        latex: the formula under test; by default the prediction's.
        regime: why the grid lies in the theorem's regime; a `Regime` is checked, and searched by
            `--hunt`. By default the prediction's.
        size: roughly how many numbers the simulation of a replicate handles in a cell. A hunt
            leaves out cells of more than a million. If `regime` is a `Regime`, smoke and standard
            tiers must not have such cells. Without `size`, any cell of the regime is cheap enough.
        cells: the grid, for all tiers or per tier, or a function that returns it. A process calls
            the function at most once, and a simulating worker never does. A tier without cells does
            not run the claim. "full" has the cells of "standard" if it is not named.
        replicates: replicates per cell at the first look and at the last, such as ``(256, 4096)``:
            the last are the first, doubled some times. There is a look after each doubling, or more
            often if looks do not share alpha. One number means a single look. For all tiers or per
            tier; a tier that is not named has the replicates of the tier before it.
        block: replicates that a worker simulates at once, for all tiers or per tier, if a whole
            first look would take too long; a divisor of the first look's replicates.
        rule: the estimand and its region; a rule that still lacks a region, such as `MeanRatio` or
            ``partial(CriticalLocation, scan="dim")``, gets the region of the prediction's stated
            error.
        why: why the region is so wide, from knowledge before the run.
        predict: the theory's prediction for a cell; `on` makes one from a formula.
        controls: planted wrong theories.
        plot: how the report draws the cells.
        refuted: why the evidence refutes a statement that stays in the suite, such as a news
            summary. The claim then passes only while it is REFUTED.
        dtype: floating-point type of the simulation.
        critical: predicted critical value of the plot's x, for panels with x divided by this value
            (`Plot`, collapse); by default the prediction of a rule that locates a critical value.
        curve: predicted mean of the observations, for the plot alone, if `predict` is a critical
            value or not given; by default the curve of the critical value's formula.
        relaxes: makes the claim exploratory: the claim tests whether a result holds without one of
            its assumptions. A pair of texts: the assumption with its replacement, and the theorem
            in a word or two. They are a row and a column of the report's table of assumptions. The
            claim is judged like any other, and SURVIVES or BREAKS. It never fails a run, and needs
            no control.
        from_pilot: the region only reproduces the result of a pilot run, and tests no theory beyond
            that; the report counts such claims apart.
        needs: the only kind of device that can judge the claim; on others the claim is NOT RUN.

    Raises:
        ClaimError: `rule` is no rule, or lacks a region and the prediction's stated error gives
            none. pytest reports other faults when it collects the claim, or just before the claim
            runs.
    """
    entry: Prediction | None = getattr(predict, "entry", None)
    if not isinstance(rule, Rule):
        if not callable(rule):
            raise ClaimError(
                f"claim {id}: rule= takes a rule such as MeanRatio(Region(0.95, 1.05)), "
                f"not {rule!r:.100}"
            )
        if entry is None:
            raise ClaimError(
                f"claim {id}: its rule has no region, and its prediction is no formula "
                "of the registry, whose stated error would give one"
            )
        with about(id):
            rule = rule(entry.region())
        if (rule.scale == "ratio") != entry.errors[0].relative:
            raise ClaimError(
                f"claim {id}: {entry.name} states an error of {entry.errors[0]}, and the rule "
                f"judges a {rule.scale}; give the rule a region of its own"
            )
    judged = rule
    sizes: dict[str, Sizes] = _inherited(replicates)
    regime = regime or (entry and entry.regime) or ""

    def completed(points: Sequence[Cell]) -> tuple[Cell, ...]:
        for point in points:
            if not isinstance(point, Cell):
                raise ClaimError(
                    f"claim {id}: {point!r:.50} is no cell; write cells=rc.grid(size=(4, 8)), "
                    "for example"
                )
        return judged.completed(points, predict)

    def decorate(observe: Observe) -> Claim:
        statement = " ".join((observe.__doc__ or "").split())
        return Claim(
            id=id,
            title=" ".join(title.split()) or statement.removesuffix("."),
            statement=statement,
            source=(source or Source("")).completed(entry),
            latex=latex or (entry.latex if entry else ""),
            regime_text=" ".join((regime.text if isinstance(regime, Regime) else regime).split()),
            regime=regime if isinstance(regime, Regime) else None,
            size=size,
            cells=Grids(id, cells, completed),
            replicates={t: (n, n) if isinstance(n, int) else n for t, n in sizes.items()},
            block=_inherited({} if block is None else block),
            rule=judged,
            why=" ".join(why.split()),
            predict=predict,
            controls=tuple(controls),
            plot=plot,
            refuted=refuted,
            dtype=dtype,
            critical=critical or (predict if judged.predicts_location else None),
            curve=curve or (getattr(predict, "curve", None) if judged.predicts_location else None),
            relaxes=relaxes,
            from_pilot=from_pilot,
            needs=needs,
            observe=observe,
            module=observe.__module__,
        )

    return decorate


def _per_tier(value: T | Mapping[Tier, T]) -> dict[str, T]:
    if isinstance(value, Mapping):
        return {str(tier): entry for tier, entry in value.items()}
    return dict.fromkeys(TIERS, value)


def _inherited(given: T | Mapping[Tier, T]) -> dict[str, T]:
    """Give each tier a value; an unnamed tier takes the value of the tier before it."""
    found = _per_tier(given)
    for before, tier in pairwise(TIERS):
        if tier not in found and before in found:
            found[tier] = found[before]
    return found
