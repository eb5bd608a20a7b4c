"""Estimators of the first gradient: what `theory/lower_bound/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from recall_claims import Block, Cell, Regime, log_integers, on
from simulation.attention import sampling
from simulation.lower_bound import gradient_channel as measured
from simulation.lower_bound.estimators import exact_bayes, named
from tests.calibration.stated import Observe, Stated, crossing
from theory.attention.problem import Problem
from theory.lower_bound import gradient_channel, linear_mmse, matched_filter

SIZES = {
    "vocab_size": log_integers(256, 320),
    "length": log_integers(8, 64),
    "samples": log_integers(2048, 16384),
    "dim": log_integers(30, 160),
}
TOKENS = 2.5e5


def _tokens(cell: Cell) -> float:
    return float(cell["samples"] * cell["length"])


def _guessed(estimator: str) -> Observe:
    def share(cell: Cell, block: Block) -> Tensor:
        return measured.estimator_accuracy(block.draw(measured.discrete, cell), named(estimator))

    return share


def _accuracy(function: Callable[[Problem], float], estimator: str, quote: str) -> Stated:
    law = on(Problem, function)
    return Stated(
        name=f"lower_bound.{function.__name__}",
        function=function,
        quote=quote,
        error=0.015,
        predict=law,
        regime=linear_mmse.REGIME.searched(
            "V to 320; accuracies 0.05 to 0.95",
            SIZES,
            holds=crossing(law),
            size=_tokens,
            largest=TOKENS,
        ),
        observe=_guessed(estimator),
        replicates=32,
        looks=3,
    )


def _samples(function: Callable[[Problem], float], estimator: str) -> Stated:
    def law(cell: Cell) -> float:
        return function(Problem.of(cell.replace(samples=1)))

    return Stated(
        name=f"lower_bound.{function.__module__.rpartition('.')[2]}.critical_samples",
        function=function,
        quote="Stated error: 8%",
        error=0.08,
        predict=law,
        regime=Regime(
            "V from 256 to 320, d from 30, from 8V samples",
            {name: values for name, values in SIZES.items() if name != "samples"},
            holds=lambda c: 8 * c["vocab_size"] <= (n := law(c)) and n * c["length"] <= TOKENS,
        ),
        observe=_guessed(estimator),
        scan="samples",
        replicates=32,
        looks=3,
    )


def _sample_information(cell: Cell, block: Block) -> Tensor:
    return exact_bayes.sample_posterior(block.draw(sampling.draw, cell)).information


STATED = (
    _accuracy(linear_mmse.linear_mmse_accuracy, "linear MMSE", "within 0.015 for V >= 256"),
    _accuracy(
        matched_filter.matched_filter_accuracy, "matched filter", "within 0.015 for V >= 256"
    ),
    _samples(linear_mmse.critical_samples, "linear MMSE"),
    _samples(matched_filter.critical_samples, "matched filter"),
    Stated(
        name="lower_bound.gradient_channel.sample_information",
        function=gradient_channel.sample_information,
        quote="Exactly",
        error=0.0,
        relative=True,
        predict=lambda c: gradient_channel.sample_information(
            Problem.of(c.replace(samples=1, dim=2))
        ),
        regime=Regime(
            "one sequence; V from 3 to 7, L from 2 to 12",
            {"vocab_size": log_integers(3, 7), "length": log_integers(2, 12)},
        ),
        observe=lambda cell, block: _sample_information(cell.replace(samples=1, dim=2), block),
        replicates=1024,
        looks=4,
        dtype="float64",
    ),
)
