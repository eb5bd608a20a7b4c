r"""Number of associations that one step of an optimiser stores, from W = 0.

Items $i\le N$ have frequencies $p_i\propto i^{-a}$ and embeddings $u_i, v_i\sim N(0,1_d/d)$. The
cross-entropy of the scores $u_j^\top Wv_i$ has at W = 0 the gradient $-G$,

$$ G = \sum_i p_i(u_i-\bar u)v_i^\top , \qquad\text{with B samples}\quad p_i\to n_i/B . $$

Item i is recalled if its own score is the largest at $v_i$. The mean number recalled is a sum over
items of the probability that a Gaussian own score exceeds N - 1 Gaussian competitors:

- gradient step, W = G: item j scores $p_j(v_j\cdot v_i)$, of variance $p_j^2/d$, plus noise of
  variance $|Wv_i|^2/d$; item i itself adds $p_i^2$ to $|Wv_i|^2$;
- spectral step, W the polar factor of G: all competitors have variance $1/d$, as W is orthogonal,
  the own score has the variance $V_i/d$, and the signal is
  $s(p) = \frac2\pi\int\frac{p\,m^2}{1+p^2m^2}dt$, where m(t) solves
  $\sum_k\frac{p_k^2m^2}{1+p_k^2m^2} = d\,(1-tm)$;
- Newton step: $s = p\tau/(1+p\tau)$ with $\sum_k\frac{p_k\tau}{1+p_k\tau} = d$, and competitors of
  variance $|h|^2/d$, where h holds the signals of all N items.

The derivation, with the laws of the own scores, is in one_step.md.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, ndimage, special, stats
from scipy.stats import qmc

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature, sphere
from theory.spectral.resolvent import Items, Memory, Nodes, check_exponent

_SOURCE = "arXiv 2603.26554, E1 and E2; derived"
_NODES = 96
_HEADS = 3
"""The gradient step treats this many of the most frequent items one by one, as competitors."""
_POINTS = 128
_ALONG = np.arange(32) * 0.28 - 2.9
_CHANCE_ALONG = stats.norm.pdf(_ALONG) / stats.norm.pdf(_ALONG).sum()
_STEPS = 0.03, 0.1
_TOPS = 40

Array = NDArray[np.float64]

STEP = Regime(
    "d >= 24, at least 4 items per dimension",
    {
        "dim": log_range(24, 1024),
        "items": log_range(96, 16384),
        "exponent": (1.5, 2.0, 1.25, 2.5, 3.0),
    },
    holds=lambda cell: cell["items"] >= 4 * cell["dim"],
)
"""Regime in which the ``recalled_...`` functions state their errors."""
BATCH = STEP.searched("B >= 8 samples", batch=log_range(8, 65536))


@prediction(
    latex=r"\sum_i E\prod_{j\ne i}\Phi\left(\frac{u_i\cdot y}{\sigma_j}\right),\quad"
    r"\sigma_j^2\simeq\frac{p_j^2+|y|^2}d,\quad y = p_i|v_i|u_i+r",
    source=_SOURCE,
)
@lru_cache
def recalled_gradient(dim: int, items: int, exponent: float, batch: int | None = None) -> float:
    """Number of items recalled after one gradient step.

    It is right within 4% from dim = 24 on, for any number of items. ``batch``: number of samples;
    None for the population.

    Raises:
        ValueError: a size is impossible, ``exponent`` is not above 1, or there are not more items
            than dimensions.
    """
    found = Items.of(dim, items, exponent, batch)
    heads = min(_HEADS, found.sizes.size - 1)
    square, fourth = (
        np.array([chance @ w**n for w, chance in zip(found.weights, found.chances, strict=True)])
        for n in (2, 4)
    )
    net = iter(_net(2 * heads + 4))
    # Scores are divided by the length of v_i. The most frequent items have coefficients, `mixed`.
    mixed = np.zeros((heads, _ALONG.size, _POINTS))
    for k in range(heads):
        place = np.searchsorted(np.cumsum(found.chances[k]), next(net))
        weight = found.weights[k][np.minimum(place, found.weights[k].size - 1)]
        mixed[k] = weight * special.ndtri(next(net)) / math.sqrt(dim)
    tail = found.sizes[heads:]
    rest = float(tail @ square[heads:]) / dim
    spread = float(tail @ (3 * fourth - square**2)[heads:]) / (rest * dim) ** 2
    share = special.gammaincinv(1 / spread, next(net)) * spread
    length = np.sqrt(special.gammaincinv(dim / 2, next(net)) * 2 / dim)
    noise = np.sqrt(special.gammaincinv(dim / 2, next(net)) * 2 / dim)
    across = special.gammaincinv((dim - 1) / 2, next(net)) * 2 / dim
    along = _ALONG[:, None] / math.sqrt(dim)
    norm = across + along**2  # |u_i|^2

    crowd = _Crowd.of(
        found,
        range(heads, found.sizes.size),
        level=math.sqrt(dim) + 8,
        ratio=3 / math.sqrt(rest * share.min()),
    )
    total = 0.0
    for block, size in enumerate(found.sizes):
        rivals = [k for k in range(heads) if k != block]
        mean = float(found.weights[block] @ found.chances[block])
        left = rest - (square[block] / dim if block >= heads else 0)
        others = crowd.without(block)
        for w, chance in zip(found.weights[block], found.chances[block], strict=True):
            fewer = max((1 - w) / (1 - mean), 1e-3)  # samples left for all others
            heavy = mixed[rivals] * math.sqrt(fewer)
            among = (heavy**2).sum(0) + left * share * fewer  # rho^2
            rms = np.sqrt(among)
            across_own = rms * noise * along
            own = w * length * norm + across_own
            answer = np.sqrt(
                (w * length) ** 2 * norm + 2 * w * length * across_own + among * noise**2
            )
            pull = noise**2 + w * length * across_own / among
            alike = min(1.0, 2 * w**2 / (dim * rest * spread))
            scale = (pull / answer) ** 2 * (1 + alike * (share - 1)) - 1 / (dim * among)
            ratio = np.sqrt(np.maximum(scale, 0.0))
            won = crowd.below(others, math.sqrt(dim) * own / answer, ratio)
            for rival in heavy:
                deviation = answer * np.sqrt(np.maximum(1 - rival**2 / among, 1e-6) / dim)
                either = special.ndtr((own - rival * pull) / deviation)
                won *= (either + special.ndtr((own + rival * pull) / deviation)) / 2
            total += size * chance * float(_CHANCE_ALONG @ won.mean(1))
    return total


@dataclass(frozen=True)
class _Crowd:
    """Log probability that all rivals score below a level; item j scores N(0, 1 + (ratio w_j)^2).

    It is tabulated for each block of items and for all rivals. The grids of levels and ratios
    begin at ``starts``, with steps `_STEPS`.
    """

    starts: tuple[float, float]
    members: range
    each: tuple[Array, ...]
    together: Array

    @classmethod
    def of(cls, law: Items, members: range, *, level: float, ratio: float) -> "_Crowd":
        """Tabulate the log probability for these blocks, up to this level and ratio."""
        starts = -1.65, -math.log(max(w.max() for w in law.weights)) - 2.5
        ends = math.asinh(level), math.log(ratio)
        grids = [
            np.arange(start, end + step, step)
            for start, end, step in zip(starts, ends, _STEPS, strict=True)
        ]
        levels, ratios = np.sinh(grids[0])[:, None], np.exp(grids[1])

        @lru_cache(maxsize=64)  # rare items have few counts, and share them
        def below(w: float) -> Array:
            chance: Array = special.ndtr(levels / np.sqrt(1 + (ratios * w) ** 2))
            return chance

        each = []
        for w, chance in zip(law.weights, law.chances, strict=True):
            mixed = sum(part * below(one) for one, part in zip(w, chance, strict=True))
            each.append(np.log(np.maximum(mixed, 1e-300)))
        together = sum((law.sizes[k] * each[k] for k in members), np.zeros_like(each[0]))
        return cls(starts, members, tuple(each), together)

    def without(self, block: int) -> Array:
        """Tabulate log(-log p) of the probability p, without one item of a block."""
        table = self.together - self.each[block] if block in self.members else self.together
        return np.log(-np.minimum(table, -1e-300))  # nearly straight

    def below(self, table: Array, level: Array, ratio: Array) -> Array:
        """Return the probability at levels and ratios of one shape, by a table from `without`."""
        at = np.arcsinh(level), np.log(np.maximum(ratio, 1e-300))
        places = [
            (np.broadcast_to(x, level.shape) - start) / step
            for x, start, step in zip(at, self.starts, _STEPS, strict=True)
        ]
        found: Array = np.exp(
            -np.exp(ndimage.map_coordinates(table, places, order=1, mode="nearest"))
        )
        return found


def _net(dims: int) -> Array:
    """Points that evenly fill a unit cube, new at each node of `_ALONG`: (dims, nodes, points)."""
    points: Array = qmc.Sobol(dims, scramble=False).random(_ALONG.size * _POINTS).T
    return points.reshape(dims, _ALONG.size, _POINTS) + 0.5 / (_ALONG.size * _POINTS)


@prediction(
    latex=r"\sum_i\int\varphi(z)\,\Phi\left(\sqrt d\,s_i+\sqrt{V_i}z\right)^{N-1}dz,\quad "
    r"s_i = \frac2\pi\int_0^\infty\frac{p_im^2}{1+p_i^2m^2}dt",
    source=_SOURCE,
)
@lru_cache
def recalled_spectral(dim: int, items: int, exponent: float, batch: int | None = None) -> float:
    """Number of items recalled after one step along the polar factor of the gradient.

    It is right within 2% from dim = 24 on, and within 3% with a batch. ``batch``: as in
    `recalled_gradient`.

    Raises:
        ValueError: as in `recalled_gradient`.
    """
    law = Items.of(dim, items, exponent, batch)
    w, number = law.pooled()
    nodes = Nodes.of(w, number, dim, count=_NODES)
    scores = Memory.of([nodes], w, [[number]], dim).scores(w[:, None])
    rivals = scores.rivals
    # Items that a batch does not hold compete less, unless the others fill the matrix.
    idle = float(number[w == 0].sum())
    held = np.maximum(rivals, float(rivals[w > 0] @ number[w > 0]) / (items - idle))
    level = scores.levels(dim)
    logs = (items - idle - 1) * special.log_ndtr(level / np.sqrt(held)[:, None])
    logs += idle * special.log_ndtr(level / np.sqrt(rivals)[:, None])
    known = number[w > 0] @ scores.mean(np.exp(logs))[w > 0]
    return float(known + (_by_chance(law, dim, items) if idle else 0.0))


def _by_chance(law: Items, dim: int, items: int) -> float:
    """Number of items outside a batch that a spectral step recalls by chance."""
    held = np.array([1 - p[w == 0].sum() for w, p in zip(law.weights, law.chances, strict=True)])
    # Chances of 0, 1, ... held items, by the generating function on a circle.
    turns = 4 * dim
    circle = np.exp((2j * math.pi * np.arange(turns) - 20) / turns)
    powers = np.exp(law.sizes @ np.log1p(np.multiply.outer(held, circle - 1)))
    number = np.arange(1, dim)
    chance = np.fft.fft(powers).real[1:dim] / turns * np.exp(20 * number / turns)
    number, chance = number[chance > 1e-9], chance[chance > 1e-9]
    square, share = quadrature.gamma(2 / dim, 5)
    tops = (np.arange(_TOPS) + 0.5) / _TOPS
    found = 0.0
    for count, likely in zip(number, chance, strict=True):
        # The largest score of the others, against coordinates in the span of those held.
        largest = special.ndtri_exp(np.log(tops) / (items - count))
        cosine = largest[:, None] / np.sqrt(dim * square)
        below = 1 - sphere.tail(cosine, max(float(count), 1 + 1e-9)) @ share
        found += float(likely * (below**count).mean())
    full = 1 - float(chance.sum())
    return found + full * float(1 - law.sizes @ held / items)


@prediction(
    latex=r"\sum_i E\prod_{j\ne i}\Phi\left(\frac{s_i}{\sigma_{ij}}\right),\quad "
    r"s_i = \frac{p_i\tau}{1+p_i\tau},\quad\sum_ks_k = d",
    source=_SOURCE,
)
@lru_cache
def recalled_newton(dim: int, items: int, exponent: float) -> float:
    """Number of items recalled after one step of Newton's method, on the population.

    It is right within 2% from dim = 24 on.

    Raises:
        ValueError: as in `recalled_gradient`.
    """
    found = Items.of(dim, items, exponent)
    w, number = found.pooled()

    def excess(log_tau: float) -> float:
        return float(number @ special.expit(log_tau + np.log(w)))

    log_tau = crossing.root(excess, -math.log(w.max()) - 40, -math.log(w.min()) + 40, level=dim)
    s = special.expit(log_tau + np.log(w))
    e2, e3, e4 = (float(number @ s**n) / dim for n in (2, 3, 4))
    # t_n is tr(C^-n) / (d tau^n), from derivatives of tau with respect to a ridge.
    first, second = e2 - 1, 2 * (1 - e2) + 2 * (e2 - e3)
    third = -6 * (e3 - e4) - 6 * (e2 - e3) - 6 * (1 - e2)
    t2, t3 = -1 / first, -second / first**3 / 2
    t4 = (first * third - 3 * second**2) / first**5 / 6
    mean = e2 * t2
    spread = e4 * t2**2 + e2**2 * t4 - 4 * t2 * t3 * e2 * e3 + 2 * t2**3 * (e2 * e4 + e3**2)
    shared = (e2 * t3 - e3 * t2**2) / spread  # slope of v C^-1 v in the variance of the cross talk
    alone = max(t2 - shared * (e2 * t3 - e3 * t2**2), 0.0)
    talk, chance_talk = quadrature.gamma(2 * spread / dim / mean**2, 5)
    size, chance_size = quadrature.normal(5)
    held, chance_held = quadrature.gamma(2 / dim, 5)
    # Axes: cross talk, leverage, whitening, noise of the own score.
    talk = mean * talk[:, None, None, None]
    tau = 1 + shared * (talk - mean) + (math.sqrt(2 * alone / dim) * size)[:, None, None]
    noise = (items - 1 - dim) / (items - 1) / (dim * held[:, None])
    weights = tuple(np.atleast_1d(each) for each in s)
    law = Items(found.sizes, weights, found.chances)
    crowd = _Crowd.of(
        law,
        range(s.size),
        level=2 * math.sqrt(dim / (1 - dim / items)) + 8,
        ratio=2 * math.sqrt(dim / e2),
    )
    total = 0.0
    for block, (signal, count) in enumerate(zip(s, number, strict=True)):
        more = t2 * (signal + (e2 - e3) * t2) / dim
        x = signal / (1 - signal) * np.maximum(tau + more, 0.05)
        own = x / (1 + x)
        crossed = (1 - own) ** 2 * talk
        generic = np.sqrt(noise * (own**2 + crossed))
        level = (own + np.sqrt(noise * crossed) * _ALONG) / generic
        won = crowd.below(crowd.without(block), level, np.sqrt(crossed / (e2 * dim)) / generic)
        total += count * float(
            np.einsum("qxgn,q,x,g,n->", won, chance_talk, chance_size, chance_held, _CHANCE_ALONG)
        )
    return total


@lru_cache
def gradient_constant(exponent: float) -> float:
    r"""Limit of (number recalled after a gradient step) / d^(1/(2a)).

    $C_a = \int_0^\infty\prod_{j\ge1}\Phi((j/x)^a)\,dx$. There is no logarithm, because an item
    competes only with the few items that are more frequent. Each of the most frequent items
    outscores it in half of the memories.

    Raises:
        ValueError: ``exponent`` is not above 1.
    """
    check_exponent(exponent)
    j = np.arange(1.0, 4001)

    def every(x: float) -> float:
        return math.exp(float(special.log_ndtr((j / x) ** exponent).sum()))

    return float(integrate.quad(every, 0, 60, limit=200)[0])


def gradient_exponent(exponent: float) -> float:
    """Exponent of d in the number recalled after a gradient step: 1/(2a).

    Raises ValueError: ``exponent`` is not above 1.
    """
    check_exponent(exponent)
    return 1 / (2 * exponent)


@prediction(latex=r"N_{spectral}(B) = \frac12N_{spectral}(\infty)", source=_SOURCE)
@lru_cache
def critical_batch(dim: int, items: int, exponent: float) -> float:
    """Batch size at which a spectral step recalls half as many items as on the population.

    Infinite if no batch up to 2^40 does.

    Raises:
        ValueError: as in `recalled_gradient`.
    """
    half = recalled_spectral(dim, items, exponent) / 2
    return crossing.integer_root(
        lambda batch: recalled_spectral(dim, items, exponent, batch), level=half, within=0.01
    )
