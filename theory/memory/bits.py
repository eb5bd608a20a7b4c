r"""Bits that a memory of facts needs, and bits per parameter that memories store.

**Bounds.** A memory of $B$ bits holds an unknown function from $N$ facts to $M$ outputs, uniform
among all $M^N$. For any encoder and decoder with accuracy $1-\delta$ on average (Fano, and
concavity of the binary entropy $h_2$)

$$ B \ge N\,[\log_2M - h_2(\delta) - \delta\log_2(M-1)], $$

and, if the decoder gives probabilities, with mean cross-entropy (Kraft: under $2^B$ decoders the
likelihoods of all functions add up to $2^B$)

$$ \mathrm{CE} \ge \log M - \frac{B\log 2}N . $$

By rate-distortion theory the first bound is tight for many facts. The best of $2^B$ random
codewords agrees with the function in a share of facts. N times the mean of this share is the mean
maximum of $2^B$ binomial variables.

**Constructions.** A memory of $n$ pairs under a random permutation recalls a pair with the
probability that `linear` and `mlp` derive. Constructions are the sum of outer products (unchanged,
after a projector of rank m, or rounded to signs), and memories with cosine or bilinear features of
width m. At the capacity, $P=0.99$, there are $e=n/100$ errors. They leave up to $n!/(n-e)!$
permutations possible, so that $\log_2(n-e)!$ bits are stored. No theorem says how many bits a real
parameter can hold; a memory of weights of $k$ bits holds at most $k$ bits per weight.
"""

import math

import numpy as np
from scipy import special, stats

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing
from theory.memory import bilinear, linear, mlp

_SOURCE = "paper B, arXiv 2412.06538, B7; derived"

CODES = Regime(
    "any sizes",
    {"facts": log_range(1, 256), "outputs": log_range(2, 256), "bits": range(41)},
)
"""Regime in which the bounds hold, and `random_code_accuracy` is exact."""
CONSTRUCTIONS = Regime(
    "8,000 to 37,000 weights, m >= d/4, so that 150 to 1000 pairs are recalled to 99%",
    {
        "construction": ("hebbian", "one-bit", "low-rank", "cosine"),
        "dim": log_range(48, 256),
        "width": log_range(32, 512),
    },
    holds=lambda cell: (
        8000 <= cell["dim"] ** 2 <= 37000
        if cell["construction"] in ("hebbian", "one-bit")
        else 8000 <= cell["dim"] * cell["width"] <= 37000
        and 4 * cell["width"] >= cell["dim"]
        and (cell["construction"] == "cosine" or cell["width"] <= cell["dim"])
    ),
)
"""Regime in which `bits_per_parameter` states its error."""


def fano_bits(*, facts: float, outputs: int, accuracy: float) -> float:
    """Least number of bits with which a memory of facts can have this accuracy.

    Args:
        facts: number of facts.
        outputs: number of equally likely outputs of a fact, at least 2.
        accuracy: mean share of facts recalled, from 1/outputs to 1.

    Raises:
        ValueError: sizes or accuracy out of range.

    >>> fano_bits(facts=4, outputs=2, accuracy=1.0)
    4.0
    """
    _check(facts, outputs, 0)
    if not 1 / outputs - 1e-12 <= accuracy <= 1:
        raise ValueError(f"accuracy {accuracy} is not between 1/{outputs} and 1")
    wrong = 1 - accuracy
    surprise = float(special.entr(wrong) + special.entr(accuracy)) / math.log(2)
    return facts * max(math.log2(outputs) - surprise - wrong * math.log2(outputs - 1), 0.0)


@prediction(latex=r"B = N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]", source=_SOURCE)
def accuracy_ceiling(*, facts: int, outputs: int, bits: float) -> float:
    """Largest mean accuracy, 1 - delta, of any memory of so many bits: the inverse of `fano_bits`.

    Raises:
        ValueError: sizes or bits out of range.
    """
    _check(facts, outputs, bits)
    if bits >= facts * math.log2(outputs):
        return 1.0
    if bits == 0:
        return 1 / outputs
    return crossing.root(
        lambda accuracy: fano_bits(facts=facts, outputs=outputs, accuracy=accuracy),
        1 / outputs,
        1.0,
        level=bits,
        tolerance=1e-14,
    )


@prediction(latex=r"\max\{\log M - B\log2/N,\ 0\}", source=_SOURCE)
def loss_floor(*, facts: int, outputs: int, bits: float) -> float:
    """Least mean cross-entropy, in nats, of any memory of so many bits.

    Raises:
        ValueError: sizes or bits out of range.
    """
    _check(facts, outputs, bits)
    return max(math.log(outputs) - bits * math.log(2) / facts, 0.0)


@prediction(
    latex=r"\frac1N E\max_{k\le 2^B} X_k,\quad X_k\sim\mathrm{Bin}(N,1/M)",
    source=_SOURCE,
    error="exact",
    regime=CODES,
)
def random_code_accuracy(*, facts: int, outputs: int, bits: int) -> float:
    """Mean accuracy of a memory that stores the index of the best of 2^bits random codewords.

    Exact.

    Raises:
        ValueError: sizes or bits out of range.
    """
    _check(facts, outputs, bits)
    below = stats.binom.cdf(np.arange(facts), facts, 1 / outputs)
    return float((1 - below ** (2.0**bits)).sum()) / facts


def one_by_one(*, facts: int, outputs: int, bits: float) -> float:
    """Accuracy of a table of log2(outputs) bits per fact, which guesses the facts that do not fit.

    The number of facts that fit counts as real: it is not rounded down.

    Raises:
        ValueError: sizes or bits out of range.
    """
    _check(facts, outputs, bits)
    stored = min(bits / (facts * math.log2(outputs)), 1.0)
    return stored + (1 - stored) / outputs


def parameters(construction: str, *, dim: int, width: int) -> int:
    """Number of weights that a construction writes, without random projections and features."""
    return dim * (dim if construction in ("hebbian", "one-bit") else width)


def recall_probability(construction: str, pairs: float, *, dim: int, width: int) -> float:
    """Probability that a memory of ``pairs`` associations recalls a given association.

    Args:
        construction: "hebbian", "low-rank", "one-bit", "cosine", "bilinear" or
            "bilinear-whitened".
        pairs: n, the number of inputs and of outputs.
        dim: d, of the embeddings.
        width: m, the rank or the number of features; other constructions ignore it.

    Raises:
        ValueError: an unknown construction, or impossible sizes.
    """
    if construction == "hebbian":
        return linear.linear_memory_accuracy(pairs, dim)
    if construction == "one-bit":
        return linear.one_bit_accuracy(pairs, dim)
    if construction == "low-rank":
        return linear.low_rank_accuracy(pairs, dim, width)
    if construction == "cosine":
        return mlp.mlp_memory_accuracy(associations=pairs, dim=dim, width=width)
    if construction in ("bilinear", "bilinear-whitened"):
        whitened = construction == "bilinear-whitened"
        return bilinear.accuracy(associations=pairs, dim=dim, width=width, whitened=whitened)
    raise ValueError(f"unknown construction {construction!r}")


def capacity(construction: str, *, dim: int, width: int, target: float = 0.99) -> float:
    """Number of pairs, real, at which `recall_probability` falls to the target; 0 if below 4.

    Raises ValueError as `recall_probability`.
    """
    found = crossing.root(
        lambda pairs: recall_probability(construction, pairs, dim=dim, width=width),
        4,
        2 * dim * max(dim, width),
        level=target,
        tolerance=1e-3,
    )
    return max(found, 0.0)


@prediction(
    latex=r"\frac{\log_2\Gamma(0.99n^*+1)}{\#\text{weights}},\quad P(n^*)=0.99",
    source=_SOURCE,
    error="6%",
    regime=CONSTRUCTIONS,
)
def bits_per_parameter(construction: str, *, dim: int, width: int) -> float:
    """Bits per weight that a construction stores at its 99% capacity.

    For n from 150 to 1000 the stated error is {error}: at its capacity a memory of n pairs has only
    n/100 errors, a number that fluctuates. Raises ValueError as `recall_probability`.
    """
    recalled = 0.99 * capacity(construction, dim=dim, width=width)
    return math.lgamma(recalled + 1) / math.log(2) / parameters(construction, dim=dim, width=width)


def _check(facts: float, outputs: int, bits: float) -> None:
    if facts < 1 or outputs < 2 or bits < 0:
        raise ValueError(f"{facts} facts, {outputs} outputs, {bits} bits: too few")
