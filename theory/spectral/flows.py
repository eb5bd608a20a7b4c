r"""Gradient, spectral and sign flow on facts: four numbers describe a transformer's two matrices.

Derivation: flows.md. $S$ subjects and $R$ relations are uniform and independent, each pair has its
own answer, and token embeddings are orthonormal. The matrices $W_{OV}$ and $W_{KQ}$ stay on a
manifold of four coordinates, $\alpha_S$ and $\alpha_R$ of $W_{OV}$, $\beta_S$ and $\beta_R$ of
$W_{KQ}$, if all four start at $\alpha_0$. With

$$ x_S = \alpha_S\beta_S/\sqrt R,\quad q_S = x_S - \log(S-1),\quad e_S = 1/(1+e^{q_S}), $$

the probability that the answer names the right subject is $1-e_S$. The same holds for relations,
with $S$ and $R$ exchanged. The loss is $-\log(1-e_S) - \log(1-e_R)$.

* gradient: $\alpha_S' = \beta_Se_S/((S-1)\sqrt R)$, $\beta_S' = \alpha_Se_S/(S\sqrt R)$;
* spectral: $\alpha' = 1$, $\beta_S' = u_S/(\sqrt S|u|)$ with $u = (\alpha_Se_S, \alpha_Re_R)$;
* sign: constant $\alpha'$ and $\beta'$, which depend on the embeddings.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from scipy import integrate, special

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing

_SOURCE = "paper D, arXiv 2610.02798, D5; derived"

Flow = Literal["gradient", "spectral", "sign"]
Part = Literal["subject", "relation"]
PARTS: tuple[Part, Part] = ("subject", "relation")
Embeddings = Literal["OOO", "OOH", "OHO", "OHH", "HOO", "HOH", "HHO", "HHH"]
EMBEDDINGS: tuple[Embeddings, ...] = get_args(Embeddings)
"""Embeddings of subjects, relations and answers, one letter for each: O for one-hot, H for the
columns of a normalised Hadamard matrix."""


FACTS = Regime(
    "",
    {
        "subjects": log_range(2, 256),
        "relations": log_range(2, 64),
        "flow": ("gradient", "spectral"),
    },
)
"""Any number of facts."""
LEARNED = FACTS.searched(
    "from the manifold, until both errors are 0.1; S/R from 1/8 to 64",
    holds=lambda cell: (
        cell["relations"] <= 8 * cell["subjects"] <= 512 * cell["relations"]
        and _least(cell)
        <= cell["duration"] / _latest(cell, 0.1, cell.get("embeddings", "OOO"))
        <= 1.4
    ),
    duration=log_range(2.0, 8192),
)
"""Regime in which learning times and their ratios are exact, up to a simulation's steps."""
SPECTRAL = LEARNED.searched(flow=("spectral",), duration=log_range(2.0, 32))
SIGN = LEARNED.searched(
    "S and R powers of 2",
    subjects=[2**k for k in range(1, 7)],
    relations=[2**k for k in range(1, 6)],
    flow=("sign",),
    embeddings=EMBEDDINGS,
    duration=log_range(0.5, 8),
)
DECAYING = FACTS.searched(
    "from 10 times the learning time on",
    holds=lambda cell: (
        0.99 <= cell["duration"] / _latest(cell, 0.1) <= 2 and cell["time"] >= 10 * cell["duration"]
    ),
    flow=("gradient",),
    duration=log_range(16.0, 4096, per_octave=2),
    time=log_range(256, 1e7, per_octave=1),
    log_time=(1.0, 50.0),  # passed on to a plot
    part=PARTS,
)
FALLING = FACTS.searched(
    "at least 4 subjects and 4 relations, S/R from 1/4 to 4; from a time with an error of 0.01 or "
    "less to one at least 18% later, with an error of 1e-6 or more",
    holds=lambda cell: (
        cell["relations"] <= 4 * cell["subjects"] <= 16 * cell["relations"]
        and _latest(cell, 0.01) <= 1.045 * cell["begin"]
        and 1.18 * cell["begin"] <= cell["time"] <= 1.05 * _latest(cell, 1e-6)
    ),
    subjects=log_range(4, 256),
    relations=log_range(4, 64),
    flow=("spectral",),
    part=PARTS,
    begin=log_range(5.0, 32.0, per_octave=8),
    time=log_range(5.0, 32.0, per_octave=8),
)
"""Regime in which `spectral_decay_rate` is within 2%."""
PATHS = FACTS.searched(
    "from the manifold, until both errors are 0.02; under sign flow, as rounding hides small "
    "gradients, only until a part's error is 1e-8 for its log odds, or 1e-11 for the matrices",
    holds=lambda cell: (
        (cell["flow"] == "sign") is (cell["embeddings"] != "random")
        and cell["time"] <= 1.01 * _latest(cell, 0.02, cell["embeddings"])
        and (cell["flow"] != "sign" or cell["time"] <= _last(cell))
    ),
    flow=("gradient", "spectral", "sign"),
    embeddings=("random", "OOO", "OOH", "HOH", "HHH"),
    time=log_range(0.25, 1024, per_octave=2),
)
"""Regime in which the four coordinates determine both matrices, and so the model's log odds."""


def _least(cell: Mapping[str, Any]) -> float:
    """Duration, in units of `_latest`, in which both parts are surely learned."""
    if cell["flow"] == "gradient":
        return 1.001
    uneven = not 0.5 < cell["subjects"] / cell["relations"] < 2
    return 0.99 if cell["flow"] == "spectral" and uneven else 1.0


def _last(cell: Mapping[str, Any]) -> float:
    """Approximate time under sign flow at which rounding begins to hide a gradient."""
    if "part" not in cell:
        return min(_times(cell, 1e-11, cell["embeddings"]))
    subject, relation = _times(cell, 1e-8, cell["embeddings"])
    return subject if cell["part"] == "subject" else relation


def _latest(cell: Mapping[str, Any], error: float, embeddings: str = "OOO") -> float:
    """Approximate time at which both errors are ``error``; 0 where sizes allow no such embeddings.

    For a start of 0.01; within 2%, or 7% under spectral flow. The formulas below are not used,
    because regimes take this time as a limit up to which these formulas are tested.
    """
    if cell["flow"] == "spectral":
        sizes = cell["subjects"], cell["relations"]
        levels = sorted(math.log((own - 1) * (1 / error - 1)) for own in sizes)
        # Attention is shared evenly until one part is learned, and the other's alone from then on.
        low, high = (math.sqrt(sizes[0] * sizes[1]) * level for level in levels)
        turn = (1 - math.sqrt(0.5)) * math.sqrt(math.sqrt(2) * low)
        return float(turn / 2 + math.sqrt(turn**2 / 4 + high))
    return max(_times(cell, error, embeddings))


def _times(cell: Mapping[str, Any], error: float, embeddings: str = "OOO") -> list[float]:
    """Return about when the subject's and the relation's error are ``error``, for `_latest`."""
    sizes = cell["subjects"], cell["relations"]
    levels = [math.log((own - 1) * (1 / error - 1)) for own in sizes]
    times: list[float] = []
    for own, other, x, kind in zip(sizes, sizes[::-1], levels, embeddings, strict=False):
        if cell["flow"] == "gradient":
            first = 1e-4 / math.sqrt(other)
            saturated = float(special.expi(x) - special.expi(first)) / (own - 1)
            grown = math.log(x / first) + saturated
            times.append(math.sqrt(own * (own - 1) * other) / 2 * grown)
            continue
        hadamard = zip(embeddings, (*sizes, sizes[0] * sizes[1]), strict=False)
        if any(letter == "H" and size & (size - 1) for letter, size in hadamard):
            return [0.0, 0.0]
        speed = {
            "OO": 2 * math.sqrt(other),
            "OH": math.sqrt(own),
            "HO": math.sqrt(other),
            "HH": 1 / math.sqrt(own),
        }[kind + embeddings[2]]
        times.append(math.sqrt(x * math.sqrt(other) / speed))
    return times


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Numbers of subjects and relations, and the initial value of the four coordinates.

    Raises ValueError unless there are at least 2 subjects and relations, and the start is in
    (0, 0.1].
    """

    subjects: int
    relations: int
    start: float = 0.01

    def __post_init__(self) -> None:
        if min(self.subjects, self.relations) < 2 or not 0 < self.start <= 0.1:
            raise ValueError(f"{self}: at least 2 subjects and relations, and a start in (0, 0.1]")

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "Facts":
        """Take sizes and start from a mapping; other keys are ignored."""
        names = ("subjects", "relations", "start")
        return cls(**{name: parameters[name] for name in names if name in parameters})

    def seen_from(self, part: Part) -> tuple[int, int]:
        """Numbers of tokens of a part, and of the other part."""
        own, other = self.subjects, self.relations
        return (own, other) if part == "subject" else (other, own)


def _level(facts: Facts, part: Part, error: float) -> float:
    """Value of x at which the error probability is ``error``."""
    if not 0 < error < 1:
        raise ValueError(f"error {error} is not in (0, 1)")
    own, _ = facts.seen_from(part)
    return math.log(own - 1) + math.log1p(-error) - math.log(error)


def time_scale(facts: Facts, part: Part) -> float:
    r"""Time unit of gradient flow, $\kappa_S = \sqrt{S(S-1)R}$."""
    own, other = facts.seen_from(part)
    return math.sqrt(own * (own - 1) * other)


def _gradient_time(facts: Facts, part: Part, x: float) -> float:
    """Time at which gradient flow reaches ``x``."""
    own, other = facts.seen_from(part)
    scale, first = time_scale(facts, part), facts.start**2 / math.sqrt(other)
    if x <= first:
        return 0.0
    bend = facts.start**2 / (2 * scale)
    growth = math.asinh(x / bend) - math.asinh(first / bend)
    # Where x is of the order of the bend, e^x is still close to 1.
    felt = growth - math.log(x / first)
    saturation = special.expi(x) - special.expi(first) + felt
    return float(scale / 2 * (growth + saturation / (own - 1)))


def sign_rates(facts: Facts, part: Part, embeddings: str) -> tuple[float, float]:
    r"""Speeds $(\alpha', \beta')$ of the subject or relation part under sign flow.

    Raises ValueError for unknown embeddings, and for Hadamard embeddings unless sizes are powers of
    2.
    """
    if embeddings not in EMBEDDINGS:
        raise ValueError(f"embeddings {embeddings!r} are none of {', '.join(EMBEDDINGS)}")
    sizes = (facts.subjects, facts.relations, facts.subjects * facts.relations)
    for kind, size in zip(embeddings, sizes, strict=True):
        if kind == "H" and size & (size - 1):
            raise ValueError(f"Hadamard embeddings of {size} tokens: not a power of 2")
    own, other = facts.seen_from(part)
    token, answer = embeddings[["subject", "relation"].index(part)], embeddings[2]
    alpha = {
        "OO": 2 * math.sqrt(other),
        "OH": math.sqrt(own),
        "HO": math.sqrt(own * other),
        "HH": 1.0,
    }[token + answer]
    return alpha, 1.0 if token == "O" else 1 / math.sqrt(own)


@lru_cache(maxsize=256)
def _spectral(facts: Facts, duration: float) -> Any:
    """Integrate spectral flow up to ``duration``: alpha, beta_S and beta_R as functions of time."""
    s, r = facts.subjects, facts.relations

    def slope(_: float, state: Any) -> list[float]:
        alpha, beta_s, beta_r = state
        # alpha is common to both and drops out of u; of the errors only the ratio counts.
        log_s = special.log_expit(math.log(s - 1) - alpha * beta_s / math.sqrt(r))
        log_r = special.log_expit(math.log(r - 1) - alpha * beta_r / math.sqrt(s))
        u_s, u_r = (math.exp(x - max(log_s, log_r)) for x in (log_s, log_r))
        size = math.hypot(u_s, u_r)
        return [1.0, u_s / (size * math.sqrt(s)), u_r / (size * math.sqrt(r))]

    found = integrate.solve_ivp(
        slope,
        (0.0, duration),
        [facts.start] * 3,
        method="LSODA",
        rtol=1e-10,
        atol=1e-12,
        dense_output=True,
    )
    if not found.success:
        raise ValueError(f"{facts}: the equations are not solved until {duration}")
    return found.sol


def _strength(facts: Facts, part: Part, time: float, flow: Flow, embeddings: str) -> float:
    """Value of x_S or x_R, for ``part`` subject or relation, at a time."""
    _, other = facts.seen_from(part)
    if flow == "gradient":
        first = facts.start**2 / math.sqrt(other)
        return crossing.log_root(
            lambda x: _gradient_time(facts, part, x), first, level=time, tolerance=1e-12
        )
    if flow == "spectral":
        alpha, *betas = _spectral(facts, 2.0 ** math.ceil(math.log2(max(time, 1.0))))(time)
        beta = betas[0 if part == "subject" else 1]
    else:
        rates = sign_rates(facts, part, embeddings)
        alpha, beta = (facts.start + rate * time for rate in rates)
    return float(alpha * beta / math.sqrt(other))


@prediction(latex=r"q_S = \frac{\alpha_S(t)\,\beta_S(t)}{\sqrt R} - \log(S-1)", source=_SOURCE)
def log_odds(
    facts: Facts, part: Part, time: float, *, flow: Flow, embeddings: Embeddings = "OOO"
) -> float:
    """Log odds that the answer names the right subject, or relation, at a time.

    Args:
        facts: sizes and initial value.
        part: subject or relation.
        time: time of the flow.
        flow: gradient, spectral or sign flow.
        embeddings: kind of embeddings; only sign flow depends on it.

    Raises:
        ValueError: with sign flow, as in `sign_rates`.
    """
    own, _ = facts.seen_from(part)
    return _strength(facts, part, time, flow, embeddings) - math.log(own - 1)


@prediction(latex=r"T_S(\delta):\ e_S(T_S)=\delta", source=_SOURCE)
def learning_time(
    facts: Facts, part: Part, *, flow: Flow, error: float = 0.1, embeddings: Embeddings = "OOO"
) -> float:
    r"""Time at which the probability of a wrong subject, or relation, has fallen to a given error.

    It is 0 if the initial error is not larger. Gradient flow has a closed form, right to
    1e-5 of the time. With the error $\delta$ and $\kappa_S$ = `time_scale`, a shorter form is right
    to 0.3% for 2 subjects, and 2e-5 for 16:
    $$ T_S \simeq \frac{\kappa_S}2\left[\log\frac x{x_0} + \frac{\mathrm{Ei}(x)-
       \mathrm{Ei}(x_0)}{S-1}\right], \quad x=\log\frac{(S-1)(1-\delta)}\delta,\quad
       x_0=\frac{\alpha_0^2}{\sqrt R}. $$
    For sign flow the time solves a quadratic equation, and spectral flow is integrated.

    Raises:
        ValueError: the error is not in (0, 1), or embeddings are not as `sign_rates` asks.
    """
    level = _level(facts, part, error)
    own, other = facts.seen_from(part)
    if level <= facts.start**2 / math.sqrt(other):
        return 0.0
    if flow == "gradient":
        return _gradient_time(facts, part, level)
    if flow == "sign":
        a, b = sign_rates(facts, part, embeddings)
        half = facts.start * (a + b) / 2
        missing = level * math.sqrt(other) - facts.start**2
        return missing / (half + math.sqrt(half**2 + a * b * missing))
    # At most all of the attention's norm goes to one part: then x = t^2 / sqrt(own other).
    longest = 4 * math.sqrt(level) * (own * other) ** 0.25 + 4
    return crossing.log_root(
        lambda time: _strength(facts, part, time, flow, embeddings),
        1e-3,
        longest,
        level=level,
        tolerance=1e-9,
    )


@prediction(latex=r"\rho = T_S/T_R", source=_SOURCE)
def time_ratio(
    facts: Facts, *, flow: Flow, error: float = 0.1, embeddings: Embeddings = "OOO"
) -> float:
    r"""Learning time of the subjects over learning time of the relations.

    Gradient flow: $\frac SR\sqrt{\frac{R-1}{S-1}}$ times a ratio of logarithms.
    Arguments and ValueErrors as for `learning_time`.
    """
    subject, relation = (
        learning_time(facts, part, flow=flow, error=error, embeddings=embeddings)
        for part in ("subject", "relation")
    )
    return subject / relation


@prediction(latex=r"e_S \simeq \frac{\sqrt{S(S-1)R}}{2\,T\log T}", source=_SOURCE)
def gradient_error(facts: Facts, part: Part, time: float) -> float:
    r"""Probability of a wrong subject, or relation, under gradient flow at a time.

    At large times T, $Te_S(q_S+\log(S-1)) \to \kappa_S/2$ with $\kappa_S$ = `time_scale`, and
    $q_S = \log T$ up to $\log\log T$.
    """
    return float(special.expit(-log_odds(facts, part, time, flow="gradient")))


@prediction(
    latex=r"\frac{dq_S}{d(T^2)} = \frac{dq_R}{d(T^2)} \to \frac1{\sqrt{2SR}}", source=_SOURCE
)
def spectral_decay_rate(facts: Facts) -> float:
    r"""Rate of the final decay of both errors under spectral flow: they fall as exp(-rate T^2).

    In this phase the errors of subject and relation fall together, and attention divides such that
    $S\beta_S'^2 = R\beta_R'^2 = 1/2$. With two subjects or relations, or soon after an error of
    0.01, the rate is up to 4.5% off.
    """
    return 1 / math.sqrt(2 * facts.subjects * facts.relations)


def first(facts: Facts, *, flow: Flow, embeddings: Embeddings = "OOO", factor: float) -> str:
    """Name the part learned first, or "together" if the times' ratio is within ``factor``."""
    ratio = time_ratio(facts, flow=flow, embeddings=embeddings)
    if 1 / factor <= ratio <= factor:
        return "together"
    return "relation" if ratio > 1 else "subject"
