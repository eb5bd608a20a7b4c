r"""Memories of Zipf data: the tokens that are worth storing, and the error that is left.

Token $x = 1, 2, \dots$ has frequency $p(x)=x^{-\alpha}/\zeta(\alpha)$, $\alpha>1$, and label
$f(x)=x\bmod M$. The memory $W=\sum_xq(x)u_{f(x)}e_x^\top$ of independent uniform unit vectors in
$R^d$ answers $\arg\max_au_a^\top We_x$; its error is $\sum_xp(x)P(\text{wrong}\mid x)$.

With few labels, $M\ll d$, token $x$ of label $i$ is recalled with probability

$$ \int\varphi(z)\prod_{j\ne i}\Phi\Big(\frac{q(x)+\sigma_iz}{\sigma_j}\Big)dz,\qquad
   \sigma_j^2=\frac{Q_j}d+\frac1{d^2}\sum_{a\ne i,j}Q_a , $$

$Q_a$ the sum of $\pi_{x'}q(x')^2$ over the other tokens of label $a$, and $\pi_x=1-(1-p)^T$ the
probability that $T$ samples contain the token. The last sum leaves out two labels, i and j. As
$\sigma_i$ serves all rivals j, its sum is the mean over j,
$\frac{M-2}{M-1}\sum_{a\ne i}Q_a$. With a label for each token the memory is as in `linear`. The
derivation, and the rates that follow, are in zipf.md.

Finite size: where even the most frequent token may fail, predicted errors are up to 10% off.
"""

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recall_claims import Regime, log_range, prediction
from theory.laws import quadrature
from theory.memory import linear

_SOURCE = "arXiv 2310.02984, C3; finite-size form derived"
_NODES = 40

Array = NDArray[np.float64]

ZIPF = Regime(
    "alpha from 1.5 to 3",
    {
        "alpha": (2.0, 1.5, 2.5, 3.0),
        "labels": range(3, 9),
        "dim": log_range(32, 1024),
        "stored": log_range(3, 1024),
    },
)
CUTOFF = ZIPF.searched(
    "d >= 32, 3 to 8 labels, at most 2 d tokens stored",
    holds=lambda cell: cell["stored"] <= 2 * cell["dim"],
)
"""Regime in which `cutoff_error` states its error."""
POWER = ZIPF.searched(
    "d >= 32, a few labels, powers with 2 rho alpha > 1",
    holds=lambda cell: 2 * cell["power"] * cell["alpha"] > 1,
    power=(1.0, 0.75, 0.5, 0.25),
)
"""Regime in which `power_error` states its error."""
MANY_LABELS = ZIPF.searched(
    "d >= 24, at most d^2/8 tokens stored, each with its own label",
    holds=lambda cell: 8 <= cell["stored"] <= min(cell["labels"], cell["dim"] ** 2 / 8),
    labels=log_range(32, 4096),
    dim=log_range(24, 1024),
)
"""Regime in which `many_labels_error` states its error."""
UNSEEN = Regime(
    "alpha from 1.5 to 3", {"alpha": ZIPF.ranges["alpha"], "samples": log_range(64, 65536)}
)
"""Regime in which `unseen_mass` states its error."""


def _check(alpha: float, labels: int, dim: float, stored: int) -> None:
    if alpha <= 1:
        raise ValueError(f"alpha is {alpha}: frequencies add up only above 1")
    if labels < 2:
        raise ValueError(f"labels is {labels}: give at least 2")
    if dim < 4:
        raise ValueError(f"dim is {dim}: the law of the scores needs at least 4")
    if stored < 3:
        raise ValueError(f"{stored} stored tokens: give at least 3")


def frequencies(tokens: int, alpha: float) -> Array:
    """Frequencies of the most frequent tokens among infinitely many."""
    weights: Array = np.arange(1.0, tokens + 1) ** -alpha / special.zeta(alpha)
    return weights


@prediction(
    latex=r"E = \sum_xp(x)\left[\pi_xP(\mathrm{wrong}\mid q=1\{x\le P\})"
    r"+(1-\pi_x)P(\mathrm{wrong}\mid q=0)\right]",
    source=_SOURCE,
    error="5%",
    regime=CUTOFF,
)
def cutoff_error(
    alpha: float, labels: int, dim: float, stored: int, samples: float = math.inf
) -> float:
    """Error of a memory that stores the most frequent tokens with equal weights, with few labels.

    Stated error: {error} of the result.

    Args:
        alpha: exponent of the frequencies.
        labels: number of labels, M.
        dim: embedding dimension.
        stored: number of most frequent tokens stored, P.
        samples: size of the training set, T; tokens that it does not contain are not stored.

    Raises:
        ValueError: alpha not above 1, fewer than 2 labels, dim below 4, or fewer than 3 stored.
    """
    _check(alpha, labels, dim, stored)
    return _error(alpha, labels, dim, stored, 0.0, samples)


def best_stored(alpha: float, labels: int, dim: float, choices: Iterable[int]) -> int:
    """Number P of most frequent tokens, stored with equal weights, that leaves the least error.

    With 5 labels and alpha = 2 the best P is 1.1 to 1.3 times d/log d; with 3 to 8 labels and alpha
    from 1.5 to 3 it is 0.5 to 2.5 times d/log d.

    Raises:
        ValueError: as in `cutoff_error`.
    """
    return min(choices, key=lambda stored: cutoff_error(alpha, labels, dim, stored))


@prediction(
    latex=r"E = \sum_xp(x)P(\mathrm{wrong}\mid q=p(x)^\rho\,1\{x\le P\})",
    source=_SOURCE,
    error="5%",
    regime=POWER,
)
def power_error(alpha: float, labels: int, dim: float, power: float, stored: int) -> float:
    r"""Error of a memory that stores the most frequent tokens with weights $p^\rho$.

    ``stored`` is their number P. Stated error: {error} of the result.

    Raises:
        ValueError: as in `cutoff_error`.
    """
    _check(alpha, labels, dim, stored)
    return _error(alpha, labels, dim, stored, power, math.inf)


@lru_cache(maxsize=1024)
def _error(
    alpha: float, labels: int, dim: float, stored: int, power: float, samples: float
) -> float:
    """Error when ``stored`` tokens have weights p^power and the rest is guessed."""
    p = frequencies(stored, alpha)
    seen = -np.expm1(samples * np.log1p(-p))
    weight = (p / p[0]) ** power
    label = np.arange(1, stored + 1) % labels
    right = seen * _right(weight, seen * weight**2, label, labels, dim)
    right += (1 - seen) * _right(np.zeros(stored), seen * weight**2, label, labels, dim)
    return float(1 - p @ right - (1 - p.sum()) / labels)


def _right(
    signal: Array, square: Array, label: NDArray[np.int64], labels: int, dim: float
) -> Array:
    """Probability that each token is recalled, (tokens,), from the mean squares of all weights."""
    is_own = label[:, None] == np.arange(labels)
    stored = np.bincount(label, square, labels) - square[:, None] * is_own
    own = stored[is_own][:, None]
    others = stored.sum(axis=1, keepdims=True) - own
    cross = np.where(is_own, others * (labels - 2) / (labels - 1), others - stored)
    # Rounding may leave an empty label a hair below zero.
    deviation = np.sqrt(np.maximum(stored / dim + cross / dim**2, 1e-30))
    node, node_weight = quadrature.normal(_NODES)
    score = signal[:, None] + deviation[is_own][:, None] * node
    below = special.ndtr(score[:, None] / deviation[..., None])
    right: Array = np.where(is_own[..., None], 1.0, below).prod(axis=1) @ node_weight
    return right


@prediction(
    latex=r"E = \sum_{x>P}p(x)+\sum_{x\le P}p(x)P(\mathrm{wrong})",
    source=_SOURCE,
    error="5%",
    regime=MANY_LABELS,
)
def many_labels_error(alpha: float, labels: int, dim: float, stored: int) -> float:
    """Error when the most frequent tokens are stored, each with a label of its own.

    All ``labels`` outputs compete, including outputs of tokens that are not stored.

    Stated error: {error} of the result.

    Raises:
        ValueError: as in `cutoff_error`, or fewer labels than stored tokens.
    """
    _check(alpha, labels, dim, stored)
    if labels < stored:
        raise ValueError(f"{stored} stored tokens need as many labels, not {labels}")
    right = linear.recalled(dim, stored - 1, 1 / dim, idle=labels - stored)
    return 1 - right * float(frequencies(stored, alpha).sum())


@prediction(
    latex=r"\sum_xp(1-p)^T \simeq \frac{\Gamma(1-1/\alpha)}{\alpha\,\zeta(\alpha)^{1/\alpha}}"
    r"T^{-1+1/\alpha}",
    source=_SOURCE,
    error="1%",
    regime=UNSEEN,
)
def unseen_mass(alpha: float, samples: float) -> float:
    """Probability that a random token is not among the training samples, for many samples.

    The stated error is {error} from 64 samples on, for alpha from 1.5 to 3. With 64 samples it is
    1.3% at alpha = 3.25 and 4% at alpha = 4.

    Raises:
        ValueError: alpha not above 1, or not a positive number of samples.
    """
    if alpha <= 1 or samples <= 0:
        raise ValueError(f"alpha={alpha} must be above 1 and samples={samples} above 0")
    constant = math.gamma(1 - 1 / alpha) / alpha * special.zeta(alpha) ** (-1 / alpha)
    return float(constant * samples ** samples_exponent(alpha))


def least_error(alpha: float, labels: int, tokens: int, samples: int) -> float:
    r"""Error of a memory that knows each token of its samples, and guesses the label of the others.

    It is $(1-1/M)\sum_xp(x)(1-p(x))^T$ over finitely many tokens, whose frequencies add up to 1. No
    memory does better on average if labels are drawn uniformly.

    Raises:
        ValueError: alpha not above 1, or fewer than 1 label, token or sample.
    """
    if alpha <= 1 or min(labels, tokens, samples) < 1:
        raise ValueError(
            f"alpha={alpha} must be above 1, and {labels} labels, {tokens} tokens and {samples} "
            "samples at least 1"
        )
    p = frequencies(tokens, alpha)
    p /= p.sum()
    return float((1 - 1 / labels) * p @ (1 - p) ** samples)


@prediction(latex=r"E\propto\left(\frac d{\ln d}\right)^{1-\alpha}", source=_SOURCE)
def cutoff_exponent(alpha: float) -> float:
    r"""Exponent of the error of the cut-off scheme, as a power of the number of tokens that fit.

    This number is a multiple of $d/\ln d$ with few labels (the reported rate leaves out the
    logarithm), and of $d^2/\ln d$ with a label for each token.
    """
    return 1 - alpha


@prediction(latex=r"E\propto d^{-(\alpha-1)/(2\rho\alpha)}", source=_SOURCE)
def power_exponent(alpha: float, power: float) -> float:
    r"""Exponent of the error as a power of the dimension, with weights $p^\rho$ and few labels.

    Raises:
        ValueError: $2\rho\alpha\le1$, where the rare tokens swamp the frequent ones.
    """
    if 2 * power * alpha <= 1:
        raise ValueError(f"weights p^{power} do not converge at alpha={alpha}")
    return -(alpha - 1) / (2 * power * alpha)


@prediction(latex=r"E\propto T^{-1+1/\alpha}", source=_SOURCE, provenance="reported")
def samples_exponent(alpha: float) -> float:
    """Exponent of the unseen mass as a power of the number of samples."""
    return -1 + 1 / alpha
