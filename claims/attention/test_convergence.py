"""Finite eta and gamma, compared with the limit eta -> 0, gamma -> infinity of all other claims.

Here eta is the size of the first value step, and gamma is the size of the other two steps.
The unit of eta is V L = 256, at which logits after the first step are of order one. The unit of
gamma eta is 1/s_0 = 2341, with s_0 the trigger's score; attention scores are then of order one.
"""

from torch import Tensor

import recall_claims as rc
from claims.common import claim
from simulation.attention import sampling
from simulation.attention.convergence import Limit
from theory.attention import early_phase

REPORTED = rc.Source("A", "A7", provenance="reported", reference="theory/attention/early_phase.py")
DERIVED = rc.Source("A", "A7", provenance="derived", reference="theory/attention/early_phase.py")

FEW_SAMPLES = {"vocab_size": 32, "length": 8, "samples": 64, "dim": 16, "trigger_in_values": False}
FEWEST_SAMPLES = FEW_SAMPLES | {"samples": 32}
TRIGGER_IN_VALUES = FEW_SAMPLES | {"dim": 24, "trigger_in_values": True}
ALL = (FEW_SAMPLES | {"samples": 512}, FEW_SAMPLES, TRIGGER_IN_VALUES)
STRONG = rc.grid(ALL, eta=0.025, gamma=1e9)
WEAK = rc.grid(ALL, eta=25.0, gamma=1e3)
NEGLIGIBLE = rc.Region(-0.02, 0.02)
UNCHANGED = rc.MeanDifference(NEGLIGIBLE, "decrease", method=rc.Betting(-1, 1))
SHARES = rc.Betting(0, 1)
REVERSED = rc.Ordering(smaller="value", larger="further", method=SHARES)


def limit(cell: rc.Cell, block: rc.Block, *, sequences: int) -> Limit:
    """Draw a batch and find the limit of the three steps, with ``sequences`` fresh sequences."""
    batch = block.draw(sampling.draw, cell.without("eta", "gamma"))
    return Limit(batch, block.rngs, sequences=sequences)


@claim(
    "A.early-phase-limit",
    "At small eta and large gamma the three steps give the labels of the limit",
    source=REPORTED,
    predict=lambda _: 0.0,  # in the limit no label differs
    latex=r"\mathbf{P}(\hat k{}_{\eta,\gamma} \neq \hat k{}_{0,\infty}) \leq 0.02",
    regime=early_phase.LIMIT.searched(
        "on the grid, accuracy is 0.1 to 0.6 and localisation 0.9 to 0.99, so that finite steps "
        "could upset both recall and attention",
    ),
    size=lambda c: c["samples"] * c["length"] * (c["dim"] + c["vocab_size"]) / 3,
    cells={"smoke": STRONG[1:2], "standard": STRONG},
    replicates=(128, 4096),
    rule=rc.ProportionDifference(NEGLIGIBLE),
    why="accuracies differ by no more than the share of sequences whose label differs; "
    "an exact test at this error budget needs 10^3 replicates to distinguish 0.02 from 0",
    controls=(
        rc.reads("large-eta", "eta of V L/10 is small enough", "large_eta"),
        rc.reads(
            "soft-attention", "attention scores of order 10 are large enough", "soft_attention"
        ),
    ),
)
def early_phase_limit(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Trained by three steps of small eta and large gamma on one batch, the transformer labels at
    least 98% of fresh sequences as the limit eta -> 0, gamma -> infinity does."""
    eta, gamma = cell.number("eta"), cell.number("gamma")
    early = limit(cell, block, sequences=200)
    return {
        "value": early.disagreement(eta=eta, gamma=gamma),
        "large_eta": early.disagreement(eta=1e3 * eta, gamma=1e-3 * gamma),
        "soft_attention": early.disagreement(eta=eta, gamma=1e-3 * gamma),
    }


@claim(
    "A.early-phase-path",
    "Labels approach their limit as eta falls and gamma rises",
    source=REPORTED,
    latex=r"\mathbf{P}(\hat k{}_{\eta/10,100\gamma} \neq \hat k{}_{0,\infty}) < "
    r"\mathbf{P}(\hat k{}_{\eta,\gamma} \neq \hat k{}_{0,\infty})",
    regime="eta = V L/10 and gamma eta = 10/s0, with s0 = (1 - 1/L)/(L^2 V), where labels still "
    "differ visibly from the limit",
    cells={"smoke": WEAK[1:2], "standard": WEAK},
    replicates=(32, 1024),
    rule=rc.Ordering(smaller="further", larger="value", method=SHARES),
    why="a strict ordering",
    controls=(
        rc.Control("reversed", "more labels differ from their limit, not fewer", rule=REVERSED),
        rc.Control(
            "limit-reached",
            "the share of labels that differ changes by at most 0.02",
            lambda _: 0.0,
            UNCHANGED,
        ),
    ),
)
def early_phase_path(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """With eta ten times smaller and gamma eta ten times larger, fewer fresh sequences get a label
    that differs from their label in the limit."""
    eta, gamma = cell.number("eta"), cell.number("gamma")
    early = limit(cell, block, sequences=200)
    here = early.disagreement(eta=eta, gamma=gamma)
    further = early.disagreement(eta=eta / 10, gamma=100 * gamma)
    return {"value": here, "further": further, "decrease": here - further}


@claim(
    "A.early-phase-step-size",
    "The attention step approaches its limit linearly in eta",
    source=DERIVED,
    latex=r"\frac{|w_\eta - w_0|}{|w_0|} \propto \eta",
    regime=rc.Regime(
        "eta/(V L) from 0.9 10^-4 to 10^-2",
        {
            "vocab_size": rc.log_range(8, 64),
            "length": rc.log_range(4, 16),
            "samples": rc.log_range(16, 256),
            "dim": rc.log_range(8, 64),
            "trigger_in_values": (False, True),
            "eta": rc.log_range(0.01, 10.0),
        },
        holds=lambda c: 9e-5 <= c["eta"] / (c["vocab_size"] * c["length"]) <= 0.01,
    ),
    cells=rc.grid(
        {**sizes, "eta": eta}
        for eta in (0.025, 0.25, 2.5)
        for sizes in (FEW_SAMPLES, TRIGGER_IN_VALUES)
    ),
    replicates=(256, 512),
    dtype="float64",  # near the limit the difference is as small as rounding
    rule=rc.Exponents({"eta": early_phase.EXPONENTS["eta"]}, half_width=0.1),
    why="the second order is a hundredth of the first at the largest eta, and bends the "
    "exponent by less than 0.01; the rest is room for sampling error",
    controls=(
        rc.power("root", "exponent 1/2", eta=-0.5),
        rc.power("square", "exponent 2", eta=1),
        rc.power(eta=0.25),
    ),
    plot=rc.Plot(x="eta", group=("trigger_in_values",), y_label="relative error of w", log="xy"),
)
def early_phase_step_size(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The attention matrix after the second step, applied to the query and in units of gamma eta,
    differs from its limit by a relative error proportional to eta."""
    return limit(cell, block, sequences=1).direction_error(eta=cell["eta"])


@claim(
    "A.early-phase-sharpness",
    "Soft attention approaches hard attention as 1/gamma",
    source=DERIVED,
    latex=r"\mathbf{E} |a_{\gamma} - a_\infty| \propto 1/\gamma",
    regime="gamma eta from 30/s0 to 500/s0, with s0 = (1 - 1/L)/(L^2 V); a third of the sequences "
    "not localised, so that score gaps near zero occur",
    cells=rc.grid(**FEWEST_SAMPLES, eta=0.0025, gamma=(3e7, 1.2e8, 4.8e8)),
    replicates=(256, 4096),
    rule=rc.Exponents(
        {"gamma": early_phase.EXPONENTS["gamma"]}, half_width=0.12, method=rc.Student(spent=0.1)
    ),
    why="at the smallest gamma, score gaps up to 3/(gamma eta) matter, and their density is not "
    "constant. This changes the distance by a tenth and the exponent by 0.04; the rest is "
    "statistical",
    controls=(
        rc.power("root", "exponent -1/2", gamma=0.5),
        rc.power("square", "exponent -2", gamma=-1),
        rc.power(gamma=0.3),
    ),
    plot=rc.Plot(x="gamma", y_label="distance from hard attention", log="xy"),
)
def early_phase_sharpness(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The mean distance between the values that softmax attention and hard attention pick from
    fresh sequences falls as 1/gamma."""
    return limit(cell, block, sequences=500).softness(eta=cell["eta"], gamma=cell["gamma"])
