r"""Facts in learned embeddings: a subject is a superposition of its attributes' vectors.

There are S subjects and R relations, each a random one-to-one map of the subjects onto C = S
attributes. The abstract of arXiv 2605.12426 says that an embedding dimension logarithmic in the
number of facts suffices, and that a small MLP selects by the relation. We derive a construction:
attributes are uniform unit vectors $u_a$ of $R^d$, every relation has a diagonal matrix $D_r$ of
random signs, and

$$ e_s = \sum_rD_ru_{a_r(s)},\qquad D_re_s = u_{a_r(s)} + z . $$

The MLP, 2 R d ReLU neurons of fixed weights, is the gate $x\mapsto D_rx$ and stores no fact. z is a
sum of R - 1 unit vectors: $|z|^2$ has mean $R-1$ and relative variance $2(R-2)/((R-1)d)$. The right
score is 1 + x, where x has variance $|z|^2/d$. A wrong score has variance $|y|^2/d$,
where $y=D_re_s$, $|y|^2=1+2x+|z|^2$. For the R - 1 attributes in z this variance is
nearly 2/d larger, as $u_b\cdot Du_b$ has variance 3/(d + 2), not 1/d. So a fact is answered
correctly with probability

$$ P = E\,F_d\Big(\frac{(1+x)\sqrt d}{|y|}\Big)^{C-R}
   F_d\Big(\frac{(1+x)\sqrt d}{\sqrt{|y|^2+2(d-1)/(d+2)}}\Big)^{R-1} , $$

$F_d$ the distribution function of $\sqrt d$ times a coordinate of a uniform unit vector. To leading
order half of the facts are right at $d = 2\ln C/\ln\frac R{R-1}$, about $(2R-1)\ln C$. For many
relations all are right at $8R\ln C$: the dimension grows with the logarithm of C. No bit is gained:
the C embeddings have C d weights, and to leading order store as many bits per weight as the sum of
outer products of `linear`.

**Queries of k hops** ask for $r_k(\dots r_1(s))$, where attributes are the subjects.

- *With a chain of thought* the model says each attribute on the way and looks up its embedding.
  Embeddings and MLP are the same as for one hop. The last answer is right if all k answers are. As
  they concern different subjects, the probability is $P(R)^k$. Two corrections are of order 1/C: a
  path may return to a fact, and a second error may undo the first.
- *Without one*, all $R^k$ compositions count as relations: the probability is $P(R^k)$, with
  $2R^kd$ neurons. To leading order half of the queries are right near $d=(2R^k-1)\ln C$. Two
  compositions of random one-to-one maps agree on a subject with chance about 1/C, as two
  independent maps do.

If neither the network nor the vectors $u_a$ depend on the facts, d can shrink only by a constant
factor: $e_s$ alone has to determine $R^k$ attributes, $R^k\log_2C$ bits. A deeper network keeps the
dimension of one hop if its weights hold the table of embeddings, in C neurons for each hop.
"""

import math

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature, sphere

_SOURCE = "arXiv 2605.12426, G6; construction derived"
_HOPS_SOURCE = "arXiv 2605.12426, G10; constructions derived"
_NODES, _LENGTH_NODES = 60, 7

FACTS = Regime(
    "C >= 64 attributes; R from 3 to C/8; d >= 24",
    {
        "attributes": log_range(64, 1024),
        "relations": log_range(3, 32),
        "dim": log_range(24, 512),
    },
    holds=lambda cell: 8 * cell["relations"] <= cell["attributes"],
)
"""Regime in which `accuracy` states its error."""


def superposed(relations: int, hops: int, chain: bool) -> int:
    """Count an embedding's vectors: one per relation with a chain, else one per composition."""
    return relations if chain else relations**hops


HOPS = Regime(
    "C >= 64 attributes; from 3 to C/8 relations, or compositions without a chain of thought; "
    "2 or 3 hops; d >= 24",
    {
        **FACTS.given,
        "relations": log_range(2, 32),
        "hops": (2, 3),
        "chain": (True, False),
    },
    holds=lambda c: 3 <= superposed(c["relations"], c["hops"], c["chain"]) <= c["attributes"] / 8,
)
"""Regime in which `hops_accuracy` states its error."""


@prediction(
    latex=r"P = E\,F_d\left(\frac{(1+x)\sqrt d}{|y|}\right)^{C-R}"
    r"F_d\left(\frac{(1+x)\sqrt d}{\sqrt{|y|^2+2(d-1)/(d+2)}}\right)^{R-1}",
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
    latex=r"P(d_{99}) = 0.99,\quad d_{1/2}\sim\frac{2\ln C}{\ln\frac R{R-1}}",
    source=_SOURCE,
    error="5%",
    regime=FACTS.searched(without=("dim",)),
)
def needed_dim(attributes: int, relations: int, share: float = 0.99) -> float:
    """Embedding dimension at which this share of the facts is answered correctly; 0 if below 4.

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


@prediction(
    latex=r"P_k = P(R)^k\text{ with a chain},\quad P_k = P(R^k)\text{ without}",
    source=_HOPS_SOURCE,
    error=0.02,
    regime=HOPS,
)
def hops_accuracy(attributes: int, relations: int, dim: float, hops: int, chain: bool) -> float:
    """Share of the queries of several hops that are answered correctly.

    Stated error: {error}.

    Args:
        attributes: number of subjects, which are also the attributes.
        relations: number of relations; every query names a sequence of them.
        dim: embedding dimension.
        hops: length of the sequence.
        chain: whether the model says each attribute on the way.

    Raises:
        ValueError: as in `accuracy`.
    """
    right = accuracy(attributes, superposed(relations, hops, chain), dim)
    return right**hops if chain else right


@prediction(
    latex=r"P_k(d_{1/2}) = \tfrac12,\quad d_{1/2}\sim\frac{2\ln C}{\ln\frac{R^k}{R^k-1}}"
    r"\text{ without a chain}",
    source=_HOPS_SOURCE,
    error="5%",
    regime=HOPS.searched(without=("dim",)),
)
def hops_dim(attributes: int, relations: int, hops: int, chain: bool) -> float:
    """Embedding dimension at which half of the queries of several hops are right; 0 if below 4.

    Stated error: {error}.

    Raises:
        ValueError: as in `accuracy`.
    """
    stored = superposed(relations, hops, chain)
    return needed_dim(attributes, stored, 0.5 ** (1 / hops) if chain else 0.5)
