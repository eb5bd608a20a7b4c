"""Localisation: the probability that attention finds the informative token of a fresh sequence."""

import math
from dataclasses import replace
from functools import partial

import recall_claims as rc
from claims.attention.common import LOCALISATION, localised, localised_either_way, sampled
from claims.common import claim, measuring
from theory.attention import critical, localisation
from theory.attention.problem import Problem

localisation_claim = partial(
    claim,
    source=rc.Source("A", "A3", "A7", "A9"),
    predict=rc.on(Problem, localisation.probability),
    replicates=(64, 8192),
    rule=rc.ProportionDifference(rc.Region(-0.05, 0.05)),
    why="""the formula states an error of 0.02, or 0.025 with the trigger in the values: one
        lognormal describes all differences between replicates, and noise of relative order 10/V is
        left out. The rest allows for sampling error""",
)

SHORT = rc.grid(vocab_size=512, length=16, dim=32, samples=(60, 120, 240))
MEDIUM = rc.grid(vocab_size=512, length=32, dim=24, samples=(300, 1500))
LONG = rc.grid(vocab_size=512, length=64, dim=32, samples=(750, 1500, 2500))
DEEP = rc.grid(vocab_size=1024, length=24, dim=12, samples=(1000, 2600))
IN_VALUES = (
    *rc.grid(vocab_size=256, length=64, dim=24, samples=(400, 900), trigger_in_values=True),
    *rc.grid(vocab_size=512, length=32, dim=16, samples=(150, 400), trigger_in_values=True),
)


def as_one_over_dim(cell: rc.Cell) -> int:
    """Change the number of samples so that the formula gives the prediction of a wrong law.

    In the formula the critical number of samples falls as d^(-3/2), and in the wrong law as 1/d.
    At d = 64 the two laws agree.
    """
    return round(cell.number("samples") * math.sqrt(64 / cell.number("dim")))


def one_distractor(problem: Problem) -> float:
    """Compute the probability that the informative token beats one distractor, not the best one."""
    ratios, weights = localisation.replicate_snr(problem)
    dim = localisation.marginal_dim(problem)
    beaten = localisation.given_snr(ratios, length=2, vocab_size=problem.vocab_size, dim=dim)
    return float(beaten @ weights)


probability = measuring(lambda cell, block: localised_either_way(cell, block), localisation_claim)(
    "A.localisation",
    "The formula predicts how often attention finds the informative token, to within 0.05",
    """After three gradient steps, hard attention finds the informative token of a fresh sequence if
    that token beats the best of its distinct distractors. The ratio of the trigger's score to the
    spread of the token scores determines the probability.""",
    regime=rc.Regime(
        "V >= 8 d and d >= 12, where the formula states its error. On the grid gradient noise, "
        "stored context and mean bias (C, B, A) rule in turn, from P near 0.2 to P near 0.85.",
        {
            "vocab_size": rc.log_range(256, 2048),
            "length": rc.log_range(8, 128),
            "samples": rc.log_range(32, 8192),
            "dim": rc.log_range(12, 256),
        },
        holds=lambda cell: cell["vocab_size"] >= 8 * cell["dim"],
    ),
    size=lambda c: 5 * c["samples"] * c["length"],
    cells={"smoke": SHORT, "standard": SHORT + MEDIUM + DEEP + LONG},
    controls=(
        # A third more samples reduce the noise of a finite sample to 3/4, like a third more signal.
        rc.at("more-signal", "a third more signal", samples=lambda c: round(4 / 3 * c["samples"])),
        rc.at("dim-exponent-1", "N_c falls as 1/d, right at d = 64", samples=as_one_over_dim),
        rc.Control(
            "one-distractor",
            "the informative token has to beat only one distractor",
            rc.on(Problem, one_distractor),
        ),
    ),
    plot=replace(LOCALISATION, collapse=True),
    critical=rc.on(Problem, critical.critical_samples_full),
)

probability_in_values = measuring(lambda cell, block: localised(cell, block), localisation_claim)(
    "A.localisation-trigger-in-values",
    "A trigger in the values helps: training memorises its direction",
    """With the trigger added to the values as well, the first step stores the trigger's direction
    with every sample. The trigger's score then exceeds its population value by a share
    (V/N)(1 + L/d), so localisation needs fewer samples.""",
    latex=r"\frac{E\theta_{trig}}{s_0} \simeq 1 + \tau\frac VN\left(1+\frac Ld\right)",
    regime=localisation.SPARSE.searched(
        "the grid has lengths at which the memorised trigger direction is not yet enough by itself",
        trigger_in_values=(True,),
    ),
    size=sampled,
    cells={"standard": IN_VALUES},
    controls=(
        rc.at("not-in-values", "no memorised trigger direction", trigger_in_values=False),
        rc.at("longer", "sequences a quarter longer", length=lambda c: round(5 / 4 * c["length"])),
    ),
    plot=LOCALISATION,
)
