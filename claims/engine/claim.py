"""What a claim is, and the decorator that makes one of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeVar

from claims.engine.cell import Block, Cell
from claims.engine.code import visible_names
from claims.engine.errors import ClaimError
from claims.engine.papers import papers
from claims.engine.rules import Predict, Rule

TIERS = ("smoke", "standard", "full")
Tier = Literal["smoke", "standard", "full"]
Provenance = Literal["stated", "reported", "derived"]
Observe = Callable[[Cell, Block], Mapping[str, Any]]
Grid = Sequence[Cell] | Mapping[Tier, Sequence[Cell]]
T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """Where a claim comes from.

    Attributes:
        paper: key of a file in claims/papers, such as "A".
        statements: the paper's statements that the claim tests, such as ("A3", "A9").
        provenance: "stated" (in the paper's abstract), "reported" (by its reviewers or readers)
            or "derived" (our own derivation, which makes a statement quantitative).
        reference: where the formula is derived, such as "theory/signal.py".

    >>> Source("A", ("A3",), "derived", "theory/signal.py").paper
    'A'
    """

    paper: str
    statements: tuple[str, ...]
    provenance: Provenance
    reference: str


@dataclass(frozen=True)
class Control:
    """A planted wrong theory; the same data must refute it, or the claim is not supported.

    It replaces the claim's `predict`, its `rule`, or both.

    >>> control = Control("one-length", "1/L for 1/L^2", predict=lambda cell: 1 / cell["length"])
    >>> control.predict(Cell(length=4))
    0.25
    """

    id: str
    description: str
    predict: Predict | None = None
    rule: Rule | None = None


@dataclass(frozen=True)
class Plot:
    """How the report draws the cells.

    Attributes:
        kind: "curve" (observed against `x`, on the predicted curve), "parity" (observed against
            predicted) or "map" (cells in the plane of `x` and the first of `group`).
        x: cell parameter on the horizontal axis.
        group: parameters that tell curves apart.
        collapse: adds a second panel with `x` divided by the cell's predicted critical value.
    """

    kind: Literal["curve", "parity", "map"] = "curve"
    x: str | None = None
    log_x: bool = False
    log_y: bool = False
    group: tuple[str, ...] = ()
    collapse: bool = False
    x_label: str = ""
    y_label: str = ""


class Grids(Mapping[str, tuple[Cell, ...]]):
    """The cells of each tier, worked out when they are first asked for.

    Grids around a predicted threshold take seconds to work out. A worker process is told its cell,
    and never asks.
    """

    def __init__(self, work_out: Callable[[], Mapping[str, tuple[Cell, ...]]]) -> None:
        self._tiers = cache(work_out)

    def __getitem__(self, tier: str) -> tuple[Cell, ...]:
        return self._tiers()[tier]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tiers())

    def __len__(self) -> int:
        return len(self._tiers())


@dataclass(frozen=True)
class Claim:
    """A theorem made executable. Fields are those of the `claim` decorator."""

    id: str
    title: str
    statement: str
    source: Source
    latex: str
    regime: str
    cells: Mapping[str, tuple[Cell, ...]]
    replicates: Mapping[str, int]
    looks: Mapping[str, int]
    rule: Rule
    region_reason: str
    predict: Predict | None
    controls: tuple[Control, ...]
    plot: Plot | None
    expected: Literal["SUPPORTED", "REFUTED"]
    explanation: str | None
    dtype: Literal["float64", "float32"]
    critical: Callable[[Cell], float] | None
    exploratory: bool
    needs: Literal["cuda"] | None
    observe: Observe
    module: str

    def with_control(self, control: Control) -> Claim:
        """The claim as the planted wrong theory has it."""
        return replace(
            self,
            predict=control.predict or self.predict,
            rule=control.rule or self.rule,
            controls=(),
        )

    def why_not_run(self, tier: str, device: str) -> str | None:
        """Why there is nothing to run in this tier on this device, or None if there is."""
        if not self.cells.get(tier):
            tiers = ", ".join(name for name, points in self.cells.items() if points)
            return f"NOT RUN: the claim has no cells in tier {tier} (only in {tiers})"
        if self.needs is not None and not device.startswith(self.needs):
            return f"NOT RUN: the claim needs --device {self.needs}, this run is on {device}"
        return None


def claim(
    *,
    id: str,
    title: str,
    source: Source | None = None,
    latex: str = "",
    regime: str = "",
    cells: Grid | Callable[[], Grid],
    replicates: int | Mapping[Tier, int],
    looks: int | Mapping[Tier, int] = 4,
    rule: Rule,
    region_reason: str = "",
    predict: Predict | None = None,
    controls: Sequence[Control] = (),
    plot: Plot | None = None,
    expected: Literal["SUPPORTED", "REFUTED"] = "SUPPORTED",
    explanation: str | None = None,
    dtype: Literal["float64", "float32"] = "float64",
    critical: Callable[[Cell], float] | None = None,
    exploratory: bool = False,
    needs: Literal["cuda"] | None = None,
) -> Callable[[Observe], Claim]:
    """Make a claim of the function that simulates a block of replicates in a cell.

    The function takes ``(cell, block)`` and returns observables: a mapping of names to arrays or
    tensors of shape (replicates,). Its docstring is the theorem in words. It must not use
    theory: predictions enter through `predict`, `rule` and `cells` alone.

    Args:
        id: stable name; seeds and ledger keys derive from it.
        title: one line.
        source: paper, statements, provenance and derivation.
        latex: the formula under test.
        regime: why the grid lies in the theorem's regime.
        cells: the grid, for all tiers or per tier, or a function that returns it, which is called
            at most once and by no worker; a tier without cells does not run the claim.
        replicates: replicates per cell at the first look.
        looks: how often the data may double; look k uses ``replicates * 2**k`` per cell.
        rule: the estimand and its region.
        region_reason: why the region is as wide as it is, from what is known before the run.
        predict: the theory's prediction for a cell.
        controls: planted wrong theories.
        plot: how the report draws the cells.
        expected: "REFUTED" for a statement kept in the suite because the evidence refutes it,
            such as a press version; needs an explanation, and passes only while refuted.
        explanation: why the statement is expected to be refuted.
        dtype: floating-point type of the simulation.
        critical: predicted critical value of the plot's x, for the data collapse.
        exploratory: asks whether a result outlives one of its assumptions. Judged by the same
            rules, but said as SURVIVES or BREAKS; it never fails a run, and needs no control.
        needs: the only kind of device that can judge the claim; on others it is NOT RUN.

    A claim that is written wrongly is reported when pytest collects it, not here.
    """

    def per_tier(value: T | Mapping[Tier, T]) -> dict[str, T]:
        if isinstance(value, Mapping):
            return {str(tier): entry for tier, entry in value.items()}
        return dict.fromkeys(TIERS, value)

    def grids() -> dict[str, tuple[Cell, ...]]:
        given = cells if isinstance(cells, Sequence | Mapping) else cells()
        return {tier: tuple(points) for tier, points in per_tier(given).items()}

    def decorate(observe: Observe) -> Claim:
        return Claim(
            id=id,
            title=title,
            statement=" ".join((observe.__doc__ or "").split()),
            source=source or Source("", (), "derived", ""),
            latex=latex,
            regime=" ".join(regime.split()),
            cells=Grids(grids),
            replicates=per_tier(replicates),
            looks=per_tier(looks),
            rule=rule,
            region_reason=" ".join(region_reason.split()),
            predict=predict,
            controls=tuple(controls),
            plot=plot,
            expected=expected,
            explanation=explanation,
            dtype=dtype,
            critical=critical,
            exploratory=exploratory,
            needs=needs,
            observe=observe,
            module=observe.__module__,
        )

    return decorate


def check(claim: Claim, tiers: Sequence[str] = TIERS) -> None:
    """Refuse a claim that is written wrongly, before anything runs.

    Args:
        claim: the claim.
        tiers: tiers whose grids are tried against rule, prediction and controls, which takes a
            call of every prediction in every cell.

    Raises:
        ClaimError: names everything that is missing or impossible, and the remedy.
    """
    problems = [*_missing(claim), *_impossible(claim, tiers)]
    if problems:
        raise ClaimError(f"claim {claim.id}: " + "; ".join(problems))


def _missing(claim: Claim) -> list[str]:
    problems = []
    source = claim.source
    if source.paper not in papers():
        problems.append(
            f"no provenance: source= must name a paper of claims/papers ({', '.join(papers())})"
        )
    else:
        known = {statement.id for statement in papers()[source.paper].statements}
        unknown = [s for s in source.statements if s not in known]
        if unknown or not source.statements:
            problems.append(
                f"source= must name statements of paper {source.paper}, "
                f"not {', '.join(unknown) or 'none'}"
            )
    if source.provenance not in ("stated", "reported", "derived"):
        problems.append("provenance must be stated, reported or derived")
    if not claim.statement:
        problems.append("no statement: write the theorem in words as the function's docstring")
    if not claim.regime:
        problems.append("no regime: say why the grid lies in the theorem's regime")
    if not claim.region_reason:
        problems.append("no region_reason: say why the region is as wide as it is")
    if claim.expected == "SUPPORTED" and not claim.controls and not claim.exploratory:
        problems.append("no control: plant at least one wrong theory that the data must refute")
    if claim.expected == "REFUTED" and not claim.explanation:
        problems.append("expected REFUTED needs an explanation")
    if claim.expected not in ("SUPPORTED", "REFUTED"):
        problems.append(f"expected must be SUPPORTED or REFUTED, not {claim.expected!r}")
    problems += [
        f"control {control.id} changes neither predict nor rule"
        for control in claim.controls
        if control.predict is None and control.rule is None
    ]
    if len({control.id for control in claim.controls}) < len(claim.controls):
        problems.append("two controls share an id")
    return problems


def _impossible(claim: Claim, tiers: Sequence[str]) -> list[str]:
    problems = []
    strangers = [t for t in (*claim.cells, *claim.replicates, *claim.looks) if t not in TIERS]
    if strangers:
        problems.append(f"unknown tier {', '.join(strangers)}; tiers are {', '.join(TIERS)}")
    if not any(claim.cells.values()):
        problems.append("no cells in any tier")
    theory = [name for name in visible_names(claim.observe) if "theory" in name.split(".")]
    if theory:
        problems.append(
            f"its simulation sees the prediction ({', '.join(theory)}): use theory only in "
            "predict, rule and cells"
        )
    for tier, points in claim.cells.items():
        if len(set(points)) < len(points):
            problems.append(f"a cell stands twice in the {tier} grid")
        if claim.replicates.get(tier, 0) < 2 or claim.looks.get(tier, 0) < 1:
            problems.append(f"the {tier} tier needs at least 2 replicates and 1 look")
        if tier not in tiers:
            continue
        for judged in (claim, *map(claim.with_control, claim.controls)):
            try:
                judged.rule.check(points, judged.predict)
            except (ClaimError, ValueError, TypeError, KeyError) as error:
                problems.append(f"impossible {tier} grid: {error}")
    return list(dict.fromkeys(problems))
