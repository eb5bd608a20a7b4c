r"""Declaration of noise terms: `noise_term` declares each once, on its formula.

The sum of the noise, its spread between replicates, the critical number of samples,
`theory.attention_mlp` and the claims read terms from `noise.TERMS`. The spread needs their
`covariance_power`, and the critical number their `exponents` and `coefficient`.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from recall_claims import Regime, prediction
from theory.attention.problem import SIZES, Problem

SOURCE = "paper A, arXiv 2603.15923, A9 (a sum of named noise terms); formula derived"

MANY_TOKENS = SIZES.searched(
    "d >= 16, L >= 8 and N >= V/3",
    holds=lambda cell: cell["dim"] >= 16 and 3 * cell["samples"] >= cell["vocab_size"],
)
REGIME = MANY_TOKENS.searched("V >= 2 d", holds=lambda cell: cell["vocab_size"] >= 2 * cell["dim"])
ERROR = "10%"


def any_length(regime: Regime) -> Regime:
    """The regime, extended to Gaussian embeddings, whose lengths vary."""
    return regime.searched(
        "embeddings on the sphere, or Gaussian with V >= 8 d and the trigger in the keys alone",
        holds=lambda cell: (
            cell.get("embeddings", "sphere") == "sphere"
            or (cell["vocab_size"] >= 8 * cell["dim"] and not cell["trigger_in_values"])
        ),
        embeddings=("sphere", "gaussian"),
    )


Formula = Callable[[Problem], float]

_SIZES = ("vocab_size", "samples", "length", "dim")
_DEEP = Problem(vocab_size=2**200, length=2**112, samples=2**255, dim=2**127)
"""Sizes deep in the regime of every term, where corrections to power laws are below rounding."""


@dataclass(frozen=True)
class NoiseTerm:
    r"""One summand of the variance of the token scores.

    Attributes:
        symbol: short name, the key in `noise.TERMS`.
        title: name in words.
        latex: the formula of its variance, in units of $s_0^2$.
        exponents: powers of the sizes in this variance, in the term's regime and without the
            trigger in the values.
        constant: the stated constant of the power law.
        regime: where the power law holds.
        covariance_power: the term's part of $w$ is a Gaussian vector whose covariance is this power
            of the covariance of the embeddings (`theory.attention.localisation`).
        variance: function that returns the term's variance at a problem, in units of $s_0^2$.
        limit: the pure power law, with its constant, that `variance` tends to in the regime.
    """

    symbol: str
    title: str
    latex: str
    exponents: Mapping[str, float]
    constant: float
    regime: str
    covariance_power: int
    variance: Formula
    limit: Formula

    @property
    def coefficient(self) -> float:
        """Constant of the power law, as the formula gives it far inside the regime."""
        return self.constant * (self.variance(_DEEP) / self.limit(_DEEP))

    def scaling(self, problem: Problem) -> float:
        """Power law with `exponents`, corrected for finite size like `variance`, up to a constant.

        Exponents fitted on a grid should be equal for this law and for simulation.
        """
        return _power_law(1.0, self.exponents, problem) * (
            self.variance(problem) / self.limit(problem)
        )


declared: dict[str, NoiseTerm] = {}


def noise_term(
    symbol: str,
    *,
    title: str,
    latex: str,
    exponents: Mapping[str, float],
    covariance_power: int,
    regime: str,
    constant: float = 1.0,
    error: str | tuple[tuple[Any, ...], ...] = ERROR,
) -> Callable[[Formula], Formula]:
    r"""Declare a formula for a variance, in units of $s_0^2$, as a noise term and a prediction.

    Arguments are fields of `NoiseTerm`; a size not named in ``exponents`` has exponent 0.
    ``error``: stated error of the formula, where it differs from the sum's error.

    Raises ValueError: there is a term of this symbol already.
    """
    if symbol in declared:
        raise ValueError(f"noise term {symbol} is declared twice: give one a new symbol")
    powers = dict.fromkeys(_SIZES, 0.0) | dict(exponents)

    def declare(formula: Formula) -> Formula:
        declared[symbol] = NoiseTerm(
            symbol=symbol,
            title=title,
            latex=latex,
            exponents=powers,
            constant=constant,
            regime=regime,
            covariance_power=covariance_power,
            variance=_looked_up(formula),
            limit=partial(_power_law, constant, powers),
        )
        entered = prediction(latex=latex, source=SOURCE, error=error, regime=any_length(REGIME))
        return entered(formula)

    return declare


def sum_latex(symbols: Iterable[str]) -> str:
    """Write the sum of terms as LaTeX, with a symbol's second letter as an index.

    >>> sum_latex(["A", "C2"])
    'A+C_2'
    """
    return "+".join("_".join(symbol) for symbol in symbols)


def _looked_up(formula: Formula) -> Formula:
    """Wrap a formula: each call uses what its module then has under the formula's name."""
    return lambda problem: float(
        getattr(sys.modules[formula.__module__], formula.__name__)(problem)
    )


def _power_law(constant: float, exponents: Mapping[str, float], problem: Problem) -> float:
    powers = [float(getattr(problem, name)) ** power for name, power in exponents.items()]
    return float(constant * math.prod(powers))
