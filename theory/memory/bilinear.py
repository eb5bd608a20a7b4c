r"""MLP memories of bilinear features, plain and whitened: how much a neuron stores.

The memory has N keys and N values, uniform on the unit sphere of $R^d$, and the features
$\phi(x) = (A_0x)\odot(A_1x)/\sqrt m$ of independent standard normal $A_0, A_1$. With the readout
$\sum_t v_t\phi(x_t)^\top$ the accuracy depends, as in `mlp`, on the overlaps
$K_{xy}=\phi(x)^\top\phi(y)$. $K_{xx}$ has mean 1 and variance $8/m$, as a product of two normals
has the fourth moment 9. Given the cosine t of two keys, $K_{xy}$ has mean $t^2$ and variance
$((1+2t^2)^2-t^4)/m$, so that

$$ T^2 = E K_{xy}^2 = q + \frac1m\Big(1+\frac4d+3q\Big),\qquad q = Et^4 = \frac3{d(d+2)} . $$

As m grows, $K_{xy}$ tends to $t^2$, and $T^2$ to q. To leading order the smallest of N margins is

$$ \gamma = C_s - C_x\sqrt{\frac{N\log N^2}{md}\Big(1+\frac{3m}{d^2}\Big)},\qquad C_s=1,\ C_x=2 ,
$$

since the N(N - 1) differences of two scores have the variance $2NT^2/d$. The published form lacks
the bracket, and its constants are fitted.

A *whitened* readout is fitted by least squares. Its K is a projection of $R^N$ onto m dimensions,
so that $\sum_yK_{xy}^2 = K_{xx}$, of mean $\rho=m/N$. In this sum $K_{xx}^2$ is the signal,
and the rest cross talk. Per rival, cross talk over signal is

$$ T^2 = \frac1N\Big(\frac1\rho-1\Big) = \frac1m-\frac1N . $$

As above, $K_{xx}$ varies with $|\phi(x)|^2$, and cross talk with $K_{xx}$. From m = N on every
answer is right, and m < N neurons store about m more facts than with the plain readout.
"""

import math
from functools import lru_cache

import numpy as np

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing
from theory.memory import mlp

_SOURCE = "arXiv 2607.10034, G5; constants derived"
_LEADS = 60

SIZES = Regime(
    "d from 16 on, m from 64 to d^2/4, the memory whitened where m < 0.9 N",
    {
        "associations": log_range(96, 2048),
        "dim": log_range(16, 128),
        "width": log_range(64, 2048),
        "whitened": (False, True),
    },
    holds=lambda cell: (
        4 * cell["width"] <= cell["dim"] ** 2
        and (not cell["whitened"] or cell["width"] < 0.9 * cell["associations"])
    ),
)
"""Regime in which `accuracy` states its error: m < 0.9 N if whitened, and any N if plain."""
WHITENED = Regime(
    "d from 32 to 128, whitened, N from 2 d to d^2/2",
    {
        "associations": log_range(96, 2048),
        "dim": log_range(32, 128),
        "whitened": True,
    },
    holds=lambda cell: 2 * cell["dim"] <= cell["associations"] <= cell["dim"] ** 2 / 2,
)
"""Regime in which `half_width` states its error."""
MARGINS = Regime(
    "d from 32 on, m from 96 to d^2/4, N log(N) (1/m + 3/d^2) below d/5, so that few margins are "
    "below 0",
    {
        "associations": log_range(64, 1024),
        "dim": log_range(32, 128),
        "width": log_range(96, 2048),
    },
    holds=lambda cell: (
        4 * cell["width"] <= cell["dim"] ** 2
        and 5 * cell["associations"] * math.log(cell["associations"])
        <= cell["dim"] / (1 / cell["width"] + 3 / cell["dim"] ** 2)
    ),
)
"""Regime in which `smallest_margin` states its error."""


def overlaps(associations: float, dim: int, width: float, whitened: bool) -> mlp.FeatureLaw:
    """Law of the features, for the formulas of `mlp`.

    Raises:
        ValueError: fewer than 1 neuron or 3 dimensions, or a whitened memory with at least as many
            neurons as associations, which interpolates.
    """
    if width < 1 or dim < 3 or (whitened and width >= associations):
        raise ValueError(
            f"width {width}, dim {dim}, {associations} associations: give at least 1 neuron and 3 "
            "dimensions, and fewer neurons than associations where the memory is whitened"
        )
    if whitened:
        return mlp.FeatureLaw(wide=-1 / associations, lost=0.0, power=8.0)
    quartic = 3 / (dim * (dim + 2))
    wide = quartic + (4 / dim + 3 * quartic) / width
    return mlp.FeatureLaw(wide=wide, lost=0.0, power=8.0)


@prediction(
    latex=r"\mathrm{Acc}\left(T^2\right),\quad T^2=\frac1m\left(1+\frac4d+3q\right)+q\ "
    r"\text{or}\ \frac1m-\frac1N",
    source=_SOURCE,
    error=0.04,
    regime=SIZES,
)
def accuracy(*, associations: float, dim: int, width: float, whitened: bool) -> float:
    """Mean share of right answers: 1 if whitened and m >= N.

    Stated error: {error}. The formula is mostly too high: feature norms are more skewed than a
    gamma law.

    Raises:
        ValueError: fewer than 1 neuron or 3 dimensions.
    """
    if whitened and width >= associations and dim >= 3:
        return 1.0
    law = overlaps(associations, dim, width, whitened)
    return 1 - mlp.failures(associations, associations, dim, width, law)


def neurons_alone(*, associations: int, dim: int, width: float) -> float:
    """Accuracy if the overlaps' variance were 1/m, as in the published form."""
    law = mlp.FeatureLaw(wide=0.0, lost=0.0, power=8.0)
    return 1 - mlp.failures(associations, associations, dim, width, law)


@prediction(
    latex=r"E\gamma=-3+\int_{-3}^1P(\gamma>g)\,dg,\quad P(\gamma>g)=e^{-N(1-\mathrm{Acc}_g)}",
    source=_SOURCE,
    error=0.04,
    regime=MARGINS,
)
def smallest_margin(*, associations: int, dim: int, width: float) -> float:
    """Mean of the smallest margin (own score minus largest rival score) of a plain memory.

    In the LaTeX, Acc_g is the share of keys with a margin above g. Keys with a margin below g are
    few and nearly independent. Margins below -3 count as -3.

    Stated error: {error}. The formula is mostly too high, as overlaps are not quite normal. At
    small m the overlaps with one key are sums of m products of normals, with an excess kurtosis of
    54/m. At m of the order of d^2 and above, overlaps are squares of cosines. Outside the regime,
    at N = 64 and d = 32, the formula is too high by 0.04 at m = 48 and at m = 4 d^2.

    Raises:
        ValueError: as in `overlaps`.
    """
    law = overlaps(associations, dim, width, False)
    leads = np.linspace(-3.0, 1.0, _LEADS)
    below = [mlp.failures(associations, associations, dim, width, law, lead) for lead in leads]
    return float(-3.0 + np.trapezoid(np.exp(-associations * np.array(below)), leads))


def leading_margin(
    associations: int, dim: int, width: float, signal: float = 1.0, cross_talk: float = 2.0
) -> float:
    """Published form of the smallest margin, with the constants to leading order."""
    log_pairs = 2 * math.log(associations)
    return signal - cross_talk * math.sqrt(associations * log_pairs / (width * dim))


@prediction(
    latex=r"\mathrm{Acc}(m_{1/2})=\frac12",
    source=_SOURCE,
    error="6%",
    regime=WHITENED,
)
@lru_cache(maxsize=1024)
def half_width(*, associations: int, dim: int, whitened: bool) -> float:
    """Number of neurons, real, at which half of the answers are right.

    Infinite if no number suffices, 0 if below 1. Stated error of a whitened memory: {error}. A
    plain memory can need 10% more neurons.

    Raises:
        ValueError: fewer than 3 dimensions.
    """
    return crossing.log_root(
        lambda width: accuracy(associations=associations, dim=dim, width=width, whitened=whitened),
        1.0,
        associations if whitened else 1e6,
        level=0.5,
        tolerance=1e-6,
    )
