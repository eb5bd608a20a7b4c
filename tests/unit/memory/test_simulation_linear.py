from functools import partial

import numpy as np
import pytest
import torch

from simulation.memory import linear as memory
from tests.unit import draws

generators = partial(draws.generators, seed=21)


def test_memory_is_the_sum_of_outer_products() -> None:
    pairs = memory.draw(generators(2), associations=5, dim=3)
    expected = sum(pairs.outputs[:, k, :, None] * pairs.inputs[:, k, None, :] for k in range(5))
    assert torch.allclose(memory.hebbian(pairs), torch.as_tensor(expected))


def test_recall_is_the_argmax_over_all_outputs() -> None:
    pairs = memory.draw(generators(3), associations=30, dim=8)
    stored = memory.hebbian(pairs)
    found = memory.recalled(pairs, stored)
    for r in range(3):
        for k in range(30):
            scores = [float(u @ stored[r] @ pairs.inputs[r, k]) for u in pairs.outputs[r]]
            assert bool(found[r, k]) == (int(np.argmax(scores)) == k)
    assert torch.equal(memory.recalled_share(pairs, stored), found.double().mean(1))
    few = memory.recalled_share(pairs, stored, queries=7)
    assert torch.equal(few, found[:, :7].double().mean(1))
    assert memory.all_recalled(pairs, stored).tolist() == [0.0, 0.0, 0.0]


def test_orthonormal_pairs_are_recalled_exactly() -> None:
    pairs = memory.orthonormal(replicates=2, associations=7, dim=7)
    assert memory.all_recalled(pairs, memory.hebbian(pairs)).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="orthonormal"):
        memory.orthonormal(replicates=1, associations=8, dim=7)


def test_projected_memory_has_its_rank_and_its_signs_have_one_bit() -> None:
    pairs = memory.draw(generators(2), associations=40, dim=12)
    basis = memory.subspaces(generators(2), dim=12, width=5)
    assert torch.allclose(basis.mT @ basis, torch.eye(5, dtype=basis.dtype).expand(2, 5, 5))
    projected = memory.low_rank(memory.hebbian(pairs), basis)
    assert torch.linalg.matrix_rank(projected).tolist() == [5, 5]
    assert set(memory.one_bit(memory.hebbian(pairs)).flatten().tolist()) == {-1.0, 1.0}
