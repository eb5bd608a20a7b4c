"""Orthonormal embeddings (d > V): the factors separate, and the counts are Poisson."""

from collections.abc import Mapping

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    MeanRatio,
    Plot,
    Probability,
    Region,
    Source,
    claim,
    grid,
)
from simulation.attention import localisation as measured_localisation
from simulation.attention import recall as measured_recall
from simulation.attention import sampling, three_steps
from theory.attention import localisation, noise, orthonormal, recall, signal
from theory.attention.problem import Problem

SOURCE = Source("A", "A12", provenance="derived", reference="theory/attention/orthonormal.py")

VARIANCE = grid(
    vocab_size=256,
    length=32,
    samples=96,
    dim=258,
    embeddings="orthonormal",
    trigger_in_values=(False, True),
)
LOCALISATION = grid(
    vocab_size=128, length=(16, 32), samples=(11, 22, 33), dim=130, embeddings="orthonormal"
)
DIMENSIONS = grid(
    vocab_size=32, length=8, samples=(6, 9, 13), dim=(34, 272), embeddings="orthonormal"
)
COVERAGE = grid(
    vocab_size=64,
    samples=(32, 128, 256),
    dim=(66, 192),
    embeddings="orthonormal",
    trigger_in_values=(False, True),
)


def sphere(cell: Cell, dim: int) -> Problem:
    """The same setting with random unit embeddings of another dimension."""
    return Problem.of(cell).replace(embeddings="sphere", dim=dim)


@claim(
    "A.orthonormal-variance",
    "Orthonormal embeddings: token scores carry no interference term",
    source=SOURCE,
    latex=r"\mathrm{Var}_v\theta_v = E\theta_v^2-(E\theta_v)^2",
    regime="""Orthonormal, d = V + 2, L << V; N < V, so that collisions and repeats are few and
        their Poisson law shows.""",
    cells={"standard": VARIANCE, "full": VARIANCE},
    replicates=256,
    looks=3,
    rule=MeanRatio(Region(0.9, 1.1)),
    why="""The law leaves out correlations between the tokens of one sequence, a relative
        error of order 1/L: 3% here in pilots under other seeds.""",
    predict=lambda cell: (
        orthonormal.variance(Problem.of(cell)) * signal.signal_unit(Problem.of(cell)) ** 2
    ),
    controls=(
        Control(
            "interference",
            "the noise terms of random embeddings of the same dimension",
            predict=lambda cell: (
                noise.variance(sphere(cell, 258)) * signal.signal_unit(Problem.of(cell)) ** 2
            ),
        ),
    ),
    plot=Plot(kind="parity"),
)
def variance(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With orthonormal embeddings the variance of the token scores is that of sums of counts: the
    interference terms of random embeddings are absent."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": three_steps.token_scores(batch).theta.var(1)}


@claim(
    "A.orthonormal-localisation",
    "Orthonormal embeddings: localisation follows the Poisson law of collisions",
    source=SOURCE,
    latex=r"P = E\,F(\theta_u+\theta_{trig})^{L_{eff}}",
    regime="""Orthonormal, d = V + 2. N crosses sqrt(V), where two samples first share a label: the
        transition without the trigger in the values.""",
    cells={
        "smoke": grid(
            vocab_size=128, length=32, samples=(22, 33), dim=130, embeddings="orthonormal"
        ),
        "standard": LOCALISATION,
        "full": LOCALISATION
        + grid(vocab_size=256, length=32, samples=(16, 32, 48), dim=258, embeddings="orthonormal"),
    },
    replicates=256,
    looks=5,
    rule=Probability(Region(-0.06, 0.06)),
    why="""The law takes the trigger score as independent of the other scores; its stated
        error is 0.04.""",
    predict=lambda cell: orthonormal.localisation(Problem.of(cell)),
    controls=(
        Control(
            "gaussian",
            "Gaussian scores of the same signal and variance, without interference",
            predict=lambda cell: localisation.probability(sphere(cell, 10**9)),
        ),
        Control(
            "interference",
            "the law of random embeddings of the same dimension",
            predict=lambda cell: localisation.probability(sphere(cell, int(cell.number("dim")))),
        ),
    ),
    plot=Plot(x="samples", group=("vocab_size", "length")),
)
def localised(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With orthonormal embeddings the signal is the number of pairs of samples that share a label,
    and the noise is the few tokens that repeat: both Poisson, so localisation sets in at about
    sqrt(V) samples, not where a Gaussian law says."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    scores = three_steps.token_scores(batch)
    return {"value": measured_localisation.probability(scores, length=batch.length)}


@claim(
    "A.orthonormal-dimension-free",
    "Orthonormal embeddings: the samples that localisation needs do not depend on d",
    source=SOURCE,
    latex=r"N_{1/2} \propto d^{\,0}",
    regime="Orthonormal, from d just above V to 8 V, at one V and L; N crosses P = 1/2.",
    cells={
        "smoke": grid(
            vocab_size=32, length=8, samples=(6, 9, 13), dim=(34, 136), embeddings="orthonormal"
        ),
        "standard": DIMENSIONS,
        "full": DIMENSIONS,
    },
    replicates=256,
    looks=5,
    rule=CriticalExponents(orthonormal.EXPONENTS, 0.1),
    why="""The independence is exact; the width is what the replicates resolve, against
        -1 to -2 for random embeddings.""",
    controls=(
        Control(
            "random-embeddings",
            "the exponent -3/2 of gradient noise under random embeddings",
            rule=CriticalExponents({"dim": -1.5}, 0.1),
        ),
    ),
    plot=Plot(x="samples", group=("dim",)),
)
def localised_at_any_dimension(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With orthonormal embeddings localisation needs the same number of samples at every dimension
    above V."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    scores = three_steps.token_scores(batch)
    return {"value": measured_localisation.probability(scores, length=batch.length)}


@claim(
    "A.orthonormal-recall",
    "Orthonormal embeddings: recall is coverage, independent of L and d",
    source=SOURCE,
    latex=r"\mathrm{Acc} = 1-\left(1-\frac1V\right)^{N+1}\ (\tau=0)",
    regime="Orthonormal, d from just above V to 3 V; N from V/2 to 4 V crosses full coverage.",
    cells={
        "smoke": grid(vocab_size=64, samples=(32, 128), dim=(66, 192), embeddings="orthonormal"),
        "standard": COVERAGE,
        "full": COVERAGE,
    },
    replicates=256,
    looks=4,
    rule=Probability(Region(-0.03, 0.03)),
    why="""Exact without the trigger in the values. With it the counts of other tokens are
        taken as independent, an error of order 1/V = 0.016.""",
    predict=lambda cell: orthonormal.recall(Problem(length=2, **cell)),
    controls=(
        Control(
            "interference",
            "the recall of random embeddings of the same dimension",
            predict=lambda cell: recall.accuracy(
                Problem(length=2, **cell.replace(embeddings="sphere"))
            ),
        ),
    ),
    plot=Plot(x="samples", group=("dim", "trigger_in_values")),
)
def recalled(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """With orthonormal embeddings and attention on the informative token, a token is recalled if
    training showed it, whatever the dimension; with the trigger in the values, if in addition no
    other token was seen more than twice as often."""
    facts = sampling.draw_facts(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": measured_recall.accuracy(facts)}
