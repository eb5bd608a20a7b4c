r"""Facts decoded from short codes: a length that suffices, by the geometry of the values.

There are F facts. Fact i has a code $G\hat u_i$ of k dimensions, where G is a k x d Gaussian matrix
and the directions $\hat u_i$ are unit vectors of $R^d$. The decoder $G^T$ leads back to $R^d$; the
value $v_j$ of largest score $v_j\cdot G^TG\hat u_i$ is the answer. The vector $G\hat u_i$ and the
part of G that is orthogonal to $\hat u_i$ are independent, so

$$ G^TG\hat u_i = A\hat u_i+\sqrt A\,g,\qquad A\sim\chi^2_k,\quad g\sim N(0,1-\hat u_i\hat u_i^T).$$

Let $\rho_{ij}$ be the cosine of $\hat u_i$ and $v_i-v_j$. Rival j wins if
$\xi\sqrt{1-\rho_{ij}^2}>\rho_{ij}\sqrt A$, with a standard normal $\xi$. Now $\xi/\sqrt{\xi^2+A}$
is a coordinate c of a random unit vector in k + 1 dimensions. So j wins with the exact chance

$$ P(c>\rho_{ij}) = I_{(1-\rho_{ij})/2}(\tfrac k2,\tfrac k2), $$

for any values and directions. The decodability $\rho$ of a value is the least $\rho_{ij}$ over its
rivals, for the directions that make it largest. On average a share of at most $(F-1)\,P(c>\rho)$ of
the facts is wrong. Where this share is 1%, k is $2\ln(100F)/\ln\frac1{1-\rho^2}$ to leading order.
For 64 to 512 facts this is 26% to 33% above the exact k. The share is a bound: rivals farther away
win less often, and several may win together.

**Values in groups.** There are K groups of b = F/K values. Values are $v=sz+\sqrt\gamma\,c$ with
$s^2=1-\gamma$, where z of each value and c of each group are orthonormal. By symmetry the best
direction is $p+yq$, where p is the value less its group's mean, and q is the group's mean less the
mean of all. This direction makes rivals in the group and in other groups equally near, so that
$y=s(1-s+\frac sb)/\tau^2$ with $\tau^2=\frac{s^2}b+\gamma$. Then $|p|^2=s^2(1-\frac1b)$,
$|q|^2=\tau^2(1-\frac1K)$ and

$$ \rho = \frac s{\sqrt{2(|p|^2+y^2|q|^2)}}\to\tfrac12\sqrt{1+s}\quad\text{for large b and K}. $$

With one group $\rho$ is near $\sqrt{1/2}$ whatever $\gamma$: a part that all values share costs
nothing. Only codes made of the values themselves pay for this part: they have $\rho=s/\sqrt2$.

**Weights.** The decoder has k d weights, whatever the facts. An encoder that is linear in random
features needs about k weights per fact. For d near F, decoder and encoder each need of order
$F\ln F/\ln\frac1{1-\rho^2}$ weights.
"""

import math

from recall_claims import Regime, prediction
from theory.laws import crossing, sphere

_SOURCE = "arXiv 2512.00207, G11; derived"

VALUES = Regime(
    "64 to 512 values in groups of two and more, with at most 3/4 of the squared length shared; "
    "values serve as codes only in one group, where all rivals are equally near",
    {
        "facts": (64, 128, 256, 512),
        "groups": (1, 2, 4, 8, 16, 32, 64),
        "shared": (0.0, 0.25, 0.5, 0.75),
        "code": ("best", "plain"),
    },
    holds=lambda cell: (
        cell["facts"] >= 2 * cell["groups"] and (cell["code"] == "best" or cell["groups"] == 1)
    ),
)
"""Regime in which `needed_code` states its error."""


def decodability(facts: int, groups: int, shared: float, code: str = "best") -> float:
    """Least cosine between a fact's direction and the differences of its value and a rival's value.

    Args:
        facts: number of values, a multiple of ``groups``.
        groups: number of groups of values.
        shared: squared length that the values of a group share, of a total of 1.
        code: "best" for directions that make the least cosine largest, or "plain" for the values.

    Raises:
        ValueError: groups of unequal size or of one value, ``shared`` outside [0, 1), or another
            code.

    >>> decodability(256, 1, 0.5, "plain")
    0.5
    """
    size = facts // max(groups, 1)
    if size < 2 or size * groups != facts or not 0 <= shared < 1 or code not in ("best", "plain"):
        raise ValueError(
            f"{facts} facts in {groups} groups that share {shared}, code {code!r}: give groups of "
            'two and more, a share from 0 to below 1, and "best" or "plain"'
        )
    own = math.sqrt(1 - shared)
    if code == "plain":
        return own / math.sqrt(2)
    apart = own**2 / size + shared
    weight = own * (1 - own + own / size) / apart
    square = own**2 * (1 - 1 / size) + weight**2 * apart * (1 - 1 / groups)
    return own / math.sqrt(2 * square)


def least_share(
    facts: int, groups: int, shared: float, code_dim: float, code: str = "best"
) -> float:
    """Lower bound on the mean share of facts decoded correctly from codes of this dimension.

    Raises ValueError as `decodability`.
    """
    wrong = float(sphere.tail(decodability(facts, groups, shared, code), code_dim + 1))
    return 1 - (facts - 1) * wrong


@prediction(
    latex=r"(F-1)\,I_{(1-\rho)/2}(\tfrac k2,\tfrac k2)=0.01,\quad "
    r"k\sim\frac{2\ln(100F)}{\ln\frac1{1-\rho^2}}",
    source=_SOURCE,
    error="20%",
    regime=VALUES,
)
def needed_code(
    facts: int, groups: int, shared: float, code: str = "best", share: float = 0.99
) -> float:
    """Code dimension at and above which this mean share of facts is sure to be decoded correctly.

    The dimension is 0 if below 1. Stated error: the dimension from which half the decoders have 99%
    right is up to {error} below this one. The bound counts a fact once for each rival that wins,
    and a few decoders make most errors. Raises ValueError as `decodability`.
    """
    return crossing.log_root(
        lambda dim: least_share(facts, groups, shared, dim, code), 1.0, level=share, tolerance=1e-9
    )
