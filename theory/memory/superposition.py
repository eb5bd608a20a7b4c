r"""Facts in learned embeddings: a subject is a superposition of its attributes' vectors.

There are S subjects and R relations, each a random one-to-one map of the subjects onto C = S
attributes. The abstract of arXiv 2605.12426 says that an embedding dimension logarithmic in the
number of facts suffices, and that a small MLP selects by the relation. We derive a construction:
attributes are uniform unit vectors $u_a$ of $R^d$, every relation has a random pattern of signs
$D_r$, and

$$ e_s = \sum_rD_ru_{a_r(s)},\qquad D_re_s = u_{a_r(s)} + z . $$

The MLP, 2 R d ReLU neurons of fixed weights, is the gate $x\mapsto D_rx$ and stores no fact. z is a
sum of R - 1 unit vectors: $|z|^2$ has mean $R-1$ and relative variance $2(R-2)/((R-1)d)$. The score
of a is 1 + x, where x varies by $|z|^2/d$; the score of another attribute varies by $|y|^2/d$,
$|y|^2=1+2x+|z|^2$. The R - 1 attributes in z itself have nearly 2/d more, because $u_b\cdot Du_b$
varies by 3/(d + 2). So a fact is answered correctly with probability

$$ P = E\,F_d\Big(\frac{(1+x)\sqrt d}{|y|}\Big)^{C-R}
   F_d\Big(\frac{(1+x)\sqrt d}{\sqrt{|y|^2+2}}\Big)^{R-1} , $$

$F_d$ the law of a coordinate of the sphere. To leading order half of the facts are right at
$d = 2(R-1)\ln C$ and all of them at $8R\ln C$: C times as many facts cost a logarithm in dimension.
No bit is gained: the C embeddings have C d weights, and to leading order store as many bits per
weight as the sum of outer products of `linear`.
"""

import math

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature, sphere

_SOURCE = "arXiv 2605.12426, G6; construction derived"
_NODES, _LENGTH_NODES = 60, 7

FACTS = Regime(
    "C >= 64, R from 3 to C/8, 24 dimensions or more",
    {
        "attributes": log_range(64, 1024),
        "relations": log_range(3, 32),
        "dim": log_range(24, 512),
    },
    holds=lambda cell: 8 * cell["relations"] <= cell["attributes"],
)
"""Regime in which `accuracy` states its error."""


@prediction(
    latex=r"P = E\,F_d\left(\frac{(1+x)\sqrt d}{|y|}\right)^{C-R}"
    r"F_d\left(\frac{(1+x)\sqrt d}{\sqrt{|y|^2+2}}\right)^{R-1}",
    source=_SOURCE,
    error=0.015,
    regime=FACTS,
)
def accuracy(attributes: float, relations: int, dim: float) -> float:
    """Share of the facts that superposed embeddings answer correctly.

    Stated error: {error}.

    Raises:
        ValueError: fewer than 2 relations or 4 dimensions, or fewer attributes than relations.
    """
    if not 2 <= relations <= attributes or dim < 4:
        raise ValueError(
            f"{attributes} attributes, {relations} relations, dim {dim}: give at least 2 "
            "relations, as many attributes and 4 dimensions"
        )
    spread = 2 * (relations - 2) / ((relations - 1) * dim)
    size, weight = quadrature.gamma(spread, _LENGTH_NODES) if spread else ([1.0], [1.0])
    node, node_weight = sphere.gauss(dim, _NODES)
    more, right = 2 * (dim - 1) / (dim + 2), 0.0
    for each, share in zip(size, weight, strict=True):
        square = (relations - 1) * each
        along = math.sqrt(square / dim) * node
        own, length = (1 + along) * math.sqrt(dim), 1 + 2 * along + square
        below = sphere.cdf(own / length**0.5, dim) ** (attributes - relations)
        below *= sphere.cdf(own / (length + more) ** 0.5, dim) ** (relations - 1)
        right += share * float(node_weight @ below)
    return right


@prediction(
    latex=r"P(d_{99}) = 0.99,\quad d_{1/2}\sim2(R-1)\ln C",
    source=_SOURCE,
    error="5%",
    regime=FACTS.searched(without=("dim",)),
)
def needed_dim(attributes: int, relations: int, share: float = 0.99) -> float:
    """Embedding dimension at which this share of the facts is answered correctly.

    Stated error: {error} at 0.99.

    Raises:
        ValueError: as in `accuracy`.
    """
    return crossing.log_root(
        lambda dim: accuracy(attributes, relations, dim),
        4.0,
        400.0 * relations,
        level=share,
        tolerance=1e-6,
    )
