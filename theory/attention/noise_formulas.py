r"""Variance of each noise term of the token scores, in units of $s_0^2$.

Notation of all formulas here: $h = V/N$, $r = V/d$ and $1/d$ (both 0 for orthonormal embeddings),
$\ell = 1 - 1/L$, $\tau$ = trigger in the values, $t_k$ the spectral moments of `gram_moments`, and

$$ W = t_2(1 + h) + 3h + h^2, \qquad W' = t_2 + 2h + h^2 . $$

$W/(NV^3)$ is the variance over tokens of $p_a (Gp)_a$ with $p_a$ the share of the samples whose
informative token is $a$ and $G$ the output Gram matrix: shares fluctuate by $1/(NV)$, once as
$(Gp)_a/V$ and once more through $p_a$ itself. The derivation of every term is in noise.md, with the
size of what is left out. All means are over data and unit-sphere embeddings (exact moments); for
Gaussian embeddings norms fluctuate, which adds relative terms of order $1/d$, and of order $d/V$ to
the terms A, F and H.
"""

from recall_claims import prediction
from theory.attention.problem import Problem

SOURCE = "paper A, arXiv 2603.15923, A9 (a sum of named noise terms); formula derived"


def gram_moments(problem: Problem) -> tuple[float, float, float]:
    r"""Spectral moments $t_2, t_3, t_4$ of the centred Gram matrix of $n = V - 1$ embeddings.

    $t_k = E\,\mathrm{tr}(PKP)^k/n$ with $K_{ab} = z_a^\top z_b$ and $P$ the projection that takes
    the mean out: counts of closed walks on the sphere, the moments of a Wishart matrix for Gaussian
    embeddings, and 1 for orthonormal ones.

    >>> gram_moments(Problem(vocab_size=65, length=8, samples=64, dim=67, embeddings="orthonormal"))
    (1.0, 1.0, 1.0)
    >>> round(gram_moments(Problem(vocab_size=65, length=8, samples=64, dim=21))[0], 9)
    4.0
    """
    n, d = float(problem.vocab_size - 1), float(problem.dim)
    if problem.embeddings == "orthonormal":
        return 1.0, 1.0, 1.0
    if problem.embeddings == "gaussian":
        third = n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4
        fourth = n**3 + d**3 + 6 * n * d * (n + d) + 6 * (n**2 + d**2)
        fourth += 17 * n * d + 21 * (n + d) + 20
        return (n + d + 1) / d, third / d**2, fourth / d**3
    one, two, three = n - 1, (n - 1) * (n - 2), (n - 1) * (n - 2) * (n - 3)
    fourth = 1 + one * (6 / d + 3 / (d * (d + 2))) + 6 * two / d**2 + three / d**3
    return 1 + one / d, 1 + 3 * one / d + two / d**2, fourth


def count_noise(problem: Problem) -> float:
    """The factor W of the module docstring."""
    t2, _, _ = gram_moments(problem)
    h = 1 / problem.load
    return t2 * (1 + h) + 3 * h + h**2


@prediction(
    latex=r"\left(1-\frac6V\right)\frac{L^4\,r\,t_3}{(NV)^2}"
    r"\left[\left(1-\frac2L\right)^2+\frac{2t_2}{V}\right]",
    source=SOURCE,
    provenance="derived",
)
def mean_bias(problem: Problem) -> float:
    """A: the mean embedding, stored because a sample agrees with itself; limit L^4 V/(N^2 d^3)."""
    V, L, N, r = _sizes(problem)
    t2, t3, _ = gram_moments(problem)
    return (1 - 6 / V) * L**4 * r * t3 * ((1 - 2 / L) ** 2 + 2 * t2 / V) / (N * V) ** 2


@prediction(
    latex=r"\left(1-\frac1V\right)\frac{L^2(L-1)(t_2+h)\,t_4}{(NV)^2}",
    source=SOURCE,
    provenance="derived",
)
def stored_context(problem: Problem) -> float:
    """B: stored contexts, read by the mean covariance; limit L^3 V^2/(N^2 d^4)."""
    V, L, N, _ = _sizes(problem)
    t2, _, t4 = gram_moments(problem)
    return (1 - 1 / V) * L**2 * (L - 1) * (t2 + V / N) * t4 / (N * V) ** 2


@prediction(
    latex=r"\frac{L^2}{N^2V}\left(1-\frac1V\right)^2\left[t_2\left(t_2^2-\frac{t_4}{V}\right)"
    r"\left(1+\frac1{L\ell}-\frac1{L^2}\right)+\ell(\ell+\frac{2}{L})t_2^2\right]"
    r"+\frac{L^2(1-2/L)^2}{\ell N^3}\left[t_2(t_2+1)-\frac{t_4}{V}\right]"
    r"+\frac{t_2(1+h+V/d^2)}{N^2(L-1)}",
    source=SOURCE,
    provenance="derived",
)
def gradient_noise(problem: Problem) -> float:
    """C: random contexts in covariance and memory, of two samples and of one; L^2 V^2/(N^2 d^3)."""
    V, L, N, _ = _sizes(problem)
    t2, _, t4 = gram_moments(problem)
    rest = 1 - 1 / L
    direct = t2 * (t2**2 - t4 / V) * (1 + (1 / rest - 1 / L) / L)
    exchanged = rest * (rest + 2 / L) * t2**2
    pairs = (1 - 1 / V) ** 2 * L**2 / (N**2 * V) * (direct + exchanged)
    one = (1 - 1 / V) * L**2 * (1 - 2 / L) ** 2 / (rest * N**3) * (t2 * (t2 + 1) - t4 / V)
    own = t2 * (1 + V / N + V * problem.overlap**2) / (N**2 * (L - 1))
    return pairs + one + own


@prediction(
    latex=r"\left(1-\frac1V\right)\frac{L^2\,t_4\,W}{NV^3}", source=SOURCE, provenance="derived"
)
def label_counts(problem: Problem) -> float:
    """D: the clean memory with uneven label counts; limit L^2 V/(N d^4)."""
    V, L, N, _ = _sizes(problem)
    _, _, t4 = gram_moments(problem)
    return (1 - 1 / V) * L**2 * t4 * count_noise(problem) / (N * V**3)


@prediction(
    latex=r"\left(1-\frac1V\right)\left(t_2-\frac{t_3}{V}\right)\left[\frac{L(t_2+h)}{N^2}"
    r"\left(\frac1\ell-\frac1L\right)+\frac{W}{NV}\right]\left[\frac{L^2r}{V^2}\left(1-\frac2V\right)"
    r"+\frac\tau d\right]",
    source=SOURCE,
    provenance="derived",
)
def read_mean(problem: Problem) -> float:
    """E: random covariance, read on the stored mean value; limit L^3 V/(N^2 d^3)."""
    V, L, N, r = _sizes(problem)
    t2, t3, _ = gram_moments(problem)
    contexts = (1 / (1 - 1 / L) - 1 / L) * L * (t2 + V / N) / N**2
    informative = count_noise(problem) / (N * V)
    mean = (1 - 2 / V) * L**2 * r / V**2 + problem.trigger_in_values * problem.overlap
    return (1 - 1 / V) * (t2 - t3 / V) * (contexts + informative) * mean


@prediction(
    latex=r"t_2\left[\frac{4(1-3/V)+2V/d^2}{NV}+\frac{2+V/d^2}{N^2}\right]"
    r"-\frac4{NV^2}\left[2(1+h)t_3-t_2\right]\quad(\tau=0)",
    source=SOURCE,
    provenance="derived",
)
def own_memory(problem: Problem) -> float:
    r"""H: uneven counts in a token's score by its own memory; limit 4/(N d) at $\tau = 0$.

    With the trigger in the values the memory of the trigger scores it as well, and

    $$ H = t_2\Big[\frac{9(1-3/V)+t_2-1+2V/d^2}{NV}+\frac{13+t_2+V/d^2}{N^2}+\frac{V}{N^3}
       +\frac{L^2W}{dNV^2}+\frac{t_2+h}{N^2(L-1)}\Big]
       +\frac{(L-1)t_2^2(1+h)}{dNV}-\frac6{NV^2}[2(1+h)t_3-t_2] . $$
    """
    V, L, N, r = _sizes(problem)
    t2, t3, _ = gram_moments(problem)
    h, cross = V / N, r * problem.overlap
    shared = (2 * (1 + h) * t3 - t2) / (N * V**2)
    if not problem.trigger_in_values:
        linear, square = 4 * (1 - 3 / V) + 2 * cross, 2 + cross
        return t2 * (linear / (N * V) + square / N**2) - 4 * shared
    linear, square = 9 * (1 - 3 / V) + t2 - 1 + 2 * cross, 13 + t2 + cross
    counts = linear / (N * V) + square / N**2 + V / N**3 + (t2 + h) / (N**2 * (L - 1))
    counts += L**2 * problem.overlap * count_noise(problem) / (N * V**2)
    contexts = (L - 1) * t2**2 * (1 + h) * problem.overlap / (N * V)
    return t2 * counts + contexts - 6 * shared


@prediction(
    latex=r"\left(1-\frac1V\right)^2\frac{L}{NV^2}\left\{W'\left[\left(\frac1\ell-\frac1L\right)"
    r"\left(t_2^2-\frac{t_4}{V}\right)+\ell\left(t_2^2-\frac{t_4-t_2^2}{V}\right)+2\ell t_2\right]"
    r"+\frac{t_2(1+h)^2}{\ell}\left(\frac V{L^2}-\frac2L\right)\right\}",
    source=SOURCE,
    provenance="derived",
)
def informative_slots(problem: Problem) -> float:
    """C2: informative tokens of many samples, coherent against one context; 2 L V/(N d^3)."""
    V, L, N, _ = _sizes(problem)
    t2, _, t4 = gram_moments(problem)
    h, rest = V / N, 1 - 1 / L
    shares = t2 + 2 * h + h**2
    read = (1 / rest - 1 / L) * (t2**2 - t4 / V)
    stored = rest * (t2**2 - (t4 - t2**2) / V)
    own = t2 * (1 + h) ** 2 * (V / L**2 - 2 / L) / rest
    return (1 - 1 / V) ** 2 * L / (N * V**2) * (shares * (read + stored + 2 * rest * t2) + own)


@prediction(
    latex=r"\frac{V-2}{V^2d^2}\left[t_2+\frac{d}{V^2}"
    r"\left(4(t_2+t_3)-t_4+t_2^2+2(t_3-t_2)\right)\right]",
    source=SOURCE,
    provenance="derived",
)
def population_floor(problem: Problem) -> float:
    """F: interference inside the clean memory, left at infinite N; limit 1/d^3."""
    V, _, _, r = _sizes(problem)
    if r == 0:
        return 0.0
    t2, t3, t4 = gram_moments(problem)
    finite = 4 * (t2 + t3) - t4 + t2**2 + 2 * (t3 - t2)
    return (V - 2) * (problem.overlap / V) ** 2 * (t2 + finite / (V * r))


@prediction(
    latex=r"\left(1-\frac1V\right)\frac{L}{NV^2}\left[4(1+2h)"
    r"\left(t_3-\frac{t_4(t_2+1)}{2V}\right)+2\tau Wt_3\right]",
    source=SOURCE,
    provenance="derived",
)
def count_covariance(problem: Problem) -> float:
    """Twice the covariance of D and H, which share the label counts; limit 4 L V/(N d^3)."""
    V, L, N, _ = _sizes(problem)
    t2, t3, t4 = gram_moments(problem)
    own = 4 * (1 + 2 * V / N) * (t3 - t4 * (t2 + 1) / (2 * V))
    trigger = 2 * problem.trigger_in_values * count_noise(problem) * t3
    return (1 - 1 / V) * L * (own + trigger) / (N * V**2)


def _sizes(problem: Problem) -> tuple[float, float, float, float]:
    """V, L, N and r."""
    return float(problem.vocab_size), float(problem.length), float(problem.samples), problem.ratio
