r"""How three steps of finite size approach the early-phase limit $\eta \to 0$, $\gamma \to \infty$.

Step sizes are felt against two natural units. After the first step the logits are of size
$\eta/(VL)$, so the gradient of the second step is that of the limit up to a relative error of
first order in $\eta/(VL)$. Attention scores after it are of size $\gamma\eta s_0$ (`signal.py`).
Softmax then differs from hard attention only on sequences whose two best scores lie within
$1/(\gamma\eta)$ of one another. The share of these sequences is $1/(\gamma\eta)$ times the density
of the score gap at zero, and on each the two attended values are a distance of order one apart. So
the mean distance falls as $1/\gamma$. It would fall exponentially if every sequence were localised
by a margin, that is without gaps near zero.
"""

EXPONENTS = {"eta": 1.0, "gamma": -1.0}
"""Exponent of the relative error of the attention step in eta, and of the mean distance between
soft and hard attended values in gamma (at fixed eta)."""
