"""Finite eta and gamma against the early-phase limit that every other claim uses.

All settings have V L = 256, the eta at which logits after the first step are of order one, and
1/s_0 = 2341, the gamma eta at which attention scores are of order one.
"""

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    Exponents,
    MeanDifference,
    Ordering,
    Plot,
    Probability,
    Region,
    Source,
    claim,
    grid,
)
from simulation.attention import sampling
from simulation.attention.convergence import Limit
from theory.attention import early_phase

SOURCE = Source("A", "A7", provenance="reported", reference="theory/attention/early_phase.py")
SIZES = {"vocab_size": 32, "length": 8}
MANY_SAMPLES = grid(**SIZES, samples=512, dim=16, trigger_in_values=False)
FEW_SAMPLES = grid(**SIZES, samples=64, dim=16, trigger_in_values=False)
FEWEST_SAMPLES = grid(**SIZES, samples=32, dim=16, trigger_in_values=False)
TRIGGER_IN_VALUES = grid(**SIZES, samples=64, dim=24, trigger_in_values=True)


def at(*settings: tuple[Cell, ...], **steps: float) -> tuple[Cell, ...]:
    """The settings with step sizes."""
    return tuple(cell.replace(**steps) for setting in settings for cell in setting)


STRONG = at(MANY_SAMPLES, FEW_SAMPLES, TRIGGER_IN_VALUES, eta=0.025, gamma=1e9)
WEAK = at(MANY_SAMPLES, FEW_SAMPLES, TRIGGER_IN_VALUES, eta=25.0, gamma=1e3)
NEGLIGIBLE = Region(-0.02, 0.02)


def agreement(cell: Cell) -> float:
    """In the limit no label differs."""
    return 0.0


def limit(cell: Cell, block: Block, *, sequences: int) -> Limit:
    """The limit on a fresh batch of the cell."""
    problem = {name: value for name, value in cell.items() if name not in ("eta", "gamma")}
    batch = sampling.draw(block.rngs, **problem, device=block.device, dtype=block.dtype)
    return Limit(batch, block.rngs, sequences=sequences)


@claim(
    "A.early-phase-limit",
    "At small eta and large gamma the three steps give the labels of the limit",
    source=SOURCE,
    latex=r"\mathbf{P}(\hat{k}_{\eta,\gamma} \neq \hat{k}_{0,\infty}) \leq 0.02",
    regime="eta 10^4 times below and gamma eta 10^4 times above its unit; accuracy 0.1 to 0.6 and "
    "localisation 0.9 to 0.99, so that recall and attention could both be upset",
    cells={"smoke": STRONG[1:2], "standard": STRONG, "full": STRONG},
    replicates=1024,
    looks=2,
    predict=agreement,
    rule=Probability(NEGLIGIBLE),
    why="accuracies differ by no more than the share of sequences whose label differs; "
    "0.02 is what 10^3 replicates can tell from 0 at this error budget",
    controls=(
        Control(
            "large-eta",
            "eta at a tenth of its unit is small enough",
            rule=Probability(NEGLIGIBLE, observable="large_eta"),
        ),
        Control(
            "soft-attention",
            "attention scores of order 10 are large enough",
            rule=Probability(NEGLIGIBLE, observable="soft_attention"),
        ),
    ),
)
def early_phase_limit(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Trained by three steps of small eta and large gamma on one batch, the transformer labels
    fresh sequences as the limit eta -> 0, gamma -> infinity does."""
    eta, gamma = cell.number("eta"), cell.number("gamma")
    early = limit(cell, block, sequences=200)
    return {
        "value": early.disagreement(eta=eta, gamma=gamma),
        "large_eta": early.disagreement(eta=1e3 * eta, gamma=1e-3 * gamma),
        "soft_attention": early.disagreement(eta=eta, gamma=1e-3 * gamma),
    }


@claim(
    "A.early-phase-path",
    "Labels approach those of the limit as eta falls and gamma rises",
    source=SOURCE,
    latex=r"\mathbf{P}(\hat{k}_{\eta/10,100\gamma} \neq \hat{k}_{0,\infty}) < "
    r"\mathbf{P}(\hat{k}_{\eta,\gamma} \neq \hat{k}_{0,\infty})",
    regime="eta at a tenth of its unit and gamma eta at ten times its own, where labels still "
    "differ visibly from the limit",
    cells={"smoke": WEAK[1:2], "standard": WEAK, "full": WEAK},
    replicates=128,
    looks=3,
    rule=Ordering(smaller="further", larger="value"),
    why="a strict ordering",
    controls=(
        Control("reversed", "moves away", rule=Ordering(smaller="value", larger="further")),
        Control(
            "limit-reached",
            "no change by more than 0.02 from here on",
            predict=agreement,
            rule=MeanDifference(NEGLIGIBLE, observable="decrease"),
        ),
    ),
)
def early_phase_path(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With eta ten times smaller and gamma eta ten times larger, fewer fresh sequences get
    another label than in the limit."""
    eta, gamma = cell.number("eta"), cell.number("gamma")
    early = limit(cell, block, sequences=200)
    here = early.disagreement(eta=eta, gamma=gamma)
    further = early.disagreement(eta=eta / 10, gamma=100 * gamma)
    return {"value": here, "further": further, "decrease": here - further}


@claim(
    "A.early-phase-step-size",
    "The attention step approaches its limit linearly in eta",
    source=Source("A", "A7", provenance="derived", reference="theory/attention/early_phase.py"),
    latex=r"\frac{|w_\eta - w_0|}{|w_0|} \propto \eta",
    regime="eta from 10^-4 to 10^-2 of its unit",
    cells=[
        *at(FEW_SAMPLES, TRIGGER_IN_VALUES, eta=0.025),
        *at(FEW_SAMPLES, TRIGGER_IN_VALUES, eta=0.25),
        *at(FEW_SAMPLES, TRIGGER_IN_VALUES, eta=2.5),
    ],
    replicates=64,
    looks=3,
    rule=Exponents({"eta": early_phase.EXPONENTS["eta"]}, half_width=0.1, observable="value"),
    why="the second order is a hundredth of the first at the largest eta, and bends the "
    "exponent by less than 0.01; the rest is room for sampling error",
    controls=(
        Control("square-root", "exponent 1/2", rule=Exponents({"eta": 0.5}, half_width=0.1)),
        Control("quadratic", "exponent 2", rule=Exponents({"eta": 2.0}, half_width=0.1)),
    ),
    plot=Plot(x="eta", group=("trigger_in_values",), y_label="relative error of w", log="xy"),
)
def early_phase_step_size(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The attention vector after the second step, in units of gamma eta, differs from its limit
    by a relative error proportional to eta."""
    early = limit(cell, block, sequences=1)
    return {"value": early.direction_error(eta=cell.number("eta"))}


@claim(
    "A.early-phase-sharpness",
    "Soft attention approaches hard attention as 1/gamma",
    source=Source("A", "A7", provenance="derived", reference="theory/attention/early_phase.py"),
    latex=r"\mathbf{E} |a_{\gamma} - a_\infty| \propto 1/\gamma",
    regime="gamma eta from 30 to 500 of its units; a third of the sequences not localised, so "
    "that score gaps near zero occur",
    cells=[
        *at(FEWEST_SAMPLES, eta=0.0025, gamma=3e7),
        *at(FEWEST_SAMPLES, eta=0.0025, gamma=1.2e8),
        *at(FEWEST_SAMPLES, eta=0.0025, gamma=4.8e8),
    ],
    replicates=256,
    looks=4,
    rule=Exponents({"gamma": early_phase.EXPONENTS["gamma"]}, half_width=0.12),
    why="at the smallest gamma gaps within three units have not yet a constant "
    "density: a tenth of the distance, or 0.04 in the exponent; the rest is room for sampling",
    controls=(
        Control("square-root", "exponent -1/2", rule=Exponents({"gamma": -0.5}, half_width=0.12)),
        Control("quadratic", "exponent -2", rule=Exponents({"gamma": -2.0}, half_width=0.12)),
    ),
    plot=Plot(x="gamma", y_label="distance from hard attention", log="xy"),
)
def early_phase_sharpness(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The mean distance between the values that softmax attention and hard attention pick from
    fresh sequences falls as 1/gamma."""
    early = limit(cell, block, sequences=500)
    return {"value": early.softness(eta=cell.number("eta"), gamma=cell.number("gamma"))}
