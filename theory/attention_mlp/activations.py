r"""Moments of an activation: at the small scale of the attention step, and at recall's unit scale.

The attention step evaluates $\phi$ at mean values, $|\bar h| = \varepsilon \approx L^{-1/2}$;
recall evaluates it at single values, $|h| = 1$ or $\sqrt2$. Pre-activations of a random layer $W$
with N(0, 1) entries are $u = \varepsilon g$ with $g \sim N(0, 1)$, and these means describe the
average effect of the layer:

$$ b_k = E\,\phi^{(k)}(\varepsilon g), \qquad
   E\,\phi^{(i)}(u)\phi^{(j)}(u') = \sum_k b_{k+i}b_{k+j}\frac{(\varepsilon^2\rho)^k}{k!} $$

for pre-activations of correlation $\rho$. At scale 1, $b_k = \sqrt{k!}\,a_k$ with the coefficients
$a_k$ of $\phi$ in Hermite polynomials $he_k$ of unit variance.

All expectations are Gauss-Legendre sums on both sides of 0, where ReLU has its kink. On
Gauss-Hermite nodes that straddle a kink the error would fall only like a power of their number.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial, hermite_e
from scipy.special import ndtr

from theory.laws.quadrature import Array

Map = Callable[[Array], Array]

ORDERS = 40
"""Number of Hermite coefficients kept; the squares of ReLU's fall off like $k^{-5/2}$."""


def _density(x: Array) -> Array:
    value: Array = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return value


def _hermite(weights: Mapping[int, float]) -> tuple[Map, Map]:
    """Weighted sum of unit-variance Hermite polynomials, and its derivative."""
    series = sum(
        (
            weight / math.sqrt(math.factorial(k)) * Polynomial(hermite_e.herme2poly([0] * k + [1]))
            for k, weight in weights.items()
        ),
        Polynomial([0.0]),
    )
    return series, series.deriv()


_MAPS: dict[str, tuple[Map, Map]] = {
    "identity": _hermite({1: 1}),
    "relu": (lambda x: np.maximum(x, 0.0), lambda x: (x > 0).astype(float)),
    "gelu": (lambda x: x * ndtr(x), lambda x: ndtr(x) + x * _density(x)),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "x+x2": _hermite({0: 1, 1: 1, 2: math.sqrt(2)}),
    "he2": _hermite({2: 1}),
    "he3": _hermite({3: 1}),
    "he1+he2": _hermite({1: 1, 2: 1}),
    "he2+he3": _hermite({2: 1, 3: 1}),
    "0.3he1+he2+he3": _hermite({1: 0.3, 2: 1, 3: 1}),
}

NAMES = tuple(_MAPS)


def _gauss(count: int = 120, tail: float = 11.0) -> tuple[Array, Array]:
    """Nodes and probability weights of N(0, 1), in panels left and right of 0."""
    x, weights = np.polynomial.legendre.leggauss(count)
    half = tail * (x + 1) / 2
    nodes = np.concatenate([-half[::-1], half])
    both = np.concatenate([weights[::-1], weights])
    mass = both * _density(nodes)
    return nodes, mass / mass.sum()


_NODES, _WEIGHTS = _gauss()


@dataclass(frozen=True)
class Moments:
    r"""Moments of $\phi$ and $\phi'$ at the pre-activation $u = \varepsilon g$.

    Attributes:
        scale: $\varepsilon$.
        derivatives: $b_0, \dots$, the mean of $\phi$ and of its derivatives.
        square: $q = E\phi^2$.
        square_coefficients: coefficients of $\phi^2$ in $he_k(g)$.
        slope_square: $q' = E\phi'^2$.
        drift: $\psi = E\phi\phi'$.
        drift_change: $\psi_1 = \partial\psi/\partial\ln\varepsilon$.
        gain: $\chi = E(\phi\phi')'$.
        fourth: $E\phi^4$.
        cube: $E\phi^3$.
        fifth: $E\phi^5$.
        mixed: $E\phi^2\phi'^2$.
        mixed_centred: $E(\phi - b_0)^2\phi'^2$.
    """

    scale: float
    derivatives: tuple[float, ...]
    square: float
    square_coefficients: tuple[float, ...]
    slope_square: float
    drift: float
    drift_change: float
    gain: float
    fourth: float
    cube: float
    fifth: float
    mixed: float
    mixed_centred: float

    def pair(self, first: int, second: int, correlation: float) -> float:
        r"""Mean $E\,\phi^{(i)}(u)\,\phi^{(j)}(u')$ at this correlation of $u$ and $u'$."""
        b, x = self.derivatives, self.scale**2 * correlation
        total, factor = 0.0, 1.0
        for k in range(len(b) - max(first, second)):
            total += b[k + first] * b[k + second] * factor
            factor *= x / (k + 1)
        return total

    def squares(self, correlation: float) -> float:
        r"""Mean $E\,\phi(u)^2\phi(u')^2$ at this correlation of $u$ and $u'$."""
        return sum(c**2 * correlation**k for k, c in enumerate(self.square_coefficients))

    @property
    def variance(self) -> float:
        r"""Variance $\tau_\phi^2 = \mathrm{Var}\,\phi$."""
        return self.square - self.derivatives[0] ** 2

    @property
    def coefficients(self) -> Array:
        r"""Coefficients $a_k = \varepsilon^kb_k/\sqrt{k!}$ in $he_k(g)$, (ORDERS,)."""
        scales = [self.scale**k / math.sqrt(math.factorial(k)) for k in range(ORDERS)]
        values: Array = np.array(scales) * np.array(self.derivatives)
        return values


@lru_cache(maxsize=4096)
def moments(name: str, scale: float) -> Moments:
    r"""Moments of activation ``name`` at pre-activations of standard deviation ``scale``.

    >>> relu = moments("relu", 1.0)
    >>> [round(float(a), 4) for a in relu.coefficients[:3]]
    [0.3989, 0.5, 0.2821]
    >>> round(relu.square, 6), round(relu.fourth / relu.square**2, 6)
    (0.5, 6.0)

    Raises ValueError: there is no such activation, or ``scale`` is not positive.
    """
    if name not in _MAPS:
        raise ValueError(f"unknown activation {name!r}: give one of {', '.join(NAMES)}")
    if scale <= 0:
        raise ValueError(f"scale is {scale}: give a positive number")
    value, slope = _MAPS[name]
    x, w = _NODES, _WEIGHTS
    phi, prime = value(scale * x), slope(scale * x)
    derivatives, squares = [], []
    normalised, previous = np.ones_like(x), np.zeros_like(x)
    for k in range(ORDERS):
        # By parts: E phi^(k) = E phi He_k / eps^k, with He_k = sqrt(k!) times `normalised`.
        derivatives.append(float(w @ (phi * normalised)) * math.sqrt(math.factorial(k)) / scale**k)
        squares.append(float(w @ (phi**2 * normalised)))
        normalised, previous = (
            (x * normalised - math.sqrt(k) * previous) / math.sqrt(k + 1),
            normalised,
        )
    product = phi * prime
    return Moments(
        scale=scale,
        derivatives=tuple(derivatives),
        square=float(w @ phi**2),
        square_coefficients=tuple(squares),
        slope_square=float(w @ prime**2),
        drift=float(w @ product),
        drift_change=float(w @ (product * (x**2 - 1))),
        gain=float(w @ (product * x)) / scale,
        fourth=float(w @ phi**4),
        cube=float(w @ phi**3),
        fifth=float(w @ phi**5),
        mixed=float(w @ product**2),
        mixed_centred=float(w @ ((phi - derivatives[0]) ** 2 * prime**2)),
    )


@lru_cache(maxsize=4096)
def shifted(name: str, offset: float) -> tuple[float, float, float, float]:
    r"""Means $E\phi$, $E\phi'$, $E\phi^2$ and $E\phi^3$ at $\omega + g$, $\omega$ = ``offset``."""
    value, slope = _MAPS[name]
    # The weights move to a Gaussian around offset, while the nodes still meet at the kink.
    weights = _WEIGHTS * np.exp(_NODES * offset - offset**2 / 2)
    phi = value(_NODES)
    means = phi, slope(_NODES), phi**2, phi**3
    mean, prime, square, cube = (float(weights @ values) for values in means)
    return mean, prime, square, cube
