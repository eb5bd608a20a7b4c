"""The figure of ask.md: samples that the theory requires, over dimension and length.

No record has it, because nothing so large was simulated. `tests.figures` writes it.
"""

from recall_claims import Cell
from recall_claims.tiles import plane
from recall_reports import templating
from recall_reports.plots.chart import COLOURS, INK, MUTED, Axis, Chart, Mark
from recall_reports.plots.panel import svg
from recall_reports.plots.phase_map import background
from theory.attention import capacity, noise

VOCAB = 50_257
NOTHING = "nothing is recalled"
DIMS, LENGTHS = (512, 16_384), (100, 100_000)
LEVELS = (10**5, 10**6)
MODELS = {"GPT-2": 768, "XL": 1600}
"""Dimensions of two models with a vocabulary of `VOCAB` tokens and sequences of 1,024 tokens."""
TITLE = "How many samples N, and what decides"


def decides(cell: Cell) -> str:
    """Name the condition that needs the most samples; NOTHING if no number suffices."""
    sizes = {"vocab_size": VOCAB, "length": cell["length"], "dim": cell["dim"]}
    if capacity.critical_samples(**sizes) == float("inf"):
        return NOTHING
    found = capacity.binding(**sizes)
    return noise.TERMS[found].title if found in noise.TERMS else found


def contour(samples: int) -> tuple[list[float], list[float]]:
    """Return dimensions and lengths of a contour: the longest sequences learned at each dimension.

    The contour begins at the least sufficient dimension, at the figure's shortest length.
    """
    least = int(capacity.min_dim(samples, VOCAB, LENGTHS[0]))
    dims = [float(least), *(d for d in _places(*DIMS, 13) if d > least)]
    lengths = [capacity.max_length(samples, VOCAB, int(d)) for d in dims]
    return [least, *dims], [LENGTHS[0], *lengths]


def picture() -> str:
    """Draw the figure as one SVG, light or dark like the reader's screen."""
    axes = {"dim": _places(*DIMS, 49), "length": _places(*LENGTHS, 41)}
    tiles = plane(decides, Cell(dim=DIMS[0], length=LENGTHS[0]), axes, [])
    names = [name for name in tiles.names if name != NOTHING]
    colours = {NOTHING: MUTED} | dict(zip(names, COLOURS, strict=False))
    chart = Chart(TITLE, Axis("dimension d", log=True), Axis("sequence length L", log=True))
    chart.x.ends, chart.y.ends = DIMS, LENGTHS
    background(chart, tiles, colours, {name: name for name in tiles.names})
    for samples in LEVELS:
        xs, ys = contour(samples)
        chart.add(Mark("line", INK, xs, ys))
        middle = len(xs) * 2 // 3
        name = f"N = {samples:,}"
        chart.add(Mark("text", INK, [xs[middle]], [ys[middle]], text=name, aside=(0.0, -12.0)))
    for name, dim in MODELS.items():
        chart.add(Mark("dots", INK, [dim], [1024], "o", name=name))
    drawn = {"title": TITLE, "svg": svg(chart, TITLE)}
    return templating.page("picture.svg.j2", drawn=[drawn]) + "\n"


def _places(low: int, high: int, number: int) -> list[float]:
    ratio = (high / low) ** (1 / (number - 1))
    return [float(round(low * ratio**i)) for i in range(number)]
