"""Choose claims that test each stated error: a prediction's own claims, or claims made for it.

A claim that has a regime, and predicts by a registered formula, tests the formula's error by its
simulation. Other claims predict by a function of a formula, or search no regime: `_by_other_claims`
adds the missing parts. The functions at the end are simulations that no claim has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

import recall_claims as rc
from claims.attention.common import RecallProblem
from claims.attention_mlp.common import through_layer
from claims.attention_mlp.test_localisation import score_variance
from recall_claims.declare.claim import LARGEST, Observe
from recall_claims.hunt.probe import alone
from recall_claims.judge.rules import Predict, Rule
from recall_claims.model.predictions import Prediction, registered
from simulation.attention import localisation as measured_localisation
from simulation.attention import noise_decomposition
from simulation.attention.three_steps import Scores
from simulation.attention_mlp import three_steps
from simulation.memory import zipf as measured_zipf
from tests.every_claim import imported
from theory.attention import capacity, critical, localisation, noise, noise_terms, orthonormal
from theory.attention import recall as attention_recall
from theory.attention.problem import Problem
from theory.attention_mlp import localisation as mlp_localisation
from theory.attention_mlp import noise as mlp_noise
from theory.attention_mlp import recall as mlp_recall
from theory.attention_mlp.problem import MlpProblem
from theory.factual import constructions
from theory.factual import sequential_learning as sequential
from theory.lower_bound import linear_mmse, matched_filter
from theory.memory import bits, zipf

Law = Callable[..., Any]
SMALL = 0.25
"""Largest size of a point, as a share of `LARGEST`, the limit of a hunt: a point has only a
second."""
COINS = ("A.recall-all-tokens", "C.decoupled-transition", "C.hebbian-all-pairs", "G.cover-share")
"""Claims whose replicates are 0 or 1: their rules keep betting. Other claims that bet get t
intervals instead, which need fewer replicates."""
ELSEWHERE = (
    "A.one-step-decoding-large-vocabulary",
    "B.attention-parameters",
    "B.bits-per-parameter",
    "C.zipf-own-labels-error",
    "F.gradient-many",
)
"""Claims whose regimes have no cheap points, or none where the error is stated. Other claims,
or versions of these claims below, try the same errors."""


@dataclass(frozen=True)
class Check:
    """A stated error, and the claim whose evidence tests it.

    Attributes:
        entry: the prediction that states the error.
        claim: simulation, prediction and rule, and the regime from which points are drawn.
        case: the check's difference from the claim's other checks.
    """

    entry: Prediction
    claim: rc.Claim
    case: str = ""

    @property
    def name(self) -> str:
        formula = f"{self.entry.module.removeprefix('theory.')}.{self.entry.name}"
        return f"`{formula}` by `{self.claim.id}`{self.case}"

    @property
    def regime(self) -> rc.Regime:
        """Regime from which points are drawn."""
        assert self.claim.regime is not None
        return self.claim.regime

    def holds(self, point: rc.Cell) -> bool:
        """Whether a point is in the regimes of claim and error, cheap, and could break the error.

        Where a share is predicted to be near 0 or 1, hardly any theory breaks its error.
        """
        stated, size = self.entry.regime, self.claim.size
        if not self.regime.admits(point):
            return False
        if stated is not None:  # as far as it names the parameters
            named = {name: value for name, value in point.items() if name in stated.ranges}
            if stated.why_outside(rc.Cell(**named)) is not None:
                return False
        if size is not None and size(point) > SMALL * LARGEST:
            return False
        if not isinstance(self.claim.rule, rc.MeanDifference):
            return True
        predicted = float(self.predict(point))
        return predicted > 1.05 or 0.05 <= predicted <= 0.95

    def predict(self, point: rc.Cell) -> Any:
        assert self.claim.predict is not None
        return self.claim.predict(point)

    def stated(self, point: rc.Cell) -> rc.Region:
        """Return the stated error as a region of the claim's rule.

        If the rule is on differences, a relative error is multiplied by the prediction.
        """
        found = self.entry.region(point)
        if self.claim.rule.scale == "ratio" or found.low <= 0 <= found.high:
            return found
        return rc.Region.around(0.0, (found.high - 1) * float(self.predict(point)))

    def at(self, point: rc.Cell) -> rc.Claim:
        """Make the claim at a single point, with the stated error as its region.

        Edges of a critical value, which is a whole number, are rounded outwards.
        """
        rule, region = self.claim.rule, self.stated(point)
        assert isinstance(rule, rc.MeanRatio | rc.MeanDifference | rc.CriticalLocation)
        if isinstance(rule, rc.CriticalLocation):
            critical = float(self.predict(point))
            low, high = math.floor(region.low * critical), math.ceil(region.high * critical)
            rule = replace(rule, region=rc.Region(low / critical, high / critical))
        elif isinstance(rule.method, rc.Betting) and self.claim.id not in COINS:
            rule = replace(rule, region=region, method=rc.Student())
        else:
            rule = replace(rule, region=region)
        return alone(replace(self.claim, rule=rule), point)


def checks() -> Iterator[Check]:
    """List every check: first by claims that predict by a formula, then by others."""
    for one in (*imported().values(), *OWN):
        entry, left = one.entry, one.regime is None or one.exploratory or one.id in ELSEWHERE
        if left or not isinstance(one.rule, rc.MeanRatio | rc.MeanDifference | rc.CriticalLocation):
            continue
        if entry is not None and entry.errors:
            yield Check(entry, one)
    yield from _by_other_claims()


def _by(
    law: Law, claim: str | rc.Claim, *, regime: rc.Regime | None = None, **changes: Any
) -> Check:
    """Make a check of a formula by a claim with changed regime, fields and fixed values."""
    one = imported()[claim] if isinstance(claim, str) else claim
    entry, where = registered(law), regime or one.regime
    assert entry is not None
    assert where is not None
    fields = {name: changes.pop(name) for name in ("predict", "rule", "size") if name in changes}
    fixed: dict[str, Any] = {name: (value,) for name, value in changes.items()}
    where = where.searched(**fixed)
    case = ", elsewhere" if regime and one.regime else ""
    case += "".join(f", {name}={value}" for name, value in changes.items())
    return Check(entry, replace(one, regime=where, **fields), case)


SHARE = rc.ProportionDifference(rc.Region.around(0.0, 0.1))
RATIO = rc.MeanRatio(rc.Region.around(1.0, 0.1))
EXACTLY = rc.MeanRatio(rc.Region.around(1.0, 0.1), method=rc.Deterministic())
"""Rules whose region is replaced by the stated error."""
CENTRED: dict[str, Any] = {"centred": (False, True)}


def _by_other_claims() -> Iterator[Check]:
    """Yield checks by claims that predict by a function of a formula, or have no regime to
    search.
    """
    yield _by(noise.variance, "A.noise-total")
    for term in noise.TERMS:
        law = getattr(noise_terms, noise_decomposition.PIECES[term])
        yield _by(law, "A.noise-constants", term=term)
    law = noise_terms.count_covariance
    yield _by(law, "A.noise-constants", term="2 Cov(D,H)", embeddings="sphere")
    yield _by(noise_terms.trigger_coefficient_variance, "A.trigger-noise")
    few = localisation.SPARSE.searched(vocab_size=range(128, 256))
    yield _by(localisation.probability, "A.localisation", regime=few, trigger_in_values=False)
    yield _by(orthonormal.variance, "A.orthonormal-variance")
    law = attention_recall.recall_accuracy_gaussian
    yield _by(law, "A.recall-gaussian", regime=attention_recall.PLAIN)
    law = attention_recall.all_tokens_probability
    balanced = attention_recall.BALANCED.searched(dim=rc.log_range(24, 200))
    predict = rc.on(RecallProblem, law)
    yield _by(law, "A.recall-all-tokens", predict=predict, rule=SHARE, regime=balanced)
    one_rules = capacity.ONE_RULES.searched(
        vocab_size=rc.log_range(128, 512), dim=rc.log_range(32, 256)
    )
    yield _by(
        capacity.critical_samples,
        "A.capacity-samples",
        regime=one_rules,
        size=lambda c: 5 * capacity.critical_samples(**c) * c["length"],
    )
    yield _by(
        mlp_recall.mlp_recall_accuracy,
        "A.mlp-recall",
        regime=mlp_recall.STATED,
        size=lambda c: c["vocab_size"] * (c["vocab_size"] + c["width"]),
        activation="he2",
    )
    yield _by(
        mlp_recall.critical_samples,
        "A.mlp-offset-cost",
        regime=mlp_recall.SAMPLES,
        size=lambda c: 1.6 * c["vocab_size"] ** 2,
    )
    yield _by(mlp_recall.critical_width, "A.mlp-required-width", regime=mlp_recall.WIDTH)
    yield _by(mlp_noise.variance, layer_variance)
    samples = "A.gradient-samples"
    yield _by(matched_filter.critical_samples, samples, estimator="matched filter")
    yield _by(linear_mmse.critical_samples, samples, estimator="linear MMSE")
    yield _by(constructions.selective_dim, "B.attention-selective")
    law, focused = constructions.attention_accuracy, constructions.FOCUSED
    yield _by(law, "B.attention-accuracy", regime=focused)
    few = bits.CONSTRUCTIONS.searched(dim=range(48, 129), width=rc.log_range(32, 256))
    yield _by(
        bits.bits_per_parameter,
        "B.bits-per-parameter",
        regime=few,
        size=lambda c: 4 * c["dim"] * (c["dim"] + c["width"]),
    )
    few = zipf.MANY_LABELS.searched(labels=rc.log_range(32, 512), dim=rc.log_range(24, 160))
    yield _by(zipf.many_labels_error, "C.zipf-own-labels-error", regime=few)
    yield _by(sequential.half_time, "B.flow-half-times")
    curve = sequential.PRODUCT.searched(holds=_on_curve, time=rc.log_range(8.0, 4096))
    yield _by(sequential.loss, "B.flow-loss-curve", regime=curve)
    yield _by(sequential.plateau, "B.flow-plateau", regime=sequential.APART)
    growth = "B.flow-early-growth"
    first, token = _at_first(sequential.relation_rate), "relation"
    yield _by(sequential.relation_rate, growth, regime=first, token=token)
    first, token = _at_first(sequential.subject_rate), "subject"
    yield _by(sequential.subject_rate, growth, regime=first, token=token)
    random = f"{growth}-random"
    yield _by(sequential.random_relation_square_rate, random, token="relation, random")
    yield _by(sequential.background_square_rate, random, token="EOS, random")
    yield _by(sequential.random_plateau, "B.factual-open-entropy")


def _at_first(rate: Law) -> rc.Regime:
    """Return the regime of times at which the integrator counts as exact."""
    return sequential.EARLY.searched(
        holds=lambda c: 0.1 <= rate(sequential.Sizes.of(c)) * c["duration"] <= 0.5,
        duration=rc.log_range(0.25, 1024),
    )


def _on_curve(cell: rc.Cell) -> bool:
    """Whether the time is 0.1 to 1.5 times the subjects' half time."""
    half = sequential.half_time(sequential.Sizes.of(cell), "subject", scale=sequential.START)
    return 0.1 <= cell.number("time") / half <= 1.5


def _made(name: str, predict: Predict, rule: Rule, **more: Any) -> Callable[[Observe], rc.Claim]:
    """Return a decorator that makes a claim without a paper from a simulation."""
    return rc.claim(name, name, predict=predict, cells=(), rule=rule, **more)


@_made("full theory", rc.on(critical.threshold), EXACTLY, replicates=1)
def full_theory(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The closed form approximates the full theory."""
    full = critical.critical_samples_full(Problem.of(cell.replace(samples=1)))
    return torch.full((block.replicates,), full, dtype=block.dtype)


@_made("sum of the unseen", rc.on(zipf.unseen_mass), EXACTLY, replicates=1)
def unseen(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The closed form equals the sum over tokens, where no token beyond a million is ever seen."""
    share = measured_zipf.frequencies(2**20, cell["alpha"])
    mass = share @ (1 - share) ** cell["samples"] + 1 - share.sum()
    return torch.full((block.replicates,), mass, dtype=block.dtype)


def _scores(cell: rc.Cell, block: rc.Block) -> Scores:
    """Score tokens and trigger through a random layer; the cell says if residuals are centred."""
    batch, layer = block.draw(three_steps.draw, cell.without("centred"))
    return three_steps.token_scores(batch, layer, centred=cell["centred"])


@_made(
    "variance through a layer",
    score_variance,
    RATIO,
    regime=mlp_noise.EVERY.searched(**CENTRED),
    size=through_layer,
    replicates=(64, 512),
)
def layer_variance(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The variance of the token scores is the sum of the predicted noise terms."""
    return _scores(cell, block).theta.var(1)


@_made(
    "localisation through a layer",
    rc.on(MlpProblem, mlp_localisation.probability),
    SHARE,
    regime=mlp_noise.STATED.searched(**CENTRED),
    size=through_layer,
    replicates=(128, 1024),
)
def localised(cell: rc.Cell, block: rc.Block) -> Tensor:
    """A fresh sequence is localised with the predicted probability."""
    return measured_localisation.probability(_scores(cell, block), length=cell["length"])


localised_by_half = _made(
    "localisation of half through a layer",
    rc.on(MlpProblem, mlp_localisation.critical_samples),
    rc.CriticalLocation(rc.Region.around(1.0, 0.1)),
    regime=mlp_localisation.CRITICAL.searched(**CENTRED),
    size=through_layer,
    replicates=(128, 1024),
)(localised.observe)
OWN = (full_theory, unseen, localised, localised_by_half)
"""Claims of no paper that predict by a formula."""

REASONS = """
a part of a prediction that is tried:
    attention.capacity.coverage_samples attention.critical.critical_snr attention.critical.kappa
    attention.critical.power_law attention.localisation.given_snr attention.localisation.snr
    attention.signal.signal_unit attention_mlp.noise.snr
    lower_bound.gradient_channel.entry_information lower_bound.gradient_channel.snr
a limit; its docstring says how far finite sizes are from it, and claims judge that:
    attention.recall.all_tokens_dim attention.recall.half_dim_asymptotic
    lower_bound.gradient_capacity.half_dim lower_bound.gradient_capacity.half_samples
    memory.linear.all_dim_asymptotic memory.linear.half_dim_asymptotic
    memory.listwise.critical_load memory.mlp.asymptotic_width memory.perceptron.binary_capacity
    spectral.flows.spectral_decay_rate
a bound; claims are one-sided, and tight where they say so:
    lower_bound.ceiling.critical_dim lower_bound.ceiling.exact_recovery
    lower_bound.ceiling.information_needed lower_bound.ceiling.largest_accuracy
    lower_bound.gradient_channel.information lower_bound.width_information.largest_share
    memory.bits.accuracy_ceiling memory.bits.loss_floor spectral.underdetermined.flat_share
the middle of two exact bounds; claims judge that means lie between them:
    spectral.underdetermined.sensing_loss spectral.underdetermined.sensing_speed
exact at every size; claims judge what rounding or replicates resolve:
    spectral.tail_classes.adam_lead spectral.tail_classes.muon_lead
    spectral.underdetermined.gradient_concentration
its docstring or its claims say how far off it is; claims hold it to their regions:
    memory.listwise.critical_associations spectral.one_step.critical_batch
    spectral.one_step.recalled_gradient spectral.one_step.recalled_newton
    spectral.one_step.recalled_spectral spectral.several_steps.recalled
    spectral.tail_classes.muon_gap
exact but for the size of the steps; the claims of its file hold it to 1e-6 to 1e-3:
    spectral.flows.gradient_error spectral.flows.learning_time spectral.flows.log_odds
    spectral.flows.time_ratio spectral.softmax_memory.spectral_floor
    spectral.softmax_memory.steady_loss
the exact inverse of a prediction that is tried; unit tests compare them:
    attention.capacity.max_length attention.capacity.max_vocab attention.capacity.min_dim
    factual.constructions.compressed_width
an exponent; claims judge it over a lever:
    memory.zipf.cutoff_exponent memory.zipf.power_exponent memory.zipf.samples_exponent
a published line, taken over; claims judge it:
    factual.trained_transformer.capacity factual.trained_transformer.traded_capacity
`threshold` at the sizes of a problem:
    attention.critical.critical_samples
`half_time` in steps; B.sgd-half-steps trains by SGD:
    factual.sequential_learning.half_step
exact where scores are independent:
    memory.optimal.extreme_value
where `separable_share` is one half, exactly:
    memory.perceptron.capacity
a lead over a rate; a unit test counts the steps:
    spectral.softmax_memory.steps_to_floor
"""
"""Predictions that are not tried at random points, and why."""
UNTRIED = [name for line in REASONS.splitlines() if line.startswith(" ") for name in line.split()]
"""Formulas without a check, by module and name below `theory`."""
