"""Errors in the theory that the grids of the claims cannot see.

Each is of a genuine kind: a forgotten case, an index off by one, a search or a series that ends too
early, a table interpolated, digits lost. It leaves what every claim registers in the standard tier
as it is, so that all verdicts stand (`test_planted.py`), and puts the prediction outside the region
elsewhere in the regime of a claim. Hunts are measured by them (`python -m tests.benchmarks hunt`).

The list was fixed before any of them was hunted. In the order of the SHA-256 of the names the first
half is for tuning the search; the other half is held out.
"""

import functools
import hashlib
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from recall_claims import Cell
from tests.mutation.mutants import Mutant
from theory.attention import noise, signal
from theory.attention.problem import Problem
from theory.laws import multinomial
from theory.memory import linear

Change = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Makes the wrong function of the right one."""


@dataclass(frozen=True)
class Planted:
    """An error in the theory.

    Attributes:
        id: its name.
        changed: the function that it changes, with its module. Two are written down in simulation:
            what their claims predict is an identity between tensors.
        words: the error.
        claims: those with a checkable regime that use the function.
        example: a cell of the first claim's regime that is wrong by at least 1.5 times the half
            width of its region.
        change: plants it.
    """

    id: str
    changed: str
    words: str
    claims: tuple[str, ...]
    example: Cell
    change: Change

    @property
    def held_out(self) -> bool:
        """Whether it is in the later half, by the SHA-256 of its name."""
        return self.id in _ordered()[len(PLANTED) // 2 :]

    @property
    def mutant(self) -> Mutant:
        """In the terms of `mutants`, for `judge.falsified`."""
        module, _, _ = self.changed.rpartition(".")
        return Mutant(self.id, self.changed, module, self.plant)

    def plant(self, patch: Any) -> None:
        """Falsify the theory, by pytest's monkeypatch."""
        module, _, name = self.changed.rpartition(".")
        home = importlib.import_module(module)
        right = getattr(home, name)
        wrong = self.change(right)
        patch.setattr(home, name, wrong)
        for symbol, term in list(noise.TERMS.items()):
            if term.variance is right:  # a noise term is added up where it is declared
                patch.setitem(noise.TERMS, symbol, replace(term, variance=wrong))


def where(inside: Callable[..., bool], wrong: Callable[..., Any]) -> Change:
    """Where ``inside(*arguments)`` the function is ``wrong(right, *arguments)``."""

    def change(right: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(right)
        def mixed(*args: Any, **named: Any) -> Any:
            if inside(*args, **named):
                return wrong(right, *args, **named)
            return right(*args, **named)

        return mixed

    return change


def at_length(longest: Callable[[Problem], int]) -> Change:
    """The prediction at a length that is cut."""
    return where(
        lambda problem, *_: problem.length > longest(problem),
        lambda right, problem, *more: right(problem.replace(length=longest(problem)), *more),
    )


def _excess_cut(right: Callable[[Problem], float], problem: Problem) -> float:
    missing = (1 - 1 / problem.vocab_size) ** 2 * (problem.length / problem.dim - 4) / problem.load
    return right(problem) - signal.signal_unit(problem) * missing


def _no_own_overlap(right: Callable[[Problem], float], problem: Problem) -> float:
    overlap = (1 - 1 / problem.vocab_size) * (1 - 1 / problem.samples) / problem.dim
    return right(problem) - signal.signal_unit(problem) * overlap


def _without_last(right: Callable[..., Any], targets: Any, means: Any) -> Any:
    kept = targets.clone()
    kept[-1] = 0
    return right(kept, means)


def _no_shared_direction(right: Callable[..., Any], problem: Problem, *more: Any) -> Any:
    found = right(problem, *more)
    counts, weights = found.counts, found.count_weights
    between = float(weights @ counts**2) - float(weights @ counts) ** 2
    return replace(found, variance=found.variance - between / problem.load**2)


def _ties_lost(_: Callable[[Problem], float], problem: Problem) -> float:
    V, N = problem.vocab_size, problem.samples
    chance = stats.binom.pmf(np.arange(N + 1), N, 1 / V)
    shares = [
        chance[own]
        * multinomial.product_mean((np.arange(N - own + 1) < 2 * own).astype(float), V - 1, N - own)
        for own in range(1, N + 1)
        if chance[own] > 1e-12
    ]
    return float(sum(shares))


def _independent(
    _: Callable[..., float],
    dim: float,
    stored: float,
    spread: float,
    *,
    idle: float = 0,
    extra: float = 0.0,
) -> float:
    return linear.accuracy_of_independent_scores(stored + 1 + idle, stored * spread / dim + 1 / dim)


def _in_steps(right: Callable[[float], float], dim: float) -> float:
    return right(max(each for each in (21, 42, 64, 96) if each <= dim))


def _with_log_log(_: Callable[[float], float], associations: float) -> float:
    log = math.log(associations)
    return math.sqrt(2 * associations * (log + math.log(log)))


def _other_sign(right: Callable[[float], float], associations: float) -> float:
    return 2 * linear.all_dim_asymptotic(associations) - right(associations)


SIGNAL, LOCALISED, RECALLED = "A.trigger-signal", "A.localisation", "A.recall-accuracy"
COVERED, MATCHED, MMSE = "A.orthonormal-recall", "A.matched-filter", "A.linear-mmse"
PLAIN: dict[str, Any] = {"embeddings": "sphere", "trigger_in_values": False}

_LIST = (
    Planted(
        "excess-cut-at-four",
        "theory.attention.signal.trigger_signal",
        "with the trigger in the values, L/d in its excess is cut at 4",
        (SIGNAL,),
        Cell(dim=8, length=108, samples=64, vocab_size=128, trigger_in_values=True),
        where(lambda p: p.trigger_in_values and p.length > 4 * p.dim, _excess_cut),
    ),
    Planted(
        "centred-twice",
        "theory.attention.signal.trigger_signal",
        "the factor 1 - 1/V of centring is counted twice below 32 tokens",
        (SIGNAL,),
        Cell(dim=23, length=4, samples=152, vocab_size=16, trigger_in_values=False),
        where(lambda p: p.vocab_size < 32, lambda right, p: right(p) * (1 - 1 / p.vocab_size)),
    ),
    Planted(
        "no-own-overlap",
        "theory.attention.signal.trigger_signal",
        "with the trigger in the values, 1/d is forgotten beside 1 below d = 16",
        (SIGNAL,),
        Cell(dim=10, length=4, samples=2435, vocab_size=64, trigger_in_values=True),
        where(lambda p: p.trigger_in_values and p.dim < 16, _no_own_overlap),
    ),
    Planted(
        "odd-sample",
        "simulation.attention.gradient_structure.value_gradient",
        "samples are summed in pairs, and the last of an odd number is lost",
        ("A.value-gradient",),
        Cell(dim=4, length=8, samples=11, vocab_size=8, **PLAIN),
        where(lambda targets, _: len(targets) % 2 == 1, _without_last),
    ),
    Planted(
        "single-precision",
        "simulation.attention.gradient_structure.attention_step",
        "beyond 4096 positions sums are kept in single precision",
        ("A.attention-step",),
        Cell(dim=4, length=32, samples=256, vocab_size=8, **PLAIN),
        where(
            lambda query, gram, keys, *_: keys.shape[0] * keys.shape[1] > 4096,
            lambda right, *tensors: right(*(each.float() for each in tensors)).double(),
        ),
    ),
    Planted(
        "no-mean-bias",
        "theory.attention.noise_terms.mean_bias",
        "the term A of the noise is forgotten where L > 4 d, from 128 tokens on",
        (LOCALISED,),
        Cell(dim=20, length=91, samples=2048, vocab_size=304),
        where(lambda p: p.length > 4 * p.dim and p.vocab_size >= 128, lambda right, p: 0.0),
    ),
    Planted(
        "length-cut-at-an-eighth",
        "theory.attention.localisation.probability",
        "the length is cut at V/8 above 256 tokens",
        (LOCALISED,),
        Cell(dim=20, length=91, samples=2048, vocab_size=304),
        at_length(lambda p: p.vocab_size // 8 if p.vocab_size > 256 else p.length),
    ),
    Planted(
        "no-shared-direction",
        "theory.attention.recall._interference",
        "with the trigger in the values, the direction that all tokens share is forgotten below 16 "
        "samples a token, from 128 tokens on",
        (RECALLED,),
        Cell(dim=362, samples=8192, vocab_size=609, trigger_in_values=True),
        where(
            lambda p, *_: p.trigger_in_values and p.load < 16 and p.vocab_size >= 128,
            _no_shared_direction,
        ),
    ),
    Planted(
        "coverage",
        "theory.attention.recall.recall_accuracy",
        "where d > V, overlaps are taken for 0",
        (RECALLED,),
        Cell(dim=362, samples=1218, vocab_size=304, trigger_in_values=False),
        where(
            lambda p, **_: p.dim > p.vocab_size >= 128 and not p.trigger_in_values,
            lambda right, p, **_: 1 - (1 - 1 / p.vocab_size) ** (p.samples + 1),
        ),
    ),
    Planted(
        "even-counts",
        "theory.attention.recall.count_nodes",
        "from 32 to 1000 samples a token, counts are taken for equal above 256 tokens",
        (RECALLED,),
        Cell(dim=76, samples=11585, vocab_size=362, trigger_in_values=False),
        where(
            lambda p, **_: 32 <= p.load < 1000 and p.vocab_size > 256 and not p.trigger_in_values,
            lambda right, p, **named: right(p, **{**named, "balanced": True}),
        ),
    ),
    Planted(
        "never-guessed",
        "theory.attention.orthonormal.recall",
        "an exponent off by one below 32 tokens: one that was not seen is never guessed",
        (COVERED,),
        Cell(dim=11, samples=1, vocab_size=2, embeddings="orthonormal", trigger_in_values=False),
        where(
            lambda p: p.vocab_size < 32 and not p.trigger_in_values,
            lambda right, p: 1 - (1 - 1 / p.vocab_size) ** p.samples,
        ),
    ),
    Planted(
        "ties-lost",
        "theory.attention.orthonormal.recall",
        "with the trigger in the values, ties are lost where N < V/4",
        (COVERED,),
        Cell(dim=304, samples=19, vocab_size=128, embeddings="orthonormal", trigger_in_values=True),
        where(lambda p: p.trigger_in_values and 4 * p.samples < p.vocab_size, _ties_lost),
    ),
    Planted(
        "length-cut-at-half",
        "theory.lower_bound.matched_filter.matched_filter_accuracy",
        "the length is cut at V/2",
        (MATCHED,),
        Cell(dim=254, length=215, samples=4096, vocab_size=256),
        at_length(lambda p: p.vocab_size // 2),
    ),
    Planted(
        "rivals-of-a-constant",
        "theory.lower_bound.argmax_accuracy.probability",
        "the number of rivals is a constant, 255, below 1024 tokens",
        (MATCHED, MMSE),
        Cell(dim=71, length=2, samples=23170, vocab_size=512),
        where(
            lambda scores, law, size: 256 < size < 1024,
            lambda right, scores, law, size: right(scores, law, 256),
        ),
    ),
    Planted(
        "not-amplified",
        "theory.lower_bound.linear_mmse.linear_mmse_accuracy",
        "the noise of the other tokens is not amplified where d > V/2",
        (MMSE,),
        Cell(dim=170, length=64, samples=2896, vocab_size=304),
        where(
            lambda p: p.dim > p.vocab_size / 2,
            lambda right, p: right(
                p.replace(length=max(2, round(1 + (p.length - 1) * p.dim / p.vocab_size)))
            ),
        ),
    ),
    Planted(
        "independent-scores",
        "theory.memory.linear.recalled",
        "below d = 20, scores of 25 associations and more are taken for independent and normal",
        ("B.linear-accuracy",),
        Cell(associations=60, dim=14),
        where(lambda dim, stored, *_, **__: dim < 20 and stored >= 24, _independent),
    ),
    Planted(
        "search-ends",
        "theory.memory.linear.half_dim",
        "the search for the dimension ends at 113 below 2000 associations",
        ("B.linear-threshold",),
        Cell(associations=1218),
        where(
            lambda associations: 1000 < associations < 2000,
            lambda right, associations: min(right(associations), 113.0),
        ),
    ),
    Planted(
        "log-log",
        "theory.memory.linear.half_dim_asymptotic",
        "log n + log log n for log n below 100 associations",
        ("B.linear-threshold-asymptotic",),
        Cell(associations=30),
        where(lambda associations: associations < 100, _with_log_log),
    ),
    Planted(
        "other-sign",
        "theory.memory.linear.all_dim",
        "below 100 associations, the finite-size correction has the other sign",
        ("C.hebbian-all-pairs-threshold",),
        Cell(associations=36),
        where(lambda associations: associations < 100, _other_sign),
    ),
    Planted(
        "interpolated",
        "theory.memory.linear.capacity",
        "a table of d = 21, 42, 64, 96 is interpolated by steps",
        ("B.superposition",),
        Cell(dim=35),
        where(lambda dim: 21 < dim < 128, _in_steps),
    ),
)

PLANTED = {planted.id: planted for planted in _LIST}


@functools.cache
def _ordered() -> tuple[str, ...]:
    return tuple(sorted(PLANTED, key=lambda name: hashlib.sha256(name.encode()).hexdigest()))
