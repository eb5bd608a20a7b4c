r"""A first step on classes of unequal frequency: the lead of each class, by Muon and by Adam.

The model is the memory of softmax_memory.py, without label noise. The first step of Adam is the
sign of each entry of the gradient, in the coordinates of the embeddings. A lead is a class's own
score less the mean of its other scores, after a step of size 1. Derivation: tail_classes.md.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recall_claims import Regime, log_range, prediction
from theory.spectral.softmax_memory import Memory

_SOURCE = "arXiv 2509.26030, H4; derived"
_STEP = 0.25
"""Step in log s of sums for integrals over s, with errors of order exp(-pi^2 / _STEP)."""
_FAR = 30.0
"""Range of the sums beyond the extreme frequencies, in logs."""
Array = NDArray[np.float64]

CLASSES = Regime(
    "K classes in M groups of equal size; the most frequent at most 100,000 times as frequent as "
    "the rarest, which rounding in a decomposition allows",
    {
        "items": log_range(2, 128),
        "groups": (1, 2, 4, 8, 16, 32, 64, 128),
        "power": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0, 16.0),
        "group": range(1, 129),
    },
    holds=lambda cell: (
        cell["items"] % cell["groups"] == 0
        and cell["group"] <= cell["groups"]
        and cell["groups"] ** cell["power"] <= 1e5
    ),
)
"""Regime in which Muon's lead is computed."""

NOT_RARE = Regime(
    "K classes in M groups of equal size; the most frequent at most eight times as frequent as the "
    "rarest, so that leads are not far below the scatter between embeddings",
    {**CLASSES.ranges, "power": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)},
    holds=lambda cell: (
        cell["items"] % cell["groups"] == 0
        and cell["group"] <= cell["groups"]
        and cell["groups"] ** cell["power"] <= 8
    ),
)
"""Regime in which replicates resolve Adam's lead."""

HALVES = Regime(
    "two halves of at least 64 classes, one at most half as frequent; errors from 1% to 20%",
    {
        "items": (128, 160, 192, 256, 384, 512),
        "imbalance": log_range(0.002, 0.5),
        "error": log_range(0.01, 0.2),
    },
    holds=lambda cell: True,
)
"""Regime in which the gap of the worst class is of first order in 1/K."""


def _groups(items: int, groups: int, power: float, group: int) -> tuple[Array, float, int]:
    """Relative class frequencies (largest 1) in all groups and in ``group``; group size."""
    if not 1 <= group <= groups:
        raise ValueError(f"group {group} of {groups}: give 1 to {groups}")
    found = Memory(items, groups, power).frequencies
    relative = found / found[0]
    return relative, float(relative[group - 1]), items // groups


@prediction(
    latex=r"m_k=\frac K{K-1}\left[1-\frac2\pi\int_0^\infty\frac{p_k}{D_k}\cdot"
    r"\frac{D_k^{-1}}{\sum_jD_j^{-1}}\,ds\right],\quad D_j=s^2+p_j^2",
    source=_SOURCE,
)
def muon_lead(items: int, groups: int, power: float, group: int) -> float:
    r"""Lead of a class of this group after Muon's first step, exactly, in any embeddings.

    It is between $\frac K{K-1}(1-\frac1n)$ and $\frac K{K-1}$, where n counts this class and
    all that are no more frequent. Raises ValueError as `Memory`, and for a group outside 1 to M.

    >>> round(muon_lead(64, 1, 0.0, 1), 9)
    1.0
    """
    relative, own, size = _groups(items, groups, power, group)
    s = np.exp(np.arange(math.log(relative[-1]) - _FAR, _FAR, _STEP))
    each = 1 / (s[:, None] ** 2 + relative**2)
    mine = each[:, group - 1]
    lost = 2 / math.pi * _STEP * float((s * own * mine**2 / (size * each.sum(1))).sum())
    return items / (items - 1) * (1 - lost)


@prediction(
    latex=r"\bar m_k=\frac{K^3}{K-1}\cdot\frac{\Gamma(K/2)^2}{\pi\sqrt2\,\Gamma((K+1)/2)^2}"
    r"\int_0^\infty\frac{p_k}{D_k}\left(1-\frac{D_k^{-1}}{\sum_jD_j^{-1}}\right)"
    r"\frac{ds}{\sqrt{s\,h\prod_jD_j}},\quad D_j=1+2sp_j^2,\ h=\frac1K\sum_jD_j^{-1}",
    source=_SOURCE,
)
def adam_lead(items: int, groups: int, power: float, group: int) -> float:
    r"""Mean lead of a class of this group after Adam's first step, exactly, in random embeddings.

    Queries and answers are independent uniform orthonormal bases. With many classes of frequencies
    $p_k$, if none has most of $|p|^2$, the lead is about $\sqrt{2/\pi}\,Kp_k/|p|$. Raises
    ValueError as `muon_lead`.

    >>> round(adam_lead(10_000, 2, 1.0, 2) / adam_lead(10_000, 2, 1.0, 1), 3)
    0.5
    """
    relative, own, size = _groups(items, groups, power, group)
    scale = math.sqrt(size * float((relative**2).sum()))
    relative, own = relative / scale, own / scale
    logs = np.arange(-2 * _FAR, 2 * _FAR - 2 * math.log(relative[-1]), _STEP)
    each = 1 / (1 + 2 * np.exp(logs)[:, None] * relative**2)
    mine = each[:, group - 1]
    total = size * each.sum(1)
    root = (size * np.log(each).sum(1) - np.log(total / items) + logs) / 2
    integral = _STEP * float((own * mine * (1 - mine / total) * np.exp(root)).sum())
    ends = 2 * (special.gammaln(items / 2) - special.gammaln((items + 1) / 2))
    return items**3 / (items - 1) * math.exp(ends) / (math.pi * math.sqrt(2)) * integral


@prediction(
    latex=r"\log\frac{1-\varrho}{\varrho}-\log\frac{\epsilon}{1-\epsilon}\simeq"
    r"\frac{\sqrt2(1-r)}{\sqrt{1+r^2}}\cdot\frac{\eta}{K},\quad"
    r"\eta=\log\frac{(K-1)(1-\epsilon)}\epsilon",
    source=_SOURCE,
)
def muon_gap(items: int, imbalance: float, error: float) -> float:
    r"""Gap in log odds between best and worst class after the step of Muon, of size $\eta$, that
    gives the best class this error.

    Half of the classes are r = ``imbalance`` times as frequent as the others. After a step of
    gradient descent the gap is $(1-r)\eta$, of order 1, not 1/K. The next order adds at most
    $0.3\,\eta/K$ of the gap, and with all other terms at most 2.6% in `HALVES`. Raises ValueError
    for an error outside (0, 1) or imbalance outside (0, 1].
    """
    if not (0 < error < 1 and 0 < imbalance <= 1):
        raise ValueError(f"error {error}, imbalance {imbalance}: give numbers from 0 to 1")
    size = math.log((items - 1) * (1 - error) / error)
    return math.sqrt(2) * (1 - imbalance) / math.hypot(1, imbalance) * size / items
