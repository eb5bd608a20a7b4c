"""Inside the best linear memory: its right scores, and the spectrum of its weights."""

import math
from functools import partial

import torch

import recall_claims as rc
from claims.common import claim, relaxing
from simulation.memory import optimal as measured
from theory.memory import optimal as theory

RIDGE = 1e-4
"""Ridge of the simulated memory. As the ridge falls, the memory tends slowly to the memory of
largest margin. At 1e-4 the margin over the norm is about 30% smaller than in this limit, and right
scores are 3% higher."""
NEAR = rc.grid(dim=12, associations=34, own_competitors=(False, True))

scores_claim = partial(
    claim,
    source=rc.Source("G", "G7", provenance="stated", reference="theory/memory/optimal.py"),
    regime="d = 12 and 80% of the pairs that the best memory stores, with shared competitors and "
    "with own ones. The memory minimises the cross-entropy plus 5e-5 times its squared norm, and "
    "is near the memory of largest margin.",
    cells={"smoke": NEAR[:1], "standard": NEAR},
    from_pilot=True,
    replicates=(64, 256),
)


def profile(pairs: measured.Pairs, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute mean and standard deviation of right scores over pairs, (R,) each.

    The unit is the root mean square of the competitors' scores.
    """
    scores = measured.scores(pairs, memory)
    own = scores.diagonal(dim1=1, dim2=2)
    rivals = (scores.square().sum(2) - own**2) / (own.shape[1] - 1)
    level = own / rivals.sqrt()
    return level.mean(1), level.std(1)


@scores_claim(
    "G.optimal-level",
    "The best memory's right scores lie near the extreme-value threshold",
    latex=r"\frac{E\,s_i/\sigma_i}{E\max_{j<n}g_j}\to1",
    predict=rc.on(theory.extreme_value),
    cells={"standard": NEAR},  # of the smoke cell alone a t interval would err more than it may
    rule=rc.MeanRatio(rc.Region(0.85, 1.0)),
    why="pilots with other seeds found 0.90 and 0.94 of the threshold: at this size the memory "
    "lowers its largest competitors, too",
    controls=(
        rc.Control(
            "limit",
            "the threshold's limit, the root of 2 log n",
            lambda cell: math.sqrt(2 * math.log(cell["associations"])),
        ),
        rc.times(1.25, "boosted", "scores a quarter above the threshold"),
        rc.times(0.8, "lower", "scores a fifth below the threshold"),
    ),
)
def optimal_level(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """In units of the competitors' root mean square, the best memory raises a right score nearly as
    high as the largest of n - 1 independent competitors, and no higher."""
    pairs = block.draw(measured.draw, cell)
    return profile(pairs, measured.regularised(pairs, RIDGE))[0]


@scores_claim(
    "G.optimal-spread",
    "The best memory's right scores vary less than half as much as the Hebbian rule's",
    latex=r"\mathrm{sd}_{best}(s_i/\sigma_i)<\tfrac12\,\mathrm{sd}_{Hebb}(s_i/\sigma_i)",
    rule=rc.Ordering(smaller="twice", larger="hebbian"),
    why="pilots with other seeds found 0.45 and 0.42 of the Hebbian spread",
    controls=(
        rc.Control("thrice", "less than a third as much", rule=rc.Ordering("thrice", "hebbian")),
        rc.Control("swapped", "more than half as much", rule=rc.Ordering("hebbian", "twice")),
    ),
)
def optimal_spread(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """Right scores of the sum of outer products vary widely: some are higher than needed, many too
    low. In the best memory right scores vary less than half as much, but are not equal."""
    pairs = block.draw(measured.draw, cell)
    spread = profile(pairs, measured.regularised(pairs, RIDGE))[1]
    hebbian = profile(pairs, measured.hebbian(pairs))[1]
    return {"twice": 2 * spread, "thrice": 3 * spread, "hebbian": hebbian}


# Declared again twice, as it was INCONCLUSIVE: at seed 0 with fewer replicates in two cells, and at
# seed 3010 with a single look.
@relaxing("equal spectra", replicates=(192, 768))(
    "G.beyond-equal-spectra",
    "At small size shared and own competitors give unequal spectra",
    "n, d to infinity: d = 12",
    source=rc.Source("G", "G7", provenance="stated", reference="theory/memory/optimal.py"),
    predict=lambda _: 1.0,
    latex=r"\frac{E\sigma_1/\|W\|_F}{E\sigma_1^{dec}/\|W^{dec}\|_F}=1",
    regime="the memory of least cross-entropy plus 5e-5 times its squared norm, at three fifths of "
    "the pairs that the best memory stores",
    cells={"standard": rc.grid(dim=12, associations=25)},
    rule=rc.Functional(rc.Region(-0.06, 0.06), formula="original / decoupled"),
    why="6% in the largest singular value would hardly be seen in a plot of both spectra; for "
    "memories of largest margin the difference is smaller, by 0.02",
)
def equal_spectra(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """The weights of the best memory have the same largest singular value, relative to their norm,
    with shared competitors and with separate competitors for each input."""
    found = {}
    for name, own in (("original", False), ("decoupled", True)):
        pairs = block.draw(measured.draw, {**cell, "own_competitors": own})
        values = torch.linalg.svdvals(measured.regularised(pairs, RIDGE))
        found[name] = values[:, 0] / values.norm(dim=1)
    return found
