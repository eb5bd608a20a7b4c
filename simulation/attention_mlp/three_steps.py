r"""The three gradient steps with a fixed random layer before the value matrix (Attention-MLP, A6).

Logits ``U^T V_m phi(W h) / sqrt(m)``: h is the attended value, W has independent N(0, 1) entries
and is never trained, and V_m (d x m) takes the place of the value matrix. Limits eta -> 0 and
gamma -> infinity as for attention alone; derived from A7 by exact differentiation.

``centred`` replaces the probabilities 1/V that an untrained model predicts by the label frequencies
of the training set. That is what cross-entropy does by itself if the model has an output bias set
to the logarithm of those frequencies.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from simulation import decoding
from simulation.attention import sampling
from simulation.attention.contractions import row_products, sum_bags
from simulation.attention.sampling import Batch, Facts, Vocabulary
from simulation.attention.three_steps import Attended, Scores
from simulation.attention_mlp.activations import activation
from simulation.tiles import TILE_ELEMENTS


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A random layer per replicate: ``weights`` (R, m, d) and the name of the activation."""

    weights: torch.Tensor
    activation: str

    @property
    def width(self) -> int:
        return self.weights.shape[1]

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """``phi(W h) / sqrt(m)`` of inputs (R, n, d): (R, n, m)."""
        values = activation(self.activation).value(inputs @ self.weights.mT)
        return values.div_(math.sqrt(self.width))

    def of(self, replicate: int) -> "Layer":
        """The layer of one replicate, as a batch of one."""
        return Layer(weights=self.weights[replicate][None], activation=self.activation)


def draw_layer(
    rngs: Sequence[np.random.Generator],
    *,
    width: int,
    dim: int,
    activation: str,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Layer:
    """Draw one layer from each generator, on the CPU in float64.

    Raises ValueError: ``width`` is below 1.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1")
    weights = np.stack([rng.standard_normal((width, dim)) for rng in rngs])
    return Layer(
        weights=torch.from_numpy(weights).to(device=device, dtype=dtype), activation=activation
    )


def draw(
    rngs: Sequence[np.random.Generator],
    *,
    dim: int,
    width: int,
    activation: str,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    **setting: Any,
) -> tuple[Batch, Layer]:
    """Draw one training set and one layer from each generator.

    ``setting``, and errors: as for `sampling.draw`.
    """
    batch = sampling.draw(rngs, dim=dim, device=device, dtype=dtype, **setting)
    layer = draw_layer(
        rngs, width=width, dim=dim, activation=activation, device=device, dtype=dtype
    )
    return batch, layer


def token_scores(batch: Batch, layer: Layer, *, centred: bool = False) -> Scores:
    r"""The attention scores after step 2, ``W_KQ / (gamma eta)`` applied to the query.

    .. math:: w = \frac1{NL} \sum_{i,j} \kappa_{ij} (v_{ij} - \bar h_i)^\top r_i, \qquad
        r_i = \frac{1}{\sqrt m} W^\top \Big[\phi'(W \bar h_i) \odot
        \Big(\frac{V_1}{\eta}\Big)^\top U \delta_{k_i}\Big]

    Memory O(N (L + d) + V (d + m)) and one tile.
    """
    parts = [_one(batch, layer.of(r), r, centred) for r in range(batch.replicates)]
    names = vars(parts[0])
    return Scores(**{name: torch.stack([vars(part)[name] for part in parts]) for name in names})


def value_memory(batch: Batch, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """``V_m / eta`` after step 1: (R, d, m)."""
    memories = []
    for r in range(batch.replicates):
        tiles = _first_step(batch, layer.of(r), r, _mean_values(batch, r), centred)
        memories.append(torch.cat([memory for *_, memory in tiles], 1))
    return torch.stack(memories)


def trained_memory(
    batch: Batch, layer: Layer, attended: Attended, *, centred: bool = False
) -> torch.Tensor:
    r"""``V_m / gamma`` after step 3: (R, d, m), the attended values stored, right or wrong.

    .. math:: \frac1N \sum_i U \delta_{k_i} \phi(W a_i)^\top / \sqrt m
    """
    # Every (label, token, is it informative) is stored with its count, so that each feature is
    # computed once per token and not once per sample.
    plain = layer.features(batch.z)
    marked = layer.features(batch.informative_values)
    memories = []
    for r in range(batch.replicates):
        residual = _residuals(batch.u[r], _label_counts(batch, r), centred)
        stored = plain.new_zeros(batch.vocab_size, layer.width)
        for features, where in (
            (marked[r], attended.informative[r]),
            (plain[r], ~attended.informative[r]),
        ):
            stored.index_add_(0, batch.labels[r][where], features[attended.tokens[r][where]])
        memories.append(residual.T @ stored / batch.samples)
    return torch.stack(memories)


def localised_memory(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """``V_m / gamma`` after step 3 at perfect localisation in training: (R, d, m)."""
    return _stored(facts, layer.features(facts.informative_values), centred)


def recalled(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Whether each token is recalled after training at perfect localisation: (R, V) bool."""
    answers = []
    for r in range(facts.replicates):
        one = facts[r : r + 1]
        features = layer.of(r).features(one.informative_values)
        answers.append(decoding.predict(one.u, _stored(one, features, centred), features))
    return torch.cat(answers) == facts.permutation


def _stored(facts: Facts, features: torch.Tensor, centred: bool) -> torch.Tensor:
    """The memory (R, d, m) of the features (R, V, m) of every token."""
    shares = facts.counts / facts.counts.sum(1, keepdim=True)
    by_label = torch.zeros_like(shares).scatter(1, facts.permutation, shares)
    mean = (by_label[:, None] @ facts.u) if centred else facts.u.mean(1, keepdim=True)
    targets = (facts.u - mean).gather(1, facts.permutation[..., None].expand(facts.u.shape))
    return (shares[..., None] * targets).mT @ features


def correct(vocabulary: Vocabulary, layer: Layer, memory: torch.Tensor) -> torch.Tensor:
    """Whether each token, attended at an informative position, gives its label: (R, V) bool."""
    features = layer.features(vocabulary.informative_values)
    return decoding.predict(vocabulary.u, memory, features) == vocabulary.permutation


def recall_accuracy(facts: Facts, layer: Layer, *, centred: bool = False) -> torch.Tensor:
    """Share of tokens recalled after training at perfect localisation: (R,)."""
    return recalled(facts, layer, centred=centred).to(facts.z.dtype).mean(1)


def _one(batch: Batch, layer: Layer, r: int, centred: bool) -> Scores:
    """The scores of replicate ``r``, without the leading axis."""
    z, tokens, positions = batch.z[r], batch.tokens[r], batch.positions[r][:, None]
    means = _mean_values(batch, r)
    back = z.new_zeros(means.shape)
    slope, labels = activation(layer.activation).slope, batch.labels[r]
    for weights, residual, inner, memory in _first_step(batch, layer, r, means, centred):
        change = slope(inner)
        change *= (residual @ memory).index_select(0, labels)
        back.addmm_(change, weights)
    back /= math.sqrt(layer.width)
    logits = row_products(z, back, tokens)
    if batch.trigger_in_values:
        logits.scatter_add_(1, positions, (back @ batch.trigger[r])[:, None])
    largest = logits.abs().amax()
    logits -= logits.mean(1, keepdim=True)

    shares = z.new_zeros(batch.vocab_size)
    shares.index_add_(0, tokens.flatten(), logits.flatten())
    direction = shares @ z + logits.gather(1, positions).sum() * batch.trigger[r]
    direction = direction / (batch.samples * batch.length)
    return Scores(
        direction=direction,
        theta=z @ direction,
        trigger=batch.trigger[r] @ direction,
        rounding=64 * torch.finfo(z.dtype).eps * largest / batch.length,
    )


def _mean_values(batch: Batch, r: int) -> torch.Tensor:
    """Mean value of every sequence: (N, d)."""
    tokens = batch.tokens[r]
    ends = batch.length * torch.arange(1, batch.samples + 1, device=tokens.device)
    means = sum_bags(batch.z[r], tokens.flatten(), ends).div_(batch.length)
    return means + batch.trigger[r] / batch.length if batch.trigger_in_values else means


def _first_step(
    batch: Batch, layer: Layer, r: int, means: torch.Tensor, centred: bool
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Step 1 of one replicate, a tile of neurons at a time, which need nothing of one another.

    For each tile of k neurons: its weights (k, d), the residuals (V, d), what the neurons see of
    the mean values (N, k), and their columns of ``V_m / eta``, (d, k).
    """
    labels = batch.labels[r]
    counts = _label_counts(batch, r)
    order, ends = labels.argsort(), counts.cumsum(0)
    residual = _residuals(batch.u[r], counts, centred)
    value, scale = activation(layer.activation).value, batch.samples * math.sqrt(layer.width)
    size = max(1, TILE_ELEMENTS[means.device.type] // batch.samples)
    for weights in torch.split(layer.weights[0], size):
        inner = means @ weights.T
        stored = sum_bags(value(inner), order, ends)
        yield weights, residual, inner, (residual.T @ stored).div_(scale)


def _label_counts(batch: Batch, r: int) -> torch.Tensor:
    return torch.bincount(batch.labels[r], minlength=batch.vocab_size)


def _residuals(u: torch.Tensor, counts: torch.Tensor, centred: bool) -> torch.Tensor:
    """Rows ``U delta_k``, delta_k = e_k less the predicted probabilities: (V, d)."""
    if centred:
        return u - (counts.to(u.dtype) / counts.sum()) @ u
    return u - u.mean(0)
