"""The best linear memory: how many pairs any matrix can store, and how many training finds."""

from collections.abc import Mapping

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    CriticalLocation,
    Identity,
    Ordering,
    Plot,
    ProportionDifference,
    Region,
    Source,
    at,
    cells,
    claim,
    on,
    reads,
)
from simulation.memory import optimal as measured
from theory.memory import optimal as theory

REFERENCE = "theory/memory/optimal.py"
DERIVED = Source("B", "B1", provenance="derived", reference=REFERENCE)
ENOUGH = 0.99

SMALL = {8: (22, 24, 26), 12: (40, 43, 46)}
LARGE = {16: (62, 66, 70), 20: (88, 92, 97)}
HUGE = {24: (117, 122, 127), 32: (185, 192, 199), 48: (356, 368, 380)}
FIGURE = {8: (21, 23, 25), 11: (34, 36, 39), 16: (58, 62, 66)}
TRAINED = FIGURE | {22: (94, 99, 104)}
FEWER = {8: (20,), 12: (36,), 16: (56,)}
TRANSITION = {6: (14, 16, 18), 8: (22, 24, 26)}

critical = on(theory.critical_associations)
LIMIT = on(theory.associations_on_line, constant=2.0)
ASYMPTOTE = Control("asymptote", "d^2 = 2 n log n, as in the limit", LIMIT)
HEBBIAN = Control(
    "hebbian",
    "d^2 = 8 n log n, of the sum of outer products",
    on(theory.associations_on_line, constant=8.0),
)
FROZEN = Control(
    "frozen-competitors",
    "raises the correct scores and leaves the largest competitors where chance put them",
    on(theory.frozen_associations),
)


def points(counts: Mapping[int, tuple[int, ...]], **more: bool) -> tuple[Cell, ...]:
    """Cells at these numbers of associations, by dimension."""
    return cells(
        {"dim": dim, "associations": n, **more} for dim, row in counts.items() for n in row
    )


def best(cell: Cell, block: Block) -> torch.Tensor:
    """1 where some linear memory stores all pairs, else 0."""
    return measured.separable(block.draw(measured.draw, cell)).to(block.dtype)


def accuracy(pairs: measured.Pairs) -> torch.Tensor:
    """Share of pairs stored after training as the released code trains."""
    memory = measured.train(pairs, steps=4096, rate=1000.0, enough=ENOUGH)
    return measured.stored(pairs, memory).double().mean(1)


def enough(cell: Cell, block: Block) -> torch.Tensor:
    """Whether training stores 99% of the pairs."""
    return (accuracy(block.draw(measured.draw, cell)) >= ENOUGH).double()


@claim(
    "C.optimal-capacity",
    "The number of pairs that the best linear memory stores",
    source=Source("C", "C1"),
    predict=critical,
    regime="Random unit vectors; d from 8 to 20, in full to 48; n within 9% of the threshold.",
    cells={
        "smoke": points(SMALL),
        "standard": points(SMALL | LARGE),
        "full": points(SMALL | LARGE | HUGE),
    },
    rule=CriticalLocation(Region(0.95, 1.05), scan="associations"),
    why="""The kinematic formula places the median within one dimension of its mean, a relative
        1/d^2 or 1.6% at d = 8. It assumes a random subspace and independent cones; that the pairs
        share their outputs is not in it, and pilots with other seeds put it at 1%.""",
    replicates=64,
    looks=2,
    controls=(ASYMPTOTE, HEBBIAN, FROZEN),
    plot=Plot(x="associations", group=("dim",), collapse=True),
)
def capacity(cell: Cell, block: Block) -> torch.Tensor:
    """All of n random pairs can be stored by some d by d matrix up to the n at which the
    distance of a random vector from the normal cones uses up the d^2 parameters."""
    return best(cell, block)


@claim(
    "C.optimal-capacity-exponent",
    "The best memory's capacity grows as the power 1.45 of d at these sizes",
    source=Source("C", "C1"),
    latex=r"\frac{\partial\log n^*}{\partial\log d} = 1.45 < 2",
    predict=critical,
    regime="d from 6 to 18, n within 8% of the threshold",
    cells={"standard": points({6: (15, 16, 17), 10: (31, 33, 35), 18: (75, 79, 83)})},
    rule=CriticalExponents({"dim": 2.0}, 0.06, scan="associations", reference="prediction"),
    why="""An error of 1.6% in the threshold at one end of the grid, the formula's own at d = 8,
        would move the exponent by 0.015; the rest is what 256 replicates resolve.""",
    replicates=128,
    looks=2,
    controls=(
        Control("parameters", "n proportional to d^2", lambda c: c["dim"] ** 2),
        Control(
            "constant-coefficient",
            "d^2 = c n log n with one c at all sizes",
            on(theory.associations_on_line, constant=0.9),
        ),
    ),
    plot=Plot(x="associations", group=("dim",)),
)
def exponent(cell: Cell, block: Block) -> torch.Tensor:
    """Capacity is linear in the number of parameters only up to logarithms, which at these sizes
    lower its exponent in d from 2 to 1.45, further than a single logarithm would."""
    return best(cell, block)


@claim(
    "C.decoupled-capacity",
    "With competitors of its own for every input, capacity is the same",
    source=Source("C", "C2"),
    predict=critical,
    regime="the decoupled model: n outputs of its own for every input; d from 8 to 16",
    cells={
        "standard": points(SMALL | {16: LARGE[16]}, own_competitors=True),
        "full": points(SMALL | LARGE, own_competitors=True),
    },
    rule=CriticalLocation(Region(0.97, 1.03), scan="associations"),
    why="""In this model the cones are independent, as the formula has them. Its own error is 1/d^2,
        1.6% at d = 8; the rest is what 512 replicates resolve.""",
    replicates=128,
    looks=3,
    controls=(ASYMPTOTE, FROZEN),
    plot=Plot(x="associations", group=("dim",), collapse=True),
)
def decoupled_capacity(cell: Cell, block: Block) -> torch.Tensor:
    """The decoupled model, in which no two inputs share a competitor, stores as many pairs as the
    normal cones allow: as many as the memory itself, to within a few per cent."""
    return best(cell, block)


@claim(
    "C.decoupled-transition",
    "How sharply the pairs become too many",
    source=Source("C", "C2"),
    predict=on(theory.separable_probability),
    regime="the decoupled model across its transition; d = 6 and 8, and 12 in the full tier",
    cells={
        "smoke": points({6: TRANSITION[6]}, own_competitors=True),
        "standard": points(TRANSITION, own_competitors=True),
        "full": points(TRANSITION | {12: SMALL[12]}, own_competitors=True),
    },
    rule=ProportionDifference(Region(-0.08, 0.08)),
    why="""The formula would be exact for a random subspace; 4096 replicates resolve 0.04, and as
        much is allowed for the subspace.""",
    replicates={"smoke": 512, "standard": 1024},
    looks=3,
    controls=(
        at(
            "ten-percent",
            "a threshold 10% higher",
            associations=lambda c: round(c["associations"] / 1.1),
        ),
        Control(
            "infinitely-sharp",
            "all up to the threshold, none beyond",
            lambda c: float(c["associations"] < critical(c)),
        ),
    ),
    plot=Plot(x="associations", group=("dim",), log=""),
)
def decoupled_transition(cell: Cell, block: Block) -> torch.Tensor:
    """The conic kinematic formula gives not only where the transition is but how wide: the
    fluctuations of the intrinsic volumes of n independent cones."""
    return best(cell, block)


@claim(
    "C.optimal-capacity-asymptote",
    "The asymptotic law d^2 = 2 n log n, taken literally at small sizes",
    source=Source("C", "C1", "C2", provenance="reported", reference=REFERENCE),
    latex=r"d^2 = 2n\log n",
    predict=LIMIT,
    regime="d = 8 to 16, with shared competitors and with own ones, n across the true threshold",
    cells={
        "standard": points(SMALL) + points({16: LARGE[16]}, own_competitors=True),
        "full": points(SMALL | LARGE) + points({16: LARGE[16]}, own_competitors=True),
    },
    rule=CriticalLocation(Region(0.85, 1.15), scan="associations"),
    why="15% would make a law of the limit useful at these sizes",
    replicates=64,
    looks=2,
    expected="REFUTED",
    explanation="""This says nothing against the limit. The constant d^2 / (n log n) at capacity is
        0.85 at d = 8, 0.94 at 16, 1.10 at 64 and 1.17 at 128, and creeps towards 2 with
        corrections in 1/log n, so that the best memory stores almost twice the pairs that the
        asymptotic law allows. The theory that has this limit, C.optimal-capacity, holds at every
        size.""",
    plot=Plot(x="associations", group=("dim",)),
)
def asymptote(cell: Cell, block: Block) -> torch.Tensor:
    """The best linear memory, with shared competitors or in the decoupled model, stores n pairs
    up to d^2 = 2 n log n."""
    return best(cell, block)


@claim(
    "B.trained-memory-capacity",
    "Gradient training comes close to the best memory's capacity",
    source=Source("B", "B1", "B8"),
    latex=r"0.88 < N_{99\%}/n^* < 1.05",
    predict=critical,
    regime="""The published configuration: full-batch Adam at rate 1000, 4096 steps from zero,
        stopped at 99% accuracy; its four smallest dimensions, 8 to 22 (to 45 in the full tier).""",
    cells={
        "smoke": points({8: FIGURE[8]}),
        "standard": points(TRAINED),
        "full": points(TRAINED | {32: (165, 175, 185), 45: (282, 298, 314)}),
    },
    rule=CriticalLocation(Region(0.88, 1.05), scan="associations"),
    why="""No memory exceeds the best one, whose predicted capacity is right to 5%. Close to it the
        margins vanish and the steps run out; pilots with other seeds put the loss at 2% at d = 8
        and 6% at d = 22.""",
    replicates=32,
    looks=2,
    controls=(ASYMPTOTE, HEBBIAN, FROZEN),
    plot=Plot(x="associations", group=("dim",), collapse=True),
    dtype="float32",
)
def trained_capacity(cell: Cell, block: Block) -> torch.Tensor:
    """The largest number of pairs of which gradient training stores 99% is close to the largest
    number that any linear memory can store."""
    return enough(cell, block)


@claim(
    "B.linear-memory-line",
    "The published figure's line d^2 = 1.3 N log N",
    source=Source("B", "B8", provenance="reported", reference=REFERENCE),
    latex=r"d^2 = 1.3\,N\log N",
    predict=on(theory.associations_on_line, constant=1.3),
    regime="the published configuration at its three smallest dimensions, 8, 11 and 16",
    cells={"standard": points(FIGURE)},
    rule=CriticalLocation(Region(0.85, 1.15), scan="associations"),
    why="a line that describes the data should pass within 15% of them",
    replicates=32,
    looks=2,
    expected="REFUTED",
    explanation="""The line is drawn to show that N log N is proportional to d^2, and its constant
        fits the larger dimensions of the figure. The coefficient d^2 / (N log N) of the capacities
        is not constant: it rises from about 0.87 at d = 8 to 0.98 at d = 16, so that the smallest
        memories store up to a third more than the line says.""",
    plot=Plot(x="associations", group=("dim",)),
    dtype="float32",
)
def published_line(cell: Cell, block: Block) -> torch.Tensor:
    """The number N of pairs that a trained linear memory of dimension d stores with 99% accuracy
    lies on the line d^2 = 1.3 N log N."""
    return enough(cell, block)


@claim(
    "B.memory-ordering",
    "Training stores 99% of the pairs where the sum of outer products cannot",
    source=DERIVED,
    latex=r"P_{Hebb} < P_{trained}",
    regime="d = 8 to 24, at 0.85 times the number of pairs that the best memory stores",
    cells={
        "smoke": points({8: FEWER[8]}),
        "standard": points(FEWER),
        "full": points(FEWER | {24: (103,)}),
    },
    rule=Ordering(smaller="hebbian", larger="trained", margin=0.5),
    why="""The sum of outer products stores n pairs up to d^2 = 8 n log n, a quarter to a half of
        these; training is asked to succeed more often than not.""",
    replicates=32,
    looks=2,
    controls=(
        Control("swapped", "the other way round", rule=Ordering("trained", "hebbian")),
        Control("alike", "training gains less than 0.5", rule=Ordering("trained", "hebbian", -0.5)),
    ),
    plot=Plot(x="dim", y_label="99% stored by training", log=""),
    dtype="float32",
)
def ordering(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Of as many pairs as training nearly always stores to 99%, the sum of outer products nearly
    never stores as many."""
    pairs = block.draw(measured.draw, cell)
    hebbian = measured.stored(pairs, measured.hebbian(pairs)).double().mean(1)
    shares = {"hebbian": hebbian, "trained": accuracy(pairs)}
    return {name: (share >= ENOUGH).double() for name, share in shares.items()}


@claim(
    "B.trained-within-best",
    "Training stores nothing that the exact test calls impossible",
    source=DERIVED,
    latex=r"\mathrm{trained} \Rightarrow \mathrm{separable}",
    regime="d = 8 and 11 at the threshold, where about half of the sets can be stored",
    cells={"standard": points({8: (24,), 11: (37,)})},
    rule=Identity(0.5),
    why="a set of pairs is stored, and hence can be, or it is not",
    replicates=64,
    looks=1,
    controls=(reads("training-misses-none", "training finds a memory if there is one", "missed"),),
)
def within_best(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The best memory stores whatever a trained one stores, and now and then what training does
    not find."""
    pairs = block.draw(measured.draw, cell)
    possible, trained = measured.separable(pairs), accuracy(pairs) == 1
    return {"error": (trained & ~possible).double(), "missed": (possible & ~trained).double()}
