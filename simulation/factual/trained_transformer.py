r"""A one-layer transformer trained on factual recall, many models in one batch.

Task. A prompt of T tokens ends with EOS and holds one of S subjects and one of R relations at
random places among T - 3 uniform noise tokens; the answer a*(s, r) is drawn once, uniformly from
the D answers of relation r. Vocabulary of S + R + N_0 + 1 tokens, N_0 = S + R noise tokens.

Model. Embeddings e (input) and u (output) are frozen, N(0, I/d). The query is EOS, and

$$ x = \sum_h O_h^\top \sum_t \mathrm{softmax}_t\Big(\frac{e_{EOS}^\top Q_h K_h^\top e_t}
   {\sqrt{d_h}}\Big) V_h^\top e_t,\qquad
   y = x + W_2^\top\,\mathrm{ReLU}(W_1^\top x + b),\qquad \text{logit}_a = \langle u_a, y\rangle, $$

without a residual stream around the attention and without positions.

A score is a function of the token alone. With n_z the number of times that token z stands in the
prompt and g_{hz} = exp(score), head h returns (sum_z n_z g_hz V_h^T e_z) / (sum_z n_z g_hz): all
heads of all prompts are one product of the counts with a matrix of V rows, and no prompt is ever
embedded.

Models of different sizes share a batch. The smaller ones are padded with zeros, which get no
gradient and stay zero. A model that has reached its target leaves the batch.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from simulation.adam import adam
from simulation.initial_weights import lecun_normal

Integers = npt.NDArray[np.int64]

DRAWN_AT_ONCE = 16
"""Steps whose prompts are drawn in one go."""
WEAKEST = -60.0
"""Scores further below a head's largest count as this; exp would vanish in single precision."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of one task and one model.

    Raises ValueError for a width below 0 or any other size below 1.

    >>> Sizes(subjects=16, relations=16, answers=8, heads=8, head_dim=2, width=16).facts
    256
    """

    subjects: int
    relations: int
    answers: int
    heads: int
    head_dim: int
    width: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "width" else 1):
                raise ValueError(f"{name} is {value}: too small for a task or a model")

    @property
    def facts(self) -> int:
        """Number of facts, S R."""
        return self.subjects * self.relations

    @property
    def noise_tokens(self) -> int:
        """Number of noise tokens, S + R."""
        return self.subjects + self.relations

    def parameters(self, dim: int) -> int:
        """Trained parameters 4 H d_h d + 2 m d; the MLP's biases are not counted.

        >>> Sizes(subjects=8, relations=8, answers=8, heads=8, head_dim=2, width=16).parameters(16)
        1536
        """
        return 4 * self.heads * self.head_dim * dim + 2 * self.width * dim


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What training came to, per model.

    ``accuracy``: (G,) the best test accuracy at any check.  ``steps``: (G,) int64, the step of the
    check at which the target was reached, or the number of steps taken in vain.
    """

    accuracy: Tensor
    steps: Tensor


class _ByModel:
    """Tensors whose first axis is that of the G models."""

    def take(self, kept: Tensor) -> Self:
        """Those of the models at the indices ``kept``."""
        return type(self)(**{name: value[kept] for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class EmbeddedFacts(_ByModel):
    """G tasks, padded to common sizes; tokens are subjects, relations, noise, EOS in this order.

    ``inputs``: (G, Z, d) embeddings of the tokens.  ``outputs``: (G, M, d) embeddings of the
    answers; answer k of relation r is the one of index r D + k.  ``answers``: (G, S, R) int64.
    ``absent``: (G, 1, M), minus infinity at answers that only pad, 0 elsewhere.
    """

    inputs: Tensor
    outputs: Tensor
    answers: Tensor
    absent: Tensor


@dataclass(frozen=True, kw_only=True)
class Prompts(_ByModel):
    """``counts``: (G, B, Z), how often each token stands in a prompt.  ``labels``: (G, B)."""

    counts: Tensor
    labels: Tensor


@dataclass(frozen=True, kw_only=True)
class Shape(Sizes):
    """Common, padded sizes of a batch of models."""

    dim: int

    @classmethod
    def of(cls, sizes: Sequence[Sizes], dim: int) -> Shape:
        """The largest of each size."""
        return cls(**{name: max(vars(s)[name] for s in sizes) for name in vars(sizes[0])}, dim=dim)

    @property
    def tokens(self) -> int:
        """Size of the vocabulary."""
        return 2 * self.noise_tokens + 1

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """Shapes of a model's trained weights, in the order in which a row holds them."""
        attention = (self.dim, self.heads, self.head_dim)
        return {
            "q": attention,
            "k": attention,
            "v": attention,
            "o": (self.heads, self.head_dim, self.dim),
            "w1": (self.dim, self.width),
            "b": (self.width,),
            "w2": (self.width, self.dim),
        }

    def split(self, weights: Tensor) -> dict[str, Tensor]:
        """Views of (G, P) rows of weights by name, each (G, *shape)."""
        parts = self.parts
        rows = torch.split_with_sizes(weights, [math.prod(s) for s in parts.values()], dim=1)
        return {
            name: row.reshape(len(weights), *shape)
            for row, (name, shape) in zip(rows, parts.items(), strict=True)
        }


def logits(
    weights: Tensor, counts: Tensor, task: EmbeddedFacts, shape: Shape, scale: Tensor
) -> Tensor:
    """Logits (G, B, M) of the answers.

    Args:
        weights: (G, P), one row per model, as :meth:`Shape.split` reads it.
        counts: (G, B, Z), how often each token stands in each prompt.
        task, shape: the embeddings, and the padded sizes.
        scale: (G, 1, 1), the factor 1/sqrt(d_h) of each model's scores.
    """
    part = shape.split(weights)
    models, heads, columns = len(weights), shape.heads, shape.heads * shape.head_dim
    query = torch.einsum("gd,gdhi->ghi", task.inputs[:, -1], part["q"])
    key = torch.einsum("gdhi,ghi->gdh", part["k"], query)
    scores = torch.bmm(task.inputs, key) * scale
    weight = (scores - scores.amax(1, keepdim=True)).clamp(min=WEAKEST).exp()
    value = torch.bmm(task.inputs, part["v"].reshape(models, shape.dim, columns))
    weighted = value.view(models, -1, heads, shape.head_dim) * weight[..., None]
    sums = torch.bmm(counts, torch.cat([weighted.flatten(2), weight], 2))
    mixed = sums[..., :columns].view(models, -1, heads, shape.head_dim)
    mixed = mixed * sums[..., columns:, None].reciprocal()  # cheaper to differentiate than /
    x = torch.bmm(mixed.flatten(2), part["o"].reshape(models, columns, shape.dim))
    hidden = torch.baddbmm(part["b"][:, None], x, part["w1"]).relu()
    x = torch.baddbmm(x, hidden, part["w2"])
    return torch.baddbmm(task.absent.to(x.dtype), x, task.outputs.mT)


def train(
    rngs: Sequence[np.random.Generator],
    sizes: Sequence[Sizes],
    *,
    dim: int,
    batch: int,
    steps: int,
    learning_rate: float | Sequence[float],
    target: float = 0.99,
    length: int = 32,
    test: int = 1024,
    check_every: int = 128,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Trained:
    """Train one model per generator with Adam on fresh prompts, and test it.

    Cross-entropy, no weight decay, constant learning rate, one for all or one for each. Every
    ``check_every`` steps the model is tested on ``test`` prompts that stay the same, and stops once
    its accuracy is at least ``target``. Initial weights, as released: Q, K, V of variance 1/d_h and
    O of variance 1/d, normal; W_1 of variance 1/d and W_2 of variance 1/m, normal and cut at two
    standard deviations; b = 0.

    All draws of a model come from its own generator, on the CPU: it is the same model on every
    device and in every company, up to rounding.

    Raises ValueError unless there is one ``Sizes`` per generator, and maybe one rate, every number
    is positive, and ``length`` is at least 3.
    """
    if not isinstance(learning_rate, Sequence):
        learning_rate = [learning_rate] * len(sizes)
    rates = list(learning_rate)
    if not rngs or not len(rngs) == len(sizes) == len(rates):
        raise ValueError(
            f"{len(rngs)} generators and {len(rates)} rates for {len(sizes)} models: "
            "pass one per model"
        )
    if min(dim, batch, steps, test, check_every) < 1 or min(rates) <= 0 or length < 3:
        raise ValueError("dim, batch, steps, test, check_every and learning_rate must be positive")
    shape = Shape.of(sizes, dim)
    task, weights = _draw(rngs, sizes, shape, device, dtype)
    mean, square = torch.zeros_like(weights), torch.zeros_like(weights)
    scale = torch.tensor([[[s.head_dim**-0.5]] for s in sizes], device=device, dtype=dtype)
    tests = _prompts(_tokens(rngs, sizes, shape, (test,), length), task, shape)
    best = torch.zeros(len(sizes), device=device, dtype=dtype)
    taken = torch.full((len(sizes),), steps, device=device)
    alive = torch.arange(len(sizes), device=device)
    drawn: Integers = np.empty((0, len(sizes), 0, 0), dtype=np.int64)
    for step in range(steps + 1):
        if step == steps or (step and step % check_every == 0):
            right = logits(weights, tests.counts, task, shape, scale).argmax(2) == tests.labels
            accuracy = right.to(dtype).mean(1)
            best[alive] = torch.maximum(best[alive], accuracy)
            done = accuracy >= target
            taken[alive[done]] = step
            kept = (~done).nonzero()[:, 0]
            if step == steps or not len(kept):
                break
            if done.any():
                alive, scale, weights, mean, square = (
                    tensor[kept] for tensor in (alive, scale, weights, mean, square)
                )
                task, tests, drawn = task.take(kept), tests.take(kept), drawn[:, kept.cpu().numpy()]
                rngs, sizes, rates = ([of[i] for i in kept.tolist()] for of in (rngs, sizes, rates))
        if step % DRAWN_AT_ONCE == 0:
            drawn = _tokens(rngs, sizes, shape, (DRAWN_AT_ONCE, batch), length)
        prompts = _prompts(drawn[step % DRAWN_AT_ONCE], task, shape)
        gradient = _gradient(weights, prompts, task, shape, scale)
        first = 0
        for rate, same in groupby(rates):
            part = slice(first, first := first + len(list(same)))
            adam(weights[part], gradient[part], mean[part], square[part], step + 1, rate)
    return Trained(accuracy=best, steps=taken)


def train_best(
    rngs: Sequence[np.random.Generator],
    sizes: Sequence[Sizes],
    *,
    learning_rates: Sequence[float],
    target: float = 0.99,
    **run: Any,
) -> Trained:
    """The best of one training per learning rate, as published; ``run`` as for `train`.

    All trainings of a model have the same facts, prompts and initial weights. A model that has
    reached ``target`` is not trained again: no rate could make it more than right. Rates after the
    first are trained side by side, and the first of them that reaches the target counts.

    Raises ValueError for no learning rate, and as `train`.
    """
    if not learning_rates:
        raise ValueError("no learning rate given: pass at least one")
    first, *others = learning_rates
    best = train(copy.deepcopy(rngs), sizes, learning_rate=first, target=target, **run)
    short = (best.accuracy < target).nonzero()[:, 0]
    if not others or not len(short):
        return best
    again = train(
        [copy.deepcopy(rngs[i]) for _ in others for i in short.tolist()],
        [sizes[i] for _ in others for i in short.tolist()],
        learning_rate=[rate for rate in others for _ in short],
        target=target,
        **run,
    )
    shape = (len(others), -1)
    for accuracy, steps in zip(again.accuracy.view(shape), again.steps.view(shape), strict=True):
        before = best.accuracy[short]
        better = (before < target) & (accuracy > before)
        best.accuracy[short[better]] = accuracy[better]
        best.steps[short[better]] = steps[better]
    return best


def _gradient(
    weights: Tensor, prompts: Prompts, task: EmbeddedFacts, shape: Shape, scale: Tensor
) -> Tensor:
    """Gradient of each model's mean cross-entropy."""
    leaf = weights.detach().requires_grad_()
    found = logits(leaf, prompts.counts, task, shape, scale)
    loss = torch.nn.functional.cross_entropy(
        found.flatten(0, 1), prompts.labels.flatten(), reduction="sum"
    )
    (gradient,) = torch.autograd.grad(loss / prompts.labels.shape[1], leaf)
    return gradient


def _draw(
    rngs: Sequence[np.random.Generator],
    sizes: Sequence[Sizes],
    shape: Shape,
    device: str | torch.device,
    dtype: torch.dtype,
) -> tuple[EmbeddedFacts, Tensor]:
    """Tasks and initial weights, each of its own sizes, padded with zeros."""
    count, dim, most = len(sizes), shape.dim, shape.relations * shape.answers
    inputs = np.zeros((count, shape.tokens, dim))
    outputs = np.zeros((count, most, dim))
    answers = np.zeros((count, shape.subjects, shape.relations), dtype=np.int64)
    absent = np.full((count, 1, most), -np.inf)
    weights = {name: np.zeros((count, *part)) for name, part in shape.parts.items()}
    for g, (rng, size) in enumerate(zip(rngs, sizes, strict=True)):
        s, r, h, i, m = size.subjects, size.relations, size.heads, size.head_dim, size.width
        start = shape.subjects + shape.relations
        for first, number in ((0, s), (shape.subjects, r), (start, size.noise_tokens), (-1, 1)):
            where = slice(first, first + number or None)
            inputs[g, where] = rng.standard_normal((number, dim)) / np.sqrt(dim)
        # Answers of a relation stand together, as many as the largest task has.
        real = (np.arange(r)[:, None] * shape.answers + np.arange(size.answers)).ravel()
        outputs[g, real] = rng.standard_normal((len(real), dim)) / np.sqrt(dim)
        absent[g, 0, real] = 0
        drawn = rng.integers(size.answers, size=(s, r)) + shape.answers * np.arange(r)
        answers[g, :s, :r] = drawn
        for name in ("q", "k", "v"):
            weights[name][g, :, :h, :i] = rng.standard_normal((dim, h, i)) / np.sqrt(i)
        weights["o"][g, :h, :i] = rng.standard_normal((h, i, dim)) / np.sqrt(dim)
        weights["w1"][g, :, :m] = lecun_normal(rng, (dim, m))
        weights["w2"][g, :m] = lecun_normal(rng, (m, dim))
    task = EmbeddedFacts(
        inputs=torch.from_numpy(inputs).to(device, dtype),
        outputs=torch.from_numpy(outputs).to(device, dtype),
        answers=torch.from_numpy(answers).to(device),
        absent=torch.from_numpy(absent).to(device, dtype),
    )
    rows = np.concatenate([part.reshape(count, -1) for part in weights.values()], axis=1)
    return task, torch.from_numpy(rows).to(device, dtype)


def _tokens(
    rngs: Sequence[np.random.Generator],
    sizes: Sequence[Sizes],
    shape: Shape,
    leading: tuple[int, ...],
    length: int,
) -> Integers:
    """Tokens of prompts but for EOS, (*leading[:-1], G, leading[-1], T - 1): subject, relation,
    noise. Their order is never seen by a model without positions."""
    start = shape.subjects + shape.relations
    found = np.empty((len(rngs), *leading, length - 1), dtype=np.int64)
    for g, (rng, size) in enumerate(zip(rngs, sizes, strict=True)):
        found[g, ..., 0] = rng.integers(size.subjects, size=leading)
        found[g, ..., 1] = rng.integers(size.relations, size=leading) + shape.subjects
        noise = rng.integers(size.noise_tokens, size=(*leading, length - 3), dtype=np.int16)
        found[g, ..., 2:] = noise + np.int16(start)
    return np.moveaxis(found, 0, -3)


def _prompts(tokens: Integers, task: EmbeddedFacts, shape: Shape) -> Prompts:
    """Counts and labels of prompts, tokens (G, B, T - 1)."""
    where = torch.from_numpy(tokens).to(task.inputs.device)
    counts = torch.zeros(*where.shape[:2], shape.tokens, device=where.device).to(task.inputs.dtype)
    counts.scatter_add_(2, where, torch.ones_like(where, dtype=counts.dtype))
    counts[..., -1] = 1
    models = torch.arange(len(where), device=where.device)[:, None]
    labels = task.answers[models, where[..., 0], where[..., 1] - shape.subjects]
    return Prompts(counts=counts, labels=labels)
