"""Paper A: signal and noise of the attention step through a fixed random layer.

The layer has m neurons with activation phi, whose derivative is phi'. The activations He2 and He3
are Hermite polynomials of second and third order. The terms M0, MB and MC are the noise that the
layer adds (theory/attention_mlp/noise.py).
"""

from functools import partial
from typing import Literal

from torch import Tensor

import recall_claims as rc
from claims.attention_mlp.common import critical_samples, through_layer
from claims.common import claim, measuring
from simulation.attention import localisation
from simulation.attention_mlp import end_to_end
from simulation.attention_mlp import three_steps as mlp
from theory.attention import noise as attention_noise
from theory.attention import signal
from theory.attention_mlp import localisation as predicted
from theory.attention_mlp import noise
from theory.attention_mlp.problem import MlpProblem

SOURCE = rc.Source("A", "A6", "A9", provenance="derived", reference="theory/attention_mlp/noise.py")
layer_claim = partial(claim, source=SOURCE, size=through_layer)
noise_claim = measuring(
    lambda cell, block: mlp.token_scores(*block.draw(mlp.draw, cell)).theta.var(1), layer_claim
)


def score_variance(cell: rc.Cell, *without: str) -> float:
    """Predict the variance of the token scores, without some terms."""
    problem = MlpProblem.of(cell)
    dropped = sum(noise.terms(problem)[symbol] for symbol in without)
    return (noise.variance(problem) - dropped) * signal.signal_unit(problem) ** 2


ATTENTION_ONLY = rc.Control(
    "attention-only",
    "the noise of the model without a layer",
    rc.on(MlpProblem, lambda p: attention_noise.variance(p) * signal.signal_unit(p) ** 2),
)
SIGNAL = rc.grid(
    activation=("relu", "gelu", "tanh", "he3"),
    trigger_in_values=(False, True),
    length=(8, 16),
    vocab_size=128,
    samples=512,
    dim=32,
    width=64,
)


@layer_claim(
    "A.mlp-signal",
    "Through the layer the trigger signal is the squared slope of the activation near 0",
    latex=r"\frac{E\theta_{trig}}{s_0}\approx b_1^2+\tau\frac{V}{N}\chi\left(1+\frac Ld\right),"
    r"\qquad b_1 = E\,\phi'(\varepsilon g),\quad\varepsilon^2\approx\frac1L",
    predict=rc.on(MlpProblem, noise.trigger_signal),
    regime=noise.LAYER.searched(
        "m >= 8, V >= 4 d, N >= V/3; the grid has four samples per token, so that neither 1/N nor "
        "1/V matters; activations whose slope at 0 is 1/2 (ReLU, GELU), 1 (tanh) and -1.2 (He3)",
        holds=lambda cell: (
            cell["width"] >= 8
            and cell["vocab_size"] >= 4 * cell["dim"]
            and 3 * cell["samples"] >= cell["vocab_size"]
        ),
        activation=("relu", "gelu", "tanh", "he3"),
    ),
    cells={"smoke": (SIGNAL[0], SIGNAL[10], SIGNAL[12]), "standard": SIGNAL},
    replicates={"smoke": (256, 1024), "standard": (128, 1024), "full": (1024, 8192)},
    rule=partial(rc.MeanRatio, by="activation"),
    why="the formula states an error of 7%; omitted terms, of order 1/(Ld) and 1/L^2, are 2% at "
    "L = 8",
    controls=(
        rc.Control(
            "attention-only",
            "the signal of the model without a layer",
            rc.on(MlpProblem, signal.trigger_signal),
        ),
        rc.Control(
            "unit-scale",
            "the slope that recall sees, at arguments of scale 1 (0.1 for He3, instead of 0)",
            rc.on(
                MlpProblem, lambda p: (0.01 + p.unit.derivatives[1] ** 2) * signal.trigger_signal(p)
            ),
        ),
        rc.at("no-excess", "a trigger in the values adds nothing", trigger_in_values=False),
        rc.times(1.15),
    ),
    plot=rc.Plot("parity", y_label="trigger score", log="xy"),
)
def mlp_signal(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Attention learns the trigger through a random layer, with a signal of b_1^2 times the signal
    without a layer. Here b_1 is the activation's mean slope at inputs of variance about 1/L,
    since values are averaged over a sequence. If the trigger is in the values, an excess
    chi (V/N)(1 + L/d) is added to b_1^2, with chi the mean slope of phi phi'."""
    return mlp.token_scores(*block.draw(mlp.draw, cell)).trigger


BIAS = rc.grid(
    activation="0.3he1+he2+he3",
    width=(16, 64, 256),
    length=(16, 32),
    samples=(256, 1024),
    vocab_size=256,
    dim=32,
)
BIASED = noise.SPARSE.searched(
    "d >= 32, L >= 16, N >= V; phi(0) = -0.7; on the grid, M0 is 20% to 88% of the variance",
    holds=lambda cell: (
        cell["dim"] >= 32 and cell["length"] >= 16 and cell["samples"] >= cell["vocab_size"]
    ),
    vocab_size=range(256, 1025, 64),
    length=range(16, 65, 8),
    dim=range(32, 97, 8),
    activation=("0.3he1+he2+he3",),
    trigger_in_values=(False,),
)

mlp_weight_mean_bias = noise_claim(
    "A.mlp-weight-mean-bias",
    "An activation's offset makes the mean weight row a bias of variance M0",
    """If phi phi' has a mean, the mean row of the random layer acts like a token embedding that
    every sample stores, because its label agrees with itself. The noise M0 of this row dominates
    the token scores.""",
    latex=r"M_0 = \frac{L^4t_3}{mN^2}\left[\bar\psi^2+\frac{\bar\psi\bar\psi_1+\bar\psi_1^2}{d}"
    r"+\frac{\chi^2}{V}\right],\qquad\bar\psi = E\phi\phi'+\frac NV\frac{b_1b_2}{L^2}",
    predict=score_variance,
    regime=BIASED,
    cells={"smoke": BIAS[::3], "standard": tuple(cell for cell in BIAS if cell["width"] != 64)},
    replicates={"smoke": (256, 1024), "full": (1024, 4096)},
    rule=rc.MeanRatio(rc.Region(0.85, 1.15), by=(), method=rc.Student(spent=0.25)),
    why="weight rows of random norm shift moments by 10% at d = 32; the rest is statistical",
    controls=(
        rc.Control("no-M0", "M0 is left out", lambda cell: score_variance(cell, "M0")),
        ATTENTION_ONLY,
        rc.times(1.35),
    ),
    plot=rc.Plot("parity", y_label="variance of token scores", log="xy"),
)

mlp_bias_exponents = noise_claim(
    "A.mlp-bias-exponents",
    "Where the mean-row noise M0 is large, variance falls as m^-0.84 N^-1.8, near 1/(m N^2)",
    """Where the mean weight row gives most of the noise, the variance of the token scores falls as
    powers of the width and of the samples. The exponents are the formulas' on this grid, -0.84 and
    -1.79. M0 alone, the variance from the mean weight row, has -1 and -2.""",
    latex=r"\mathrm{Var}_v\theta_v\propto\frac{1}{mN^2}\cdot\frac{L^4}{L^4V^2}",
    predict=score_variance,
    regime=BIASED.searched(without=("trigger_in_values",)),
    cells={"standard": BIAS},
    replicates={"standard": (256, 512), "full": (1024, 2048)},
    rule=rc.Exponents({"width": -1.0, "samples": -2.0}, half_width=0.15, reference="prediction"),
    why="an error of 15% in a term moves an exponent by 0.05; the rest is statistical. The region "
    "is centred on the exponents of the predicted total",
    controls=(
        rc.Control(
            "no-M0", "the exponents without M0 and MB", lambda c: score_variance(c, "M0", "MB")
        ),
        rc.power("width-exponent", "a power of m that is higher by 0.4", width=0.4),
    ),
    plot=rc.Plot(
        x="width", group=("length", "samples"), y_label="variance of token scores", log="xy"
    ),
)

NARROW = tuple(
    rc.Cell(activation=name, width=width, samples=samples, length=16, vocab_size=512, dim=48)
    for name in ("tanh", "he3")
    for width, samples in ((4, 256), (8, 256), (4, 512), (16, 256))
)

mlp_finite_width = noise_claim(
    "A.mlp-finite-width",
    "A narrow layer adds two noise terms, MC and MB, even for odd activations",
    """The kernel of m random neurons differs from its mean for every pair of samples; this adds
    gradient noise proportional to 1/m, which dominates where m is far below d.""",
    latex=r"M_C = \frac{L^3}{(1-1/L)N^2}\left[\frac{t_2^2E\phi^2E\phi'^2}{m}"
    r"+\frac{Vt_2E\phi^2\phi'^2}{mN}\right],\quad "
    r"M_B = \frac{L^4t_2t_3}{VmN^2}(E\phi^2E\phi'^2+\psi^2)",
    predict=score_variance,
    regime=noise.LAYER.searched(
        "m >= 4, d >= 48, L >= 16, V >= 8 d, N >= V/2; odd activations have no bias M0 at "
        "leading order. On the grid MC and MB together are about half of the variance",
        holds=lambda cell: (
            cell["dim"] >= 48
            and cell["length"] >= 16
            and cell["vocab_size"] >= 8 * cell["dim"]
            and 2 * cell["samples"] >= cell["vocab_size"]
        ),
        vocab_size=range(384, 1025, 64),
        length=range(16, 65, 8),
        dim=range(48, 129, 8),
        activation=("tanh", "he3"),
        trigger_in_values=(False,),
    ),
    cells={"smoke": NARROW[1:4:2], "standard": NARROW},
    replicates={"smoke": (256, 2048), "full": (1024, 8192)},
    rule=rc.MeanRatio(rc.Region(0.85, 1.15), by="activation"),
    why="the neglected terms are of relative order V/(NL), 6% and 12% here, as N is near V. Random "
    "norms of weight rows add the activation's degree over d, 2% (tanh) to 6% (He3)",
    controls=(
        rc.Control(
            "infinite-width",
            "the layer's own noise is left out",
            lambda cell: score_variance(cell, "MC", "MB"),
        ),
        rc.at("twice-the-width", "half the noise from the layer", width=lambda c: 2 * c["width"]),
        ATTENTION_ONLY,
    ),
    plot=rc.Plot(
        x="width", group=("activation", "samples"), y_label="variance of token scores", log="xy"
    ),
)

LARGEST_TERM = (
    rc.Cell(activation="relu", length=16, dim=32, width=64, vocab_size=256, samples=1),  # M0
    rc.Cell(activation="tanh", length=32, dim=32, width=64, vocab_size=256, samples=1),  # A
    rc.Cell(activation="he3", length=16, dim=32, width=32, vocab_size=256, samples=1),  # C and MC
)
RUNGS = (0.65, 0.87, 0.95, 1.05, 1.15, 1.5)


@layer_claim(
    "A.mlp-critical-samples",
    "The Attention-MLP needs the predicted number of samples to localise, within 15%",
    predict=critical_samples,
    regime=predicted.CRITICAL.searched(
        "on the grid, M0 (ReLU) or A (tanh) is the largest term, or C and MC are (He3)",
        activation=("relu", "gelu", "tanh", "he3"),
    ),
    cells={"standard": lambda: rc.ladder(LARGEST_TERM, "samples", critical_samples, RUNGS)},
    from_pilot=True,
    replicates={"standard": (128, 16384), "full": (512, 65536)},
    rule=rc.CriticalLocation(rc.Region(0.87, 1.15)),
    why="the localisation formula states an error of 0.02, which is 5% in N by its slope in log N, "
    "0.45. The noise terms are good to 10%, which is 5% in N; the rest is statistical",
    controls=(
        rc.at(
            "attention-only-noise",
            "the noise of a linear layer",
            activation="identity",
            width=2**20,
        ),
        rc.at("infinite-width", "the layer's own noise is left out", width=2**20),
        rc.times(1.45),
    ),
    plot=rc.Plot(
        x="samples",
        group=("activation",),
        collapse=True,
        y_label="share of sequences in which the token is found",
    ),
)
def mlp_critical_samples(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Attention through a random layer finds the informative token in half of all sequences at the
    predicted number of samples. The activation enters this number only through its moments at
    inputs of variance about 1/L, since values are averaged over a sequence."""
    scores = mlp.token_scores(*block.draw(mlp.draw, cell))
    return localisation.probability(scores, length=cell["length"])


def design(
    name: str,
    worse: str,
    title: str,
    statement: str,
    sizes: rc.Cell,
    reached: Literal["localisation", "hit"],
) -> rc.Claim:
    """Declare a claim that He3 beats the activation ``worse`` after three steps.

    He3's probability is higher by 0.1 or more. ``reached`` says which probability is compared: it
    is a field of `end_to_end.Outcome`.
    """

    def contest(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
        outcomes = {
            name: end_to_end.run(*block.draw(mlp.draw, cell, activation=name))
            for name in ("he3", worse)
        }
        found = {name: getattr(outcome, reached) for name, outcome in outcomes.items()}
        return found | {"difference": found["he3"] - found[worse]}

    return measuring(contest)(
        f"A.mlp-design-{name}",
        title,
        statement,
        source=SOURCE,
        regime="Equal sizes for both activations, chosen by the formulas so that the step in "
        "question is the bottleneck of the worse one.",
        cells=(sizes,),
        replicates={"smoke": (8, 512), "full": (64, 4096)},
        rule=rc.Ordering(smaller=worse, larger="he3", margin=0.1, method=rc.Betting(0, 1)),
        why="A difference of less than 0.1 in probability would not decide between activations.",
        controls=(
            rc.Control(
                "reverse",
                "He3 gives the lower probability",
                rule=rc.Ordering(smaller="he3", larger=worse, method=rc.Betting(0, 1)),
            ),
            rc.Control(
                "no-matter",
                "the activation moves the probability by less than 0.1",
                rule=rc.OneSided(upper=0.1, observable="difference", method=rc.Betting(-1, 1)),
            ),
        ),
    )


mlp_design_slope = design(
    "slope",
    "he2",
    "No slope at 0, no trigger signal: Hermite's He2 fails where He3 localises",
    "Attention sees the activation at the scale L^{-1/2} of mean values, so the activation needs a "
    "slope at 0. An even activation localises far less often than an odd one of equal variance.",
    rc.Cell(vocab_size=256, length=16, samples=1024, dim=32, width=128),
    "localisation",
)
mlp_design_offset = design(
    "offset",
    "he2+he3",
    "An offset phi(0) adds a bias: He2 + He3 localises less often than He3 alone",
    "An offset phi(0) turns the mean weight row into a bias of the attention step. Adding He2 to "
    "He3 adds an offset, leaves the slope at 0 unchanged, and makes localisation rarer.",
    rc.Cell(vocab_size=256, length=32, samples=384, dim=32, width=64),
    "localisation",
)
mlp_design_linear = design(
    "linear",
    "tanh",
    "A linear part at unit scale caps recall: He3 is more accurate than tanh",
    "Recall sees the activation at inputs of scale 1, where a nonzero first Hermite coefficient "
    "caps the capacity at a constant times d^2. Without this coefficient the three steps reach a "
    "higher accuracy.",
    rc.Cell(vocab_size=256, length=16, samples=2048, dim=32, width=256),
    "hit",
)
