r"""Number of associations that several thresholded steps of a spectral optimiser store.

Items and embeddings are as in one_step.py. Step t adds $h_{\lambda_t}(G_t)$ to the memory, where
$G_t$ is a sum over items that earlier steps did not recall, and $h_\lambda$ maps a singular value z
to $z/\sqrt{z^2+\lambda^2}$ (paper E, section 5). Derivation: several_steps.md.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from recall_claims import Regime, log_range, prediction
from theory.spectral.resolvent import Array, Items, Memory, Nodes, Scores, check_exponent

_SOURCE = "arXiv 2603.26554, E3; derived"
_NODES = 32
_MOST = 8

STEPS = Regime(
    "d >= 48, d^2/4 to d^2 items, up to 3 steps; the third from d = 64 on",
    {
        "dim": log_range(48, 512),
        "items": log_range(576, 262144),
        "exponent": (1.5, 2.0),
        "steps": range(1, 4),
    },
    holds=lambda cell: (
        cell["dim"] ** 2 <= 4 * cell["items"] <= 4 * cell["dim"] ** 2
        and (cell["steps"] < 3 or cell["dim"] >= 64)
    ),
)
"""Regime in which `recalled` states its error."""


def last_rank(dim: int, exponent: float, steps: int) -> float:
    r"""Published rank up to which t steps recall items: $d_t = d^{2-(1-1/(2a))^t}$.

    It holds up to logarithms, on the population; a batch of B samples allows at most $B^{1/a}$.

    Raises ValueError: ``exponent`` is not above 1.
    """
    check_exponent(exponent)
    return float(dim ** (2 - (1 - 1 / (2 * exponent)) ** steps))


@prediction(
    latex=r"\sum_iP\Big(\sum_{s<t}u_i^\top h_{\lambda_s}(G_s)v_i>\max_{j\ne i}"
    r"\sum_{s<t}u_j^\top h_{\lambda_s}(G_s)v_i\Big)",
    source=_SOURCE,
)
@lru_cache
def recalled(dim: int, items: int, exponent: float, steps: int) -> float:
    """Number of items recalled after ``steps`` steps.

    It is right within 3% from dim = 48 on, and after a third step within 5% from dim = 64 on. Below
    these dimensions it is less accurate.

    Raises:
        ValueError: sizes as for `Items.of`, or the number of steps is not 1 to 8.
    """
    if not 1 <= steps <= _MOST:
        raise ValueError(f"{steps} steps: give 1 to {_MOST}")
    law = Items.of(dim, items, exponent)
    w, number = law.pooled()
    found: list[Nodes] = []
    # A history says which steps' gradients contained the item; its probabilities are (weights,).
    histories: dict[tuple[int, ...], Array] = {(1,): np.ones_like(w)}
    for step in range(steps):
        # With this ridge the rarest item to be recalled weighs as much as its rivals' noise.
        rank = last_rank(dim, exponent, step + 1)
        ridge = float(w[0]) * rank**-exponent * math.sqrt(dim)
        both = [
            [
                number * sum(chance for h, chance in histories.items() if h[s] and h[t])
                for t in range(step + 1)
            ]
            for s in range(step + 1)
        ]
        found.append(Nodes.of(w, both[step][step], dim, ridge=ridge, count=_NODES))
        memory = Memory.of(found, w, both, dim)
        before, histories = histories, {}
        known = np.zeros_like(w)
        for history, chance in before.items():
            scores = memory.scores(w[:, None] * np.repeat(history, _NODES))
            recall = chance * _first(scores, dim, items)
            histories[*history, 0] = recall
            histories[*history, 1] = chance - recall
            known += recall
    return float(number @ known)


def _first(scores: Scores, dim: int, items: int) -> Array:
    """Probability that each item's own score is the largest, if all competitors are rare."""
    levels = scores.levels(dim) / np.sqrt(scores.rivals)[:, None]
    return scores.mean(np.exp((items - 1) * special.log_ndtr(levels)))
