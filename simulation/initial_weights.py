"""Initial weights, as the released code of paper B draws them."""

import math

import numpy as np
import numpy.typing as npt
import torch

_DEVIATION = 0.87962566103423978
"""Standard deviation of a normal variable cut at two."""


def lecun_normal(rng: np.random.Generator, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Normal variables cut at two standard deviations, scaled to variance 1 / shape[0].

    >>> weights = lecun_normal(np.random.default_rng(0), (4, 1000))
    >>> round(float(weights.std()), 2), float(abs(weights).max()) < 1 / _DEVIATION
    (0.5, True)
    """
    low, high = math.erf(-math.sqrt(2)), math.erf(math.sqrt(2))
    uniform = torch.from_numpy(rng.uniform(low, high, shape))
    cut = math.sqrt(2) * torch.erfinv(uniform)
    values: npt.NDArray[np.float64] = (cut / (_DEVIATION * math.sqrt(max(shape[0], 1)))).numpy()
    return values
