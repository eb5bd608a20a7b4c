r"""Variance of the token scores: nine named noise terms in units of $s_0^2$.

The score of token $v$ is $\theta_v = z_v^\top w$ (see `theory.attention.signal`). Its variance over tokens,
averaged over data and embeddings, is the sum of the variances in `TERMS`, plus one covariance that
is not negligible: D and H share the label counts. Formulas are in `theory.attention.noise_formulas`, their
derivation in noise.md. Orthonormal embeddings are the case $r = 1/d = 0$.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from recall_claims import prediction
from theory.attention import noise_formulas
from theory.attention.problem import Problem


@dataclass(frozen=True)
class NoiseTerm:
    """One summand of the variance of the token scores.

    Attributes:
        symbol: short name, the key in `TERMS`.
        title: name in words.
        mechanism: how it arises, in one sentence.
        latex: its variance in units of $s_0^2$, to leading order in 1/V and 1/L.
        exponents: powers of the sizes in its regime, trigger not in the values.
        regime: where those exponents hold.
        variance: its variance in units of $s_0^2$ at a problem.
        limit: the pure power law, with its constant, that `variance` tends to in the regime.
    """

    symbol: str
    title: str
    mechanism: str
    latex: str
    exponents: Mapping[str, float]
    regime: str
    variance: Callable[[Problem], float]
    limit: Callable[[Problem], float]

    def scaling(self, problem: Problem) -> float:
        """Power law with `exponents`, bent as the finite sizes bend `variance`; any constant.

        Its exponents on a grid are what a measurement there should find.
        """
        return _power_law(1.0, self.exponents, problem) * (
            self.variance(problem) / self.limit(problem)
        )


def moments(ratio: float) -> tuple[float, float, float]:
    r"""Moments $t_2, t_3, t_4$ of the Gram spectrum at $V, d \to \infty$ with $r = V/d$.

    Those of the Marchenko-Pastur law.

    >>> moments(0.0)
    (1.0, 1.0, 1.0)
    """
    r = ratio
    return 1 + r, 1 + 3 * r + r**2, 1 + 6 * r + 6 * r**2 + r**3


@prediction(
    latex=r"\frac{(L-1)t_2^2(1+N/V)}{N^2}+\frac{(L-1)t_2V}{N^3}+\frac{2V(1+V/d^2)}{N^2}"
    r"+\frac{4V}{d^2N}+\frac{L^2rW}{NV^2}"
    r"+\tau\left[\frac{(L-1)(t_2+h)r}{N^2}+\frac{2t_2}{V}h^2\left(1+\frac Ld\right)^2\right]",
    source=noise_formulas.SOURCE,
    provenance="derived",
)
def trigger_coefficient_variance(problem: Problem) -> float:
    r"""Variance $v_q$ over data of the trigger coefficient $q$ in $w = q\,z_{trig} + \dots$.

    In units of $s_0^2$, with $W = t_2(1 + h) + 3h + h^2$. The population value of $q$ is $s_0$ up
    to a relative fluctuation $2/d^2$ over embeddings, which is not part of $v_q$.
    """
    V, L, N = float(problem.vocab_size), float(problem.length), float(problem.samples)
    r, overlap = problem.ratio, problem.overlap
    t2, _, _ = noise_formulas.gram_moments(problem)
    value = (L - 1) * t2 * (t2 * (1 + N / V) / N**2 + V / N**3)
    value += 2 * V * (1 + V * overlap**2) / N**2 + 4 * V * overlap**2 / N
    value += L**2 * r * noise_formulas.count_noise(problem) / (N * V**2)
    if problem.trigger_in_values:
        h = V / N
        value += (L - 1) * (t2 + h) * r / N**2 + (2 * t2 / V) * h**2 * (1 + L * overlap) ** 2
    return value


@prediction(
    latex=r"\frac1d\left\{\bar q^2+v_q+\tau\left[2\bar q\left(\frac{Lt_2}{N}+\frac{t_2}{V}\right)"
    r"+\frac{L^2t_3}{N^2}\left(1+\frac{2t_2}{V}\right)+\frac{t_2^2+t_3-t_2}{V^2}"
    r"+\frac{2Lt_3}{NV}\right]\right\},\quad"
    r"\bar q=\left(1-\frac1V\right)\left(1-\frac1N+\tau h\right)",
    source=noise_formulas.SOURCE,
    provenance="derived",
)
def trigger_direction(problem: Problem) -> float:
    """T: overlap of a token with everything stored along the trigger; limit 1/d."""
    V, L, N = float(problem.vocab_size), float(problem.length), float(problem.samples)
    t2, t3, _ = noise_formulas.gram_moments(problem)
    mean = (1 - 1 / V) * (1 - 1 / N + problem.trigger_in_values * V / N)
    value = mean**2 + trigger_coefficient_variance(problem)
    if problem.trigger_in_values:
        value += 2 * mean * (L * t2 / N + t2 / V) + 2 * L * t3 / (N * V)
        value += L**2 * t3 / N**2 * (1 + 2 * t2 / V) + (t2**2 + t3 - t2) / V**2
    return problem.overlap * value


def _power_law(constant: float, exponents: Mapping[str, float], problem: Problem) -> float:
    powers = [float(getattr(problem, name)) ** power for name, power in exponents.items()]
    return float(constant * math.prod(powers))


def _term(
    symbol: str,
    title: str,
    mechanism: str,
    latex: str,
    regime: str,
    variance: Callable[[Problem], float],
    *,
    constant: float = 1.0,
    **exponents: float,
) -> NoiseTerm:
    sizes = ("vocab_size", "samples", "length", "dim")
    powers = {name: exponents.get(name, 0.0) for name in sizes}
    limit = partial(_power_law, constant, powers)
    return NoiseTerm(symbol, title, mechanism, latex, powers, regime, variance, limit)


# The formulas are looked up when called, so that a changed prediction changes everything above it.
_ALL = (
    _term(
        "T",
        "trigger direction",
        "A token's embedding overlaps with the trigger's, so it gets a share of the signal.",
        r"\frac1d\left\{(1+\tau h)^2+v_q+\tau\left[2(1+h)\left(\frac{Lt_2}{N}+\frac{t_2}{V}\right)"
        r"+\frac{L^2t_3}{N^2}\right]\right\}",
        "N >> V",
        lambda problem: trigger_direction(problem),
        dim=-1,
    ),
    _term(
        "A",
        "mean bias",
        "The mean of the token embeddings is not zero, and is stored because a sample agrees with "
        "itself.",
        r"\frac{L^4\,r\,t_3}{(NV)^2}\left[\left(1-\frac2L\right)^2+\frac{2t_2}{V}\right]",
        "V >> d, L >> 1",
        lambda problem: noise_formulas.mean_bias(problem),
        length=4,
        vocab_size=1,
        samples=-2,
        dim=-3,
    ),
    _term(
        "B",
        "stored context",
        "The value matrix memorises the contexts of the samples, and the mean covariance reads "
        "them.",
        r"\frac{L^2(L-1)(t_2+h)\,t_4}{(NV)^2}",
        "V >> d, N >> d, L >> 1",
        lambda problem: noise_formulas.stored_context(problem),
        length=3,
        vocab_size=2,
        samples=-2,
        dim=-4,
    ),
    _term(
        "C",
        "gradient noise",
        "The covariance of one random context reads what another, or the same, has stored.",
        r"\frac{L^2}{N^2}\left[\frac{t_2^2(t_2+1)}{V}+\frac{t_2(t_2+1)}{N}\right]",
        "V >> d, N >> d, L >> 1",
        lambda problem: noise_formulas.gradient_noise(problem),
        length=2,
        vocab_size=2,
        samples=-2,
        dim=-3,
    ),
    _term(
        "D",
        "label counts",
        "The mean covariance reads the clean memory with label counts that differ from N/V.",
        r"\frac{L^2\,t_4}{NV^3}\left[t_2(1+h)+3h+h^2\right]",
        "V >> d, N >> V",
        lambda problem: noise_formulas.label_counts(problem),
        length=2,
        vocab_size=1,
        samples=-1,
        dim=-4,
    ),
    _term(
        "E",
        "mean value",
        "Random covariances read the mean value that is stored with every label.",
        r"t_2\left[\frac{L(t_2+h)}{N^2}+\frac{t_2(1+h)+3h+h^2}{NV}\right]"
        r"\left(\frac{L^2r}{V^2}+\frac\tau d\right)",
        "V >> d, V << N << L V",
        lambda problem: noise_formulas.read_mean(problem),
        length=3,
        vocab_size=1,
        samples=-2,
        dim=-3,
    ),
    _term(
        "H",
        "own memory",
        "A token is scored by its own memory (and the trigger's) as often as it was informative.",
        r"t_2\left[\frac4{NV}+\frac2{N^2}\right]\ (\tau=0)",
        "d << V << d^2, N >> V",
        lambda problem: noise_formulas.own_memory(problem),
        constant=4,
        samples=-1,
        dim=-1,
    ),
    _term(
        "C2",
        "informative slots",
        "The informative tokens of many samples meet one random context coherently.",
        r"\frac{2L\,t_2(t_2+1)}{NV^2}\left(t_2+2h+h^2\right)",
        "V >> d, N >> d, L >> 1",
        lambda problem: noise_formulas.informative_slots(problem),
        constant=2,
        length=1,
        vocab_size=1,
        samples=-1,
        dim=-3,
    ),
    _term(
        "F",
        "population floor",
        "The clean memory interferes with itself, however many the samples.",
        r"\frac{r^2t_2}{V^3}",
        "V >> d",
        lambda problem: noise_formulas.population_floor(problem),
        dim=-3,
    ),
)

TERMS: dict[str, NoiseTerm] = {term.symbol: term for term in _ALL}
"""Every noise term by its symbol."""


@prediction(
    latex=r"\frac{\mathrm{Var}_v\theta_v}{s_0^2}=T+A+B+C+D+E+H+C_2+F+2\,\mathrm{Cov}(D,H)",
    source=noise_formulas.SOURCE,
    provenance="derived",
)
def variance(problem: Problem) -> float:
    r"""Variance of the token scores over tokens, in units of $s_0^2$."""
    terms = sum(term.variance(problem) for term in TERMS.values())
    return terms + noise_formulas.count_covariance(problem)


def shares(problem: Problem) -> dict[str, float]:
    """Each term's share of `variance`; they add up to 1 less the share of the covariance."""
    total = variance(problem)
    return {symbol: term.variance(problem) / total for symbol, term in TERMS.items()}


def dominant(problem: Problem) -> str:
    """Symbol of the largest noise term."""
    return max(TERMS, key=lambda symbol: TERMS[symbol].variance(problem))
