r"""Orthonormal embeddings (d > V + 1): the factors separate, and scores are counts.

Nothing depends on the dimension: no embedding overlaps another, and all interference vanishes.
Without the trigger in the values, tokens are recalled if they were seen. In units of
$1/(NL)^2$ the scores are

$$ \theta_v = \sum_{i,i'} g_{ii'}\left[c_i(v)\,c_{i'}(v) + \tau 1\{x_i = v\}
   - c_i(v)\frac{O_{ii'} + \tau}{L}\right], \qquad
   \theta_{trig} = \sum_{i,i'} g_{ii'}\left[c_{i'}(x_i) + \tau - \frac{O_{ii'} + \tau}{L}\right] $$

with $g_{ii'} = 1\{k_i = k_{i'}\} - 1/V$, $c_i(v)$ the count of token $v$ in sequence $i$, $x_i$ its
informative token and $O_{ii'} = \sum_v c_i(v)c_{i'}(v)$. Few pairs of sequences share a label, so
scores are small whole numbers plus corrections of order 1/L or 1/V. With a normal law the critical
number of samples can be wrong by a factor of 2 or more. Instead, these events decide:

- each pair of samples with the same label (a collision) raises $\theta_{trig}$ by 2. Without the
  trigger in the values there is no other signal, and about $\sqrt V$ samples are needed;
- a token that occurs twice in a sequence, or in two sequences of one label, gains about 2. These
  few tokens are the noise, and a fresh sequence must not hold such a token with a score above
  $\theta_{trig}$;
- each repeat within a sequence lowers $\theta_{trig}$ by $2/L$: without a collision, repeats
  decide.

The laws of $\theta_v$ and $\theta_{trig}$ are sums of independent small counts, built by
convolution on the lattice $1/(LV)$ for tokens and $1/L$ for the trigger. Derived.
"""

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from recall_claims import log_range, prediction
from theory.attention import localisation as random_localisation
from theory.attention import signal
from theory.attention.problem import SIZES, Problem
from theory.laws import multinomial, quadrature
from theory.laws.quadrature import Array

ORTHONORMAL = SIZES.searched(
    "orthonormal embeddings, d > V + 1",
    holds=lambda cell: cell["dim"] >= cell["vocab_size"] + 2,
    vocab_size=log_range(16, 512),
    length=log_range(4, 128),
    samples=log_range(4, 1024),
    dim=log_range(18, 2048),
    embeddings=("orthonormal",),
)
LOCALISED = ORTHONORMAL.searched(
    "V >= 128, L <= V/4",
    holds=lambda cell: cell["vocab_size"] >= 128 and 4 * cell["length"] <= cell["vocab_size"],
    vocab_size=log_range(128, 1024),
    dim=log_range(130, 2048),
)
"""Regime in which `localisation` states its error, with 12 samples or more."""
VARIANCE = ORTHONORMAL.searched(
    "V >= 128, L from 16 to V/8, N from 16 to V",
    holds=lambda cell: (
        cell["vocab_size"] >= 128
        and 16 <= cell["length"] <= cell["vocab_size"] / 8
        and 16 <= cell["samples"] <= cell["vocab_size"]
    ),
    vocab_size=log_range(128, 1024),
    length=log_range(16, 128),
    dim=log_range(130, 2048),
)

_SOURCE = "paper A, arXiv 2603.15923, A12 (orthogonal regime: the factors separate); law derived"
_NEGLIGIBLE = 1e-8
_TIE_NODES = 31
_SHARE_NODES = 16


class _Sizes(NamedTuple):
    """Sizes V, L and N, and whether the trigger is in the values (tau)."""

    V: int
    L: int
    N: int
    tau: int

    @property
    def shared(self) -> float:
        """Mean number of token pairs that two contexts share."""
        return (self.L - 1) ** 2 / self.V


def _sizes(problem: Problem) -> _Sizes:
    tau = int(problem.trigger_in_values)
    return _Sizes(problem.vocab_size, problem.length, problem.samples, tau)


def _doubled(weights: Array) -> Array:
    """Law of twice a count."""
    result = np.zeros(2 * weights.size - 1)
    result[::2] = weights
    return result


def _power_sum(weights: Array, step: Array) -> Array:
    """Law of the sum of a random number (``weights``) of independent counts (``step``)."""
    powers = [np.ones(1)]
    for _ in weights[1:]:
        powers.append(np.convolve(powers[-1], step))
    total = np.zeros(max(power.size for power in powers))
    for weight, power in zip(weights, powers, strict=True):
        total[: power.size] += weight * power
    return _trimmed(total)


def _trimmed(weights: Array) -> Array:
    """Cut a law's negligible upper tail."""
    return weights[: int(np.searchsorted(np.cumsum(weights), weights.sum() * (1 - 1e-7))) + 1]


def _context_deficit(s: _Sizes) -> Array:
    """Law of the score, in 1/L, that a token loses each time it occurs in a context.

    Each repeat of other tokens there costs 2. Each partner (another sequence of the same label)
    costs 1 for the shared informative token and 1 for each shared context token. With the trigger
    in the values, the sequence itself and each partner cost 1 more.
    """
    repeats = _doubled(quadrature.poisson((s.L - 1) * (s.L - 2) / (2 * s.V)))
    partner = np.concatenate([np.zeros(1 + s.tau), quadrature.poisson(s.shared)])
    partners = _power_sum(quadrature.poisson((s.N - 1) / s.V), partner)
    return _trimmed(np.concatenate([np.zeros(s.tau), np.convolve(repeats, partners)]))


def _own_deficit(s: _Sizes, samples: int) -> Array:
    """Law of the score, in 1/L, that a token loses to its own samples: 2 per repeat within a
    sample, or between two.
    """
    pairs = samples * (s.L - 1) * (s.L - 2) / (2 * s.V) + math.comb(samples, 2) * s.shared
    return _doubled(quadrature.poisson(pairs, 1e-7))


@lru_cache(maxsize=256)
def _token_law(s: _Sizes) -> tuple[Array, Array]:
    """Values and probabilities of one token's score, sorted; values on the lattice 1/(LV)."""
    values, weights = [], []
    for chance, score, deficit in _token_cases(s):
        values.append(score - np.arange(deficit.size) / s.L)
        weights.append(chance * deficit)
    lattice = np.rint(np.concatenate(values) * s.L * s.V).astype(np.int64)
    lowest = int(lattice.min())
    mass = np.bincount(lattice - lowest, np.concatenate(weights))
    kept = np.flatnonzero(mass)
    return (kept + lowest) / (s.L * s.V), mass[kept] / mass.sum()


def _token_cases(s: _Sizes) -> Iterator[tuple[float, float, Array]]:
    """Cases of a token: chance, score before deficits, and law of deficits (units 1/L) of each.

    The token occurs in contexts. Two occurrences add to the score if they are in one sequence or
    in two of one label. The token is informative in n samples, and occurs again in some of these.
    """
    meet = (s.L - 2) / (s.L - 1) / s.N + (1 - 1 / s.N) / s.V
    own = stats.binom.pmf(np.arange(min(s.N, 40) + 1), s.N, 1 / s.V)
    own = own[own > _NEGLIGIBLE]
    again = [quadrature.poisson(n * (s.L - 1) / s.V) for n in range(own.size)]
    own_deficits = [_own_deficit(s, n) for n in range(own.size)]
    step, context = _context_deficit(s), np.ones(1)
    for occurrences, chance in enumerate(quadrature.poisson(s.N * (s.L - 1) / s.V, 1e-6)):
        deficits = [np.convolve(context, deficit) for deficit in own_deficits]
        pairs = math.comb(occurrences, 2)
        met = stats.binom.pmf(np.arange(min(pairs, 40) + 1), pairs, meet)
        for meetings, n in itertools.product(range(met.size), range(own.size)):
            for repeated, share in enumerate(again[n]):
                weight = chance * met[meetings] * own[n] * share
                if weight >= _NEGLIGIBLE:
                    score = meetings * (2 - 4 / s.L) + _own_score(s, n, repeated, occurrences)
                    yield weight, score, deficits[n]
        context = _trimmed(np.convolve(context, step))


def _own_score(s: _Sizes, samples: int, repeated: int, occurrences: int) -> float:
    """Score of a token from its own samples and from the mean over labels, before deficits."""
    n, total = samples, samples + repeated + occurrences
    score = n * (n - 1) * (1 - 1 / s.L) + repeated * (2 * n + repeated - 1 - 4 * n / s.L)
    # The term -1/V of g: all pairs of sequences, whatever their labels.
    score -= total * (total - 1 - (s.N - 1) * s.L / s.V) / s.V
    if s.tau:
        score += n * n * (1 - 1 / s.L) - n * repeated / s.L
        score -= s.N / s.V * (n - (n + occurrences) / s.L)
    return score


@lru_cache(maxsize=256)
def _trigger_law(s: _Sizes) -> tuple[Array, Array]:
    """Values and probabilities of the trigger score.

    The score is a sum over tokens of functions of their sample counts n, and the counts add up to
    N. A multiple of n is subtracted, which decorrelates the sum from the total, and added again at
    the end.
    """
    n = np.arange(min(s.N, 40) + 1)
    chance = stats.binom.pmf(n, s.N, 1 / s.V)
    n, chance = n[chance > 1e-14], chance[chance > 1e-14]
    direct = (s.L - 1) * (n * (n - 1) + s.tau * n * n)
    centred = n - chance @ n
    slope = round(float(chance @ (direct * centred) / (chance @ centred**2)))
    residual = direct - slope * n
    mean = s.V * float(chance @ residual)
    repeats = s.V * float(chance @ n**2) * (s.shared * 2 + 3 * s.L)
    spread = math.sqrt(s.V * float(chance @ residual**2) + repeats)
    size = 1 << math.ceil(math.log2(24 * spread + 60 * s.L))
    frequency = 2 * np.pi * np.fft.rfftfreq(size)

    def shift(by: float) -> NDArray[np.complex128]:
        result: NDArray[np.complex128] = np.exp(-1j * frequency * by)
        return result

    one = np.zeros(frequency.size, dtype=complex)
    for samples, weight in zip(n.tolist(), chance, strict=True):
        context = samples * (s.L - 1) / s.V
        extra = sum(
            probability * shift(s.L * samples * hits - (2 * samples + hits - 1) * hits)
            for hits, probability in enumerate(quadrature.poisson(context, 1e-10))
        )
        pairs = samples**2 * s.shared / 2 - context / 2
        own = (s.L - 1) * (samples**2 - samples + s.tau * samples**2) - slope * samples
        one += weight * shift(own) * extra * np.exp(pairs * (shift(-2) - 1))
    centre = round(mean)
    mass = np.fft.irfft(one**s.V * shift(-centre), size)
    steps = np.arange(size)
    steps = np.where(steps > size // 2, steps - size, steps) + centre + slope * s.N
    values = steps / s.L - s.tau * s.N**2 / s.V * (1 - 1 / s.L)
    kept = mass > 1e-9
    ties, tie_mass = _tie_law(s)
    values = values[kept, None] + ties
    weights = mass[kept, None] * tie_mass
    return values.ravel(), weights.ravel() / weights.sum()


def _tie_law(s: _Sizes) -> tuple[Array, Array]:
    """Law of the term -1/V of g in the trigger score, which breaks ties.

    For the N(N-1) ordered pairs of sequences, each occurrence of one's informative token in the
    other's context lowers the score by 1/V - 2/(LV). Each context token that two sequences share
    raises the score by 2/(LV), for both orders of the pair together.
    """
    hits = quadrature.poisson(s.N * (s.N - 1) * (s.L - 1) / s.V)
    shared = quadrature.poisson(s.N * (s.N - 1) / 2 * s.shared)
    gain, gain_mass = quadrature.merged(2.0 * np.arange(shared.size), shared, _TIE_NODES)
    cost, cost_mass = quadrature.merged((s.L - 2.0) * np.arange(hits.size), hits, _TIE_NODES)
    values = (gain[:, None] - cost).ravel() / (s.L * s.V)
    return quadrature.merged(values, np.outer(gain_mass, cost_mass).ravel(), _TIE_NODES)


@prediction(
    latex=r"\mathrm{Var}_v\theta_v = E\theta_v^2 - (E\theta_v)^2 \text{ under the Poisson law}",
    source=_SOURCE,
    error="10%",
    regime=VARIANCE,
)
def variance(problem: Problem) -> float:
    """Variance of the token scores over tokens, in units of s_0^2."""
    values, weights = _token_law(_sizes(problem))
    unit = signal.signal_unit(problem) * (problem.samples * problem.length) ** 2
    return float(weights @ values**2 - (weights @ values) ** 2) / unit**2


@prediction(
    latex=r"P = E\,F(\theta_u + \theta_{trig})^{L_{eff}}",
    source=_SOURCE,
    error=0.04,
    regime=LOCALISED.searched("N >= 12", holds=lambda cell: cell["samples"] >= 12),
)
def localisation(problem: Problem) -> float:
    r"""Probability that a fresh sequence is localised, by the Poisson law of the counts.

    The informative token's $\theta_u$ and the distractors' scores follow the token law $F$,
    independently of $\theta_{trig}$. The problem's ``dim`` and ``embeddings`` play no part. Finite
    size: within {error} for V >= 128, L <= V/4 and N >= 12; with fewer samples exact ties decide,
    and the formula may be 0.09 too high, with a standard error of 0.01 (V = 143, L = 9, N = 7).
    """
    values, weights = _token_law(_sizes(problem))
    cumulative = np.concatenate([[0.0], np.cumsum(weights)])
    trigger, trigger_weights = _trigger_law(_sizes(problem))
    kept = trigger_weights > _NEGLIGIBLE
    trigger, trigger_weights = trigger[kept], trigger_weights[kept]
    own, own_weights = quadrature.merged(values, weights, 200)
    distractors = random_localisation.distinct_distractors(problem.length, problem.vocab_size)
    below = np.searchsorted(values, trigger[:, None] + own)
    found = (np.minimum(cumulative, 1.0) ** distractors)[below]
    return float(trigger_weights @ found @ own_weights / trigger_weights.sum())


@prediction(
    latex=r"\mathrm{Acc} = 1-\left(1-\frac1V\right)^{N+1}\ (\tau=0)", source=_SOURCE, error=1e-6
)
@lru_cache(maxsize=256)
def recall(problem: Problem) -> float:
    r"""Share of tokens recalled, independent of length and dimension. Exact.

    Without the trigger in the values a token is recalled if it was seen, and otherwise guessed with
    probability $1/V$. With the trigger all values share a direction, and token $v$ is recalled if
    no other token was seen more than $2 n_v$ times. If $T$ tokens were seen exactly $2 n_v$ times,
    $v$ beats them with probability $1/(T+1) = \int_0^1 s^T ds$: ties are broken evenly.
    """
    V, N = problem.vocab_size, problem.samples
    if not problem.trigger_in_values:
        return 1 - (1 - 1 / V) ** (N + 1)
    counts = np.arange(N + 1)
    chance = stats.binom.pmf(counts, N, 1 / V)
    node, node_weight = quadrature.legendre(_SHARE_NODES)
    total = 0.0
    for own in counts[1:][chance[1:] > 1e-12].tolist():
        others = counts[: N - own + 1]
        fewer, equal = others < 2 * own, others == 2 * own
        if not equal.any():
            total += float(chance[own])
            continue
        shares = [
            multinomial.product_mean(fewer + (1 + s) / 2 * equal, V - 1, N - own) for s in node
        ]
        total += float(chance[own] * (node_weight / 2 @ shares))
    return total
