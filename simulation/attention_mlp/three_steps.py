r"""The three gradient steps with a fixed random layer before the value matrix (Attention-MLP, A6).

Logits are ``U^T V_m phi(W h) / sqrt(m)``. The columns of U are the output embeddings, h is the
attended value and phi the activation. The m x d weights W of the layer are independent N(0, 1) and
never trained, and V_m (d x m) replaces the value matrix.
As in `simulation.attention.three_steps`, which defines eta and gamma, the functions return the
limits for eta -> 0 and gamma -> infinity. We derived them from A7 by exact differentiation.

In formulas delta_k is the unit vector e_k less the predicted probabilities, which are 1/V.
``centred`` replaces the untrained model's probabilities 1/V by the label frequencies of the
training set. An output bias equal to the logarithm of these frequencies has the same effect.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from simulation import decoding
from simulation.attention import sampling
from simulation.attention.contractions import row_products, sum_bags
from simulation.attention.sampling import Batch, Facts, Vocabulary
from simulation.attention.three_steps import Attended, Scores
from simulation.attention_mlp.activations import activation
from simulation.streams import Rngs, Streams
from simulation.tiles import TILE_ELEMENTS, groups


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A random layer per replicate: ``weights`` (R, m, d) and the name of the activation."""

    weights: torch.Tensor
    activation: str

    @property
    def width(self) -> int:
        return self.weights.shape[1]

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """Compute the features ``phi(W h) / sqrt(m)`` of inputs (R, n, d): (R, n, m)."""
        values = activation(self.activation).value(inputs @ self.weights.mT)
        return values.div_(math.sqrt(self.width))

    def __getitem__(self, which: slice) -> "Layer":
        """Select the layers of the replicates ``which``, without copies."""
        return Layer(weights=self.weights[which], activation=self.activation)


def draw_layer(
    rngs: Rngs,
    *,
    width: int,
    dim: int,
    activation: str,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Layer:
    """Draw a layer from each generator.

    Raises ValueError if ``width`` is below 1.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1")
    weights = Streams(rngs, device, dtype).normal(width, dim)
    return Layer(weights=weights, activation=activation)


def draw(
    rngs: Rngs,
    *,
    dim: int,
    width: int,
    activation: str,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    **setting: Any,
) -> tuple[Batch, Layer]:
    """Draw a training set and a layer from each generator.

    ``setting``: as for `sampling.draw`. Errors: as for `sampling.draw` and `draw_layer`.
    """
    batch = sampling.draw(rngs, dim=dim, device=device, dtype=dtype, **setting)
    layer = draw_layer(
        rngs, width=width, dim=dim, activation=activation, device=device, dtype=dtype
    )
    return batch, layer


def token_scores(batch: Batch, layer: Layer, *, centred: bool = False) -> Scores:
    r"""Compute attention scores after step 2, from ``w = W_KQ query / (gamma eta)``.

    .. math:: w = \frac1{NL} \sum_{i,j} \kappa_{ij} (v_{ij} - \bar h_i)^\top r_i, \qquad
        r_i = \frac{1}{\sqrt m} W^\top \Big[\phi'(W \bar h_i) \odot
        \Big(\frac{V_1}{\eta}\Big)^\top U \delta_{k_i}\Big]

    The module docstring explains W, U, phi and delta. Of sequence i, :math:`k_i` is the label,
    :math:`\bar h_i` the mean value, and :math:`\kappa_{ij}` and :math:`v_{ij}` the key and value at
    position j. ``V_1`` is V_m after step 1, and W_KQ is the attention matrix.

    O(N (L + d) + V (d + m)) numbers per replicate and a tile of features are kept.
    """
    parts = [_scores(batch[r], layer[r], centred) for r in _groups(batch, layer)]
    names = vars(parts[0])
    return Scores(**{name: torch.cat([vars(part)[name] for part in parts]) for name in names})


def value_memory(batch: Batch, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Compute the value matrix ``V_m / eta`` after step 1: (R, d, m)."""
    memories = []
    for r in _groups(batch, layer):
        tiles = _first_step(batch[r], layer[r], _mean_values(batch[r]), centred)
        memories.append(torch.cat([memory for *_, memory in tiles], 2))
    return torch.cat(memories)


def trained_memory(
    batch: Batch, layer: Layer, attended: Attended, *, centred: bool = False
) -> torch.Tensor:
    r"""Compute the value matrix ``V_m / gamma`` after step 3: (R, d, m).

    .. math:: \frac1N \sum_i U \delta_{k_i} \phi(W a_i)^\top / \sqrt m

    with :math:`k_i` the label of sequence i, and :math:`a_i` the value of the token that attention
    finds in it, right or wrong.
    """
    # A token has one vector of features at informative positions and one at others, so features are
    # computed per token and not per sample.
    features = torch.cat([layer.features(batch.z), layer.features(batch.informative_values)], 1)
    order, counts = batch.labels.argsort(1), _label_counts(batch)
    kinds = (attended.tokens + batch.vocab_size * attended.informative).gather(1, order)
    rows = _rows(kinds, features.shape[1]).flatten()
    stored = sum_bags(features.flatten(0, 1), rows, counts.flatten().cumsum(0))
    residual = _residuals(batch.u, counts, centred)
    return residual.mT @ stored.view(*counts.shape, -1) / batch.samples


def localised_memory(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Compute the value matrix ``V_m / gamma`` that perfect localisation trains: (R, d, m)."""
    return _stored(facts, layer.features(facts.informative_values), centred)


def recalled(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Check whether each token is recalled after training at perfect localisation: (R, V)."""
    answers = []
    for r in groups(facts.replicates, facts.vocab_size * layer.width, facts.z):
        some = facts[r]
        features = layer[r].features(some.informative_values)
        answers.append(decoding.predict(some.u, _stored(some, features, centred), features))
    return torch.cat(answers) == facts.permutation


def _stored(facts: Facts, features: torch.Tensor, centred: bool) -> torch.Tensor:
    """Store all tokens in a memory (R, d, m), from their features (R, V, m)."""
    shares = facts.counts / facts.counts.sum(1, keepdim=True)
    by_label = torch.zeros_like(shares).scatter(1, facts.permutation, shares)
    mean = (by_label[:, None] @ facts.u) if centred else facts.u.mean(1, keepdim=True)
    targets = (facts.u - mean).gather(1, facts.permutation[..., None].expand(facts.u.shape))
    return (shares[..., None] * targets).mT @ features


def correct(vocabulary: Vocabulary, layer: Layer, memory: torch.Tensor) -> torch.Tensor:
    """Check whether each token, attended at an informative position, gives its label: (R, V)."""
    features = layer.features(vocabulary.informative_values)
    return decoding.predict(vocabulary.u, memory, features) == vocabulary.permutation


def recall_accuracy(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Measure the share of tokens recalled after training at perfect localisation: (R,)."""
    return recalled(facts, layer, centred=centred).to(facts.z.dtype).mean(1)


def _groups(batch: Batch, layer: Layer) -> Iterator[slice]:
    """Split replicates into slices whose features of all sequences fit a tile."""
    return groups(batch.replicates, batch.samples * layer.width, batch.z)


def _scores(batch: Batch, layer: Layer, centred: bool) -> Scores:
    z, tokens, positions = batch.z, batch.tokens, batch.positions[..., None]
    means = _mean_values(batch)
    back = z.new_zeros(means.shape)
    slope, rows = activation(layer.activation).slope, _rows(batch.labels, batch.vocab_size)
    for weights, residual, inner, memory in _first_step(batch, layer, means, centred):
        change = slope(inner)
        read = (residual @ memory).flatten(0, 1).index_select(0, rows.flatten())
        change *= read.view(change.shape)
        back.baddbmm_(change, weights)
    back /= math.sqrt(layer.width)
    logits = row_products(z, back, tokens)
    if batch.trigger_in_values:
        logits.scatter_add_(2, positions, back @ batch.trigger[..., None])
    largest = logits.abs().amax((1, 2))
    logits -= logits.mean(2, keepdim=True)

    shares = z.new_zeros(z.shape[:2])
    shares.scatter_add_(1, tokens.flatten(1), logits.flatten(1))
    trigger_share = logits.gather(2, positions).sum((1, 2))[:, None]
    direction = (shares[:, None] @ z)[:, 0] + trigger_share * batch.trigger
    direction = direction / (batch.samples * batch.length)
    return Scores(
        direction=direction,
        theta=(z @ direction[..., None])[..., 0],
        trigger=(batch.trigger * direction).sum(1),
        rounding=64 * torch.finfo(z.dtype).eps * largest / batch.length,
    )


def _rows(numbers: torch.Tensor, size: int) -> torch.Tensor:
    """Convert indices (R, ...) below ``size`` to rows of all replicates' concatenated tables."""
    first = size * torch.arange(len(numbers), device=numbers.device)
    return numbers + first.view(-1, *(1 for _ in numbers.shape[1:]))


def _mean_values(batch: Batch) -> torch.Tensor:
    """Average the values of every sequence: (R, N, d)."""
    rows = _rows(batch.tokens, batch.vocab_size)
    ends = batch.length * torch.arange(1, rows[..., 0].numel() + 1, device=rows.device)
    means = sum_bags(batch.z.flatten(0, 1), rows.flatten(), ends).div_(batch.length)
    means = means.view(*rows.shape[:2], -1)
    return means + batch.trigger[:, None] / batch.length if batch.trigger_in_values else means


def _first_step(
    batch: Batch, layer: Layer, means: torch.Tensor, centred: bool
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Take step 1, a tile of neurons at a time; neurons are independent.

    Yields for each tile of k neurons: weights (R, k, d), residuals (R, V, d), pre-activations of
    the mean values (R, N, k), and columns of ``V_m / eta``, (R, d, k).
    """
    counts = _label_counts(batch)
    order, ends = (
        _rows(batch.labels.argsort(1), batch.samples).flatten(),
        counts.flatten().cumsum(0),
    )
    residual = _residuals(batch.u, counts, centred)
    value, scale = activation(layer.activation).value, batch.samples * math.sqrt(layer.width)
    size = max(1, TILE_ELEMENTS[means.device.type] // means[..., 0].numel())
    for weights in torch.split(layer.weights, size, 1):
        inner = means @ weights.mT
        stored = sum_bags(value(inner).flatten(0, 1), order, ends).view(*counts.shape, -1)
        yield weights, residual, inner, (residual.mT @ stored).div_(scale)


def _label_counts(batch: Batch) -> torch.Tensor:
    """Count the sequences of each label: (R, V) int64."""
    none = torch.zeros_like(batch.permutation)
    return none.scatter_add_(1, batch.labels, torch.ones_like(batch.labels))


def _residuals(u: torch.Tensor, counts: torch.Tensor, centred: bool) -> torch.Tensor:
    """Compute the rows ``U delta_k``: (R, V, d)."""
    if centred:
        shares = counts.to(u.dtype) / counts.sum(1, keepdim=True)
        return u - shares[:, None] @ u
    return u - u.mean(1, keepdim=True)
