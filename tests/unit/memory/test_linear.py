"""Linear memories: plain simulations, limits, quadrature and loops."""

import numpy as np
import pytest
import torch

from simulation.memory import linear as memory
from tests.unit.draws import generators, unit_vectors
from theory.memory import linear as theory


def test_full_rank_is_no_projector() -> None:
    assert theory.low_rank_accuracy(100, 32, 32) == theory.linear_memory_accuracy(100, 32)
    assert theory.low_rank_accuracy(100, 32, 31.9) == pytest.approx(
        theory.linear_memory_accuracy(100, 32), abs=0.005
    )


@pytest.mark.parametrize(
    ("sizes", "error"),
    [([(30, 16), (128, 34), (1600, 128)], 1e-3), ([(16384, 512), (131072, 1664)], 1.5e-3)],
)
def test_more_quadrature_nodes_change_nothing(
    sizes: list[tuple[int, int]], error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    theory.recalled.cache_clear()
    coarse = [theory.linear_memory_accuracy(*size) for size in sizes]
    for name, count in {"_SCORE": 90, "_COSINE": 36, "_COEFFICIENT": 20, "_LENGTH": 9}.items():
        monkeypatch.setattr(theory, f"{name}_NODES", count)
    theory.recalled.cache_clear()
    assert [theory.linear_memory_accuracy(*size) for size in sizes] == pytest.approx(
        coarse, abs=error
    )
    theory.recalled.cache_clear()


@pytest.mark.parametrize(
    ("associations", "dim", "simulated"),
    [
        (30, 1024, 0.940),
        (30, 256, 0.916),
        (60, 1024, 0.881),
        (100, 1024, 0.815),
        (190, 1024, 0.681),
    ],
)
def test_a_low_rank_at_which_single_large_coefficients_decide(
    associations: int, dim: int, simulated: float
) -> None:
    """``simulated``: means of 150 to 1500 memories, with standard errors of 0.001 to 0.003."""
    found = theory.low_rank_accuracy(associations, dim, 12)
    assert found == pytest.approx(simulated, abs=0.0085)


@pytest.mark.parametrize("associations", [64, 512])
def test_thresholds_solve_their_equations(associations: int) -> None:
    assert theory.linear_memory_accuracy(
        associations, theory.half_dim(associations)
    ) == pytest.approx(0.5)
    whole = theory.all_dim(associations)
    assert theory.all_recalled(associations, whole) == pytest.approx(0.5, abs=1e-4)
    assert theory.capacity(whole) == pytest.approx(associations, rel=1e-3)
    rank = theory.half_rank(associations, 256)
    assert theory.low_rank_accuracy(associations, 256, rank) == pytest.approx(0.5, abs=1e-4)


def test_thresholds_are_near_their_leading_order() -> None:
    assert 0.9 < theory.half_dim(10**5) / theory.half_dim_asymptotic(10**5) < 1
    assert 0.9 < theory.all_dim(10**5) / theory.all_dim_asymptotic(10**5) < 1
    assert theory.all_dim_asymptotic(99) == pytest.approx(2 * theory.half_dim_asymptotic(99))
    small, large = (
        theory.half_rank(n, dim) * dim / theory.half_dim(n) ** 2
        for n, dim in ((10**3, 256), (10**5, 2560))
    )
    assert 1 < large < small < 1.3, "the parameters m d of a low rank tend to d^2"


@pytest.mark.parametrize(("associations", "dim"), [(5, 4), (9, 5), (17, 9)])
def test_few_associations_are_recalled_a_little_less_often(associations: int, dim: int) -> None:
    rng = np.random.default_rng(5)
    keys, values = (unit_vectors(rng, 20_000, associations, dim) for _ in range(2))
    scores = (values @ values.mT) @ (keys @ keys.mT)
    share = (scores.argmax(1) == np.arange(associations)).mean()
    assert 0.005 < theory.linear_memory_accuracy(associations, dim) - share < 0.03


@pytest.mark.parametrize("dim", [12, 34, 96])
def test_how_many_rivals_score_less_has_a_law_where_chances_round_to_one(dim: int) -> None:
    law = theory.rivals_below(32, dim)(np.arange(32.0))
    assert np.all(np.diff(law) >= 0)
    assert law[-1] == pytest.approx(1)


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


def test_projected_memory_has_its_rank_and_its_signs_have_one_bit() -> None:
    pairs = memory.draw(generators(2), associations=40, dim=12)
    basis = memory.subspaces(generators(2), dim=12, width=5)
    assert torch.allclose(basis.mT @ basis, torch.eye(5, dtype=basis.dtype).expand(2, 5, 5))
    projected = memory.low_rank(memory.hebbian(pairs), basis)
    assert torch.linalg.matrix_rank(projected).tolist() == [5, 5]
    assert set(memory.one_bit(memory.hebbian(pairs)).flatten().tolist()) == {-1.0, 1.0}
