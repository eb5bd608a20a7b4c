"""Bits that any memory of facts needs, and bits per weight that memories store."""

import math
from collections.abc import Callable
from functools import partial

import torch

import recall_claims as rc
from claims.common import claim, measuring, table
from simulation.memory import bits as measured
from theory.memory import bits as theory

SOURCE = rc.Source("B", "B7", provenance="derived", reference="theory/memory/bits.py")
bits_claim = partial(claim, source=SOURCE)
coded = measuring(
    lambda cell, block: measured.random_code_accuracy(block.rngs, **cell),
    partial(bits_claim, size=lambda c: 2 ** c["bits"] * c["facts"]),
)
TINY = rc.grid(facts=4, outputs=2, bits=(0, 1, 2, 3, 4))
CODES = table("facts outputs bits", (8, 2, 4), (16, 2, 8), (28, 2, 14), (12, 4, 12))
OVERLOADED = table(
    "facts dim weight_bits",
    *((256, 32, 1), (512, 32, 1), (64, 16, 1), (128, 16, 2), (256, 16, 4)),
    outputs=64,
)
MEMORIES = (
    *rc.grid(construction=("hebbian", "one-bit"), dim=96, width=96),
    rc.Cell(construction="low-rank", dim=128, width=64),
    rc.Cell(construction="cosine", dim=64, width=256),
)
LARGE = (
    *rc.grid(construction=("hebbian", "one-bit"), dim=192, width=192),
    rc.Cell(construction="low-rank", dim=256, width=128),
    rc.Cell(construction="cosine", dim=128, width=256),
)
ROUNDING = 1e-9
SHARE, LOSS = rc.Betting(0, 1), rc.Betting(0, 5)

HALF_THE_BITS = rc.at("half-the-bits", "half as many bits", bits=lambda c: c["bits"] / 2)
ONE_BY_ONE = rc.Control(
    "facts-one-by-one", "a table of whole facts, the rest guessed", rc.on(theory.one_by_one)
)


def functions(cell: rc.Cell) -> int:
    """Count the functions from facts to outputs."""
    return int(cell["outputs"] ** cell["facts"])


def codes(cell: rc.Cell) -> int:
    """Count the sets of 2^bits functions that include the zero function."""
    return math.comb(functions(cell) - 1, 2 ** cell["bits"] - 1)


def of_weights(law: Callable[..., float]) -> Callable[[rc.Cell], float]:
    """Predict a bound from the bits of all d^2 weights."""
    predict = rc.on(law)
    return lambda c: float(predict(c.replace(bits=c["weight_bits"] * c["dim"] ** 2)))


@rc.claim(
    "B.bits-best-code",
    "No code of B bits exceeds Fano's bound; with no bit, or a bit per fact, codes reach it",
    source=SOURCE,
    latex=r"B \ge N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]",
    predict=rc.on(theory.accuracy_ceiling),
    regime=theory.CODES.searched(
        "no more codewords than functions, of which there are up to 4,096; up to 100,000 codes, "
        "so that each can be tried. The grid has four facts of one bit",
        holds=lambda cell: functions(cell) <= 4096 and 0 < codes(cell) <= 100_000,
        facts=range(1, 7),
        outputs=range(2, 9),
        bits=range(5),
    ),
    size=lambda c: functions(c) * (functions(c) * c["facts"] + codes(c) * 2 ** c["bits"]),
    cells=TINY,
    rule=rc.OneSided(upper=ROUNDING, method=rc.Deterministic()),
    why="the bound is exact; nothing is random, and replicates agree",
    replicates=2,
    controls=(HALF_THE_BITS, ONE_BY_ONE),
    plot=rc.Plot(x="bits", y_label="accuracy of the best code", log=""),
)
def best_code(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """No code that stores four facts in B bits exceeds the accuracy that Fano's inequality allows.
    With one or two bits, the best codes are more accurate than a table of some of the facts. With
    no bit, or with a bit per fact, they reach the bound."""
    return torch.full((block.replicates,), measured.best_code_accuracy(**cell), dtype=block.dtype)


@rc.claim(
    "B.bits-searched-loss",
    "No code of B bits has less cross-entropy per fact than log M - B log 2 / N",
    source=SOURCE,
    latex=r"\mathrm{CE} \ge \log M-\frac{B\log2}N",
    predict=rc.on(theory.loss_floor),
    regime=theory.CODES.searched(
        "no more codewords than functions, up to 2^20 pairs of both; codes searched from random "
        "codewords",
        holds=lambda cell: 2 ** cell["bits"] <= functions(cell) <= 2 ** (20 - cell["bits"]),
        facts=range(1, 10),
        outputs=range(2, 17),
        bits=range(13),
    ),
    size=lambda c: 10 * 2 ** c["bits"] * functions(c),
    cells={"smoke": TINY, "standard": TINY + rc.grid(facts=3, outputs=4, bits=(0, 2, 3, 4, 6))},
    rule=rc.OneSided(lower=-ROUNDING, method=rc.Deterministic()),
    why="""the bound holds for every code, so that the best code found is judged; with no bit, or a
        code for every function, the search reaches it""",
    replicates=64,
    controls=(HALF_THE_BITS, rc.at("no-bits", "the loss stays at log M", bits=0)),
    plot=rc.Plot(x="bits", group=("facts",), y_label="cross-entropy (nats)", log=""),
)
def searched_loss(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A memory of B bits can lower the total cross-entropy of N facts by at most B log 2, and a
    search for good codes comes near this bound."""
    return measured.searched_loss(block.rngs, **cell)


random_code = coded(
    "B.bits-random-code",
    "The best of 2^B random codewords is as accurate as the exact formula says",
    """A memory stores which of 2^B shared random codewords agrees best with the facts. The number
    of its right facts is then the largest of 2^B binomial variables.""",
    predict=rc.on(theory.random_code_accuracy),
    regime=theory.CODES.searched(
        "up to 2^24 letters in all codewords; the mean is exact; the grid has half as many bits "
        "as the facts have",
        holds=lambda cell: 2 ** cell["bits"] * cell["facts"] <= 2**24,
        bits=range(25),
    ),
    cells={"smoke": CODES[:2], "standard": CODES},
    rule=rc.MeanRatio(rc.Region(0.98, 1.02), method=rc.Betting(0, 1)),
    why="the formula is exact; 2% is what the replicates resolve",
    replicates=(128, 8192),
    controls=(
        rc.times(1.04, "more", "4% more facts right"),
        rc.Control("bound", "Fano's bound itself", rc.on(theory.accuracy_ceiling)),
        ONE_BY_ONE,
    ),
    plot=rc.Plot(x="facts", group=("outputs",), y_label="accuracy", log=""),
)

fano_tight = coded(
    "B.bits-fano-tight",
    "Random codes come within a few per cent of Fano's bound",
    "Memories can nearly reach Fano's bound: codes of random words come within a few per cent.",
    latex=r"\lim_{N\to\infty}\frac1NE\max_{k\le2^B}X_k = 1-\delta(B/N)",
    predict=rc.on(theory.accuracy_ceiling),
    regime=theory.CODES.searched(
        "12 facts and more; half as many bits as the facts have",
        holds=lambda cell: abs(2 * cell["bits"] - cell["facts"] * math.log2(cell["outputs"])) <= 1,
        facts=range(12, 29),
        outputs=(2, 3, 4),
        bits=range(6, 15),
    ),
    cells={"standard": CODES[2:]},
    rule=rc.MeanRatio(rc.Region(0.9, 1.0), method=rc.Betting(0, 1)),
    why="""by rate-distortion theory the ratio is below 1 by order log(N)/N; by the law of the best
        of finitely many codewords this is 4% to 8% at these sizes""",
    replicates=(64, 4096),
    controls=(
        rc.times(1.12),
        ONE_BY_ONE,
        rc.at("twice-the-bits", "the bound at 2 B", bits=lambda c: 2 * c["bits"]),
    ),
    plot=rc.Plot(kind="parity", y_label="accuracy"),
)

QUANTISED = theory.CODES.searched(
    "fewer bits than the facts have, so that the bound says something",
    holds=lambda cell: (
        cell["weight_bits"] * cell["dim"] ** 2 < cell["facts"] * math.log2(cell["outputs"])
    ),
    without=("bits",),
    facts=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    dim=(2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128),
    weight_bits=range(1, 9),
)
quantised = partial(
    bits_claim, cells={"smoke": OVERLOADED[:3:2], "standard": OVERLOADED}, replicates=(8, 256)
)


@quantised(
    "B.bits-quantised-accuracy",
    "Linear memories with weights of k bits respect Fano's bound",
    latex=r"kd^2 \ge N[\log_2M-h_2(\delta)-\delta\log_2(M-1)]",
    predict=of_weights(theory.accuracy_ceiling),
    regime=QUANTISED.searched(
        "sums of outer products with rounded weights; the grid has 1.5 to 3 times as many facts as "
        "the weights' bits could hold",
    ),
    rule=rc.OneSided(upper=0.0, method=SHARE),
    why="a bound: no accuracy may exceed it",
    controls=(
        rc.at(
            "twentieth-of-a-bit",
            "a bit of the weights holds at most a twentieth of a bit",
            weight_bits=lambda c: c["weight_bits"] / 20,
        ),
        rc.Control(
            "attained",
            "the memories reach or exceed the bound",
            rule=rc.OneSided(lower=0.0, method=SHARE),
        ),
    ),
    plot=rc.Plot(kind="parity", y_label="accuracy"),
    size=lambda c: 3 * (c["facts"] * c["outputs"] + c["dim"] ** 2),
)
def quantised_accuracy(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A memory with weights of few bits is a code of all these bits, so Fano's inequality bounds
    its accuracy. Hebbian weights of one bit use about a tenth of their bits."""
    return block.draw(measured.quantised_memory, cell).accuracy


@quantised(
    "B.bits-quantised-loss",
    "Linear memories with weights of k bits respect the bound on the cross-entropy",
    latex=r"\mathrm{CE} \ge \log M-\frac{kd^2\log2}N",
    predict=of_weights(theory.loss_floor),
    regime=QUANTISED.searched(
        """sums of outer products with rounded weights; probabilities are the softmax at its best
        temperature; up to 100 outputs, for losses below 5""",
        holds=lambda cell: cell["outputs"] <= 100,
    ),
    rule=rc.OneSided(lower=0.0, method=LOSS),
    why="""a bound: no loss may be below it. Losses are between 0 and log 64 = 4.2, or slightly more
        where the highest temperature tried is too low""",
    controls=(
        rc.at(
            "sixth-of-a-bit",
            "a bit of the weights lowers the loss by at most a sixth of log 2",
            weight_bits=lambda c: c["weight_bits"] / 6,
        ),
        rc.Control(
            "attained",
            "the loss reaches the bound or is lower",
            rule=rc.OneSided(upper=0.0, method=LOSS),
        ),
    ),
    plot=rc.Plot(kind="parity", y_label="cross-entropy (nats)"),
    size=lambda c: 12 * c["facts"] * c["outputs"] + c["dim"] ** 2 / 2,
)
def quantised_loss(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A memory with weights of few bits lowers the total cross-entropy at most by the bits of all
    its weights. Overloaded Hebbian weights of one bit lower it by a third of their bits."""
    return block.draw(measured.quantised_memory, cell).loss


@bits_claim(
    "B.bits-per-parameter",
    "Each construction stores the predicted bits per weight at its 99% capacity, within 12%",
    predict=rc.on(theory.bits_per_parameter),
    regime=theory.CONSTRUCTIONS.searched(
        "permutations and unit embeddings; the grid has as many pairs as each construction "
        "recalls to 99%",
    ),
    size=lambda c: 32 * c["dim"] * (c["dim"] + c["width"]),
    cells={"smoke": MEMORIES[1:2], "standard": MEMORIES, "full": MEMORIES + LARGE},
    rule=rc.MeanRatio(rc.Region(0.88, 1.12), method=rc.Student(spent=0.05)),
    why="the theory states an error of 6%: the n/100 errors allowed at capacity are few, and "
    "fluctuate. The rest is sampling error",
    replicates=(128, 256),
    controls=(
        rc.times(1.25, "quarter-more", "a quarter more bits"),
        rc.Control("bit-per-weight", "one bit, the bound for weights of one bit", lambda _: 1.0),
        rc.at(
            "all-as-hebbian",
            "the bits of outer products with as many weights",
            construction="hebbian",
            dim=lambda c: round((c["dim"] * c["width"]) ** 0.5),
        ),
    ),
    plot=rc.Plot(kind="parity", y_label="bits per weight"),
)
def bits_per_parameter(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A memory stores a fraction of a bit per weight, which grows slowly with the memory's size.
    Sums of outer products store 0.18 bits with 32-bit weights, and 0.11 if only the signs are kept.
    Weights of k bits store at most k; no theorem gives a bound for real weights."""
    return block.draw(measured.bits_per_weight, cell)
