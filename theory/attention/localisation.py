r"""Localisation: the probability that the attention finds the informative token.

With hard attention a fresh sequence is localised if its informative key scores highest:
$\theta_u + \theta_{trig} > \theta_v$ for its informative token $u$ and all distractors $v$. The
scores are projections $\theta_v = z_v^\top w$, $\theta_{trig} = z_{trig}^\top w$ of one random
vector

$$ w = q\,z_{trig} + w_{noise}, $$

so that a replicate localises with probability $G(\theta_{trig}/\sigma)$, where
$\sigma^2 = \mathrm{Var}_v\,\theta_v$ and (`given_snr`)

$$ G(s) = \int f_d(t)\,F_d(t + s)^{L_{eff}}\,dt . $$

$f_d$ and $F_d$ are density and distribution function of $\sqrt d$ times a coordinate of a uniform
unit vector in $R^d$, taken at the dimension `marginal_dim`. $L_{eff}$ is the mean number of
distinct distractors. `probability` averages $G$ over three numbers that differ from replicate to
replicate, in units of the mean noise $E\sigma^2$:

- $q$: Gaussian with variance $v_q$ (`noise_terms.trigger_coefficient_variance`);
- $\nu = z_{trig}^\top w_{noise}$, the trigger's own noise: $f_d$-distributed with variance
  $b\,(1 - T)\,\zeta$ (`_trigger_share` is $b$);
- $\zeta$, the quadratic form $w_{noise}^\top S\,w_{noise}$ over its mean: lognormal with mean 1 and
  variance `_spread`. $S$ is the embeddings' covariance.

With $T$ the share of noise term T (the trigger direction), the mean of $\sigma^2$ given $q$, $\nu$
and $\zeta$ is $T + (q^2 - E q^2 + 2 q \nu)/d + (1 - T)\,\zeta$.

With the trigger in the values, most of the signal is proportional to one random number, the mean
agreement of two labels of the batch (`Agreement`). This number is skewed and moves the noise as
well. Then $q$ and $\nu$ are correlated (`noise_terms.trigger_covariance`), and T is proportional to
$q^2 + 2q\nu$, by a factor slightly above $1/d$.

Derivation: given the data's label counts, every term of $w_{noise}$ is a Gaussian vector. Its
covariance is a power $S^p$, and $p$ is the term's `covariance_power`. A vector $S\mu$, with $\mu$
the mean embedding, has $p = 2$ (term A). $S\,S^{1/2}g$, with $g$ a normal vector, has $p = 3$
(terms B, D), and $S^{1/2} g$ has $p = 1$ (the others). So $\sigma^2$ is a quadratic form in
$S^{p+1}$, and the variance of $\nu$ is a form in $S^p$. There is one approximation: a lognormal
of the same variance replaces a weighted sum of $\chi^2$ times powers of a $\chi^2$.

With orthonormal embeddings $\theta_v$ is not Gaussian (`theory.attention.orthonormal`), and both
`probability` and `replicate_snr` raise ValueError.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from recall_claims import prediction
from theory.attention import noise, noise_terms, signal
from theory.attention.problem import SIZES, Problem
from theory.laws import quadrature, spectra, sphere
from theory.laws.quadrature import Array

SPARSE = SIZES.searched(
    "d >= 12, L >= 8 and V >= 8 d", holds=lambda cell: cell["vocab_size"] >= 8 * cell["dim"]
)
REGIME = SPARSE.searched("V >= 256", holds=lambda cell: cell["vocab_size"] >= 256)
"""Regime in which `probability` states smaller errors, unless N < 32 and the trigger is in the
values."""

_SOURCE = "paper A, arXiv 2603.15923, A6 and A7 (the algorithm); formula derived"
_SNR_RANGE = (-12.0, 18.0)


def distinct_distractors(length: float, vocab_size: float) -> float:
    r"""$L_{eff}$: mean number of distinct tokens, other than the informative one, in a sequence.

    >>> distinct_distractors(2, 100)
    0.99
    """
    return (vocab_size - 1) * -math.expm1((length - 1) * math.log1p(-1 / vocab_size))


@lru_cache(maxsize=4096)
def _localised(dim: float, distractors: float) -> CubicSpline:
    """Function G of the realised signal-to-noise ratio, for one dim and L_eff."""
    nodes, weights = sphere.nodes(dim, 64)
    knots = np.linspace(*_SNR_RANGE, 121)
    powers = sphere.cdf(nodes + knots[:, None], dim) ** distractors
    return CubicSpline(knots, powers @ weights)


@prediction(latex=r"G(s) = \int f_d(t)\,F_d(t + s)^{L_{eff}}\,dt", source=_SOURCE)
def given_snr(snr: Array | float, *, length: float, vocab_size: float, dim: float) -> Array:
    r"""Localisation probability of a replicate with ratio $\theta_{trig}/\sigma$, elementwise."""
    curve = _localised(float(dim), distinct_distractors(length, vocab_size))
    values: Array = np.clip(curve(np.clip(snr, *_SNR_RANGE)), 0.0, 1.0)
    return values


@prediction(
    latex=r"\mathrm{SNR} = \frac{E\theta_{trig}}{\sqrt{\mathrm{Var}_v\,\theta_v}}", source=_SOURCE
)
def snr(problem: Problem) -> float:
    r"""Mean trigger score over the root of the mean variance of the token scores."""
    unit = signal.signal_unit(problem)
    return signal.trigger_signal(problem) / (unit * math.sqrt(noise.variance(problem)))


@dataclass(frozen=True, kw_only=True)
class Agreement:
    r"""Effect of the mean agreement of two labels on signal and noise of a trigger in the values.

    Symbols are as in `noise_terms`. $\alpha$, nearly a gamma variable, is the agreement
    $A = V\sum_{ab}p_aG_{ab}p_b$ over its mean. The mean square of the samples' own agreements
    grows as $s\alpha + h\alpha^2$. Here $h\alpha^2$ is the square of their mean, and $s\alpha$ is
    their variance; $s = (1 - 1/N)(1 - 2/N)\,t_2$ is 0 for one or two samples, which agree equally.
    Terms of the mean embedding grow as $\alpha^2$.

    Attributes:
        variance: variance of $\alpha$.
        square: $h/(s + h)$.
        signal: the part of the mean signal that is proportional to $\alpha$.
        coefficient: the parts of $v_q$ that grow as $s\alpha + h\alpha^2$ and as $\alpha^2$.
        noise: shares of the noise other than T, in the same two parts.
    """

    variance: float = 0.0
    square: float = 0.0
    signal: float = 0.0
    coefficient: tuple[float, float] = (0.0, 0.0)
    noise: tuple[float, float] = (0.0, 0.0)

    def nodes(self) -> tuple[Array, Array, tuple[Array, Array]]:
        r"""Values of $\alpha$, weights, and $s\alpha+h\alpha^2$ and $\alpha^2$ over their means.

        Each is (nodes,).
        """
        alpha, weights = quadrature.gamma(self.variance, 5)
        squared = alpha**2 / (1 + self.variance)
        mixed = alpha * (1 - self.square + self.square * alpha)
        return alpha, weights, (mixed / (1 + self.square * self.variance), squared)


@dataclass(frozen=True)
class SignalToNoise:
    r"""Signal and noise of a setting: they determine the law of a replicate's ratio.

    Attributes:
        snr: mean trigger score over the root of the mean variance of the token scores.
        shares: parts of that variance, by the covariance power of the noise terms; power
            0 is T plus its covariances with others.
        coefficient: $v_q$ in units of that variance.
        covariance: covariance of $q$ and $\nu$, in units of that variance; 0 where the trigger is
            not in the values.
        agreement: how signal and noise change with the agreement, in units of that variance or its
            root; None to leave the agreement out.
    """

    snr: float
    shares: Mapping[int, float]
    coefficient: float
    covariance: float = 0.0
    agreement: Agreement | None = None

    @property
    def noise_shares(self) -> dict[int, float]:
        """Share of each power in the noise other than T; covariances have the rest."""
        rest = 1 - self.shares[0]
        return {power: share / rest for power, share in self.shares.items() if power}


def signal_to_noise(problem: Problem) -> SignalToNoise:
    """Signal and noise of the attention-only model."""
    total, shares = noise.variance(problem), noise.shares(problem)
    parts = noise_terms.trigger_coefficient_parts(problem)
    given = SignalToNoise(
        snr=snr(problem),
        shares=noise.by_covariance_power(shares),
        coefficient=sum(parts.values()) / total,
    )
    if not problem.trigger_in_values:
        return given
    covariance = noise_terms.trigger_covariance(problem) / total
    direct = given.shares[0] + 2 * problem.overlap * covariance
    apart = noise_terms.own_memory(problem.replace(trigger_in_values=False)) / total
    grown = shares["B"] + shares["D"] + shares["E"] + max(shares["H"] - apart, 0.0)
    t2, _, _ = spectra.centred_moments(problem.embeddings, problem.vocab_size, problem.dim)
    h, pairs = 1 / problem.load, (1 - 1 / problem.samples) * t2
    agreement = Agreement(
        variance=2 * pairs / problem.vocab_size,
        square=h / ((1 - 2 / problem.samples) * pairs + h),
        signal=h * (1 + problem.length * problem.overlap) / math.sqrt(total),
        coefficient=(
            (parts["trigger reads contexts"] + parts["overlaps"]) / total,
            parts["mean overlap"] / total,
        ),
        noise=(grown / (1 - direct), shares["A"] / (1 - direct)),
    )
    powers = {**given.shares, 0: direct}
    return replace(given, shares=powers, covariance=covariance, agreement=agreement)


def marginal_dim(problem: Problem, given: SignalToNoise | None = None) -> float:
    r"""Dimension $D$ at which $f_D$ has the kurtosis of one replicate's token scores.

    For Gaussian embeddings the scores of a replicate have a uniform direction in $R^V$, so that
    each is nearly normal: $D=\infty$. With the embeddings' Gram matrix $K$ and a term's covariance
    power $p$, a score has variance $(K^{p+1})_{vv}$, which varies as $|z_v|^{2\eta}$. Here $\eta$
    is $\eta_{p+1} = [x^{p+1}](M^2 - M)/t_{p+1}$, $[x^k]$ takes the coefficient of $x^k$, and
    $M=\sum_kt_kx^k=1/(1-a)$ with $a \propto |z_v|^2$. Unit lengths remove this variation, so that
    $D = d/\eta^2$, with $\eta$ the mean over terms, weighted by shares.
    """
    if problem.embeddings == "gaussian":
        return math.inf
    t2, t3, t4 = spectra.moments(problem.ratio)
    eta = (1.0, (t2 + 1) / t2, (t3 + 2 * t2) / t3, (t4 + 2 * t3 + t2**2) / t4)
    shares = (given or signal_to_noise(problem)).shares
    mean = sum(share * eta[power] for power, share in shares.items())
    return problem.dim / mean**2


def _spread(
    problem: Problem, shares: Mapping[int, float], agreement: Agreement | None = None
) -> float:
    r"""Variance over replicates of $\zeta$, a product of two independent factors.

    One is the form $\sum_p a_p g^\top S^{p+1} g / m_{p+1}$ ($a_p$: share of the terms of power p,
    $m_k$: spectral moments of $S$), of variance
    $\frac2d\sum_{pq} a_pa_q\,m_{p+q+2}/(m_{p+1}m_{q+1})$. The other is from the label counts $n$.
    With the output Gram matrix $G$, they scale terms with $p = 3$ by $n^\top G^2 n$, of relative
    variance $2t_4/(Vt_2^2)$. They scale the mean embedding ($p = 2$) by $y^2$, $y = n^\top G n$, of
    the relative variance of the square of a $\chi^2_k$, $k = V/t_2$. The two scales have the
    relative covariance $2\cdot 2t_3/(Vt_2)$. The part of the counts' variance that ``agreement``
    explains is subtracted.
    """
    size, ratio = problem.vocab_size, problem.dim / problem.vocab_size
    moment = {k: spectra.moment(k, ratio) for k in range(1, 9)}
    form = sum(
        a * b * moment[p + q + 2] / (moment[p + 1] * moment[q + 1])
        for p, a in shares.items()
        for q, b in shares.items()
    )
    t2, t3, t4 = spectra.moments(problem.ratio)
    inverse = 2 * t2 / size
    squared = (1 + 2 * inverse) * (1 + 3 * inverse) / (1 + inverse) - 1
    bias, stored = shares[2], shares[3]
    counts = (
        bias**2 * squared
        + stored**2 * 2 * t4 / (size * t2**2)
        + 2 * bias * stored * 4 * t3 / (size * t2)
    )
    if agreement:
        told = 2 * bias + (1 + agreement.square) * stored
        counts = max(counts - told**2 * agreement.variance, 0.0)
    return (1 + 2 * form / problem.dim) * (1 + counts) - 1


def _trigger_share(problem: Problem, shares: Mapping[int, float]) -> float:
    r"""Ratio $b$ of the variance of $z_{trig}^\top w_{noise}$ to the variance of
    $z_v^\top w_{noise}$ over tokens.
    """
    ratio = problem.dim / problem.vocab_size
    return sum(
        share * spectra.moment(power, ratio) / spectra.moment(power + 1, ratio)
        for power, share in shares.items()
    )


def replicate_snr(problem: Problem, given: SignalToNoise | None = None) -> tuple[Array, Array]:
    r"""Quadrature of $\theta_{trig}/\sigma$ over replicates: values and weights, both (nodes,).

    Raises ValueError: the embeddings are orthonormal.
    """
    if problem.embeddings == "orthonormal":
        raise ValueError(
            "the embeddings are orthonormal: use theory.attention.orthonormal.localisation"
        )
    dim = problem.dim
    given = given or signal_to_noise(problem)
    direct, shares = given.shares[0], given.noise_shares
    signal_mean, coefficient, found = given.snr, given.coefficient, given.agreement or Agreement()

    gauss, gauss_weights = quadrature.normal(13)
    own, own_weights = sphere.nodes(dim, 32)
    alpha, alpha_weights, grown = found.nodes()

    def changed(mean: float, parts: tuple[float, float]) -> Array:
        changes = (part * (growth - 1) for part, growth in zip(parts, grown, strict=True))
        return np.asarray(mean + sum(changes))[:, None, None]

    log_variance = math.log1p(_spread(problem, shares, given.agreement))
    zeta = np.exp(math.sqrt(log_variance) * gauss - log_variance / 2)[:, None, None, None]
    noise_part = (1 - direct) * zeta * changed(1.0, found.noise)
    rest = np.sqrt(changed(coefficient - found.signal**2 * found.variance, found.coefficient))
    q = signal_mean + found.signal * (alpha[:, None, None] - 1) + rest * gauss[:, None]
    shared = changed(given.covariance, (given.covariance, 0.0)) / rest
    collected = np.maximum(_trigger_share(problem, shares) * noise_part - shared**2, 0.0)
    nu = shared * gauss[:, None] + np.sqrt(collected) * own
    trigger = q + nu
    mean_square = signal_mean**2 + coefficient + 2 * given.covariance
    # With the trigger in the values T is a bit more than q^2/d, and changes with it.
    scale = direct / mean_square if given.agreement else 1 / dim
    mixed = scale * (q**2 + 2 * q * nu - mean_square)
    # Cauchy-Schwarz: no realised ratio can exceed sqrt(d).
    variance = np.maximum(direct + mixed + noise_part, trigger**2 / dim)
    weights = np.einsum("z,a,q,n->zaqn", gauss_weights, alpha_weights, gauss_weights, own_weights)
    return (trigger / np.sqrt(variance)).ravel(), weights.ravel()


def _many_tokens(cell: Mapping[str, Any]) -> bool:
    return bool(cell["vocab_size"] >= 256 and not cell.get("trigger_in_values", False))


def _many_samples(cell: Mapping[str, Any]) -> bool:
    return bool(cell["vocab_size"] >= 256 and cell["samples"] >= 32)


@prediction(
    latex=r"P = E_{q,\nu,\zeta}\,G\!\left(\frac{q + \nu}{\sigma}\right),\quad"
    r"\sigma^2 = T + \frac{q^2 - Eq^2 + 2q\nu}{d} + (1 - T)\,\zeta",
    source=_SOURCE,
    error=(
        (0.02, "for V >= 256, trigger in the keys alone", _many_tokens),
        (0.025, "for V >= 256 and N >= 32, trigger in the values", _many_samples),
        (0.04, "else"),
    ),
    regime=SPARSE,
)
def probability(problem: Problem, given: SignalToNoise | None = None) -> float:
    r"""Probability that the attention localises the informative token of a fresh sequence.

    Averaged over data, random embeddings and the sequence; one call takes a few ms. Stated error
    for d >= 12 and V >= 8 d: {error}. With the trigger in the values, 70 random settings (V from
    128 to 1,024, d up to 44) have errors of -0.030 to 0.012, at a standard error of 0.004. The
    formula is too low where the error is largest: by more than 0.02 where V < 256, or N < 22 and
    d < 19. For L from 3 to 7, 20 settings with N >= V/4 have errors of -0.014 to 0.004. At
    smaller N (18 to 43) they reach -0.05, as predicted noise is too large. $G(\mathrm{SNR})$
    alone, with a normal $\theta_v$ and no spread between replicates, differs from this formula
    by -0.14 to 0.10 for V >= 256 and N >= V/3, and by up to 0.27 with fewer samples.

    Raises ValueError: the embeddings are orthonormal.
    """
    given = given or signal_to_noise(problem)
    ratios, weights = replicate_snr(problem, given)
    values = given_snr(
        ratios,
        length=problem.length,
        vocab_size=problem.vocab_size,
        dim=marginal_dim(problem, given),
    )
    return float(values @ weights)
