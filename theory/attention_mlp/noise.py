r"""Signal and noise of the attention step through the random layer.

With $\delta_i$ the residual of sample $i$, $v_{ij}$ its values and $\bar h_i$ their mean, the
scores are exactly

$$ s_{ij} = \frac1N\sum_{i'} g_{ii'}\,\nabla_hK_m(\bar h_{i'}; \bar h_i)\cdot v_{ij}, \qquad
   K_m(h', h) = \frac1m\sum_r\phi(w_r^\top h')\phi(w_r^\top h), \qquad
   g_{ii'} = \delta_i^\top U^\top U\delta_{i'} . $$

Averaged over layers, $\nabla_hK_m\cdot v = c_1\,h'\cdot v + c_2\,h\cdot v$ with $c_1\approx b_1^2$,
$c_2\approx b_0b_2$, so the terms of `theory.attention.noise` reappear with other factors. The
factor is $b_1^2$ for pairs of the same label, $\chi$ for a sample with itself, and
$\beta = b_1^2 + b_0b_2$ for pairs through the mean covariance. Three terms are new, `LAYER_TERMS`.
Moments of $\phi$, such as $b_k$, $\chi$ and $\psi$, are taken at the scale
$\varepsilon\approx L^{-1/2}$ of mean values (`theory.attention_mlp.activations`).

With ``centred`` residuals $\sum_i\delta_i = 0$. So every part that is the same for all $i$ or all
$i'$ drops out, including the mean embedding and a trigger in the values. A coefficient of a
sample with itself is reduced by its value for two different samples. noise.md derives the terms
that the layer's rows add.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from recall_claims import log_range, prediction
from theory.attention import noise, noise_terms, signal
from theory.attention.noise_declaration import sum_latex
from theory.attention.problem import SIZES
from theory.attention_mlp.problem import MlpProblem
from theory.laws import spectra

LAYER = SIZES.searched(
    "d >= 24, L >= 8",
    length=log_range(8, 128),
    samples=log_range(48, 8192),
    dim=log_range(24, 256),
    width=log_range(4, 1024),
    activation=("relu", "gelu", "tanh"),
)
SPARSE = LAYER.searched(
    "m >= 8, V >= 8 d", holds=lambda c: c["width"] >= 8 and c["vocab_size"] >= 8 * c["dim"]
)
STATED = SPARSE.searched("N >= V/3", holds=lambda c: 3 * c["samples"] >= c["vocab_size"])
"""Regime in which `trigger_signal` states its error."""
EVERY = STATED.searched(
    "24 dimensions per Hermite degree; even activations with plain residuals only",
    holds=lambda c: c["activation"] != "he2" or (c["dim"] >= 48 and not c.get("centred", False)),
    activation=("relu", "gelu", "tanh", "he2"),
)
"""Regime in which `variance` states its error."""

_SOURCE = "paper A, arXiv 2603.15923, A6, A9 and A10 (MLP noise); formula derived"


@dataclass(frozen=True)
class Coefficients:
    r"""Coefficients that rescale the terms, at one problem.

    Attributes:
        pair: $\bar c$, same-label pairs; $b_1^2$ for small $\varepsilon$.
        slope: $b_1^2$.
        curvature: $b_0b_2$, 0 if centred.
        mean: $\beta$, 0 if centred.
        own: $\chi$, or its excess over a pair if centred.
        own_read: $\chi$ for a sample's own context, less $b_0b_2$ if centred.
        drift: $\psi$, or its excess over a pair if centred.
        bias: $\bar\psi$, the drift stored along a row of the layer: from a sample with itself,
            and $b_1b_2/L^2$ from each of the $N/V$ others of its label.
        bias_change: $\bar\psi_1 = \partial\bar\psi/\partial\ln|w|$.
        drift_bend: $\psi_2 = E(\phi\phi')''/2L^2$, or its excess; a row of overlap $x$ with a
            trigger in the values has drift $\psi+\chi x/L+\psi_2(x^2-1)$.
        power: $E\phi^2$, or its excess over a pair if centred.
        slope_power: $E\phi'^2$.
        mean_slope_power: ``slope_power`` through the mean covariance; less $b_1^2$ if centred.
        mixed: $E\phi^2\phi'^2$, with $\phi - b_0$ if centred.
    """

    pair: float
    slope: float
    curvature: float
    mean: float
    own: float
    own_read: float
    drift: float
    bias: float
    bias_change: float
    drift_bend: float
    power: float
    slope_power: float
    mean_slope_power: float
    mixed: float

    def bias_square(self, dim: float) -> float:
        r"""Mean of $\bar\psi^2$ over the lengths of the layer's rows."""
        return self.bias**2 + (self.bias + self.bias_change) * self.bias_change / dim


@lru_cache(maxsize=4096)
def coefficients(problem: MlpProblem) -> Coefficients:
    """Coefficients at the scale of this problem's mean values."""
    law = problem.local
    square, size, length = law.scale**2, problem.vocab_size, problem.length
    tau = float(problem.trigger_in_values)
    different = (tau / length**2 + 1 / size) / square
    same = different + 1 / length**2 / square
    b = law.derivatives
    # c_1 of the stored value, c_2 of the sample's own one, and the correlation of the slope at
    # |h'| with the overlap of h' and the informative value.
    pair = (
        (1 + tau) * law.pair(1, 1, same)
        - tau * law.pair(1, 1, different)
        + tau * (law.pair(0, 2, same) - law.pair(0, 2, different))
        + b[1] * b[3] * (length - 1 + tau) / length**2 * problem.overlap
    )
    slope, curvature = b[1] ** 2, b[0] * b[2]
    bend = law.drift_change / (2 * square * length**2)
    stored = problem.load * (law.pair(0, 1, same) - law.pair(0, 1, different))
    change = 2 * b[1] * b[2] + square * (b[1] * b[4] + b[2] * b[3])
    change *= problem.load / length**2
    plain = Coefficients(
        pair=pair,
        slope=slope,
        curvature=curvature,
        mean=slope + curvature,
        own=law.gain,
        own_read=law.gain,
        drift=law.drift,
        bias=law.drift + stored,
        bias_change=law.drift_change + change,
        drift_bend=bend,
        power=law.square,
        slope_power=law.slope_square,
        mean_slope_power=law.slope_square,
        mixed=law.mixed,
    )
    if not problem.centred:
        return plain
    drift = law.drift - law.pair(0, 1, different)
    return replace(
        plain,
        curvature=0.0,
        mean=0.0,
        own=law.gain - law.pair(1, 1, different) - law.pair(0, 2, different),
        own_read=law.gain - curvature,
        drift=drift,
        bias=drift + stored,
        bias_change=law.drift_change - square * (b[1] * b[2] + b[0] * b[3]) + change,
        drift_bend=bend - (3 * b[1] * b[2] + b[0] * b[3]) / (2 * length**2),
        power=law.square - law.pair(0, 0, different),
        mean_slope_power=law.slope_square - slope,
        mixed=law.mixed_centred,
    )


@prediction(
    latex=r"\frac{E\theta_{trig}}{s_0} = \left(1-\frac1V\right)\left[\left(1-\frac1N\right)"
    r"\left(\bar c+\frac{\tau b_1^2}{d}\right)+\tau\frac VN\chi\left(1+\frac Ld\right)\right]",
    source=_SOURCE,
    error="7%",
    regime=STATED,
)
def trigger_signal(problem: MlpProblem) -> float:
    r"""Mean trigger score $E\theta_{trig}$.

    $\bar c$, the factor of pairs (`Coefficients`), tends to $b_1^2$ for small $\varepsilon$. With
    the trigger in the keys alone, only pairs of samples with the same label carry signal. This
    signal needs the slope of $\phi$ at small arguments; an even $\phi$ has no slope there.
    """
    p, c = problem, coefficients(problem)
    tau = float(p.trigger_in_values)
    pairs = (1 - 1 / p.samples) * (c.pair + tau * c.slope * p.overlap)
    excess = tau * c.own * (1 + p.length * p.overlap) / p.load
    return signal.signal_unit(p) * (1 - 1 / p.vocab_size) * (pairs + excess)


@dataclass(frozen=True)
class LayerTerm:
    """A noise term that the random layer adds, declared by `_layer_term`.

    Attributes:
        latex: the formula of its variance, in units of $s_0^2$ (`theory.attention.signal`).
        covariance_power: as in `theory.attention.noise_declaration.NoiseTerm`.
        variance: function that returns the variance at a problem, in the same units.
    """

    latex: str
    covariance_power: int
    variance: Callable[[MlpProblem], float]


LAYER_TERMS: dict[str, LayerTerm] = {}


def _layer_term(
    symbol: str, *, latex: str, like: str
) -> Callable[[Callable[[MlpProblem], float]], Callable[[MlpProblem], float]]:
    """Declare a formula as a term with the covariance power of attention's term ``like``."""

    def declare(formula: Callable[[MlpProblem], float]) -> Callable[[MlpProblem], float]:
        LAYER_TERMS[symbol] = LayerTerm(latex, noise.COVARIANCE_POWERS[like], formula)
        return formula

    return declare


@_layer_term(
    "M0",
    latex=r"\frac{L^4t_3}{mN^2}\left[\bar\psi^2+\frac{\bar\psi\bar\psi_1+\bar\psi_1^2}{d}"
    r"+\chi^2\left(\frac1V+\frac\tau{L^2}\right)\right],"
    r"\quad\bar\psi=\psi+\frac NV\frac{b_1b_2}{L^2}",
    like="A",
)
def weight_mean_bias(problem: MlpProblem) -> float:
    r"""M0: all features share the mean row $\bar w$ of $W$, which acts as a mean embedding.

    $|\bar w|^2 = d/m$; the main part needs $\psi = E\phi\phi'\ne0$ (an offset $\phi(0)$, or
    curvature).
    The part from other samples of the same label does not fall with N.
    """
    c = coefficients(problem)
    V, L, N, d, m = _sizes(problem)
    _, t3, _ = spectra.moments(problem.ratio)
    shared = 1 / V + problem.trigger_in_values / L**2
    return L**4 * t3 / (m * N**2) * (c.bias_square(d) + c.own**2 * shared)


@_layer_term(
    "MC",
    latex=r"\frac{L^3}{(1-1/L)N^2}\left[\frac{t_2^2E\phi^2\,E\phi'^2}{m}"
    r"+\frac{Vt_2E\phi^2\phi'^2}{mN}\right]",
    like="C",
)
def layer_gradient_noise(problem: MlpProblem) -> float:
    """MC: at finite width the kernel $K_m$ of every pair differs from its average."""
    c = coefficients(problem)
    V, L, N, _, m = _sizes(problem)
    t2, _, _ = spectra.moments(problem.ratio)
    pairs = t2**2 * c.power * c.slope_power / m + V * t2 * c.mixed / (m * N)
    return L**3 / (1 - 1 / L) / N**2 * pairs


@_layer_term("MB", latex=r"\frac{L^4t_2t_3}{VmN^2}\left[E\phi^2\,E\phi'^2+\psi^2\right]", like="B")
def layer_stored_context(problem: MlpProblem) -> float:
    """MB: the noise MC, read through the mean covariance."""
    c = coefficients(problem)
    V, L, N, _, m = _sizes(problem)
    t2, t3, _ = spectra.moments(problem.ratio)
    return L**4 * t2 * t3 / (V * m * N**2) * (c.power * c.mean_slope_power + c.drift**2)


def terms(problem: MlpProblem) -> dict[str, float]:
    r"""Variances of all noise terms, by symbol, in units of $s_0^2$.

    First T, A to F, H and C2, rescaled from `theory.attention.noise`; then `LAYER_TERMS`. T, A
    and C, taken at large V, are sums of parts with different coefficients.
    """
    p, c = problem, coefficients(problem)
    V, L, N, d, m = _sizes(problem)
    t2, t3, _ = spectra.moments(p.ratio)
    tau, h, r = float(p.trigger_in_values), V / N, V / d
    linear, mean = c.slope**2, c.mean**2
    plain = {symbol: term.variance(p) for symbol, term in noise.TERMS.items()}
    whole, own = c.pair + tau * c.own * h, c.own**2
    trigger = whole**2 + coefficient_variance(p)
    trigger += 2 * whole * tau * (c.own * L * t2 / N + c.slope * t2 / V)
    trigger += tau * own * L**2 * t3 / N**2
    # The rows' part of q is coherent with what they store (M0).
    slopes = 2 * p.local.derivatives[1] * p.local.derivatives[2]
    rows = L**2 * h * c.bias_square(d) + slopes * c.bias + 2 * h * own
    trigger += tau * 2 * L * t2 / (N * m) * rows
    bias = own * (1 - 2 / L) ** 2 + mean * 2 * t2 / V
    read = (1 - 2 / L) * (r + 2 + L / V)
    random = t2**2 / V * (linear * (t2 + 1) + c.curvature**2 * read) + c.own_read**2 * read * t2 / N
    rescaled = {
        "T": trigger / d,
        "A": L**4 * r * t3 / (N * V) ** 2 * bias,
        "C": L**2 / (1 - 1 / L) / N**2 * random,
    }
    unread = 0.0
    if p.centred:  # no residual is left to store the trigger, only contexts that overlap with it
        plain["H"] = noise.TERMS["H"].variance(p.replace(trigger_in_values=False))
        unread = tau * noise_terms.trigger_reads_contexts(p)
    values = {
        **{symbol: noise.TERMS[symbol].coefficient * value for symbol, value in rescaled.items()},
        **{symbol: mean * plain[symbol] for symbol in ("B", "D", "E")},
        "H": linear * (plain["H"] + unread),
        "C2": linear * plain["C2"],
        "F": linear * (plain["F"] + t2 / (V * d * m)),
        **{symbol: term.variance(p) for symbol, term in LAYER_TERMS.items()},
    }
    return {symbol: values[symbol] for symbol in (*noise.TERMS, *LAYER_TERMS)}


def coefficient_variance(problem: MlpProblem) -> float:
    r"""Variance of the trigger coefficient $q$ over data and weights, in units of $s_0^2$.

    The parts of attention alone are rescaled, and the layer adds new parts (noise.md). Stated
    error, in the regime of `variance`: simulated over predicted is 0.8 to 1.5 (96 random settings:
    0.84 to 1.44 at a standard error of 0.07).
    """
    p, c, law = problem, coefficients(problem), problem.local
    b = law.derivatives
    V, L, N, d, m = _sizes(p)
    t2, _, _ = spectra.moments(p.ratio)
    part = noise_terms.trigger_coefficient_parts(p)
    value = c.slope**2 * (part["contexts"] + part["tokens"])
    value += c.mean**2 * part["mean"]
    if p.trigger_in_values:
        value += c.mean**2 * (part["trigger reads contexts"] + part["agreement"])
    value += c.own_read**2 * part["own context"] + c.curvature**2 * (L - 1) * t2**2 / N**2
    # The rows: their lengths, their overlaps with tokens of other labels and with the mean value.
    norms = c.slope + law.scale**2 * b[1] * b[3]
    value += (2 * norms**2 / d + c.slope**2 * (2 / d + 2 / V) + 4 * c.slope * b[2] ** 2 / V) / m
    # Every pair of samples, and a sample with itself.
    read = t2 * (c.slope_power + c.slope * N / V)
    if p.trigger_in_values:
        read += t2 * (c.slope_power - c.slope)
        read += 0.0 if p.centred else c.slope * (t2 + V / N)
        value += _row_variance(p) / m
    return value + L**2 * V * (c.power * read + V / N * c.mixed) / (m * N**2)


def _row_variance(problem: MlpProblem) -> float:
    r"""Variance of a row's contribution to $q$; $x$ is the row's overlap with the trigger.

    A sample's own value contributes $\frac VNL(\bar\psi+\chi x/L+\psi_2(x^2-1))x$; pairs of the
    same label contribute $(2b_1b_2/L)x + 2(b_2^2+b_1b_3)x^2/L^2$.
    """
    c, b = coefficients(problem), problem.local.derivatives
    V, L, N, d, _ = _sizes(problem)
    stored, linear = V * L / N, 2 * b[1] * b[2] / L
    drift = c.bias_square(d) + 4 * c.bias * c.drift_bend + 10 * c.drift_bend**2
    square = V / N * c.own + 2 * (b[2] ** 2 + b[1] * b[3]) / L**2
    both = 2 * stored * linear * (c.bias + 2 * c.drift_bend)
    return stored**2 * drift + both + linear**2 + 2 * square**2


def bias_covariance(problem: MlpProblem) -> float:
    r"""Covariance of $q$ and M0's part of the trigger's own noise, in units of $s_0^2$.

    With the trigger in the values both contain the trigger's overlap with the layer's mean
    row; otherwise the covariance is 0.
    """
    c, b = coefficients(problem), problem.local.derivatives
    V, L, N, d, m = _sizes(problem)
    rows = V * L / N * c.bias_square(d) + 2 * b[1] * b[2] / L * c.bias
    return problem.trigger_in_values * L**2 * V / (N * d * m) * rows


@prediction(
    latex=r"\frac{\mathrm{Var}_v\theta_v}{s_0^2} = "
    + sum_latex([*noise.TERMS, *LAYER_TERMS])
    + "".join(
        rf",\quad {sum_latex([symbol])} = {term.latex}" for symbol, term in LAYER_TERMS.items()
    ),
    source=_SOURCE,
    error="12%",
    regime=EVERY,
)
def variance(problem: MlpProblem) -> float:
    r"""Variance of the token scores over tokens, in units of $s_0^2$: the sum of `terms`.

    Here $s_0 = (1-1/L)/(L^2V)$. Stated error: {error} for d >= 24, L >= 8, m >= 8, V >= 8 d
    and N >= V/3, both kinds of residuals (96 random such settings with V up to 1500 and N up to
    6 V: simulated over predicted is 0.95 to 1.10, at a standard error of 0.02). Activations are
    listed in `activations.NAMES`; a polynomial of degree k needs d >= 24 k. The formula does not
    hold for He2 with centred residuals: an even activation has no slope, all leading terms vanish,
    and the neglected terms matter. There the sum is 1.2 to 1.65 times too small, at any width.
    """
    return sum(terms(problem).values())


@prediction(
    latex=r"\mathrm{SNR} = \frac{E\theta_{trig}}{\sqrt{\mathrm{Var}_v\,\theta_v}}", source=_SOURCE
)
def snr(problem: MlpProblem) -> float:
    """Mean trigger score over the root of the mean variance of the token scores."""
    return trigger_signal(problem) / (signal.signal_unit(problem) * math.sqrt(variance(problem)))


def _sizes(problem: MlpProblem) -> tuple[float, float, float, float, float]:
    """Sizes V, L, N, d and m."""
    p = problem
    return float(p.vocab_size), float(p.length), float(p.samples), float(p.dim), float(p.width)
