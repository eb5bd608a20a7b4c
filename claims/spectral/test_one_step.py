"""Number of items that one step of gradient descent, Muon or Newton's method stores.

Item i has a frequency p_i proportional to i^-a, and embeddings u_i and v_i in d dimensions. A
spectral step is Muon's, along the polar factor of the gradient.
"""

from functools import partial

import torch

import recall_claims as rc
from claims.common import measuring
from simulation.spectral import one_step as measured
from theory.spectral import one_step as theory

REFERENCE = "theory/spectral/one_step.py"
DERIVED = rc.Source("E", "E1", provenance="derived", reference=REFERENCE)
GAUSSIAN = theory.STEP.searched("Gaussian embeddings")
COMPARED = GAUSSIAN.searched(
    "d >= 64",
    holds=lambda cell: cell["dim"] >= 64,
    dim=rc.log_range(64, 256),
    items=rc.log_range(256, 2048),
    exponent=(1.5, 2.0),
)


def sizes(*dims: int, exponents: tuple[float, ...] = (1.5, 2.0)) -> tuple[rc.Cell, ...]:
    """Make cells of 16 items per dimension."""
    return rc.grid(
        {"dim": dim, "items": 16 * dim, "exponent": a} for a in exponents for dim in dims
    )


def after(cell: rc.Cell, block: rc.Block, *steps: str) -> dict[str, torch.Tensor]:
    """Count the items recalled after one step of each kind."""
    return block.draw(measured.one_step, cell, steps=steps)


GRADIENT = rc.Control("gradient-law", "as after a gradient step", rc.on(theory.recalled_gradient))
AS_PLOTTED = rc.Plot(x="dim", group=("exponent",), y_label="items recalled", log="xy")
step_claim = partial(
    rc.claim, source=DERIVED, plot=AS_PLOTTED, size=lambda c: 0.9 * c["items"] ** 2
)
by_gradient = measuring(
    lambda cell, block: after(cell, block, "gradient")["gradient"],
    partial(step_claim, dtype="float32"),  # unlike other steps, it decomposes nothing
)
by_spectral = measuring(lambda cell, block: after(cell, block, "spectral")["spectral"], step_claim)


def fewer_rivals(cell: rc.Cell) -> float:
    """Predict the items that a spectral step recalls if there are only a quarter as many items."""
    return theory.recalled_spectral(cell["dim"], cell["items"] // 4, cell["exponent"])


gradient_step = by_gradient(
    "E.one-step-gradient",
    "One gradient step recalls the predicted number of items, within 8%",
    """After one gradient step item i competes with the more frequent items. Item j beats it where
    v_j . v_i happens to exceed p_i/p_j. So the number recalled tends to C_a d^(1/(2a)), without a
    logarithm; C_1.5 = 2.68 and C_2 = 2.58. At d = 64 nearly two thirds of this limit are
    recalled.""",
    predict=rc.on(theory.recalled_gradient),
    regime=GAUSSIAN.searched("on the grid, 4 to 7 items are recalled"),
    cells={"smoke": sizes(32), "standard": sizes(32, 64), "full": sizes(32, 64, 128)},
    rule=rc.MeanRatio(rc.Region(0.92, 1.08)),
    why="""The theory states 4%: competitors' scores are taken as independent. The rest is
        statistical: the number recalled varies by up to a third.""",
    replicates={"smoke": (128, 1024), "standard": (512, 4096)},
    controls=(
        rc.times(1.2, "fifth-more", "a fifth more items"),
        rc.times(0.8, "fifth-fewer", "a fifth fewer items"),
        rc.Control(
            "limit",
            "the limit C_a d^(1/(2a))",
            lambda c: (
                theory.gradient_constant(c["exponent"])
                * c["dim"] ** theory.gradient_exponent(c["exponent"])
            ),
        ),
        rc.Control("spectral-law", "as after a spectral step", rc.on(theory.recalled_spectral)),
    ),
)

spectral_step = by_spectral(
    "E.one-step-spectral",
    "One spectral step recalls the predicted number of items, within 4%",
    """The polar factor of the gradient raises what is rare: an item of frequency p gets the signal
    s(p) of a self-consistent resolvent, against N - 1 competitors of variance 1/d each.""",
    predict=rc.on(theory.recalled_spectral),
    regime=GAUSSIAN,
    size=lambda c: 0.2 * c["items"] ** 2,
    cells={"smoke": sizes(32), "standard": sizes(32, 64, 128)},
    rule=rc.MeanRatio(rc.Region(0.96, 1.04)),
    why="""The gradient's resolvent is taken in the limit of large d. Pilots with other seeds find
        its error below 1%; the rest is statistical.""",
    replicates={"smoke": (64, 1024), "standard": (96, 1536)},
    controls=(
        rc.times(1.1, "tenth-more", "a tenth more items"),
        rc.times(0.9, "tenth-fewer", "a tenth fewer items"),
        rc.power("steeper", "d^0.15 times as many items", dim=0.15),
        rc.Control("fewer-rivals", "as with only a quarter of the items", fewer_rivals),
        GRADIENT,
    ),
)


@step_claim(
    "E.one-step-newton",
    "One Newton step recalls the predicted number of items, within 7%",
    predict=rc.on(theory.recalled_newton),
    regime=GAUSSIAN,
    cells={"smoke": sizes(64, exponents=(2.0,)), "standard": sizes(64), "full": sizes(64, 128)},
    rule=rc.MeanRatio(rc.Region(0.94, 1.07)),
    why="""The theory states 2%: what it leaves out is of order 1/d^2 in signals and 1/d in the
        noise. The rest is statistical.""",
    replicates={"smoke": (32, 256), "standard": (128, 1024)},
    controls=(
        rc.times(1.15, "more", "15% more items"),
        rc.times(0.85, "fewer", "15% fewer items"),
        GRADIENT,
    ),
)
def newton_step(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """Newton's step from zero whitens outputs and inputs. An item of frequency p gets the signal
    p tau/(1 + p tau), with tau such that the signals of all items add up to d."""
    return after(cell, block, "newton")["newton"]


@step_claim(
    "E.spectral-beats-gradient",
    "One spectral step stores over five times as many items as one gradient step",
    latex=r"N_{spectral} > 5\,N_{gradient}",
    regime=COMPARED,
    size=lambda c: 0.2 * c["items"] ** 2,
    cells={"standard": sizes(64), "full": sizes(64, 128)},
    rule=rc.Ordering(smaller="five_times", larger="spectral"),
    why="""The paper states no factor; five is ours. The theory has factors of 8 and 12 at d = 64,
        which grow as d up to logarithms.""",
    replicates=(64, 256),
    controls=(
        rc.Control(
            "swapped", "the gradient step stores more", rule=rc.Ordering("spectral", "gradient")
        ),
        rc.Control(
            "thrice-that", "15 times as many", rule=rc.Ordering("fifteen_times", "spectral")
        ),
    ),
)
def far_more(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """One step of Muon stores far more associations than one step of gradient descent."""
    found = after(cell, block, "gradient", "spectral")
    many = {"five_times": 5 * found["gradient"], "fifteen_times": 15 * found["gradient"]}
    return {**found, **many}


@rc.claim(
    "E.spectral-like-newton",
    "One spectral step stores as many items as one Newton step, within a fifth",
    source=rc.Source("E", "E1", provenance="stated", reference=REFERENCE),
    latex=r"\frac45 < N_{spectral}/N_{Newton} < \frac54",
    predict=lambda _: 1.0,  # as many
    regime=COMPARED,
    size=lambda c: 0.2 * c["items"] ** 2,
    cells={"standard": sizes(64, 96), "full": sizes(64, 96, 128)},
    rule=rc.MeanRatio(rc.Region(0.8, 1.25)),
    why="""both counts grow as d^(1 + 1/(2a)) up to logarithms. The theory's ratio at d = 64 is 0.93
        for a = 1.5 and 0.86 for a = 2. The ratio rises slowly, to 1 at d = 160 for a = 1.5""",
    replicates=(128, 512),
    controls=(
        rc.times(0.6, "fewer", "three fifths as many"),
        rc.times(1.5, "more", "1.5 times as many"),
        rc.reads("gradient-instead", "a gradient step stores as many as Newton's", "gradient"),
    ),
    plot=rc.Plot(x="dim", group=("exponent",), y_label="items recalled, spectral over Newton"),
)
def as_many(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """One step of Muon stores as many associations as one step of Newton's method, though Muon uses
    nothing but the gradient."""
    found = after(cell, block, "gradient", "spectral", "newton")
    newton = found["newton"]
    return {"value": found["spectral"] / newton, "gradient": found["gradient"] / newton}


spectral_exponent = by_spectral(
    "E.spectral-exponent",
    "At a = 1.5 a spectral step recalls d^(4/3) items",
    """The number of items recalled after one spectral step grows as d^(1 + 1/(2a)), faster than the
    dimension.""",
    latex=r"N_{spectral}\propto d^{1+\frac1{2a}}",
    regime="a = 1.5, 16 items per dimension, d = 32 and 128",
    cells={"standard": sizes(32, 128, exponents=(1.5,))},
    rule=rc.Exponents({"dim": 4 / 3}, 0.08),
    why="""The finite-size theory has 1.35 on this grid: the logarithm of the number of competitors
        lowers the exponent, and what is lost at the top of the spectrum raises it.""",
    replicates=(96, 768),
    controls=(
        rc.Control("parameters", "as d^(1 + 1/a)", rule=rc.Exponents({"dim": 5 / 3}, 0.08)),
        rc.Control("linear", "in proportion to d", rule=rc.Exponents({"dim": 1.0}, 0.08)),
        rc.power("more", "exponent 1.53", dim=0.2),
    ),
)

steep_exponent = by_spectral(
    "E.spectral-exponent-steep",
    "At a = 2 a spectral step recalls d^(5/4) items",
    "The steeper the frequencies, the closer the exponent 1 + 1/(2a) is to 1.",
    latex=r"N_{spectral}\propto d^{1+\frac1{2a}}",
    regime="a = 2, 16 items per dimension, d = 32 and 128",
    cells={"standard": sizes(32, 128, exponents=(2.0,))},
    rule=rc.Exponents({"dim": 5 / 4}, 0.1),
    why="The finite-size theory has 1.30 on this grid, and 1.22 at d above 1000.",
    replicates=(96, 768),
    controls=(
        rc.Control("parameters", "as d^(1 + 1/a)", rule=rc.Exponents({"dim": 1.5}, 0.1)),
        rc.Control("linear", "in proportion to d", rule=rc.Exponents({"dim": 1.0}, 0.1)),
    ),
)

gradient_exponent = by_gradient(
    "E.gradient-exponent-literal",
    "At small sizes a gradient step recalls d^(1/(2a)) items, as in the limit",
    "The number of items recalled after one gradient step grows as d^(1/(2a)).",
    latex=r"N_{gradient}\propto d^{\frac1{2a}}",
    regime="a = 1.5, 16 items per dimension, d = 24 and 96",
    cells={"standard": sizes(24, 96, exponents=(1.5,))},
    rule=rc.Exponents({"dim": 1 / 3}, 0.08),
    why="an exponent within 0.08 would make the law of the limit useful at these sizes",
    replicates=(512, 2048),
    refuted="""This says nothing against the limit. The finite-size theory, which
        E.one-step-gradient tests, has an exponent of 0.49 on this grid and comes within 5% of the
        limit only beyond d = 5000. The noise of all other items is sqrt(log N/d) times the noise of
        frequent competitors. At d = 64 it still costs a third of the items.""",
)
