"""Four numbers describe whole matrices under three flows (D5).

The matrix W_KQ gives S subjects and R relations their attention, and W_OV turns tokens into logits
of answers. The flows follow the gradient, its polar factor (spectral flow) or its signs. They are
deterministic. Replicates differ only in random embeddings, which make no difference in the theory.
"""

import math

from torch import Tensor

import recall_claims as rc
from claims.spectral import common
from claims.spectral.common import START, disturbed, each, end, task, whole
from simulation.spectral import flows
from theory.spectral import flows as theory

EMBEDDINGS = {"gradient": "random", "spectral": "random", "sign": "OOO"}
STEPS = 200


def timed(
    *pairs: common.Pair, errors: tuple[float, ...], flow: str, **more: str
) -> tuple[rc.Cell, ...]:
    """Make a cell for each size, part ("subject" or "relation") and error.

    The cell's time is when, by the theory, the error of this part has fallen to this error.
    """
    points = [
        cell.replace(part=part, error=error)
        for cell in common.sizes(*pairs, flow=flow, **{"embeddings": EMBEDDINGS[flow], **more})
        for part in common.PARTS
        for error in errors
    ]
    return tuple(
        rc.Cell(**c.without("error"), time=float(f"{common.time_of(c, c['part'], c['error']):.4g}"))
        for c in points
    )


def without_part(points: tuple[rc.Cell, ...]) -> tuple[rc.Cell, ...]:
    """Drop the part from cells, and keep the latest of the cells that differ only in time."""
    latest: dict[str, rc.Cell] = {}
    for cell in points:
        told = rc.Cell(**cell.without("part", "time"))
        if told.id not in latest or cell["time"] > latest[told.id]["time"]:
            latest[told.id] = told.replace(time=cell["time"])
    return tuple(latest.values())


TRAJECTORY = (
    *timed((16, 4), (4, 8), errors=(0.5, 0.02), flow="gradient"),
    *timed((16, 4), errors=(0.5, 0.02), flow="spectral"),
    *timed((4, 8), errors=(0.1,), flow="spectral"),
    *timed((16, 4), (4, 8), errors=(0.1,), flow="sign"),
    *timed((16, 4), errors=(0.02,), flow="sign", embeddings="HOH"),
)


@rc.claim(
    "D.manifold",
    "The whole matrices never leave the manifold of four coordinates",
    source=rc.Source("D", "D5", provenance="reported", reference="theory/spectral/flows.md"),
    latex=r"W_{OV} = \alpha_SU_SZ_S^\top+\alpha_RU_RZ_R^\top,\quad "
    r"W_{KQ} = (\beta_SZ_S1+\beta_RZ_R1)\,z_q^\top",
    regime=common.simulable(theory.PATHS, 256).searched(
        "random orthonormal embeddings for gradient and spectral flow; on the grid S > R and S < R"
    ),
    size=lambda c: 10 * whole(c),
    cells={"smoke": without_part(TRAJECTORY)[::3], "standard": without_part(TRAJECTORY)},
    replicates=2,
    rule=rc.Identity(1e-9),
    why="rounding errors of 200 steps and of their decompositions, relative to "
    "weights of order 1; in pilots 1e-14 to 1e-11. A part that all answers' logits share does not "
    "count, because softmax ignores it; sign flow with one-hot embeddings has such a part",
    controls=(
        rc.reads(
            "any-start", "a start off the manifold by a part in 1,000 leads back to it", "disturbed"
        ),
        rc.reads("three", "subjects and relations have the same coordinates", "difference"),
        rc.reads("still", "attention stays as it was", "attention"),
    ),
)
def manifold(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Along each flow, W_OV is a combination of two fixed matrices, and W_KQ of two others. In each
    combination, all subjects share one coefficient, and all relations share the other."""
    model = task(cell, block)
    clock = flows.clock(cell["time"], STEPS)
    found = model.scalars(end(cell, model, clock))
    off = disturbed(model.start(START, START), 1e-3 * START)
    return {
        "error": each(block, found.rest),
        "disturbed": each(block, model.scalars(end(cell, model, clock, off)).rest),
        "difference": each(block, found.alpha_subject * found.beta_subject)
        - each(block, found.alpha_relation * found.beta_relation),
        "attention": each(block, found.beta_subject - START),
    }


LOG_ODDS = rc.on(
    lambda **cell: theory.log_odds(
        theory.Facts.of(cell),
        cell["part"],
        cell["time"],
        flow=cell["flow"],
        embeddings=cell["embeddings"] if cell["flow"] == "sign" else "OOO",
    )
)


def exchanged(cell: rc.Cell) -> float:
    """Predict the log odds as if S and R were exchanged in the equations of motion only."""
    facts_swapped = cell.replace(subjects=cell["relations"], relations=cell["subjects"])
    shift = math.log((cell["relations"] - 1) / (cell["subjects"] - 1))
    return float(LOG_ODDS(facts_swapped)) + (shift if cell["part"] == "subject" else -shift)


@rc.claim(
    "D.trajectory",
    "Four equations predict the model's log odds at all times of every flow",
    source=common.REDUCED,
    predict=LOG_ODDS,
    latex=r"q_S = \frac{\alpha_S(t)\,\beta_S(t)}{\sqrt R} - \log(S-1)",
    regime=common.simulable(theory.PATHS, 256).searched(
        "random orthonormal embeddings for gradient and spectral flow; on the grid S > R and S < R",
        part=common.PARTS,
    ),
    size=lambda c: 10 * whole(c),
    cells={"smoke": TRAJECTORY[1::6], "standard": TRAJECTORY},
    replicates=2,
    rule=rc.MeanDifference(rc.Region(-1e-5, 1e-5), method=rc.Deterministic()),
    why="the stated error of the integration, in log odds that run from -2.7 to 4. Steps of h at "
    "rates lambda up to 1 have a relative error of (lambda h)^4/120 times the number of e-folds, "
    "2e-6 at the largest sizes. What the closed form leaves out is less than this",
    controls=(
        rc.at(
            "late",
            "too late by two parts in a million of the time",
            time=lambda c: c["time"] * (1 - 2e-6),
        ),
        rc.at("larger-start", "a start larger by a part in 1,000", start=START * 1.001),
        rc.Control("exchanged", "S and R change places in the equations", exchanged),
    ),
    plot=rc.Plot("parity", y_label="log odds"),
)
def trajectory(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Each of four coordinates follows its own equation. The product of the two coordinates of the
    subjects (relations) gives the log odds that the answer has the right subject (relation)."""
    model = task(cell, block)
    return each(
        block, getattr(model.odds(end(cell, model, flows.clock(cell["time"], STEPS))), cell["part"])
    )
