"""Samples, the three steps, and two layers, compared with loops and with each other."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy import stats

from simulation.attention import contractions, relaxed, sampling, three_steps, two_layers
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import generators, informative


def test_orthonormal_scores_tie_to_rounding_or_not_at_all() -> None:
    sizes: dict[str, Any] = {"vocab_size": 40, "length": 6, "samples": 5, "dim": 42}
    sizes |= {"embeddings": "orthonormal", "trigger_in_values": True}
    batch = sampling.draw(generators(1000, seed=9), **sizes)
    scores = three_steps.token_scores(batch)
    difference = (
        scores.theta[:, :, None] + scores.trigger[:, None, None] - scores.theta[:, None]
    ).abs() / scores.rounding[:, None, None]
    ties = difference < 1
    assert bool(ties.any())
    assert float(difference[ties].max()) < 0.1
    assert float(difference[~ties].min()) > 1e6


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("samples", [20, 8000])  # gathered, and counted beyond a byte
def test_tiles_change_no_inner_product_and_no_sum(
    samples: int, sparse: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contractions, "SPARSE", sparse and contractions.SPARSE)
    batch = sampling.draw(
        generators(3, seed=2), vocab_size=50, length=6, samples=samples, dim=10, dtype=dtype
    )
    sequences = contractions.by_label(batch)
    tokens = batch.z.flatten(0, 1)[sequences.tokens]
    products = (tokens * batch.u.flatten(0, 1)[sequences.labels][:, None]).sum(2)
    sums = torch.zeros(150, 10, dtype=dtype).index_add_(0, sequences.labels, tokens.sum(1))
    for tile in (1, 170, 5001, 2**18):
        with patch.dict(TILE_ELEMENTS, cpu=tile):
            product = contractions.inner_products(batch.z, batch.u, sequences)
            total = contractions.sum_by_label(batch.z, sequences.tokens, sequences.counts)
        eps = torch.finfo(dtype).eps
        assert torch.allclose(product, products, rtol=0, atol=45 * eps)
        assert torch.allclose(total.flatten(0, 1), sums, rtol=0, atol=9000 * eps)


def test_a_token_is_counted_however_often_it_stands_beside_a_label() -> None:
    table = torch.tensor([[[1.0, -3.0], [0.5, 2.0]]], dtype=torch.float64)
    counts = torch.tensor([[200, 20_000]])
    tokens = torch.tensor([[0, 0, 1, 0]] * 200 + [[1, 1, 1, 1]] * 19_999 + [[0, 1, 1, 1]])
    wanted = torch.stack([table[0][part].sum((0, 1)) for part in (tokens[:200], tokens[200:])])
    assert torch.equal(contractions.sum_by_label(table, tokens, counts)[0], wanted)


SIZES: dict[str, Any] = {"vocab_size": 12, "length": 5, "samples": 36, "dim": 14}


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
    vectors = torch.cat([batch.z[0], batch.u[0], batch.trigger, batch.query])
    assert torch.allclose(vectors.norm(dim=1), torch.ones(len(vectors), dtype=torch.float64))
    # A coordinate x of a uniform unit vector in 5 dimensions: (1 + x)/2 is Beta(2, 2).
    assert stats.kstest((1 + vectors[:, 2].numpy()) / 2, stats.beta(2, 2).cdf).pvalue > 1e-6


def test_gaussian_vectors_have_variance_one_over_d() -> None:
    batch = sampling.draw(generators(1), **SIZES | {"vocab_size": 2000}, embeddings="gaussian")
    for vectors in (batch.z, batch.u):
        scaled = (vectors * 14**0.5).flatten().numpy()
        assert stats.kstest(scaled, stats.norm.cdf).pvalue > 1e-6
    assert float(batch.query.norm()) == pytest.approx(1)


def test_orthonormal_vectors() -> None:
    batch = sampling.draw(generators(1), **SIZES, embeddings="orthonormal")
    inputs = torch.cat([batch.z[0], batch.trigger, batch.query])
    assert torch.equal(inputs @ inputs.T, torch.eye(14, dtype=torch.float64))
    assert torch.equal(batch.u[0] @ batch.u[0].T, torch.eye(12, dtype=torch.float64))


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


def drawn(samples: int = 9) -> tuple[sampling.Batch, list[np.random.Generator]]:
    rngs = [np.random.default_rng(r) for r in range(3)]
    return sampling.draw(rngs, vocab_size=12, length=4, samples=samples, dim=6), rngs


def looked(
    keys: list[torch.Tensor], values: list[torch.Tensor], weights: torch.Tensor, query: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores of the keys, and the output of softmax attention."""
    scores = torch.stack(keys) @ weights @ query
    return scores, torch.softmax(scores, 0) @ torch.stack(values)


def test_the_passes_are_those_of_loops_over_positions() -> None:
    batch, rngs = drawn()
    memory, *attention = torch.from_numpy(np.stack([rngs[0].normal(size=(3, 6, 6)) for _ in "123"]))
    found = two_layers.forward(batch, memory, attention)
    for r, n in ((0, 0), (2, 7)):
        streams = [batch.z[r, token] for token in batch.tokens[r, n]]
        query = batch.query[r]
        for layer, weights in enumerate(attention):
            keys = list(streams)
            place = int(batch.positions[r, n])
            keys[place] = keys[place] + batch.trigger[r]
            seen = [looked(keys, streams, weights[r], key)[1] for key in keys]
            scores, written = looked(keys, streams, weights[r], query)
            torch.testing.assert_close(found.scores[layer][r, n], scores)
            streams = [x + memory[r] @ y for x, y in zip(streams, seen, strict=True)]
            query = query + memory[r] @ written
        torch.testing.assert_close(found.written[r, n], query - batch.query[r])


def test_a_small_value_step_makes_both_layers_the_theorems() -> None:
    batch, rngs = drawn(samples=40)
    first, second = two_layers.localised(batch, rngs, written=1e-7)
    batch, rngs = drawn(samples=40)
    test = sampling.fresh(batch, rngs, samples=two_layers.FRESH)
    one = three_steps.attend(test, three_steps.token_scores(batch)).informative
    torch.testing.assert_close(first, one.to(first.dtype).mean(1))
    torch.testing.assert_close(second, first)


def test_embeddings_that_do_not_move_are_fixed_ones() -> None:
    batch, rngs = drawn(samples=40)
    still = relaxed.learned_embeddings(batch, rngs, share=0.0)
    batch, rngs = drawn(samples=40)
    torch.testing.assert_close(still, relaxed.localised(batch, rngs))


def test_learned_embeddings_follow_the_gradient_of_the_true_loss() -> None:
    """Inputs move along minus an explicit loss's gradient, on average by 0.3 of their length."""
    batch, _ = drawn()
    memory = 1e-3 * three_steps.value_memory(batch)

    z, total = batch.z.clone().requires_grad_(), torch.zeros((), dtype=torch.float64)
    for r in range(3):
        logits = z[r][batch.tokens[r]].mean(1) @ memory[r].mT @ batch.u[r].mT
        total = total + torch.nn.functional.cross_entropy(logits, batch.labels[r])
    (gradient,) = torch.autograd.grad(total, z)
    moved = relaxed.moved(batch, share=0.3)
    move = moved.z - batch.z
    expected = -gradient / gradient.norm(dim=2).mean(1)[:, None, None]
    torch.testing.assert_close(move, 0.3 * batch.z.norm(dim=2).mean(1)[:, None, None] * expected)
    assert not torch.equal(moved.u, batch.u)


def test_tokens_overlap_along_the_query_and_the_trigger_does_not() -> None:
    batch, _ = drawn()
    found = relaxed.correlated(batch, overlap=0.36)
    sums = 0.8 * batch.z + 0.6 * batch.query[:, None]
    torch.testing.assert_close(found.z, sums / sums.norm(dim=2, keepdim=True))
    assert found.trigger is batch.trigger


def test_zipf_tokens_in_training_and_testing() -> None:
    (batch, rngs), law = drawn(samples=4000), 1 / np.arange(1, 13)
    with (
        patch.object(three_steps, "token_scores") as trained,
        patch.object(relaxed, "_found") as on,
    ):
        relaxed.zipf(batch, rngs, power=1.0)
    for sequences in (trained.call_args.args[0].tokens, on.call_args.args[0].tokens):
        counts = np.bincount(sequences.flatten(), minlength=12)
        assert stats.chisquare(counts, law / law.sum() * counts.sum()).pvalue > 1e-6
