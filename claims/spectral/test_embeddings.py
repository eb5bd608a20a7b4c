"""Effect of the tokens' embeddings: none on two of the flows, a large one on sign flow (D4).

The matrix W_KQ gives S subjects and R relations their attention, and W_OV turns tokens into logits
of answers. Spectral flow follows the polar factor of the gradient, and sign flow its signs.
"""

import math
from functools import partial

import torch
from torch import Tensor

import recall_claims as rc
from claims.spectral.common import (
    START,
    disturbed,
    end,
    lasting,
    learned_ratio,
    learning_times,
    ratio,
    simulable,
    sizes,
    tuple_of,
    whole,
)
from simulation.spectral import facts, flows
from simulation.streams import Streams
from theory.spectral import flows as theory

REFERENCE = "theory/spectral/flows.md"
RUNS = {"gradient": 150.0, "spectral": 5.0, "sign": 1.5}
"""Duration of each flow: about the time until all facts are learned."""


def moved(cell: rc.Cell, block: rc.Block, flow: str) -> Tensor:
    """Measure how far apart two runs from one start end: (replicates,).

    The measure is the largest change of an entry from one run to the other, over the matrix's
    largest entry. The matrix is W_OV or W_KQ: the larger result counts. One run has one-hot
    embeddings. The other run has the same start in random orthonormal embeddings, and its result is
    rotated back. The start is disturbed, to break the task's symmetries.
    """
    s, r = cell["subjects"], cell["relations"]
    streams = block.draw(Streams, {})
    inputs, outputs = (facts.rotated(streams, count) for count in (s + r + 1, s * r))
    model = partial(facts.Facts, s, r, device=block.device, dtype=block.dtype)
    plain = model(replicates=block.replicates)
    turned = model(inputs=inputs, outputs=outputs)
    start = disturbed(plain.start(START, START), START)
    begin = facts.Weights(ov=outputs.mT @ start.ov @ inputs, kq=inputs.mT @ start.kq @ inputs)
    clock = flows.clock(RUNS[flow], 60)
    a = end(cell.replace(flow=flow), plain, clock, start)
    b = end(cell.replace(flow=flow), turned, clock, begin)
    pairs = ((a.ov, outputs @ b.ov @ inputs.mT), (a.kq, inputs @ b.kq @ inputs.mT))
    return torch.stack(
        [(one - two).abs().amax((1, 2)) / one.abs().amax((1, 2)) for one, two in pairs]
    ).amax(0)


@rc.claim(
    "D.equivariance",
    "Gradient and spectral flow do the same in any orthonormal embeddings",
    source=rc.Source("D", "D4", provenance="stated", reference=REFERENCE),
    latex=r"u\mapsto Uu,\ z\mapsto Zz:\quad W_{OV}(t)\mapsto U\,W_{OV}(t)\,Z^\top,\ "
    r"W_{KQ}(t)\mapsto Z\,W_{KQ}(t)\,Z^\top",
    regime=simulable(theory.FACTS, 256).searched(
        "uniformly random orthonormal embeddings of tokens and of answers; W_OV starts with added "
        "waves of size 0.01, longer than itself; until about the time of learning",
    ),
    size=lambda c: 30 * whole(c),
    cells={
        "smoke": sizes((4, 2), flow="gradient"),
        "standard": tuple(
            cell for flow in ("gradient", "spectral") for cell in sizes((8, 4), (4, 6), flow=flow)
        ),
    },
    replicates=8,
    rule=rc.Identity(1e-9),
    why="rounding, which the polar factor of a gradient with small singular values enlarges: in "
    "pilots it was 1e-12, and 1e-14 under gradient flow",
    controls=(rc.reads("sign-flow", "so does sign flow", "sign"),),
)
def equivariance(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """If an orthogonal map turns the embeddings, the matrices of gradient and spectral flow turn
    with them. So facts are learned at the same times."""
    return {"error": moved(cell, block, cell["flow"]), "sign": moved(cell, block, "sign")}


@rc.claim(
    "D.sign-flow-turns",
    "Sign flow learns other matrices in other orthonormal embeddings",
    source=rc.Source("D", "D4", provenance="stated", reference=REFERENCE),
    latex=r"u\mapsto Uu,\ z\mapsto Zz:\quad W_{OV}(t)\not\mapsto U\,W_{OV}(t)\,Z^\top",
    regime=simulable(theory.FACTS, 128).searched("as in D.equivariance", without=("flow",)),
    size=lambda c: 30 * whole(c),
    cells={"smoke": sizes((4, 2)), "standard": sizes((8, 4), (4, 6))},
    replicates=(24, 96),
    rule=rc.OneSided(lower=0.5, method=rc.Betting(0, 1)),
    why="half of the largest entry is far above numerical errors; in pilots differences are 1 or "
    "more, which count as 1",
    controls=(
        rc.reads("gradient", "gradient flow does too", "gradient"),
        rc.reads("spectral", "spectral flow does too", "spectral"),
    ),
)
def sign_flow_turns(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Sign flow does not turn with the embeddings, because signs are taken entry by entry, in
    coordinates that do not turn with them."""
    found = {flow: moved(cell, block, flow).clamp_max(1) for flow in RUNS}
    return {"value": found.pop("sign"), **found}


def tuples(*pairs: tuple[int, int]) -> tuple[rc.Cell, ...]:
    """Make cells for all eight choices of one-hot and Hadamard embeddings."""
    return tuple(
        cell
        for kinds in theory.EMBEDDINGS
        for cell in lasting(sizes(*pairs, flow="sign", embeddings=kinds))
    )


GROWING = lasting(sizes((4, 2), (4, 32), flow="sign", embeddings="HOH"))


def quarter_root(cell: rc.Cell) -> float:
    """Predict the ratio of the learning times, but wrongly for HOH embeddings.

    For HOH (Hadamard subjects and answers, one-hot relations) the prediction grows about as R^(1/4)
    from R = 2 on.
    """
    slower = (cell["relations"] / 2) ** -0.25 if tuple_of(cell) == "HOH" else 1.0
    return ratio(cell) * slower


@rc.claim(
    "D.sign-ratios",
    "Under sign flow the embeddings set the ratio of the learning times, by eight pairs of speeds",
    source=rc.Source("D", "D4", provenance="derived", reference="theory/spectral/flows.py"),
    predict=ratio,
    latex=r"\frac{(\alpha_0+\alpha_S'T_S)(\alpha_0+\beta_S'T_S)}{\sqrt R} = "
    r"\log\frac{(S-1)(1-\delta)}\delta",
    regime=simulable(theory.SIGN).searched(
        "one-hot (O) or Hadamard (H) embeddings of subjects, relations and answers; on the grid "
        "S > R and S < R, and for HOH also R from 2 to 32"
    ),
    size=whole,
    cells={"standard": tuples((16, 4)) + tuples((4, 16)) + GROWING},
    replicates=2,
    rule=rc.MeanRatio(rc.Region(0.9998, 1.0002), method=rc.Deterministic()),
    why="steps are exact for constant speeds; times are interpolated linearly between 200 of "
    "them, to 6e-5",
    controls=(
        rc.times(1.0005),
        rc.at("one-hot", "embeddings do not matter", embeddings="OOO"),
        rc.Control(
            "answers",
            "the answers' embeddings do not matter",
            lambda cell: ratio(cell.replace(embeddings=tuple_of(cell)[:2] + "O")),
        ),
        rc.Control("root", "sqrt(S/R)", lambda c: math.sqrt(c["subjects"] / c["relations"])),
        rc.Control("quarter-root", "the ratio for HOH grows as R to the power 1/4", quarter_root),
    ),
    plot=rc.Plot("parity", y_label="ratio of learning times", log="xy"),
)
def sign_ratios(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Each block of W_OV and W_KQ moves at a constant speed. The embeddings decide how much of this
    motion helps to answer: a fact that is spread over many coordinates is learned at another speed
    than a fact with one. With Hadamard subjects and answers, and one-hot relations (HOH), the ratio
    of the learning times grows as the root of R, up to a logarithm."""
    return learned_ratio(cell, block, 200)


ORDER = tuples((64, 4))
APART = 2.3


@rc.claim(
    "D.sign-order",
    "Sign flow learns subjects and relations together, far apart, or in the reverse order",
    source=rc.Source("D", "D4", provenance="stated", reference="theory/spectral/flows.md"),
    predict=lambda cell: theory.first(
        theory.Facts.of(cell), flow="sign", embeddings=tuple_of(cell), factor=APART
    ),
    latex=r"\frac{T_S}{T_R} < \frac1{2.3},\quad \in\Big[\frac1{2.3},2.3\Big],\quad > 2.3",
    regime=theory.SIGN.searched(
        "of the grid's eight embeddings two have the reverse order and one has gradient flow's, by "
        "a factor of 2.3; five have neither",
        duration=rc.log_range(0.5, 16.0),
    ),
    size=lambda c: 0.2 * whole(c),
    cells={"smoke": ORDER[1::5], "standard": ORDER},
    replicates=2,
    rule=rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Deterministic()),
    why="nothing is drawn, and no ratio is within 15% of 2.3 or 1/2.3: all eight must be right",
    controls=(
        rc.Control(
            "together", "together in all embeddings, as in one-hot ones", lambda cell: "together"
        ),
        rc.Control("relations", "relations always come first", lambda cell: "relation"),
    ),
    plot=rc.Plot("map", x="subjects", group=("embeddings",)),
)
def sign_order(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """With orthonormal embeddings sign flow can show no separation of the two learning times, a
    large separation, or the reverse order. (Three numbers are compared: 1 over each of the two
    learning times, and sqrt(2.3) times the geometric mean of these two. If the third number is the
    largest, the learning times differ by a factor below 2.3.)"""
    found = learning_times(cell, block, steps=30)
    return {
        "subject": 1 / found.subject,
        "relation": 1 / found.relation,
        "together": math.sqrt(APART) / (found.subject * found.relation).sqrt(),
    }
