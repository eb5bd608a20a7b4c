"""Errors in the theory that the grids of the claims cannot see.

Each is of a genuine kind: a forgotten case, an index off by one, a search or a series that ends too
early, a table interpolated, digits lost. It leaves what every claim registers in the standard tier
as it is, so that all verdicts stand (`test_planted.py`), and puts the prediction outside the region
elsewhere in the regime of a claim. Hunts are measured by them (`python -m tests.benchmarks hunt`).

The second list is of kinds that an audit missed: wrong at large or small sizes alone, on one branch
of an option, at few points, by little, or at one edge; bounds that are too low by less than their
slack. Each list was fixed before any of it was hunted. In the order of the SHA-256 of the names the
first half of each is for tuning the search; the other half is held out.
"""

import functools
import hashlib
import importlib
import math
from ast import literal_eval
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
        example: a cell of the first claim's regime that is wrong by at least `least` times the half
            width of its region; a bound, by at least a tenth.
        change: plants it.
        least: half widths.
    """

    id: str
    changed: str
    words: str
    claims: tuple[str, ...]
    example: Cell
    change: Change
    least: float = 1.5

    @property
    def held_out(self) -> bool:
        """Whether it is in the later half of its list, by the SHA-256 of its name."""
        return self.id in _held_out()

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


def times(factor: float, inside: Callable[..., bool]) -> Change:
    """A prediction that is multiplied by a factor there."""
    return where(inside, lambda right, *args, **named: factor * right(*args, **named))


def plus(shift: float, inside: Callable[..., bool]) -> Change:
    """A prediction that is shifted there; a share stays below 1."""

    def wrong(right: Callable[..., Any], *args: Any, **named: Any) -> float:
        return min(max(float(right(*args, **named)) + shift, 0.0), 1.0)

    return where(inside, wrong)


def instead(inside: Callable[[Any], bool], **sizes: Any) -> Change:
    """The prediction for other sizes than a problem's there."""
    return where(inside, lambda right, p, *more: right(replace(p, **sizes), *more))


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


def _row(
    id: str, changed: str, words: str, claim: str, example: str, change: Change, least: float = 1.5
) -> Planted:
    """An error in the theory whose example is written as in "dim=8 embeddings=sphere"."""
    pairs = [pair.split("=") for pair in example.split()]
    cell = Cell(**{n: literal_eval(v) if v[0] in "0123456789TF" else v for n, v in pairs})
    return Planted(id, f"theory.{changed}", words, (claim,), cell, change, least)


_LATER = (
    _row(
        "gaussian-as-sphere",
        "attention.recall.recall_accuracy",
        "beyond 300 tokens Gaussian embeddings are taken for those of the sphere",
        "A.recall-variants",
        "dim=96 samples=65536 vocab_size=362 embeddings=gaussian trigger_in_values=False",
        instead(lambda p: p.embeddings == "gaussian" and p.vocab_size > 300, embeddings="sphere"),
        1.2,
    ),
    _row(
        "dim-cut",
        "attention.recall.recall_accuracy_gaussian",
        "the dimension is cut at 210",
        "A.recall-gaussian",
        "dim=457 samples=1722 vocab_size=1024 trigger_in_values=False",
        instead(lambda p: p.dim > 210, dim=210),
    ),
    _row(
        "trigger-forgotten",
        "attention.end_to_end.end_to_end_accuracy",
        "the trigger in the values is forgotten for 32 samples a token and more",
        "A.accuracy",
        "dim=48 length=10 samples=8689 vocab_size=256 trigger_in_values=True",
        instead(lambda p: p.trigger_in_values and p.load >= 32, trigger_in_values=False),
    ),
    _row(
        "twice-as-long",
        "attention.critical.critical_samples_full",
        "a quarter too many samples where L > 2 d",
        "A.critical-samples",
        "dim=20 length=45 samples=1 vocab_size=362 trigger_in_values=False",
        times(1.25, lambda p, **_: p.length > 2 * p.dim),
    ),
    _row(
        "one-length",
        "attention.signal.trigger_signal",
        "3.4% too large for sequences of 90 to 100 tokens, from 256 tokens on",
        "A.trigger-signal",
        "dim=27 length=91 samples=2435 vocab_size=256 trigger_in_values=True",
        times(1.034, lambda p: 90 <= p.length <= 100 and p.vocab_size >= 256),
        1.05,
    ),
    _row(
        "orthonormal-trigger-forgotten",
        "attention.orthonormal.localisation",
        "the trigger in the values is forgotten for sequences shorter than eight",
        "A.orthonormal-localisation",
        "dim=368 length=7 samples=11 vocab_size=181 embeddings=orthonormal trigger_in_values=True",
        instead(lambda p: p.trigger_in_values and p.length < 8, trigger_in_values=False),
    ),
    _row(
        "he3-with-trigger",
        "attention_mlp.noise.trigger_signal",
        "12% too large for He3 with the trigger in the values where L > 16",
        "A.mlp-signal",
        "dim=96 length=128 samples=323 vocab_size=512 trigger_in_values=True width=38 "
        "activation=he3",
        times(1.12, lambda p: p.activation == "he3" and p.trigger_in_values and p.length > 16),
    ),
    _row(
        "capacity-of-large-layers",
        "attention_mlp.recall.capacity",
        "a fifth too small for ReLU where d > 96",
        "A.mlp-capacity",
        "dim=114 width=76 activation=relu",
        times(0.8, lambda dim, width, activation: activation == "relu" and dim > 96),
    ),
    _row(
        "width-at-high-load",
        "attention_mlp.recall.critical_width",
        "30% too small from 16 samples a token on",
        "A.mlp-required-width",
        "vocab_size=256 samples=4096 dim=34 width=1 activation=he2",
        times(0.7, lambda p: p.load >= 16),
    ),
    _row(
        "centred-at-length",
        "attention_mlp.localisation.critical_samples",
        "with centred residuals 60% too many for sequences longer than 64",
        "A.centring-critical-samples",
        "activation=tanh vocab_size=215 length=76 dim=40 width=181 samples=1 "
        "trigger_in_values=False",
        times(1.6, lambda p: p.centred and p.length > 64),
    ),
    _row(
        "low-ceiling",
        "lower_bound.ceiling.largest_accuracy",
        "the bound is 0.2 too low below six tokens",
        "A.bayes-ceiling",
        "dim=4 length=19 samples=23 vocab_size=5",
        plus(-0.2, lambda information, vocab_size: vocab_size < 6),
    ),
    _row(
        "six-tokens",
        "lower_bound.gradient_channel.sample_information",
        "12% too large for six tokens",
        "A.sample-information",
        "dim=2 length=8 samples=1 vocab_size=6",
        times(1.12, lambda p: p.vocab_size == 6),
    ),
    _row(
        "longest-sequences",
        "lower_bound.gradient_capacity.half_dim",
        "a fifth too large for sequences of 90 tokens and more",
        "A.gradient-dim",
        "vocab_size=256 length=91 samples=8192 dim=64",
        times(1.2, lambda p: p.length >= 90),
    ),
    _row(
        "few-signs",
        "memory.linear.one_bit_accuracy",
        "0.017 too high for 300 to 600 pairs in 90 to 100 dimensions",
        "B.one-bit-accuracy",
        "associations=404 dim=96",
        plus(0.017, lambda associations, dim: 300 < associations < 600 and 90 < dim < 100),
        1.1,
    ),
    _row(
        "low-fano",
        "memory.bits.accuracy_ceiling",
        "the bound is 0.2 too low for more than 64 outputs",
        "B.bits-quantised-accuracy",
        "dim=16 facts=256 outputs=91 weight_bits=5",
        plus(-0.2, lambda facts, outputs, bits: outputs > 64),
    ),
    _row(
        "high-loss-floor",
        "memory.bits.loss_floor",
        "the bound is 0.2 too high for one and two facts",
        "B.bits-searched-loss",
        "facts=2 outputs=9 bits=1",
        where(
            lambda facts, outputs, bits: facts <= 2,
            lambda right, **sizes: right(**sizes) + 0.2,
        ),
    ),
    _row(
        "steep-frequencies",
        "memory.zipf.cutoff_error",
        "a quarter too large for exponents above 2.5",
        "C.zipf-cutoff-error",
        "alpha=3.0 dim=64 labels=5 stored=68",
        times(1.25, lambda alpha, *_, **__: alpha > 2.5),
    ),
    _row(
        "flat-frequencies",
        "memory.zipf.many_labels_error",
        "a fifth too small for exponents below 2 and more than 1000 labels",
        "C.zipf-own-labels-error",
        "alpha=1.5 dim=81 labels=2048 stored=543",
        times(0.8, lambda alpha, labels, dim, stored: alpha < 2 and labels > 1000),
    ),
    _row(
        "many-relations",
        "memory.superposition.accuracy",
        "0.03 too high for more than 16 relations",
        "G.superposed-accuracy",
        "attributes=304 relations=20 dim=228",
        plus(0.03, lambda attributes, relations, dim: relations > 16),
    ),
    _row(
        "one-dimension",
        "memory.perceptron.separable_share",
        "in one dimension the count of two is taken",
        "G.cover-share",
        "patterns=4 dim=1",
        where(lambda patterns, dim: dim == 1, lambda right, patterns, dim: right(patterns, 2)),
    ),
    _row(
        "long-lists",
        "memory.listwise.critical_load",
        "40% too small beyond four fifths of the competitors",
        "C.listwise-load",
        "dim=10 share=0.9",
        times(0.6, lambda share: share > 0.8),
    ),
    _row(
        "subjects-for-relations",
        "spectral.flows.spectral_decay_rate",
        "S for R beyond eight relations",
        "D.spectral-decay",
        "subjects=3 relations=10 flow=spectral part=subject begin=7.14 time=8.49",
        where(
            lambda facts: facts.relations > 8,
            lambda right, facts: right(replace(facts, relations=facts.subjects)),
        ),
    ),
    _row(
        "late-relations",
        "spectral.flows.learning_time",
        "half a per cent too late for the relations, from 32 of them on",
        "D.learning-times",
        "duration=11.3 flow=spectral part=relation relations=32 subjects=4",
        times(1.005, lambda facts, part, **_: part == "relation" and facts.relations >= 32),
    ),
    _row(
        "steep-spectrum",
        "spectral.one_step.recalled_spectral",
        "8% too few for exponents above 2.5",
        "E.one-step-spectral",
        "dim=96 exponent=3.0 items=384",
        times(0.92, lambda dim, items, exponent, batch=None: exponent > 2.5),
    ),
    _row(
        "three-sizes",
        "spectral.softmax_memory.steady_loss",
        "1.13 parts in a million too large for 100 to 102 items",
        "F.muon-loss",
        "items=102 time=3.1",
        times(1 + 1.13e-6, lambda items, *_, **__: 100 <= items <= 102),
        1.1,
    ),
    _row(
        "noisy-floor",
        "spectral.softmax_memory.spectral_floor",
        "a thousandth too high where at most a tenth of the labels are noise",
        "F.muon-floor",
        "items=16 noise=0.1 rate=0.283",
        times(1.001, lambda items, noise, rate: noise <= 0.1),
    ),
    _row(
        "three-answers",
        "factual.sequential_learning.plateau",
        "log 2 where a relation has three answers",
        "B.flow-plateau",
        "subjects=12 relations=4 answers=3 duration=484",
        instead(lambda sizes: sizes.answers == 3, answers=2),
    ),
    _row(
        "two-relations",
        "factual.sequential_learning.loss",
        "0.1% too large for two relations",
        "B.flow-loss-curve",
        "subjects=4 relations=2 answers=2 time=16.0",
        times(1.001, lambda sizes, *_, **__: sizes.relations == 2),
    ),
    _row(
        "wide-heads",
        "factual.constructions.compressed_accuracy",
        "0.08 too high for heads of five dimensions and more",
        "B.compressed-values",
        "subjects=16 relations=16 answers=8 dim=215 width=64 group=8 head_dim=6",
        plus(0.08, lambda head_dim, **_: head_dim >= 5),
    ),
    _row(
        "many-subjects",
        "factual.constructions.attention_accuracy",
        "0.02 too low for more than 128 subjects",
        "B.attention-accuracy",
        "subjects=142 relations=4 answers=8 dim=304",
        plus(-0.02, lambda subjects, *_, **__: subjects > 128),
    ),
)

PLANTED = {planted.id: planted for planted in _LIST + _LATER}


@functools.cache
def _held_out() -> set[str]:
    return {
        name
        for made in (_LIST, _LATER)
        for name in sorted(
            (planted.id for planted in made),
            key=lambda name: hashlib.sha256(name.encode()).hexdigest(),
        )[len(made) // 2 :]
    }
