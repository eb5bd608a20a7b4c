r"""Bound on accuracy from information: no estimator of the map has a larger accuracy.

Let $A$ be the number of the $V$ labels guessed right, and $x = EA$. If the guess were
independent of a uniform map $\pi$, the factorial moments of $A$ would be at most 1, even if the
guess names a label twice. Then $E(1+s)^A \le e^s$, and Donsker and Varadhan's inequality gives
$x\log(1+s) - s \le I$ for the actual guess. With the best $s = x - 1$ and the accuracy $\alpha$
this is

$$ x\log x - x + 1 \le I, \qquad x = \alpha V \ge 1 . $$

The bound is rigorous for given information $I$. For the channel from the map to the gradient, $I$
is at most `gradient_channel.information` if this channel is Gaussian, and at most N times
`gradient_channel.sample_information` always.
"""

import math

from scipy import special

from recall_claims import Regime, log_range, prediction
from theory.attention.problem import Problem
from theory.lower_bound import gradient_channel

REVEALED = Regime(
    "a channel that reveals the whole map with some chance",
    {
        "vocab_size": log_range(6, 8192),
        "chance": tuple(step / 20 for step in range(20, 3, -1)),
    },
)
"""Channels of known largest accuracy, with which bounds can be compared."""

_SOURCE = "paper A, arXiv 2603.15923, A4 and A13 (lower bound); inequality and constants derived"


@prediction(latex=r"\alpha \le \frac1V\,\frac{I-1}{W_0((I-1)/e)}", source=_SOURCE)
def largest_accuracy(information: float, vocab_size: int) -> float:
    r"""Largest possible mean accuracy with ``information`` nats about the map.

    $W_0$ is Lambert's function.

    >>> round(largest_accuracy(0.0, 100), 6), largest_accuracy(1e4, 100)
    (0.01, 1.0)
    """
    if information < 1e-9:  # W_0 is lost to rounding at its branch point
        return 1 / vocab_size
    excess = information - 1
    # (I - 1)/W_0((I - 1)/e) = exp(1 + W_0), which has no 0/0 at I = 1.
    right = math.exp(1 + float(special.lambertw(excess / math.e).real))
    return min(1.0, right / vocab_size)


@prediction(latex=r"I \ge \alpha V\log(\alpha V) - \alpha V + 1", source=_SOURCE)
def information_needed(accuracy: float, vocab_size: int) -> float:
    """Least information, in nats, that allows an accuracy; 0 for 1/V or less.

    Inverse of `largest_accuracy`.
    """
    right = max(1.0, accuracy * vocab_size)
    return right * math.log(right) - right + 1


@prediction(latex=r"P(\hat\pi = \pi) \le \frac{I + \log 2}{\log V!}", source=_SOURCE)
def exact_recovery(information: float, vocab_size: int) -> float:
    """Largest possible probability that every label is right (Fano's inequality)."""
    return min(1.0, (information + math.log(2)) / float(special.gammaln(vocab_size + 1)))


@prediction(
    latex=r"d^2 \ge \frac{2(\alpha V\log(\alpha V) - \alpha V + 1)}{\log(1+\rho)}", source=_SOURCE
)
def critical_dim(problem: Problem, *, accuracy: float = 0.5) -> float:
    """Dimension below which no estimator on the Gaussian-equivalent channel reaches the accuracy.

    `gradient_channel` defines this channel. The dimension is a real number; the problem's own
    ``dim`` plays no part. For accuracy near 1 and V << N << L V it is $N d^2 = 2LV^2\\log V$ to
    leading order, as for the estimators (`gradient_capacity`).
    """
    needed = information_needed(accuracy, problem.vocab_size)
    return math.sqrt(needed / gradient_channel.entry_information(problem))
