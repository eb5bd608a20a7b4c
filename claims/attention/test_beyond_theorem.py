"""Beyond the theorem: which assumptions can be relaxed? Exploratory, and never fails a run."""

import math

from torch import Tensor

import recall_claims as rc
from claims.attention.common import LOCALISATION
from claims.common import relaxing, table
from simulation.attention import relaxed, sampling, two_layers
from theory.attention import critical, localisation, signal
from theory.attention.problem import Problem

SOURCE = rc.Source("A", "A5")
LENGTH = 16
GRID = rc.grid(vocab_size=64, length=LENGTH, dim=16, samples=(50, 97, 195))
LONG = rc.grid(vocab_size=64, length=64, dim=16, samples=(730, 1460, 2920))
FEW = table(
    "vocab_size length dim samples",
    *((64, 16, 16, n) for n in (10, 40)),
    *((64, 64, 16, n) for n in (20, 80)),
)

beyond = relaxing(
    "localisation",
    source=SOURCE,
    predict=rc.on(Problem, localisation.probability),
    latex=r"P_{relaxed}(V, L, N, d) = P(V, L, N, d)",
    regime="The middle of the transition: half, once and twice the critical number of samples.",
    cells={"standard": GRID},
    replicates=64,
    looks=9,
    rule=rc.ProportionDifference(rc.Region(-0.12, 0.12)),
    why="Twice the stated error of the theory itself, 0.06: within it, a reader of "
    "the curve would not notice the relaxation.",
    plot=rc.Plot(x="samples", y_label="localisation probability"),
)
"""A claim that the theorem's localisation probability holds with an assumption relaxed."""


def sharpened(multiple: float) -> tuple[rc.Cell, ...]:
    """The grid with gamma eta E theta_trig = multiple * log L."""
    logit = multiple * math.log(LENGTH)
    return tuple(
        cell.replace(sharpness=logit / signal.trigger_signal(Problem.of(cell))) for cell in GRID
    )


def drawn(cell: rc.Cell, block: rc.Block) -> sampling.Batch:
    """A training batch."""
    return block.draw(sampling.draw, cell.without("sharpness"))


def attention_weight(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Mean attention weight of the informative position."""
    batch = drawn(cell, block)
    return relaxed.attention_weight(batch, block.rngs, sharpness=cell["sharpness"])


def descended(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Localisation after 150 steps of gradient descent; at a rate of 100 the loss of some rises."""
    batch = drawn(cell, block)
    return relaxed.trained(batch, block.rngs, optimiser="SGD", steps=150, rate=30.0)


@beyond(
    "A.beyond-soft-attention-sharp",
    "Soft attention, gamma eta large: 8 log L",
    "hard attention: soft, 8 log L",
    cells={"standard": sharpened(8.0)},
)
def soft_attention_sharp(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With softmax attention in place of hard attention, at a trigger logit of 8 log L, the mean
    attention weight of the informative position is the localisation probability."""
    return attention_weight(cell, block)


@beyond(
    "A.beyond-soft-attention-blunt",
    "Soft attention, gamma eta moderate: log L",
    "hard attention: soft, log L",
    cells={"standard": sharpened(1.0)},
)
def soft_attention_blunt(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The same at a trigger logit of log L: the trigger alone outweighs L equal scores."""
    return attention_weight(cell, block)


@beyond(
    "A.beyond-fresh-batch",
    "A fresh batch for the attention step",
    "one batch: a fresh one",
    latex=r"P_{fresh}(V, L, N, d) \ge P(V, L, N, d)",
    rule=rc.OneSided(lower=0.0, method=rc.Betting(0, 1)),
    why="""New sequences carry none of the noise of those that the value step has stored. Pilots
        under other seeds had shown the sign.""",
)
def fresh_batch(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The attention step on new sequences, in place of those of the value step, localises at least
    as often."""
    return relaxed.fresh_per_step(drawn(cell, block), block.rngs)


@beyond(
    "A.beyond-gradient-descent",
    "150 steps of gradient descent",
    "three steps: 150",
    replicates=16,
    looks=7,
)
def gradient_descent(cell: rc.Cell, block: rc.Block) -> Tensor:
    """150 steps of full-batch gradient descent on all parameters localise as often as three."""
    return descended(cell, block)


@relaxing("critical samples in L", source=SOURCE)(
    "A.beyond-gradient-descent-length",
    "150 steps of gradient descent: how the critical number of samples grows with L",
    "three steps: 150",
    predict=rc.on(Problem, critical.critical_samples_full),
    latex=r"N_c \propto L^{e_L}",
    regime="L = 16 and 64; pilots of fifty larger steps, under seeds of 1000 and above, needed 20 "
    "to 40 samples or so here, far fewer than three steps do.",
    cells={"standard": FEW},
    replicates=16,
    looks=7,
    rule=rc.CriticalExponents({"length": 0.0}, 0.3, reference="prediction"),
    why="Narrow enough to tell the three-step law's exponent at these sizes, nearly 2, from 1.",
    plot=LOCALISATION,
)
def gradient_descent_length(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The critical number of samples of 150 steps of gradient descent grows with L by the same
    exponent as that of the three steps."""
    return descended(cell, block)


@beyond(
    "A.beyond-adam",
    "A hundred steps of Adam",
    "three steps: a hundred of Adam",
    replicates=16,
    looks=7,
)
def adam(cell: rc.Cell, block: rc.Block) -> Tensor:
    """A hundred full-batch steps of Adam on all parameters localise as often as three gradient
    steps."""
    batch = drawn(cell, block)
    return relaxed.trained(batch, block.rngs, optimiser="Adam", steps=100, rate=0.01)


@beyond("A.beyond-two-heads", "Two heads in place of one", "one head: two")
def two_heads(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Each of two heads that start at zero localises as often as a single one."""
    return relaxed.two_heads(drawn(cell, block), block.rngs, eta=1e-3)


def second_layer(cell: rc.Cell, block: rc.Block, written: float) -> Tensor:
    """Localisation by the second of two layers."""
    return two_layers.localised(drawn(cell, block), block.rngs, written=written)[1]


@beyond(
    "A.beyond-two-layers",
    "Two layers with residual connections, small value step",
    "one layer: two, small value step",
)
def two_small_layers(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The second of two layers localises as often as a single one, where the value step writes
    vectors a tenth as long as embeddings."""
    return second_layer(cell, block, 0.1)


@beyond(
    "A.beyond-two-layers-large-step",
    "Two layers with residual connections, value step of order one",
    "one layer: two, large value step",
)
def two_large_layers(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The same where the value step writes vectors as long as embeddings, so that each layer reads
    what the other has written."""
    return second_layer(cell, block, 1.0)


def learned(cell: rc.Cell, block: rc.Block, share: float) -> Tensor:
    """Localisation where embeddings have moved by that share of their length."""
    return relaxed.learned_embeddings(drawn(cell, block), block.rngs, share=share)


@beyond(
    "A.beyond-learned-embeddings",
    "Embeddings that learn a little: by a twentieth of their length",
    "fixed embeddings: learned, by 1/20",
)
def slightly_learned_embeddings(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Where the embeddings of tokens and labels take a gradient step between the two, of a
    twentieth of their length, the localisation probability is that of fixed ones."""
    return learned(cell, block, 0.05)


@beyond(
    "A.beyond-learned-embeddings-much",
    "Embeddings that learn much: by three tenths of their length",
    "fixed embeddings: learned, by 3/10",
)
def much_learned_embeddings(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The same for a step of three tenths of their length."""
    return learned(cell, block, 0.3)


@beyond("A.beyond-zipf-tokens", "Zipf tokens in place of uniform ones", "uniform tokens: Zipf")
def zipf_tokens(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With token frequencies proportional to 1/rank the localisation probability is that of
    uniform tokens."""
    return relaxed.zipf(drawn(cell, block), block.rngs, power=1.0)


@beyond(
    "A.beyond-long-sequences",
    "Sequences as long as the vocabulary, L = V",
    "L below V: L = V",
    source=rc.Source("A", "A5", "A8"),
    cells={"standard": LONG},
    replicates=32,
    looks=8,
)
def long_sequences(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The localisation probability holds for L = V, outside L = V^c with c < 1."""
    return relaxed.localised(drawn(cell, block), block.rngs)


@beyond(
    "A.beyond-correlated-embeddings",
    "Embeddings with mean overlap 0.1",
    "independent embeddings: overlap 0.1",
)
def correlated_embeddings(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With input embeddings whose mean inner product is 0.1 the localisation probability is that
    of independent ones."""
    return relaxed.localised(relaxed.correlated(drawn(cell, block), overlap=0.1), block.rngs)


@beyond("A.beyond-quiet-trigger", "A trigger of norm 1/2", "trigger of norm 1: of norm 1/2")
def quiet_trigger(cell: rc.Cell, block: rc.Block) -> Tensor:
    """With a trigger embedding of half the norm the localisation probability is unchanged."""
    return relaxed.localised(relaxed.quieter(drawn(cell, block), norm=0.5), block.rngs)


@beyond("A.beyond-no-trigger", "No trigger at all", "trigger of norm 1: none")
def no_trigger(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Without a trigger embedding the informative token is still found as often."""
    return relaxed.localised(relaxed.quieter(drawn(cell, block), norm=0.0), block.rngs)
