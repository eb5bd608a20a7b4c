r"""MLP memories of bilinear features, :math:`\phi(x) = (A_0x)\odot(A_1x)/\sqrt m`, written at once.

The readout is the sum of outer products of values and features (arXiv 2607.10034, released code:
"unwhitened") or, whitened, the least squares of the values on them, which for fewer neurons than
keys projects the values onto the features' m dimensions.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from simulation.embeddings import unit_vectors

Floats = npt.NDArray[np.float64]


def features(rng: np.random.Generator, keys: Floats, width: int) -> Floats:
    """Bilinear features (N, m) of keys (N, d), of normal weights.

    Raises ValueError for less than 1 neuron.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1 neuron")
    first, second = rng.standard_normal((2, keys.shape[1], width))
    made: Floats = (keys @ first) * (keys @ second) / math.sqrt(width)
    return made


def readout(values: torch.Tensor, stored: torch.Tensor, *, whitened: bool = False) -> torch.Tensor:
    """The weights (d, m) that answer ``values`` (N, d) to features (N, m).

    >>> square = torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()
    >>> values = torch.eye(2).double()
    >>> torch.allclose(square @ readout(values, square, whitened=True).T, values)
    True
    """
    if whitened:
        solved: torch.Tensor = torch.linalg.lstsq(stored, values, driver="gels").solution
        return solved.T
    return values.T @ stored


def answered(
    rngs: Sequence[np.random.Generator],
    *,
    associations: int,
    dim: int,
    width: int,
    whitened: bool,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """How well a memory of each generator answers its keys: ``accuracy``, and ``margin``, the
    smallest of N own scores less the largest rival's, (R,).

    Raises ValueError for fewer than 2 associations, and as `features`.
    """
    if associations < 2:
        raise ValueError(f"{associations} associations: a memory needs at least 2 to choose from")
    found = []
    for rng in rngs:
        keys, outputs = (unit_vectors(rng, associations, dim) for _ in range(2))
        stored, values = (
            torch.from_numpy(table).to(device, dtype)
            for table in (features(rng, keys, width), outputs)
        )
        scores = stored @ readout(values, stored, whitened=whitened).T @ values.T
        own = scores.diagonal().clone()
        lead = own - scores.fill_diagonal_(-torch.inf).amax(1)
        found.append(torch.stack([(lead > 0).to(dtype).mean(), lead.min()]))
    accuracy, margin = torch.stack(found, 1)
    return {"accuracy": accuracy, "margin": margin}
