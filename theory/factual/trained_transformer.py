r"""Number of facts that a trained one-layer transformer recalls: lines read off published figures.

A transformer with $H$ heads of dimension $d_h$, embedding dimension $d$ and an MLP of width $m$ has
$P = 4Hd_hd + 2md$ trained weights. The theorem (B4) promises $SR \propto P$ up to logarithms; the
constants were never derived. They are read off two figures:

1. The line through the capacities (at least 99% accuracy, best of learning rates 0.001, 0.003 and
   0.01, by bisection over $S = R$) of models of $d = 8$ to $181$, $H = 8$, $D = 8$ answers
   per relation, for 25 splits of $P$ between attention and MLP:

$$ SR = 0.15\,P, \qquad 800 \le P \le 10^5 . $$

2. The boundary of 100% accuracy at $S = R = 32$, $D = 8$, $d = 32$, $d_h = 8$, trained only at the
rate 0.01, in the plane of $x = Hd_hd$, the weights of the value matrices, and $y = md$,
the weights of one layer of the MLP:

$$ y \ge 2300 - x/2, \qquad x \ge 1280 . $$

By (B4) a capacity is linear in the weights. So we let both bounds, drawn for $1024$ facts, grow in
proportion to the number of facts:

$$ SR \le \min\Big\{\frac{1024}{1280}\,x,\ \frac{1024}{2300}\Big(y + \frac x2\Big)\Big\}. $$

The bound by $x$ alone is an extrapolation: the condition on $x$ could also be proportional to
$S + R$.
"""

from recall_claims import prediction

FACTS_PER_PARAMETER = 0.15
DRAWN_FACTS, DRAWN_VALUE, DRAWN_SUM = 1024, 1280, 2300
"""Facts in the second figure, and its least x and least y + x/2."""


@prediction(
    latex=r"SR = 0.15\,(4Hd_hd + 2md)",
    source="paper B, arXiv 2412.06538, B8: reference line of the released plotting code",
    provenance="reported",
)
def capacity(parameters: float) -> float:
    """Number of facts that a trained transformer recalls, by the published reference line.

    ``parameters``: trained weights, 4 H d_h d + 2 m d.

    Raises ValueError for a negative number of parameters.
    """
    if parameters < 0:
        raise ValueError(f"{parameters} parameters: give a number that is not negative")
    return FACTS_PER_PARAMETER * parameters


@prediction(
    latex=r"SR = \min\{\tfrac{1024}{1280}x, \tfrac{1024}{2300}(y + \tfrac x2)\}",
    source="paper B, arXiv 2412.06538, B8: drawn boundary, made linear in the facts by B4",
)
def traded_capacity(value_parameters: float, mlp_parameters: float) -> float:
    """Number of facts that attention and MLP recall together, by the published boundary.

    ``value_parameters``: x = H d_h d, of the value matrices.  ``mlp_parameters``: y = m d, of one
    of the MLP's two layers.

    Raises ValueError for a negative number of parameters.
    """
    if min(value_parameters, mlp_parameters) < 0:
        raise ValueError(
            f"{value_parameters} value and {mlp_parameters} MLP parameters: give numbers that are "
            "not negative"
        )
    joint = DRAWN_FACTS / DRAWN_SUM * (mlp_parameters + value_parameters / 2)
    return min(DRAWN_FACTS / DRAWN_VALUE * value_parameters, joint)
