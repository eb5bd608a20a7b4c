r"""The noise terms of the token scores: each declared once, on the formula of its variance.

Units are $s_0^2$. Notation of all formulas here: $h = V/N$, $r = V/d$ and $1/d$ (both 0 for
orthonormal embeddings), $\ell = 1 - 1/L$, $\tau$ = trigger in the values, $t_k$ the spectral
moments of $V$ centred embeddings (`theory.laws.spectra`), $K$ and $G$ the Gram matrices of token
and output embeddings, and

$$ W = t_2(1 + h) + 3h + h^2, \qquad W' = t_2 + 2h + h^2 . $$

$W/(NV^3)$ is the variance over tokens of $p_a (Gp)_a$. Here $p_a$ is the share of the samples whose
informative token is $a$, and $(Gp)_a$, centred, is the agreement of its label with the batch. The
variance of the shares, $1/(NV)$, enters through $(Gp)_a$ and once more through $p_a$ itself.

In $w$ (`theory.attention.signal`) the covariance $\Sigma_i$ *reads* the mean values that samples
*store*. The *clean memory* stores informative tokens under their own labels.

noise.md derives every term, with the size of the neglected parts. Means are over data and
embeddings (moments at finite size). Formulas are shown for unit-sphere embeddings. Squared lengths
of Gaussian embeddings have a variance of $2/d$. With the trigger in the keys alone, every term
includes their moments, `lengths` (noise.md, Gaussian embeddings).

Each term states the same error as `noise.variance`, but for L >= 8 and V >= 2 d.
"""

from typing import NamedTuple

from recall_claims import prediction
from theory.attention.noise_declaration import ERROR, REGIME, SOURCE, any_length, noise_term
from theory.attention.problem import Problem
from theory.laws import spectra


def _notation(problem: Problem) -> tuple[float, float, float, float, float, float, float]:
    """Sizes and moments of the module docstring: V, L, N, r, t_2, t_3 and t_4."""
    moments = spectra.centred_moments(problem.embeddings, problem.vocab_size, problem.dim)
    sizes = float(problem.vocab_size), float(problem.length), float(problem.samples)
    return *sizes, problem.ratio, *moments


def _length_variance(problem: Problem) -> float:
    """Variance of an embedding's squared length."""
    return 2 / problem.dim if problem.embeddings == "gaussian" else 0.0


class Lengths(NamedTuple):
    r"""Moments of an embedding's squared length $K_{aa}$, and means of products with it.

    Attributes:
        power: $\kappa_2, \kappa_3, \kappa_4$, the means of $K_{aa}^k$; $G_{aa}$ has the same law.
        scored: the means of $(K^2)_{aa}K_{aa}^k$, k = 0, 1, 2; the first is $t_2$.
        twice: the mean of $(K^2)_{aa}^2$.
        walk: the mean of $(K^3)_{aa}K_{aa}$.
    """

    power: tuple[float, float, float]
    scored: tuple[float, float, float]
    twice: float
    walk: float


def lengths(problem: Problem) -> Lengths:
    """Means of products with squared lengths; on the sphere squared lengths are 1, and drop out."""
    _, _, _, _, t2, t3, _ = _notation(problem)
    spread = _length_variance(problem)
    k2 = 1 + spread
    k3 = k2 * (1 + 2 * spread)
    k4 = k3 * (1 + 3 * spread)
    others = t2 - k2
    pairs = t3 - 2 * k2 * others - k3
    return Lengths(
        power=(k2, k3, k4),
        scored=(t2, k3 + others * k2, k4 + others * k3),
        twice=k4 + 2 * others * k3 + others * (others + spread) * k2,
        walk=k4 + 2 * others * k3 + pairs * k2,
    )


def count_noise(problem: Problem) -> float:
    """Factor W of the module docstring."""
    _, _, _, _, t2, _, _ = _notation(problem)
    h, (k2, _, _) = 1 / problem.load, lengths(problem).power
    return t2 * (1 + h) + k2 * (3 * h + h**2)


def label_agreement(problem: Problem) -> float:
    """Mean square, over data, of the agreement of a label with the batch, times N V."""
    _, _, _, _, t2, _, _ = _notation(problem)
    return t2 + lengths(problem).power[0] / problem.load


@prediction(
    latex=r"\frac{(L-1)t_2^2(1+N/V)}{N^2}+\frac{(L-1)t_2V}{N^3}+\frac{2V(1+V/d^2)}{N^2}"
    r"+\frac{4V}{d^2N}+\frac{L^2rW}{NV^2}"
    r"+\tau\left[\frac{(L-1)(t_2+h)r}{N^2}+\frac{2t_2}{V}h^2\left(1+\frac Ld\right)^2"
    r"+\frac{h^2L^2}{Vd}\left(1+\frac{2t_2}{V}\right)+\frac{4V}{N^2}\left(1+\frac Ld\right)"
    r"+\left(1+\frac1\ell\right)^2\frac1d\left(\frac{t_2}{N}+\frac{V(1+t_2)}{N^2}\right)\right]",
    source=SOURCE,
    error=ERROR,
    regime=REGIME.searched("V >= 8 d", holds=lambda c: c["vocab_size"] >= 8 * c["dim"]),
)
def trigger_coefficient_variance(problem: Problem) -> float:
    r"""Variance $v_q$ of the trigger coefficient $q$ in $w = q\,z_{trig} + \dots$.

    Units are $s_0^2$, and $W = t_2(1 + h) + 3h + h^2$. $v_q$ is the variance over data and
    embeddings, less the part $2/d^2$ that stays as $N\to\infty$. With the trigger in the values,
    keys without the trigger also read the stored trigger, and $q$ includes the part along
    $z_{trig}$ of what they add to $w$.
    """
    return sum(trigger_coefficient_parts(problem).values())


def trigger_coefficient_parts(problem: Problem) -> dict[str, float]:
    r"""Parts of $v_q$, in units of $s_0^2$, by the stored vector that informative tokens read.

    ``contexts``: contexts of other samples. ``own context``: context of the same sample.
    ``tokens``: informative tokens. ``mean``: the mean embedding, stored with every label.

    A trigger in the values adds five parts. ``trigger reads contexts``. ``agreement``: the stored
    trigger, in proportion to how often labels agree. ``overlaps``: of trigger and informative
    tokens. ``mean overlap``: of trigger and mean embedding. ``agreement of tokens``: twice the
    covariance of ``agreement`` and ``tokens``.
    """
    V, L, N, r, t2, _, _ = _notation(problem)
    overlap, h, (k2, _, _) = problem.overlap, V / N, lengths(problem).power
    parts = {
        "contexts": (L - 1) * t2**2 * (1 + N / V) / N**2,
        "own context": k2 * (L - 1) * t2 * V / N**3,
        "tokens": 2 * V * (k2**2 + V * overlap**2) / N**2 + 4 * V * overlap**2 / N,
        "mean": L**2 * r * count_noise(problem) / (N * V**2),
    }
    if not problem.trigger_in_values:
        return parts
    return parts | {
        "trigger reads contexts": (L - 1) * (t2 + h) * r / N**2,
        "agreement": (2 * t2 / V) * h**2 * (1 + L * overlap) ** 2,
        "overlaps": (1 + L / (L - 1)) ** 2 * token_overlaps(problem),
        "mean overlap": (2 * t2 / V + 1) * h**2 * L**2 * overlap / V,
        "agreement of tokens": 4 * V * (1 + L * overlap) / N**2,
    }


def token_overlaps(problem: Problem) -> float:
    r"""Variance of $V\sum_ap_ag_a\zeta_a$, the overlap of informative tokens with the trigger.

    Symbols are as in noise.md.
    """
    V, _, N, _, t2, _, _ = _notation(problem)
    return problem.overlap * (t2 / N + V * (1 + t2) / N**2)


def trigger_covariance(problem: Problem) -> float:
    r"""Covariance of $q$ and the trigger's own noise $\nu$, in units of $s_0^2$.

    With the trigger in the values both contain the trigger's overlaps with contexts (B),
    informative tokens (D, H) and the mean embedding (A); otherwise the covariance is 0.
    """
    if not problem.trigger_in_values:
        return 0.0
    V, L, N, r, t2, _, _ = _notation(problem)
    contexts = L * (L - 1) * t2 * (t2 + V / N) * r / (V * N**2)
    tokens = (1 + L / (L - 1)) * (1 + L * t2 / V) * token_overlaps(problem)
    mean = L**3 * t2 * (1 - 2 / L + 2 * t2 / V) * problem.overlap / N**2
    return contexts + tokens + mean


@noise_term(
    "T",
    title="trigger direction",
    latex=r"\frac1d\left\{\bar q^2+v_q+\tau\left[2\bar q\left(\frac{Lt_2}{N}+\frac{t_2}{V}\right)"
    r"+\frac{L^2t_3}{N^2}\left(1+\frac{2t_2}{V}\right)+\frac{t_2^2+t_3-t_2}{V^2}"
    r"+\frac{2Lt_3}{NV}\right]\right\},\quad"
    r"\bar q=\left(1-\frac1V\right)\left(1-\frac1N+\tau h\right)",
    exponents={"dim": -1},
    covariance_power=0,
    regime="N >> V",
)
def trigger_direction(problem: Problem) -> float:
    """T: a token that overlaps with the trigger gets a share of the signal."""
    V, L, N, _, t2, t3, _ = _notation(problem)
    mean = (1 - 1 / V) * (1 - 1 / N + problem.trigger_in_values * V / N)
    value = mean**2 + trigger_coefficient_variance(problem)
    if problem.trigger_in_values:
        value += 2 * mean * (L * t2 / N + t2 / V) + 2 * L * t3 / (N * V)
        value += L**2 * t3 / N**2 * (1 + 2 * t2 / V) + (t2**2 + t3 - t2) / V**2
    return problem.overlap * value


@noise_term(
    "A",
    title="mean bias",
    latex=r"\left(1-\frac6V\right)\frac{L^4\,r\,t_3}{(NV)^2}"
    r"\left[\left(1-\frac2L\right)^2+\frac{2t_2}{V}\right]",
    exponents={"length": 4, "vocab_size": 1, "samples": -2, "dim": -3},
    covariance_power=2,
    regime="V >> d, L >> 1",
)
def mean_bias(problem: Problem) -> float:
    """A: the mean embedding is stored, because a sample agrees with itself."""
    V, L, N, r, t2, t3, _ = _notation(problem)
    mean = (1 - 6 / V) * L**4 * r * t3 * ((1 - 2 / L) ** 2 + 2 * t2 / V) / (N * V) ** 2
    (once, read, twice), walk = lengths(problem).scored, lengths(problem).walk
    own = twice - 2 * read + once + 2 * (1 - 2 / L) * L / V * (walk - t3)
    return mean + (L / N) ** 2 * own


@noise_term(
    "B",
    title="stored context",
    latex=r"\left(1-\frac1V\right)\frac{L^2(L-1)(t_2+h)\,t_4}{(NV)^2}",
    exponents={"length": 3, "vocab_size": 2, "samples": -2, "dim": -4},
    covariance_power=3,
    regime="V >> d, N >> d, L >> 1",
)
def stored_context(problem: Problem) -> float:
    """B: the contexts of the samples are stored; the mean covariance reads them."""
    V, L, N, _, _, _, t4 = _notation(problem)
    return (1 - 1 / V) * L**2 * (L - 1) * label_agreement(problem) * t4 / (N * V) ** 2


@noise_term(
    "C",
    title="gradient noise",
    latex=r"\frac{L^2}{N^2V}\left(1-\frac1V\right)^2\left[t_2\left(t_2^2-\frac{t_4}{V}\right)"
    r"\left(1+\frac1{L\ell}-\frac1{L^2}\right)+\ell(\ell+\frac{2}{L})t_2^2\right]"
    r"+\left(1-\frac1V\right)\frac{L^2(1-2/L)^2}{\ell N^3}\left[t_2(t_2+1)-\frac{t_4}{V}\right]"
    r"+\frac{t_2(1+h+V/d^2)}{N^2(L-1)}",
    exponents={"length": 2, "vocab_size": 2, "samples": -2, "dim": -3},
    covariance_power=1,
    regime="V >> d, N >> d, L >> 1",
)
def gradient_noise(problem: Problem) -> float:
    """C: the covariance of a sample's random tokens reads what this or another sample stored."""
    V, L, N, _, t2, _, t4 = _notation(problem)
    rest, mean = 1 - 1 / L, lengths(problem)
    (k2, _, _), (_, read, same) = mean.power, mean.scored
    direct = t2 * (mean.twice - t4 / V) * (1 + (1 / rest - 1 / L) / L)
    exchanged = rest * (rest + 2 / L) * t2 * same
    pairs = (1 - 1 / V) ** 2 * L**2 / (N**2 * V) * (direct + exchanged)
    one = k2 * (mean.twice + same - t4 / V)
    one *= (1 - 1 / V) * L**2 * (1 - 2 / L) ** 2 / (rest * N**3)
    own = read * (1 + V / N + V * problem.overlap**2) / (N**2 * (L - 1))
    return pairs + one + own


@noise_term(
    "D",
    title="label counts",
    latex=r"\left(1-\frac1V\right)\frac{L^2\,t_4\,W}{NV^3}",
    exponents={"length": 2, "vocab_size": 1, "samples": -1, "dim": -4},
    covariance_power=3,
    regime="V >> d, N >> V",
)
def label_counts(problem: Problem) -> float:
    """D: the mean covariance reads the clean memory with label counts that differ from N/V."""
    V, L, N, _, _, _, t4 = _notation(problem)
    return (1 - 1 / V) * L**2 * t4 * count_noise(problem) / (N * V**3)


@noise_term(
    "E",
    title="mean value",
    latex=r"\left(1-\frac1V\right)\left(t_2-\frac{t_3}{V}\right)\left[\frac{L(t_2+h)}{N^2}"
    r"\left(\frac1\ell-\frac1L\right)+\frac{W}{NV}\right]\left[\frac{L^2r}{V^2}\left(1-\frac2V\right)"
    r"+\frac\tau d\right]",
    exponents={"length": 3, "vocab_size": 1, "samples": -2, "dim": -3},
    covariance_power=1,
    regime="V >> d, V << N << L V",
)
def read_mean(problem: Problem) -> float:
    """E: random covariances read the mean value that is stored with every label."""
    V, L, N, r, _, t3, _ = _notation(problem)
    contexts = (1 / (1 - 1 / L) - 1 / L) * L * label_agreement(problem) / N**2
    informative = count_noise(problem) / (N * V)
    mean = (1 - 2 / V) * L**2 * r / V**2 + problem.trigger_in_values * problem.overlap
    _, read, _ = lengths(problem).scored
    return (1 - 1 / V) * (read - t3 / V) * (contexts + informative) * mean


@noise_term(
    "H",
    title="own memory",
    latex=r"\left(1-\frac3V\right)t_2\left[\frac{4+2V/d^2}{NV}+\left(1-\frac1N\right)"
    r"\frac{2+V/d^2}{N^2}\right]-\frac4{NV^2}\left[(2+3h)t_3-t_2\right]"
    r"+\frac{t_4}{NV^3}\left[(1+h)(t_2+3)+6h+4h^2\right]"
    r"-\frac{2(1+h)(t_4-t_3)+t_4}{dNV^2}\quad(\tau=0)",
    exponents={"samples": -1, "dim": -1},
    constant=4,
    covariance_power=1,
    regime="d << V << d^2, N >> V",
)
def own_memory(problem: Problem) -> float:
    r"""H: a token's own memory adds to its score, in proportion to how often it was informative.

    With the trigger in the values the trigger's memory also adds to the token's score. The first
    bracket is multiplied out with its factor $1-3/V$. Then $4(1-3/V)$ becomes $9(1-3/V)+t_2-1$, and
    $2(1-3/V)(1-1/N)$ becomes $13+t_2+h$. The bracket of the second term becomes
    $(3+6h+h^2)t_3-\frac32t_2$. The variance also grows by

    $$ t_2\Big[\frac{L^2W}{dNV^2}+\frac{t_2+h}{N^2(L-1)}+\frac{(L-1)(W-h)}{dNV}
       +\frac{4+6h+h^2+(t_2-1)(2+h)}{dNV}\Big] . $$
    """
    V, L, N, r, t2, t3, t4 = _notation(problem)
    h, load, overlap = V / N, N / V, problem.overlap
    (k2, _, _), (once, read, twice), _, walk = lengths(problem)
    pairs, centred = 1 - 1 / N, 1 - 3 / V
    others = centred * r * overlap * (2 * load + pairs) * read
    stored = t4 * ((1 + load) * (t2 + 3) + 6 + 4 * h) / V**2
    shared = overlap / V * (2 * (1 + load) * (t4 - walk) + load * t4)
    if not problem.trigger_in_values:
        own = k2 * ((4 * load + 2 * pairs) * twice + 4 * (twice - read))
        own += (k2 * h + _length_variance(problem)) * (twice - 2 * read + once)
        both = k2 * ((2 * load + 7 + 2 * h) * walk - (1 + 2 * h) * t3) + (2 * load + 1) * walk - t3
        rest = others + stored - shared - 2 * both / V + 4 * load * t2 / V
        return (centred * own + rest) / N**2
    own = t2 * ((9 * centred + t2 - 1) * load + 13 + t2 + h + (t2 + h) / (L - 1))
    own += t2 * L**2 * overlap * count_noise(problem) * load / V
    both = (6 * load + 12 + 2 * h) * t3
    overlaps = overlap * t2 * (4 * load + 6 + h + (t2 - 1) * (2 * load + 1))
    rest = others + stored - shared - 2 * both / V + 6 * load * t2 / V + overlaps
    return (own + rest) / N**2 + trigger_reads_contexts(problem)


def trigger_reads_contexts(problem: Problem) -> float:
    """Part of H in which a trigger in the values reads the stored contexts, in units of s_0^2."""
    V, L, N, _, t2, _, _ = _notation(problem)
    h = V / N
    shares = t2 * (1 + h) + 2 * h + h**2
    return (L - 1) * t2 * shares * problem.overlap / (N * V)


@noise_term(
    "C2",
    title="informative slots",
    latex=r"\left(1-\frac1V\right)^2\frac{L}{NV^2}\left\{W'\left[\left(\frac1\ell-\frac1L\right)"
    r"\left(t_2^2-\frac{t_4}{V}\right)+\ell\left(t_2^2-\frac{t_4-t_2^2}{V}\right)+2\ell t_2\right]"
    r"+(1+h)^2\left(\frac{t_2V}{\ell L^2}-\frac{2t_3}L\right)\right\}",
    exponents={"length": 1, "vocab_size": 1, "samples": -1, "dim": -3},
    constant=2,
    covariance_power=1,
    regime="V >> d, N >> d, L >> 1",
)
def informative_slots(problem: Problem) -> float:
    """C2: a context reads, or is read by, many samples' informative tokens at once."""
    V, L, N, _, t2, _, t4 = _notation(problem)
    h, rest, mean = V / N, 1 - 1 / L, lengths(problem)
    (k2, _, _), (_, _, same) = mean.power, mean.scored
    shares = t2 + k2 * (2 * h + h**2)
    read = (1 / rest - 1 / L) * (mean.twice - t4 / V)
    stored = rest * (mean.twice - (t4 - t2**2) / V)
    own = k2 * (1 + h) ** 2 * (k2 * t2 * V / (L**2 * rest) - 2 * mean.walk / L)
    scored = shares * (read + stored + 2 * rest * same) + own
    return (1 - 1 / V) ** 2 * L / (N * V**2) * scored


@noise_term(
    "F",
    title="population floor",
    latex=r"\frac{V-2}{V^2d^2}\left[t_2+\frac{d}{V^2}"
    r"\left(4(t_2+t_3)-t_4+t_2^2+2(t_3-t_2)\right)\right]",
    exponents={"dim": -3},
    covariance_power=1,
    regime="V >> d",
)
def population_floor(problem: Problem) -> float:
    """F: the clean memory interferes with itself, for any number of samples."""
    V, _, _, r, t2, t3, t4 = _notation(problem)
    if r == 0:
        return 0.0
    finite = 4 * (t2 + t3) - t4 + t2**2 + 2 * (t3 - t2)
    spread = _length_variance(problem)
    lengths = 1 + spread + 2 * spread * (problem.dim + 5) / r
    return lengths * (V - 2) * (problem.overlap / V) ** 2 * (t2 + finite / (V * r))


@prediction(
    latex=r"\left(1-\frac1V\right)\frac{2L}{NV^2}\left\{2(1+2h)t_3-\frac{t_4}V\left[2+6h+2h^2"
    r"+(1+h)(t_2-1)\right]+\frac{1+h}d(t_4-t_3)+\tau Wt_3\right\}",
    source=SOURCE,
    error=ERROR,
    regime=any_length(REGIME),
)
def count_covariance(problem: Problem) -> float:
    """Twice the covariance of D and H, which share the label counts; limit 4 L/(N d^2)."""
    V, L, N, _, t2, t3, t4 = _notation(problem)
    h, load, (k2, _, _), walk = V / N, N / V, lengths(problem).power, lengths(problem).walk
    own = k2 * ((2 * load + 5 + h) * walk - (1 + h) * t3)
    stored = (k2 * (load + 5 + 2 * h) + load + 1 + (load + 1) * (t2 - 1)) * t4 / V
    labels = (load + 1) * problem.overlap * (t4 - walk)
    trigger = problem.trigger_in_values * load * count_noise(problem) * t3
    return (1 - 1 / V) * 2 * L * (own - stored + labels + trigger) / (N**2 * V)


def context_covariance(problem: Problem) -> float:
    r"""Twice the covariance of B and H, in units of $s_0^2$: $-2\tau Lt_3(t_2+h)/(N^2V)$.

    H comes from products of the trigger with a key less its sample's mean key. This mean contains
    the context, so H varies with B.
    """
    V, L, N, _, t2, t3, _ = _notation(problem)
    return -2 * problem.trigger_in_values * L * t3 * (t2 + V / N) / (N**2 * V)
