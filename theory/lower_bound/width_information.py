r"""Effect of width on an estimator that sees the gradient at initialisation.

With a random layer of width $m$ the gradient is $d\times m$ and depends on a sequence through
features $F$ of its whole bag of tokens. In direction $j$ the token at one position explains a share
$\rho_j$ of the variance of $F$. This share is an eigenvalue of $\Sigma_F^{-1}\Sigma_\mu$, from the
covariances of $F$ and of its means $\mu_v = E[F\mid x_l=v]$ given one token. Under the assumption
of `gradient_channel`, as for the attention-only model,

$$ I \le \frac d2\sum_{j\le m}\log\Big(1 + \frac{N+V}{V-1}\,\frac{\rho_j}{1-\rho_j}\Big) . $$

The tokens are independent, so that $L\Sigma_\mu \preceq \Sigma_F$ (Hoeffding's decomposition) and
$\rho_j \le 1/L$: the information is at most $m/d$ times the information without the layer, for any
features. The bound on $\rho_j$ is attained in the $d$ directions that are linear in the tokens.
Second-order features of $\sum_lz_{x_l}$ have

$$ \rho = \frac{\mathrm{Var}\,(w^\top z_{x_1})^2}{\mathrm{Var}\,(\sum_l w^\top z_{x_l})^2}
   \simeq \frac1{L^2}, $$

and terms of order $k$ have $\rho$ of order $L^{-k}$. Hence width pays only once $N \gtrsim L^2V$.
"""

from recall_claims import prediction

_SOURCE = "paper A, arXiv 2603.15923, A4, A9 and A13; derived"

EXPONENTS = {"length": -2.0}
"""Exponent of the length in the share rho outside the d linear directions."""


@prediction(latex=r"\rho_j \le \frac1L", source=_SOURCE)
def largest_share(length: float) -> float:
    r"""Largest share of a feature's variance that the token at one position explains.

    A feature is a function of the sequence. The largest share is attained by features that are
    linear in the token frequencies.
    """
    return 1 / length
