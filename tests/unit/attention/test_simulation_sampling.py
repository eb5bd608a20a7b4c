from typing import Any

import pytest
import torch
from scipy import stats

from simulation import embeddings as embeddings_module
from simulation.attention import sampling
from tests.unit.draws import generators, informative

SIZES: dict[str, Any] = {"vocab_size": 12, "length": 5, "samples": 36, "dim": 14}
FIELDS = ("z", "u", "trigger", "query", "permutation", "tokens", "positions", "labels")


@pytest.mark.parametrize("embeddings", ["sphere", "gaussian", "orthonormal"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tables_drawn_in_tiles_are_those_drawn_at_once(
    embeddings: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SIZES | {"embeddings": embeddings}
    whole = sampling.draw(generators(2), **options)
    monkeypatch.setattr(embeddings_module, "_TILE", 3 * SIZES["dim"] + 1)
    tiled = sampling.draw(generators(2), **options, dtype=dtype)
    for name in ("z", "u", "trigger", "query"):
        assert torch.equal(getattr(tiled, name), getattr(whole, name).to(dtype))


def test_facts_count_beyond_a_byte() -> None:
    facts = sampling.draw_facts(generators(2), vocab_size=3, samples=2000, dim=4)
    assert facts.counts.sum(1).tolist() == [2000.0] * 2
    assert bool(((facts.counts > 500) & (facts.counts < 850)).all())


def test_tokens_and_positions_are_uniform() -> None:
    batch = sampling.draw(generators(1), **SIZES | {"samples": 20_000})
    for values, size in ((batch.tokens, 12), (batch.positions, 5), (batch.labels, 12)):
        counts = torch.bincount(values.flatten(), minlength=size).numpy()
        assert stats.chisquare(counts).pvalue > 1e-6


def test_balanced_shows_every_label_equally_often() -> None:
    batch = sampling.draw(generators(2), **SIZES, balanced=True)
    for labels in batch.labels:
        assert torch.bincount(labels).tolist() == [3] * 12
    facts = sampling.draw_facts(generators(1), vocab_size=4, samples=8, dim=3, balanced=True)
    assert facts.counts.tolist() == [[2.0] * 4]


def test_sphere_vectors_are_uniform_unit_vectors() -> None:
    batch = sampling.draw(generators(1), **SIZES | {"vocab_size": 4000, "dim": 5})
    vectors = torch.cat([batch.z[0], batch.u[0], batch.trigger])
    assert torch.allclose(vectors.norm(dim=1), torch.ones(len(vectors), dtype=torch.float64))
    # A coordinate x of a uniform unit vector in 5 dimensions: (1 + x)/2 is Beta(2, 2).
    assert stats.kstest((1 + vectors[:, 2].numpy()) / 2, stats.beta(2, 2).cdf).pvalue > 1e-6


def test_gaussian_vectors_have_variance_one_over_d() -> None:
    batch = sampling.draw(generators(1), **SIZES | {"vocab_size": 2000}, embeddings="gaussian")
    for vectors in (batch.z, batch.u):
        scaled = (vectors * 14**0.5).flatten().numpy()
        assert stats.kstest(scaled, stats.norm.cdf).pvalue > 1e-6


def test_orthonormal_vectors() -> None:
    batch = sampling.draw(generators(1), **SIZES, embeddings="orthonormal")
    inputs = torch.cat([batch.z[0], batch.trigger, batch.query])
    assert torch.equal(inputs @ inputs.T, torch.eye(14, dtype=torch.float64))
    assert torch.equal(batch.u[0] @ batch.u[0].T, torch.eye(12, dtype=torch.float64))


@pytest.mark.parametrize("embeddings", ["sphere", "gaussian", "orthonormal"])
def test_the_query_has_unit_norm(embeddings: str) -> None:
    query = sampling.draw(generators(3), **SIZES, embeddings=embeddings).query
    assert torch.allclose(query.norm(dim=1), torch.ones(3, dtype=torch.float64))


def test_dtype_and_device_change_no_draw() -> None:
    batch = sampling.draw(generators(1), **SIZES)
    single = sampling.draw(generators(1), **SIZES, dtype=torch.float32)
    assert single.z.dtype == single.trigger.dtype == torch.float32
    assert single.tokens.dtype == torch.int64
    assert torch.equal(single.z, batch.z.to(torch.float32))
    assert torch.equal(single.tokens, batch.tokens)
    moved = sampling.draw(generators(1), **SIZES, device="meta")
    assert {getattr(moved, name).device.type for name in FIELDS} == {"meta"}


def test_labels_are_the_permuted_informative_tokens_and_fresh_ones_keep_the_vocabulary() -> None:
    batch = sampling.draw(generators(2), **SIZES, trigger_in_values=True)
    assert all(row.sort().values.equal(torch.arange(12)) for row in batch.permutation)
    fresh = sampling.fresh(batch, generators(2, seed=1), samples=7)
    assert fresh.z is batch.z
    assert fresh.trigger_in_values
    assert fresh.tokens.shape == (2, 7, 5)
    for drawn in (batch, fresh):
        tokens = informative(drawn.tokens, drawn.positions)
        assert torch.equal(drawn.labels, batch.permutation.gather(1, tokens))
