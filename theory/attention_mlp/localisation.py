r"""Localisation through the random layer: probability, and critical number of samples."""

import math
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from recall_claims import prediction
from theory.attention import localisation, noise
from theory.attention.localisation import SignalToNoise
from theory.attention_mlp import noise as mlp_noise
from theory.attention_mlp.problem import MlpProblem
from theory.laws import crossing

_SOURCE = "paper A, arXiv 2603.15923, A9 (coupling of V, N, d, L, m); formula derived"
_MOST_SAMPLES = 2**32
_FACTORS = {"relu": (2.3, 4.7), "gelu": (1.0, 2.5), "tanh": (0.9, 2.0), "he3": (0.9, 2.0)}
CRITICAL = mlp_noise.SPARSE.searched(
    "trigger in the keys alone; N_c from V/3 to 4096 by two bounds, constants of the activation "
    "times V L/d^(3/2) (1 + L/d + L^2/V + dL/m)^(1/2)",
    holds=lambda cell: cell["vocab_size"] / 3 <= _bounds(cell)[0] and _bounds(cell)[1] <= 4096,
    samples=(1,),
    trigger_in_values=(False,),
)
"""Regime in which `critical_samples` states its error."""
_COVARIANCE_POWERS = noise.COVARIANCE_POWERS | {
    symbol: term.covariance_power for symbol, term in mlp_noise.LAYER_TERMS.items()
}


def signal_to_noise(problem: MlpProblem, without: Collection[str] = ()) -> SignalToNoise:
    """Signal and noise of the model with the layer.

    ``without``: symbols of terms to leave out.
    """
    every = mlp_noise.terms(problem)
    values = {symbol: value for symbol, value in every.items() if symbol not in without}
    total = sum(values.values())
    return SignalToNoise(
        snr=mlp_noise.snr(problem) / math.sqrt(total / sum(every.values())),
        shares=noise.by_covariance_power(
            {symbol: value / total for symbol, value in values.items()}, _COVARIANCE_POWERS
        ),
        coefficient=mlp_noise.coefficient_variance(problem) / total,
        covariance=0.0 if "M0" in without else mlp_noise.bias_covariance(problem) / total,
    )


@prediction(
    latex=r"P = E_{q,\nu,\zeta}\,G\!\left(\frac{q + \nu}{\sigma}\right)",
    source=_SOURCE,
    error=(
        (0.02, "", lambda cell: not cell.get("trigger_in_values", False)),
        (0.04, "with the trigger in the values"),
    ),
    regime=mlp_noise.STATED,
)
def probability(problem: MlpProblem, without: Collection[str] = ()) -> float:
    r"""Probability that attention localises a fresh sequence.

    Computed as in `theory.attention.localisation`. Here, with the trigger in the values, $q$ and
    $\nu$ are correlated because both contain the trigger's overlap with the layer's mean row
    (`noise.bias_covariance`).

    Stated error, in the regime of `noise.trigger_signal`: {error}. At 37 random settings of this
    regime the errors were no larger, at a standard error of 0.01.

    ``without``: symbols of noise terms to leave out.
    """
    return localisation.probability(problem, signal_to_noise(problem, without))


@prediction(
    latex=r"P(N_c) = \frac12,\qquad N_c \simeq V\frac{\kappa}{b_1^2}\frac{L}{d^{3/2}}"
    r"\sqrt{b_1^4+b_0^2b_2^2+\beta^2\frac Ld+\chi^2\frac{L^2}{V}"
    r"+\frac dm\left[L^2\psi^2+L\,E\phi^2\,E\phi'^2\left(1+\frac Ld\right)\right]}\quad(\tau=0)",
    source=_SOURCE,
    error="15%",
    regime=CRITICAL,
    curve=probability,
)
def critical_samples(problem: MlpProblem) -> float:
    r"""Number of samples at which half of fresh sequences are localised.

    1 if one sample suffices, infinite if no number up to $2^{32}$ does. Solves `probability` = 1/2
    for N, log-interpolated between integers. The closed form in the LaTeX above is the limit $V, N
    \gg d$, $\tau = 0$: $\kappa$ is `theory.attention.critical.kappa`, and `noise` has the other
    symbols. The problem's own ``samples`` do not matter.
    """
    return _critical_samples(problem.replace(samples=1))


@lru_cache(maxsize=4096)
def _critical_samples(problem: MlpProblem) -> float:
    def found(samples: int) -> float:
        return probability(problem.replace(samples=samples))

    return crossing.integer_root(found, level=0.5, most=_MOST_SAMPLES, within=0.01)


def _bounds(cell: Mapping[str, Any]) -> tuple[float, float]:
    """Bounds that mostly contain `critical_samples`, found without solving for it."""
    V, L, d, m = (cell[name] for name in ("vocab_size", "length", "dim", "width"))
    about = V * L / d**1.5 * math.sqrt(1 + L / d + L**2 / V + d * L / m)
    low, high = _FACTORS[cell["activation"]]
    return low * about, high * about
