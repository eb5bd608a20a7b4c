"""Attention with a random layer: what `theory/attention_mlp/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from torch import Tensor

from recall_claims import Block, Cell, Regime, log_integers, on, one_of
from recall_claims.declare.regime import Values
from simulation.attention import localisation as measured_localisation
from simulation.attention import sampling
from simulation.attention.three_steps import Scores
from simulation.attention_mlp import three_steps
from tests.calibration.stated import Law, Observe, Stated, crossing
from tests.calibration.stated.attention import tokens_seen
from theory.attention import signal
from theory.attention_mlp import localisation, noise, recall
from theory.attention_mlp.problem import MlpProblem


@dataclass(frozen=True, kw_only=True)
class AnyLength(MlpProblem):
    """A setting of recall, in which lengths play no part."""

    length: int = 16

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """The setting in a cell; what is asked for may be missing."""
        return super().of({"samples": 1, "width": 1} | dict(parameters))


PROBABILITY = on(MlpProblem, localisation.probability)
ACCURACY = on(AnyLength, recall.mlp_recall_accuracy)
NEEDED = on(AnyLength, recall.critical_samples)
WIDTH = on(AnyLength, recall.critical_width)
CAPACITY = on(recall.capacity)
CRITICAL = on(AnyLength, localisation.critical_samples)
COMMON = ("relu", "gelu", "tanh", "he2")
DEGREES = {"he2": 2, "he3": 3}
EITHER = one_of(False, True)
SIZES = {
    "vocab_size": log_integers(192, 512),
    "length": log_integers(8, 48),
    "samples": log_integers(64, 1024),
    "dim": log_integers(24, 64),
    "width": log_integers(8, 256),
    "activation": one_of(*COMMON),
    "trigger_in_values": EITHER,
    "centred": EITHER,
}


def _score_variance(cell: Cell) -> float:
    problem = MlpProblem.of(cell)
    return noise.variance(problem) * signal.signal_unit(problem) ** 2


def _stated(cell: Cell) -> bool:
    return bool(cell["vocab_size"] >= 8 * cell["dim"] and 3 * cell["samples"] >= cell["vocab_size"])


def _even_is_plain(cell: Cell) -> bool:
    return not (cell["activation"] == "he2" and cell["centred"])


def _work(cell: Cell) -> float:
    return tokens_seen(cell) + float(cell["samples"] * cell["width"])


def _scores(cell: Cell, block: Block) -> Scores:
    batch, layer = block.draw(three_steps.draw, cell.without("centred"))
    return three_steps.token_scores(batch, layer, centred=cell["centred"])


def _variance(cell: Cell, block: Block) -> Tensor:
    return _scores(cell, block).theta.var(1)


def _signal(cell: Cell, block: Block) -> Tensor:
    return _scores(cell, block).trigger


def _localised(cell: Cell, block: Block) -> Tensor:
    return measured_localisation.probability(_scores(cell, block), length=cell["length"])


def _recalled(cell: Cell, block: Block, balanced: bool = False) -> Tensor:
    sizes = {"samples": cell["vocab_size"], **cell.without("width", "activation")}
    facts = block.draw(sampling.draw_facts, sizes, balanced=balanced)
    layer = block.draw(three_steps.draw_layer, {n: cell[n] for n in ("width", "dim", "activation")})
    return three_steps.recall_accuracy(facts, layer)


def _balanced(cell: Cell, block: Block) -> Tensor:
    return _recalled(cell, block, balanced=True)


def _at_threshold(
    name: str,
    law: Law,
    quote: str,
    error: float,
    text: str,
    scan: str,
    observe: Observe,
    low: float,
    high: float,
    *,
    rising: bool = True,
    holds: Callable[[Cell], bool] = lambda _: True,
    **ranges: Values,
) -> Stated:
    return Stated(
        name=f"attention_mlp.{name}",
        function=getattr(recall, name.partition(".")[2]),
        quote=quote,
        error=error,
        predict=law,
        regime=Regime(text, ranges, holds=lambda c: low <= law(c) <= high and holds(c)),
        observe=observe,
        scan=scan,
        rising=rising,
        replicates=32,
        looks=4,
    )


SHARES = log_integers(24, 64)
STATED = (
    Stated(
        name="attention_mlp.noise.variance",
        function=noise.variance,
        quote="Stated error: 12% for d >= 24, L >= 8, m >= 8, V >= 8 d and N >= V/3",
        error=0.12,
        relative=True,
        predict=_score_variance,
        regime=Regime(
            "d >= 24, L >= 8, m >= 8, V >= 8 d, N >= V/3; he2 with plain residuals alone",
            SIZES,
            holds=lambda c: (
                _even_is_plain(c)
                and _stated(c)
                and c["dim"] >= 24 * DEGREES.get(c["activation"], 1)
            ),
            size=_work,
            largest=1e5,
        ),
        observe=_variance,
        replicates=64,
        looks=4,
        restated=1,
    ),
    Stated(
        name="attention_mlp.noise.trigger_signal",
        function=noise.trigger_signal,
        quote="Stated error: 7%",
        error=0.07,
        relative=True,
        predict=on(MlpProblem, noise.trigger_signal),
        regime=Regime(
            "d >= 24, L >= 8, m >= 8, V >= 8 d, N >= V/3, activations with a slope",
            {**SIZES, "activation": one_of("relu", "gelu", "tanh")},
            holds=_stated,
            size=_work,
            largest=1e5,
        ),
        observe=_signal,
        replicates=64,
        looks=4,
    ),
    Stated(
        name="attention_mlp.localisation.probability",
        function=localisation.probability,
        quote="Stated error, where `noise.variance` states its own: 0.02, with the trigger in the "
        "values 0.04",
        error=lambda c: 0.04 if c["trigger_in_values"] else 0.02,
        predict=PROBABILITY,
        regime=Regime(
            "d >= 24, L >= 8, m >= 8, V >= 8 d, N >= V/3; probabilities 0.05 to 0.95",
            {**SIZES, "activation": one_of("relu", "gelu", "tanh")},
            holds=lambda c: _stated(c) and crossing(PROBABILITY)(c),
            size=_work,
            largest=1e5,
        ),
        observe=_localised,
        replicates=256,
        looks=4,
    ),
    Stated(
        name="attention_mlp.localisation.critical_samples",
        function=localisation.critical_samples,
        quote="Stated error: 15%",
        error=0.15,
        predict=CRITICAL,
        regime=Regime(
            "d >= 24, L >= 8, m >= 8, V >= 8 d, N_c from V/3, trigger in the keys alone",
            {name: values for name, values in SIZES.items() if name != "samples"}
            | {"activation": one_of("relu", "gelu", "tanh"), "trigger_in_values": one_of(False)},
            holds=lambda c: (
                c["vocab_size"] >= 8 * c["dim"] and c["vocab_size"] / 3 <= CRITICAL(c) <= 1024
            ),
        ),
        observe=_localised,
        scan="samples",
        replicates=128,
        looks=4,
    ),
    Stated(
        name="attention_mlp.recall.mlp_recall_accuracy",
        function=recall.mlp_recall_accuracy,
        quote="within 0.03 for V >= 128, m >= 32 and activations with a slope, 0.05 for He2",
        error=lambda c: 0.05 if c["activation"] == "he2" else 0.03,
        predict=ACCURACY,
        regime=Regime(
            "V from 128 to 512, m from 32, d from 16, N from V; accuracies 0.05 to 0.95",
            {
                "vocab_size": log_integers(128, 512),
                "samples": log_integers(128, 8192),
                "dim": log_integers(16, 512),
                "width": log_integers(32, 256),
                "activation": one_of(*COMMON),
            },
            holds=lambda c: c["samples"] >= c["vocab_size"] and crossing(ACCURACY)(c),
            size=lambda c: c["vocab_size"] ** 2,
        ),
        observe=_recalled,
        replicates=32,
        looks=4,
        restated=4,
    ),
    _at_threshold(
        "recall.capacity",
        CAPACITY,
        "Stated error: 12%",
        0.12,
        "d from 24 to 64, m from 32 to 256, capacities from 64 to 512",
        "vocab_size",
        _balanced,
        64,
        512,
        rising=False,
        dim=SHARES,
        width=log_integers(32, 256),
        activation=one_of(*COMMON),
    ),
    _at_threshold(
        "recall.critical_samples",
        NEEDED,
        "Stated error: 60%",
        0.6,
        "V from 128 to 384, up to half the capacity, d from 24 to 64, N_c of at least 6 V",
        "samples",
        _recalled,
        512,
        16384,
        holds=lambda c: (
            NEEDED(c) >= 6 * c["vocab_size"]
            and 2 * c["vocab_size"] <= recall.capacity(**c.without("vocab_size"))
        ),
        vocab_size=log_integers(128, 384),
        dim=SHARES,
        width=log_integers(32, 256),
        activation=one_of(*COMMON),
    ),
    _at_threshold(
        "recall.critical_width",
        WIDTH,
        "Stated error: 35%",
        0.35,
        "he2; V from 128 to 384, up to half the capacity at any width, N from 4 V, widths to 512",
        "width",
        _recalled,
        32,
        512,
        holds=lambda c: (
            c["samples"] >= 4 * c["vocab_size"]
            and 2 * c["vocab_size"]
            <= recall.capacity(dim=c["dim"], width=1e9, activation=c["activation"])
        ),
        vocab_size=log_integers(128, 384),
        samples=log_integers(256, 16384),
        dim=SHARES,
        activation=one_of("he2"),
    ),
)
