"""Two layers with residual connections instead of one layer, by automatic differentiation.

Every position has a stream that starts as its token's embedding; the query's stream starts as the
query. In each layer every position attends to the positions of the tokens, and adds the layer's
value matrix times the attended streams to its own stream. In both layers the informative
position's key and query include the trigger. Logits use the sum added to the query's stream.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy, one_hot

from simulation.attention import sampling, three_steps
from simulation.attention.sampling import Batch
from simulation.streams import Rngs

FRESH = 64
"""Fresh sequences per replicate."""


class Passed(NamedTuple):
    """Results of a forward pass.

    ``written``: (R, N, d), the sum of both layers' contributions to the query's stream. ``scores``:
    (R, N, L) for each layer, the query's score of each position.
    """

    written: torch.Tensor
    scores: list[torch.Tensor]


def localised(batch: Batch, rngs: Rngs, *, written: float) -> tuple[torch.Tensor, ...]:
    """Measure how often fresh sequences' queries choose the informative position: (R,) by layer.

    Training is a value step and an attention step on ``batch``, from zero and for both layers at
    once. Attention is hard in testing.

    ``written``: mean norm of the first layer's contribution after the value step. As this norm goes
    to 0, the two layers become two heads of one layer.
    """
    memory = three_steps.value_memory(batch)
    mean = batch.z.gather(1, batch.tokens.flatten(1)[..., None].expand(-1, -1, batch.dim))
    mean = mean.view(*batch.tokens.shape, batch.dim).mean(2)
    memory = memory * (written / (mean @ memory.mT).norm(dim=2).mean(1))[:, None, None]
    zero = batch.z.new_zeros(batch.replicates, batch.dim, batch.dim)
    attention = [zero.clone().requires_grad_() for _ in range(2)]
    logits = forward(batch, memory, attention).written @ batch.u.mT
    loss = cross_entropy(logits.flatten(0, 1), batch.labels.flatten()) * batch.replicates
    steps = torch.autograd.grad(loss, attention)
    test = sampling.fresh(batch, rngs, samples=FRESH)
    scores = forward(test, memory, [-step for step in steps], hard=True).scores
    return tuple((s.argmax(2) == test.positions).to(batch.z.dtype).mean(1) for s in scores)


def forward(
    batch: Batch, memory: torch.Tensor, attention: Sequence[torch.Tensor], *, hard: bool = False
) -> Passed:
    """Pass sequences through both layers.

    ``memory``: (R, d, d), the value matrix, the same in both layers.  ``attention``: (R, d, d), the
    attention matrix W, for each layer; the score of a key for a query is key^T W query.  ``hard``:
    attend only to the highest score.
    """
    replicates, samples, length = batch.tokens.shape
    tokens = batch.tokens.flatten(1)[..., None].expand(-1, -1, batch.dim)
    streams = batch.z.gather(1, tokens).view(replicates, samples, length, batch.dim)
    marks = one_hot(batch.positions, length)[..., None] * batch.trigger[:, None, None]
    start = batch.query[:, None, None].expand(-1, samples, 1, -1)
    query, seen = start, []
    for weights in attention:
        keys = streams + marks
        queries = torch.cat([keys, query], 2)
        scores = queries @ (keys @ weights[:, None]).mT
        seen.append(scores[:, :, -1])
        shares = one_hot(scores.argmax(3), length).to(scores) if hard else scores.softmax(3)
        writes = shares @ streams @ memory[:, None].mT
        streams, query = streams + writes[:, :, :-1], query + writes[:, :, -1:]
    return Passed((query - start)[:, :, 0], seen)
