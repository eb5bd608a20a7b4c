"""simulation.spectral.softmax_muon against whole matrices in as many dimensions as embeddings."""

from collections import deque

import torch

from simulation.embeddings import unit_vectors
from simulation.spectral import flows, softmax_memory
from simulation.spectral.softmax_muon import Muon
from tests.unit.draws import generators

MEMORY = softmax_memory.Memory.grouped(8, 4, 1.5, 0.1, torch.zeros((), dtype=torch.float64))


def test_without_any_change_it_is_the_theorem_s_muon() -> None:
    (end,) = deque(softmax_memory.steps(MEMORY, flows.polar, 0.1, 12), maxlen=1)
    found = Muon().excess(MEMORY, generators(2), rate=0.1, count=12)
    torch.testing.assert_close(found, MEMORY.mean_excess(end).expand(2))


def test_embeddings_need_no_more_coordinates_than_there_are_items() -> None:
    (rng,) = generators(1)
    queries, answers = (torch.from_numpy(unit_vectors(rng, 8, 20)) for _ in range(2))
    weights = torch.zeros(20, 20, dtype=torch.float64)
    for _ in range(12):
        scores = softmax_memory.Weights(answers @ weights @ queries.mT)
        weights += 0.1 * flows.polar(answers.mT @ MEMORY.gradient(scores).matrix @ queries)
    expected = MEMORY.mean_excess(softmax_memory.Weights(answers @ weights @ queries.mT))
    found = Muon(dim=20).excess(MEMORY, generators(1), rate=0.1, count=12)
    torch.testing.assert_close(found, expected[None])


def test_large_batches_and_short_memories_come_to_the_same() -> None:
    whole = Muon().excess(MEMORY, generators(1), rate=0.1, count=12)
    sampled = Muon(batch=10**7, momentum=1e-3).excess(MEMORY, generators(1), rate=0.1, count=12)
    torch.testing.assert_close(sampled, whole, rtol=1e-2, atol=0)
