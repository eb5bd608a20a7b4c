"""Whether it matters how tokens are embedded: not to two flows, very much to sign flow (D4)."""

import math
from collections import deque

import torch
from torch import Tensor

from claims.spectral.common import START, lasting, learning_times, path, ratio, sizes, tuple_of
from recall_claims import (
    Betting,
    Block,
    Cell,
    Control,
    Deterministic,
    Identity,
    MeanRatio,
    OneSided,
    Plot,
    Region,
    Source,
    WinnerShare,
    at,
    claim,
    reads,
    times,
)
from simulation.spectral import facts, flows
from theory.spectral import flows as theory

REFERENCE = "theory/spectral/flows.md"
LIKELY = {"gradient": (150.0, 60), "spectral": (5.0, 60), "sign": (1.5, 60)}


def moved(cell: Cell, block: Block, flow: str) -> Tensor:
    """How far two runs are from the same matrices, relative to the largest entry, (replicates,).

    One has one-hot embeddings; the other the same start in random orthonormal embeddings, and its
    result is turned back. The start is off the manifold, so that no symmetry of the task helps.
    """
    s, r = cell["subjects"], cell["relations"]
    inputs, outputs = facts.rotated(block.rngs, s + r + 1), facts.rotated(block.rngs, s * r)
    given = {"device": block.device, "dtype": block.dtype}
    plain = facts.Facts(s, r, replicates=block.replicates, **given)
    turned = facts.Facts(s, r, inputs=inputs, outputs=outputs, **given)
    inputs, outputs = (x.to(block.device, block.dtype) for x in (inputs, outputs))
    start = plain.start(START, START)
    waves = torch.arange(start.ov[0].numel()).to(start.ov).cos().view_as(start.ov[0])
    start = facts.Weights(ov=start.ov + START * waves, kq=start.kq)
    duration, steps = LIKELY[flow]
    ends = [
        deque(path(cell.replace(flow=flow), model, flows.clock(duration, steps), at), maxlen=1)[0]
        for model, at in (
            (plain, start),
            (
                turned,
                facts.Weights(ov=outputs.mT @ start.ov @ inputs, kq=inputs.mT @ start.kq @ inputs),
            ),
        )
    ]
    back = facts.Weights(ov=outputs @ ends[1].ov @ inputs.mT, kq=inputs @ ends[1].kq @ inputs.mT)
    parts = ((ends[0].ov, back.ov), (ends[0].kq, back.kq))
    return torch.stack([(a - b).abs().amax((1, 2)) / a.abs().amax((1, 2)) for a, b in parts]).amax(
        0
    )


@claim(
    "D.equivariance",
    "Gradient and spectral flow do the same in any orthonormal embeddings",
    source=Source("D", "D4", provenance="stated", reference=REFERENCE),
    latex=r"W_{OV}(UZ_0)=U\,W_{OV}(Z_0)\,Z^\top",
    regime="uniformly random orthonormal embeddings of tokens and of answers; a start off the "
    "manifold by as much as it is long, until about the time of learning",
    cells={
        "smoke": sizes((4, 2), flow="gradient"),
        "standard": tuple(
            cell for flow in ("gradient", "spectral") for cell in sizes((8, 4), (4, 6), flow=flow)
        ),
    },
    replicates=8,
    looks=1,
    rule=Identity(1e-6),
    why="rounding, which the polar factor of a gradient with small singular values enlarges to 1e-9; in pilots "
    "1e-14 for gradient flow",
    controls=(reads("sign-flow", "so does sign flow", "sign"),),
)
def equivariance(cell: Cell, block: Block) -> dict[str, Tensor]:
    """Under orthogonal maps of the embeddings the matrices of gradient and spectral flow turn
    along: what is learned when is the same."""
    return {"error": moved(cell, block, cell["flow"]), "sign": moved(cell, block, "sign")}


@claim(
    "D.sign-flow-turns",
    "Sign flow learns other matrices in other orthonormal embeddings",
    source=Source("D", "D4", provenance="stated", reference=REFERENCE),
    latex=r"W_{OV}(UZ_0)\ne U\,W_{OV}(Z_0)\,Z^\top",
    regime="as for the flows that are equivariant",
    cells={"smoke": sizes((4, 2)), "standard": sizes((8, 4), (4, 6))},
    replicates=32,
    looks=4,
    rule=OneSided(lower=0.1, method=Betting(0, 1)),
    why="a tenth of the largest entry is far above anything numerical; differences above 1 count "
    "as 1",
    controls=(
        reads("gradient", "gradient flow does too", "gradient"),
        reads("spectral", "spectral flow does too", "spectral"),
    ),
)
def sign_flow_turns(cell: Cell, block: Block) -> dict[str, Tensor]:
    """Sign flow is not equivariant: a sign is taken entry by entry, in the basis of the
    embeddings."""
    found = {flow: moved(cell, block, flow).clamp_max(1) for flow in LIKELY}
    return {"value": found.pop("sign"), **found}


def tuples(*pairs: tuple[int, int]) -> tuple[Cell, ...]:
    """Cells for all eight embeddings."""
    return tuple(
        cell
        for kinds in theory.EMBEDDINGS
        for cell in lasting(sizes(*pairs, flow="sign", embeddings=kinds))
    )


EIGHT = tuples((16, 4))
MORE = tuples((32, 8), (4, 16))


@claim(
    "D.sign-ratios",
    "Under sign flow the ratio of the learning times depends on the embeddings, as eight pairs of "
    "speeds say",
    source=Source("D", "D4", provenance="derived", reference="theory/spectral/flows.py"),
    predict=ratio,
    latex=r"\frac{(\alpha_0+\alpha_S'T_S)(\alpha_0+\beta_S'T_S)}{\sqrt R} = "
    r"\log\frac{(S-1)(1-\delta)}\delta",
    regime="one-hot (O) or Hadamard (H) embeddings of subjects, relations and answers; powers of "
    "2, more subjects than relations and fewer",
    cells={"smoke": EIGHT[1::5], "standard": EIGHT + MORE[1::2]},
    replicates=2,
    looks=1,
    rule=MeanRatio(Region(0.9998, 1.0002), method=Deterministic()),
    why="the flow is exact for constant speeds; times are interpolated linearly between 120 steps, to "
    "5e-5",
    controls=(
        times(1.0005),
        at("one-hot", "embeddings do not matter", embeddings="OOO"),
        Control(
            "answers",
            "the answers' embeddings do not matter",
            lambda cell: ratio(cell.replace(embeddings=tuple_of(cell)[:2] + "O")),
        ),
        Control("root", "sqrt(S/R)", lambda c: math.sqrt(c["subjects"] / c["relations"])),
    ),
    plot=Plot("parity", y_label="ratio of learning times", log="xy"),
)
def sign_ratios(cell: Cell, block: Block) -> Tensor:
    """Each block of W_OV and W_KQ moves at a constant speed, of which the embeddings decide how
    much goes into answering: what is spread over many coordinates is learned at another speed
    than what has one."""
    found = learning_times(cell, block, steps=120)
    return found.subject / found.relation


ORDER = tuples((64, 4))


@claim(
    "D.sign-order",
    "Sign flow learns subjects and relations together, far apart, or in the reverse order",
    source=Source("D", "D4", provenance="stated", reference="theory/spectral/flows.md"),
    predict=lambda cell: theory.first(
        theory.Facts.of(cell), flow="sign", embeddings=tuple_of(cell)
    ),
    latex=r"\frac{T_S}{T_R} \in (0,\tfrac12),\ [\tfrac12,2],\ (2,\infty)",
    regime="all eight choices of one-hot and Hadamard embeddings at S = 64, R = 4: two have the "
    "reverse order, one the order of gradient flow, five hardly any",
    cells={"smoke": ORDER[1::5], "standard": ORDER},
    replicates=2,
    looks=1,
    rule=WinnerShare(Region(0.9, 1.0), method=Deterministic()),
    why="nothing is drawn, and no ratio is within 20% of 1/2 or 2: all eight must be right",
    controls=(
        Control("together", "all embeddings are as one-hot ones", lambda cell: "together"),
        Control("relations", "relations always come first", lambda cell: "relation"),
    ),
    plot=Plot("map", x="subjects", group=("embeddings",)),
)
def sign_order(cell: Cell, block: Block) -> dict[str, Tensor]:
    """With orthonormal embeddings sign flow can show no separation of the two learning times, a
    large one, or the reverse order. (Compared: speeds, and half of "together" within a factor
    2.)"""
    found = learning_times(cell, block, steps=60)
    middle = (found.subject * found.relation).sqrt()
    return {
        "subject": 1 / found.subject,
        "relation": 1 / found.relation,
        "together": math.sqrt(2) / middle,
    }
