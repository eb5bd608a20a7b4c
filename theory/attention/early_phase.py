r"""Approach of three steps of finite size to the early-phase limit $\eta \to 0$, $\gamma \to
\infty$.

The step sizes are $\eta$ of the first step and $\gamma$ of the second. Each is compared with a
natural unit. After the first step the logits are of size $\eta/(VL)$. So the gradient of the second
step equals its limit up to a relative error of first order in $\eta/(VL)$. After the second step
the attention scores are of size $\gamma\eta s_0$ (`signal.py`). Softmax then differs from hard
attention only on sequences whose two best scores lie within $1/(\gamma\eta)$ of one another. The
share of these sequences is $1/(\gamma\eta)$ times the density of the score gap at zero. On each of
them the values that softmax and hard attention read are a distance of order one apart. So the mean
distance falls as $1/\gamma$. It would fall exponentially if no sequence had a gap near zero.
"""

from recall_claims import log_range
from theory.attention.problem import SIZES, Problem
from theory.attention.signal import signal_unit

_EVERY = SIZES.searched(
    vocab_size=log_range(8, 256),
    length=log_range(4, 64),
    samples=log_range(8, 2048),
    dim=log_range(8, 128),
    eta=log_range(1e-4, 64),
    gamma=log_range(256, 1e12, per_octave=1),
)
LIMIT = _EVERY.searched(
    "eta <= 10^-4 V L; gamma eta >= 10^4 L^2 V/(1 - 1/L)",
    holds=lambda cell: (
        cell["eta"] * 1e4 <= cell["vocab_size"] * cell["length"]
        and cell["gamma"] * cell["eta"] * signal_unit(Problem.of(cell)) >= 1e4
    ),
)
"""Regime in which the trained model gives the labels of the limit."""

EXPONENTS = {"eta": 1.0, "gamma": -1.0}
"""Exponents: in eta, of the second step's relative error; in gamma, at fixed eta, of the mean
distance between the values of soft and hard attention."""
