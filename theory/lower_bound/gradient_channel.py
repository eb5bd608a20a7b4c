r"""Information that the value gradient at initialisation holds about the map from tokens to labels.

The gradient is $G = UMZ^\top$, $M = \frac1N\sum_i(e_{k_i} - \mathbf 1/V)\bar x_i^\top$, with
$\bar x_i$ the token frequencies of sequence $i$, $k_i$ its label, and $U$ and $Z$ the embeddings of
outputs and tokens. Let $P_\pi$ be the 0/1 matrix of the map and $J$ all ones. Given the label
counts $n_k$, $M$ is

$$ \frac{1}{NL}\,\mathrm{diag}(n)\Big(P_\pi - \frac JV\Big) + \text{fluctuations of variance }
   \nu^2 = \frac{L-1}{NL^2V^2} \text{ per entry}. $$

**Assumption.** The fluctuations are Gaussian (the Gaussian-equivalent channel), and the decoder
knows the label counts. Without this assumption `information` is no bound: in exact arithmetic even
one real entry of G may determine M. With b bits per entry of G the information is at most
$b d^2\log 2$ in any case.

In each of the $(V-1)^2$ directions of mean zero the signal has variance $\nu^2\rho$, $\rho$ =
`snr`. So signal and noise of G both have a covariance $\propto UU^\top\otimes ZZ^\top$, and the
embeddings cancel. As the Gaussian law maximises entropy, `information` is an upper bound.
"""

import math

from scipy import stats

from recall_claims import log_range, prediction
from theory.attention.problem import SIZES, Problem

EVERY_MAP = SIZES.searched(
    "V so small that Bayes' rule can be summed over all maps, d < V",
    holds=lambda cell: cell["dim"] < cell["vocab_size"],
    vocab_size=range(3, 7),
    length=log_range(2, 256),
    samples=log_range(1, 256),
    dim=range(2, 7),
    without=("trigger_in_values",),
)

_SOURCE = "paper A, arXiv 2603.15923, A4 and A13 (lower bound); inequality and constants derived"


@prediction(latex=r"\rho = \frac{N+V}{(L-1)(V-1)}", source=_SOURCE)
def snr(problem: Problem) -> float:
    r"""Signal over noise in the gradient: ratio of variances per direction of mean zero.

    The $V$ in the numerator is from $E n^2 = \lambda^2(1 + 1/\lambda)$, $\lambda = N/V$. Paper A's
    assumptions allow small and large $N/(LV)$.
    """
    size = problem.vocab_size
    return (problem.samples + size) / ((problem.length - 1) * (size - 1))


@prediction(latex=r"\frac12\log(1+\rho)", source=_SOURCE)
def entry_information(problem: Problem) -> float:
    """Upper bound in nats on the information in one entry of G; `information` adds up all entries.

    The problem's own ``dim`` plays no part.
    """
    return math.log1p(snr(problem)) / 2


@prediction(
    latex=r"I(\pi; G) \le I_B = \frac{d^2}{2}\log\Big(1 + \frac{N+V}{(L-1)(V-1)}\Big)",
    source=_SOURCE,
)
def information(problem: Problem) -> float:
    r"""Upper bound in nats on G's information about the map, in the Gaussian-equivalent channel.

    The decoder knows the embeddings; $d$ means $\min(d, V - 1)$. The bound is tight for
    $I \ll \log V!$ and $\rho \ll 1$.

    >>> p = Problem(vocab_size=256, length=32, samples=2048, dim=105)
    >>> round(information(p) / (256 * math.log(256)), 2)
    0.99
    """
    rank = min(problem.dim, problem.vocab_size - 1)
    return rank**2 * entry_information(problem)


@prediction(
    latex=r"I_1 = \log\frac VL + E\log(1 + \mathrm{Bin}(L-1, 1/V))",
    source=_SOURCE,
    error="exact",
)
def sample_information(problem: Problem) -> float:
    r"""Exact information of one sequence and its label about the map, in nats.

    A map's posterior probability is its prior times $V c_k/L$, where the map gives the label to
    $c_k$ of the L tokens. Hence N samples, and anything computed from them, hold at most $N I_1$,
    about $N\log(V/L)$, without any assumption on the channel.

    >>> sample_information(Problem(vocab_size=8, length=2, samples=1, dim=2)) > math.log(8 / 2)
    True
    """
    size, length = problem.vocab_size, problem.length
    repeats = stats.binom(length - 1, 1 / size)
    repeated = math.fsum(
        float(repeats.pmf(count)) * math.log1p(count) for count in range(1, length)
    )
    return math.log(size / length) + repeated
