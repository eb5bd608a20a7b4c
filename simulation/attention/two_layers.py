"""Two layers with residual connections instead of the theorem's one, by automatic differentiation.

Every position has a stream that starts as its token's embedding; the query's stream starts as the
query. In each layer every position attends to the positions of the tokens, and adds to its stream
the layer's value matrix times the streams there. The trigger marks keys, and queries of tokens, in
both layers. Logits read what both layers have written into the query's stream.
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

    ``written``: (R, N, d), by both layers into the query's stream.
    ``scores``: of the query for each position, (R, N, L), in each layer.
    """

    written: torch.Tensor
    scores: list[torch.Tensor]


def localised(batch: Batch, rngs: Rngs, *, written: float) -> tuple[torch.Tensor, ...]:
    """Share of fresh sequences where the query looks at the informative position: (R,) by layer.

    After a value step and an attention step from zero on ``batch``, both layers at once; attention
    is hard in testing.

    ``written``: mean norm of what the first layer writes after the value step. As it goes to 0,
    the two layers become heads side by side.
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
    """A pass through both layers.

    ``memory``: (R, d, d), the value matrix of each layer.  ``attention``: theirs, (R, d, d); the
    score of a key for a query is key^T W query.  ``hard``: look at the highest score alone.
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
