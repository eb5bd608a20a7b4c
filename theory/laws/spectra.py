r"""Spectral moments of the Gram matrix $K_{ab} = z_a^\top z_b$ of n random vectors in $R^d$.

The vectors have mean square length 1, and $r = n/d$. $K$ has $\min(n, d)$ eigenvalues other than
zero: the eigenvalues of $r$ times the covariance $S = \frac dn\sum_a z_az_a^\top$. If the vectors
are independent, the spectra of $K$ and $S$ follow Marchenko and Pastur's law as $n, d\to\infty$.
"""

import math
from functools import lru_cache
from typing import Literal

Vectors = Literal["sphere", "gaussian", "orthonormal"]


def moment(order: int, ratio: float) -> float:
    r"""Limit $t_k=\lim\frac1n\mathrm{tr}\,K^k=\sum_{j<k}\frac1k\binom kj\binom k{j+1}r^j$
    (Narayana).

    Args:
        order: k, at least 1.
        ratio: $r$; give its inverse for the moments $\frac1d\mathrm{tr}\,S^k$ of the covariance.

    >>> moment(3, 0.5)
    2.75
    """
    weights = (math.comb(order, j) * math.comb(order, j + 1) / order for j in range(order))
    return sum(weight * ratio**j for j, weight in enumerate(weights))


@lru_cache(maxsize=4096)
def moments(ratio: float) -> tuple[float, float, float]:
    r"""Limits $t_2, t_3, t_4$ at $r$ = ``ratio``.

    >>> moments(0.0)
    (1.0, 1.0, 1.0)
    """
    return moment(2, ratio), moment(3, ratio), moment(4, ratio)


def centred_moments(vectors: Vectors, count: float, dim: float) -> tuple[float, float, float]:
    r"""$t_2, t_3, t_4$ at finite size, of the Gram matrix without its mean direction.

    $t_k = E\,\mathrm{tr}(PKP)^k/n$ for $n$ = ``count`` - 1, where $P$ projects out the mean of the
    ``count`` vectors. For Gaussian vectors these are moments of a Wishart matrix, for orthonormal
    vectors 1: both exact. On the sphere we count closed walks on n vectors: $t_2$ is too low
    by $2/(d\,(n+1))$, and any $t_k$ by a share $O(1/n^2)$.

    >>> round(centred_moments("sphere", 65, 21)[0], 9)
    4.0
    """
    n, d = count - 1.0, float(dim)
    if vectors == "orthonormal":
        return 1.0, 1.0, 1.0
    if vectors == "gaussian":
        third = n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4
        fourth = n**3 + d**3 + 6 * n * d * (n + d) + 6 * (n**2 + d**2)
        fourth += 17 * n * d + 21 * (n + d) + 20
        return (n + d + 1) / d, third / d**2, fourth / d**3
    one, two, three = n - 1, (n - 1) * (n - 2), (n - 1) * (n - 2) * (n - 3)
    fourth = 1 + one * (6 / d + 3 / (d * (d + 2))) + 6 * two / d**2 + three / d**3
    return 1 + one / d, 1 + 3 * one / d + two / d**2, fourth


def effective_rank(count: float, dim: float) -> float:
    r"""$D$, the inverse mean squared correlation of the entries of $Kg$, g a normal vector.

    The covariance of the entries is $K^2$. Coordinates along random directions in D dimensions are
    as strongly correlated: $D = n/(t_4/t_2^2 - 1)$.

    >>> round(effective_rank(256, 56))
    36
    """
    second, _, fourth = moments(count / dim)
    return count / (fourth / second**2 - 1)
