r"""Signal and noise of scores in a memory: a sum of outer products with changed singular values.

The sum is $G = \sum_kw_ku_kv_k^\top$, with weights $w_k$ and independent vectors
$u_k, v_k\sim N(0, I/d)$ in $R^d$. In the memory $h_\lambda(G)$ each singular value z of G is
replaced by $z/\sqrt{z^2+\lambda^2}$. For $\lambda = 0$ it is the polar factor of G. Derivation:
one_step.md; several_steps.md for $\lambda > 0$ and sums of such matrices.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from theory.laws import crossing, quadrature

Array = NDArray[np.float64]

EXACT = 48
"""Number of most frequent items treated one by one; the others are grouped into blocks."""
_BLOCKS = 1.1
_RARE = 12.0
"""Mean count up to which the law of a count is summed term by term."""
_SPREAD = 12.0
"""Logarithm of 1/(m w) where integrals over m begin, with w the largest weight."""
_Z = np.linspace(-8, 8, 161)
_CHANCE_Z = stats.norm.pdf(_Z) / stats.norm.pdf(_Z).sum()


@dataclass(frozen=True)
class Items:
    """Blocks of items of similar frequency, and the law of an item's weight in each.

    ``sizes``: number of items in a block.  ``weights`` and ``chances``: an array (nodes,) for each
    block.
    """

    sizes: Array
    weights: tuple[Array, ...]
    chances: tuple[Array, ...]

    @classmethod
    def of(cls, dim: int, items: int, exponent: float, batch: int | None = None) -> "Items":
        """Make items of frequency i^-exponent, with weights from a batch or from the population.

        Raises:
            ValueError: a size is impossible, ``exponent`` is not above 1, or there are not more
                items than dimensions.
        """
        check_exponent(exponent)
        if not 2 <= dim < items or (batch is not None and batch < 1):
            raise ValueError(
                f"dim={dim}, items={items}, batch={batch}: give at least 2 dimensions, more items "
                "than these, and at least 1 sample"
            )
        p = np.arange(1.0, items + 1) ** -exponent
        ends = [*range(min(EXACT, items) + 1)]
        while ends[-1] < items:
            ends.append(min(items, round(ends[-1] * _BLOCKS)))
        sizes = np.diff(ends).astype(np.float64)
        means = np.add.reduceat(p / p.sum(), ends[:-1]) / sizes
        if batch is None:
            return cls(sizes, tuple(means[:, None]), tuple(np.ones(1) for _ in sizes))
        counts = [_counts(batch, float(mean)) for mean in means]
        return cls(sizes, tuple(n / batch for n, _ in counts), tuple(c for _, c in counts))

    def pooled(self) -> tuple[Array, Array]:
        """Weights of all blocks, and the expected number of items with each weight."""
        number = [size * chance for size, chance in zip(self.sizes, self.chances, strict=True)]
        return np.concatenate(self.weights), np.concatenate(number)


@dataclass(frozen=True)
class Nodes:
    r"""$m(t) = \frac td\mathrm{tr}(G^\top G+t^2)^{-1}$ at nodes of $\frac2\pi\int_0^\infty ds$.

    ``m`` and ``weight`` have shape (nodes,), and $t^2 = s^2+\lambda^2$.
    """

    m: Array
    weight: Array

    @classmethod
    def of(cls, w: Array, number: Array, dim: int, *, ridge: float = 0.0, count: int) -> "Nodes":
        """Make the nodes for ``number`` items of weights ``w``, (weights,); ``ridge``: lambda."""
        w, number = w[w > 0], number[w > 0]

        def filled(log_m: float) -> float:
            return float(number @ special.expit(2 * (log_m + np.log(w)))) + (
                dim * ridge * math.exp(log_m) if ridge else 0.0
            )

        # As good as infinite, if the gradient has not full rank.
        top = -math.log(ridge) if ridge else -math.log(w.min()) + 10
        last = min(crossing.root(filled, -math.log(w.max()) - 40, top, level=dim), top)
        length = last + math.log(w.max()) + _SPREAD
        x, each = quadrature.legendre(count)
        y = (x + 1) / 2
        m = np.exp(last - length * (y**2 if ridge else y))
        share = special.expit(2 * np.log(np.multiply.outer(m, w)))
        left = 1 - share @ number / dim
        slope = 2 * (share * (1 - share)) @ number / dim
        weight = each * length / math.pi * (left + slope) / m
        if ridge:  # s starts as a square root, which y**2 makes smooth
            t = left / m
            weight *= 2 * y * t / np.sqrt(t**2 - ridge**2)
        return cls(m, weight)


@dataclass(frozen=True)
class Scores:
    """Scores of items, (items,).

    Attributes:
        signal: mean own score.
        own: d times the variance of the own score.
        rivals: d times the variance of a rare competitor's score.
    """

    signal: Array
    own: Array
    rivals: Array

    def levels(self, dim: int) -> Array:
        """Nodes of the own score's law, in units of 1/sqrt(d): (items, nodes)."""
        found: Array = math.sqrt(dim) * self.signal[:, None] + np.sqrt(self.own)[:, None] * _Z
        return found

    @staticmethod
    def mean(values: Array) -> Array:
        """Mean of ``values``, (items, nodes), given at the nodes of `levels`: (items,)."""
        found: Array = values @ _CHANCE_Z
        return found


@dataclass(frozen=True)
class Memory:
    """A sum of transformed matrices, given by their nodes, in the order of the matrices.

    ``noise`` and ``echo``: kernels A and D of one_step.md times two nodes' weights, (nodes, nodes).
    """

    m: Array
    weight: Array
    noise: Array
    echo: Array

    @classmethod
    def of(
        cls, steps: Sequence[Nodes], w: Array, both: Sequence[Sequence[Array]], dim: int
    ) -> "Memory":
        """Make a sum; ``both[s][t]``: number of items per weight ``w`` that steps s and t share."""
        noise, echo = [], []
        for one, row in zip(steps, both, strict=True):
            x = np.multiply.outer(one.m, w)
            gx = x / (1 + x**2)
            kernels = []
            for other, number in zip(steps, row, strict=True):
                y = np.multiply.outer(other.m, w)
                gy = y / (1 + y**2)
                p = (gx * number) @ gy.T / dim
                s = 1 - (gx * x * number) @ (gy * y).T / dim
                scale = np.multiply.outer(one.m * one.weight, other.m * other.weight)
                kernels.append((scale * p / (s**2 - p**2), scale * s / (s**2 - p**2)))
            noise.append([a for a, _ in kernels])
            echo.append([d for _, d in kernels])
        m, weight = (np.concatenate([getattr(step, n) for step in steps]) for n in ("m", "weight"))
        return cls(m, weight, np.block(noise), np.block(echo))

    def scores(self, w: Array) -> Scores:
        """Scores of items of weights ``w``.

        ``w``: (items, 1) if each item has one weight in all matrices, else (items, nodes).
        """
        x = w * self.m
        c = 1 / (1 + x**2)
        signal, response = (x * c) @ (self.m * self.weight), (x * c**2) @ (self.m * self.weight)
        own = _form(self.noise, c**2 * (1 - x**2)) + 4 * _form(self.echo, x * c**2)
        # The length of v_i scales all competitors, and the signal twice as strongly.
        own += signal**2 / 2 - 2 * signal * response
        rivals = _form(self.noise, c) + _form(self.echo, x * c)
        return Scores(signal, np.maximum(own, 1e-3), rivals)


def _form(kernel: Array, rows: Array) -> Array:
    found: Array = (rows @ kernel * rows).sum(1)
    return found


def _counts(batch: int, chance: float) -> tuple[Array, Array]:
    """Counts of a binomial law and their chances, or a few nodes where the law is wide."""
    mean = batch * chance
    if mean > _RARE:
        nodes, weight = quadrature.gamma((1 - chance) / mean, 5)
        return mean * nodes, weight
    count = np.arange(min(batch + 1.0, quadrature.poisson(mean, 1e-6).size))
    logs = special.xlogy(count, chance) + special.xlog1py(batch - count, -chance)
    logs -= special.gammaln(count + 1) + special.gammaln(batch - count + 1)
    weight = np.exp(logs - logs.max())
    return count, weight / weight.sum()


def check_exponent(exponent: float) -> None:
    """Raise ValueError unless frequencies of this power have a finite sum."""
    if not exponent > 1:
        raise ValueError(f"exponent is {exponent}: give one above 1")
