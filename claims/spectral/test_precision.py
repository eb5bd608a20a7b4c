"""Time of spectral flow to a small error delta: as log(1/delta), or as the root of this log (D3).

Spectral flow follows the polar factor of the gradient.
"""

import math

from torch import Tensor

import recall_claims as rc
from claims.spectral import common
from claims.spectral.common import learning_times


def precise(*pairs: common.Pair, **more: str) -> tuple[rc.Cell, ...]:
    """Make cells of spectral flow to errors of 1e-2, 1e-4 and 1e-6.

    A cell lasts 1.05 times the predicted time at which a relation's error has fallen this far.
    """
    return tuple(
        cell.replace(
            error=error,
            nats=float(f"{-math.log(error):.4g}"),
            duration=float(f"{1.05 * common.time_of(cell, 'relation', error):.4g}"),
        )
        for cell in common.sizes(*pairs, flow="spectral", **more)
        for error in (1e-2, 1e-4, 1e-6)
    )


@rc.claim(
    "D.spectral-precision",
    "Spectral flow's learning time grows as log(1/delta), as a reader says",
    source=rc.Source("D", "D3", provenance="reported", reference=common.REFERENCE),
    latex=r"T_R(\delta)\propto\log\frac1\delta",
    regime="errors delta from 1e-2 to 1e-6",
    cells={
        "standard": precise((16, 4), (32, 4)),
        "full": precise(*common.LARGE, weights="reduced"),
    },
    rule=rc.Exponents({"nats": 1.0}, 0.25, method=rc.Deterministic()),
    why="the exponent would have to be one within a quarter, far from one half",
    replicates=2,
    refuted="""The time grows as the square root: T^2 / log((R - 1)/delta) tends to sqrt(2 S R),
        as D.spectral-decay has it for the errors. The start lowers the visible exponent below one
        half: by the reduced system it is 0.40 from 1e-2 to 1e-6 at S, R = 16, 4 and 0.33 at
        256, 16.""",
    plot=rc.Plot(x="nats", group=("subjects",), y_label="learning time", log="xy"),
)
def spectral_precision(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Under spectral flow, the time until a relation is wrong with probability delta grows as
    log(1/delta)."""
    return learning_times(cell, block, steps=150, error=cell["error"]).relation
