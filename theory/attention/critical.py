r"""Critical number of samples for localisation, and its power law in each regime.

`critical_samples_full` solves `localisation.probability` = P for N; `threshold` is the closed form

$$ N_c \simeq \kappa\,\sqrt{S},\qquad S = f_A N_A^2 + f_B N_B^2 + f_C N_C^2 + f_E N_E^2 , $$

for $N_c \gg d \gg 1$ without the trigger in the values. Otherwise it is the root of a cubic, below.

Derivation. The localisation probability is P where the signal-to-noise ratio is $s^*(P)$
(`critical_snr`). Five noise terms matter there (`noise.TERMS`). T is a fixed share of the squared
signal. A, B, C and E fall as $N^{-2}$: deep in the regime of term X, the share of X is $N_X^2/N^2$.
So $N_c$ is where these four add up to $\kappa^{-2} = s^{*-2} - T$. The largest of A, B and C sets
the regime, and in each regime V, L and d enter as a product of powers. The code reads $T = 1/d$ and
the $N_X$ from the declared terms: powers from `exponents`, constants (all 1) from the formulas.
At small d the label counts D, of share $N_D/N$, matter too.

The factors $f$ are the corrections at finite size. They tend to 1, except that $f_E$ has a part
with $\tau$. E is about $1/L$ of A, and the part with $\tau$ is about $1/L$ of C. With $r = V/d$,
$\ell = 1 - 1/L$ and $t_k$ the moments of `spectra.centred_moments`,

$$ f_A = \Big(1-\frac6V\Big)\frac{t_3}{r^2}\Big[\Big(1-\frac2L\Big)^2+\frac{2t_2}V\Big]
   (1+\sigma^2)^{-1/2}, \qquad f_B = \ell f_D,\qquad
   f_D = \Big(1-\frac1V\Big)\frac{t_2t_4}{r^4}, $$
$$ f_C = \Big(1-\frac1V\Big)^2\frac{t_2}{\ell r^3}\Big(t_2^2+t_2-\frac{t_4}V\Big)+\frac{2g}r,\qquad
   f_E = \Big(1-\frac1V\Big)\frac{t_2}{\ell r^2}\Big(t_2-\frac{t_3}V\Big)+\tau\frac V{L^2}, $$
$$ g = \frac1{Lr^2}\Big[\Big(\frac1\ell-\frac1L\Big)\Big(t_2^2-\frac{t_4}V\Big)
   +\ell t_2(t_2+2)\Big] . $$

$g$ adds the noise term C2, the informative slots, to C.

The root in $f_A$ is the ratio of A's median to its mean: at probability 1/2 the median
replicate decides. A is proportional to a quadratic form of the mean embedding times the square of a
quadratic form of the label counts. $\sigma^2$ is the relative variance of this product, about
$10/d$.

With few samples, $N\lesssim d$, noise from single samples matters too. B grows by the factor
$1 + d/N$, and C and the part of E with $\tau$ by $1 + (1 - 2/L)d/N$. The informative slots add
$gN_C^2d/N$, and the memory of a token, read by its own context, adds $2t_2N_C^2d^2/(rL^2(L-1)N)$.
The trigger in the values adds $M = \tau V(1+L/d)$ to N in the signal. So $N_c$ is a positive root:

$$ N(N+M)^2 = \kappa^2(f_DN_DN^2 + SN + F), $$
$$ F = d\Big[f_BN_B^2+\Big(1-\frac2L\Big)
   \Big(\Big(f_C-\frac{2g}r\Big)N_C^2+\tau N_E^2\frac V{L^2}\Big)+gN_C^2
   +\frac{2t_2d\,N_C^2}{rL^2(L-1)}\Big] . $$

The root is unique for $M = 0$ as the coefficients change sign once. Without D, it is
$\kappa\sqrt S + F/(2S)$ at large N. With the trigger in the values a few samples suffice where
$M > \kappa\sqrt S$: the memorised trigger localises, against the noise of one sample, $F$.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from recall_claims import log_range, prediction
from theory.attention import localisation, noise
from theory.attention.problem import Problem
from theory.laws import crossing, spectra, sphere

REGIME = localisation.REGIME.searched(
    "trigger in the keys alone", samples=(1,), trigger_in_values=(False,)
)
CLOSED_FORM = localisation.SPARSE.searched(
    "trigger in the keys alone; a sample or more",
    holds=lambda cell: 1 <= _full(cell) < 1e9,
    vocab_size=log_range(96, 131072),
    length=log_range(8, 1024),
    dim=log_range(12, 4096),
    trigger_in_values=(False,),
    without=("samples",),
)

_SOURCE = "paper A, arXiv 2603.15923, A3 (N, d and L enter as a product); constants derived"


def _exponents(symbol: str) -> dict[str, float]:
    """Powers of V, L and d in the N at which a term is a fixed share of the squared signal."""
    powers = noise.TERMS[symbol].exponents
    return {name: -powers[name] / powers["samples"] for name in ("vocab_size", "length", "dim")}


_POWERS = {symbol: _exponents(symbol) for symbol in "ABCDE"}
EXPONENTS = {symbol: _POWERS[symbol] for symbol in ("A", "B", "C")}
r"""Powers of V, L and d in $N_A$, $N_B$, $N_C$. The regimes, for $V \gg d$ and $\tau = 0$: A, mean
bias: $L > \max(\sqrt V, V/d)$; B, stored context: $d < L < V/d$; C, gradient noise: $L < \min(d,
\sqrt V)$. Also, $\kappa$ grows as $\sqrt{2\ln L}$."""


@prediction(
    latex=r"E_{\xi\sim f_d}\,G\!\left(\frac{s^* + \sqrt n\,\xi}{\sqrt{1 + 2 s^*\sqrt n\,\xi/d}}"
    r"\right) = P,\quad n = 1 - \frac{s^{*2}}{d}",
    source=_SOURCE,
)
def critical_snr(
    *, length: float, vocab_size: float, dim: float, probability: float = 0.5
) -> float:
    r"""Mean signal-to-noise ratio $s^*$ at which the localisation probability is ``probability``.

    $G$ is `localisation.given_snr`. Of all differences between replicates, only the trigger's own
    noise $\sqrt n\,\xi$ is kept. ``dim`` may be infinite, ``vocab_size`` not. $s^*$ is 0 if the
    probability is reached without any signal, and infinite if no ratio up to $\min(16, \sqrt d)$
    reaches it.

    Raises ValueError: ``probability`` is not inside (0, 1).

    >>> round(critical_snr(length=32, vocab_size=1e12, dim=math.inf), 2)
    2.05
    """
    _check(probability)
    own, weights = sphere.nodes(dim, 32)
    overlap = _trigger_direction(dim)

    def found(snr: float) -> float:
        collected = math.sqrt(max(1 - snr**2 * overlap, 0.0)) * own
        trigger = snr + collected
        variance = np.maximum(1 + 2 * snr * collected / dim, trigger**2 / dim)
        ratio = trigger / np.sqrt(variance)
        values = localisation.given_snr(ratio, length=length, vocab_size=vocab_size, dim=dim)
        return float(values @ weights)

    high = min(16.0, math.sqrt(dim))
    return max(0.0, crossing.root(found, 0.0, high, level=probability, tolerance=1e-6))


@prediction(latex=r"\kappa = \frac{s^*}{\sqrt{1 - s^{*2}/d}}", source=_SOURCE)
def kappa(*, length: float, vocab_size: float, dim: float, probability: float = 0.5) -> float:
    r"""Critical ratio of the signal to the part of the noise that falls with more samples.

    Infinite if $d \le s^{*2}$ (at P = 1/2 about $2\ln L$ or less): then the overlap of the trigger
    with the other tokens alone hides the signal at any number of samples.
    """
    critical = critical_snr(length=length, vocab_size=vocab_size, dim=dim, probability=probability)
    rest = 1 - critical**2 * _trigger_direction(dim)
    return critical / math.sqrt(rest) if rest > 0 else math.inf


@prediction(
    latex=r"N_A = \frac{L^2 V^{1/2}}{d^{3/2}},\quad N_B = \frac{L^{3/2}V}{d^2},\quad "
    r"N_C = \frac{LV}{d^{3/2}},\quad N_D = \frac{L^2V}{d^4},\quad "
    r"N_E = \frac{L^{3/2}V^{1/2}}{d^{3/2}}",
    source=_SOURCE,
)
def power_law(name: str, *, vocab_size: float, length: float, dim: float) -> float:
    r"""$N_A$, $N_B$, $N_C$, $N_D$ or $N_E$: samples that one noise term alone needs at $\kappa=1$.

    Raises ValueError: ``name`` is none of these five.

    >>> power_law("C", vocab_size=4096, length=8, dim=16)
    512.0
    """
    if name not in _POWERS:
        raise ValueError(f"noise term is {name!r}: give one of {', '.join(_POWERS)}")
    powers = _POWERS[name]
    sizes = vocab_size ** powers["vocab_size"] * length ** powers["length"] * dim ** powers["dim"]
    term = noise.TERMS[name]
    return float(term.coefficient ** (-1 / term.exponents["samples"]) * sizes)


def _trigger_direction(dim: float) -> float:
    """Noise term T over the squared signal."""
    term = noise.TERMS["T"]
    return float(term.coefficient * dim ** term.exponents["dim"])


def regime(*, vocab_size: float, length: float, dim: float) -> str:
    """Regime A, B or C: the largest noise term at the threshold with the trigger in the keys alone.

    >>> regime(vocab_size=4096, length=8, dim=64)
    'C'
    """
    return max(
        EXPONENTS, key=lambda name: power_law(name, vocab_size=vocab_size, length=length, dim=dim)
    )


@prediction(
    latex=r"N_c(N_c+M)^2 = \kappa^2(f_DN_DN_c^2 + SN_c + F),\quad "
    r"M = \tau V\left(1+\frac Ld\right),\quad S = f_A N_A^2 + f_B N_B^2 + f_C N_C^2 + f_E N_E^2",
    source=_SOURCE,
    error="6%",
    regime=CLOSED_FORM,
)
def threshold(
    *,
    vocab_size: float,
    length: float,
    dim: float,
    trigger_in_values: bool = False,
    probability: float = 0.5,
) -> float:
    r"""Closed form of the critical number of samples, at real-valued sizes.

    Below 1 where a single sample suffices, as it may with the trigger in the values ($\tau = 1$);
    infinite where no number of samples does (`kappa`).

    Stated error against `critical_samples_full` at P = 1/2, for d >= 12, L >= 8, V >= 8 d and
    $\tau = 0$: {error}; at 480 random settings -3.6% to 4.8%, rms 1.7%. With $\tau = 1$ the
    probability may rise slowly with N: at (V, L, d) = (2048, 128, 48) from 0.36 at N = 22 to 0.5 at
    337. So for $\tau = 1$ no error in N is stated. At 200 random settings with N_c >= 2,
    `localisation.probability` at the closed form is 0.46 to 0.55 (rms 0.02 off). For P from 0.9 to
    0.99 the closed form is too small, as it leaves out the spread between replicates. At 1300
    random settings `critical_samples_full` was 1.01 to 2.7 times as large with $\tau = 0$, and 1.06
    to 180 times with $\tau = 1$. At one setting for each $\tau$ it was infinite.

    Raises ValueError: ``probability`` is not inside (0, 1).
    """
    trigger = 1.0 if trigger_in_values else 0.0
    sizes = {"vocab_size": vocab_size, "length": length, "dim": dim}
    needed = kappa(**sizes, probability=probability)
    if needed in (0, math.inf):
        return needed
    a, b, c, d, e = (power_law(name, **sizes) for name in "ABCDE")
    a, b, c, e = a**2, b**2, c**2, e**2
    r, rest = vocab_size / dim, 1 - 1 / length
    t2, t3, t4 = spectra.centred_moments("sphere", vocab_size, dim)
    once = 1 - 1 / vocab_size
    clean = once * t2 * t4 / r**4
    bias = (1 - 6 / vocab_size) * t3 / r**2 * ((1 - 2 / length) ** 2 + 2 * t2 / vocab_size) * a
    count = 2 * t2 / vocab_size
    spread = 1 + 2 / dim * spectra.moment(6, 1 / r) / spectra.moment(3, 1 / r) ** 2
    spread *= (1 + 2 * count) * (1 + 3 * count) / (1 + count)
    bias /= math.sqrt(spread)
    stored = rest * clean * b
    read = t2**2 - t4 / vocab_size
    random = once**2 * t2 * (read + t2) / (rest * r**3) * c
    mean = once * (t2 - t3 / vocab_size) * t2 / r**2
    mean_value, trigger_value = mean / rest * e, trigger * vocab_size / length**2 * e
    total = bias + stored + random + mean_value + trigger_value
    slots = (read * (1 / rest - 1 / length) + rest * t2 * (t2 + 2)) / (length * r**2) * c
    total += 2 / r * slots
    own = 2 * t2 / r * dim / (length**2 * (length - 1)) * c
    few = dim * (stored + (1 - 2 / length) * (random + trigger_value) + own + slots)
    return _positive_root(
        trigger * vocab_size * (1 + length / dim),
        needed**2 * clean * d,
        needed**2 * total,
        needed**2 * few,
    )


def _positive_root(shift: float, linear: float, square: float, cube: float) -> float:
    r"""Largest root $N > 0$ of $N(N + M)^2 = lN^2 + sN + c$; ``shift`` is M, the others l, s and c.

    The cubic must have a root and be convex beyond it, as at the sizes of `threshold`.

    >>> _positive_root(0, 0, 0, 8), _positive_root(0, 0, 4, 0), _positive_root(0, 2, 0, 0)
    (2.0, 2.0, 2.0)
    """
    # Newton falls monotonically from above the root, where the cubic is convex and positive.
    found = linear + math.sqrt(square) + math.cbrt(cube)
    for _ in range(200):
        value = found * ((found + shift) ** 2 - linear * found - square) - cube
        slope = (found + shift) * (3 * found + shift) - 2 * linear * found - square
        lower = found - value / slope
        if not 0 < lower < found * (1 - 1e-14):
            break
        found = lower
    return found


@prediction(latex=r"N_c(V, L, d)\ \text{in closed form}", source=_SOURCE)
def critical_samples(problem: Problem, *, probability: float = 0.5) -> float:
    """`threshold` at the sizes of ``problem``, for embeddings on the sphere.

    The problem's ``samples`` and ``embeddings`` do not matter.
    """
    return threshold(
        vocab_size=problem.vocab_size,
        length=problem.length,
        dim=problem.dim,
        trigger_in_values=problem.trigger_in_values,
        probability=probability,
    )


@prediction(latex=r"P(V, L, N_c, d) = P", source=_SOURCE, error="12%", regime=REGIME)
def critical_samples_full(problem: Problem, *, probability: float = 0.5) -> float:
    r"""Number N of samples, a real number, at which `localisation.probability` is ``probability``.

    1 if a single sample suffices; infinite if no number up to $2^{40}$ does.

    With the trigger in the values the probability rises slowly with N. So there only
    `localisation.probability` has a stated error.

    Raises ValueError: ``probability`` is not inside (0, 1), or the embeddings are orthonormal.
    """
    _check(probability)

    def found(samples: int) -> float:
        return localisation.probability(problem.replace(samples=samples))

    return crossing.integer_root(found, level=probability, within=0.02)


def _full(cell: Mapping[str, Any]) -> float:
    return critical_samples_full(Problem.of({**cell, "samples": 1}))


def _check(probability: float) -> None:
    if not 0 < probability < 1:
        raise ValueError(f"probability is {probability}: give a number inside (0, 1)")
