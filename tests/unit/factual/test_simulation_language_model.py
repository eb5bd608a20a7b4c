"""simulation.factual.language_model: biographies, counts of bits, and learning."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from simulation.factual import language_model as lm
from tests.unit.draws import generators


def test_biographies_have_the_name_first_and_every_value_once() -> None:
    rng = generators(1)[0]
    table = lm.people(rng, 50)
    assert len({tuple(person[:3]) for person in table}) == 50
    # Each employer is in one city.
    assert len({tuple(person[-2:]) for person in table}) == len(set(table[:, -2]))
    tokens, kinds = lm.biographies(rng, table)
    for person, text, kind in zip(table, tokens, kinds, strict=True):
        assert text[1:4].tolist() == person[:3].tolist()
        assert (kind[1:4] == 1).all()
        assert sorted(text[kind == 2]) == sorted(person[3:])
    again, _ = lm.biographies(rng, table)
    assert (again != tokens).any()


class Uniform(nn.Module):
    def forward(self, tokens: Tensor) -> Tensor:
        return torch.zeros(*tokens.shape, 1000)


def test_losses_are_added_up_over_names_and_values() -> None:
    rng = generators(1)[0]
    tokens, kinds = lm.biographies(rng, lm.people(rng, 5))
    mean, name, value = lm.losses(Uniform(), torch.from_numpy(tokens), torch.from_numpy(kinds))
    for found, count in ((mean, 1), (name, 3), (value, 8)):
        assert float(found) == pytest.approx(count * math.log(1000), rel=1e-5)


def test_a_few_people_are_learnt_by_heart_whatever_the_batch() -> None:
    sizes: dict[str, Any] = {"people_count": 3, "width": 16, "exposures": 200}
    found = lm.bits_per_weight(generators(2), **sizes)
    assert (found["held"] > 0.6).all()
    assert ((found["bits"] > 0) & (found["bits"] < 0.1)).all()
    alone = lm.bits_per_weight(generators(2)[1:], **sizes)
    np.testing.assert_allclose(alone["bits"], found["bits"][1:], rtol=1e-5)
