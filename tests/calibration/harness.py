"""Run a decision rule many times on synthetic data, with its doubling looks and early stopping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from recall_claims.declare.cell import Cell
from recall_claims.judge.methods import Array
from recall_claims.judge.region import Component, Verdict, judge
from recall_claims.judge.rules import Predict, Rule, Sample

ALPHA = 0.05
RUNS = 2000
CONFIDENCE = 0.99

Draw = Callable[[np.random.Generator, Cell, int, float], Mapping[str, Array]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A rule, a grid, and synthetic worlds in which the truth is known.

    Attributes:
        rule: the decision rule.
        cells: its grid.
        draw: ``draw(rng, cell, count, truth)`` gives `count` replicates of a world whose estimand
            has the value `truth`, on the scale of the rule's components.
        true_edges: truths at the edge of the region, where a true claim is refuted most easily.
        false_edges: truths where a false claim is supported most easily. None: the same edges,
            for by continuity a truth just outside is supported as often as one at the edge.
        centre: the truth for which the theory is exactly right.
        predict: the theory's prediction.
        directions: -1 if the truth can lie below what the theory says, +1 if above.
        first: replicates per cell at the first look.
        looks: how often the data may double.
        alpha: probability that some interval of some look misses.
    """

    rule: Rule
    cells: tuple[Cell, ...]
    draw: Draw
    true_edges: tuple[float, ...]
    false_edges: tuple[float, ...] | None = None
    centre: float
    predict: Predict | None = None
    directions: tuple[int, ...] = (-1, 1)
    first: int = 32
    looks: int = 2
    alpha: float = ALPHA


@dataclass(frozen=True)
class Rate:
    """A measured probability with its exact binomial interval."""

    count: int
    runs: int

    @property
    def value(self) -> float:
        """The observed share."""
        return self.count / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson interval at level CONFIDENCE."""
        low, high = proportion_confint(self.count, self.runs, alpha=1 - CONFIDENCE, method="beta")
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.4g} [{low:.4f}, {high:.4f}]"


@dataclass(frozen=True)
class Run:
    """How a run ended.

    Attributes:
        components: at the look that decided, or at the last look.
        replicates: of each cell, seen until then.
    """

    components: tuple[Component, ...]
    replicates: int


def one_run(case: Case, truth: float, predict: Predict | None, rng: np.random.Generator) -> Run:
    """One run, with looks until it is decided or the last look is over."""
    data: list[list[Mapping[str, Array]]] = [[] for _ in case.cells]
    components: tuple[Component, ...] = ()
    for look in range(case.looks):
        count = case.first * 2 ** max(look - 1, 0)
        for blocks, cell in zip(data, case.cells, strict=True):
            blocks.append(case.draw(rng, cell, count, truth))
        evidence = tuple(
            Sample(cell, {name: np.concatenate([b[name] for b in blocks]) for name in blocks[0]})
            for blocks, cell in zip(data, case.cells, strict=True)
        )
        components = case.rule.components(evidence, predict, case.alpha / case.looks)
        if judge(components) is not Verdict.INCONCLUSIVE:
            break
    return Run(components, case.first * 2**look)
