"""The linear memory at the vocabulary and the width of a language model."""

from collections.abc import Mapping

import torch

from claims.memory.test_linear import CAPACITY, draw, number
from claims.memory.test_linear_compressed import low_rank_accuracy, subspaces
from recall_claims import Block, Cell, Control, MeanDifference, Plot, Region, cells, claim
from simulation.memory import linear as measured
from theory.memory import linear as memory

SMALL_VOCABULARY = cells([{"associations": 1024, "dim": 111, "width": 111, "queries": 1024}])
LARGE_VOCABULARIES = cells(
    {"associations": n, "dim": d, "width": d, "queries": 2048}
    for n, d in ((4096, 256), (16384, 512))
)
LANGUAGE_MODEL = cells(
    {"associations": 131072, "dim": d, "width": m, "queries": 16384}
    for d, m in ((1664, 1664), (4096, 640))
)


def at_the_limit(cell: Cell) -> float:
    """Accuracy if half were recalled at d^2 = 2 n log n at finite n."""
    n = number(cell)
    scale = memory.half_dim(n) / memory.half_dim_asymptotic(n)
    return memory.low_rank_accuracy(n, scale * cell.number("dim"), scale * cell.number("width"))


@claim(
    "B.recall-law-large-vocabulary",
    "The recall law at the vocabulary and the width of a language model",
    source=CAPACITY,
    latex=r"P_m = E_q P\left(T^2=\frac1{qd}\right),\quad q\sim\mathrm{Beta}\left(\frac m2,"
    r"\frac{d-m}2\right)",
    regime="""As many outputs as a vocabulary has tokens, d near the dimension at which half of the
        associations are recalled; at n = 131072, d = 4096 that takes a memory of rank 640, as one
        of full rank would recall everything.""",
    cells={
        "smoke": SMALL_VOCABULARY,
        "standard": LARGE_VOCABULARIES,
        "full": LARGE_VOCABULARIES + LANGUAGE_MODEL,
    },
    replicates=16,
    looks=3,
    rule=MeanDifference(Region(-0.02, 0.02)),
    why="""The theory states an error of 0.006; the rest is what some tens of replicates
        of 2048 queries resolve.""",
    predict=low_rank_accuracy,
    controls=(
        Control(
            "asymptotic",
            "half recalled at d^2 = 2 n log n, as if the limit were reached at these n",
            predict=at_the_limit,
        ),
        Control(
            "fifth-more",
            "capacity larger by a fifth",
            predict=lambda c: memory.low_rank_accuracy(
                number(c) / 1.2, c.number("dim"), c.number("width")
            ),
        ),
        Control(
            "half-the-constant",
            "d^2 = n log n",
            predict=lambda c: memory.accuracy(number(c) / 2, c.number("dim")),
        ),
    ),
    plot=Plot(kind="parity"),
    dtype="float32",
)
def large_vocabulary(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A sum of outer products answers by the same law when it holds as many associations as a
    language model has tokens. The pairs are exchangeable, so that the first few queries stand for
    all; each is scored against every output, tile by tile, and no n x n matrix is ever held."""
    found = []
    for rng in block.rngs:  # one at a time: its embeddings are all that memory must hold
        one = Block(rngs=(rng,), device=block.device, dtype=block.dtype)
        pairs = draw(cell, one)
        stored = measured.hebbian(pairs)
        if cell["width"] < cell["dim"]:
            stored = measured.low_rank(stored, subspaces(cell, one))
        found.append(measured.accuracy(pairs, stored, queries=cell["queries"]))
    return {"value": torch.cat(found)}
