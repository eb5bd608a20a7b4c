"""Planted errors in the theory that the claims' grids cannot notice.

Each error is of a genuine kind: a forgotten case, an index off by one, a search or a series that
ends too early, an interpolated table, lost digits. It changes no registration in the standard tier,
so all verdicts are unchanged (`test_planted.py`). Elsewhere in a claim's regime it puts the
prediction outside the region. `python -m tests.benchmarks hunt` measures hunts by these errors.

From `gaussian-as-sphere` on, errors are of kinds that an audit missed. They are wrong only at large
or small sizes, on one branch of an option, at few points, by little, or at one edge. Or bounds are
too low by less than their slack. Both lists were fixed before any hunt for them.
"""

import functools
import importlib
import inspect
import math
import re
from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import stats

from recall_claims import Cell
from tests.mutation.mutants import Mutant
from theory.attention import noise, signal
from theory.attention.problem import Problem
from theory.laws import multinomial
from theory.memory import linear

TABLE = """
excess-cut-at-four: A.trigger-signal at dim=8 length=108 samples=64 vocab_size=128
        trigger_in_values=True
    attention.signal.trigger_signal:
        right() - signal.signal_unit(p) * (1 - 1 / p.vocab_size) ** 2 * (p.length / p.dim - 4)
        / p.load
        if p.trigger_in_values and p.length > 4 * p.dim
centred-twice: A.trigger-signal at dim=23 length=4 samples=152 vocab_size=16 trigger_in_values=False
    attention.signal.trigger_signal: right() * (1 - 1 / p.vocab_size) if p.vocab_size < 32
no-own-overlap: A.trigger-signal at dim=10 length=4 samples=2435 vocab_size=64
        trigger_in_values=True
    attention.signal.trigger_signal:
        right() - signal.signal_unit(p) * (1 - 1 / p.vocab_size) * (1 - 1 / p.samples) / p.dim
        if p.trigger_in_values and p.dim < 16
odd-sample: A.value-gradient at dim=4 length=8 samples=11 vocab_size=8 embeddings=sphere
        trigger_in_values=False
    simulation.attention.gradient_structure.value_gradient:
        right(targets=torch.cat((targets[:-1], 0 * targets[-1:]))) if len(targets) % 2
single-precision: A.attention-step at dim=4 length=32 samples=256 vocab_size=8 embeddings=sphere
        trigger_in_values=False
    simulation.attention.gradient_structure.attention_step:
        right(**{name: x.float() for name, x in given.items()}).double()
        if keys.shape[0] * keys.shape[1] > 4096
no-mean-bias: A.localisation at dim=20 length=91 samples=2048 vocab_size=304
    attention.noise_terms.mean_bias: 0.0 if p.length > 4 * p.dim and p.vocab_size >= 128
length-cut-at-an-eighth: A.localisation at dim=20 length=91 samples=2048 vocab_size=304
    attention.localisation.probability: right(length=p.vocab_size // 8)
        if p.vocab_size > 256 and p.length > p.vocab_size // 8
no-shared-direction: A.recall-accuracy at dim=362 samples=8192 vocab_size=609 trigger_in_values=True
    attention.recall._interference: without_shared_direction(right(), p.load)
        if p.trigger_in_values and p.load < 16 and p.vocab_size >= 128
coverage: A.recall-accuracy at dim=362 samples=1218 vocab_size=304 trigger_in_values=False
    attention.recall.recall_accuracy: 1 - (1 - 1 / p.vocab_size) ** (p.samples + 1)
        if p.dim > p.vocab_size >= 128 and not p.trigger_in_values
even-counts: A.recall-accuracy at dim=76 samples=11585 vocab_size=362 trigger_in_values=False
    attention.recall.count_nodes: right(balanced=True)
        if 32 <= p.load < 1000 and p.vocab_size > 256 and not p.trigger_in_values
never-guessed: A.orthonormal-recall at dim=11 samples=1 vocab_size=2 embeddings=orthonormal
        trigger_in_values=False
    attention.orthonormal.recall: 1 - (1 - 1 / p.vocab_size) ** p.samples
        if p.vocab_size < 32 and not p.trigger_in_values
ties-lost: A.orthonormal-recall at dim=304 samples=19 vocab_size=128 embeddings=orthonormal
        trigger_in_values=True
    attention.orthonormal.recall: recall_without_ties(p)
        if p.trigger_in_values and 4 * p.samples < p.vocab_size
length-cut-at-half: A.matched-filter at dim=254 length=215 samples=4096 vocab_size=256
    lower_bound.matched_filter.matched_filter_accuracy: right(length=p.vocab_size // 2)
        if p.length > p.vocab_size // 2
rivals-of-a-constant: A.matched-filter A.linear-mmse at dim=71 length=2 samples=23170 vocab_size=512
    lower_bound.argmax_accuracy.probability: right(vocab_size=256) if 256 < vocab_size < 1024
not-amplified: A.linear-mmse at dim=170 length=64 samples=2896 vocab_size=304
    lower_bound.linear_mmse.linear_mmse_accuracy:
        right(length=max(2, round(1 + (p.length - 1) * p.dim / p.vocab_size)))
        if p.dim > p.vocab_size / 2
independent-scores: B.linear-accuracy at associations=60 dim=14
    memory.linear.recalled:
        linear.accuracy_of_independent_scores(stored + 1 + idle, stored * spread / dim + 1 / dim)
        if dim < 20 and stored >= 24
search-ends: B.linear-threshold at associations=1218
    memory.linear.half_dim: min(right(), 113.0) if 1000 < associations < 2000
log-log: B.linear-threshold-asymptotic at associations=30
    memory.linear.half_dim_asymptotic:
        math.sqrt(2 * associations * math.log(associations * math.log(associations)))
        if associations < 100
other-sign: C.hebbian-all-pairs-threshold at associations=36
    memory.linear.all_dim: 2 * linear.all_dim_asymptotic(associations) - right()
        if associations < 100
interpolated: B.superposition at dim=35
    memory.linear.capacity: right(dim=max(each for each in (21, 42, 64, 96) if each <= dim))
        if 21 < dim < 128
gaussian-as-sphere: A.recall-variants at dim=96 samples=65536 vocab_size=362 embeddings=gaussian
        trigger_in_values=False
    attention.recall.recall_accuracy: right(embeddings="sphere")
        if p.embeddings == "gaussian" and p.vocab_size > 300
dim-cut: A.recall-gaussian at dim=457 samples=1722 vocab_size=1024 trigger_in_values=False
    attention.recall.recall_accuracy_gaussian: right(dim=210) if p.dim > 210
trigger-forgotten: A.accuracy at dim=48 length=10 samples=8689 vocab_size=256 trigger_in_values=True
    attention.end_to_end.end_to_end_accuracy: right(trigger_in_values=False)
        if p.trigger_in_values and p.load >= 32
twice-as-long: A.critical-samples at dim=20 length=45 samples=1 vocab_size=362
        trigger_in_values=False
    attention.critical.critical_samples_full: 1.25 * right() if p.length > 2 * p.dim
one-length: A.trigger-signal at dim=27 length=91 samples=2435 vocab_size=256 trigger_in_values=True
    attention.signal.trigger_signal: 1.034 * right()
        if 90 <= p.length <= 100 and p.vocab_size >= 256
orthonormal-trigger-forgotten: A.orthonormal-localisation at dim=368 length=7 samples=11
        vocab_size=181 embeddings=orthonormal trigger_in_values=True
    attention.orthonormal.localisation: right(trigger_in_values=False)
        if p.trigger_in_values and p.length < 8
he3-with-trigger: A.mlp-signal at dim=96 length=128 samples=323 vocab_size=512
        trigger_in_values=True width=38 activation=he3
    attention_mlp.noise.trigger_signal: 1.12 * right()
        if p.activation == "he3" and p.trigger_in_values and p.length > 16
capacity-of-large-layers: A.mlp-capacity at dim=114 width=76 activation=relu
    attention_mlp.recall.capacity: 0.8 * right() if activation == "relu" and dim > 96
width-at-high-load: A.mlp-required-width at vocab_size=256 samples=4096 dim=34 width=1
        activation=he2
    attention_mlp.recall.critical_width: 0.7 * right() if p.load >= 16
centred-at-length: A.centring-critical-samples at activation=tanh vocab_size=215 length=76 dim=40
        width=181 samples=1 trigger_in_values=False
    attention_mlp.localisation.critical_samples: 1.6 * right() if p.centred and p.length > 64
low-ceiling: A.bayes-ceiling at dim=4 length=19 samples=23 vocab_size=5
    lower_bound.ceiling.largest_accuracy: bounded(right() - 0.2) if vocab_size < 6
six-tokens: A.sample-information at dim=2 length=8 samples=1 vocab_size=6
    lower_bound.gradient_channel.sample_information: 1.12 * right() if p.vocab_size == 6
longest-sequences: A.gradient-dim at vocab_size=256 length=91 samples=8192 dim=64
    lower_bound.gradient_capacity.half_dim: 1.2 * right() if p.length >= 90
few-signs: B.one-bit-accuracy at associations=404 dim=96
    memory.linear.one_bit_accuracy: bounded(right() + 0.017)
        if 300 < associations < 600 and 90 < dim < 100
low-fano: B.bits-quantised-accuracy at dim=16 facts=256 outputs=91 weight_bits=5
    memory.bits.accuracy_ceiling: bounded(right() - 0.2) if outputs > 64
high-loss-floor: B.bits-searched-loss at facts=2 outputs=9 bits=1
    memory.bits.loss_floor: right() + 0.2 if facts <= 2
steep-frequencies: C.zipf-cutoff-error at alpha=3.0 dim=64 labels=5 stored=68
    memory.zipf.cutoff_error: 1.25 * right() if alpha > 2.5
flat-frequencies: C.zipf-own-labels-error at alpha=1.5 dim=81 labels=2048 stored=543
    memory.zipf.many_labels_error: 0.8 * right() if alpha < 2 and labels > 1000
many-relations: G.superposed-accuracy at attributes=304 relations=20 dim=228
    memory.superposition.accuracy: bounded(right() + 0.03) if relations > 16
one-dimension: G.cover-share at patterns=4 dim=1
    memory.perceptron.separable_share: right(dim=2) if dim == 1
long-lists: C.listwise-load at dim=10 share=0.9
    memory.listwise.critical_load: 0.6 * right() if share > 0.8
subjects-for-relations: D.spectral-decay at subjects=4 relations=10 flow=spectral part=subject
        begin=7.71 time=9.17
    spectral.flows.spectral_decay_rate: right(relations=p.subjects) if p.relations > 8
late-relations: D.learning-times at duration=11.3 flow=spectral part=relation relations=32
        subjects=4
    spectral.flows.learning_time: 1.005 * right() if part == "relation" and p.relations >= 32
steep-spectrum: E.one-step-spectral at dim=96 exponent=3.0 items=384
    spectral.one_step.recalled_spectral: 0.92 * right() if exponent > 2.5
three-sizes: F.muon-loss at items=102 time=3.1
    spectral.softmax_memory.steady_loss: (1 + 1.13e-6) * right() if 100 <= items <= 102
noisy-floor: F.muon-floor at items=16 noise=0.1 rate=0.283
    spectral.softmax_memory.spectral_floor: 1.001 * right() if noise <= 0.1
three-answers: B.flow-plateau at subjects=12 relations=4 answers=3 duration=484
    factual.sequential_learning.plateau: right(answers=2) if p.answers == 3
two-relations: B.flow-loss-curve at subjects=4 relations=2 answers=2 time=16.0
    factual.sequential_learning.loss: 1.001 * right() if p.relations == 2
wide-heads: B.compressed-values at subjects=16 relations=16 answers=8 dim=215 width=64 group=8
        head_dim=6
    factual.constructions.compressed_accuracy: bounded(right() + 0.08) if head_dim >= 5
many-subjects: B.attention-accuracy at subjects=142 relations=4 answers=8 dim=304
    factual.constructions.attention_accuracy: bounded(right() - 0.02) if subjects > 128
"""
"""The errors; an indented line continues the line above.

First a name, claims with a checkable regime that use the function, and a cell of the first one's
regime that is wrong. Then the function, what it gives and where: Python that knows its arguments by
name, the first one also as `p`, and all of them as `given`. ``right()`` is the true value, and
``right(dim=210)`` the value at another argument `dim`, or of a first argument with that field. Two
functions are written down in simulation: their claims predict an identity between tensors.
"""


@dataclass(frozen=True)
class Planted:
    """An error in the theory: a row of the table."""

    id: str
    claims: tuple[str, ...]
    example: Cell
    changed: str
    wrong: str

    @property
    def mutant(self) -> Mutant:
        """Convert to a `Mutant`, for `judge.falsified`."""
        return Mutant(self.id, self.changed, self.changed.rpartition(".")[0], self.plant)

    def plant(self, patch: Any) -> None:
        """Falsify the theory, by pytest's monkeypatch."""
        module, _, name = self.changed.rpartition(".")
        home = importlib.import_module(module)
        right = getattr(home, name)
        wrong = _falsified(right, self.wrong)
        patch.setattr(home, name, wrong)
        for symbol, term in list(noise.TERMS.items()):
            if term.variance is right:  # a noise term is added up where it is declared
                patch.setitem(noise.TERMS, symbol, replace(term, variance=wrong))


def _falsified(right: Callable[..., Any], wrong: str) -> Callable[..., Any]:
    signature, code = inspect.signature(right), compile(f"{wrong} else right()", wrong, "eval")

    @functools.wraps(right)
    def mixed(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        given = dict(bound.arguments)
        first, problem = next(iter(given.items()))

        def changed(**changes: Any) -> Any:
            if changes.keys() - given.keys():
                changes = {first: replace(problem, **changes)}
            return right(**{**given, **changes})

        return eval(code, {**NAMES, **given, "p": problem, "given": given, "right": changed})

    return mixed


def bounded(share: float) -> float:
    """Clip a share to the range from 0 to 1."""
    return min(max(share, 0.0), 1.0)


def without_shared_direction(found: Any, load: float) -> Any:
    """Planted error: interference without the direction that all tokens share."""
    counts, weights = found.counts, found.count_weights
    between = float(weights @ counts**2) - float(weights @ counts) ** 2
    return replace(found, variance=found.variance - between / load**2)


def recall_without_ties(problem: Problem) -> float:
    """Planted error: the probability that a token's label was seen more often than all others."""
    V, N = problem.vocab_size, problem.samples
    chance = stats.binom.pmf(np.arange(N + 1), N, 1 / V)
    shares = [
        chance[own]
        * multinomial.product_mean((np.arange(N - own + 1) < 2 * own).astype(float), V - 1, N - own)
        for own in range(1, N + 1)
        if chance[own] > 1e-12
    ]
    return float(sum(shares))


NAMES: dict[str, Any] = {"linear": linear, "math": math, "signal": signal, "torch": torch} | {
    each.__name__: each for each in (bounded, recall_without_ties, without_shared_direction)
}


def _rows() -> dict[str, Planted]:
    found = {}
    for row in re.split(r"\n(?=\S)", TABLE.replace("\n        ", " ").strip()):
        parts = re.fullmatch(r"(\S+): (.*) at (.*)\n    (\S+): (.*)", row)
        assert parts is not None
        id, claims, cell, changed, wrong = parts.groups()
        pairs = [pair.split("=") for pair in cell.split()]
        example = Cell(**{n: literal_eval(v) if v[0] in "0123456789TF" else v for n, v in pairs})
        home = "" if changed.startswith("simulation") else "theory."
        found[id] = Planted(id, tuple(claims.split()), example, f"{home}{changed}", wrong)
    return found


PLANTED = _rows()
