r"""MLP memories of bilinear features, :math:`\phi(x) = (A_0x)\odot(A_1x)/\sqrt m`.

Here x is one of N keys in d dimensions, and :math:`A_0, A_1` are random matrices (m, d). The
readout is the sum of outer products of values and features (arXiv 2607.10034, "unwhitened" in the
released code), or, whitened, the least-squares fit of the values.
"""

import math

import torch

from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams
from simulation.tiles import groups


def features(streams: Streams, keys: torch.Tensor, width: int) -> torch.Tensor:
    """Compute bilinear features (R, N, m) of ``keys`` (R, N, d), with random normal weights.

    Raises ValueError if ``width``, m, is below 1.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1 neuron")
    first, second = streams.normal(2, keys.shape[2], width).unbind(1)
    return (keys @ first) * (keys @ second) / math.sqrt(width)


def readout(values: torch.Tensor, stored: torch.Tensor, *, whitened: bool = False) -> torch.Tensor:
    """Compute weights (..., d, m) that map features ``stored`` (..., N, m) to values (..., N, d).

    >>> square = torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()
    >>> values = torch.eye(2).double()
    >>> torch.allclose(square @ readout(values, square, whitened=True).T, values)
    True
    """
    if whitened:
        gram = stored.mT @ stored
        gram.diagonal(dim1=-2, dim2=-1).mul_(1 + torch.finfo(gram.dtype).eps ** 0.75)
        return torch.cholesky_solve(stored.mT @ values, torch.linalg.cholesky_ex(gram)[0]).mT
    return values.mT @ stored


def answered(
    rngs: Rngs,
    *,
    associations: int,
    dim: int,
    width: int,
    whitened: bool,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Test a memory from each generator: ``accuracy`` and smallest ``margin``, both (R,).

    A margin is the score of a key's own value minus the largest score of another value.

    Raises ValueError if ``associations`` is below 2 or ``width`` below 1.
    """
    if associations < 2:
        raise ValueError(f"{associations} associations: a memory needs at least 2 to choose from")
    streams = Streams(rngs, device, dtype)
    with streams.together():
        keys, values = (unit_vectors(streams, associations, dim) for _ in range(2))
    stored = features(streams, keys, width)
    found = []
    for r in groups(len(rngs), associations**2, keys):
        weights = readout(values[r], stored[r], whitened=whitened)
        scores = stored[r] @ weights.mT @ values[r].mT
        own = scores.diagonal(dim1=1, dim2=2).clone()
        scores.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
        lead = own - scores.amax(2)
        found.append(torch.stack([(lead > 0).to(dtype).mean(1), lead.amin(1)]))
    accuracy, margin = torch.cat(found, 1)
    return {"accuracy": accuracy, "margin": margin}
