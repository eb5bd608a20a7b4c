"""Every noise term of the token scores: its constant, and their sum.

Most terms are never the largest; the exact split of `simulation.attention.split` isolates each.
"""

from collections.abc import Mapping, Sequence

import torch

from recall_claims import Block, Cell, Control, MeanRatio, Plot, Region, Source, claim, grid
from recall_claims import cells as explicit
from simulation.attention import sampling, split, three_steps
from theory.attention import noise, noise_formulas, signal
from theory.attention.problem import Problem

SOURCE = Source(
    "A", "A9", "A10", provenance="derived", reference="theory/attention/noise_formulas.py"
)
LOG = Plot(kind="parity", x_label="predicted", y_label="variance", log="xy")

SIZES = (
    {"vocab_size": 128, "length": 16, "samples": 256, "dim": 64},
    {"vocab_size": 128, "length": 32, "samples": 512, "dim": 64},
    {"vocab_size": 192, "length": 16, "samples": 768, "dim": 64},
)


def isolated(sizes: Sequence[Mapping[str, int]]) -> tuple[Cell, ...]:
    """Every term and the one covariance; with the trigger in the values, those that notice it."""
    return explicit(
        {"term": term, **point, "trigger_in_values": tau}
        for tau, terms in ((False, (*noise.TERMS, "2 Cov(D,H)")), (True, ("T", "E", "H")))
        for term in terms
        for point in sizes
    )


def unit(cell: Cell) -> float:
    """The square of the signal unit, in which variances are predicted."""
    return signal.signal_unit(Problem.of(cell)) ** 2


def term(cell: Cell) -> float:
    """The predicted variance of the cell's term."""
    problem, symbol = Problem.of(cell), str(cell["term"])
    if symbol in noise.TERMS:
        return unit(cell) * noise.TERMS[symbol].variance(problem)
    return unit(cell) * noise_formulas.count_covariance(problem)


def power_law(cell: Cell) -> float:
    """The term's limit law taken literally at these sizes."""
    symbol = str(cell["term"])
    if symbol not in noise.TERMS:
        return term(cell)
    return unit(cell) * noise.TERMS[symbol].limit(Problem.of(cell))


@claim(
    "A.noise-constants",
    "The variance of every noise term, isolated",
    source=SOURCE,
    latex=r"\mathrm{Var}_v\theta_v=s_0^2\,(T+A+B+C+D+E+H+C_2+F+2\,\mathrm{Cov}(D,H))",
    regime="each term isolated by the exact split, so that no term needs to dominate; V >= 2 d, "
    "V/d^2 <= 1/16, N from 2 V to 8 V",
    cells={"standard": isolated(SIZES), "full": isolated(SIZES)},
    replicates={"standard": 256, "full": 2048},
    looks={"standard": 4, "full": 2},
    rule=MeanRatio(Region(0.9, 1.1), by=("term", "trigger_in_values")),
    why="the formulas leave out terms of relative order 1/L^2, d/V^2 and t_4/(V t_3), at "
    "most 5% here; the rest is statistical",
    predict=term,
    controls=(
        Control("constant", "constants 30% larger", predict=lambda cell: 1.3 * term(cell)),
        Control("power-law", "the limit laws taken literally", predict=power_law),
    ),
    plot=LOG,
)
def isolated_variance(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The covariance and the mean value of a sample split exactly into expectation, informative
    token and context, and their products into nine pieces of the token scores, one for each
    mechanism of noise. The mean variance of every piece over the tokens is as predicted, and so is
    the covariance of D and H, which share the label counts."""
    sizes = {name: value for name, value in cell.items() if name != "term"}
    batch = sampling.draw(block.rngs, **sizes, device=block.device, dtype=block.dtype)
    name = str(cell["term"])
    if name not in split.PIECES:
        return {"value": 2 * split.covariance(batch, "D", "H")}
    return {"value": split.variances(batch, (name,))[name]}


MIXED = explicit(
    {
        "vocab_size": size,
        "length": length,
        "samples": samples,
        "dim": dim,
        "trigger_in_values": tau,
    }
    for tau in (False, True)
    for size, length, samples, dim in (
        (128, 64, 256, 32),
        (256, 32, 256, 32),
        (256, 16, 256, 64),
        (128, 16, 1024, 32),
    )
)


def total(cell: Cell) -> float:
    """The predicted variance of the token scores."""
    return unit(cell) * noise.variance(Problem.of(cell))


@claim(
    "A.noise-total",
    "The variance of the token scores is the sum of the noise terms",
    source=SOURCE,
    latex=r"\mathrm{Var}_v\theta_v=s_0^2\,(T+A+B+C+D+E+H+C_2+F+2\,\mathrm{Cov}(D,H))",
    regime="points where A, B, C or T is the largest term or several share the variance; V >= 4 d",
    cells=MIXED,
    replicates={"smoke": 256, "standard": 256, "full": 2048},
    looks={"smoke": 2, "standard": 3, "full": 2},
    rule=MeanRatio(Region(0.88, 1.12), by=("trigger_in_values",)),
    why="besides the 5% of the terms, the covariances that are left out (B with C and "
    "C2, C with C2) are at most 2% of the sum",
    predict=total,
    controls=(
        Control(
            "leading-terms",
            "only the signal's own overlap and the mean bias, T and A",
            predict=lambda cell: (
                unit(cell) * sum(noise.TERMS[s].variance(Problem.of(cell)) for s in ("T", "A"))
            ),
        ),
        Control("constant", "30% larger", predict=lambda cell: 1.3 * total(cell)),
    ),
    plot=LOG,
)
def total_variance(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The variance of the token scores over tokens is the sum of nine named noise terms, and of
    one covariance."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": three_steps.token_scores(batch).theta.var(dim=1)}


FEW_SAMPLES = grid(vocab_size=128, length=(16, 32), samples=(64, 256), dim=(16, 64))


def coefficient(cell: Cell) -> float:
    """The predicted noise of the trigger coefficient."""
    return unit(cell) * noise.trigger_coefficient_variance(Problem.of(cell))


@claim(
    "A.trigger-noise",
    "The noise that a finite sample puts on the trigger score",
    source=SOURCE,
    latex=r"v_q=\frac{(L-1)t_2^2(1+N/V)}{N^2}+\frac{(L-1)t_2V}{N^3}+\frac{2V(1+V/d^2)}{N^2}"
    r"+\frac{4V}{d^2N}+\frac{L^2rW}{NV^2}",
    regime="the coefficient of the trigger embedding, less its value at infinite N; N from V/2 to "
    "2 V; trigger not in the values",
    cells={"standard": FEW_SAMPLES, "full": FEW_SAMPLES},
    replicates=256,
    looks=4,
    rule=MeanRatio(Region(0.88, 1.12), by=()),
    why="terms of relative order 1/L^2 and 1/d are left out; the square of one number "
    "per replicate is noisy, so the rest is statistical",
    predict=coefficient,
    controls=(
        Control("constant", "30% larger", predict=lambda cell: 1.3 * coefficient(cell)),
        Control(
            "contexts-only",
            "only the largest term, L t_2^2 / (N V)",
            predict=lambda cell: (
                unit(cell)
                * (Problem.of(cell).length * (1 + Problem.of(cell).ratio) ** 2)
                / (Problem.of(cell).samples * Problem.of(cell).vocab_size)
            ),
        ),
    ),
    plot=LOG,
)
def trigger_noise(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The weight of the trigger embedding in the attention direction fluctuates from batch to
    batch around its value at infinite N with variance v_q s0^2."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": split.trigger_coefficient_noise(batch).square()}
