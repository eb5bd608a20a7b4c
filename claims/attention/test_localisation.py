"""Localisation: does the attention find the informative token of a fresh sequence?"""

from collections.abc import Iterable

import torch

from recall_claims import Block, Cell, Control, Plot, Probability, Region, Source, cells, claim
from simulation.attention import localisation as measured
from simulation.attention import sampling, three_steps
from theory.attention import critical, localisation
from theory.attention.problem import Problem

SOURCE = Source(
    "A", "A3", "A7", "A9", provenance="derived", reference="theory/attention/localisation.py"
)
REGION = Region.around(0.0, 0.06)
REGION_REASON = """Three times the formula's stated error of 0.02, which comes from one lognormal
    for all that makes replicates differ and from terms of relative order 10/V in the noise."""


def across(
    samples: Iterable[int], *, vocab_size: int, length: int, dim: int, in_values: bool = False
) -> tuple[Cell, ...]:
    """Cells at these numbers of samples."""
    return cells(
        {"vocab_size": vocab_size, "length": length, "dim": dim, "samples": count}
        | ({"trigger_in_values": True} if in_values else {})
        for count in samples
    )


def predict(cell: Cell) -> float:
    """The probability in theory."""
    return localisation.probability(Problem.of(cell))


def more_signal(cell: Cell) -> float:
    """A third more samples, hence a third more signal over the noise that samples reduce."""
    problem = Problem.of(cell)
    return localisation.probability(problem.replace(samples=round(4 / 3 * problem.samples)))


def linear_dim(cell: Cell) -> float:
    """N_c falling as 1/d in place of d^(-3/2), right at d = 64."""
    problem = Problem.of(cell)
    count = problem.samples * (64 / problem.dim) ** 0.5
    return localisation.probability(problem.replace(samples=round(count)))


def one_distractor(cell: Cell) -> float:
    """The informative token has to beat one distractor, not the best of all."""
    problem = Problem.of(cell)
    ratios, weights = localisation.replicate_snr(problem)
    dim = localisation.marginal_dim(problem)
    beaten = localisation.given_snr(ratios, length=2, vocab_size=problem.vocab_size, dim=dim)
    return float(beaten @ weights)


def threshold(cell: Cell) -> float:
    """The predicted number of samples at which the probability is one half."""
    return critical.critical_samples_full(Problem.of(cell))


SHORT = across((60, 120, 240, 480), vocab_size=512, length=16, dim=32)
MEDIUM = across((250, 500, 1000, 2000), vocab_size=512, length=32, dim=24)
LONG = across((750, 1500, 2500), vocab_size=512, length=64, dim=32)
DEEP = across((900, 1800, 3600), vocab_size=1024, length=24, dim=12)


@claim(
    "A.localisation",
    "The probability of finding the informative token, across the transition",
    source=SOURCE,
    latex=r"P = E_{q,\nu,\zeta}\,G\left(\frac{q+\nu}{\sigma}\right),\quad "
    r"G(s) = \int f_d(t)\,F_d(t+s)^{L_{eff}}dt",
    regime="""More tokens than dimensions (V >= 16 d), and sizes at which gradient noise, stored
        context and mean bias (C, B, A) rule in turn; the numbers of samples cross the transition
        from P near 0.2 to P near 0.95.""",
    cells={
        "smoke": SHORT,
        "standard": SHORT + MEDIUM + DEEP + LONG,
        "full": SHORT + MEDIUM + DEEP + LONG,
    },
    replicates=130,
    looks={"smoke": 5, "standard": 5, "full": 6},
    rule=Probability(REGION),
    why=REGION_REASON,
    predict=predict,
    controls=(
        Control("signal-4-thirds", "a third more signal over noise", predict=more_signal),
        Control("dim-exponent-1", "critical samples fall as 1/d", predict=linear_dim),
        Control("one-distractor", "no maximum over the distractors", predict=one_distractor),
    ),
    plot=Plot(
        x="samples",
        group=("vocab_size", "length", "dim"),
        collapse=True,
        x_label="samples N",
        y_label="localisation probability",
    ),
    critical=threshold,
)
def localised(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """After three gradient steps, hard attention finds the informative token of a fresh sequence
    with a probability set by the ratio of the trigger's score to the spread of the token scores:
    the informative token has to beat the best of its distinct distractors."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    scores = three_steps.token_scores(batch)
    return {"value": measured.probability(scores, length=batch.length)}


IN_VALUES = across((400, 900), vocab_size=256, length=64, dim=24, in_values=True) + across(
    (150, 400), vocab_size=512, length=32, dim=16, in_values=True
)


def without_trigger_in_values(cell: Cell) -> float:
    """The probability if the trigger were in the keys alone."""
    return localisation.probability(Problem.of(cell).replace(trigger_in_values=False))


@claim(
    "A.localisation-trigger-in-values",
    "A trigger in the values helps: training memorises its direction",
    source=SOURCE,
    latex=r"\frac{E\theta_{trig}}{s_0} \simeq 1 + \tau\frac VN\left(1+\frac Ld\right)",
    regime="More tokens than dimensions, and lengths at which the memorised trigger direction is "
    "not yet enough by itself.",
    cells={"standard": IN_VALUES, "full": IN_VALUES},
    replicates=110,
    looks={"standard": 5, "full": 6},
    rule=Probability(REGION),
    why=REGION_REASON,
    predict=predict,
    controls=(
        Control(
            "not-in-values",
            "no memorised trigger direction: the trigger in the keys alone",
            predict=without_trigger_in_values,
        ),
    ),
    plot=Plot(
        x="samples",
        group=("vocab_size", "length", "dim"),
        x_label="samples N",
        y_label="localisation probability",
    ),
)
def localised_in_values(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With the trigger added to the values as well, the first step stores the trigger's direction
    with every sample, and the trigger's score exceeds its population value by (V/N)(1 + L/d):
    localisation needs fewer samples."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    scores = three_steps.token_scores(batch)
    return {"value": measured.probability(scores, length=batch.length)}
