r"""How many bits a memory needs for its facts, and how many bits per parameter memories reach.

**Bounds.** A memory of $B$ bits holds an unknown function from $N$ facts to $M$ outputs, uniform
among all $M^N$. Whatever encoder and decoder, with accuracy $1-\delta$ on average (Fano, and
concavity of the entropy)

$$ B \ge N\,[\log_2M - h_2(\delta) - \delta\log_2(M-1)], $$

and, if the decoder gives probabilities, with mean cross-entropy (Kraft: $2^B$ decoders share a
likelihood that adds up to $2^B$ over all functions)

$$ \mathrm{CE} \ge \log M - \frac{B\log 2}N . $$

Rate-distortion theory makes the first tight for many facts: the best of $2^B$ random codewords
agrees with the function in a share of facts whose mean is that of the maximum of $2^B$ binomials.

**Constructions.** A memory of $n$ pairs under a random permutation answers
$\arg\max_j u_j^\top W\phi_i$, $W=\sum_k u_{f(k)}\phi_k^\top$. Let $\kappa=|\phi_i|^2$, of mean 1
and variance $\tau^2$, and $\phi_k^\top\phi_i$ of variance $\gamma\kappa$. In units of the signal
the right output has $\kappa+x$, $x\sim N(0, I/d)$, $I = (n-1)\gamma\kappa$. The others, given $x$,
are those of a vector of square length $\kappa^2+I+2\kappa x$, and their own pair adds
$\gamma\kappa$. With $F_d$ the law of $\sqrt d$ times a coordinate of a uniform unit vector,

$$ P = E_{\kappa,x}\left[F_d\Big(\frac{\kappa+x}s\Big)^{n-1}\right], \qquad
   s^2 = \frac{\kappa^2+I+2\kappa x}d + \gamma\kappa . $$

Hebbian: $\gamma=1/d$, $\tau=0$. Low rank, keys projected on $m$ random directions: $\gamma=1/m$,
$\tau^2=2(1-m/d)/m$. One bit, $\mathrm{sign}(W)$: $\gamma=1/d$, and $I$ grows by $(\pi/2-1)n/d$.
Cosine features of width $m$: $\gamma=1/m$, $\tau^2=1/2m$.

At the capacity, $P=0.99$, a permutation is known up to $n!/(n-e)!$ possibilities, $e=n/100$ errors,
so that $\log_2(n-e)!$ bits are stored. No theorem says how many bits a real parameter can hold; a
memory of weights of $k$ bits holds at most $k$ bits per weight.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from theory import quadrature
from theory.registry import prediction

_SOURCE = "paper B, arXiv 2412.06538, B7; derived"
_NODES = 40
_LENGTH_NODES = 16

Array = NDArray[np.float64]


def fano_bits(*, facts: float, outputs: int, accuracy: float) -> float:
    """Fewest bits with which a memory of facts can be right this often.

    Args:
        facts: number of facts.
        outputs: each is uniform among these, at least 2.
        accuracy: mean share of facts that come out right, from 1/outputs to 1.

    Raises:
        ValueError: senseless sizes.

    >>> fano_bits(facts=4, outputs=2, accuracy=1.0)
    4.0
    """
    _check(facts, outputs, 0)
    if not 1 / outputs - 1e-12 <= accuracy <= 1:
        raise ValueError(f"accuracy {accuracy} is not between 1/{outputs} and 1")
    wrong = 1 - accuracy
    surprise = float(special.entr(wrong) + special.entr(accuracy)) / math.log(2)
    return facts * max(math.log2(outputs) - surprise - wrong * math.log2(outputs - 1), 0.0)


@prediction(
    latex=r"B = N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]", source=_SOURCE, provenance="derived"
)
def accuracy_ceiling(*, facts: int, outputs: int, bits: float) -> float:
    """Largest mean accuracy of any memory of these bits, 1 - delta: the inverse of `fano_bits`.

    Raises:
        ValueError: senseless sizes.
    """
    _check(facts, outputs, bits)
    if bits >= facts * math.log2(outputs):
        return 1.0
    if bits == 0:
        return 1 / outputs
    return float(
        optimize.brentq(
            lambda a: fano_bits(facts=facts, outputs=outputs, accuracy=a) - bits,
            1 / outputs,
            1.0,
            xtol=1e-14,
        )
    )


@prediction(latex=r"\log M - B\log2/N", source=_SOURCE, provenance="derived")
def loss_floor(*, facts: int, outputs: int, bits: float) -> float:
    """Least mean cross-entropy, in nats, of any memory of these bits.

    Raises:
        ValueError: senseless sizes.
    """
    _check(facts, outputs, bits)
    return max(math.log(outputs) - bits * math.log(2) / facts, 0.0)


@prediction(
    latex=r"\frac1N E\max_{k\le 2^B} X_k,\quad X_k\sim\mathrm{Bin}(N,1/M)",
    source=_SOURCE,
    provenance="derived",
)
def random_code_accuracy(*, facts: int, outputs: int, bits: int) -> float:
    """Mean accuracy of a memory that stores which of 2^bits random codewords agrees best.

    Raises:
        ValueError: senseless sizes.
    """
    _check(facts, outputs, bits)
    below = stats.binom.cdf(np.arange(facts), facts, 1 / outputs)
    return float((1 - below ** (2.0**bits)).sum()) / facts


def one_by_one(*, facts: int, outputs: int, bits: float) -> float:
    """Accuracy of a table that stores whole facts while bits last, and guesses the rest."""
    _check(facts, outputs, bits)
    stored = min(bits / (facts * math.log2(outputs)), 1.0)
    return stored + (1 - stored) / outputs


def parameters(construction: str, *, dim: int, width: int) -> int:
    """Weights that a construction writes; random projections and features do not count."""
    return dim * (width if construction in ("low-rank", "cosine") else dim)


def accuracy(construction: str, pairs: float, *, dim: int, width: int) -> float:
    """Probability that a memory of that many pairs recalls a pair.

    Args:
        construction: "hebbian", "low-rank", "one-bit" or "cosine".
        pairs: n, as many inputs as outputs.
        dim: d, of the embeddings.
        width: m, the rank or the number of features; ignored by the others.

    Raises:
        ValueError: an unknown construction, or senseless sizes.
    """
    if pairs < 1 or dim < 4 or width < 4:
        raise ValueError(f"{pairs} pairs in {dim} dimensions, width {width}: too small")
    quantisation, spread = 0.0, 0.0
    if construction in ("hebbian", "one-bit"):
        overlap = 1 / dim
        quantisation = (math.pi / 2 - 1) * pairs / dim if construction == "one-bit" else 0.0
    elif construction in ("low-rank", "cosine"):
        overlap = 1 / width
        spread = (2 * (1 - width / dim) if construction == "low-rank" else 0.5) / width
    else:
        raise ValueError(f"unknown construction {construction!r}")
    nodes, weights = quadrature.normal(_NODES)
    kinds, shares = quadrature.normal(_LENGTH_NODES) if spread else (np.zeros(1), np.ones(1))
    length = np.maximum(1 + math.sqrt(spread) * kinds, 0.05)[:, None]
    interference = (pairs - 1) * overlap * length + quantisation
    own = np.sqrt(interference / dim) * nodes
    square = np.maximum(length**2 + interference + 2 * length * own, 1e-9)
    rival = np.sqrt(square / dim + overlap * length)
    recalled = np.exp((pairs - 1) * _log_coordinate_cdf((length + own) / rival, dim))
    return float(shares @ recalled @ weights)


def _log_coordinate_cdf(value: Array, dim: int) -> Array:
    """Of the root of d times a coordinate of a uniform unit vector."""
    coordinate = np.clip(value / math.sqrt(dim), -1, 1)
    logarithms: Array = stats.beta.logcdf((1 + coordinate) / 2, (dim - 1) / 2, (dim - 1) / 2)
    return logarithms


def capacity(construction: str, *, dim: int, width: int, target: float = 0.99) -> float:
    """Number of pairs, a real number, at which `accuracy` falls to the target."""
    found = optimize.brentq(
        lambda pairs: accuracy(construction, pairs, dim=dim, width=width) - target,
        2,
        2 * dim * max(dim, width),
        xtol=1e-3,
    )
    return float(found)


@prediction(
    latex=r"\frac{\log_2\Gamma(0.99n^*+1)}{\#\text{weights}},\quad P(n^*)=0.99",
    source=_SOURCE,
    provenance="derived",
)
def bits_per_parameter(construction: str, *, dim: int, width: int) -> float:
    """Bits per weight that a construction stores at its 99% capacity.

    For n from 150 to 600 the capacity is within 6% of simulations: a permutation of n pairs has
    only n/100 errors at its capacity, a number that fluctuates.
    """
    recalled = 0.99 * capacity(construction, dim=dim, width=width)
    return math.lgamma(recalled + 1) / math.log(2) / parameters(construction, dim=dim, width=width)


def _check(facts: float, outputs: int, bits: float) -> None:
    if facts < 1 or outputs < 2 or bits < 0:
        raise ValueError(f"{facts} facts, {outputs} outputs, {bits} bits: too few")
