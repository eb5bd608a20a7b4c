"""theory.memory.linear against a plain simulation, its limits and quadrature."""

import numpy as np
import pytest

from tests.unit.draws import unit_vectors
from theory.memory import linear as memory


def test_full_rank_is_no_projector() -> None:
    assert memory.low_rank_accuracy(100, 32, 32) == memory.linear_memory_accuracy(100, 32)
    assert memory.low_rank_accuracy(100, 32, 31.9) == pytest.approx(
        memory.linear_memory_accuracy(100, 32), abs=0.005
    )


@pytest.mark.parametrize(
    ("sizes", "error"),
    [([(30, 16), (128, 34), (1600, 128)], 1e-3), ([(16384, 512), (131072, 1664)], 1.5e-3)],
)
def test_more_quadrature_nodes_change_nothing(
    sizes: list[tuple[int, int]], error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.recalled.cache_clear()
    coarse = [memory.linear_memory_accuracy(*size) for size in sizes]
    for name, count in {"_SCORE": 90, "_COSINE": 36, "_COEFFICIENT": 20, "_LENGTH": 9}.items():
        monkeypatch.setattr(memory, f"{name}_NODES", count)
    memory.recalled.cache_clear()
    assert [memory.linear_memory_accuracy(*size) for size in sizes] == pytest.approx(
        coarse, abs=error
    )
    memory.recalled.cache_clear()


@pytest.mark.parametrize("associations", [64, 512])
def test_thresholds_solve_their_equations(associations: int) -> None:
    assert memory.linear_memory_accuracy(
        associations, memory.half_dim(associations)
    ) == pytest.approx(0.5)
    whole = memory.all_dim(associations)
    assert memory.all_recalled(associations, whole) == pytest.approx(0.5, abs=1e-4)
    assert memory.capacity(whole) == pytest.approx(associations, rel=1e-3)
    rank = memory.half_rank(associations, 256)
    assert memory.low_rank_accuracy(associations, 256, rank) == pytest.approx(0.5, abs=1e-4)


def test_thresholds_are_near_their_leading_order() -> None:
    assert 0.9 < memory.half_dim(10**5) / memory.half_dim_asymptotic(10**5) < 1
    assert 0.9 < memory.all_dim(10**5) / memory.all_dim_asymptotic(10**5) < 1
    assert memory.all_dim_asymptotic(99) == pytest.approx(2 * memory.half_dim_asymptotic(99))
    small, large = (
        memory.half_rank(n, dim) * dim / memory.half_dim(n) ** 2
        for n, dim in ((10**3, 256), (10**5, 2560))
    )
    assert 1 < large < small < 1.3, "the parameters m d of a low rank tend to d^2"


@pytest.mark.parametrize(("associations", "dim"), [(5, 4), (9, 5), (17, 9)])
def test_few_associations_are_recalled_a_little_less_often(associations: int, dim: int) -> None:
    rng = np.random.default_rng(5)
    keys, values = (unit_vectors(rng, 20_000, associations, dim) for _ in range(2))
    scores = (values @ values.mT) @ (keys @ keys.mT)
    share = (scores.argmax(1) == np.arange(associations)).mean()
    assert 0.005 < memory.linear_memory_accuracy(associations, dim) - share < 0.03


@pytest.mark.parametrize("dim", [12, 34, 96])
def test_how_many_rivals_score_less_has_a_law_where_chances_round_to_one(dim: int) -> None:
    law = memory.rivals_below(32, dim)(np.arange(32.0))
    assert np.all(np.diff(law) >= 0)
    assert law[-1] == pytest.approx(1)
