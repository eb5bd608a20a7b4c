r"""Explicit one-layer transformers for factual recall: the dimensions and hidden units they need.

$SR$ facts: subject $s$ and relation $r$ have the answer $a^*(s,r)$, uniform in block $r$ of $R$
blocks of $D$ answers, $M = RD$. All embeddings are uniform on the unit sphere of $\mathbb R^d$.

**Attention alone** adds two codes. The subject's code is the shortest vector with logit 1 at the
subject's $R$ answers, and the relation's code the shortest with logit 1 at the relation's $D$
answers. A rival reaches logit 1 iff its coordinate along a code, of law $F$, exceeds the distance
$h_n$ of the hull of the code's $n$ answers from the origin:

$$ h_n^2 \sim \mathrm{Beta}\Big(\frac{d-n+1}2,\ \frac{(n-1)(d-1)}2\Big), $$
$$ P(\text{all right}) = \big(E F(h_R)^{R(D-1)}\big)^S\,\big(E F(h_D)^{(R-1)D_S}\big)^Re^{-\mu}, $$

$D_S = D(1-(1-1/D)^S)$. $\mu$ is the expected number of rivals that get logit 2 from both codes by
chance.

**Attention and MLP.** Random unit codes name subject and relation, and $m$ cosine features store
the $N = SR$ associations as a plain sum. Take a fact whose answer has $n$ facts, and a rival answer
of $n'$ facts at cosine $c$ to the right one. Given the noise $x$ of the right score, the fact loses
to this rival with probability $1-\Phi((1+x)/\sigma)$:

$$ x\sim N\Big(0,\frac1m\Big[n-\frac78+\frac N{d'}\Big]\Big),\qquad
   \sigma^2 = \frac1m\Big[n'+\frac{1+c}{1-c}\,\frac N{d'}\Big],\qquad \frac1{d'}=\frac{1-2/M}d . $$

The derivation, and leading orders, are in constructions.md.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from recall_claims import Regime, log_range, prediction
from theory.factual import hulls, sizes
from theory.factual.compressed_draws import narrow
from theory.laws import crossing, multinomial, quadrature, sphere

_SOURCE = "paper B, arXiv 2412.06538, B3 to B5; constants derived"

_MARGIN = 0.85  # of the construction
_COUNT_NODES, _OWN_NODES, _COSINE_NODES = 7, 24, 80


def _require(**sizes: float) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}: give at least 1")


@prediction(
    latex=r"\frac1S\,E\max\,\mathrm{Multinomial}(S; 1/D)",
    source=_SOURCE,
    error="exact",
)
def guess_by_relation(subjects: int, answers: int) -> float:
    r"""Accuracy of the best predictor that knows the relation but not the subject.

    The predictor names the relation's most frequent answer. Exact. The accuracy exceeds the 1/D of
    a blind guess within the block by $\sqrt{2\ln D/(SD)}$ to leading order.

    Raises ValueError: a size below 1.
    """
    _require(subjects=subjects, answers=answers)
    counts = np.arange(subjects + 1)
    expected = sum(
        1 - multinomial.product_mean(np.where(counts <= most, 1.0, 0.0), answers, subjects)
        for most in range(subjects)
    )
    return float(expected / subjects)


@prediction(
    latex=r"P(\text{all heads}) = \big(E F(\tau h)^{V-g-1}\big)^H = \frac12,\quad "
    r"h^2\,\frac{g+\tau^2}{g+1}\sim\mathrm{Beta}\Big(\frac{d-g}2, \frac{g(d-1)}2\Big)",
    source=_SOURCE,
    error="7%",
    regime=sizes.SELECTIVE,
)
def selective_dim(group: int, heads: int, vocab_size: int, *, margin: float) -> float:
    r"""Dimension where, with probability 1/2, all heads score EOS above tokens outside the group.

    The key vector gives score 1 to the group's g tokens and $\tau$ to EOS; a token outside the
    group misleads the head if it scores above $\tau$. With V tokens the dimension is, to leading
    order, $(g+\tau^2)(1+2\ln(VH)/\tau^2)$, which for the sizes of the regime is 28% to 69% too
    high. The law of $h$, the key vector's inverse length, is exact for $\tau = 1$, and else
    scaled to the right mean of $h^2$.

    ``group``: g, tokens in each of the H heads' groups.  ``margin``: $\tau$.

    Raises ValueError: a size below 1, no token outside a group, or a margin outside (0, 1].
    """
    _require(group=group, heads=heads, **{"vocab_size - group - 1": vocab_size - group - 1})
    if not 0 < margin <= 1:
        raise ValueError(f"margin is {margin}: give a number in (0, 1]")
    return _half(lambda dim: selective(group, heads, vocab_size, dim, margin=margin), group + 2.0)


def selective(group: int, heads: int, vocab_size: int, dim: float, *, margin: float) -> float:
    """Chance that all heads score EOS above tokens outside the group; 1/2 at `selective_dim`."""
    shrink = math.sqrt((group + 1) / (group + margin**2))
    heights = margin * shrink * hulls.hull(group + 1, dim)
    return math.exp(heads * hulls.undisturbed(heights, vocab_size - group - 1, dim))


@prediction(
    latex=r"w = \frac{1}{1+e^{-\beta(1-\tau)}+(T-2)\,e^{-\beta+\beta^2\sigma^2/2}},\quad "
    r"\sigma^2 = \frac{g+\tau^2}{d-g}",
    source=_SOURCE,
    error="1.5%",
    regime=sizes.SOFT,
)
def focus(length: int, dim: int, group: int, *, margin: float, scale: float) -> float:
    r"""Attention weight of the subject in its head, in a prompt of T tokens.

    The subject has the score $\beta$ = ``scale``, EOS has $\beta\tau$ with $\tau$ = ``margin``, and
    T - 2 tokens outside the group have scores of variance $\beta^2\sigma^2$. The exponentials of
    these scores are replaced by their mean.

    Raises ValueError: a prompt below 3 tokens, a group below 1, or no more than g dimensions.
    """
    _require(group=group, **{"length - 2": length - 2, "dim - group": dim - group})
    variance = (group + margin**2) / (dim - group)
    strangers = (length - 2) * math.exp(-scale + scale**2 * variance / 2)
    return 1 / (1 + math.exp(-scale * (1 - margin)) + strangers)


@prediction(
    latex=r"\mathrm{Acc} = E F(h_R)^{D-1}\,E F(h_D)^{R-1}\,(1-\epsilon)^{(R-1)(D-1)},"
    r"\quad h_R^2\sim\mathrm{Beta}\Big(\frac{d-R+1}2,\frac{(R-1)(d-1)}2\Big),\ "
    r"h_D\ \text{alike}",
    source=_SOURCE,
    error=(
        (0.01, "for a fifth of a rival, accuracies from 0.9 on", lambda cell: _rivals(cell) <= 0.2),
        (0.05, "for half a one, accuracies from 0.5 on"),
    ),
    regime=lambda: FOCUSED,
)
def attention_accuracy(subjects: int, relations: int, answers: int, dim: int) -> float:
    r"""Accuracy of attention alone, with perfect focus, for any number of subjects.

    $\epsilon$ is the chance that a rival gets logit 2 from the sum of both codes, at
    $|y_s+y_r|^2 \simeq \frac{Rd}{d-R}+\frac{Dd}{d-D}+\frac{2d^2}{(d-R)(d-D)}$.

    The formula is mostly too low, because a code's rivals are correlated.

    Raises ValueError: a size below 1, or no more dimensions than a code has answers.
    """
    _require(subjects=subjects, relations=relations, answers=answers)
    _require(**{"dim - max(relations, answers)": dim - max(relations, answers)})
    return math.exp(
        hulls.undisturbed(hulls.hull(relations, dim), answers - 1, dim)
        + hulls.undisturbed(hulls.hull(answers, dim), relations - 1, dim)
    ) * (1 - hulls.twice(relations, answers, dim)) ** ((relations - 1) * (answers - 1))


def all_by_attention(
    subjects: int, relations: int, answers: int, dim: float, *, shared_rivals: bool = True
) -> float:
    """Probability that attention alone recalls every fact; it is 1/2 at `attention_dim`."""
    used = answers * (1 - (1 - 1 / answers) ** subjects) if shared_rivals else subjects
    both = subjects * relations * (relations - 1) * (answers - 1)
    return math.exp(
        subjects * hulls.undisturbed(hulls.hull(relations, dim), relations * (answers - 1), dim)
        + relations * hulls.undisturbed(hulls.hull(answers, dim), (relations - 1) * used, dim)
        - both * hulls.twice(relations, answers, dim)
    )


@prediction(
    latex=r"\big(E F(h_R)^{R(D-1)}\big)^S\big(E F(h_D)^{(R-1)D_S}\big)^Re^{-\mu} = \frac12,\quad "
    r"D_S = D\big(1-(1-1/D)^S\big)",
    source=_SOURCE,
    error="7%",
    regime=lambda: STORED,
    curve=all_by_attention,
)
@lru_cache(maxsize=1024)
def attention_dim(
    subjects: int, relations: int, answers: int, *, shared_rivals: bool = True
) -> float:
    """Dimension at which attention alone recalls every fact, with probability 1/2.

    ``shared_rivals``: whether a rival answer counts once. If not, it counts once for each
    subject that has it, as in a union bound.

    Raises ValueError: a size below 1, or RD = 1.
    """
    _require(subjects=subjects, relations=relations, answers=answers)
    _require(**{"relations * answers - 1": relations * answers - 1})
    sizes = (subjects, relations, answers)
    return _half(
        lambda dim: all_by_attention(*sizes, dim, shared_rivals=shared_rivals),
        max(relations, answers) + 1.0,
    )


def all_by_mlp(
    subjects: int,
    relations: int,
    answers: int,
    dim: int,
    width: float,
    *,
    same_answer: bool = True,
) -> float:
    """Probability that the MLP recalls every fact; it is 1/2 at `mlp_width`."""
    size = relations * answers
    count, count_weight = quadrature.binomial(subjects, 1 / answers, _COUNT_NODES)
    own, own_weight = quadrature.normal(_OWN_NODES)
    nodes, weight = sphere.nodes(dim, _COSINE_NODES)
    cosine = nodes / math.sqrt(dim)
    others = subjects * relations * (1 - 2 / size) / dim
    repeats = float(same_answer)
    # Axes: n, x, n', c.
    own_noise = repeats * np.maximum(count - 1, 0) + others + 1 / 8
    score = 1 + np.sqrt(own_noise / width)[:, None] * own
    noise = repeats * count[:, None] + others * (1 + cosine) / (1 - cosine)
    below = special.ndtr(score[..., None, None] / np.sqrt(np.maximum(noise, 1e-9) / width))
    right = (below @ weight @ count_weight) ** (size - 1) @ own_weight
    return float(np.exp(-count * (1 - right)) @ count_weight) ** size


@prediction(
    latex=r"\Big(E_n e^{-n\Lambda(n)}\Big)^M = \frac12,\quad "
    r"\Lambda = 1 - E_x\Big[\Big(E_{n',c}\,\Phi\big(\tfrac{1+x}{\sigma(c,n')}\big)\Big)^{M-1}\Big]",
    source=_SOURCE,
    error="6%",
    regime=lambda: BY_MLP,
    curve=all_by_mlp,
)
@lru_cache(maxsize=1024)
def mlp_width(
    subjects: int, relations: int, answers: int, dim: int, *, same_answer: bool = True
) -> float:
    r"""Hidden units at which the MLP, with ideal inputs, recalls every fact with probability 1/2.

    $n$ and $n'$ are binomial, $c$ is a coordinate of the sphere. Finite size: within {error} for
    $d\ge16$ and 50 hidden units or more where attention has focus (d is at least 1.4
    `selective_dim`). Otherwise inputs are not ideal: at (S, R, D, d) = (8, 10, 5, 25) the result is
    too small. With fewer units the noise is far from Gaussian, and the result is up to 15% too
    high.

    ``same_answer``: whether facts with the same answer disturb each other; False drops their noise.

    Raises ValueError: a size below 1, fewer than 4 dimensions, or RD = 1.
    """
    _require(subjects=subjects, relations=relations, answers=answers, **{"dim - 3": dim - 3})
    _require(**{"relations * answers - 1": relations * answers - 1})
    sizes = (subjects, relations, answers, dim)
    return _half(lambda width: all_by_mlp(*sizes, width, same_answer=same_answer), 1.0)


@prediction(
    latex=r"\mathrm{Acc} = P\Big(\sum_{s',r'} e^{-\omega^2(1-\rho_{ss'})-\omega^2(1-\rho_{rr'})}"
    r"u_{a^*(s',r')}\text{ plus noise has its largest logit at }a^*(s,r)\Big)",
    source=_SOURCE,
    error=0.03,
    regime=sizes.COMPRESSED,
)
@lru_cache(maxsize=4096)
def compressed_accuracy(
    subjects: int,
    relations: int,
    answers: int,
    dim: int,
    width: float,
    *,
    group: int,
    head_dim: int,
    frequency: float,
) -> float:
    r"""Accuracy of the MLP when g tokens share $d_h < g$ value dimensions.

    Codes in one group overlap by $\rho$, a coordinate of the unit sphere of $\mathbb R^{d_h}$. So
    a fact $(s',r')$ of the same two groups adds to its answer's logit the kernel of cosine features
    of frequency $\omega$ at the inputs' squared distance $2(1-\rho_{ss'})+2(1-\rho_{rr'})$. The
    logit of answer a, of $n_a$ facts, has noise of variance $\frac N{md}+\frac{n_a}m$ and noise
    from the answers' overlaps. Averaged over 8000 facts from a fixed stream: accurate to 0.005.
    Correlations of rivals are neglected. They help, so the formula is 0.01 to 0.02 too low at
    accuracies of 0.8.

    Stated error: {error} for 16 subjects and relations, or 32 at d of 384 and more; at most 4 facts
    per hidden unit. With 16 facts per unit, 32 subjects and relations, it is 0.056 too high.

    Raises ValueError: a size below 1, a head of fewer than 2 dimensions, or a group larger than the
    subjects or relations.
    """
    _require(dim=dim, width=width, answers=answers, group=group, **{"head_dim - 1": head_dim - 1})
    _require(**{"subjects - group + 1": subjects - group + 1})
    _require(**{"relations - group + 1": relations - group + 1})
    total = 0.0
    for logits, squares, crowd, standard, own in narrow(
        subjects, relations, answers, group, head_dim, frequency
    ):
        # The variance of the noise on an answer grows with the number of facts that have it.
        stored = (subjects * relations / width + squares) / dim
        noise = stored[:, None] + crowd / width
        noise[own] += 1 / (2 * width) - logits[own] ** 2 / dim
        found = (logits + standard * np.sqrt(noise)).argmax(1)
        total += float((found == own[1]).mean())
    return total / 8


@prediction(latex=r"\mathrm{Acc}(m) = \alpha", source=_SOURCE)
def compressed_width(
    subjects: int,
    relations: int,
    answers: int,
    dim: int,
    *,
    group: int,
    head_dim: int,
    frequency: float,
    target: float,
) -> float:
    r"""Hidden units at which `compressed_accuracy` is ``target``: the cost of narrow heads.

    Infinite where no width up to 10^6 reaches it: the codes alone then confuse facts.

    Raises ValueError: as for `compressed_accuracy`.
    """

    def accuracy(width: float) -> float:
        sizes = (subjects, relations, answers, dim, width)
        return compressed_accuracy(*sizes, group=group, head_dim=head_dim, frequency=frequency)

    if accuracy(1e6) < target:
        return math.inf
    return _half(accuracy, 1.0, level=target)


def _half(chance: Callable[[float], float], least: float, level: float = 0.5) -> float:
    """Find the argument at which an increasing probability passes 1/2, or another level."""
    return crossing.log_root(chance, least, level=level, tolerance=1e-5)


FOCUSED: Regime = sizes.PAIRED.searched(
    "d at least 1.4 times B.attention-selective's; at most half a rival expected per fact",
    holds=lambda cell: _focused(cell, cell["dim"], 2) and _rivals(cell) <= 0.5,
    dim=log_range(16, 512),
)
ACCURATE: Regime = FOCUSED.searched(
    "at most a fifth of a rival, so accuracies are 0.9 or more",
    holds=lambda cell: _rivals(cell) <= 0.2,
)
STORED: Regime = sizes.PAIRED.searched(
    "0.6 max(R (1 + 2 ln SRD), D (1 + 2 ln R^2 D)) is 1.4 times B.attention-selective's d or more",
    holds=lambda cell: _focused(cell, 0.6 * _all_facts(cell), 2),
)
BY_MLP: Regime = sizes.ANY.searched(
    "heads find their tokens; d >= 16; 4 N ln(NM) (1/d + 1/M), about the width, >= 75",
    holds=lambda cell: _focused(cell, cell["dim"], 1) and _width(cell) >= 75,
    dim=log_range(16, 512),
)
SELECTIVE, SOFT, COMPRESSED = sizes.SELECTIVE, sizes.SOFT, sizes.COMPRESSED


def _focused(cell: Mapping[str, Any], dim: float, group: int) -> bool:
    """Whether the dimension is at least 1.4 `selective_dim`, found without solving for it."""
    tokens, least = cell["subjects"] + cell["relations"], max(dim / 1.4, group + 2.0)
    return selective(group, tokens // group, 2 * tokens + 1, least, margin=_MARGIN) >= 0.5


def _rivals(cell: Mapping[str, Any]) -> float:
    """Bound on the expected number of rivals that reach the logit of a code's answers."""
    codes = ((cell["relations"], cell["answers"]), (cell["answers"], cell["relations"]))
    return math.fsum((n - 1) / 2 * math.exp((1 - cell["dim"] / own) / 2) for own, n in codes)


def _all_facts(cell: Mapping[str, Any]) -> float:
    """Dimension at which all facts are recalled, to leading order."""
    S, R, D = cell["subjects"], cell["relations"], cell["answers"]
    return float(max(R * (1 + 2 * math.log(S * R * D)), D * (1 + 2 * math.log(R**2 * D))))


def _width(cell: Mapping[str, Any]) -> float:
    """Width at which all facts are recalled, to leading order."""
    facts, answers = cell["subjects"] * cell["relations"], cell["relations"] * cell["answers"]
    return float(4 * facts * math.log(facts * answers) * (1 / cell["dim"] + 1 / answers))
