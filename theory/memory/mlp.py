r"""MLP associative memory $F(z) = V^\top\sigma(Wz + b)$: accuracy, critical width, capacity.

N inputs $z_x$ have M outputs $u_j$, and all are uniform on the unit sphere of $R^d$. Input x has
output f(x), and output j belongs to $n_j$ inputs: $N/M$, rounded down or up. The m random features
of an input, $\phi_x=\sigma(Wz_x+b)$, have the overlaps $K_{xy} = \phi_x^\top\phi_y/E|\phi|^2$. V is
Hebbian: $V\propto\sum_x\phi_xu_{f(x)}^\top$. $K_{xx}$ has mean 1 and variance $\rho/m_1$, where
$\rho = \mathrm{Var}(g^2)/E(g^2)^2$ for the feature g of one neuron; for $y\ne x$, $K_{xy}$ has mean
0 and variance

$$ T^2 = T_\infty^2 + \frac1{m_1} , $$

with $T_\infty^2$ the variance for infinitely many features, and $m_1$ the effective number of
neurons (`FeatureLaw`). Given $\kappa = K_{xx}$, the score of an input's own output i and the
variance of the score of a competitor j are

$$ s = \kappa+\alpha+\xi,\quad \alpha\sim N\big(0,\kappa(n_i-1)T^2\big),\quad
   \xi\sim N\Big(0,r\kappa T^2\frac{N-n_i}d\Big);\qquad \frac{|y|^2}d + \kappa n_jT^2, $$
$$ |y|^2 = (\kappa+\alpha)^2 + 2(\kappa+\alpha)\xi + r\kappa T^2(N-n_i-n_j) . $$

Here y is not the input above but $F$ without output j's part. Competitors share the random factor
r of $|y|^2$, of mean 1. Their scores are as correlated as inner products of a vector with random
directions in D dimensions (`spectra.effective_rank`). The derivation is in mlp.md.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature, spectra, sphere

_SOURCE = "paper B, arXiv 2412.06538, B2; constants derived"

PAIRS = Regime(
    "d >= 32; M >= 64 outputs; d/2 <= M <= N",
    {
        "associations": log_range(64, 4096),
        "dim": log_range(32, 512),
        "outputs": log_range(64, 4096),
    },
    holds=lambda cell: cell["dim"] / 2 <= cell["outputs"] <= cell["associations"],
)
"""Regime in which `critical_width` states its error for the cosine."""
COSINE = PAIRS.searched("m >= 32 neurons", width=log_range(32, 16384))
"""Regime in which `mlp_memory_accuracy` states its error for the cosine."""
RELU = Regime(
    "ReLU, d >= 24, widths of 2 d and more, as many outputs as pairs",
    {
        "associations": log_range(32, 4096),
        "dim": log_range(24, 512),
        "width": log_range(48, 16384),
        "features": "relu",
    },
    holds=lambda cell: cell["width"] >= 2 * cell["dim"],
)
"""Regime in which `mlp_memory_accuracy` states its error for ReLU."""
STORED = Regime(
    "as many outputs as pairs; m d >= 2500, for ReLU 4000, so that 64 pairs or more are recalled; "
    "for ReLU 2 d <= m <= d^2/1.53",
    {
        "dim": log_range(32, 512),
        "width": log_range(64, 16384),
        "features": ("cosine", "relu"),
    },
    holds=lambda cell: (
        cell["width"] * cell["dim"] >= 2500
        if cell["features"] == "cosine"
        else 2 * cell["dim"] <= cell["width"] <= cell["dim"] ** 2 / 1.53
        and cell["width"] * cell["dim"] >= 4000
    ),
)
"""Regime in which `capacity` states its error; ReLU from m = 2 d on."""
_SCALE_NODES, _SCORE_NODES = 5, 120
_WIDEST = 1e9


@dataclass(frozen=True)
class FeatureLaw:
    r"""Properties of the law of random features that a memory depends on.

    Attributes:
        wide: $T_\infty^2$.
        lost: $m - m_1$.
        power: $\rho$.
    """

    wide: float
    lost: float
    power: float


@lru_cache(maxsize=256)
def feature_law(name: str, dim: int) -> FeatureLaw:
    """Law of "cosine" features (of high frequency) or "relu" features at this dimension.

    Raises:
        ValueError: there are no features of this name, or ``dim`` is below 2.
    """
    if dim < 2:
        raise ValueError(f"dim is {dim}: inputs on a sphere need at least 2")
    if name == "cosine":
        return FeatureLaw(wide=0.0, lost=0.0, power=0.5)
    if name == "relu":
        nodes, weights = sphere.nodes(dim, 200)
        cosine = nodes / math.sqrt(dim)
        overlap = 2 / math.pi * (np.sqrt(1 - cosine**2) + cosine * np.arcsin(cosine))
        mean = float(weights @ overlap)
        centred = np.abs(nodes) - weights @ np.abs(nodes)
        return FeatureLaw(
            wide=float(weights @ (overlap - mean) ** 2) / (1 - mean) ** 2,
            lost=dim + 1.0,
            power=float(weights @ centred**4) / float(weights @ centred**2) ** 2 - 1,
        )
    raise ValueError(f"unknown features {name!r}: give cosine or relu")


@lru_cache(maxsize=4096)
def failures(
    associations: float,
    outputs: float,
    dim: int,
    width: float,
    law: FeatureLaw,
    lead: float = 0.0,
) -> float:
    """Mean share of associations whose own score does not lead by ``lead``; sizes may be real."""
    neurons = width - law.lost
    spread = law.wide + 1 / neurons
    inverse_rank = 1 / spectra.effective_rank(outputs, dim)
    scale, scale_weight = quadrature.gamma(2 * (inverse_rank + 1 / outputs), _SCALE_NODES)
    norm, norm_weight = quadrature.gamma(law.power / neurons, _SCALE_NODES)
    score, score_weight = sphere.nodes(1 / inverse_rank, _SCORE_NODES)

    # Axes: r, kappa, the input's own score.
    r, kappa = scale.reshape(-1, 1, 1), norm.reshape(-1, 1)
    wrong = np.zeros((len(scale), len(norm), len(score)))
    for load, count in _loads(associations, outputs):
        within, between = load - 1, r * (associations - load) / dim
        deviation = np.sqrt(kappa * spread * (within + between)) * score
        own = kappa + deviation
        eta = deviation * between / (within + between)
        signal = own - eta
        log_right = np.zeros_like(wrong)
        for other, sharing in _loads(associations, outputs):
            competitors = max(sharing - (other == load), 0.0)
            if not competitors:
                continue
            length = signal**2 + 2 * signal * eta
            length += r * kappa * spread * (associations - load - other)
            margin = (own - lead) / np.sqrt(np.maximum(length, 0.0) / dim + kappa * other * spread)
            with np.errstate(divide="ignore"):
                below = np.log(sphere.cdf(margin, 1 / inverse_rank))
            log_right += competitors * below
        wrong -= count * load / associations * np.expm1(log_right)
    return float(scale_weight @ (wrong @ score_weight) @ norm_weight)


def _loads(associations: float, outputs: float) -> list[tuple[int, float]]:
    """Pairs: inputs per output (N/M, rounded down or up), and number of such outputs."""
    least = max(1, math.floor(associations / outputs))  # rounding may leave N a hair below M
    more = associations - least * outputs
    return [(n, count) for n, count in ((least, outputs - more), (least + 1, more)) if count > 0]


def _check(associations: float, outputs: float, width: float, law: FeatureLaw) -> None:
    if outputs < 2 or associations < outputs:
        raise ValueError(
            f"{associations} associations with {outputs} outputs: give at least 2 outputs, and no "
            "more outputs than associations"
        )
    if not width > law.lost:
        raise ValueError(f"width is {width}: it must exceed {law.lost:g}")


@prediction(
    latex=r"\mathrm{Acc} = E_{i,\kappa,r,\alpha,\xi}\prod_{j\ne i}F_D\left(\frac{\kappa+\alpha+\xi}"
    r"{\sqrt{|y|^2/d+\kappa n_jT^2}}\right),\quad T^2=T_\infty^2+\frac1{m_1}",
    source=_SOURCE,
    error=(
        (
            lambda cell: 0.005 + 0.8 / cell["outputs"],
            "0.005 + 0.8/M for the cosine",
            lambda cell: cell.get("features", "cosine") == "cosine",
        ),
        (0.02, "for ReLU features"),
    ),
)
def mlp_memory_accuracy(
    *,
    associations: float,
    dim: int,
    width: float,
    outputs: float | None = None,
    features: str = "cosine",
) -> float:
    """Mean share of associations that the construction answers correctly.

    Stated error in the regimes `COSINE` and `RELU`: {error}. With the cosine the formula is mostly
    too low, since competitors correlate less than the theory assumes. With 16 cosine neurons it is
    up to 0.023 too low. With ReLU it errs where the quadratic part dominates and skews overlaps.

    Args:
        associations: N.
        dim: d.
        width: m; may be infinite.
        outputs: M, each the answer to N / M inputs; None for M = N.
        features: "cosine" or "relu".

    Raises:
        ValueError: fewer than 2 outputs or dimensions, more outputs than associations, at most
            `FeatureLaw.lost` neurons, or unknown features.
    """
    law = feature_law(features, dim)
    outputs = outputs or associations
    _check(associations, outputs, width, law)
    return 1 - failures(associations, outputs, dim, width, law)


def all_recalled(*, associations: int, **sizes: Any) -> float:
    r"""Probability that all N are right, $e^{-N(1-\mathrm{Acc})}$: 1/2 at `critical_width`.

    ``sizes``, exceptions: as in `mlp_memory_accuracy`.
    """
    return math.exp(-associations * (1 - mlp_memory_accuracy(associations=associations, **sizes)))


@prediction(
    latex=r"N\,(1-\mathrm{Acc}(m_*)) = \ln2",
    source=_SOURCE,
    error="3%",
    regime=PAIRS,
    curve=all_recalled,
)
def critical_width(
    *, associations: int, dim: int, outputs: int | None = None, features: str = "cosine"
) -> float:
    r"""Width at which all N answers are right with probability 1/2; infinite if no width suffices.

    The width is `FeatureLaw.lost` if one more neuron suffices.

    Failures are few and nearly independent, so their number is Poisson with mean
    $N(1-\mathrm{Acc})$. For the cosine the width is right within {error} if d >= 32 and M >= 64, 6%
    too low at M = d = 32, and up to 9% too low at d = 16, where inputs are close. For ReLU use
    `capacity`, because the width depends steeply on the other sizes once it exceeds $d^2/1.53$.

    Raises:
        ValueError: as in `mlp_memory_accuracy`.
    """
    law = feature_law(features, dim)
    number = outputs or associations
    _check(associations, number, math.inf, law)

    def excess(neurons: float) -> float:
        return _log_mean_failures(associations, number, dim, law.lost + neurons, law)

    return law.lost + crossing.log_root(excess, 1.0, _WIDEST, tolerance=1e-7)


@prediction(
    latex=r"N_*\,(1-\mathrm{Acc}(N_*)) = \ln2",
    source=_SOURCE,
    error="3%",
    regime=STORED,
    curve=all_recalled,
)
def capacity(
    *, dim: int, width: float, outputs: int | None = None, features: str = "cosine"
) -> float:
    r"""Number of associations that are all right with probability 1/2: inverse of `critical_width`.

    At finite size the number is right within {error}, for ReLU only up to $m = d^2/1.53$. In wider
    layers the quadratic part of ReLU dominates, and for d >= 24 the number is up to 10% too high.

    Args:
        dim: d.
        width: m; may be infinite.
        outputs: M; None for M = N.
        features: "cosine" or "relu".

    Raises:
        ValueError: as in `mlp_memory_accuracy`, or the width stores fewer than M associations, or
            fewer than 3 for M = N.
    """
    law = feature_law(features, dim)
    least = 3 if outputs is None else outputs
    _check(least, least, width, law)

    def excess(number: float) -> float:
        return _log_mean_failures(number, outputs or number, dim, width, law)

    found = crossing.log_root(excess, least, _WIDEST, tolerance=1e-7)
    if found < least:
        raise ValueError(f"width is {width}: that stores not even {least} associations")
    return found


def _log_mean_failures(
    associations: float, outputs: float, dim: int, width: float, law: FeatureLaw
) -> float:
    """Logarithm of (mean number of failures / log 2): 0 where half of memories are right."""
    share = failures(associations, outputs, dim, width, law)
    return math.log(max(associations * share / math.log(2), 1e-300))


@prediction(
    latex=r"m_* \sim 4\ln(NM)\left(\frac Nd+\frac NM\right)", source=_SOURCE, curve=all_recalled
)
def asymptotic_width(*, associations: int, dim: int, outputs: int | None = None) -> float:
    r"""Leading order of `critical_width` for cosine features as $N, M\to\infty$.

    An input's own score exceeds a competitor's by a normal variable of mean 1 and variance 2v,
    $v = (N/d+N/M)/m$. This is negative with probability $e^{-1/(4v)}$, and there are NM such pairs.
    If M = N is much larger than d, $m_*d = 8N\ln N$: one layer has as many parameters as the
    linear memory, $d^2 = 8N\ln N$. The limit is approached logarithmically: for N from 128 to 1024
    and d from 32 to 128 the width at finite size is 0.63 (N = d = 128) to 1.05 (N = 1024, d = 32)
    times this width.

    Raises:
        ValueError: fewer than 2 outputs or dimensions, or more outputs than associations.
    """
    outputs = outputs or associations
    _check(associations, outputs, math.inf, feature_law("cosine", dim))
    load = associations / outputs
    return 4 * math.log(associations * outputs) * (associations / dim + load)
