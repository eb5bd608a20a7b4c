r"""Trigger score: how far gradient descent moves the attention towards the informative token.

After the first two gradient steps the score of a key $\kappa$ is $\kappa^\top w$ (up to the factor
$\gamma\eta$ of the step sizes), with

$$ w = \frac{1}{N^2}\sum_{i,i'} g_{ii'}\,\Sigma_i\,\bar h_{i'},\qquad
   g_{ii'} = \delta_i^\top U^\top U\delta_{i'},\quad \delta_i = e_{k_i} - \mathbf 1/V . $$

The columns of $U$ are the output embeddings. Sequence $i$ has the label $k_i$, the mean value
$\bar h_i$ and the key-value covariance $\Sigma_i$. The trigger, of embedding $z_{trig}$, has the
score $\theta_{trig} = z_{trig}^\top w$.
"""

from recall_claims import prediction
from theory.attention.problem import Problem

_SOURCE = "paper A, arXiv 2603.15923, A3 and A9; constants derived"

EXPONENTS = {"vocab_size": -1.0, "length": -2.0, "samples": 0.0, "dim": 0.0}
"""Exponents of the trigger score for $L \\gg 1$ and $N \\gg V(1 + L/d)$."""


@prediction(latex=r"s_0 = \frac{1 - 1/L}{L^2 V}", source=_SOURCE)
def signal_unit(problem: Problem) -> float:
    r"""Unit of all scores, $s_0 = (1 - 1/L)/(L^2 V)$.

    Without the trigger in the values it is the trigger score at large $N$ and $V$, a product of
    three factors. The memory holds a sample's informative token with weight $1/L$. The sample's
    covariance couples the trigger to that token with weight $(1 - 1/L)/L$. Two samples share a
    label with probability $1/V$.
    """
    length = problem.length
    return (1 - 1 / length) / (length**2 * problem.vocab_size)


@prediction(
    latex=r"\frac{E\theta_{trig}}{s_0} = \left(1-\frac1V\right)\left[\left(1-\frac1N\right)"
    r"\left(1+\frac{\tau}{d}\right)+\tau\frac VN\left(1+\frac Ld\left(1-\frac1V\right)\right)"
    r"\right]",
    source=_SOURCE,
    error="exact",
)
def trigger_signal(problem: Problem) -> float:
    r"""Mean trigger score $E\theta_{trig}$, exact for unit-sphere and orthonormal embeddings.

    For Gaussian embeddings it is exact with the trigger in the keys alone, as each squared length,
    of mean 1, enters once. With the trigger in the values the trigger's length enters to the fourth
    power, and the formula is too low: simulated over predicted is 1.11, with a standard error of
    0.02, at (V, L, N, d) = (6, 3, 12, 6).

    With the trigger in the values ($\tau = 1$) the stored trigger adds an excess, in
    units of $s_0$ about $(V/N)(1 + L/d)$, that vanishes at infinite $N$. Pairs of samples then
    give $1 + 1/d$ times as much as for $\tau=0$.

    >>> p = Problem(vocab_size=128, length=8, samples=10**9, dim=64)
    >>> round(trigger_signal(p) / signal_unit(p), 4)
    0.9922
    """
    size, load = problem.vocab_size, problem.load
    pairs = 1 - 1 / problem.samples
    excess = 0.0
    if problem.trigger_in_values:
        pairs *= 1 + problem.overlap
        excess = (1 + problem.length * problem.overlap * (1 - 1 / size)) / load
    return signal_unit(problem) * (1 - 1 / size) * (pairs + excess)
