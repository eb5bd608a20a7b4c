r"""The noise terms of the token scores: each declared once, on the formula of its variance.

In units of $s_0^2$. Notation of all formulas here: $h = V/N$, $r = V/d$ and $1/d$ (both 0 for
orthonormal embeddings), $\ell = 1 - 1/L$, $\tau$ = trigger in the values, $t_k$ the spectral
moments of $V$ centred embeddings (`theory.laws.spectra`), and

$$ W = t_2(1 + h) + 3h + h^2, \qquad W' = t_2 + 2h + h^2 . $$

$W/(NV^3)$ is the variance over tokens of $p_a (Gp)_a$. Here $p_a$ is the share of the samples whose
informative token is $a$, and $G$ the output Gram matrix. Shares fluctuate by $1/(NV)$: once as
$(Gp)_a/V$ and once more through $p_a$ itself.

noise.md derives every term, with the size of what is left out. Means are over data and unit-sphere
embeddings (exact moments). Squared lengths of Gaussian embeddings have a variance of $2/d$, which
changes A, C, C2, E, F and H, here with the trigger in the keys alone (noise.md, Gaussian
embeddings).

Each term states the error of `noise.variance`, and where that does.
"""

from recall_claims import prediction
from theory.attention.noise_declaration import ERROR, MANY_TOKENS, REGIME, SOURCE, noise_term
from theory.attention.problem import Problem
from theory.laws import spectra

COUNTED = MANY_TOKENS.searched(
    "2 d <= V <= d^2/8, N >= V",
    holds=lambda cell: (
        2 * cell["dim"] <= cell["vocab_size"] <= cell["dim"] ** 2 / 8
        and cell["samples"] >= cell["vocab_size"]
    ),
)


def _notation(problem: Problem) -> tuple[float, float, float, float, float, float, float]:
    """V, L, N, r, t_2, t_3 and t_4 of the module docstring."""
    moments = spectra.centred_moments(problem.embeddings, problem.vocab_size, problem.dim)
    sizes = float(problem.vocab_size), float(problem.length), float(problem.samples)
    return *sizes, problem.ratio, *moments


def _length_variance(problem: Problem) -> float:
    """Variance of an embedding's squared length."""
    return 2 / problem.dim if problem.embeddings == "gaussian" else 0.0


def count_noise(problem: Problem) -> float:
    """The factor W of the module docstring."""
    _, _, _, _, t2, _, _ = _notation(problem)
    h = 1 / problem.load
    return t2 * (1 + h) + 3 * h + h**2


@prediction(
    latex=r"\frac{(L-1)t_2^2(1+N/V)}{N^2}+\frac{(L-1)t_2V}{N^3}+\frac{2V(1+V/d^2)}{N^2}"
    r"+\frac{4V}{d^2N}+\frac{L^2rW}{NV^2}"
    r"+\tau\left[\frac{(L-1)(t_2+h)r}{N^2}+\frac{2t_2}{V}h^2\left(1+\frac Ld\right)^2"
    r"+\frac{h^2L^2}{Vd}\left(1+\frac{2t_2}{V}\right)+\frac{4V}{N^2}\left(1+\frac Ld\right)"
    r"+\left(1+\frac1\ell\right)^2\frac1d\left(\frac{t_2}{N}+\frac{V(1+t_2)}{N^2}\right)\right]",
    source=SOURCE,
    error=ERROR,
    regime=REGIME,
)
def trigger_coefficient_variance(problem: Problem) -> float:
    r"""Variance $v_q$ of the trigger coefficient $q$ in $w = q\,z_{trig} + \dots$.

    In units of $s_0^2$, with $W = t_2(1 + h) + 3h + h^2$. The population value of $q$ is $s_0$ up
    to a relative fluctuation $2/d^2$ over embeddings, which is not part of $v_q$. With the trigger
    in the values, $q$ includes what keys without the trigger read of the stored trigger, along it,
    and $v_q$ is the variance over data and embeddings.
    """
    return sum(trigger_coefficient_parts(problem).values())


def trigger_coefficient_parts(problem: Problem) -> dict[str, float]:
    r"""What $v_q$ adds up from, in units of $s_0^2$, by what the informative tokens read.

    ``contexts``: contexts of other samples. ``own context``: that of the same sample.
    ``tokens``: informative tokens. ``mean``: the mean embedding, stored with every label. Where the
    trigger is in the values, besides: ``trigger reads contexts``; ``agreement``, the trigger, as
    often as labels agree; ``overlaps``, those of trigger and informative tokens; ``mean overlap``,
    that of trigger and mean embedding; ``agreement of tokens``, a covariance with ``tokens``.
    """
    V, L, N, r, t2, _, _ = _notation(problem)
    overlap, h = problem.overlap, V / N
    parts = {
        "contexts": (L - 1) * t2**2 * (1 + N / V) / N**2,
        "own context": (L - 1) * t2 * V / N**3,
        "tokens": 2 * V * (1 + V * overlap**2) / N**2 + 4 * V * overlap**2 / N,
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
    r"""Variance of $V\sum_ap_ag_a\zeta_a$, what informative tokens share with the trigger."""
    V, _, N, _, t2, _, _ = _notation(problem)
    return problem.overlap * (t2 / N + V * (1 + t2) / N**2)


def trigger_covariance(problem: Problem) -> float:
    r"""Covariance of $q$ and the noise $\nu$ that the trigger collects itself, units $s_0^2$.

    With the trigger in the values both see what it shares with contexts (B), informative tokens
    (D, H) and the mean embedding (A); else it is 0. noise.md derives it.
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
    """T: a token overlaps with the trigger, so it gets a share of the signal."""
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
    """A: the mean embedding, stored because a sample agrees with itself."""
    V, L, N, r, t2, t3, _ = _notation(problem)
    mean = (1 - 6 / V) * L**4 * r * t3 * ((1 - 2 / L) ** 2 + 2 * t2 / V) / (N * V) ** 2
    own = t2 + 2 * (1 - 2 / L) * L / V * (t3 + 2 * t2)
    return mean + _length_variance(problem) * (L / N) ** 2 * own


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
    V, L, N, _, t2, _, t4 = _notation(problem)
    return (1 - 1 / V) * L**2 * (L - 1) * (t2 + V / N) * t4 / (N * V) ** 2


@noise_term(
    "C",
    title="gradient noise",
    latex=r"\frac{L^2}{N^2V}\left(1-\frac1V\right)^2\left[t_2\left(t_2^2-\frac{t_4}{V}\right)"
    r"\left(1+\frac1{L\ell}-\frac1{L^2}\right)+\ell(\ell+\frac{2}{L})t_2^2\right]"
    r"+\frac{L^2(1-2/L)^2}{\ell N^3}\left[t_2(t_2+1)-\frac{t_4}{V}\right]"
    r"+\frac{t_2(1+h+V/d^2)}{N^2(L-1)}",
    exponents={"length": 2, "vocab_size": 2, "samples": -2, "dim": -3},
    covariance_power=1,
    regime="V >> d, N >> d, L >> 1",
)
def gradient_noise(problem: Problem) -> float:
    """C: the covariance of one random context reads what another, or the same, has stored."""
    V, L, N, _, t2, _, t4 = _notation(problem)
    rest = 1 - 1 / L
    direct = t2 * (t2**2 - t4 / V) * (1 + (1 / rest - 1 / L) / L)
    exchanged = rest * (rest + 2 / L) * t2**2
    pairs = (1 - 1 / V) ** 2 * L**2 / (N**2 * V) * (direct + exchanged)
    one = (1 - 1 / V) * L**2 * (1 - 2 / L) ** 2 / (rest * N**3) * (t2 * (t2 + 1) - t4 / V)
    own = t2 * (1 + V / N + V * problem.overlap**2) / (N**2 * (L - 1))
    return (1 + _length_variance(problem)) * (pairs + one + own)


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
    V, L, N, r, t2, t3, _ = _notation(problem)
    contexts = (1 / (1 - 1 / L) - 1 / L) * L * (t2 + V / N) / N**2
    informative = count_noise(problem) / (N * V)
    mean = (1 - 2 / V) * L**2 * r / V**2 + problem.trigger_in_values * problem.overlap
    weights = (1 + _length_variance(problem)) * (contexts + informative)
    return (1 - 1 / V) * (t2 - t3 / V) * weights * mean


@noise_term(
    "H",
    title="own memory",
    latex=r"t_2\left[\frac{4(1-3/V)+2V/d^2}{NV}+\frac{2+V/d^2}{N^2}\right]"
    r"-\frac4{NV^2}\left[2(1+h)t_3-t_2\right]\quad(\tau=0)",
    exponents={"samples": -1, "dim": -1},
    constant=4,
    covariance_power=1,
    regime="d << V << d^2, N >> V",
    error=(
        ("10%", "for V <= d^2/4", lambda cell: 4 * cell["vocab_size"] <= cell["dim"] ** 2),
        ("20%", "beyond"),
    ),
)
def own_memory(problem: Problem) -> float:
    r"""H: a token is scored by its own memory as often as it was informative.

    Stated error: {error}, where it is at most 4% of `noise.variance`. Simulated over theory is
    0.88(2), 0.90(3), 0.96(4), 0.88(3) at (V, L, N, d) = (296, 31, 149, 16), (200, 16, 150, 16),
    (500, 8, 170, 16) and (500, 8, 600, 16); with the trigger in the values 1.16(5) at the third.

    With the trigger in the values the memory of the trigger scores it as well, and

    $$ H = t_2\Big[\frac{9(1-3/V)+t_2-1+2V/d^2}{NV}+\frac{13+t_2+V/d^2}{N^2}+\frac{V}{N^3}
       +\frac{L^2W}{dNV^2}+\frac{t_2+h}{N^2(L-1)}\Big]
       +\frac{(L-1)t_2^2(1+h)}{dNV}-\frac6{NV^2}[2(1+h)t_3-t_2] . $$
    """
    V, L, N, r, t2, t3, _ = _notation(problem)
    h, cross = V / N, r * problem.overlap
    shared = (2 * (1 + h) * t3 - t2) / (N * V**2)
    if not problem.trigger_in_values:
        linear, square = 4 * (1 - 3 / V) + 2 * cross, 2 + cross
        spread = _length_variance(problem)
        lengths = (1 + spread) ** 2 * (1 + 2 * spread)
        return lengths * (t2 * (linear / (N * V) + square / N**2) - 4 * shared)
    linear, square = 9 * (1 - 3 / V) + t2 - 1 + 2 * cross, 13 + t2 + cross
    counts = linear / (N * V) + square / N**2 + V / N**3 + (t2 + h) / (N**2 * (L - 1))
    counts += L**2 * problem.overlap * count_noise(problem) / (N * V**2)
    return t2 * counts + trigger_reads_contexts(problem) - 6 * shared


def trigger_reads_contexts(problem: Problem) -> float:
    """The part of H that a trigger in the values reads of the stored contexts, units s_0^2."""
    V, L, N, _, t2, _, _ = _notation(problem)
    return (L - 1) * t2**2 * (1 + V / N) * problem.overlap / (N * V)


@noise_term(
    "C2",
    title="informative slots",
    latex=r"\left(1-\frac1V\right)^2\frac{L}{NV^2}\left\{W'\left[\left(\frac1\ell-\frac1L\right)"
    r"\left(t_2^2-\frac{t_4}{V}\right)+\ell\left(t_2^2-\frac{t_4-t_2^2}{V}\right)+2\ell t_2\right]"
    r"+\frac{t_2(1+h)^2}{\ell}\left(\frac V{L^2}-\frac2L\right)\right\}",
    exponents={"length": 1, "vocab_size": 1, "samples": -1, "dim": -3},
    constant=2,
    covariance_power=1,
    regime="V >> d, N >> d, L >> 1",
)
def informative_slots(problem: Problem) -> float:
    """C2: the informative tokens of many samples meet one random context coherently."""
    V, L, N, _, t2, _, t4 = _notation(problem)
    h, rest = V / N, 1 - 1 / L
    shares = t2 + 2 * h + h**2
    read = (1 / rest - 1 / L) * (t2**2 - t4 / V)
    stored = rest * (t2**2 - (t4 - t2**2) / V)
    own = t2 * (1 + h) ** 2 * (V / L**2 - 2 / L) / rest
    scored = (1 + _length_variance(problem)) * (shares * (read + stored + 2 * rest * t2) + own)
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
    """F: the clean memory interferes with itself, however many the samples."""
    V, _, _, r, t2, t3, t4 = _notation(problem)
    if r == 0:
        return 0.0
    finite = 4 * (t2 + t3) - t4 + t2**2 + 2 * (t3 - t2)
    spread = _length_variance(problem)
    lengths = 1 + spread + 2 * spread * (problem.dim + 5) / r
    return lengths * (V - 2) * (problem.overlap / V) ** 2 * (t2 + finite / (V * r))


@prediction(
    latex=r"\left(1-\frac1V\right)\frac{L}{NV^2}\left[4(1+2h)"
    r"\left(t_3-\frac{t_4(t_2+1)}{2V}\right)+2\tau Wt_3\right]",
    source=SOURCE,
    error="15%",
    regime=COUNTED,
)
def count_covariance(problem: Problem) -> float:
    """Twice the covariance of D and H, which share the label counts; limit 4 L V/(N d^3).

    Stated error: {error} for V up to d^2/8. What one token reads of another is left out: in the
    bracket, $2(1+h)(t_4-t_3)/d$ (noise.md). So simulated over theory is 1.2(1) at (V, L, N, d) =
    (250, 8, 84, 22), 1.8(1) at (200, 16, 150, 16), 2.6(2) at (296, 31, 149, 16), and at
    (500, 8, 170, 16) the sign is wrong; with it, 0.98(7), 1.10(6), 1.10(8) and 1.9(2). What is
    missing is 0.1 to 1.4% of `noise.variance` there.
    """
    V, L, N, _, t2, t3, t4 = _notation(problem)
    own = 4 * (1 + 2 * V / N) * (t3 - t4 * (t2 + 1) / (2 * V))
    trigger = 2 * problem.trigger_in_values * count_noise(problem) * t3
    return (1 - 1 / V) * L * (own + trigger) / (N * V**2)


def context_covariance(problem: Problem) -> float:
    r"""Twice the covariance of B and H, in units of $s_0^2$: $-2\tau Lt_3(t_2+h)/(N^2V)$.

    With the trigger in the values, what it reads is stored with the contexts, less their mean.
    """
    V, L, N, _, t2, t3, _ = _notation(problem)
    return -2 * problem.trigger_in_values * L * t3 * (t2 + V / N) / (N**2 * V)
