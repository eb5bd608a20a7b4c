"""simulation.spectral.softmax_muon against whole matrices in as many dimensions as embeddings."""

from collections import deque
from typing import Any

import torch
from torch import Tensor

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


def _handed(**options: Any) -> Tensor:
    """(T, R, K, K): what the rule is given over three steps that teach nothing."""
    given: list[Tensor] = []

    def rule(mean: Tensor) -> Tensor:
        given.append(mean)
        return mean

    Muon(rule, **options).excess(MEMORY, generators(2), rate=0.0, count=3)
    return torch.stack(given)


def test_momentum_takes_the_mean_of_the_gradients_from_zero() -> None:
    weights = 1 - 0.75 ** torch.arange(1, 4, dtype=torch.float64)[:, None, None, None]
    torch.testing.assert_close(_handed(momentum=0.75), weights * _handed())


def test_a_batch_weighs_its_items_by_how_often_they_were_drawn() -> None:
    shares = _handed(batch=4000) / (MEMORY.labels - 1 / 8)
    torch.testing.assert_close(shares, shares[..., :1, :].expand_as(shares))
    often = shares[..., 0, :] * 4000
    torch.testing.assert_close(often, often.round())
    assert torch.equal(often.round().sum(-1), torch.full((3, 2), 4000.0, dtype=torch.float64))
    assert not torch.equal(often[0], often[1])
