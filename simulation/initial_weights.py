"""Initial weights, as in the released code of paper B."""

import math

import torch

from simulation.streams import Streams

_DEVIATION = 0.87962566103423978
"""Standard deviation of a standard normal variable cut at -2 and 2."""


def lecun_normal(streams: Streams, rows: int, columns: int) -> torch.Tensor:
    """Draw normal variables cut at 2 standard deviations, of variance 1 / rows: (R, rows, columns).

    >>> import numpy as np
    >>> weights = lecun_normal(Streams([np.random.default_rng(0)]), 4, 10000)
    >>> round(float(weights.std()), 2), float(weights.abs().max()) < 1 / _DEVIATION
    (0.5, True)
    """
    high = math.erf(math.sqrt(2))
    uniform = streams.uniform(rows, columns).mul_(2 * high).sub_(high)
    return uniform.erfinv_().mul_(math.sqrt(2) / (_DEVIATION * math.sqrt(max(rows, 1))))
