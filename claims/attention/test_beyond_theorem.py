"""Exploratory claims that each relax one assumption of the theorem; none fails a run."""

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from torch import Tensor

import recall_claims as rc
from claims.attention.common import LOCALISATION
from claims.common import measuring, relaxing, table
from simulation.attention import relaxed, sampling, two_layers
from theory.attention import critical, localisation, signal
from theory.attention.problem import Problem

SOURCE = rc.Source("A", "A5")
LENGTH = 16
GRID = rc.grid(vocab_size=64, length=LENGTH, dim=16, samples=(50, 97, 195))
FEW = table(
    "vocab_size length dim samples",
    *((64, 16, 16, n) for n in (10, 40)),
    *((64, 64, 16, n) for n in (20, 80)),
)

exploratory = relaxing(
    "localisation",
    source=SOURCE,
    predict=rc.on(Problem, localisation.probability),
    latex=r"P_{relaxed}(V, L, N, d) = P(V, L, N, d)",
    regime="The middle of the transition: half, once and twice the critical number of samples.",
    cells={"standard": GRID},
    replicates=(64, 16384),
    rule=rc.ProportionDifference(rc.Region(-0.12, 0.12)),
    why="three times 0.04, the largest error that the theory states: a smaller change would not be "
    "visible in the curve",
    plot=rc.Plot(x="samples", y_label="localisation probability"),
)
Trained = Callable[..., Tensor]
"""Function from training batches and their generators to the share of fresh sequences localised."""


def beyond(
    name: str, title: str, assumption: str, statement: str, trained: Trained, **own: Any
) -> rc.Claim:
    """Declare a claim that the theorem's localisation probability holds without an assumption.

    ``trained``: function that trains and tests; it takes a keyword ``sharpness`` if the cells have
    this parameter.  ``own``: arguments of this claim alone.
    """

    @wraps(trained, assigned=())  # so that checks of the claim see the code of `trained`
    def localised(cell: rc.Cell, block: rc.Block) -> Tensor:
        more = {name: cell[name] for name in ("sharpness",) if name in cell}
        return trained(block.draw(sampling.draw, cell.without(*more)), block.rngs, **more)

    declare = measuring(localised, exploratory)
    return declare(f"A.beyond-{name}", title, assumption, statement, **own)


def sharpened(multiple: float) -> dict[str, tuple[rc.Cell, ...]]:
    """Make the grid in which the trigger adds ``multiple`` * log L to a logit, on average.

    The logit is the score times gamma eta, the product of the two step sizes.
    """
    logit = multiple * math.log(LENGTH)
    cells = (c.replace(sharpness=logit / signal.trigger_signal(Problem.of(c))) for c in GRID)
    return {"standard": tuple(cells)}


def descended(batch: sampling.Batch, rngs: Sequence[np.random.Generator]) -> Tensor:
    """Measure localisation after 150 steps of gradient descent, at a rate at which losses fall.

    At a rate of 100 some losses rise.
    """
    return relaxed.trained(batch, rngs, optimiser="SGD", steps=150, rate=30.0)


soft_attention_sharp = beyond(
    "soft-attention-sharp",
    "Soft attention with logits of 8 log L localises like hard attention",
    "hard attention: soft, 8 log L",
    "With softmax attention instead of hard attention, at a trigger logit of 8 log L, the mean "
    "attention weight of the informative position is the localisation probability.",
    relaxed.attention_weight,
    cells=sharpened(8.0),
)
soft_attention_blunt = beyond(
    "soft-attention-blunt",
    "Soft attention with logits of log L falls short of hard attention",
    "hard attention: soft, log L",
    "With softmax attention instead of hard attention, at a trigger logit of log L, the mean "
    "attention weight of the informative position is the localisation probability. The trigger "
    "then weighs as much as L scores of zero.",
    relaxed.attention_weight,
    cells=sharpened(1.0),
)
fresh_batch = beyond(
    "fresh-batch",
    "With a fresh batch for the attention step, localisation is at least as likely",
    "one batch: a fresh one",
    "If the attention step gets new sequences, and not the ones that the value step had, attention "
    "finds the informative token at least as often.",
    relaxed.fresh_per_step,
    latex=r"P_{fresh}(V, L, N, d) \ge P(V, L, N, d)",
    rule=rc.OneSided(lower=0.0, method=rc.Betting(0, 1)),
    why="""new sequences lack the noise that the value step has stored, so they should do no worse;
        pilots under other seeds showed it""",
)
gradient_descent = beyond(
    "gradient-descent",
    "150 steps of gradient descent localise more often than three",
    "three steps: 150",
    "150 steps of full-batch gradient descent at rate 30 on all parameters localise as often as "
    "three.",
    descended,
    dtype="float64",  # 150 steps amplify rounding
    replicates=(16, 1024),
)


@relaxing("critical samples in L", source=SOURCE)(
    "A.beyond-gradient-descent-length",
    "After 150 gradient steps the critical samples grow more slowly with L than after three",
    "three steps: 150",
    predict=rc.on(Problem, critical.critical_samples_full),
    curve=rc.on(Problem, localisation.probability),
    latex=r"N_c \propto L^{e_L}",
    regime="L = 16 and 64; pilots of fifty larger steps, under seeds of 1000 and above, needed 20 "
    "to 40 samples or so here, far fewer than three steps do.",
    cells={"standard": FEW},
    dtype="float64",  # 150 steps amplify rounding
    replicates=(16, 1024),
    rule=rc.CriticalExponents({"length": 0.0}, 0.3, reference="prediction"),
    why="Narrow enough to distinguish nearly 2, the three-step law's exponent here, from 1.",
    plot=LOCALISATION,
)
def gradient_descent_length(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With 150 steps of gradient descent, the critical number of samples grows with L with the same
    exponent as with three steps."""
    return descended(block.draw(sampling.draw, cell), block.rngs)


adam = beyond(
    "adam",
    "A hundred steps of Adam localise more often than three gradient steps",
    "three steps: a hundred of Adam",
    "A hundred full-batch steps of Adam at rate 0.01, on the value matrix and the attention vector "
    "W q, localise as often as three gradient steps.",
    lambda batch, rngs: relaxed.trained(batch, rngs, optimiser="Adam", steps=100, rate=0.01),
    replicates=(16, 1024),
)
two_heads = beyond(
    "two-heads",
    "Each of two heads localises like a single one",
    "one head: two",
    "Each of two heads that start at zero localises as often as a single one.",
    lambda batch, rngs: relaxed.two_heads(batch, rngs, eta=1e-3),
)
two_small_layers = beyond(
    "two-layers",
    "After a small value step, the second of two layers localises like a single one",
    "one layer: two, small value step",
    "The second of two layers localises as often as a single one, where the value step writes "
    "vectors a tenth as long as embeddings.",
    lambda batch, rngs: two_layers.localised(batch, rngs, written=0.1)[1],
)
two_large_layers = beyond(
    "two-layers-large-step",
    "After a large value step, the second of two layers localises less often",
    "one layer: two, large value step",
    "The second of two layers localises as often as a single one, where the value step writes "
    "vectors as long as embeddings. Each layer then reads what the other has written.",
    lambda batch, rngs: two_layers.localised(batch, rngs, written=1.0)[1],
)
slightly_learned_embeddings = beyond(
    "learned-embeddings",
    "Embeddings that move by 5% of their length hardly change localisation",
    "fixed embeddings: learned, by 1/20",
    "The localisation probability is unchanged if the embeddings of tokens and labels move along "
    "the gradient, by 5% of their length, between value and attention step.",
    lambda batch, rngs: relaxed.learned_embeddings(batch, rngs, share=0.05),
)
much_learned_embeddings = beyond(
    "learned-embeddings-much",
    "Embeddings that move by 30% of their length make localisation rarer",
    "fixed embeddings: learned, by 3/10",
    "The localisation probability is unchanged if the embeddings of tokens and labels move along "
    "the gradient, by 30% of their length, between value and attention step.",
    lambda batch, rngs: relaxed.learned_embeddings(batch, rngs, share=0.3),
)
zipf_tokens = beyond(
    "zipf-tokens",
    "Zipf tokens are localised less often than uniform ones",
    "uniform tokens: Zipf",
    "With token frequencies proportional to 1/rank the localisation probability is the same as "
    "with uniform tokens.",
    lambda batch, rngs: relaxed.zipf(batch, rngs, power=1.0),
)
long_sequences = beyond(
    "long-sequences",
    "Localisation is as predicted for sequences as long as the vocabulary",
    "L below V: L = V",
    "The formula for the localisation probability also holds for L = V, although the theorem "
    "assumes L = V^c with c < 1.",
    relaxed.localised,
    source=rc.Source("A", "A5", "A8"),
    cells={"standard": rc.grid(vocab_size=64, length=64, dim=16, samples=(730, 1460, 2920))},
    replicates=(32, 4096),
)
correlated_embeddings = beyond(
    "correlated-embeddings",
    "Embeddings of mean overlap 0.1 hardly change localisation",
    "independent embeddings: overlap 0.1",
    "With token embeddings whose mean inner product is 0.1 the localisation probability is the "
    "same as with independent embeddings. The trigger stays independent.",
    lambda batch, rngs: relaxed.localised(relaxed.correlated(batch, overlap=0.1), rngs),
)
quiet_trigger = beyond(
    "quiet-trigger",
    "A trigger of norm 1/2 makes localisation rarer",
    "trigger of norm 1: of norm 1/2",
    "With a trigger embedding of half the norm the localisation probability is unchanged.",
    lambda batch, rngs: relaxed.localised(relaxed.quieter(batch, norm=0.5), rngs),
)
no_trigger = beyond(
    "no-trigger",
    "Without a trigger localisation is far less likely",
    "trigger of norm 1: none",
    "Without a trigger embedding the informative token is still found as often.",
    lambda batch, rngs: relaxed.localised(relaxed.quieter(batch, norm=0.0), rngs),
)
