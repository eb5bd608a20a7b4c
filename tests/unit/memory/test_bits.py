"""Bits: bounds and their inverses, codes of few facts by hand, plain memories, and capacities."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from simulation.embeddings import unit_vectors
from simulation.memory import bits as measured
from simulation.streams import Streams
from tests.unit.draws import generators
from theory.memory import bits as theory


def test_fano_is_the_information_of_the_symmetric_channel_and_the_ceiling_inverts_it() -> None:
    for facts, outputs, bits in ((4, 2, 1.0), (100, 64, 250.0), (7, 3, 0.5)):
        accuracy = theory.accuracy_ceiling(facts=facts, outputs=outputs, bits=bits)
        others = [(1 - accuracy) / (outputs - 1)] * (outputs - 1)
        channel = math.log2(outputs) - stats.entropy([accuracy, *others], base=2)
        found = theory.fano_bits(facts=facts, outputs=outputs, accuracy=accuracy)
        assert [found, facts * channel] == pytest.approx([bits, bits])


def test_bounds_at_their_ends() -> None:
    assert theory.accuracy_ceiling(facts=5, outputs=4, bits=0) == 0.25
    assert theory.accuracy_ceiling(facts=5, outputs=4, bits=10) == 1.0
    assert theory.loss_floor(facts=5, outputs=4, bits=0) == pytest.approx(math.log(4))
    assert theory.loss_floor(facts=5, outputs=4, bits=10) == pytest.approx(0, abs=1e-12)
    assert theory.loss_floor(facts=5, outputs=4, bits=100) == 0
    assert theory.fano_bits(facts=3, outputs=8, accuracy=1.0) == pytest.approx(9)
    assert theory.fano_bits(facts=3, outputs=8, accuracy=1 / 8) == pytest.approx(0, abs=1e-12)
    assert theory.one_by_one(facts=4, outputs=2, bits=2) == 0.75


def test_search_reaches_the_floor() -> None:
    for bits in range(4):
        found = measured.searched_loss(generators(50), facts=3, outputs=2, bits=bits)
        floor = theory.loss_floor(facts=3, outputs=2, bits=bits)
        assert found.min().item() == pytest.approx(floor, abs=1e-12)


def test_every_code_of_three_facts_by_hand() -> None:
    # Two codewords of three bits: opposite corners of the cube leave 1/4 wrong; 4 even-weight
    # words leave half of the functions one bit off.
    assert measured.best_code_accuracy(facts=3, outputs=2, bits=1) == pytest.approx(3 / 4)
    assert measured.best_code_accuracy(facts=3, outputs=2, bits=2) == pytest.approx(5 / 6)
    assert measured.best_code_accuracy(facts=3, outputs=2, bits=3) == 1.0


def test_agreement_is_counted_beyond_a_byte() -> None:
    found = measured.random_code_accuracy(generators(20), facts=600, outputs=2, bits=1)
    expected = theory.random_code_accuracy(facts=600, outputs=2, bits=1)
    assert float(found.mean()) == pytest.approx(expected, abs=4 * 0.02 / math.sqrt(20))


def test_random_codewords_have_more_than_256_letters() -> None:
    found = measured.random_code_accuracy(generators(20), facts=40_000, outputs=300, bits=0)
    assert float(found.mean()) == pytest.approx(1 / 300, rel=0.1)  # 5 standard errors


def test_quantised_weights_take_few_values() -> None:
    assert measured.quantise(torch.ones(1, 1), 1).tolist() == [[1.0]]
    weights = torch.from_numpy(np.random.default_rng(0).standard_normal((40, 40)))
    for bits in (1, 2, 3):
        assert np.unique(measured.quantise(weights, bits).numpy()).size == 2**bits
    fine = measured.quantise(weights, 10) * 3 * weights.std() / 2**9
    inside = weights.abs() < 2.9 * weights.std()
    assert torch.allclose(fine[inside], weights[inside], atol=0.0035)


def test_fine_weights_recall_like_a_plain_memory() -> None:
    (rng,) = generators(1)
    found = measured.quantised_memory([rng], facts=30, outputs=20, dim=16, weight_bits=12)
    (rng,) = generators(1)
    one = Streams([rng])
    inputs, outputs = (unit_vectors(one, count, 16)[0].numpy() for count in (30, 20))
    right = one.integers(20, 30)[0].numpy()
    logits = inputs @ (outputs[right].T @ inputs).T @ outputs.T
    assert found.accuracy.item() == pytest.approx((logits.argmax(1) == right).mean())
    assert 0 < found.loss.item() < math.log(20)


def test_capacity_is_where_accuracy_is_the_target() -> None:
    for construction in measured.CONSTRUCTIONS:
        pairs = theory.capacity(construction, dim=96, width=64)
        found = theory.recall_probability(construction, pairs, dim=96, width=64)
        assert found == pytest.approx(0.99, abs=1e-4)
        square = construction in ("hebbian", "one-bit")
        narrow = theory.capacity(construction, dim=96, width=32)
        assert (narrow == pytest.approx(pairs, rel=1e-4)) == square
        told = math.lgamma(0.99 * pairs + 1) / math.log(2)
        bits = theory.bits_per_parameter(construction, dim=96, width=64)
        assert bits * 96 * (96 if square else 64) == pytest.approx(told, rel=1e-6)


def test_bits_count_the_permutations_told_apart() -> None:
    # Orthonormal inputs and outputs would hold 24 pairs, and random ones hold fewer: below 60.
    found = measured.bits_per_weight(generators(4), construction="hebbian", dim=24, width=24)
    possible = [math.lgamma(n + 1) / math.log(2) / 24**2 for n in range(1, 60)]
    assert all(min(abs(x - p) for p in possible) < 1e-12 for x in found.tolist())


def test_a_memory_that_recalls_512_of_768_pairs_is_not_asked_1024() -> None:
    found = measured.bits_per_weight(generators(4), construction="cosine", dim=48, width=512)
    told = theory.bits_per_parameter("cosine", dim=48, width=512)
    assert float(found.mean()) == pytest.approx(told, rel=0.05)


def test_small_memories_have_no_capacity() -> None:
    assert theory.capacity("hebbian", dim=8, width=8) == 0
    assert theory.bits_per_parameter("hebbian", dim=8, width=8) == 0
