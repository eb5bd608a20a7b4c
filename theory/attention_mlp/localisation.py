r"""Localisation through the random layer: its probability and the critical number of samples."""

import math
from collections.abc import Collection
from functools import lru_cache

from recall_claims import prediction
from theory.attention import localisation, noise
from theory.attention.localisation import Profile
from theory.attention_mlp import noise as mlp_noise
from theory.attention_mlp.problem import MlpProblem

_SOURCE = "paper A, arXiv 2603.15923, A9 (coupling of V, N, d, L, m); formula derived"
_MOST_SAMPLES = 2**32
_LIKE = {"M0": "A", "MB": "B", "MC": "C"}
"""The attention-only term whose vector has the same law: the mean row of W takes the part of the
mean embedding, the layer's own noise that of the contexts."""


def profile(problem: MlpProblem, without: Collection[str] = ()) -> Profile:
    """Signal and noise shares, with each new term counted with the one it is distributed like.

    ``without``: symbols of terms that are taken to be absent.
    """
    values = {k: v for k, v in mlp_noise.terms(problem).items() if k not in without}
    total = sum(values.values())
    share = total / sum(mlp_noise.terms(problem).values())
    shares = dict.fromkeys(noise.TERMS, 0.0)
    for symbol, value in values.items():
        shares[_LIKE.get(symbol, symbol)] += value / total
    return Profile(
        snr=mlp_noise.snr(problem) / math.sqrt(share),
        shares=shares,
        coefficient=mlp_noise.coefficient_variance(problem) / total,
    )


@prediction(
    latex=r"P = E_{q,\nu,\zeta}\,G\!\left(\frac{q + \nu}{\sigma}\right)",
    source=_SOURCE,
    provenance="derived",
)
def probability(problem: MlpProblem, without: Collection[str] = ()) -> float:
    """Probability that attention localises a fresh sequence; as in `theory.attention.localisation`.

    ``without``: symbols of noise terms that are taken to be absent.
    """
    return localisation.probability(problem, profile(problem, without))


@prediction(
    latex=r"P(N_c) = \frac12,\qquad N_c \simeq V\frac{\kappa}{b_1^2}\frac{L}{d^{3/2}}"
    r"\sqrt{b_1^4+b_0^2b_2^2+\beta^2\frac Ld+\chi^2\frac{L^2}{V}"
    r"+\frac dm\left[L^2\psi^2+Lqq'\left(1+\frac Ld\right)\right]}\quad(\tau=0)",
    source=_SOURCE,
    provenance="derived",
)
def critical_samples(problem: MlpProblem) -> float:
    r"""Samples at which half of fresh sequences are localised; infinite if no number suffices.

    Solves `probability` = 1/2 for N, log-interpolated between integers; the closed form beside it
    is the limit $V, N \gg d$, $\tau = 0$. The problem's own ``samples`` do not matter.
    """
    return _critical_samples(problem.replace(samples=1))


@lru_cache(maxsize=4096)
def _critical_samples(problem: MlpProblem) -> float:
    def excess(samples: int) -> float:
        return probability(problem.replace(samples=samples)) - 0.5

    low, high = 1, 2
    if excess(low) >= 0:
        return 1.0
    while excess(high) < 0:
        low, high = high, 2 * high
        if high > _MOST_SAMPLES:
            return math.inf
    while high - low > 1 and high > low * 1.01:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    at_low, at_high = excess(low), excess(high)
    share = at_low / (at_low - at_high)
    return float(low * (high / low) ** share)
