"""theory.memory.superposition and simulation.memory.superposition, compared with definitions."""

from itertools import pairwise, product
from typing import Any

import pytest
import torch

from simulation.memory import mlp
from simulation.memory import superposition as simulation
from tests.unit.draws import generators
from theory.memory import superposition as theory


def test_queries_of_several_hops_follow_their_relations() -> None:
    """With dimensions to spare every query is answered right. With few dimensions, a chain of three
    hops has more errors than one hop. Three hops that the model answers at once, without a chain,
    have still more errors."""
    few: dict[str, Any] = {"attributes": 32, "relations": 2}
    ways: tuple[dict[str, Any], ...] = ({"hops": 1}, {"hops": 3, "chain": True}, {"hops": 3})
    for way in ways:
        assert (simulation.accuracy(generators(2), dim=512, **few, **way) == 1).all()
    shares = [simulation.accuracy(generators(3), dim=12, **few, **way) for way in ways]
    assert all((more > less).all() for more, less in pairwise(shares))
    maps = torch.from_numpy(generators(1)[0].permuted([range(5)] * 3, axis=1))
    found = simulation.compositions(maps, 3)
    for followed, (first, second, third) in zip(found, product(maps, repeat=3), strict=True):
        assert (followed == third[second[first]]).all()


def test_a_chain_compounds_errors_of_one_hop_and_superposes_no_composition() -> None:
    hop = theory.accuracy(256, 4, 36)
    assert theory.hops_accuracy(256, 4, 36, 3, True) == hop**3
    assert theory.hops_accuracy(256, 4, 100, 2, False) == theory.accuracy(256, 16, 100)
    dims = {chain: theory.hops_dim(256, 4, 2, chain) for chain in (True, False)}
    for chain, dim in dims.items():
        assert theory.hops_accuracy(256, 4, dim, 2, chain) == pytest.approx(0.5, abs=1e-4)
    assert dims[False] > 2.5 * dims[True]


def test_facts_as_pairs_are_those_that_the_constructed_network_answers() -> None:
    """With dimensions to spare the network is right on every pair.

    There is a pair for each triple of a set of facts, a relation and a subject.
    """
    rng, sizes = generators(1)[0], {"vectors": (1, 6, 512), "signs": (1, 3, 512)}
    drawn = {name: torch.from_numpy(rng.choice([-1.0, 1.0], n)) for name, n in sizes.items()}
    maps = torch.from_numpy(rng.permuted([[[range(6)] * 3] * 2], axis=3))
    facts = simulation.facts_of(maps=maps, **drawn)
    embed, gate, bias, out = simulation.selector(drawn["signs"], torch.full((1,), 9.0).double())
    network = mlp.Mlp(
        first=torch.cat([embed[None], gate], 2), bias=bias, second=out.mT, activation="relu"
    )
    assert facts.z.shape == (1, 2 * 3 * 6, 512 + 3)
    assert facts.correct(network(facts.z)).all()


def test_a_trained_selector_of_one_relation_knows_new_facts() -> None:
    """With one relation a new subject has the embedding of an old one. So each new fact has the
    input and the answer of an old fact.
    """
    few: dict[str, Any] = {"attributes": 16, "dim": 8, "sets": 1}
    for steps in (0, 3, 64):
        found = simulation.transferred(generators(3), relations=1, steps=steps, **few)
        assert (found["value"] == found["known"]).all()
    assert (found["known"] == 1).all()
    found = simulation.transferred(generators(3), relations=4, **few)
    assert (found["value"] < found["known"]).all()
