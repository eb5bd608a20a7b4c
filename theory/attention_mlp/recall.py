r"""Recall through the random layer: accuracy, harmonic capacity law, and cost of an offset.

As in `theory.attention.recall`, with features $f_v = \phi(W(z_v + \tau z_{trig}))/\sqrt m$ instead
of the values. Recall depends only on the mean $q$ of $f_v^\top f_v$ and the mean $\kappa_0$ and
variance $T^2$ of $f_w^\top f_v$,

$$ T^2 = \Big(1-\frac1m\Big)K_d + \frac{q\,\tau_\phi^2}{m}, \qquad
   K_d = \mathrm{Var}_\rho\sum_k a_k^2\rho^k , $$

$\rho$ the overlap of two embeddings, $a_k$ the Hermite coefficients of $\phi$ (`activations`) and
$\tau_\phi^2$ its variance. $K_d$ is the variance for a wide layer, and the rest is the sampling
noise of m neurons. These two variances add up, so the capacities that they allow add harmonically.
With the trigger in the values all pre-activations share $\omega = w^\top z_{trig}$, and
$\tau_\phi^2$ is the mean over $\omega$ of the variance of $\phi$ given $\omega$.

The noise of few neurons is skewed: given the weights, $f_w^\top f_v$ has the third cumulant
$E_\omega\,E\phi^3\kappa_3(\phi)/m^2$, with $\kappa_3$ the third cumulant. At $d \ge V$, where no
other noise hides this skewness, it shifts the largest of V - 1 competing scores.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from recall_claims import Regime, log_range, prediction
from theory.attention import recall
from theory.attention.problem import SIZES
from theory.attention_mlp import activations
from theory.attention_mlp.problem import MlpProblem
from theory.laws import crossing, quadrature, spectra, sphere
from theory.laws.quadrature import Array

REGIME = SIZES.searched(
    "V >= 128, m >= 32, d >= 16, N >= V",
    holds=lambda cell: cell["dim"] >= 16 and cell["samples"] >= cell["vocab_size"],
    samples=log_range(128, 65536),
    width=log_range(32, 4096),
    activation=("relu", "gelu", "tanh"),
    without=("length", "trigger_in_values"),
)
"""Regime in which `mlp_recall_accuracy` states its error, without He2; `STATED` adds He2."""
STATED = REGIME.searched(activation=("relu", "gelu", "tanh", "he2"))
_WIDE = {"relu": (1.0, 2), "gelu": (1.0, 2), "tanh": (0.62, 2), "he2": (0.26, 3)}
_NARROW = {"relu": 0.3, "gelu": 0.37, "tanh": 0.45, "he2": 0.42}
_OFFSET = {"relu": 0.22, "gelu": 0.053, "tanh": 0.0, "he2": 0.0}
"""Constants of regimes, rounded, as a regime must not depend on the law that is tested in it. At
capacity V log V is factor * d^power (`_WIDE`) for large widths, and factor * m d (`_NARROW`) for
small. `_OFFSET`: ((E phi)^2 / Var phi)^2."""


def _harmonic(cell: Mapping[str, Any]) -> float:
    factor, power = _WIDE[cell["activation"]]
    narrow = _NARROW[cell["activation"]] * cell["width"] * cell["dim"]
    return float(1 / (1 / (factor * cell["dim"] ** power) + 1 / narrow))


def _load(cell: Mapping[str, Any]) -> float:
    """Samples per token for half accuracy, roughly: within 25% of `critical_samples` / V."""
    asked = cell["vocab_size"] * math.log(cell["vocab_size"])
    left = 1 - asked / _harmonic(cell)
    offset = 2 * _OFFSET[cell["activation"]] / cell["dim"]
    return float(asked * (1 / _harmonic(cell) + offset) / left) if left > 0 else math.inf


def _width(cell: Mapping[str, Any]) -> float:
    """Width for half accuracy, roughly: 0.8 to 1.4 times `critical_width`."""
    load = cell["samples"] / cell["vocab_size"]
    asked = cell["vocab_size"] * math.log(cell["vocab_size"]) * (1 + 1 / load)
    factor, power = _WIDE[cell["activation"]]
    left = 1 - asked / (factor * cell["dim"] ** power)
    narrow = _NARROW[cell["activation"]] * cell["dim"]
    return float(asked / narrow / left) if left > 0 else math.inf


def _doubled(cell: Mapping[str, Any]) -> float:
    """Product V log V at twice the vocabulary."""
    return float(2 * cell["vocab_size"] * math.log(2 * cell["vocab_size"]))


CAPACITY = Regime(
    "balanced data, d >= 24, m >= 32 and at least 2 d/3; V log V of 300 to 2750 by a harmonic law "
    "with rounded constants, so that capacities are 64 to 512",
    {
        "dim": log_range(24, 256),
        "width": log_range(32, 4096),
        "activation": ("relu", "gelu", "tanh", "he2"),
    },
    holds=lambda cell: 3 * cell["width"] >= 2 * cell["dim"] and 300 <= _harmonic(cell) <= 2750,
)
"""Regime in which `capacity` states its error."""
SAMPLES = SIZES.searched(
    "m >= 32 and at least 2 d/3, d >= 24, V up to half the capacity, N_c of at least 6 V, all by "
    "the rounded law",
    holds=lambda cell: (
        3 * cell["width"] >= 2 * cell["dim"]
        and _doubled(cell) <= _harmonic(cell)
        and 6 <= _load(cell) <= 2**16 / cell["vocab_size"]
    ),
    dim=log_range(24, 256),
    width=log_range(32, 4096),
    activation=("relu", "gelu", "tanh", "he2"),
    samples=(1,),
    without=("length", "trigger_in_values"),
)
"""Regime in which `critical_samples` states its error."""
WIDTH = SIZES.searched(
    "activations without a mean, d >= 24, V up to half the capacity at infinite width, N >= 4 V, "
    "m_c of at least 32 and 2 d/3, all by the rounded law",
    holds=lambda cell: (
        cell["samples"] >= 4 * cell["vocab_size"]
        and _doubled(cell) <= _harmonic({**cell, "width": 1e9})
        and max(32, 2 / 3 * cell["dim"]) <= _width(cell) <= 4096
    ),
    samples=log_range(256, 16384),
    dim=log_range(24, 256),
    activation=("he2",),
    width=(1,),
    without=("length", "trigger_in_values"),
)
"""Regime in which `critical_width` states its error."""

Number = TypeVar("Number", float, Array)

_SOURCE = "paper A, arXiv 2603.15923, A6 and A9 (m d instead of d^2); formula derived"
_POWER_NODES, _SCALE_NODES, _SCORE_NODES = 7, 5, 32


@dataclass(frozen=True)
class Kernel:
    r"""Overlaps of features at infinite width, and corrections of finite width.

    Attributes:
        same: $q$.
        other: $\kappa_0$.
        wide: $K_d$.
        sampling: $E_\omega q(\omega)(q(\omega) - a_0(\omega)^2)$; divided by m, the sampling noise.
        power: $\mathrm{Var}(\phi^2)/q^2$; divided by m, the relative variance of $f_v^\top f_v$.
        leverage: slope of $f_v$'s overlap with the mean feature, as a function of
            $f_v^\top f_v / q$.
        third: $E_\omega\,E\phi^3\kappa_3(\phi)$; divided by $m^2$, the third cumulant of
            $f_w^\top f_v$.
        growth: slope of the logarithm of ``third``, as a function of $f_v^\top f_v / q$.
    """

    same: float
    other: float
    wide: float
    sampling: float
    power: float
    leverage: float
    third: float
    growth: float

    def spread(self, width: float) -> float:
        """Variance $T^2$ of the overlaps at this width."""
        return (1 - 1 / width) * self.wide + self.sampling / width


@lru_cache(maxsize=1024)
def kernel(activation: str, dim: float, *, trigger_in_values: bool = False) -> Kernel:
    """Overlaps of two tokens' features, for embeddings of this dimension."""
    nodes, weights = sphere.nodes(dim, 64)
    overlap = nodes / math.sqrt(dim)
    shared = 0.5 if trigger_in_values else 0.0
    law = activations.moments(activation, 1 / math.sqrt(1 - shared))
    overlaps = np.array([law.pair(0, 0, shared + (1 - shared) * x) for x in overlap])
    other = float(weights @ overlaps)
    wide = float(weights @ (overlaps - other) ** 2)
    powers = float(weights @ [law.squares(shared + (1 - shared) * x) for x in overlap])
    mean = law.derivatives[0]
    biased, third = mean**2 * law.square, law.cube * _third_cumulant(mean, law.square, law.cube)
    if trigger_in_values:
        drift, biased, third = _trigger_terms(activation)
        wide += drift**2 / dim
    power = law.fourth / law.square**2 - 1
    covariance = mean * (law.cube - mean * law.square) / law.square
    return Kernel(
        same=law.square,
        other=other,
        wide=wide,
        sampling=powers - biased,
        power=power,
        leverage=covariance / power if power > 0 else 0.0,
        third=third,
        growth=(law.fifth / (law.cube * law.square) - 1) / power if third > 0 else 0.0,
    )


def _third_cumulant(mean: Number, square: Number, cube: Number) -> Number:
    return cube - 3 * mean * square + 2 * mean**3


def _trigger_terms(activation: str) -> tuple[float, float, float]:
    r"""Means $E_\omega\,\omega a_0a_1$, $E_\omega\,q a_0^2$, and the overlaps' third cumulant."""
    omega, weights = quadrature.normal(60)
    means = [activations.shifted(activation, float(x)) for x in omega]
    offset, slope, square, cube = (np.array(column) for column in zip(*means, strict=True))
    drift = float(weights @ (omega * offset * slope))
    third = float(weights @ (cube * _third_cumulant(offset, square, cube)))
    return drift, float(weights @ (square * offset**2)), third


@prediction(
    latex=r"\mathrm{Acc} = E_{n,z,x,t}\left[E_{n'}F_D(\cdot)\right]^{V-1},\quad "
    r"s = \frac n\lambda qz - \kappa_0,\quad B^2 = \left(1+\frac1\lambda\right)"
    r"\left[\left(1-\frac1m\right)K_d+z\frac{q\tau_\phi^2}{m}\right]+\frac{\kappa_0^2}{\lambda}",
    source=_SOURCE,
    error=(
        (0.03, "for activations with a slope", lambda cell: cell["activation"] != "he2"),
        (0.05, "for He2"),
    ),
    regime=STATED,
)
def mlp_recall_accuracy(problem: MlpProblem, *, balanced: bool = False) -> float:
    r"""Recall accuracy through the layer, averaged over tokens, data, embeddings and weights.

    Claims call this the kernel formula: `recall_accuracy` of the model without the layer, with
    the `kernel` of this module. A finite layer also gives each token its own power
    $z = f_v^\top f_v/q$, gamma-distributed with mean 1 and variance
    $\mathrm{Var}(\phi^2)/(mq^2)$. The power scales the token's signal and sampling noise alike.
    ``centred`` residuals remove $\kappa_0$ everywhere but in the signal,
    $\frac n\lambda(q - \kappa_0)$.

    Stated error for V >= 128, m >= 32, d >= 16 and N >= V: {error} (0.037 too low with He2 at
    V = 165, d = 24, m = 180). With He3, whose moments depend on rare neurons, it is up to 0.1 too
    low until m is several times the kurtosis of the features (93).
    """
    return _accuracy(problem, balanced)


@lru_cache(maxsize=4096)
def _accuracy(problem: MlpProblem, balanced: bool) -> float:
    size, dim, load, width = problem.vocab_size, problem.dim, problem.load, problem.width
    values = kernel(problem.activation, dim, trigger_in_values=problem.trigger_in_values)
    counts, weights = recall.count_nodes(problem, balanced=balanced)
    second = float(weights @ counts**2) / load**2
    fourth = float(weights @ counts**4) / load**4
    between = 0.0 if problem.centred else second - 1
    rank = spectra.effective_rank(size, dim)
    power, power_weights = quadrature.gamma(values.power / width, _POWER_NODES)
    uneven = 2 / rank + (3 * fourth / second**2 - 1) / size
    scale, scale_weights = quadrature.gamma(uneven, _SCALE_NODES)
    score, score_weights = sphere.nodes(rank, _SCORE_NODES)

    # Axes: count of the token, its power, |y_v|^2, interference on its own score, competitor.
    g, r, t = power.reshape(-1, 1, 1, 1), scale.reshape(-1, 1, 1), score.reshape(-1, 1)
    n = (counts / load).reshape(-1, 1, 1, 1, 1)
    other = values.other + values.leverage * (g - 1)
    spread = (1 - 1 / width) * values.wide + g * values.sampling / width
    bias = n * other if problem.centred else other
    signal = n * values.same * g - bias
    variance = r * (second * spread + between * other**2)
    own = signal + np.sqrt(variance * (size - 1) / dim) * t
    length = np.maximum(variance * (size - 2) + signal * (2 * own - signal), 0.0)
    competitor = counts / load
    mean = 0.0 if problem.centred else (competitor - 1) * other
    deviation = np.sqrt(length / dim + competitor**2 * spread)
    third = values.third * np.maximum(1 + values.growth * (g - 1), 0.0) / width**2
    skewness = third * (competitor / deviation) ** 3
    below = sphere.cdf(_unskewed((own - mean) / deviation, skewness), rank) @ weights
    right = below ** (size - 1) @ score_weights @ scale_weights @ power_weights
    return float(weights @ right)


def _unskewed(score: Array, skewness: Array) -> Array:
    """Convert a skewed score to the normal score of the same probability (Cornish and Fisher).

    It solves x = z + (z^2 - 1) skewness / 6 for z.
    """
    small = np.abs(skewness) < 1e-6
    third = np.where(small, 1.0, skewness / 3)
    root = np.sqrt(np.maximum(1 + 2 * third * (score + third / 2), 0.0))
    unskewed: Array = np.where(small, score, (root - 1) / third)
    return unskewed


def _beta_squared(size: float, dim: float) -> float:
    r"""Square of $\beta$: the median of the largest of V - 1 competitors, in standard deviations.

    Their scores are coordinates of a random direction in D dimensions (`spectra.effective_rank`),
    which keeps $\beta$ below $\sqrt D$; normal scores would give capacities 9% to 14% too low at
    d = 32, most with He2.
    """
    return sphere.quantile(2 ** (-1 / (size - 1)), spectra.effective_rank(size, dim)) ** 2


def _excess(
    size: float, dim: float, width: float, values: Kernel, inverse_load: float, offset: float
) -> float:
    """Square of beta * interference / signal, for a token seen N/V times; 1 at half accuracy."""
    noise = (1 + inverse_load) * values.spread(width) + inverse_load * offset**2
    ratio = (size + dim) / dim * noise / (values.same - values.other) ** 2 + 1 / dim
    return _beta_squared(size, dim) * ratio


@prediction(
    latex=r"\frac{1}{\beta_V^2} = \frac{V+d}{d}\,\frac{T^2}{(q-\kappa_0)^2}+\frac1d",
    source=_SOURCE,
    error="12%",
    regime=CAPACITY,
)
def capacity(*, dim: float, width: float, activation: str) -> float:
    r"""Vocabulary size of which half is recalled if all tokens are seen equally often; 0 below 3.

    For large sizes it is the harmonic law

    $$ V\log V = \frac d2\Big[\sum_{k\ge1}\frac{a_k^4}{\tau_\phi^4}\mathrm{Var}(\rho^k) +
       \frac{q}{\tau_\phi^2 m}\Big]^{-1} . $$

    The capacity is proportional to $md$ while the second term dominates. It stops growing with m
    once the first term dominates, at $m \sim d^r$ with r the first Hermite order of $\phi$ beyond
    the constant.

    Stated error: {error} for d >= 24, m >= 32 and at least 2 d/3, from 64 to 512 tokens; mostly too
    large. In narrower layers of ReLU, GELU or He2 the true capacity is less than 0.88 times the
    formula at some sizes, and with He2 at all sizes tried up to m = d/3.

    Raises ValueError: there is no such activation, or ``dim`` is below 3.
    """
    if dim < 3:
        raise ValueError(f"dim={dim:g}: the formula needs 3 dimensions or more")
    values = kernel(activation, dim)
    return crossing.log_root(
        lambda size: math.log(_excess(size, dim, width, values, 0.0, 0.0)), 3.0, 1e9, tolerance=1e-9
    )


@prediction(
    latex=r"\frac{1}{\beta_V^2} = \frac{V+d}{d}\,\frac{(1+1/\lambda)T^2+\kappa_0^2/\lambda}"
    r"{(q-\kappa_0)^2}+\frac1d",
    source=_SOURCE,
    error="60%",
    regime=SAMPLES,
    curve=mlp_recall_accuracy,
)
def critical_samples(problem: MlpProblem) -> float:
    r"""Number of samples at which half of the tokens are recalled; infinite if none suffices.

    A common part $\kappa_0$ of all features (a trigger in the values, or $E\phi \ne 0$) stores the
    random label counts of the batch as a bias that all queries share. Recall then needs
    $N d \ge 2V^2\log V\,\kappa_0^2/(q-\kappa_0)^2$. With ``centred`` residuals there is no
    such bias. The problem's own ``samples`` do not matter.

    Stated error: {error} for V up to half the capacity and N of at least 6 V, always too small.
    `mlp_recall_accuracy` is 1/2 at 1.07 to 1.6 times as many samples, since interference and
    counts vary. With fewer than 2 d/3 neurons it may be 1.9 times as many.
    """
    values = kernel(problem.activation, problem.dim, trigger_in_values=problem.trigger_in_values)
    offset = 0.0 if problem.centred else values.other
    size, dim, width = problem.vocab_size, problem.dim, problem.width
    none = _excess(size, dim, width, values, 0.0, offset)
    slope = _excess(size, dim, width, values, 1.0, offset) - none
    return size * slope / (1 - none) if none < 1 else math.inf


@prediction(
    latex=r"m_{rec} = \frac{(1+1/\lambda)\,(q\tau_\phi^2-K_d)}{\frac{d}{V+d}(q-\kappa_0)^2"
    r"\left(\frac{1}{\beta_V^2}-\frac1d\right)-(1+1/\lambda)K_d-\kappa_0^2/\lambda}",
    source="paper A, arXiv 2603.15923, A10 (required m d); formula derived",
    error="35%",
    regime=WIDTH,
    curve=mlp_recall_accuracy,
)
def critical_width(problem: MlpProblem) -> float:
    """Width at which half of the tokens are recalled: `critical_samples`, solved for m.

    Infinite beyond the recall cap, which an infinitely wide layer sets. The problem's own
    ``width`` does not matter.

    Stated error: {error} for activations without a mean, V up to half of the capacity at infinite
    width, N of at least 4 V and widths from 32 and 2 d/3 on; mostly too small. It does not hold for
    fewer hidden units: at (V, N, d) = (355, 1686, 188), (370, 1955, 147) and (320, 1327, 116) the
    formula gives widths of 31 to 43, and half of the tokens need more than 1.35 times as much.
    """
    values = kernel(problem.activation, problem.dim, trigger_in_values=problem.trigger_in_values)
    offset = 0.0 if problem.centred else values.other
    size, dim, inverse_load = problem.vocab_size, problem.dim, 1 / problem.load
    wide = _excess(size, dim, math.inf, values, inverse_load, offset)
    slope = _excess(size, dim, 1.0, values, inverse_load, offset) - wide
    return slope / (1 - wide) if wide < 1 else math.inf
