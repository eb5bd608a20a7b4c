"""Beyond the theorems of paper B: which assumptions can be relaxed? Exploratory; fails no run.

Sizes, steps and rates were chosen by pilots of the flows, which have no chance in them.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from torch import Tensor

from claims.factual.common import rungs, shapes
from claims.factual.explicit_weights import each, recalled
from claims.factual.sequential import SEQUENTIAL, SMALL, stage_times
from recall_claims import (
    Betting,
    Block,
    Cell,
    CriticalLocation,
    Deterministic,
    MeanDifference,
    MeanRatio,
    OneSided,
    Plot,
    Region,
    Source,
    claim,
    on,
)
from simulation.factual import constructions, relaxed, task
from simulation.factual import sequential_learning as learning
from theory.factual import constructions as explicit
from theory.factual import sequential_learning as theory

SIZES = shapes((16, 4, 8), (8, 2, 4))
PLATEAU, ORDER, END, CAPACITY = "plateau", "order of learning", "loss ends at 0", "capacity"
LEARNED = 0.1
"""Nats; a path ends where its loss is below."""


def time_ratio(cell: Cell) -> float:
    """Half time of the subjects over that of the relations."""
    relation, subject = stage_times(cell)
    return subject / relation


beyond = partial(claim, source=SEQUENTIAL, replicates=2, looks=1)
plateau = partial(
    beyond,
    predict=on(theory.Sizes, theory.plateau),
    regime="two product dictionaries, relations first",
    cells={"standard": SIZES},
    rule=MeanDifference(Region(-0.1, 0.1), method=Deterministic()),
    why="within a tenth of a nat a reader of the curve sees the same plateau; nothing is drawn",
    plot=Plot("parity", y_label="flattest loss"),
)
"""A claim that the plateau is at log D with an assumption relaxed."""
order = partial(
    beyond,
    predict=time_ratio,
    latex=r"\frac{t_S}{t_R}",
    regime="two product dictionaries, relations first",
    cells={"standard": SIZES},
    rule=MeanRatio(Region(0.8, 1.25), method=Deterministic()),
    why="a quarter either way keeps the order and the distance of the stages; nothing is drawn",
    plot=Plot("parity", y_label="ratio of half times"),
)
"""A claim that the stages are as far apart as the theorem says with an assumption relaxed."""


def facts(cell: Cell, block: Block) -> learning.FactPrompts:
    """The published dictionary in every replicate."""
    shape = [cell[name] for name in ("subjects", "relations", "answers")]
    dictionaries = [learning.product_dictionary(*shape)] * block.replicates
    return learning.FactPrompts(
        dictionaries, answers=shape[2], device=block.device, dtype=block.dtype
    )


def descended(
    cell: Cell,
    block: Block,
    model: relaxed.Logits = relaxed.linear,
    *,
    scale: float = SMALL,
    rate: float = 0.5,
    most: int = 6000,
    optimiser: str = "gradient",
    decay: float = 0.0,
    frequencies: Callable[[learning.FactPrompts], Tensor] | None = None,
) -> learning.Losses:
    """Losses of full-batch descent until the facts are learned."""
    problem = facts(cell, block)
    return relaxed.descended(
        problem,
        model,
        relaxed.start(problem, model, scale),
        relaxed.all_pairs(problem),
        rate=rate,
        until=LEARNED,
        most=most,
        optimiser=optimiser,
        decay=decay,
        frequencies=frequencies(problem) if frequencies else None,
    )


def ratio(losses: learning.Losses) -> Tensor:
    """Half time of the subjects over that of the relations."""
    return learning.half_step(losses.subject) / learning.half_step(losses.relation)


def softmax(cell: Cell, block: Block) -> learning.Losses:
    """Softmax attention from equal scores."""
    return descended(cell, block, relaxed.softmax, rate=4.0)


def two_layers(cell: Cell, block: Block) -> learning.Losses:
    """Two layers from 0.03: from the published start they would not leave it."""
    return descended(cell, block, relaxed.two_layers, scale=0.03, rate=0.25)


def learned_embeddings(cell: Cell, block: Block) -> learning.Losses:
    """Embeddings that start one-hot and are trained with the rest, in steps that stay smooth."""
    return descended(cell, block, relaxed.embedded, rate=0.25)


def adam(cell: Cell, block: Block) -> learning.Losses:
    """Adam at 1e-3."""
    return descended(cell, block, rate=1e-3, optimiser="adam")


def decayed(cell: Cell, block: Block) -> learning.Losses:
    """Weight decay of a hundredth of the learning rate."""
    return descended(cell, block, decay=0.01, most=2000)


def large_steps(cell: Cell, block: Block) -> learning.Losses:
    """Forty times the published learning rate."""
    return descended(cell, block, rate=4.0)


def unequal(cell: Cell, block: Block) -> learning.Losses:
    """Subjects of frequency 1/i."""
    return descended(cell, block, frequencies=partial(relaxed.zipf, exponent=1.0))


@plateau(
    "B.beyond-softmax-plateau",
    "Softmax attention in the dynamics: the plateau",
    relaxes=("linear attention: softmax", PLATEAU),
)
def softmax_plateau(cell: Cell, block: Block) -> Tensor:
    """With softmax attention the loss is flattest at log D."""
    return learning.flattest(softmax(cell, block))


@order(
    "B.beyond-softmax-order",
    "Softmax attention in the dynamics: the ratio of the times",
    relaxes=("linear attention: softmax", ORDER),
)
def softmax_order(cell: Cell, block: Block) -> Tensor:
    """With softmax attention subjects take as many times longer than relations as with linear."""
    return ratio(softmax(cell, block))


@plateau(
    "B.beyond-two-layers-plateau",
    "Two layers of linear attention: the plateau",
    relaxes=("one layer: two", PLATEAU),
)
def two_layers_plateau(cell: Cell, block: Block) -> Tensor:
    """With a second layer, which the first one queries, the loss is flattest at log D."""
    return learning.flattest(two_layers(cell, block))


@order(
    "B.beyond-two-layers-order",
    "Two layers of linear attention: the ratio of the times",
    relaxes=("one layer: two", ORDER),
)
def two_layers_order(cell: Cell, block: Block) -> Tensor:
    """With a second layer subjects take as many times longer than relations as with one."""
    return ratio(two_layers(cell, block))


@plateau(
    "B.beyond-learned-embeddings-plateau",
    "Learned embeddings: the plateau",
    relaxes=("frozen embeddings: learned", PLATEAU),
)
def learned_embeddings_plateau(cell: Cell, block: Block) -> Tensor:
    """With embeddings that are trained as well the loss is flattest at log D."""
    return learning.flattest(learned_embeddings(cell, block))


@order(
    "B.beyond-learned-embeddings-order",
    "Learned embeddings: the ratio of the times",
    relaxes=("frozen embeddings: learned", ORDER),
)
def learned_embeddings_order(cell: Cell, block: Block) -> Tensor:
    """With learned embeddings subjects take as many times longer than relations as with frozen
    ones."""
    return ratio(learned_embeddings(cell, block))


@plateau(
    "B.beyond-adam-plateau",
    "Adam in place of gradient descent: the plateau",
    relaxes=("gradient descent: Adam", PLATEAU),
)
def adam_plateau(cell: Cell, block: Block) -> Tensor:
    """With Adam the loss is flattest at log D."""
    return learning.flattest(adam(cell, block))


@order(
    "B.beyond-adam-order",
    "Adam in place of gradient descent: the ratio of the times",
    relaxes=("gradient descent: Adam", ORDER),
)
def adam_order(cell: Cell, block: Block) -> Tensor:
    """With Adam subjects take as many times longer than relations as with gradient descent."""
    return ratio(adam(cell, block))


@plateau(
    "B.beyond-weight-decay-plateau",
    "Weight decay of 0.01: the plateau",
    relaxes=("no weight decay: 0.01", PLATEAU),
)
def weight_decay_plateau(cell: Cell, block: Block) -> Tensor:
    """With weight decay the loss is flattest at log D."""
    return learning.flattest(decayed(cell, block))


@order(
    "B.beyond-weight-decay-order",
    "Weight decay of 0.01: the ratio of the times",
    relaxes=("no weight decay: 0.01", ORDER),
)
def weight_decay_order(cell: Cell, block: Block) -> Tensor:
    """With weight decay subjects take as many times longer than relations as without."""
    return ratio(decayed(cell, block))


@plateau(
    "B.beyond-large-steps-plateau",
    "Forty times the published learning rate: the plateau",
    relaxes=("gradient flow: steps of 4", PLATEAU),
)
def large_steps_plateau(cell: Cell, block: Block) -> Tensor:
    """At a learning rate of 4 the loss is flattest at log D."""
    return learning.flattest(large_steps(cell, block))


@order(
    "B.beyond-large-steps-order",
    "Forty times the published learning rate: the ratio of the times",
    relaxes=("gradient flow: steps of 4", ORDER),
)
def large_steps_order(cell: Cell, block: Block) -> Tensor:
    """At a learning rate of 4 subjects take as many times longer than relations as in the flow."""
    return ratio(large_steps(cell, block))


@plateau(
    "B.beyond-zipf-subjects-plateau",
    "Zipf subjects: the plateau",
    relaxes=("equal frequencies: 1/i", PLATEAU),
)
def zipf_subjects_plateau(cell: Cell, block: Block) -> Tensor:
    """With subjects of frequency 1/i the loss is flattest at log D."""
    return learning.flattest(unequal(cell, block))


@order(
    "B.beyond-zipf-subjects-order",
    "Zipf subjects: the ratio of the times",
    relaxes=("equal frequencies: 1/i", ORDER),
)
def zipf_subjects_order(cell: Cell, block: Block) -> Tensor:
    """With subjects of frequency 1/i they take as many times longer than relations as if equal."""
    return ratio(unequal(cell, block))


ended = partial(
    beyond,
    latex=r"L(\infty) \le 0.1\,L(0)",
    cells={"standard": SIZES[1:]},
    replicates=32,
    looks=4,
    rule=OneSided(upper=0.1, method=Betting()),
    why="the theorem's model comes below a tenth in as many steps; the least loss of all steps "
    "is at most that at the start, so that what is left is between nothing and one",
    plot=Plot(x="subjects", y_label="share of the loss that is left"),
)
"""A claim that the loss goes to zero with an assumption relaxed."""
STEPS = 600


def left(path: learning.Losses) -> Tensor:
    """Share of the loss that is left, of what ends a path at least: they go on for the slowest."""
    return path.total.amin(0).clamp(min=LEARNED) / path.total[0]


@ended(
    "B.beyond-noise-subjects",
    "Noise tokens that are subjects",
    regime="29 of 32 tokens are subjects drawn at random; 3000 steps at rate 0.1, "
    "by when the theorem's model has learned the facts",
    relaxes=("noise is no subject: 29 subjects", END),
)
def noise_subjects(cell: Cell, block: Block) -> Tensor:
    """Where noise tokens are subjects too, the facts are still learned."""
    problem = facts(cell, block)
    counts = relaxed.noisy_pairs(problem, block.rngs, 4)
    begun = relaxed.start(problem, relaxed.linear, SMALL)
    path = relaxed.descended(
        problem, relaxed.linear, begun, counts, rate=0.1, until=LEARNED, most=5 * STEPS
    )
    return left(path)


@ended(
    "B.beyond-shared-answers",
    "Relations that share their answers",
    regime="random answers out of the same four for both relations; 600 steps at rate 0.5",
    relaxes=("own answers: shared ones", END),
)
def shared_answers(cell: Cell, block: Block) -> Tensor:
    """Where all relations choose among the same answers, the facts are still learned."""
    problem = relaxed.answers_shared(facts(cell, block), block.rngs)
    begun = relaxed.start(problem, relaxed.linear, SMALL)
    counts = relaxed.all_pairs(problem)
    path = relaxed.descended(
        problem, relaxed.linear, begun, counts, rate=0.5, until=LEARNED, most=STEPS
    )
    return left(path)


DIM = on(explicit.attention_dim)
stored = partial(
    claim,
    source=Source("B", "B4"),
    predict=DIM,
    regime="softmax attention over prompts of 32 tokens, explicit weights, 256 facts",
    cells=lambda: {"standard": rungs("dim", DIM, 0.1, *shapes((16, 16, 8)))},
    replicates=16,
    looks=8,
    rule=CriticalLocation(Region(0.9, 1.1), scan="dim"),
    why="the prediction is within 4%; a tenth more is what a reader would call the same dimension",
    plot=Plot(x="dim", y_label="all facts recalled"),
)
"""A claim that attention stores all facts from the same dimension on with an assumption relaxed."""


def recalls_all(rng: np.random.Generator, known: task.Facts, bits: int | None = None) -> bool:
    """Whether weights of so many bits, or exact ones, recall every fact."""
    weights = constructions.attention_only(known, head_dim=2)
    if bits is not None:
        weights = relaxed.quantised(weights, bits)
    return bool(recalled(rng, known, weights).all())


@stored(
    "B.beyond-overlapping-embeddings",
    "Embeddings with mean overlap 0.1",
    relaxes=("uniform embeddings: overlap 0.1", CAPACITY),
)
def overlapping_embeddings(cell: Cell, block: Block) -> Tensor:
    """Where all embeddings have a component in common, of mean product 0.1, attention stores all
    facts from the same dimension on."""
    return each(
        cell, block, lambda rng, known: recalls_all(rng, relaxed.overlapping(known, rng, 0.1))
    )


@stored("B.beyond-eight-bits", "Weights of eight bits", relaxes=("exact weights: 8 bits", CAPACITY))
def eight_bits(cell: Cell, block: Block) -> Tensor:
    """With every weight rounded to eight bits attention stores all facts from the same dimension
    on."""
    return each(cell, block, lambda rng, known: recalls_all(rng, known, bits=8))


@stored(
    "B.beyond-four-bits",
    "Weights of four bits",
    rule=CriticalLocation(Region(0.8, 1.25), scan="dim"),
    why="a pilot had shown that four bits cost about a tenth of the dimension; a quarter is what "
    "still is the same law",
    relaxes=("exact weights: 4 bits", CAPACITY),
)
def four_bits(cell: Cell, block: Block) -> Tensor:
    """With every weight rounded to four bits attention stores all facts from the same dimension
    on."""
    return each(cell, block, lambda rng, known: recalls_all(rng, known, bits=4))
