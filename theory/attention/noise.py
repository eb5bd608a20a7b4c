r"""Variance of the token scores in units of $s_0^2$: the sum of the noise terms.

The score of token $v$ is $\theta_v = z_v^\top w$ (see `theory.attention.signal`). Its variance over
tokens, averaged over data and embeddings, is the sum of the variances in `TERMS`, plus the
covariances that are not negligible. D (label counts) and H (own memory) share the label counts.
With the trigger in the values, B (stored context) and H share the contexts, and T (trigger
direction) and other terms share the trigger's overlaps. The terms are declared in
`theory.attention.noise_terms`; noise.md derives them.
"""

from collections.abc import Mapping

from recall_claims import log_range, prediction
from theory.attention import noise_declaration, noise_terms
from theory.attention.noise_declaration import SOURCE, NoiseTerm, declared, sum_latex
from theory.attention.problem import SIZES, Problem

MANY_TOKENS, REGIME = noise_declaration.MANY_TOKENS, noise_declaration.REGIME
SHORT = noise_declaration.any_length(
    SIZES.searched(
        "d >= 16, L >= 4, N >= V/3 and V >= 8 d",
        holds=lambda cell: REGIME.holds(cell) and cell["vocab_size"] >= 8 * cell["dim"],
        length=log_range(4, 256),
    )
)
"""Regime in which `variance` states its error."""

TERMS: dict[str, NoiseTerm] = declared
"""Every noise term by its symbol."""

COVARIANCE_POWERS = {symbol: term.covariance_power for symbol, term in TERMS.items()}
"""Power of the embeddings' covariance in each term: `localisation` computes from it how replicates
differ."""


@prediction(
    latex=r"\frac{\mathrm{Var}_v\theta_v}{s_0^2}="
    + sum_latex(TERMS)
    + r"+2\,\mathrm{Cov}(D,H)+2\tau\left[\mathrm{Cov}(B,H)+\frac1d\mathrm{Cov}(q,\nu)\right]",
    source=SOURCE,
    error=noise_declaration.ERROR,
    regime=SHORT,
)
def variance(problem: Problem) -> float:
    r"""Variance of the token scores over tokens, in units of $s_0^2$.

    Stated error: {error} for d >= 16, L >= 4, N >= V/3 and V >= 8 d; at 14 random settings with L
    from 4 to 7 simulated over theory is 0.98 to 1.02. For V < 8 d, neglected covariances matter: at
    (V, L, N, d) = (128, 8, 43, 32) the ratio is 0.914, with a standard error of 0.006. With d = 64
    it is 0.907, with a standard error of 0.010, and each term is within 7%. The formula does not
    hold for fewer samples of short sequences: at (V, L, N, d) = (646, 3, 18, 18), (393, 4, 43, 18)
    and (765, 7, 18, 46) the ratio is 0.54, 0.86 and 0.80.
    """
    terms = sum(term.variance(problem) for term in TERMS.values())
    covariances = noise_terms.count_covariance(problem) + noise_terms.context_covariance(problem)
    along = 2 * problem.overlap * noise_terms.trigger_covariance(problem)
    return terms + covariances + along


def shares(problem: Problem) -> dict[str, float]:
    """Each term's share of `variance`; the shares add up to 1 minus the covariances' share."""
    total = variance(problem)
    return {symbol: term.variance(problem) / total for symbol, term in TERMS.items()}


def by_covariance_power(
    shares: Mapping[str, float], powers: Mapping[str, int] = COVARIANCE_POWERS
) -> dict[int, float]:
    """Add up shares of terms, given by symbol, over terms of the same covariance power.

    Raises:
        KeyError: a term has no power.
    """
    sums = dict.fromkeys(powers.values(), 0.0)
    for symbol, share in shares.items():
        sums[powers[symbol]] += share
    return sums


def dominant(problem: Problem) -> str:
    """Symbol of the largest noise term."""
    return max(TERMS, key=lambda symbol: TERMS[symbol].variance(problem))
