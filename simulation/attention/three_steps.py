"""The three gradient steps of paper A (A7) in closed form, for eta -> 0 and gamma -> infinity.

The batch is fixed, the loss is the cross-entropy, and the value matrix V and the attention matrix W
start at zero:

1. value step ``V1 = -eta grad_V``, at uniform attention;
2. attention step ``W = -gamma grad_W`` at ``V1``;
3. value step ``V2 = V1 - gamma grad_V`` with the attention of ``W``.

As eta -> 0 all predicted probabilities are equal in all three gradients, so ``V1 / eta`` and
``W / (gamma eta)`` have limits. As gamma -> infinity attention becomes hard, and ``V2 / gamma`` no
longer depends on ``V1``. The functions return these limits. We derived them from A7 by exact
differentiation. In formulas, the columns of U are the output embeddings, and ``e_k`` is a basis
vector.
"""

from dataclasses import dataclass

import torch

from simulation.attention.contractions import Sequences, by_label, inner_products, sum_by_label
from simulation.attention.sampling import Batch
from simulation.tiles import groups


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Attention after step 2, in units gamma * eta = 1.

    ``direction``: (R, d), the vector w whose inner product with a key is its attention score.
    ``theta``: (R, V), the score z_v . w of each token. ``trigger``: (R,), the score z_trig . w that
    is added at the informative position. ``rounding``: (R,), the distance below which scores count
    as equal; orthonormal embeddings give exact ties.
    """

    direction: torch.Tensor
    theta: torch.Tensor
    trigger: torch.Tensor
    rounding: torch.Tensor

    @property
    def lead(self) -> torch.Tensor:
        """Trigger score minus ``rounding``: (R,).

        Attention picks the informative position if its token's score plus this lead exceeds every
        other score. A tie is a miss, because softmax attention would divide among tied positions.
        """
        return self.trigger - self.rounding


@dataclass(frozen=True, kw_only=True)
class Attended:
    """Positions that hard attention picks in the training sequences.

    ``tokens``: (R, N) int64, the token at the attended position.
    ``informative``: (R, N) bool, whether that is the informative position.
    """

    tokens: torch.Tensor
    informative: torch.Tensor


def value_memory(batch: Batch) -> torch.Tensor:
    r"""Compute the value matrix after step 1, ``V1 / eta``: (R, d, d).

    .. math:: \frac1N \sum_i U (e_{k_i} - \tfrac1V \mathbf 1)\, \bar h_i^\top

    with :math:`k_i` the label and :math:`\bar h_i` the mean value of sequence i.
    """
    return _first_step(batch, by_label(batch))


def token_scores(batch: Batch, *, memory: torch.Tensor | None = None) -> Scores:
    r"""Compute attention scores after step 2, from ``w = W query / (gamma eta)``.

    .. math:: w = \frac1{NL} \sum_{i,j} \kappa_{ij} (v_{ij} - \bar h_i)^\top r_{k_i},
        \qquad r_k = \Big(\frac{V_1}{\eta}\Big)^\top U (e_k - \tfrac1V \mathbf 1)

    with keys :math:`\kappa_{ij}` and values :math:`v_{ij}` at position j of sequence i.
    O(R (N L + V d)) numbers and one tile of logits are kept.

    ``memory``: (R, d, d), ``V1 / eta``, if step 1 had other sequences than ``batch``.
    """
    # Few replicates at a time, so that what is made of their tokens stays in the cache.
    size = batch.samples * batch.length + batch.vocab_size * batch.dim
    parts = [
        _token_scores(batch[r], None if memory is None else memory[r])
        for r in groups(batch.replicates, size, batch.z)
    ]
    names = vars(parts[0])
    return Scores(**{name: torch.cat([vars(part)[name] for part in parts]) for name in names})


def _token_scores(batch: Batch, memory: torch.Tensor | None) -> Scores:
    sequences = by_label(batch)
    if memory is None:
        memory = _first_step(batch, sequences)
    readout = _centred(batch.u) @ memory
    logits = inner_products(batch.z, readout, sequences)
    informative = sequences.positions[:, None]
    if batch.trigger_in_values:
        excess = (readout @ batch.trigger[:, :, None]).flatten()[sequences.labels]
        logits.scatter_add_(1, informative, excess[:, None])
    largest = logits.view(batch.replicates, -1).abs().amax(1)
    logits -= logits.mean(1, keepdim=True)

    shares = logits.new_zeros(batch.z.shape[:2])
    shares.flatten().scatter_add_(0, sequences.tokens.flatten(), logits.flatten())
    trigger_share = logits.gather(1, informative).view(batch.positions.shape).sum(1, keepdim=True)
    direction = (shares[:, None] @ batch.z)[:, 0] + trigger_share * batch.trigger
    direction /= batch.samples * batch.length
    return Scores(
        direction=direction,
        theta=(batch.z @ direction[:, :, None])[..., 0],
        trigger=(batch.trigger * direction).sum(1),
        rounding=64 * torch.finfo(logits.dtype).eps * largest / batch.length,
    )


def attend(batch: Batch, scores: Scores) -> Attended:
    """Apply hard attention, the limit gamma -> infinity, to the sequences of ``batch``.

    The informative position loses ties; among other tied positions the first wins.
    """
    keys = scores.theta.gather(1, batch.tokens.flatten(1)).view(batch.tokens.shape)
    informative = batch.positions[..., None]
    keys.scatter_add_(2, informative, scores.lead[:, None, None].expand(informative.shape))
    position = keys.argmax(2, keepdim=True)
    return Attended(
        tokens=batch.tokens.gather(2, position)[..., 0],
        informative=(position == informative)[..., 0],
    )


def attended_values(batch: Batch, attended: Attended) -> torch.Tensor:
    """Gather the values at the attended positions: (R, N, d)."""
    values = batch.z.gather(1, attended.tokens[..., None].expand(-1, -1, batch.dim))
    if batch.trigger_in_values:
        values += attended.informative[..., None] * batch.trigger[:, None]
    return values


def trained_memory(batch: Batch, attended: Attended) -> torch.Tensor:
    r"""Compute the value matrix after step 3, ``V2 / gamma``: (R, d, d).

    .. math:: \frac1N \sum_i U (e_{k_i} - \tfrac1V \mathbf 1)\, a_i^\top

    with :math:`k_i` the label and :math:`a_i` the attended value of sequence i, right or wrong.
    """
    order = batch.labels.argsort(dim=1)
    first = batch.vocab_size * torch.arange(batch.replicates, device=order.device)[:, None]
    tokens = (attended.tokens.gather(1, order) + first).view(-1, 1)
    counts = torch.zeros_like(batch.permutation)
    counts.scatter_add_(1, batch.labels, torch.ones_like(batch.labels))
    sums = sum_by_label(batch.z, tokens, counts)
    if batch.trigger_in_values:
        marked = sums.new_zeros(sums.shape[:2])
        marked.scatter_add_(1, batch.labels, attended.informative.to(sums.dtype))
        sums += marked[..., None] * batch.trigger[:, None]
    return _centred(batch.u).mT @ sums / batch.samples


def _first_step(batch: Batch, sequences: Sequences) -> torch.Tensor:
    sums = sum_by_label(batch.z, sequences.tokens, sequences.counts)
    if batch.trigger_in_values:
        sums += sequences.counts[..., None] * batch.trigger[:, None]
    return _centred(batch.u).mT @ sums / (batch.samples * batch.length)


def _centred(u: torch.Tensor) -> torch.Tensor:
    """Compute ``U (e_k - 1/V)`` for all labels k: (R, V, d).

    This is minus the cross-entropy's gradient with respect to the output, at equal probabilities.
    """
    return u - u.mean(1, keepdim=True)
