r"""How many associations one step of an optimiser stores, from W = 0.

Items $i\le N$ have frequencies $p_i\propto i^{-a}$ and embeddings $u_i, v_i\sim N(0,1_d/d)$. The
cross-entropy of the scores $u_j^\top Wv_i$ has at W = 0 the gradient $-G$,

$$ G = \sum_i p_i(u_i-\bar u)v_i^\top , \qquad\text{with B samples}\quad p_i\to n_i/B . $$

Item i is recalled if its own score is the largest at $v_i$. The number recalled is a sum over items
of a probability, that of a Gaussian own score to exceed its N - 1 Gaussian competitors:

- the gradient step, W = G: item j competes with $p_j(v_j\cdot v_i)$, of variance $p_j^2/d$;
- the spectral one, W the polar factor of G: all competitors have variance $1/d$, as W is
  orthogonal, and the signal is $s(p) = \frac2\pi\int\frac{p\,m^2}{1+p^2m^2}dt$, where m(t) solves
  $\sum_k\frac{p_k^2m^2}{1+p_k^2m^2} = d\,(1-tm)$;
- Newton's: $s = p\tau/(1+p\tau)$ with $\sum_k\frac{p_k\tau}{1+p_k\tau} = d$.

The derivation, with the variances of the own scores, is in one_step.md.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special, stats

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature
from theory.spectral.resolvent import Items, Memory, Nodes, Scores, check_exponent

_SOURCE = "arXiv 2603.26554, E1 and E2; derived"
_NODES = 96

Array = NDArray[np.float64]

STEP = Regime(
    "d >= 24 and at least 4 items a dimension",
    {
        "dim": log_range(24, 1024),
        "items": log_range(96, 16384),
        "exponent": (1.5, 2.0, 1.25, 2.5, 3.0),
    },
    holds=lambda cell: cell["items"] >= 4 * cell["dim"],
)
"""Where numbers recalled after a step state their errors."""
BATCH = STEP.searched("and a batch", batch=log_range(8, 65536))


@prediction(
    latex=r"\sum_i E\prod_{j\ne i}\Phi\left(\frac{p_iX}{\sigma_j}\right),\quad"
    r"\sigma_j^2\simeq\frac{p_j^2}d",
    source=_SOURCE,
)
@lru_cache
def recalled_gradient(dim: int, items: int, exponent: float, batch: int | None = None) -> float:
    """Number of items recalled after one gradient step.

    It is right to 4% from dim = 24 on. ``batch``: number of samples; None for the population.

    Raises:
        ValueError: a size is senseless, or there are not more items than dimensions.
    """
    found = Items.of(dim, items, exponent, batch)
    variance = np.array(
        [chance @ w**2 for w, chance in zip(found.weights, found.chances, strict=True)]
    )
    rest = float(found.sizes[1:] @ variance[1:])
    z = (np.arange(40) + 0.5) * 0.15  # size of the competitor of item 1, both signs of it below
    chance_z = stats.norm.pdf(z) / stats.norm.pdf(z).sum() / 2
    first = found.weights[0]
    first_part = (first[:, None] * z) ** 2
    # Everything is in units of one competitor of weight 1, and divided by the length of v_i.
    noise = np.sqrt((first_part + rest) / dim)
    between = np.sqrt((4 * first_part + 2 * rest) / dim)
    unit = float(first.mean())
    fine = min(0.5, 4 / math.sqrt(dim))  # levels are dense where the many rare items compete
    steps = np.linspace(-2.5, math.asinh((12 + 2 * math.sqrt(dim)) / fine), 200)
    levels = fine * unit * np.sinh(steps)

    @lru_cache(maxsize=64)  # rare items have few counts, and share them
    def shown(w: float) -> Array:
        scale = np.sqrt(w**2 * (1 + 2 / dim) + noise**2)
        below: Array = special.ndtr(levels / scale[..., None])
        return below

    tables = []
    for w, chance in zip(found.weights, found.chances, strict=True):
        each = np.stack([shown(one) for one in w])
        tables.append(np.log(np.maximum(np.tensordot(chance, each, 1), 1e-300)))
    together = sum(size * table for size, table in zip(found.sizes[1:], tables[1:], strict=True))
    sizes_x, chance_x = quadrature.gamma(2.5 / dim, 5)
    own_x = math.sqrt(dim) * (1 - 0.25 / dim) * sizes_x
    own_noise = (np.arange(20) - 9.5) / 2
    chance_noise = stats.norm.pdf(own_noise) / stats.norm.pdf(own_noise).sum()
    rows = np.arange(first.size * z.size).reshape(first.size, z.size) * steps.size

    @lru_cache(maxsize=64)
    def place_of(w: float) -> tuple[NDArray[np.bool_], NDArray[np.int64], Array, Array]:
        """Of an own score: whether it is below all levels, its place in the table of each first
        score and rival, what it is above that place, and how the rival does."""
        score = w * own_x[:, None, None]
        own = score[..., None] + noise * own_noise[:, None, None]
        place = (np.arcsinh(own / unit / fine) - steps[0]) / (steps[1] - steps[0])
        left = np.clip(place, 0, steps.size - 1.001)
        index = left.astype(int)
        rival = first[:, None] * z
        both = special.ndtr((score - rival) / between)
        both += special.ndtr((score + rival) / between)
        return place < 0, rows + index, left - index, both

    alone = np.full((own_x.size, first.size, z.size), 2.0)
    laws = chance_x, chance_noise, found.chances[0], chance_z
    axes = "xntz,xtz,x,n,t,z->"
    won = np.empty((own_x.size, own_noise.size, first.size, z.size))
    order = np.einsum_path(axes, won, alone, *laws, optimize=True)[0]
    total = 0.0
    for block, size in enumerate(found.sizes):
        table = together - tables[block] if block else together
        for w, chance in zip(found.weights[block], found.chances[block], strict=True):
            below, index, above, both = place_of(w)
            low, high = table.take(index), table.take(index + 1)
            won = np.where(below, 0.0, np.exp(low + above * (high - low)))
            rivals = both if block else alone
            total += size * chance * float(np.einsum(axes, won, rivals, *laws, optimize=order))
    return total


@prediction(
    latex=r"\sum_i\int\varphi(z)\,\Phi\left(\sqrt d\,s_i+\sqrt{V_i}z\right)^{N-1}dz,\quad "
    r"s_i = \frac2\pi\int_0^\infty\frac{p_im^2}{1+p_i^2m^2}dt",
    source=_SOURCE,
)
@lru_cache
def recalled_spectral(dim: int, items: int, exponent: float, batch: int | None = None) -> float:
    """Number of items recalled after one step along the polar factor of the gradient.

    It is right to 2% from dim = 24 on, with a batch to 3%. ``batch``: as above.

    Raises:
        ValueError: as above.
    """
    w, number = Items.of(dim, items, exponent, batch).pooled()
    nodes = Nodes.of(w, number, dim, count=_NODES)
    scores = Memory.of([nodes], w, [[number]], dim).scores(w[:, None])
    rivals = scores.rivals
    # Items that a batch does not hold compete less, unless the others fill the matrix.
    idle = float(number[w == 0].sum())
    held = np.maximum(rivals, float(rivals[w > 0] @ number[w > 0]) / (items - idle))
    level = scores.levels(dim)
    logs = (items - idle - 1) * special.log_ndtr(level / np.sqrt(held)[:, None])
    logs += idle * special.log_ndtr(level / np.sqrt(rivals)[:, None])
    return float(number @ scores.mean(np.exp(logs)))


@prediction(
    latex=r"\sum_i E\prod_{j\ne i}\Phi\left(\frac{s_i}{\sigma_{ij}}\right),\quad "
    r"s_i = \frac{p_i\tau}{1+p_i\tau},\quad\sum_ks_k = d",
    source=_SOURCE,
)
@lru_cache
def recalled_newton(dim: int, items: int, exponent: float) -> float:
    """Number of items recalled after one step of Newton's method, on the population.

    It leaves out how much the noise differs from input to input, which is of order 1/dim: it is 4%
    too low at dim = 48, 2% at 96.

    Raises:
        ValueError: as above.
    """
    w, number = Items.of(dim, items, exponent).pooled()

    def excess(log_tau: float) -> float:
        return float(number @ special.expit(log_tau + np.log(w)))

    log_tau = crossing.root(excess, -math.log(w.max()) - 40, -math.log(w.min()) + 40, level=dim)
    s = special.expit(log_tau + np.log(w))
    second = float(number @ s**2)
    seen = 1 - dim / items  # whitening the outputs sees the competitor's own embedding
    common = (s**2 + (1 - s) ** 2 * second / (dim - second)) * seen / dim
    own = (1 - s) ** 4 * second / (dim - second) * seen / dim + 2 * s**2 / dim
    scores = Scores(s, dim * own, dim * common)
    levels = scores.levels(dim) / np.sqrt(scores.rivals)[:, None]
    won = np.empty_like(levels)
    for i, (level, signal, generic) in enumerate(zip(levels, s, common, strict=True)):
        extra = (1 - signal) ** 2 * s**2 / (dim - second) / generic
        below = special.log_ndtr(level / np.sqrt(1 + extra)[:, None])
        itself = (1 - signal) ** 2 * signal**2 / (dim - second) / generic
        won[i] = np.exp(number @ below - special.log_ndtr(level / math.sqrt(1 + itself)))
    return float(number @ scores.mean(won))


@lru_cache
def gradient_constant(exponent: float) -> float:
    r"""Limit of the number recalled after a gradient step over d^(1/(2a)).

    $C_a = \int_0^\infty\prod_{j\ge1}\Phi((j/x)^a)\,dx$. No logarithm comes in: only the few
    items above i compete, each in half of the memories.

    Raises:
        ValueError: ``exponent`` is not above 1.
    """
    check_exponent(exponent)
    j = np.arange(1.0, 4001)

    def every(x: float) -> float:
        return math.exp(float(special.log_ndtr((j / x) ** exponent).sum()))

    return float(integrate.quad(every, 0, 60, limit=200)[0])


def gradient_exponent(exponent: float) -> float:
    """Exponent of d in the number recalled after a gradient step: 1/(2a)."""
    check_exponent(exponent)
    return 1 / (2 * exponent)


@prediction(latex=r"N_{spectral}(B) = \frac12N_{spectral}(\infty)", source=_SOURCE)
@lru_cache
def critical_batch(dim: int, items: int, exponent: float) -> float:
    """Batch size at which a spectral step recalls half of what it recalls of the population.

    Raises:
        ValueError: as above.
    """
    half = recalled_spectral(dim, items, exponent) / 2
    return crossing.integer_root(
        lambda batch: recalled_spectral(dim, items, exponent, batch), level=half, within=0.01
    )
