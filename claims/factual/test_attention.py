"""Factual recall by attention alone: explicit weights whose codes are the logits."""

from collections.abc import Callable, Iterable

import numpy as np
import torch

from claims.factual.test_task import Observables, each, shapes, sizes
from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    CriticalLocation,
    MeanDifference,
    MeanRatio,
    Plot,
    Region,
    Source,
    claim,
    grid,
)
from simulation.factual import constructions, task
from theory.factual import constructions as theory

SOURCE = Source("B", "B3", "B4", provenance="derived", reference="theory/factual/constructions.py")
LENGTH = 32
FACTORS = (0.85, 0.95, 1.06, 1.2)
WIDER = (0.7, 0.85, 1.0, 1.25)


def logits_of_attention(
    rng: np.random.Generator, facts: task.Facts, length: int = LENGTH
) -> torch.Tensor:
    """Logits of all facts, one prompt each, by attention with a head for every two tokens."""
    weights = constructions.attention_only(facts, head_dim=2)
    prompts = task.prompts(rng, facts, length=length)
    return constructions.attend(weights, facts, prompts) @ facts.outputs.T


def all_by_attention(cell: Cell, block: Block) -> Observables:
    """Whether attention alone recalls all facts."""
    return each(
        cell,
        block,
        lambda rng, facts: bool(constructions.right(logits_of_attention(rng, facts), facts).all()),
    )


def attention_dim(cell: Cell) -> float:
    """The predicted dimension for all facts by attention alone."""
    return theory.attention_dim(**sizes(cell))


def attention_accuracy(cell: Cell) -> float:
    """The predicted accuracy of attention alone."""
    return theory.attention_accuracy(**sizes(cell), dim=cell["dim"])


def selective_dim(cell: Cell) -> float:
    """The predicted dimension at which heads no longer mistake their tokens."""
    tokens = 2 * cell["subjects"]
    return theory.selective_dim(
        cell["group"], tokens // cell["group"], 2 * tokens + 1, margin=constructions.MARGIN
    )


def focus(cell: Cell, *, length: int | None = None) -> float:
    """The predicted attention on the subject."""
    return theory.focus(
        length or cell["length"], cell["dim"], cell["group"], margin=0.5, scale=cell["scale"]
    )


def scanned(
    settings: Iterable[Cell],
    name: str,
    half: Callable[[Cell], float],
    factors: Iterable[float] = FACTORS,
) -> tuple[Cell, ...]:
    """Cells at multiples of a predicted critical value."""
    return tuple(s.replace(**{name: round(f * half(s))}) for s in settings for f in factors)


STORED = shapes((16, 16, 8), (64, 16, 8), (16, 32, 4), (64, 8, 32), (128, 4, 64))
CORNERS = grid(subjects=(16, 64), relations=(8, 24), answers=4)
SOFT = grid(subjects=16, dim=256, group=(2, 4), scale=(8.0, 10.0), length=(8, 128, 512))
SELECTIVE = grid(subjects=16, group=(1, 4)) + grid(subjects=32, group=8)


@claim(
    "B.attention-selective",
    "The dimension from which heads tell their tokens from all others",
    source=SOURCE,
    latex=r"\big(E F(\tau h)^{V-g-1}\big)^H = \frac12,\quad d\approx (g+\tau^2)"
    r"\Big(1+\frac{2\ln VH}{\tau^2}\Big)",
    regime="S = R from 16 to 32, groups of 1 to 8 tokens, as many noise tokens as others",
    cells=lambda: {
        "smoke": scanned(SELECTIVE[:1], "dim", selective_dim, WIDER),
        "standard": scanned(SELECTIVE, "dim", selective_dim, WIDER),
        "full": scanned((*SELECTIVE, Cell(subjects=64, group=16)), "dim", selective_dim, WIDER),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.93, 1.07), scan="dim"),
    why="""The law of the key vectors' length is exact at tau = 1, 1% off at 0.85; tokens
        and heads are taken as independent, though all keys contain the EOS embedding.""",
    predict=selective_dim,
    controls=(
        Control(
            "one-head",
            "a union bound over the tokens of a single head",
            predict=lambda cell: theory.selective_dim(
                cell["group"], 1, 4 * cell["subjects"] + 1, margin=constructions.MARGIN
            ),
        ),
        Control(
            "orthogonal",
            "a dimension for every token",
            predict=lambda cell: 4 * cell["subjects"] + 1,
        ),
    ),
    plot=Plot(x="dim", group=("subjects", "group"), collapse=True),
    critical=selective_dim,
)
def selective(cell: Cell, block: Block) -> Observables:
    """A head that scores the g tokens of its group 1 and EOS tau is misled by no other token once d
    exceeds about (g + tau^2)(1 + 2 ln(VH)/tau^2): of the order of the group, not of the
    vocabulary."""

    def run(rng: np.random.Generator, facts: task.Facts) -> bool:
        weights = constructions.attention_only(facts, head_dim=cell["group"])
        scores = constructions.token_scores(weights, facts) / constructions.SCALE
        own = torch.arange(2 * cell["subjects"], device=scores.device).view(len(scores), -1)
        scores.scatter_(1, own, 0.0)
        return bool(scores[:, :-1].max() < constructions.MARGIN)

    shape = Cell(subjects=cell["subjects"], relations=cell["subjects"], answers=2, dim=cell["dim"])
    return each(shape, block, run)


@claim(
    "B.attention-focus",
    "How much attention the subject gets, and when length matters",
    source=SOURCE,
    latex=r"w = \frac{1}{1+e^{-\beta(1-\tau)}+(T-2)e^{-\beta+\beta^2\sigma^2/2}},\quad"
    r"\sigma^2=\frac{g+\tau^2}{d-g}",
    regime="""soft scores, beta = 8 and 10, so that 512 tokens take a visible share; tau = 1/2""",
    cells={
        "smoke": grid(subjects=16, dim=256, group=2, scale=8.0, length=(8, 512)),
        "standard": SOFT,
        "full": SOFT,
    },
    replicates=16,
    looks=3,
    rule=MeanRatio(Region(0.985, 1.015)),
    why="""Replacing the strangers' exponentials by their mean errs by the variance of
        their sum, below 1% at these sizes.""",
    predict=focus,
    controls=(
        Control("no-length", "as if T = 8", predict=lambda cell: focus(cell, length=8)),
        Control(
            "no-overlaps",
            "strangers score 0: embeddings orthogonal",
            predict=lambda cell: focus(cell.replace(dim=10**6)),
        ),
    ),
    plot=Plot(x="length", group=("group", "scale")),
)
def attention_focus(cell: Cell, block: Block) -> Observables:
    """The prompt's length enters the softmax only through T exp(-beta), raised by the overlaps of
    the embeddings: a scale beta above ln T makes it irrelevant, a smaller one does not."""

    def run(rng: np.random.Generator, facts: task.Facts) -> float:
        weights = constructions.attention_only(
            facts, head_dim=cell["group"], margin=0.5, scale=cell["scale"]
        )
        prompts = task.prompts(rng, facts, length=cell["length"])
        return float(constructions.focus(weights, facts, prompts).mean())

    shape = Cell(subjects=16, relations=16, answers=4, dim=cell["dim"], noise=512)
    return each(shape, block, run)


@claim(
    "B.attention-length",
    "At a firm scale the accuracy does not depend on the prompt's length",
    source=SOURCE,
    latex=r"\mathrm{Acc}(T=512) = \mathrm{Acc}(T=8)",
    regime="""beta = 100, where T exp(-beta (1 - tau)) < 2e-4; d at 70% of the threshold, where some
        2% of the facts fail.""",
    cells=lambda: scanned(STORED[:2], "dim", attention_dim, (0.7,)),
    replicates=32,
    looks=1,
    rule=MeanDifference(Region(-0.001, 0.001)),
    why="a weight of 2e-4 on noise tokens moves only facts that are decided by as little",
    predict=lambda cell: 0.0,
    controls=(
        Control(
            "diluted",
            "attention spread over T tokens: at T = 512 hardly a fact is left",
            predict=lambda cell: -attention_accuracy(cell),
        ),
    ),
    plot=None,
)
def attention_length(cell: Cell, block: Block) -> Observables:
    """With scores well above ln T the same facts are recalled from prompts of 8 and of 512 tokens,
    in the same embeddings."""

    def run(rng: np.random.Generator, facts: task.Facts) -> float:
        short, long = (
            constructions.accuracy(logits_of_attention(rng, facts, length), facts)
            for length in (8, 512)
        )
        return long - short

    return each(cell, block, run)


@claim(
    "B.attention-accuracy",
    "Accuracy of attention alone below its threshold",
    source=SOURCE,
    latex=r"\mathrm{Acc} = E F(h_R)^{D-1}\,E F(h_D)^{R-1}(1-q)^{(R-1)(D-1)},\quad"
    r"h_n^2\sim\mathrm{Beta}\Big(\frac{d-n+1}2,\frac{(n-1)(d-1)}2\Big)",
    regime="d at 60 and 75% of the threshold; R and D dominate in turn; focus is perfect",
    cells=lambda: {
        "smoke": scanned(STORED[:1], "dim", attention_dim, (0.6,)),
        "standard": scanned(STORED[:4], "dim", attention_dim, (0.6, 0.75)),
        "full": scanned(STORED, "dim", attention_dim, (0.6, 0.75)),
    },
    replicates=32,
    looks=4,
    rule=MeanDifference(Region(-0.01, 0.01)),
    why="""The laws are exact; codes that share an embedding are taken as independent, of
        relative order 1/d in the number of errors; 1% is the resolution asked for.""",
    predict=attention_accuracy,
    controls=(
        Control(
            "swapped",
            "the roles of R and D exchanged",
            predict=lambda cell: theory.attention_accuracy(
                cell["subjects"], 2 * cell["answers"], cell["relations"], cell["dim"]
            ),
        ),
        Control(
            "plain-sum",
            "noise n/d in place of n/(d - n): codes that do not solve for their answers",
            predict=lambda cell: attention_accuracy(
                cell.replace(dim=cell["dim"] + max(cell["relations"], cell["answers"]))
            ),
        ),
    ),
    plot=Plot(x="dim", group=("subjects", "relations", "answers"), log=""),
)
def accuracy_of_attention(cell: Cell, block: Block) -> Observables:
    """Heads that add the least code with logit 1 at a token's answers err only where a rival's
    embedding reaches beyond the affine hull of those answers."""
    return each(
        cell,
        block,
        lambda rng, facts: constructions.accuracy(logits_of_attention(rng, facts), facts),
    )


@claim(
    "B.attention-threshold",
    "The dimension in which attention alone stores every fact",
    source=SOURCE,
    latex=r"\big(E F(h_R)^{R(D-1)}\big)^S\big(E F(h_D)^{(R-1)K}\big)^Re^{-\mu}=\frac12,\quad"
    r"K = D\big(1-(1-1/D)^S\big)",
    regime="""softmax attention over prompts of 32 tokens, 256 to 1024 facts, 4 (S+R) d parameters;
        R and D dominate in turn; focus is perfect at these dimensions.""",
    cells=lambda: {
        "smoke": scanned(shapes((64, 4, 16)), "dim", attention_dim),
        "standard": scanned(STORED, "dim", attention_dim),
        "full": scanned((*STORED, *shapes((256, 32, 8), (256, 64, 16))), "dim", attention_dim),
    },
    replicates=32,
    looks=4,
    rule=CriticalLocation(Region(0.93, 1.07), scan="dim"),
    why="""Failures of different tokens are taken as independent, though they share
        embeddings; a factor of 1.5 in their number moves the threshold by 4%.""",
    predict=attention_dim,
    controls=(
        Control(
            "union-bound",
            "a relation's rivals counted once for every subject",
            predict=lambda cell: theory.attention_dim(**sizes(cell), shared_rivals=False),
        ),
        Control(
            "swapped",
            "the roles of R and D exchanged",
            predict=lambda cell: theory.attention_dim(
                cell["subjects"], cell["answers"], cell["relations"]
            ),
        ),
        Control(
            "no-subjects",
            "the logarithm of the number of subjects dropped",
            predict=lambda cell: attention_dim(cell.replace(subjects=1)),
        ),
    ),
    plot=Plot(x="dim", group=("subjects", "relations", "answers"), collapse=True),
    critical=attention_dim,
)
def attention_threshold(cell: Cell, block: Block) -> Observables:
    """Attention without an MLP recalls all S R facts, from prompts with noise tokens and with an
    exact softmax, from a dimension of about max(R (1 + 2 ln SRD), D (1 + 2 ln R^2 D)) on."""
    return all_by_attention(cell, block)


@claim(
    "B.attention-parameters",
    "Attention's parameters are linear in the facts, up to logarithms",
    source=SOURCE,
    latex=r"d^*\propto S^{0}R^{1}\ \text{up to logs},\quad 4Hd_hd^* = 4(S+R)d^*",
    regime="D = 4 below R, S by a factor of 4 and R by 3; exponents of the finite-size theory",
    cells=lambda: {
        "standard": scanned(CORNERS, "dim", attention_dim),
        "full": scanned(CORNERS, "dim", attention_dim),
    },
    replicates=32,
    looks=3,
    rule=CriticalExponents(
        {"subjects": 0.0, "relations": 1.0}, 0.1, scan="dim", reference="prediction"
    ),
    why="""A threshold 4% off at each end, the error granted to the theory, shifts an
        exponent over a factor of 3 by 0.07.""",
    predict=attention_dim,
    controls=(
        Control(
            "one-matrix",
            "d^2 proportional to the facts, as for a single matrix of associations",
            rule=CriticalExponents({"subjects": 0.5, "relations": 0.5}, 0.1, scan="dim"),
        ),
        Control(
            "no-logarithm",
            "d proportional to R and independent of S",
            rule=CriticalExponents({"subjects": 0.0, "relations": 1.0}, 0.02, scan="dim"),
        ),
    ),
    plot=Plot(x="dim", group=("subjects", "relations"), collapse=True),
    critical=attention_dim,
)
def attention_parameters(cell: Cell, block: Block) -> Observables:
    """The dimension grows with R and, but for a logarithm, not with S: with H d_h = S + R the
    4 (S + R) d parameters are linear in the S R facts where S is at least R and R at least D."""
    return all_by_attention(cell, block)
