r"""How three steps of finite size approach the early-phase limit $\eta \to 0$, $\gamma \to \infty$.

Step sizes are felt against two natural units. After the first step the logits are of size
$\eta/(VL)$, so the gradient of the second step is that of the limit up to a relative error of
first order in $\eta/(VL)$. Attention scores after it are of size $\gamma\eta s_0$ (`signal.py`).
Softmax then differs from hard attention only on sequences whose two best scores lie within
$1/(\gamma\eta)$ of one another. Their share is the density of the score gap at zero times
$1/(\gamma\eta)$, and each contributes a distance of order one, so that the mean distance between
the two attended values falls as $1/\gamma$. It would fall exponentially if gaps near zero did not
occur, that is if every sequence were localised by a margin.
"""

EXPONENTS = {"eta": 1.0, "gamma": -1.0}
"""Exponent of the relative error of the attention step in eta, and of the mean distance between
soft and hard attended values in gamma (at fixed eta)."""
