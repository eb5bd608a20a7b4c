from typing import Any
from unittest.mock import patch

import pytest
import torch

from simulation.attention import contractions, sampling, three_steps
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import generators


def test_orthonormal_scores_tie_to_rounding_or_not_at_all() -> None:
    sizes: dict[str, Any] = {"vocab_size": 40, "length": 6, "samples": 5, "dim": 42}
    sizes |= {"embeddings": "orthonormal", "trigger_in_values": True}
    batch = sampling.draw(generators(200, seed=9), **sizes)
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
    wanted = [[0.0, 0.0], [0.0, 0.0]]
    for label, row in zip([0] * 200 + [1] * 20_000, tokens.tolist(), strict=True):
        for token in row:
            for axis in range(2):
                wanted[label][axis] += table[0, token, axis].item()
    assert contractions.sum_by_label(table, tokens, counts)[0].tolist() == wanted


def test_single_precision_follows_double() -> None:
    sizes: dict[str, Any] = {"vocab_size": 64, "length": 8, "samples": 500, "dim": 16}
    double, single = (
        three_steps.token_scores(sampling.draw(generators(1, seed=4), **sizes, dtype=dtype))
        for dtype in (torch.float64, torch.float32)
    )
    assert single.theta.dtype == torch.float32
    scale = float(double.theta.abs().max())
    assert torch.allclose(single.theta.double(), double.theta, rtol=0, atol=1e-4 * scale)
