"""Linear associative memory: sizes at which it recalls half of the pairs, a share, or all pairs.

A memory of n pairs in d dimensions recalls a pair with probability P.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import torch

import recall_claims as rc
from claims.common import claim, measuring, tiers
from claims.memory.common import draw, majority
from simulation.memory import linear as measured
from theory.memory import linear as memory

SOURCE = rc.Source("B", "B1", provenance="derived", reference="theory/memory/linear.py")
# Multiples of a predicted dimension: near a region's edges, and beyond them.
NEAR, WIDE, CLOSE = (0.92, 0.97, 1.03, 1.08), (0.8, 1.0, 1.4), (0.92, 1.0, 1.1)
ACCURACY = rc.Plot(x="dim", group=("associations",), y_label="share of associations recalled")
MAJORITY = replace(ACCURACY, y_label="share of memories over half right", collapse=True)
WHOLE = replace(ACCURACY, y_label="share of memories with all right")
NO_LOG = rc.Control("no-log", "d^2 = 2 n", lambda c: math.sqrt(2 * c["associations"]))


def rungs(
    law: Callable[..., float],
    factors: Iterable[float],
    *numbers: int,
    to: Callable[[float], int] | None = None,
) -> tuple[rc.Cell, ...]:
    """Make cells at multiples of a predicted dimension, for these numbers of associations."""
    return rc.ladder(rc.grid(associations=numbers), "dim", rc.on(law), factors, to=to)


half = partial(rungs, memory.half_dim, NEAR)
below_limit = partial(rungs, memory.half_dim_asymptotic, (0.85, 0.9, 0.92, 0.95, 0.975, 1.03))
alls = partial(rungs, memory.all_dim, NEAR)
sharp = partial(rungs, memory.all_dim_asymptotic, (0.88, 0.94, 0.98, 1.03, 1.06, 1.12))
wide = partial(rungs, memory.half_dim, WIDE, to=round)
whole = partial(rungs, memory.all_dim_asymptotic, CLOSE, to=round)


def capacities(*dims: int) -> tuple[rc.Cell, ...]:
    """Make cells around the largest number of associations that are all recalled."""
    factors = (0.87, 0.94, 1.06, 1.14)
    return rc.ladder(rc.grid(dim=dims), "associations", rc.on(memory.capacity), factors)


def root_of(cell: rc.Cell, power: float) -> float:
    """Predict the dimension by a power law in n that is right at n = 64."""
    return float(memory.half_dim(64) * (cell["associations"] / 64) ** power)


def independent(cell: rc.Cell, own: float = 1.0) -> float:
    """Predict the accuracy for independent normal scores of variance n/d^2 + ``own``/d."""
    n, dim = cell["associations"], cell["dim"]
    return memory.accuracy_of_independent_scores(n, n / dim**2 + own / dim)


def hebbian_accuracy(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """Measure the share of the associations that W = sum_k u_k e_k^T recalls."""
    pairs = draw(cell, block)
    return measured.recalled_share(pairs, measured.hebbian(pairs))


def hebbian_whole(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """Return 1 where the sum of outer products recalls every association, else 0."""
    pairs = draw(cell, block)
    return measured.all_recalled(pairs, measured.hebbian(pairs))


majority_claim = measuring(
    lambda cell, block: majority(hebbian_accuracy(cell, block)),
    partial(claim, source=SOURCE, plot=MAJORITY),
)
whole_claim = measuring(hebbian_whole, partial(claim, source=rc.Source("C", "C1")))

linear_accuracy = measuring(hebbian_accuracy, partial(claim, source=SOURCE))(
    "B.linear-accuracy",
    "The theory predicts the accuracy of the linear memory across its transition to within 0.015",
    """A sum of outer products answers an input rightly if its own score exceeds the scores of all
    other outputs, which interfere through the overlaps of random embeddings.""",
    predict=rc.on(memory.linear_memory_accuracy),
    regime=rc.Regime(
        "n >= 30 and d >= 12, where the formula states its error",
        {"associations": rc.log_range(30, 1024), "dim": rc.log_range(12, 512)},
    ),
    cells={"standard": lambda: wide(128, 512), "full": lambda: wide(128, 512, 1024)},
    rule=rc.ProportionDifference(rc.Region(-0.015, 0.015)),
    why="The theory neglects O(1/n) and states an error of 0.006; the rest is statistical.",
    replicates=(128, 2048),
    controls=(
        rc.Control(
            "leading-noise",
            "independent normal scores of variance n/d^2",
            lambda c: independent(c, 0.0),
        ),
        rc.Control(
            "independent-scores",
            "independent normal scores of variance n/d^2 + 1/d",
            independent,
        ),
        rc.at(
            "tenth-more",
            "the accuracy of n/1.1 pairs: a tenth more capacity",
            associations=lambda c: c["associations"] / 1.1,
        ),
    ),
    plot=replace(ACCURACY, dear=True),
)

linear_threshold = majority_claim(
    "B.linear-threshold",
    "Half of the associations are recalled at the predicted dimension, within 3%",
    """Memories recall more than half of n associations beyond the dimension at which the predicted
    accuracy is 1/2. This dimension grows as n to the power 0.58, to within 0.03, for n = 131 to
    1024.""",
    predict=rc.on(memory.half_dim),
    regime=rc.Regime(
        "n >= 128, where whole dimensions are finer than the region",
        {"associations": rc.log_range(128, 4096)},
    ),
    size=lambda c: c["associations"] ** 2 / 2,
    cells=tiers(half, smoke=(512,), standard=(131, 419, 1024), full=(131, 419, 1024, 4096)),
    rule=rc.CriticalLocation(rc.Region(0.97, 1.03), scan="dim"),
    why="""An accuracy off by 0.006, as the theory states, moves the threshold by 0.6%; where the
        median accuracy is 1/2, so is the mean to 0.001. The sizes are such that whole dimensions
        lie just inside 3%.""",
    replicates={"smoke": (64, 4096), "standard": (32, 2048)},
    controls=(
        rc.Control(
            "asymptotic", "d^2 = 2 n log n, as in the limit", rc.on(memory.half_dim_asymptotic)
        ),
        rc.Control("root", "d as the root of n, without the logarithm", lambda c: root_of(c, 0.5)),
        rc.Control(
            "linear", "d linear in n, as for orthogonal embeddings", lambda c: root_of(c, 1.0)
        ),
        NO_LOG,
    ),
)

linear_threshold_asymptotic = majority_claim(
    "B.linear-threshold-asymptotic",
    "Half of n associations take somewhat less than 2 n log n parameters",
    """A typical association is recalled from d^2 = 2 n log n parameters on, up to finite-size
    corrections, which lower d by less than a tenth. So d^2 is linear in n up to a logarithm.""",
    latex=r"0.9 < \frac{d_{1/2}}{\sqrt{2n\ln n}} < 0.975",
    predict=rc.on(memory.half_dim_asymptotic),
    regime=rc.Regime(
        "every n from 30 on",
        {"associations": rc.log_range(30, 8192)},
    ),
    size=lambda c: c["associations"] ** 2 / 2,
    cells=tiers(below_limit, standard=(128, 1024), full=(128, 1024, 8192)),
    rule=rc.CriticalLocation(rc.Region(0.9, 0.975), scan="dim"),
    why="""the limit is out of reach: by the finite-size theory d is 5% to 8% below it here and
        still 7% at n = 10^6. The reason is that the largest of n scores is well below sqrt(2 log
        n). For every n from 30 to 10^6 the theory says 0.92 to 0.955. The region adds 2% on either
        side, for the theory's error and for rounding d up""",
    replicates=(32, 2048),
    controls=(
        rc.times(0.9, "far-below", "10% less in d, d^2 = 1.6 n log n"),
        rc.times(1.1, "beyond", "10% more in d, d^2 = 2.4 n log n"),
        rc.times(0.5**0.5, "half-the-constant", "d^2 = n log n"),
        rc.times(2, "all-pairs-constant", "d^2 = 8 n log n"),
        NO_LOG,
    ),
)


@rc.claim(
    "B.orthonormal-exact",
    "Orthonormal embeddings store d associations without error",
    source=SOURCE,
    latex=r"e_i^\top e_k = \delta_{ik} \Rightarrow We_i = u_i",
    regime=rc.Regime(
        "n <= d, any size: the statement is exact.",
        {"associations": rc.log_range(1, 512), "dim": rc.log_range(1, 512)},
        holds=lambda cell: cell["associations"] <= cell["dim"],
    ),
    cells=rc.grid(associations=16, dim=(16, 32)),
    rule=rc.Identity(1e-12),
    why="An identity; the tolerance is rounding.",
    replicates=2,
    controls=(
        rc.Control(
            "random",
            "the accuracy that random embeddings have",
            rc.on(memory.linear_memory_accuracy),
            rc.MeanDifference(
                rc.Region(-0.05, 0.05), observable="accuracy", method=rc.Deterministic()
            ),
        ),
    ),
)
def orthonormal_exact(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """Without overlaps there is no interference, and all of n <= d associations are recalled."""
    pairs = measured.orthonormal(
        replicates=block.replicates, **cell, device=block.device, dtype=block.dtype
    )
    found = measured.recalled_share(pairs, measured.hebbian(pairs))
    return {"error": 1 - found, "accuracy": found}


all_pairs = whole_claim(
    "C.hebbian-all-pairs",
    "The theory predicts how often all associations are recalled, to within 0.08",
    """Near the threshold the associations that fail are few and nearly independent. So none fails
    with probability exp(-n(1 - P)), where P is the accuracy on one association.""",
    predict=rc.on(memory.all_recalled),
    regime=memory.PAIRS,
    size=lambda c: c["associations"] ** 2 / 2,
    cells={"standard": whole(64, 128), "full": whole(64, 128, 512)},
    rule=rc.ProportionDifference(rc.Region(-0.08, 0.08)),
    why="""The rate of rare failures is right within 10%, which moves a probability near 1/2 by
        0.035; as much is left for failures that come together.""",
    replicates=(128, 8192),
    controls=(
        rc.at("half-the-constant", "d^2 = 4 n log n", dim=lambda c: math.sqrt(2) * c["dim"]),
        rc.Control(
            "independent-scores",
            "failures as with independent normal scores of variance n/d^2 + 1/d",
            lambda c: math.exp(-c["associations"] * (1 - independent(c))),
        ),
    ),
    plot=replace(WHOLE, dear=True),
)

all_pairs_threshold = whole_claim(
    "C.hebbian-all-pairs-threshold",
    "All associations are recalled at the predicted finite-size dimension, within 3%",
    """All n associations are recalled with probability 1/2 at the dimension where the expected
    number of failures is log 2.""",
    predict=rc.on(memory.all_dim),
    regime=rc.Regime("n >= 30", {"associations": rc.log_range(30, 1024)}),
    cells=tiers(alls, smoke=(112,), standard=(112, 228), full=(228, 1024)),
    rule=partial(rc.CriticalLocation, scan="dim"),
    why="""a rate of failures off by 10%, as the theory states, moves the threshold by 0.7%, or 2%
        with whole dimensions; the rest is sampling""",
    replicates={"smoke": (128, 8192), "standard": (64, 4096)},
    controls=(
        rc.Control("typical-constant", "2 n log n, as for a typical pair", rc.on(memory.half_dim)),
        rc.times(0.5**0.5, "independent-outputs", "d^2 = 4 n log n: right scores do not vary"),
        rc.times(1.1, "tenth-more", "10% more in d"),
    ),
    plot=replace(WHOLE, collapse=True),
)

eight_n_log_n = whole_claim(
    "C.hebbian-8-n-log-n",
    "The Hebbian memory recalls all n pairs from d^2 = 8 n log n",
    """The correlation-matrix memory recalls all n pairs once d^2 exceeds 8 n log n: four times the
    parameters that the typical pair needs.""",
    predict=rc.on(memory.all_dim_asymptotic),
    regime=memory.THRESHOLD.searched(
        "n >= 100",
        holds=lambda cell: cell["associations"] >= 100,
    ),
    size=lambda c: c["associations"] ** 2 / 2,
    cells={"standard": sharp(128, 256), "full": sharp(128, 512, 2048)},
    rule=rc.CriticalLocation(rc.Region(0.94, 1.06), scan="dim"),
    why="""the finite-size theory puts d at 1.02 of the limit for n = 128, 1.00 for 256, 0.96 for
        2048. At every size in reach d is near the limit, but not by convergence. The ratio falls on
        to 0.944 at n = 10^5, and its rise to 1 is out of reach""",
    replicates=(64, 2048),
    controls=(
        rc.times(1.15, "more", "15% more in d, d^2 = 10.6 n log n"),
        rc.times(0.5, "typical-constant", "d^2 = 2 n log n"),
        rc.times(0.5**0.5, "half-the-constant", "d^2 = 4 n log n"),
        rc.Control("no-log", "d^2 = 8 n", lambda c: math.sqrt(8 * c["associations"])),
    ),
    plot=replace(WHOLE, collapse=True),
)

superposition = whole_claim(
    "B.superposition",
    "Random embeddings store fewer than d associations at small d, many more at large d",
    """In d dimensions d orthogonal associations can be stored. Random associations interfere, but
    from about d = 30 on more than d of them are recalled without any error.""",
    source=SOURCE,
    latex=r"P_{all}(n_{all}) = \frac12,\quad n_{all}\sim\frac{d^2}{8\ln d^2}",
    predict=rc.on(memory.capacity),
    regime=rc.Regime(
        "d >= 21; on the grid the predicted number n_all goes from 0.86 d to 2.2 d",
        {"dim": rc.log_range(21, 256)},
    ),
    size=lambda c: 50 * c["dim"] ** 2,
    cells={"standard": lambda: capacities(21, 64, 96), "full": lambda: capacities(21, 64, 96, 256)},
    rule=rc.CriticalLocation(rc.Region(0.94, 1.06), scan="associations", rising=False),
    why="""The theory of all associations is right within 1.5% in d, which is 3% in n; a whole
        number of associations is another 3% at d = 21, where n_all is 18.""",
    replicates=(128, 8192),
    controls=(
        rc.times(1.13, "more", "13% more associations"),
        rc.Control("no-superposition", "as orthogonal ones, n = d", lambda c: c["dim"]),
        rc.at("typical", "the capacity for half of the pairs", dim=lambda c: 2 * c["dim"]),
    ),
    plot=rc.Plot(
        x="associations",
        group=("dim",),
        collapse=True,
        y_label="share of memories with all right",
    ),
)
