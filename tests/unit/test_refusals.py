"""Bad arguments of functions in all folders, and the message that each gives.

A row is a call, as a user would write it, and a part of the message.
"""

import importlib
import math
import pkgutil
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import simulation
import theory
from simulation.attention import sampling
from simulation.attention_mlp.three_steps import draw_layer
from simulation.factual import constructions as weights
from simulation.factual import language_model as lm
from simulation.factual import sequential_learning as learning
from simulation.factual import task
from simulation.factual.trained_transformer import Sizes
from simulation.lower_bound import estimators, gradient_channel, width_information
from simulation.memory import bilinear, decoder, mlp, superposition
from simulation.spectral import softmax_groups, underdetermined
from simulation.streams import Streams
from tests.unit.draws import generators
from theory.attention import critical
from theory.attention.problem import Problem
from theory.attention_mlp.problem import MlpProblem
from theory.factual import constructions as laws
from theory.factual import sequential_learning as flow
from theory.memory import bilinear as bilinear_laws
from theory.memory.mlp import mlp_memory_accuracy
from theory.spectral import flows

SIZES: dict[str, Any] = {"vocab_size": 128, "length": 8, "dim": 32}
ORTHONORMAL = Problem(vocab_size=64, length=8, samples=64, dim=80, embeddings="orthonormal")
MANY = flow.Sizes(subjects=16, relations=4, answers=8)
PRODUCT = learning.product_dictionary(4, 3, 2)
SIX = flows.Facts(subjects=6, relations=4)
RNGS = generators(1)

problem = partial(Problem, **SIZES, samples=1024)
layer = partial(MlpProblem, **SIZES, samples=1024, width=128, activation="tanh")
batch = partial(sampling.draw, RNGS, vocab_size=12, length=5, samples=36, dim=14)
gradient = partial(gradient_channel.discrete, RNGS, vocab_size=32, length=4, samples=512, dim=16)
feature_shares = partial(
    width_information.shares, RNGS, vocab_size=24, length=4, dim=4, activation="relu", sequences=64
)
narrow = partial(draw_layer, RNGS, dim=3, activation="relu")
compressed = partial(weights.compressed_values, Streams(RNGS), group=4, width=8)
facts = partial(task.draw, Streams(RNGS), subjects=8, relations=4, answers=4, dim=64)
transformer = partial(Sizes, subjects=3, relations=2, answers=2, heads=2, head_dim=2, width=4)
stored = partial(mlp.draw, RNGS, associations=10, outputs=10, dim=4)
made = partial(mlp.constructed, RNGS, associations=4, dim=4, width=5)
recalled = partial(mlp_memory_accuracy, associations=64, outputs=64, dim=32, width=100)

whitened = partial(bilinear_laws.accuracy, whitened=True)
bilinear_memory = partial(bilinear.answered, RNGS, associations=4, dim=4, width=3, whitened=False)
decoded = partial(decoder.accuracy, RNGS, facts=8, groups=2, shared=0.5)
superposed = partial(superposition.accuracy, RNGS, attributes=4, relations=2, dim=4)
selected = partial(superposition.transferred, RNGS, attributes=4, relations=2)
grouped = partial(softmax_groups.Groups.of, 24, power=1.0, noise=0.0, like=torch.zeros(()))
regression = partial(underdetermined.regression, inputs="gaussian")
language_model = partial(lm.bits_per_weight, RNGS, people_count=2, width=4, exposures=1)

for package in (theory, simulation):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)  # so that each is an attribute of its package

NAMES = {
    **globals(),
    "np": np,
    "torch": torch,
    "inf": math.inf,
    "nan": math.nan,
    "rngs": generators,
    "rng": RNGS[0],
    "streams": Streams(RNGS),
    "critical": critical,
    "estimators": estimators,
    "laws": laws,
}
OUTSIDE = (0.0, 1.0, -1.0, math.nan)
NEEDED = ("subjects", "relations", "answers", "heads", "head_dim")
LAWS = ("recalled_gradient", "recalled_spectral", "recalled_newton")
REFUSED = (
    ("problem().replace(dim=0)", "dim is 0"),
    ("problem(vocab_size=1)", "vocab_size is 1: give an integer of at least 2"),
    ("problem(length=1)", "length is 1"),
    ("problem(samples=0)", "samples is 0"),
    ("problem(dim=2.5)", "dim is 2.5"),
    ("problem(samples=True)", "samples is True"),
    ("problem(embeddings='cube')", "embeddings is 'cube': give one of sphere, gaussian"),
    ("problem(embeddings='orthonormal', dim=129)", "give dim of at least 130"),
    ("theory.attention.capacity.critical_samples(64, 8, 65)", "at most vocab_size"),
    ("theory.attention.capacity.binding(64, 1, 32)", "give an integer"),
    ("critical.power_law('F', vocab_size=2, length=2, dim=2)", "one of A, B, C"),
    (
        "theory.attention.noise_declaration.noise_term('B', title='', latex='', exponents={}, "
        "covariance_power=1, regime='')",
        "B is declared twice",
    ),
    ("theory.memory.perceptron.separable_share(0, 1)", "0 patterns in dim 1"),
    *((f"critical.critical_snr(**SIZES, probability={p})", r"inside \(0, 1\)") for p in OUTSIDE),
    *((f"critical.critical_samples_full(problem(), probability={p})", "inside") for p in OUTSIDE),
    ("theory.attention.end_to_end.end_to_end_accuracy(ORTHONORMAL)", "orthonormal"),
    ("theory.attention.localisation.probability(ORTHONORMAL)", "use theory.attention.orthonormal"),
    ("theory.attention.recall.recall_accuracy(ORTHONORMAL)", "orthonormal"),
    ("theory.attention.recall.recall_accuracy_gaussian(ORTHONORMAL)", "orthonormal"),
    ("theory.attention.recall.half_dim_refined(ORTHONORMAL)", "orthonormal"),
    ("layer(width=0)", "width is 0"),
    ("layer(activation='sine')", "unknown activation"),
    ("layer(embeddings='gaussian')", "'sphere' only"),
    ("theory.attention_mlp.activations.moments('sine', 1.0)", "unknown activation 'sine'"),
    ("theory.attention_mlp.activations.moments('relu', 0.0)", "positive"),
    (
        "theory.attention_mlp.recall.capacity(dim=2, width=8, activation='tanh')",
        "needs 3 dimensions",
    ),
    ("theory.lower_bound.linear_mmse.linear_mmse_accuracy(problem(dim=2))", "dim is 2"),
    ("theory.lower_bound.linear_mmse.linear_mmse_accuracy(problem(dim=127))", "dim is 127"),
    *(
        (f"theory.factual.additive_heads.{what}_dim({sizes})", "to distinguish")
        for what in ("subject", "relation")
        for sizes in ("0, 4", "3, 1")
    ),
    ("theory.laws.crossing.least_integer(bool, 0)", "at 1 or above, not at 0"),
    ("simulation.factual.relaxed.quantised(None, 1)", "2 bits or more, not 1"),
    (
        "simulation.attention.noise_decomposition.trigger_coefficient_noise("
        "batch(trigger_in_values=True))",
        "only without the trigger in the values",
    ),
    ("laws.guess_by_relation(0, 3)", "give"),
    ("laws.attention_dim(4, 0, 3)", "give"),
    ("laws.attention_dim(4, 1, 1)", "give"),
    ("laws.attention_accuracy(4, 8, 4, 8)", r"dim - max\(relations, answers\) is 0"),
    ("laws.selective_dim(2, 1, 20, margin=1.5)", "give"),
    ("laws.focus(2, 16, 2, margin=0.5, scale=8.0)", "length - 2 is 0"),
    ("laws.mlp_width(4, 1, 1, 32)", "give"),
    ("laws.compressed_accuracy(8, 4, 2, 32, 8, group=8, head_dim=2, frequency=6.0)", "give"),
    ("flow.Sizes(subjects=1, relations=4, answers=8)", "at least 2"),
    ("flow.loss(MANY, 1.0, scale=0.5)", "scale"),
    ("flow.half_time(MANY, 'subject', scale=0.0)", "scale"),
    ("flow.loss(MANY, inf, scale=1e-5)", "too long"),
    ("theory.factual.trained_transformer.capacity(-1)", "not negative"),
    ("theory.factual.trained_transformer.traded_capacity(-1, 5)", "not negative"),
    ("theory.factual.trained_transformer.traded_capacity(1, -5)", "not negative"),
    ("theory.memory.bilinear.half_width(associations=3, dim=2, whitened=True)", "and 3 dimensions"),
    ("whitened(associations=3, dim=1, width=3)", "dim 1, 3 associations: give at least 1 neuron"),
    ("theory.memory.bits.accuracy_ceiling(facts=4, outputs=1, bits=1)", "too few"),
    ("theory.memory.bits.loss_floor(facts=4, outputs=2, bits=-1)", "too few"),
    ("theory.memory.bits.fano_bits(facts=4, outputs=2, accuracy=0.1)", "not between"),
    ("theory.memory.bits.recall_probability('magic', 10, dim=8, width=8)", "unknown construction"),
    ("theory.memory.linear.linear_memory_accuracy(2, 16)", "associations"),
    ("theory.memory.linear.one_bit_accuracy(16, 3)", "dim"),
    ("theory.memory.linear.low_rank_accuracy(16, 16, 17)", "rank"),
    ("theory.memory.listwise.critical_load(0.0)", "share"),
    ("theory.memory.listwise.critical_load(1.0)", "share"),
    ("theory.memory.listwise.critical_associations(2, 0.5)", "dim"),
    ("recalled(outputs=1)", "at least 2 outputs"),
    ("recalled(outputs=65)", "no more outputs"),
    ("recalled(dim=1)", "dim is 1"),
    ("recalled(features='tanh')", "unknown features 'tanh'"),
    ("recalled(width=33.0, features='relu')", "must exceed 33"),
    ("recalled(width=0.0)", "width is 0"),
    ("theory.memory.mlp.capacity(dim=32, width=0.1)", "not even 3"),
    ("theory.memory.optimal.critical_associations(1)", "give"),
    ("theory.memory.optimal.critical_associations(256)", "give"),
    ("theory.memory.optimal.frozen_associations(0)", "give"),
    ("theory.memory.optimal.separable_probability(1, 4)", "give"),
    ("theory.memory.optimal.separable_probability(4, 0)", "give"),
    ("theory.memory.optimal.associations_on_line(0, 2.0)", "give"),
    ("theory.memory.optimal.associations_on_line(8, 0.0)", "give"),
    ("theory.memory.zipf.cutoff_error(1.0, 5, 64, 10)", "alpha"),
    ("theory.memory.zipf.cutoff_error(2.0, 1, 64, 10)", "labels is 1"),
    ("theory.memory.zipf.power_error(2.0, 5, 2, 0.5, 10)", "dim"),
    ("theory.memory.zipf.cutoff_error(2.0, 5, 64, 2)", "stored"),
    ("theory.memory.zipf.many_labels_error(2.0, 5, 64, 10)", "labels"),
    ("theory.memory.zipf.power_exponent(2.0, 0.25)", "converge"),
    ("theory.memory.zipf.unseen_mass(2.0, 0)", "samples"),
    ("theory.memory.zipf.least_error(2.0, 5, 2, 0)", "0 samples at least 1"),
    ("theory.spectral.flows.Facts(subjects=1, relations=4)", "at least 2"),
    ("theory.spectral.flows.Facts(subjects=4, relations=4, start=0.5)", "start"),
    ("theory.spectral.flows.sign_rates(SIX, 'subject', 'HOO')", "not a power of 2"),
    ("theory.spectral.flows.sign_rates(SIX, 'subject', 'OO')", "none of OOO"),
    ("theory.spectral.flows.learning_time(SIX, 'subject', flow='gradient', error=1.0)", "error"),
    *((f"theory.spectral.one_step.{law}(8, 100, 1.0)", "exponent") for law in LAWS),
    *((f"theory.spectral.one_step.{law}(100, 100, 2.0)", "dim") for law in LAWS),
    ("theory.spectral.one_step.recalled_spectral(8, 100, 2.0, 0)", "batch"),
    ("theory.spectral.softmax_memory.Memory(16, groups=3)", "no 3 groups"),
    ("theory.spectral.softmax_memory.Memory(16, noise=1.0)", "share below 1"),
    ("theory.spectral.tail_classes.muon_lead(4, 2, 1.0, 3)", "give"),
    ("theory.spectral.tail_classes.adam_lead(4, 2, 1.0, 0)", "give"),
    ("theory.spectral.tail_classes.muon_gap(8, 0.5, 1.0)", "give"),
    ("theory.spectral.tail_classes.muon_gap(8, 2.0, 0.1)", "give"),
    ("theory.spectral.underdetermined.mean_value(1.5)", "give"),
    ("theory.spectral.underdetermined.speed(2, 3)", "give"),
    ("theory.spectral.underdetermined.speed(2, 0)", "give"),
    ("theory.spectral.underdetermined.flat_time(0)", "give"),
    ("theory.spectral.underdetermined.kept_share(4, 8, 0.0)", "give"),
    ("theory.spectral.underdetermined.flat_share(8, 2, 2.0)", "give"),
    ("theory.spectral.underdetermined.gradient_concentration(2, 3)", "give"),
    ("streams.integers(0, 3)", "give 1 to 2147483648"),
    ("streams.integers(2**31 + 1, 3)", "give 1 to 2147483648"),
    ("Streams([np.random.Generator(np.random.MT19937(0))]).normal(3)", "take SFC64"),
    ("batch(vocab_size=1)", "vocab_size is 1: give at least 2"),
    ("batch(length=1)", "length is 1: give at least 2"),
    ("batch(samples=0)", "samples is 0: give at least 1"),
    ("batch(dim=-3)", "dim is -3: give at least 1"),
    ("batch(embeddings='cube')", "unknown embeddings 'cube': choose one of sphere"),
    ("batch(embeddings='orthonormal', dim=13)", "raise dim to at least 14"),
    ("batch(balanced=True, samples=37)", "make samples a multiple of vocab_size"),
    ("sampling.draw([], vocab_size=4, length=2, samples=2, dim=3)", "one numpy Generator per rep"),
    ("sampling.fresh(batch(), rngs(2), samples=4)", "2 generators for 1 replicates: pass one per"),
    ("sampling.fresh(batch(), rngs(1), samples=0)", "samples is 0"),
    ("simulation.attention.localisation.mirrored(batch(trigger_in_values=True))", "other values"),
    (
        "simulation.attention.noise_decomposition.decompose(batch(), ('A', 'Z'))",
        "unknown piece Z: choose from T, A, B",
    ),
    ("narrow(width=0)", "width is 0"),
    ("simulation.attention_mlp.activations.activation('sine')", "unknown activation"),
    ("estimators.named('oracle')", "choose one of matched filter, "),
    ("gradient(samples=0)", "samples"),
    ("estimators.whitening.whiten(gradient(dim=32).observation)", "below vocab_size = 32"),
    ("estimators.exact_bayes.every_map(8)", "at most 7"),
    (
        "estimators.exact_bayes.posterior(gradient(vocab_size=4).observation)",
        "label counts are hidden",
    ),
    *((f"feature_shares(width={width})", f"width is {width}") for width in (4, 24)),
    (
        "simulation.factual.additive_heads.subject_code_exists(rng, relations=0, answers=2, dim=3)",
        "at least 1",
    ),
    ("task.draw(streams, subjects=1, relations=0, answers=2, dim=4)", "relations is 0"),
    ("task.prompts(streams, facts(), length=2)", "at least 3"),
    ("task.best_guess(facts(), know='answer')", "choose subject or relation"),
    ("weights.attention_only(facts(), head_dim=3)", "do not divide"),
    ("weights.attention_only(facts(dim=3), head_dim=4)", "no dual basis"),
    ("compressed(facts(dim=8), head_dim=3)", "do not fit"),
    ("weights.attention_mlp(streams, facts(), head_dim=4, width=0)", "width is 0"),
    ("learning.product_dictionary(6, 2, 4)", "evenly"),
    ("learning.FactPrompts([np.array([[0, 0]])], answers=2)", "outside the block"),
    ("learning.FactPrompts([PRODUCT], answers=2, length=2)", "too few"),
    *((f"transformer({name}=0)", name) for name in NEEDED),
    ("transformer(width=-1)", "width"),
    ("simulation.memory.linear.draw(rngs(1), associations=1, dim=3)", "associations"),
    ("simulation.memory.linear.subspaces(rngs(1), dim=3, width=4)", "width"),
    *((f"simulation.memory.listwise.competitors(11, {x})", "share") for x in (0.0, 1.0, 0.95)),
    ("stored(outputs=1)", "at least 2"),
    ("stored(dim=1)", "at least 2"),
    ("stored(outputs=20)", "cannot use all"),
    ("mlp.draw([], associations=4, outputs=4, dim=4)", "no generator"),
    ("made(features='tanh')", "unknown features"),
    ("made(features='relu')", "leaves nothing"),
    ("made(frequency=0)", "frequency 0"),
    ("simulation.memory.optimal.draw([], dim=4, associations=4)", "pass|give"),
    ("simulation.memory.optimal.draw(rngs(1), dim=0, associations=4)", "pass|give"),
    ("simulation.memory.optimal.draw(rngs(1), dim=4, associations=1)", "pass|give"),
    ("theory.memory.bilinear.overlaps(64, 8, 64, True)", "fewer neurons than associations"),
    ("theory.memory.superposition.accuracy(64, 1, 8)", "at least 2 relations"),
    ("theory.memory.decoder.decodability(9, 2, 0.5)", "9 facts in 2 groups"),
    ("theory.memory.optimal.extreme_value(1)", "at least 2"),
    ("simulation.memory.bilinear.features(rng, torch.ones(1, 2, 2), 0)", "width is 0"),
    ("bilinear_memory(associations=1)", "at least 2"),
    ("selected(dim=0, sets=1)", "dim 0"),
    ("selected(dim=4, sets=0)", "0 sets"),
    ("decoded(code_dim=0)", "0 dimensions"),
    ("decoded(code_dim=4, code='own')", "code 'own'"),
    ("superposed(attributes=1)", "1 attributes"),
    ("superposed(hops=0)", "0 hops"),
    ("simulation.factual.language_model.people(rng, 0)", "0 people"),
    ("language_model(width=6)", "width 6 must be a multiple of 4"),
    ("language_model(exposures=0)", "exposures at least 1"),
    ("simulation.memory.zipf.error(rngs(1), stored=5, labels=1, dim=8, alpha=2.0)", "labels"),
    ("simulation.memory.zipf.frequencies(5, 1.0)", "alpha"),
    ("simulation.memory.linear.orthonormal(replicates=1, associations=8, dim=7)", "orthonormal"),
    ("simulation.memory.bits.quantise(torch.ones(1, 1), 2)", "no standard deviation"),
    ("simulation.spectral.facts.Facts(3, 2, inputs=torch.eye(5)[None])", "5 embeddings for 6"),
    ("grouped(5, apart=False)", "24 items make no 5 groups"),
    ("grouped(24, apart=True)", "24 items make no 24 groups"),
    ("regression(RNGS, samples=3, dim=3, outputs=3)", "give fewer than"),
    ("regression(RNGS, samples=3, dim=4, outputs=2)", "give fewer than"),
    ("underdetermined.sensing(RNGS, rows=2, columns=2, measurements=5)", "weights"),
)


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_what_makes_no_sense_is_refused_in_words(call: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        eval(call, NAMES)
