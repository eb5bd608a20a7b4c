"""Orthonormal embeddings (d >= V + 2): no interference, and scores as sums of Poisson counts."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.attention.common import RecallProblem, in_score_units, localised, sampled
from claims.common import claim, measuring
from simulation.attention import localisation as measured_localisation
from simulation.attention import recall as measured
from simulation.attention import sampling, three_steps
from theory.attention import localisation, noise, orthonormal, recall
from theory.attention.problem import Problem

orthonormal_claim = partial(
    claim,
    source=rc.Source("A", "A12", provenance="derived", reference="theory/attention/orthonormal.py"),
    size=sampled,
)

points = partial(rc.grid, embeddings="orthonormal")
LOCALISATION = points(vocab_size=128, length=(16, 32), samples=(11, 33), dim=130)
VARIANCE = points(vocab_size=256, length=32, samples=96, dim=258, trigger_in_values=(False, True))
SEEN = points(vocab_size=64, samples=(32, 128), dim=(66, 192))
# 60 and 300 are not powers of two: a test that rounding does not decide ties between tokens.
COVERED = (
    SEEN
    + points(vocab_size=64, samples=(32, 128, 256), dim=(66, 192), trigger_in_values=True)
    + points(vocab_size=60, samples=300, dim=(66, 192), trigger_in_values=True)
)
FOUND = rc.on(Problem, localisation.probability)
RANDOM = "random embeddings of the same dimension"
MORE_SAMPLES = rc.at(
    "more-samples", "a quarter more samples", samples=lambda c: round(5 / 4 * c["samples"])
)


def random(predict: Callable[[rc.Cell], float], **changes: int) -> Callable[[rc.Cell], float]:
    """Make the prediction for random unit embeddings in the same setting."""
    return lambda cell: predict(cell.replace(embeddings="sphere", **changes))


@orthonormal_claim(
    "A.orthonormal-variance",
    "Orthonormal embeddings: token scores carry no interference term",
    predict=in_score_units(orthonormal.variance),
    latex=r"\mathrm{Var}_v\theta_v = E\theta_v^2-(E\theta_v)^2",
    regime=orthonormal.VARIANCE,
    cells={"standard": VARIANCE},
    replicates=(512, 4096),
    rule=rc.MeanRatio(rc.Region(0.9, 1.1), method=rc.Student(spent=0.1)),
    why="""the law leaves out correlations within a sequence, of relative order 1/L: 3% in pilots
        under other seeds; the rest is statistical""",
    controls=(
        rc.Control(
            "interference", f"the noise terms of {RANDOM}", random(in_score_units(noise.variance))
        ),
        rc.times(1.25),
    ),
    plot=rc.Plot("parity", y_label="variance of token scores"),
)
def variance(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With orthonormal embeddings a token's score is a sum of counts, and the variance of the token
    scores is the variance of this sum. The interference terms of random embeddings are absent."""
    return three_steps.token_scores(block.draw(sampling.draw, cell)).theta.var(1)


probability = measuring(lambda cell, block: localised(cell, block), orthonormal_claim)(
    "A.orthonormal-localisation",
    "Orthonormal embeddings: localisation follows the Poisson law of collisions",
    """With orthonormal embeddings the signal is the number of pairs of samples that share a label,
    and the noise is the few tokens that repeat. Both are Poisson. So localisation begins at about
    sqrt(V) samples, not where a Gaussian law says.""",
    predict=rc.on(Problem, orthonormal.localisation),
    regime=orthonormal.LOCALISED.searched(
        "N >= 11; the grid crosses N = sqrt(V), where two samples first share a label",
        holds=lambda cell: cell["samples"] >= 11,
    ),
    size=lambda c: 7 * (c["samples"] ** 2 * c["length"] + c["vocab_size"] * c["dim"]),
    cells={
        "smoke": points(vocab_size=128, length=32, samples=(22, 33), dim=130),
        "standard": LOCALISATION,
        "full": LOCALISATION + points(vocab_size=256, length=32, samples=(16, 32, 48), dim=258),
    },
    replicates=(64, 16384),
    rule=rc.ProportionDifference(rc.Region(-0.06, 0.06)),
    why="""the law takes token scores as independent of the trigger score, and states an error of
        0.04; the rest is statistical""",
    controls=(
        rc.Control(
            "gaussian",
            "Gaussian scores of the same signal and variance, without interference",
            random(FOUND, dim=10**9),
        ),
        rc.Control("interference", f"the law of {RANDOM}", random(FOUND)),
        MORE_SAMPLES,
    ),
    plot=rc.Plot(
        x="samples",
        group=("vocab_size", "length"),
        y_label="share of sequences in which the token is found",
        dear=True,
    ),
)


@orthonormal_claim(
    "A.orthonormal-dimension-free",
    "Orthonormal embeddings: localisation does not depend on d",
    latex=r"P(V, L, N, d) = P(V, L, N, V+2)\quad (d \ge V+2)",
    regime=orthonormal.ORTHONORMAL.searched(
        "the grid crosses P = 1/2", trigger_in_values=(False, True)
    ),
    cells=points(vocab_size=32, length=8, samples=(6, 9, 13), dim=(136, 272)),
    replicates=64,
    dtype="float64",
    rule=rc.Identity(1e-12),
    why="Rounding: the scores are sums of a few hundred products of numbers of order 1.",
    controls=(
        rc.reads("interference", "random embeddings, on the same sequences", observable="random"),
    ),
)
def probability_at_any_dimension(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """With orthonormal embeddings the same training sequences localise with the same probability at
    every dimension from V + 2 on, so the number of samples needed does not depend on d."""

    def found(dim: int, embeddings: str) -> Tensor:
        again = replace(block, rngs=deepcopy(block.rngs))
        batch = again.draw(sampling.draw, cell.replace(dim=dim, embeddings="orthonormal"))
        if embeddings != "orthonormal":
            other = again.draw(sampling.draw, cell.replace(dim=dim, embeddings=embeddings))
            batch = replace(batch, z=other.z, u=other.u, trigger=other.trigger)
        return measured_localisation.probability(
            three_steps.token_scores(batch), length=batch.length
        )

    least = cell["vocab_size"] + 2
    return {
        "error": found(cell["dim"], "orthonormal") - found(least, "orthonormal"),
        "random": found(cell["dim"], "sphere") - found(least, "sphere"),
    }


@orthonormal_claim(
    "A.orthonormal-recall",
    "Orthonormal embeddings: tokens seen are recalled, whatever d",
    predict=rc.on(RecallProblem, orthonormal.recall),
    regime=rc.Regime(
        "orthonormal embeddings, d > V; the grid crosses full coverage",
        {
            "vocab_size": rc.log_range(2, 256),
            "samples": rc.log_range(1, 2048),
            "dim": rc.log_range(4, 512),
            "embeddings": "orthonormal",
            "trigger_in_values": (False, True),
        },
        holds=lambda cell: cell["dim"] >= cell["vocab_size"] + 2,
    ),
    size=lambda c: 25 * c["vocab_size"] * c["dim"],
    cells={"smoke": SEEN, "standard": COVERED},
    replicates=(64, 16384),
    rule=rc.ProportionDifference(rc.Region(-0.02, 0.02)),
    why="""The formula is exact, and 2% is what the replicates can resolve in a minute. Ties broken
        by rounding would cost up to 3%.""",
    controls=(
        rc.Control(
            "interference",
            f"the recall of {RANDOM}",
            random(rc.on(RecallProblem, recall.recall_accuracy)),
        ),
        MORE_SAMPLES,
    ),
    plot=rc.Plot(
        x="samples",
        group=("dim", "trigger_in_values"),
        y_label="share of tokens recalled",
        dear=True,
    ),
)
def recalled(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With orthonormal embeddings and attention on the informative token, a token is recalled if
    training showed it, whatever the dimension. With the trigger in the values, recall fails if some
    other token was seen more than twice as often as this token. At exactly twice as often the
    labels tie, and ties are broken evenly. Without the trigger in the values, an unseen token gets
    a random label."""
    return measured.recalled_share(block.draw(sampling.draw_facts, cell))
