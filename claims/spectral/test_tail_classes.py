"""One step on classes of unequal frequency: leads by Muon, and by Adam in random embeddings (H).

Exploratory claims are on ten steps of Adam. A class's lead is its own score less the mean of its
other scores. There are K classes.
"""

import math
from functools import partial

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import claim, measuring, relaxing, table
from claims.spectral.common import ALL
from simulation.spectral import flows, singular_values
from simulation.spectral import softmax_memory as memory
from simulation.spectral.facts import rotated
from simulation.streams import Streams
from theory.spectral import tail_classes as theory

derived = partial(rc.Source, "H", provenance="derived", reference="theory/spectral/tail_classes.py")


def task(cell: rc.Cell, block: rc.Block) -> memory.Memory:
    """Make the classes of a cell: groups by a power law, or two halves of a given imbalance."""
    like = torch.zeros((), device=block.device, dtype=block.dtype)
    power = cell["power"] if "power" in cell else -math.log2(cell["imbalance"])
    return memory.Memory.grouped(cell["items"], cell.get("groups", 2), power, 0.0, like)


def embeddings(cell: rc.Cell, block: rc.Block) -> tuple[Tensor, Tensor]:
    """Draw independent random orthonormal bases of answers and of queries: (R, K, K) each."""
    streams = Streams(block.rngs, block.device, block.dtype)
    return rotated(streams, cell["items"]), rotated(streams, cell["items"])


def first_gradient(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Compute the negative gradient at W = 0: (K, K)."""
    known = task(cell, block)
    return known.gradient(known.start()).matrix


def first_leads(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Compute the leads after Adam's first step, of size 1, in random embeddings: (R, K)."""
    step = memory.in_bases(flows.sign, *embeddings(cell, block))
    return memory.leads(step(first_gradient(cell, block)))


def of_group(leads: Tensor, cell: rc.Cell, group: int) -> Tensor:
    """Average the leads over the classes of a group; groups count from 1."""
    found: Tensor = leads.reshape(*leads.shape[:-1], cell.get("groups", 2), -1)
    return found[..., group - 1, :].mean(-1)


def work(cell: rc.Cell) -> float:
    """Estimate how many numbers the decompositions of (K, K) matrices handle."""
    return 4 * cell.number("items") ** 2


RANKS = table(
    "items groups power group",
    (16, 16, 1.0, 1),
    (16, 16, 1.0, 16),
    (64, 2, 3.0, 2),
    (64, 64, 1.5, 64),
    (4, 4, 8.0, 4),
)


@rc.claim(
    "H.muon-classes",
    "Muon's first step gives all classes nearly the same lead, except a class much rarer than all "
    "others",
    source=derived("H3", "H4"),
    predict=rc.on(theory.muon_lead),
    regime=theory.CLASSES,
    size=work,
    cells={"smoke": RANKS[:2], "standard": RANKS},
    rule=rc.MeanRatio(rc.Region(0.99999, 1.00001), method=ALL),
    why="exact in all embeddings; rounding is 1e-16 times the ratio of frequencies, at most 1e5",
    replicates=4,
    controls=(
        rc.Control("equal", "the same lead for all classes", lambda _: 1.0),
        rc.at("flatter", "as for frequencies to half the power", power=lambda c: c["power"] / 2),
        rc.Control(
            "infinite",
            "K/(K - 1) for all classes, without w",
            lambda c: c["items"] / (c["items"] - 1),
        ),
        rc.reads("gradient", "gradient descent's leads, in a step of the same length", "gradient"),
        rc.reads("sign", "Adam's leads in one-hot embeddings", "sign"),
    ),
    plot=rc.Plot("parity", y_label="lead after a step"),
)
def muon_classes(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """A class's lead, its own score less the mean of its other scores, is K/(K - 1) (1 - w). The
    weight w is the class's share in a sum that rare classes dominate. If n counts this class and
    all that are no more frequent, w is at most 1/n. So rare classes are learned as fast as frequent
    classes, except for a class much rarer than all others. With four classes of frequencies 1 to
    4^-8 its lead is a tenth of the other leads."""
    gradient = first_gradient(cell, block)
    found = memory.leads(memory.in_bases(singular_values.polar, *embeddings(cell, block))(gradient))
    one_hot = memory.leads(flows.sign(gradient))
    long = memory.leads(gradient) * (cell["items"] - 1) ** 0.5 / gradient.norm()
    return {
        "value": of_group(found, cell, cell["group"]),
        "gradient": of_group(long, cell, cell["group"]).expand(block.replicates),
        "sign": of_group(one_hot, cell, cell["group"]).expand(block.replicates),
    }


GAPS = table("items imbalance error", (128, 0.125, 0.1), (256, 0.5, 0.01), (256, 0.01, 0.01))


@rc.claim(
    "H.muon-worst-class",
    "If a step of Muon has taught the best class, the worst is behind by a gap of order (log K)/K",
    source=derived("H4"),
    predict=rc.on(theory.muon_gap),
    regime=theory.HALVES,
    size=work,
    cells={"smoke": GAPS[:1], "standard": GAPS},
    rule=rc.MeanRatio(rc.Region(0.995, 1.03), method=ALL),
    why="the next order adds a share of at most 0.3 log(K/eps)/K, 2.6% with terms in 1/K",
    replicates=2,
    controls=(
        rc.times(1.05),
        rc.times(0.95),
        rc.Control(
            "logarithm",
            "(log K)/K times the constant, without the error of the best class",
            lambda c: math.log(c["items"]) / theory_size(c) * theory.muon_gap(**c),
        ),
        rc.reads("gradient", "gradient descent's gap", "gradient"),
    ),
    plot=rc.Plot("parity", y_label="gap in log odds", log="xy"),
)
def muon_worst_class(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Half of the classes are r times as frequent as the other half. The size of the step is such
    that the best class is wrong with probability eps. Then the worst class is wrong with
    1 + O(log(K/eps)/K) times this probability. The claim predicts the gap, the difference of the
    two classes' log odds, with its constant. After a step of gradient descent the gap is K/sqrt(2)
    times as large, up to a factor of sqrt(1 + r^2)."""
    gradient = first_gradient(cell, block)
    step = memory.in_bases(singular_values.polar, *embeddings(cell, block))(gradient)
    gap = memory.worst_gap(step, cell["error"])
    descent = memory.worst_gap(gradient, cell["error"])
    return {"value": gap, "gradient": descent.expand(block.replicates)}


def theory_size(cell: rc.Cell) -> float:
    """Compute, to first order, the size of the step that brings the best class to its error."""
    return math.log((cell["items"] - 1) * (1 - cell["error"]) / cell["error"])


SIGNS = table(
    "items groups power group",
    (16, 4, 1.0, 4),
    (16, 4, 1.0, 1),
    (64, 2, 3.0, 2),
    (32, 8, 1.0, 8),
)


@claim(
    "H.adam-classes",
    "In random orthonormal embeddings frequency sets a class's lead after Adam's first step",
    source=derived("H3"),
    predict=rc.on(theory.adam_lead),
    regime=theory.NOT_RARE,
    size=work,
    cells={"smoke": SIGNS[:1], "standard": SIGNS},
    rule=rc.MeanRatio(rc.Region(0.97, 1.03)),
    why="exact at every K; 3% is what replicates resolve where leads are no larger than the "
    "scatter between embeddings",
    replicates=(512, 4096),
    controls=(
        rc.Control("equal", "2 for all classes, as in one-hot embeddings", lambda _: 2.0),
        rc.at("as-frequent", "as if classes were equally frequent", power=0.0),
        rc.at("squared", "as the square of the frequency", power=lambda c: 2 * c["power"]),
        rc.Control("limit", "the limit of many classes", lambda c: limit(c)),
    ),
    plot=rc.Plot("parity", y_label="mean lead after a step"),
)
def adam_classes(cell: rc.Cell, block: rc.Block) -> Tensor:
    """An entry of the gradient is a sum over classes, weighted by their frequencies. The entry has
    the sign of a rare class's own part only a little more often than not. So with p the vector of
    frequencies, leads are near sqrt(2/pi) K p/|p|; the prediction is exact for every K."""
    return of_group(first_leads(cell, block), cell, cell["group"])


def limit(cell: rc.Cell) -> float:
    """Predict Adam's lead by the limit of many classes."""
    items, groups = cell["items"], cell["groups"]
    weights = [group ** -cell["power"] for group in range(1, groups + 1)]
    length = math.sqrt(items / groups * sum(weight**2 for weight in weights))
    return float(math.sqrt(2 / math.pi) * items * weights[cell["group"] - 1] / length)


RARE = table("imbalance", (1 / 4,), (1 / 8,), (1 / 16,), (1 / 32,), items=64)


@claim(
    "H.adam-rare",
    "Under Adam in random embeddings the lead of rare classes is proportional to their frequency",
    source=derived("H3"),
    latex=r"m\propto r",
    regime="K = 64; half of the classes r times as frequent as the others, r from 1/32 to 1/4, "
    "where the others have nearly all of the frequencies' squared length",
    size=work,
    cells={"standard": RARE},
    rule=rc.Exponents({"imbalance": 1.0}, 0.06, method=rc.Student(spent=0.25)),
    why="the exact leads have 0.984 on this grid; 0.04 is what replicates resolve",
    replicates=(512, 2048),
    controls=(
        rc.power("muon", "independent of the frequency, as under Muon", imbalance=-1.0),
        rc.power("root", "as the square root of the frequency", imbalance=-0.5),
        rc.power("slightly", "as the frequency to the power 1.2", imbalance=0.2),
    ),
    plot=rc.Plot(x="imbalance", y_label="mean lead of rare classes", log="xy"),
)
def adam_rare(cell: rc.Cell, block: rc.Block) -> Tensor:
    """In random embeddings Adam is as unbalanced as gradient descent. Adam divides each entry of
    the gradient by its size, but each entry is a sum over all classes."""
    return of_group(first_leads(cell, block), cell, 2)


COUNT = 10
"""Number of Adam's steps up to the cell's time."""


def several_steps(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Divide the lead of rare classes by the lead of frequent classes after ten steps of Adam."""
    bases = embeddings(cell, block)
    rate = cell["time"] / COUNT
    moved = memory.adam_steps(task(cell, block), *bases, rate=rate, count=COUNT)
    leads = memory.leads(moved.matrix)
    return of_group(leads, cell, 2) / of_group(leads, cell, 1)


def first_ratio(cell: rc.Cell) -> float:
    """Predict the lead of rare over the lead of frequent classes after Adam's first step."""
    power = -math.log2(cell["imbalance"])
    rare, frequent = (theory.adam_lead(cell["items"], 2, power, group) for group in (2, 1))
    return rare / frequent


beyond = measuring(
    several_steps,
    relaxing(
        "Adam's leads",
        predict=first_ratio,
        latex=r"m_{rare}/m_{frequent}",
        source=derived("H5"),
        rule=rc.MeanRatio(rc.Region(0.9, 1.1)),
        replicates=(128, 512),
        size=work,
        controls=(
            rc.Control("equal", "the same lead for all classes", lambda _: 1.0),
            rc.times(1.25),
            rc.times(0.8),
        ),
    ),
)
HALF = table("imbalance", (1 / 4,), (1 / 8,), items=64)

adam_several_steps = beyond(
    "H.beyond-adam-steps",
    "Ten small steps of Adam are as unbalanced as one large step",
    "one step: ten steps of Adam as it is used, a tenth as long",
    "While all classes are still unlikely, small steps are as unbalanced as one large one.",
    regime="K = 64; half of the classes 1/4 or 1/8 times as frequent; steps add up to 0.1, after "
    "which frequent classes have 4 times their initial probability at most",
    cells={"standard": [cell.replace(time=0.1) for cell in HALF]},
    why="a ratio within a tenth of the prediction counts as equally unbalanced; a pilot (numpy, "
    "seed 1000) had 1.01 to 1.03 times the prediction",
)

adam_learned = beyond(
    "H.beyond-adam-learned",
    "Once frequent classes are learned, ten steps of Adam differ from one large step",
    "one step: ten steps of Adam as it is used, which add up to frequent classes' learning",
    "Once frequent classes are learned, the gradient comes from rare classes alone. Small steps "
    "are still as unbalanced as one large step.",
    regime="K = 64; half of the classes 1/4 or 1/8 times as frequent; steps add up to 0.55, after "
    "which frequent classes are right with probability 0.65",
    cells={"standard": [cell.replace(time=0.55) for cell in HALF]},
    why="as for H.beyond-adam-steps; a pilot (numpy, seed 1000) had 1.2 times the prediction",
)
