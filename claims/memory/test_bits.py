"""How many bits facts need, whatever the memory, and how many bits per weight memories reach."""

from typing import Any

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    MeanRatio,
    OneSided,
    Plot,
    Region,
    Source,
    cells,
    claim,
    grid,
)
from simulation.memory import bits as measured
from theory.memory import bits as theory

SOURCE = Source("B", "B7", provenance="derived", reference="theory/memory/bits.py")
TINY = grid(facts=4, outputs=2, bits=(0, 1, 2, 3, 4))
SEARCHED = TINY + grid(facts=3, outputs=4, bits=(0, 2, 3, 4, 6))
ROUNDING = 1e-9


def code(cell: Cell, factor: float = 1.0) -> dict[str, Any]:
    """Facts, outputs and (a multiple of) the bits of a memory, as the theory takes them."""
    if "bits" in cell:
        bits = factor * cell["bits"]
    else:
        bits = factor * cell["weight_bits"] * cell["dim"] ** 2
    return {"facts": cell["facts"], "outputs": cell["outputs"], "bits": bits}


def ceiling(cell: Cell, factor: float = 1.0) -> float:
    """Fano's bound on the accuracy."""
    return theory.accuracy_ceiling(**code(cell, factor))


def floor(cell: Cell, factor: float = 1.0) -> float:
    """The bound on the cross-entropy."""
    return theory.loss_floor(**code(cell, factor))


@claim(
    "B.bits-best-code",
    "No code of B bits is right more often than Fano's bound, and at the ends codes reach it",
    source=SOURCE,
    latex=r"B \ge N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]",
    regime="any sizes: here four facts of one bit, where every code can be tried",
    cells=TINY,
    replicates=2,
    looks=1,
    predict=ceiling,
    rule=OneSided(upper=ROUNDING),
    why="the bound is exact; nothing is random, and replicates agree",
    controls=(
        Control("half-the-bits", "half as many bits", predict=lambda cell: ceiling(cell, 0.5)),
        Control(
            "facts-one-by-one",
            "no code is better than a table of whole facts",
            predict=lambda cell: theory.one_by_one(**code(cell)),
        ),
    ),
    plot=Plot(x="bits", y_label="accuracy of the best code", log=""),
)
def best_code(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Of all ways to encode four facts in B bits and to decode them, none exceeds the accuracy that
    Fano's inequality allows; the best beat a table, and with no bit or a bit per fact they reach
    the bound."""
    best = measured.best_code_accuracy(**cell)
    return {"value": torch.full((block.replicates,), best)}


@claim(
    "B.bits-searched-loss",
    "No code of B bits has less cross-entropy than log M - B log 2 / N",
    source=SOURCE,
    latex=r"\mathrm{CE} \ge \log M-\frac{B\log2}N",
    regime="any sizes: here three and four facts, codes searched from random codewords",
    cells={
        "smoke": TINY,
        "standard": SEARCHED,
        "full": SEARCHED,
    },
    replicates=32,
    looks=2,
    predict=floor,
    rule=OneSided(lower=-ROUNDING),
    why="the bound is exact; where there is no bit, or a code for every function, the "
    "search reaches it",
    controls=(
        Control("half-the-bits", "half as many bits", predict=lambda cell: floor(cell, 0.5)),
        Control("no-bits", "the loss stays at log M", predict=lambda cell: floor(cell, 0.0)),
    ),
    plot=Plot(x="bits", group=("facts",), y_label="cross-entropy", log=""),
)
def searched_loss(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A memory of B bits can lower the cross-entropy of N facts by B log 2 in all, and a search for
    good codes gets near to it."""
    return {"value": measured.searched_loss(block.rngs, **cell)}


CODES = cells(
    {"facts": facts, "outputs": outputs, "bits": bits}
    for facts, outputs, bits in ((8, 2, 4), (16, 2, 8), (28, 2, 14), (12, 4, 12))
)


@claim(
    "B.bits-random-code",
    "The accuracy of the best of 2^B random codewords",
    source=SOURCE,
    latex=r"1-\delta=\frac1NE\max_{k\le2^B}X_k,\quad X_k\sim\mathrm{Bin}(N,1/M)",
    regime="half a bit per bit of the facts; any sizes, the mean is exact",
    cells={"smoke": CODES[:2], "standard": CODES, "full": CODES},
    replicates=256,
    looks=4,
    predict=lambda cell: theory.random_code_accuracy(**cell),
    rule=MeanRatio(Region(0.98, 1.02)),
    why="the formula is exact; 2% is what the replicates resolve",
    controls=(
        Control("bound", "the bound itself", predict=ceiling),
        Control(
            "facts-one-by-one",
            "a table of whole facts, the rest guessed",
            predict=lambda cell: theory.one_by_one(**code(cell)),
        ),
    ),
    plot=Plot(x="facts", group=("outputs",), y_label="accuracy", log=""),
)
def random_code(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A memory that stores which of 2^B shared random codewords agrees best with the facts is right
    as often as the largest of 2^B binomial variables says."""
    return {"value": measured.random_code_accuracy(block.rngs, **cell)}


@claim(
    "B.bits-fano-tight",
    "Random codes come within a few per cent of Fano's bound",
    source=SOURCE,
    latex=r"\lim_{N\to\infty}\frac1NE\max_{k\le2^B}X_k = 1-\delta(B/N)",
    regime="12 to 28 facts, half a bit per bit of the facts",
    cells={"standard": CODES[2:], "full": CODES[2:]},
    replicates=256,
    looks=3,
    predict=ceiling,
    rule=MeanRatio(Region(0.9, 1.0)),
    why="rate-distortion theory has the ratio tend to 1 as log(N)/N does; the best of "
    "finitely many codewords is 4% to 8% below at these sizes",
    controls=(
        Control(
            "facts-one-by-one",
            "the accuracy of a table is the most",
            predict=lambda cell: theory.one_by_one(**code(cell)),
        ),
        Control("twice-the-bits", "the bound at 2 B", predict=lambda cell: ceiling(cell, 2.0)),
    ),
    plot=Plot(kind="parity", y_label="accuracy"),
)
def fano_tight(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Fano's bound is what a memory can reach: codes of random words already come near to it."""
    return {"value": measured.random_code_accuracy(block.rngs, **cell)}


OVERLOADED = cells(
    {"facts": facts, "outputs": outputs, "dim": dim, "weight_bits": bits}
    for facts, outputs, dim, bits in (
        (128, 64, 32, 1),
        (512, 64, 32, 1),
        (64, 64, 16, 1),
        (128, 64, 16, 2),
        (256, 64, 16, 4),
    )
)


@claim(
    "B.bits-quantised-accuracy",
    "Linear memories of weights of k bits respect Fano's bound",
    source=SOURCE,
    latex=r"kd^2 \ge N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]",
    regime="sums of outer products with weights rounded to 1, 2 and 4 bits, with as many facts as "
    "their bits could hold, or several times more",
    cells={"smoke": OVERLOADED[:3:2], "standard": OVERLOADED, "full": OVERLOADED},
    replicates=32,
    looks=2,
    predict=ceiling,
    rule=OneSided(upper=0.0),
    why="a bound",
    controls=(
        Control(
            "tenth-of-a-bit",
            "a bit of the weights holds at most a tenth of a bit",
            predict=lambda cell: ceiling(cell, 0.1),
        ),
        Control("attained", "the bound is exceeded", rule=OneSided(lower=0.0)),
    ),
    plot=Plot(kind="parity", y_label="accuracy"),
)
def quantised_accuracy(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A memory of weights of few bits is a code of that many bits, so that Fano's inequality bounds
    its accuracy; Hebbian weights of one bit use 7% to 16% of it."""
    return {"value": answers(cell, block).accuracy}


@claim(
    "B.bits-quantised-loss",
    "Linear memories of weights of k bits respect the bound on the cross-entropy",
    source=SOURCE,
    latex=r"\mathrm{CE} \ge \log M-\frac{kd^2\log2}N",
    regime="as for the accuracy; probabilities are the softmax at its best temperature",
    cells={"smoke": OVERLOADED[:3:2], "standard": OVERLOADED, "full": OVERLOADED},
    replicates=32,
    looks=2,
    predict=floor,
    rule=OneSided(lower=0.0),
    why="a bound",
    controls=(
        Control(
            "quarter-of-a-bit",
            "a bit of the weights lowers the loss by at most a quarter of log 2",
            predict=lambda cell: floor(cell, 0.25),
        ),
        Control("attained", "the loss is lower than the bound", rule=OneSided(upper=0.0)),
    ),
    plot=Plot(kind="parity", y_label="cross-entropy"),
)
def quantised_loss(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A memory of weights of few bits cannot lower the cross-entropy by more than its bits;
    overloaded Hebbian weights of one bit lower it by a third of that."""
    return {"value": answers(cell, block).loss}


def answers(cell: Cell, block: Block) -> measured.Answers:
    """What a linear memory of quantised weights answers."""
    return measured.quantised_memory(block.rngs, **cell, device=block.device, dtype=block.dtype)


def memories(*sizes: tuple[str, int, int]) -> tuple[Cell, ...]:
    """Cells of constructions, dimensions and widths."""
    return cells({"construction": name, "dim": dim, "width": width} for name, dim, width in sizes)


MEMORIES = memories(
    ("hebbian", 96, 96), ("one-bit", 96, 96), ("low-rank", 128, 64), ("cosine", 64, 256)
)
LARGE = memories(
    ("hebbian", 192, 192), ("one-bit", 192, 192), ("low-rank", 256, 128), ("cosine", 128, 256)
)


@claim(
    "B.bits-per-parameter",
    "Bits per weight that each construction stores at its 99% capacity",
    source=SOURCE,
    latex=r"\frac{\log_2(n^*-e)!}{\#\text{weights}},\quad P(n^*)=0.99",
    regime="permutations of 150 to 500 pairs, in the full tier up to 975, unit embeddings; as many "
    "pairs as each construction recalls to 99%",
    cells={"smoke": MEMORIES[1:2], "standard": MEMORIES, "full": MEMORIES + LARGE},
    replicates=32,
    looks=4,
    predict=lambda cell: theory.bits_per_parameter(**cell),
    rule=MeanRatio(Region(0.88, 1.12)),
    why="the theory states 6% for the capacity, from the few errors allowed; the rest is "
    "statistical",
    controls=(
        Control(
            "bit-per-weight",
            "every weight stores one bit, which is the bound for weights of one bit",
            predict=lambda cell: 1.0,
        ),
        Control(
            "all-as-hebbian",
            "what counts is the number of weights alone",
            predict=lambda cell: theory.bits_per_parameter(
                "hebbian",
                dim=round((cell["dim"] * cell["width"]) ** 0.5),
                width=cell["width"],
            ),
        ),
    ),
    plot=Plot(kind="parity", x_label="predicted", y_label="bits per weight"),
)
def bits_per_parameter(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A memory stores a fixed fraction of a bit per weight, which grows slowly with its size: 0.18
    for sums of outer products of 64-bit weights, 0.11 if only their signs are kept. Weights of k
    bits bound it by k; no theorem gives a bound for real weights."""
    found = measured.bits_per_weight(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": found}
