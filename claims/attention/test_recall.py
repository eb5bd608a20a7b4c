"""Recall with attention on the informative token.

The claims are on the share of tokens recalled, and on the dimensions for half of the tokens and for
all. There are lambda = N/V samples per token, and Acc is the accuracy.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.attention.common import RecallProblem
from claims.common import claim, measuring
from simulation import decoding
from simulation.attention import recall as measured
from simulation.attention import sampling
from theory.attention import recall
from theory.laws import crossing

DERIVED = rc.Source(
    "A", "A2", "A3", "A9", provenance="derived", reference="theory/attention/recall.py"
)
recall_claim = partial(
    claim,
    source=rc.Source("A", "A2", "A3", "A9"),
    replicates=(32, 2048),
    size=lambda c: 0.8 * c["vocab_size"] ** 2,
)


def recalled(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Measure the share of tokens recalled after training on a batch."""
    return measured.recalled_share(block.draw(sampling.draw_facts, cell))


share = measuring(recalled, recall_claim)
half = measuring(lambda cell, block: decoding.mostly(recalled(cell, block)), recall_claim)
whole = measuring(
    lambda cell, block: measured.all_tokens(block.draw(sampling.draw_facts, cell)), recall_claim
)
CURVES = rc.Plot(x="dim", group=("vocab_size", "samples"), y_label="share of tokens recalled")
COLLAPSE = replace(CURVES, y_label="share of batches over half right", collapse=True)
ALL_RIGHT = rc.Plot(
    x="dim", group=("vocab_size",), y_label="share of batches with all right", collapse=True
)
MEDIAN = """We judge test sizes by the share of batches that recall more than half of their tokens.
    This share passes one half where the median accuracy does. The median is within 0.003 of the
    mean."""


def rungs(half_width: float) -> tuple[float, ...]:
    """Return factors of a predicted size: a region's edges, two between them, one beyond each."""
    return tuple(1 + side * half_width for side in (-2, -1, -0.4, 0.4, 1, 2))


def near(
    law: Callable[[rc.Cell], float],
    sizes: tuple[int, ...],
    loads: tuple[int, ...],
    factors: tuple[float, ...],
    *,
    to: Callable[[float], int] | None = None,
    **more: bool | str,
) -> tuple[rc.Cell, ...]:
    """Make cells around a predicted threshold in the dimension."""
    points = ({"vocab_size": v, "samples": load * v, **more} for v in sizes for load in loads)
    return rc.ladder(points, "dim", law, factors, to=to)


GAUSSIAN = rc.on(RecallProblem, recall.recall_accuracy_gaussian)
REFINED = rc.on(RecallProblem, recall.half_dim_refined)
CLOSED = rc.on(RecallProblem, recall.half_dim)
across = partial(near, CLOSED, to=round)
ASYMPTOTIC = rc.on(RecallProblem, recall.half_dim_asymptotic)
HALF = "d^2 = V log V instead of 2 V log V"
HALF_AT_ALL = "d^2 = 4 V log V instead of 8 V log V"
HALF_THE_CONSTANT = rc.at("half-the-constant", HALF, dim=lambda cell: round(2**0.5 * cell["dim"]))
CLOSE = (0.84, 0.92, 0.96, 1.01, 1.05, 1.14)
BELOW_LIMIT = (0.84, 0.91, 0.93, 0.95, 0.97, 0.99, 1.01, 1.03, 1.12)
NEAR_LIMIT = (0.88, 0.955, 0.98, 1.03, 1.055, 1.13)
LOWER_THRESHOLD = rc.times(1 / math.sqrt(2), "half-the-constant", HALF)
NO_COUNT_FLUCTUATIONS = rc.at(
    "no-count-fluctuations",
    "drops the factor 1 + 1/lambda and the spread of the counts",
    samples=lambda cell: 10**6 * cell["vocab_size"],
)

STANDARD = across((256, 512), (2, 16), (0.75, 1.0, 1.4)) + across((1024,), (4,), (0.75, 1.4))

accuracy = share(
    "A.recall-accuracy",
    "The theory predicts recall accuracy across the transition to within 0.02",
    """A token is recalled if the score of its own label, carried by the token's count, exceeds the
    scores of all other labels. Stored tokens interfere through the overlaps of embeddings.""",
    predict=rc.on(RecallProblem, recall.recall_accuracy),
    regime=rc.Regime(
        "V >= 256, so that the interference is a sum over many tokens. There the formula states "
        "its error.",
        {
            "vocab_size": rc.log_range(256, 2048),
            "samples": rc.log_range(256, 32768),
            "dim": rc.log_range(16, 512),
            "trigger_in_values": (False, True),
        },
        holds=lambda cell: cell["samples"] >= cell["vocab_size"],
    ),
    cells={
        "smoke": across((256,), (2, 16), (0.75, 1.4)),
        "standard": STANDARD,
        "full": STANDARD + across((2048,), (2, 16), (0.75, 1.0, 1.4)),
    },
    replicates=(64, 4096),
    rule=rc.ProportionDifference(rc.Region(-0.02, 0.02)),
    why="the theory states an error of 0.015 for V >= 256; the rest is statistical",
    controls=(
        HALF_THE_CONSTANT,
        NO_COUNT_FLUCTUATIONS,
        rc.Control("gaussian", "Gaussian scores, independent between labels", GAUSSIAN),
    ),
    plot=replace(CURVES, dear=True),
)

accuracy_of_variants = share(
    "A.recall-variants",
    "Recall is as predicted with Gaussian embeddings, and with the trigger in the values",
    """The same law holds with Gaussian embeddings, whose lengths blur the signal, and with the
    trigger in the values, which adds a direction that all tokens share.""",
    predict=rc.on(RecallProblem, recall.recall_accuracy),
    latex=r"\kappa_{wv} = (z_w+\tau z_{trig})^\top(z_v+\tau z_{trig})",
    cells=across((256,), (16,), (0.75, 1.4), embeddings="gaussian")
    + across((256,), (64,), (0.6, 1.0), trigger_in_values=True),
    replicates=(64, 2048),
    rule=rc.ProportionDifference(rc.Region(-0.04, 0.04)),
    why="""The theory states an error of 0.02, with Gaussian embeddings and with the trigger in the
        values. With the trigger all tokens share a direction, so accuracy varies widely between
        replicates.""",
    controls=(
        rc.at(
            "plain",
            "the accuracy with unit-sphere embeddings and the trigger in the keys alone",
            embeddings="sphere",
            trigger_in_values=False,
        ),
        rc.at(
            "tenth-fewer-dim",
            "a tenth fewer dimensions",
            dim=lambda cell: round(0.9 * cell["dim"]),
        ),
    ),
    plot=rc.Plot("parity", y_label="share of tokens recalled"),
)

gaussian = share(
    "A.recall-gaussian",
    "Gaussian interference gives the recall accuracy to within 0.06",
    """Interference that is Gaussian and independent between labels already gives the accuracy, up
    to a few hundredths.""",
    predict=GAUSSIAN,
    regime=recall.PLAIN.searched(
        "V >= 512",
        holds=lambda cell: cell["vocab_size"] >= 512,
        without=("length",),
    ),
    size=lambda c: 2 * c["vocab_size"] * c["dim"],
    cells={
        "smoke": across((512,), (2,), (1.4,)) + across((512,), (16,), (0.75,)),
        "standard": across((512,), (2, 16), (0.75, 1.4)),
        "full": across((512, 1024), (2, 16), (0.75, 1.4)),
    },
    rule=rc.ProportionDifference(rc.Region(-0.06, 0.06)),
    why="""the maximum of independent Gaussian scores is too high by an amount of order log(V)/d:
        0.04 in accuracy at V = 512; the rest is statistical""",
    controls=(
        HALF_THE_CONSTANT,
        NO_COUNT_FLUCTUATIONS,
        rc.at(
            "fifth-more-dim", "a fifth more dimensions", dim=lambda cell: round(1.2 * cell["dim"])
        ),
    ),
    plot=CURVES,
)

threshold = half(
    "A.recall-threshold",
    "Half of the tokens are recalled at the predicted dimension, within 4%",
    "Half of the tokens are recalled at the dimension where the predicted accuracy is 1/2.",
    predict=REFINED,
    cells={
        "smoke": lambda: near(REFINED, (256,), (2,), rungs(0.04)),
        "standard": lambda: near(REFINED, (256, 1024), (2, 16), rungs(0.04)),
    },
    rule=rc.CriticalLocation(rc.Region(0.96, 1.04), scan="dim"),
    why=f"""An accuracy off by 0.015, as the theory states, moves the threshold by 2% at
        16 samples per token, and by up to 3.8% at 2. {MEDIAN}""",
    controls=(LOWER_THRESHOLD, NO_COUNT_FLUCTUATIONS, rc.times(1.1)),
    plot=COLLAPSE,
)

threshold_closed_form = half(
    "A.recall-threshold-closed-form",
    "The closed form gives the threshold of recall, within 8%",
    """Half of the tokens are recalled where the median signal equals the median of the largest
    competitor: d^2 = 2 V log V (1 + 1/lambda) with its finite-size corrections.""",
    predict=CLOSED,
    cells={
        "smoke": near(CLOSED, (256,), (2,), CLOSE),
        "standard": near(CLOSED, (256, 1024), (2, 16), CLOSE)
        + near(CLOSED, (256,), (64,), CLOSE, trigger_in_values=True),
    },
    rule=rc.CriticalLocation(rc.Region(0.92, 1.05), scan="dim"),
    why=f"""The closed form neglects the competitors' correlations, of relative order
        log(V)/d, and states an error of 5% at V = 256. The full theory puts the ratio at 0.93 to
        1.04 in the regime, and states an error of 2% to 3%. {MEDIAN}""",
    controls=(LOWER_THRESHOLD, NO_COUNT_FLUCTUATIONS, rc.times(1.17)),
    plot=COLLAPSE,
)

threshold_asymptotic = half(
    "A.recall-threshold-asymptotic",
    "The threshold of recall follows d^2 = 2 V log V (1 + 1/lambda)",
    """A value matrix of d^2 parameters recalls half of V tokens once d^2 reaches 2 V log V (1 +
    1/lambda), with lambda samples per token. The claim allows d from 9% below this to 3% above.""",
    predict=ASYMPTOTIC,
    regime=recall.THRESHOLD.searched(
        "N >= 4 V", holds=lambda cell: cell["samples"] >= 4 * cell["vocab_size"]
    ),
    cells={
        "smoke": near(ASYMPTOTIC, (256,), (16,), BELOW_LIMIT),
        "standard": near(ASYMPTOTIC, (256, 1024), (4, 16), BELOW_LIMIT),
        "full": near(ASYMPTOTIC, (256, 1024, 4096), (4, 16), BELOW_LIMIT),
    },
    replicates=(128, 8192),
    rule=rc.CriticalLocation(rc.Region(0.91, 1.03), scan="dim"),
    why=f"""The approach to the asymptote is logarithmic: the full theory puts the ratio at
        0.93 to 1.01 on this grid, and states an error of 2% to 3%. Test sizes and replicates
        follow pilots with other seeds. {MEDIAN}""",
    controls=(
        LOWER_THRESHOLD,
        rc.times(2, "all-token-constant", "d^2 = 8 V log V, the threshold for all tokens"),
        rc.times(1.16),
    ),
    plot=COLLAPSE,
)

exponent = half(
    "A.recall-threshold-exponent",
    "The threshold dimension grows as the root of V log V, at these sizes not as the root of V",
    """Eight times the vocabulary multiplies the dimension needed by the root of 8 and the root of
    the ratio of the logarithms, but not by 8, because embeddings share directions.""",
    source=DERIVED,
    predict=ASYMPTOTIC,
    latex=r"d_{1/2} \propto \sqrt{V\log V}",
    regime="""V >> d; V = 128 and 1024, N = 16 V. Between these sizes the law has exponent 0.586;
        its limit 1/2 is a control, 0.086 away.""",
    cells=lambda: near(REFINED, (128, 1024), (16,), (0.95, 0.975, 1.025, 1.05)),
    rule=rc.CriticalExponents({"vocab_size": 0.5}, 0.04, scan="dim", reference="prediction"),
    why=f"""The full theory has exponent 0.576 between these sizes, 0.01 less than the law;
        test sizes 2.5% to 3% off either way add 0.03. {MEDIAN}""",
    controls=(
        rc.Control(
            "no-logarithm",
            "the limit exponent 1/2: a plain root of V",
            lambda cell: math.sqrt(cell["vocab_size"]),
        ),
        rc.Control(
            "linear",
            "a threshold linear in V, as for orthogonal embeddings",
            lambda cell: cell.number("vocab_size"),
        ),
    ),
    plot=rc.Plot(x="dim", group=("vocab_size",), y_label="share of batches over half right"),
)


def all_tokens_half_dim(cell: rc.Cell) -> float:
    """Find the dimension at which the finite-size law recalls all tokens with probability 1/2."""
    problem = RecallProblem.of(cell)
    return crossing.integer_root(
        lambda dim: recall.all_tokens_probability(problem.replace(dim=max(dim, 2))),
        level=0.5,
        within=1e-3,
    )


ALL_TOKENS = rc.on(RecallProblem, recall.all_tokens_dim)

all_tokens = whole(
    "A.recall-all-tokens",
    "All tokens are recalled with probability one half at the predicted dimension, within 4%",
    """Near the threshold the tokens that fail are few and independent. So the probability that none
    fails is exp(-V(1 - Acc)), which is one half where log 2 tokens fail on average.""",
    source=DERIVED,
    predict=all_tokens_half_dim,
    latex=r"P_{all} = e^{-V(1-\mathrm{Acc})},\quad P_{all}(d_c) = \frac12",
    regime=recall.BALANCED,
    cells={
        "smoke": lambda: near(all_tokens_half_dim, (128,), (1,), rungs(0.04), balanced=True),
        "standard": lambda: near(all_tokens_half_dim, (128, 256), (1,), rungs(0.04), balanced=True),
        "full": lambda: near(
            all_tokens_half_dim, (128, 256, 512), (1,), rungs(0.04), balanced=True
        ),
    },
    replicates=(64, 4096),
    rule=rc.CriticalLocation(rc.Region(0.96, 1.04), scan="dim"),
    why="""the theory predicts 10% to 20% too many failures. As these fall with the 12th to 15th
        power of d at V = 128 and 256, that is 0.7% to 1.7% in d; the rest is statistical""",
    controls=(
        rc.Control(
            "half-threshold",
            "the dimension for half of the tokens, d^2 = 2 V log V",
            rc.on(RecallProblem, recall.half_dim_refined, balanced=True),
        ),
        rc.times(1 / math.sqrt(2), "half-the-constant", HALF_AT_ALL),
        rc.times(1.1),
    ),
    plot=ALL_RIGHT,
)

all_tokens_threshold = whole(
    "A.recall-all-tokens-threshold",
    "All tokens are recalled from d^2 = 8 V log V on",
    "Recalling every token takes four times the parameters d^2 of recalling half of the tokens.",
    predict=ALL_TOKENS,
    regime=recall.BALANCED.searched(
        "V up to 1024, since the finite-size law falls below the region at larger V",
        vocab_size=[2**k for k in range(6, 11)],
    ),
    cells={
        "smoke": near(ALL_TOKENS, (128,), (1,), NEAR_LIMIT, balanced=True),
        "standard": near(ALL_TOKENS, (128, 512), (1,), NEAR_LIMIT, balanced=True),
    },
    replicates=(16, 2048),
    rule=rc.CriticalLocation(rc.Region(0.955, 1.055), scan="dim"),
    why="""log V is not large: the finite-size theory puts the ratio at 1.03 at V = 128, 0.99 at
        512, and 0.975 to 1.05 in the regime. This ratio is up to 1.5% too high, so 0.96 to 1.05;
        0.005 on either side is for sampling error. The regime went on to V = 4096 until we saw the
        ratio of 0.955 there. Looks follow pilots with other seeds""",
    controls=(
        rc.times(1 / 2, "half-threshold", "d^2 = 2 V log V, the threshold for half of the tokens"),
        rc.times(1 / math.sqrt(2), "half-the-constant", HALF_AT_ALL),
        rc.times(0.88),
    ),
    plot=ALL_RIGHT,
)
