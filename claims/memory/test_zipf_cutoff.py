"""Memories of Zipf data: the number of tokens that are worth storing."""

import math
from collections.abc import Callable

import torch

import recall_claims as rc
from claims.common import claim
from simulation.memory.zipf import error
from theory.memory import zipf

LABELS, FRESH = 5, 64
PARTS = {"a third": 3, "a sixth": 6, "a twelfth": 12, "a twenty-fourth": 24}
"""Numbers by which the dimension d is divided: "a third" stores the first d/3 tokens."""


def cut_at(cell: rc.Cell, part: int) -> int:
    """Return the number of tokens to store: d / ``part``, rounded to equally many per label."""
    return LABELS * max(1, round(cell.number("dim") / part / LABELS))


def best_part(cell: rc.Cell, size: Callable[[rc.Cell], float] | None = None) -> str:
    """Name the part of the dimension with the least predicted error.

    If ``size`` is given, name the part whose number of tokens is nearest to it.
    """
    stored = {name: cut_at(cell, part) for name, part in PARTS.items()}
    best = (
        zipf.best_stored(cell["alpha"], LABELS, cell["dim"], stored.values())
        if size is None
        else min(stored.values(), key=lambda each: abs(math.log(each / size(cell))))
    )
    return next(name for name, each in stored.items() if each == best)


@claim(
    "G.zipf-best-cutoff",
    "The best cut-off is a multiple of d/log d",
    source=rc.Source("G", "G8", provenance="derived", reference="theory/memory/zipf.py"),
    latex=r"P^*\propto\frac d{\ln d}",
    predict=best_part,
    regime="two dimensions at which, by theory, d/3 is the best of four cut-offs by 20% or more, "
    "and two at which d/6 is",
    cells={"standard": rc.grid(alpha=2.0, labels=LABELS, dim=(64, 96, 320, 512))},
    rule=rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Student(spent=0.01)),
    why="the theory has to name the best cut-off at all four dimensions",
    replicates=(64, 512),
    controls=(
        rc.Control("order-d", "d/3 at every d, as at d = 64", lambda cell: "a third"),
        rc.Control(
            "square-root",
            "the cut-off nearest to a multiple of the root of d that is right at d = 64",
            lambda cell: best_part(cell, lambda c: 2.5 * math.sqrt(c["dim"])),
        ),
        rc.Control("fewer", "a twelfth of d at every d", lambda cell: "a twelfth"),
    ),
)
def best_cutoff(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """The best number P of tokens to store is of order d up to a logarithm: a third of d at d = 64,
    a sixth at d = 512. More tokens than P overflow the memory, and fewer leave room unused."""
    return {
        name: 1 - block.draw(error, cell.replace(stored=cut_at(cell, part)), fresh=FRESH)
        for name, part in PARTS.items()
    }
