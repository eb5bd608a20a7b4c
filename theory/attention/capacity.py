r"""Capacity: the sizes that three gradient steps need (samples, dimensions) or learn (tokens,
length).

Half of the fresh sequences get their label once three conditions hold, each in closed form:

- localisation, $N \ge N_c(V, L, d)$ (`critical.threshold`), named after the largest of the noise
  terms A, B and C;
- recall, $d \ge d_{1/2}(V, N)$ (`recall.half_dim`);
- coverage, $N \ge V\log 2$: half of the tokens are the informative token of some sample.

`critical_samples` is the least N that meets all three, and `max_vocab`, `max_length`, `min_dim` are
its exact inverses on the integers: each returns the extreme size whose critical number of samples
is at most N. `binding` names the condition that needs the most samples. All formulas are for
embeddings on the sphere, the trigger not in the values, and $d \le V$.

`critical_samples` states its error only where localisation or coverage decides and all else
succeeds in at least 97% of cases. Where two conditions need nearly the same number of samples,
accuracy is a product of two probabilities, and reaches one half after 1.4 to 1.9 times as many
samples. Where recall decides, accuracy depends on d, and hardly on N. There an error of 5% in
`recall.half_dim` may mean any factor in N.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from recall_claims import prediction
from theory.attention import critical, localisation, recall
from theory.attention.problem import SIZES, Problem
from theory.laws import crossing

_SOURCE = "paper A, arXiv 2603.15923, A3 and A11 (explicit formulas for capacity); formula derived"

ONE_RULES = SIZES.searched(
    "d <= V; localisation or coverage rules, all else is right in 97%",
    holds=lambda cell: cell["dim"] <= cell["vocab_size"] and _one_rules(cell),
    without=("samples", "trigger_in_values"),
)


@prediction(latex=r"N \ge V\log 2", source=_SOURCE)
def coverage_samples(vocab_size: int) -> float:
    r"""Number of samples after which half of the tokens are expected to have been informative.

    A token is missed with probability $(1 - 1/V)^N \approx e^{-N/V}$.
    """
    return vocab_size * math.log(2)


def _recall_samples(vocab_size: int, dim: int) -> float:
    """Least number of samples at which `recall.half_dim` is at most ``dim``."""
    problem = Problem(vocab_size=vocab_size, length=2, samples=1, dim=dim)

    def recalled(samples: int) -> bool:
        return recall.half_dim(problem.replace(samples=samples)) <= dim

    return crossing.least_integer(recalled, 1)


def _conditions(vocab_size: int, length: int, dim: int) -> dict[str, float]:
    """Number of samples that each condition requires."""
    regime = critical.regime(vocab_size=vocab_size, length=length, dim=dim)
    return {
        regime: critical.threshold(vocab_size=vocab_size, length=length, dim=dim),
        "recall": _recall_samples(vocab_size, dim),
        "coverage": coverage_samples(vocab_size),
    }


def binding(vocab_size: int, length: int, dim: int) -> str:
    """Name of the condition that needs the most samples: A, B or C, "recall" or "coverage".

    Raises ValueError: a size is impossible, or ``dim`` exceeds ``vocab_size``.
    """
    _check(vocab_size, length, dim)
    needed = _conditions(vocab_size, length, dim)
    return max(needed, key=lambda name: needed[name])


@prediction(
    latex=r"N_{min} = \max\{N_c,\ N_{recall},\ V\log 2\}",
    source=_SOURCE,
    error="15%",
    regime=ONE_RULES,
)
def critical_samples(vocab_size: int, length: int, dim: int) -> float:
    """Least number of samples that meets all conditions, an integer; infinite if none does.

    Raises ValueError: a size is impossible, or ``dim`` exceeds ``vocab_size``.
    """
    _check(vocab_size, length, dim)
    needed = max(_conditions(vocab_size, length, dim).values())
    return needed if math.isinf(needed) else float(max(1, math.ceil(needed)))


@prediction(latex=r"V_{max} = \max\{V : N_{min}(V, L, d) \le N\}", source=_SOURCE)
def max_vocab(samples: int, length: int, dim: int) -> float:
    """Largest vocabulary, of at least ``dim``, that ``samples`` samples suffice for; 0 if none.

    Raises ValueError: a size is impossible.
    """
    return _most(lambda size: critical_samples(size, length, dim) <= samples, max(2, dim))


@prediction(latex=r"L_{max} = \max\{L : N_{min}(V, L, d) \le N\}", source=_SOURCE)
def max_length(samples: int, vocab_size: int, dim: int) -> float:
    """Largest length of sequences for which ``samples`` samples suffice; 0 if none.

    Raises ValueError: a size is impossible, or ``dim`` exceeds ``vocab_size``.
    """
    return _most(lambda length: critical_samples(vocab_size, length, dim) <= samples, 2)


@prediction(latex=r"d_{min} = \min\{d : N_{min}(V, L, d) \le N\}", source=_SOURCE)
def min_dim(samples: int, vocab_size: int, length: int) -> float:
    """Least dimension up to ``vocab_size`` at which ``samples`` samples suffice; infinite if none.

    Localisation and recall both gain from a larger dimension in this range. Raises ValueError: a
    size is impossible.
    """

    def enough(dim: int) -> bool:
        return dim <= vocab_size and critical_samples(vocab_size, length, dim) <= samples

    if not enough(vocab_size):
        return math.inf
    return crossing.least_integer(enough, 2, vocab_size)


def _most(holds: Callable[[int], bool], low: int) -> float:
    """Largest integer from ``low`` on that meets a condition; once false, it stays false."""
    if not holds(low):
        return 0.0
    return crossing.least_integer(lambda value: not holds(value), low) - 1


def _check(vocab_size: int, length: int, dim: int) -> None:
    Problem(vocab_size=vocab_size, length=length, samples=1, dim=dim)
    if dim > vocab_size:
        raise ValueError(
            f"dim is {dim} with {vocab_size} tokens: give dim of at most vocab_size; beyond it "
            "the formulas for non-orthogonal embeddings do not hold"
        )


def _one_rules(cell: Mapping[str, Any]) -> bool:
    sizes = {name: cell[name] for name in ("vocab_size", "length", "dim")}
    needed, rule = critical_samples(**sizes), binding(**sizes)
    if rule == "recall" or needed > 2**16:
        return False
    problem = Problem.of({**sizes, "samples": math.ceil(needed)})
    recalled = recall.recall_accuracy(problem)
    if rule != "coverage":
        return recalled >= 0.97
    return recalled / (1 - math.exp(-problem.load)) * localisation.probability(problem) >= 0.97
