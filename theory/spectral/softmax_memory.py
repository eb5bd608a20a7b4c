r"""A linear memory under softmax: how gradient descent, Muon and sign descent learn frequent items.

K queries and K answers are orthonormal. The scores of item j are column j of W, which starts at 0.
Item j has the frequency $p_j$. Its label is its own answer with probability
$c = 1-\alpha+\alpha/K$, and each other answer with probability $\alpha/K$. The loss is the
cross-entropy, and the *excess* is the loss minus the labels' entropy. Items come in M groups of
C = K/M items; group g has a probability $\propto g^{-\beta}$.

By symmetry one number describes each item: the lead $q_j$ of its own score over every other score.
With $s = e^q/(e^q+K-1)$ the negative gradient moves the lead at the rate $p_j(c-s)K/(K-1)$. So

* gradient flow: $K p_j t = \int_0^{q_j}\frac{e^q+K-1}{c-(\alpha/K)e^q}dq$, which without noise is
  $e^q-1+(K-1)q$;
* Muon: $1-\mathbf{1}\mathbf{1}^\top/K$ is its own polar factor, so that $q = t$ where all items
  are equally frequent; a power law changes an entry of the factor by at most $1/C+M/C$ (F4);
* sign descent in the basis of the items: $\pm1$ in every entry, $q = 2t$.

Muon hardly depends on the frequencies. Where all leads are equal, the gradient is a multiple of
$PD$, with $P = 1-\mathbf{1}\mathbf{1}^\top/K$ and D the diagonal matrix of frequencies. $PD$
multiplies a vector on one group that sums to zero by a number. On vectors that are constant on
every group $PD$ acts as the $M\times M$ matrix $P_MD_M$ of the same form, with one frequency per
group. Let Q be its polar factor. Then the polar factor of $PD$ is the identity up to $(Q_{gg}-1)/C$
within a group and $Q_{gh}/C$ between two groups: at most 2/C for any M. An item's mean lead over
all others grows at the rate $1+\frac K{K-1}(Q_{gg}-1+1/M)/C$. As $Q_{gg}\le1$ the loss is, to first
order, below the loss of equal frequencies by at most a share $t/K$.

With noise the lead ends at $q^* = \log(cK/\alpha)$. Muon's steps of size $\eta$ pass $q^*$, turn
around, and pass $q^*$ again: from then on two values of q alternate, $\eta$ apart. As the excess E
has $E''(q) = s(1-s)\le1/4$, both have an excess of at most $\eta^2/8$; the exact excess depends on
how near to $q^*$ both are. With exactly $\eta = \log K/T$, T steps lead to $\log K$, which is below
$q^*$ if $c>\alpha$: then the excess stays at $E(\log K)$ for every T.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from recall_claims import Regime, log_range, prediction

_SOURCE = "arXiv 2602.05725, F1 to F3; derived"

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Memory:
    """Items to be learned, with their frequencies.

    Attributes:
        items: K.
        groups: M, the number of groups of K/M equally frequent items.
        power: beta, the exponent of the groups' probabilities.
        noise: alpha, the share of labels that are drawn from all answers.

    Raises ValueError: fewer than 2 items, groups of unequal size, or a noise outside [0, 1).
    """

    items: int
    groups: int = 1
    power: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.groups <= self.items or self.items % self.groups or self.items < 2:
            raise ValueError(f"{self.items} items make no {self.groups} groups of one size")
        if not 0 <= self.noise < 1:
            raise ValueError(f"noise is a share below 1, not {self.noise}")

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "Memory":
        """Make a memory from a mapping; other keys are ignored."""
        return cls(**{n: parameters[n] for n in cls.__dataclass_fields__ if n in parameters})

    @property
    def frequencies(self) -> Array:
        """Probability of one item of each group, (groups,)."""
        weights = np.arange(1, self.groups + 1) ** -float(self.power)
        found: Array = weights / weights.sum() * self.groups / self.items
        return found

    @property
    def own(self) -> float:
        """Probability c that a label is the item's own answer."""
        return 1 - self.noise + self.noise / self.items

    @property
    def end(self) -> float:
        """Lead at which the gradient is zero; infinite without noise."""
        return math.log(self.own * self.items / self.noise) if self.noise else math.inf

    def excess(self, lead: float) -> float:
        """Excess of an item's loss over the entropy of its label, in nats, at this lead."""
        k = self.items
        if not self.noise:
            return math.log1p((k - 1) * math.exp(-lead))
        return _log_sum(k, lead) - _log_sum(k, self.end) - self.own * (lead - self.end)

    def mean_excess(self, leads: Array) -> float:
        """Mean excess loss over all items, in nats, from one lead per group of items, (groups,)."""
        each = [self.excess(lead) for lead in leads]
        return float(self.items / self.groups * (self.frequencies @ each))


MANY = Regime(
    "1,000 items and more, in groups; t from 4/p to 512/p of the most frequent item, and up to "
    "40/p of the rarest",
    {
        "items": (*(2**k for k in range(10, 18)), 100_000),
        "groups": (1, 2, 8, 32, 1000, 1024),
        "power": (0.0, 0.5, 1.1, 1.5, 2.0, 3.0),
        "noise": (0.1, 0.2, 0.4),
        "time": log_range(128, 2**22, per_octave=1),
    },
    holds=lambda cell: (
        cell["items"] % cell["groups"] == 0
        and 4 <= cell["time"] * Memory.of(cell).frequencies[0] <= 512
        and cell["time"] * Memory.of(cell).frequencies[-1] <= 40
    ),
)
"""Regime of simulations of groups instead of items."""


SIZES = Regime(
    "groups of equally frequent items; t up to 200/p of the most frequent item, or 40/p with "
    "noise, when its excess is still far above rounding errors",
    {
        "items": log_range(4, 256, per_octave=2),
        "groups": (1, 2, 4, 8, 16, 64, 128, 256),
        "power": (0.0, 0.5, 1.1, 1.5, 2.0, 3.0),
        "noise": (0.0, 0.1, 0.2, 0.4),
        "time": log_range(1.0, 65536, per_octave=1),
    },
    holds=lambda cell: (
        cell["items"] % cell["groups"] == 0
        and 0.1 <= cell["time"] * Memory.of(cell).frequencies[0] <= (40 if cell["noise"] else 200)
    ),
)
"""Regime in which one number per item determines everything."""


def _log_sum(items: int, lead: float) -> float:
    return lead + math.log1p((items - 1) * math.exp(-lead))


def gradient_lead(memory: Memory, group: int, time: float) -> float:
    """Lead q of an item of this group (1 to M) at this time, under gradient flow."""
    k, c, noise = memory.items, memory.own, memory.noise
    wanted = k * memory.frequencies[group - 1] * time

    def passed(lead: float) -> float:
        if not noise:
            return math.expm1(lead) + (k - 1) * lead
        left = -math.expm1(lead - memory.end) * c / (1 - noise)
        return (k - 1) * lead / c - k / (noise * c) * math.log(left)

    high = math.log1p(wanted) if not noise else memory.end * (1 - 1e-15)
    if passed(high) <= wanted:
        return high
    return float(optimize.brentq(lambda lead: passed(lead) - wanted, 0.0, high, xtol=1e-14))


@prediction(
    latex=r"\frac{(K-1)q_j}c-\frac K{\alpha c}\log\frac{c-(\alpha/K)e^{q_j}}{1-\alpha}=Kp_jt,\quad "
    r"E=\sum_jp_j\left[\log\frac{e^{q_j}+K-1}{e^{q^*}+K-1}-c(q_j-q^*)\right]",
    source=_SOURCE,
    error="0.01%",
    regime=SIZES,
)
def gradient_excess(
    items: int, time: float, *, groups: int = 1, power: float = 0.0, noise: float = 0.0
) -> float:
    """Excess loss, in nats, under gradient flow; parameters and ValueErrors as for `Memory`.

    Stated error: {error}, of the simulation; the formula is exact.
    """
    memory = Memory(items, groups, power, noise)
    leads = [gradient_lead(memory, group, time) for group in range(1, groups + 1)]
    return memory.mean_excess(np.array(leads))


@prediction(
    latex=r"E=\log\left(1+(K-1)e^{-vt}\right),\quad v=1\ \text{(Muon)},\ 2\ \text{(signs)}",
    source=_SOURCE,
)
def steady_loss(items: int, time: float, *, speed: float = 1.0) -> float:
    """Loss, in nats, if all leads grow at one speed: Muon on equal frequencies, or sign descent."""
    return Memory(items).excess(speed * time)


@prediction(latex=r"T^* = \log(cK/\alpha)/\eta", source="arXiv 2602.05725, F2; derived")
def steps_to_floor(items: int, noise: float, rate: float) -> float:
    r"""Number of steps in which Muon reaches its floor; infinite without noise.

    Steps have the size $\eta$ = ``rate``, and their number is of order $\log K/\eta$. At the floor
    two leads around $q^*$ alternate.
    """
    return Memory(items, noise=noise).end / rate


@prediction(
    latex=r"\bar E=\frac{E(n\eta)+E((n+1)\eta)}2,\quad n=\lfloor q^*/\eta\rfloor",
    source="arXiv 2602.05725, F2; derived",
)
def spectral_floor(items: int, noise: float, rate: float) -> float:
    r"""Final excess loss of Muon at a constant step, in nats, averaged over two steps.

    It is of order $\eta^2$; 0 without noise.
    """
    if not noise:
        return 0.0
    memory = Memory(items, noise=noise)
    below = math.floor(memory.end / rate) * rate
    return (memory.excess(below) + memory.excess(below + rate)) / 2
