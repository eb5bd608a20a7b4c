"""Recall and capacity of one attention layer: what `theory/attention/` states of its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

from torch import Tensor

from recall_claims import Block, Cell, Regime, log_integers, on, one_of
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import COIN
from simulation.attention import end_to_end, sampling
from simulation.attention import recall as measured
from tests.calibration.stated import Law, Observe, Stated, crossing
from theory.attention import capacity, localisation, orthonormal, recall
from theory.attention.problem import Problem


class AnyLength(Problem):
    """A setting in which lengths play no part, and the dimension may be what is asked for."""

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """The setting in a cell."""
        return super().of({"length": 2, "dim": 64} | dict(parameters))


ACCURACY = on(AnyLength, recall.recall_accuracy)
GAUSSIAN = on(AnyLength, recall.recall_accuracy_gaussian)
ALL = on(AnyLength, recall.all_tokens_probability)
CLOSED = on(AnyLength, recall.half_dim)
REFINED = on(AnyLength, recall.half_dim_refined)
NEEDED = on(capacity.critical_samples)
SIZES = {
    "vocab_size": log_integers(256, 512),
    "samples": log_integers(256, 16384),
    "dim": log_integers(16, 256),
}
TABLE = 3e5


def _seen(cell: Cell) -> bool:
    return bool(cell["samples"] >= cell["vocab_size"])


def _table(cell: Cell) -> float:
    return float(cell["vocab_size"] ** 2)


def _recalled(cell: Cell, block: Block) -> Tensor:
    return measured.recalled_share(block.draw(sampling.draw_facts, cell))


def _all_balanced(cell: Cell, block: Block) -> Tensor:
    load, size = cell["load"], cell["vocab_size"]
    sizes = {**cell.without("load"), "samples": load * size}
    return measured.all_tokens(block.draw(sampling.draw_facts, sizes, balanced=True))


def _orthonormal(cell: Cell, block: Block) -> Tensor:
    return _recalled(cell.replace(dim=cell["vocab_size"] + 2, embeddings="orthonormal"), block)


def _end_to_end(cell: Cell, block: Block) -> Tensor:
    return end_to_end.run(block.draw(sampling.draw, cell)).accuracy


def _accuracy(
    name: str,
    quote: str,
    error: float,
    text: str,
    law: Law = ACCURACY,
    function: Callable[..., float] = recall.recall_accuracy,
    *,
    replicates: int = 64,
    restated: int = 0,
    **ranges: Values,
) -> Stated:
    return Stated(
        name=f"attention.recall.{name}",
        function=function,
        quote=quote,
        error=error,
        predict=law,
        regime=recall.REGIME.searched(
            f"{text}; V to 512; accuracies 0.05 to 0.95",
            {**SIZES, **ranges},
            holds=crossing(law),
            largest=TABLE,
            without=("trigger_in_values", "embeddings"),
        ),
        observe=_recalled,
        replicates=replicates,
        looks=4,
        restated=restated,
    )


def _threshold(
    name: str,
    law: Law,
    function: Callable[..., float],
    quote: str,
    error: float | Law,
    text: str,
    *,
    scan: str = "dim",
    observe: Observe = _recalled,
    rising: bool = True,
    holds: Callable[[Cell], bool] = _seen,
    size: Callable[[Cell], float] = _table,
    largest: float = TABLE,
    replicates: int = 64,
    **ranges: Values,
) -> Stated:
    return Stated(
        name=f"attention.{name}",
        function=function,
        quote=quote,
        error=error,
        predict=law,
        regime=Regime(text, ranges, holds=holds, size=size, largest=largest),
        observe=observe,
        scan=scan,
        rising=rising,
        replicates=replicates,
        looks=4,
    )


def _one_rules(cell: Cell) -> bool:
    """Whether localisation or coverage rules, and all else is right in 97% of the cases."""
    if cell["dim"] > cell["vocab_size"] or (needed := NEEDED(cell)) > 2**16:
        return False
    problem = Problem.of(cell.replace(samples=math.ceil(needed)))
    rule = capacity.binding(**cell)
    if rule == "coverage":
        seen = recall.recall_accuracy(problem) / (1 - math.exp(-problem.load))
        return seen * localisation.probability(problem) >= 0.97
    return rule != "recall" and recall.recall_accuracy(problem) >= 0.97


STATED = (
    _accuracy("recall_accuracy", "Stated error for V >= 256: 0.015", 0.015, "trigger in the keys"),
    _accuracy(
        "recall_accuracy, Gaussian embeddings",
        "0.02 for Gaussian embeddings",
        0.02,
        "Gaussian embeddings",
        embeddings=one_of("gaussian"),
    ),
    _accuracy(
        "recall_accuracy, trigger in the values",
        "0.02 for Gaussian embeddings, and with the trigger in the values",
        0.02,
        "trigger in the values",
        replicates=256,
        trigger_in_values=one_of(True),
    ),
    _accuracy(
        "recall_accuracy_gaussian",
        "Stated error: 0.07",
        0.07,
        "trigger in the keys",
        GAUSSIAN,
        recall.recall_accuracy_gaussian,
        restated=1,
    ),
    _threshold(
        "recall.half_dim_refined",
        REFINED,
        recall.half_dim_refined,
        "Stated error: 3%",
        0.03,
        "V from 256 to 512, loads from 1 to 32",
        vocab_size=log_integers(256, 512),
        samples=log_integers(256, 16384),
    ),
    _threshold(
        "recall.half_dim",
        CLOSED,
        recall.half_dim,
        "7% at V = 128, 5% at 256",
        lambda c: 0.07 if c["vocab_size"] < 256 else 0.05,
        "V from 128 to 512, loads from 2 to 32",
        holds=lambda c: c["samples"] >= 2 * c["vocab_size"],
        vocab_size=log_integers(128, 512),
        samples=log_integers(256, 16384),
    ),
    Stated(
        name="attention.recall.all_tokens_probability",
        function=recall.all_tokens_probability,
        quote="Stated error: 0.1",
        error=0.1,
        predict=lambda c: ALL(c.replace(samples=c["load"] * c["vocab_size"])),
        regime=Regime(
            "balanced data, V from 64 to 256; probabilities 0.05 to 0.95",
            {
                "vocab_size": log_integers(64, 256),
                "load": log_integers(1, 16),
                "dim": log_integers(24, 200),
            },
            holds=crossing(lambda c: ALL(c.replace(samples=c["load"] * c["vocab_size"]))),
            size=_table,
        ),
        observe=_all_balanced,
        method=COIN,
        replicates=256,
        looks=4,
    ),
    Stated(
        name="attention.orthonormal.recall",
        function=orthonormal.recall,
        quote="Exact.",
        error=0.0,
        predict=lambda c: on(AnyLength, orthonormal.recall)(
            c.replace(dim=c["vocab_size"] + 2, embeddings="orthonormal")
        ),
        regime=Regime(
            "V from 16 to 128, N from 16 to 512",
            {
                "vocab_size": log_integers(16, 128),
                "samples": log_integers(16, 512),
                "trigger_in_values": one_of(False, True),
            },
            size=_table,
        ),
        observe=_orthonormal,
        replicates=256,
        looks=4,
        dtype="float32",
    ),
    _threshold(
        "capacity.critical_samples",
        NEEDED,
        capacity.critical_samples,
        "15% where one condition rules",
        0.15,
        "V from 128 to 512, d <= V; localisation or coverage rules, all else is right in 97%",
        scan="samples",
        observe=_end_to_end,
        holds=_one_rules,
        size=lambda c: NEEDED(c) * c["length"],
        largest=6e4,
        replicates=64,
        vocab_size=log_integers(128, 512),
        length=log_integers(8, 256),
        dim=log_integers(32, 256),
    ),
)
