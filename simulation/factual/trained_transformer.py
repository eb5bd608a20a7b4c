r"""Training of a batch of one-layer transformers on factual recall.

Task. A prompt of T tokens ends with EOS and holds one of S subjects and one of R relations at
random places among T - 3 uniform noise tokens. The answer a*(s, r) is drawn once, uniformly from
the D answers of relation r. The vocabulary has S + R + N_0 + 1 tokens: there are N_0 = S + R noise
tokens, and EOS.

Model. Embeddings e (input) and u (output) are frozen, N(0, I/d). The query is EOS, and

$$ x = \sum_h O_h^\top \sum_t \mathrm{softmax}_t\Big(\frac{e_{EOS}^\top Q_h K_h^\top e_t}
   {\sqrt{d_h}}\Big) V_h^\top e_t,\qquad
   y = x + W_2^\top\,\mathrm{ReLU}(W_1^\top x + b),\qquad \text{logit}_a = \langle u_a, y\rangle, $$

without a residual stream around the attention and without positions.

A score depends only on the token. If token z occurs n_z times in the prompt and g_{hz} =
exp(score), head h returns (sum_z n_z g_hz V_h^T e_z) / (sum_z n_z g_hz). So the counts times
a table with a row for each token give all these sums, and no prompt is embedded. A model that has
reached its target leaves the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from simulation.adam import Adam, no_denormals
from simulation.embeddings import gaussian
from simulation.factual.transformer_gradient import EmbeddedFacts, Prompts, Transformers, Weights
from simulation.initial_weights import lecun_normal
from simulation.streams import Rngs, Streams

DRAWN_AT_ONCE = 32
"""Steps whose prompts are drawn in one go."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of one task and one model: S, R, D, H, d_h and m, in this order.

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

    @property
    def tokens(self) -> int:
        """Size of the vocabulary."""
        return 2 * self.noise_tokens + 1

    def parameters(self, dim: int) -> int:
        """Count the trained parameters, 4 H d_h d + 2 m d, without the MLP's biases.

        >>> Sizes(subjects=8, relations=8, answers=8, heads=8, head_dim=2, width=16).parameters(16)
        1536
        """
        return 4 * self.heads * self.head_dim * dim + 2 * self.width * dim


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Outcome of training G models.

    ``accuracy``: (G,), the best test accuracy at any check.  ``steps``: (G,) int64, the step at
    which the target was reached, or the last step if it was not.
    """

    accuracy: Tensor
    steps: Tensor


def train(
    rngs: Rngs,
    sizes: Sizes,
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

    The loss is the cross-entropy, without weight decay; learning rates are constant, one for all
    models or one for each. Every ``check_every`` steps, and at the end, a model is tested on the
    same ``test`` prompts. The model stops once its accuracy is at least ``target``. Initial weights
    are as in the released code. Q, K and V are normal of variance 1/d_h, and O of variance 1/d. W_1
    has variance 1/d and W_2 variance 1/m, both normal and cut at two standard deviations, and
    b = 0.

    All draws of a model are from its own generator. So a model is the same, up to rounding, on
    every device and in every batch.

    Raises ValueError if there is no generator, if rates are a list of another length than the
    generators, if a number is not positive, or if ``length`` is below 3.
    """
    rates = (
        [learning_rate] * len(rngs) if isinstance(learning_rate, int | float) else [*learning_rate]
    )
    if not rngs or len(rngs) != len(rates):
        raise ValueError(f"{len(rngs)} generators and {len(rates)} rates: pass one of each a model")
    if min(dim, batch, steps, test, check_every) < 1 or min(rates) <= 0 or length < 3:
        raise ValueError("dim, batch, steps, test, check_every and learning_rate must be positive")
    task, weights = _draw(rngs, sizes, dim, device, dtype)
    tests = _prompts(rngs, task, sizes, 1, test, length)
    models = Transformers(weights, task, sizes.heads, batch)
    adam = Adam(weights.tensors(), rates)
    best = torch.zeros(len(rngs), device=device, dtype=dtype)
    taken = torch.full((len(rngs),), steps, device=device)
    alive = torch.arange(len(rngs), device=device)
    drawn = tests
    with no_denormals():
        for step in range(steps + 1):
            if step == steps or (step and step % check_every == 0):
                tested = Transformers(weights, task, sizes.heads, test)
                accuracy = tested.accuracy(tests.tokens[:, 0], tests.labels[:, 0])
                best[alive] = torch.maximum(best[alive], accuracy)
                done = accuracy >= target
                taken[alive[done]] = step
                kept = (~done).nonzero()[:, 0]
                if step == steps or not len(kept):
                    break
                if done.any():
                    alive, drawn, tests = alive[kept], drawn.take(kept), tests.take(kept)
                    task, weights = task.take(kept), weights.take(kept)
                    models = Transformers(weights, task, sizes.heads, batch)
                    adam.keep(kept)
                    rngs = [rngs[i] for i in kept.tolist()]
            now = step % DRAWN_AT_ONCE
            if not now:
                drawn = _prompts(rngs, task, sizes, DRAWN_AT_ONCE, batch, length)
            gradient = models.gradient(drawn.tokens[:, now], drawn.labels[:, now])
            adam.step(weights.tensors(), gradient.tensors())
    return Trained(accuracy=best, steps=taken)


def train_best(
    rngs: Rngs,
    sizes: Sizes,
    *,
    learning_rates: Sequence[float],
    target: float = 0.99,
    **run: Any,
) -> Trained:
    """Train each model once per learning rate and keep the best, as published.

    All trainings of a model have the same facts, prompts and initial weights. A model that has
    reached ``target`` at the first rate is not trained again. Other rates run in one batch, and
    the first in the list that reaches the target counts.

    ``run``: other arguments of `train`.

    Raises ValueError if ``learning_rates`` is empty, and for the errors of `train`.
    """
    if not learning_rates:
        raise ValueError("no learning rate given: pass at least one")
    first, *others = learning_rates
    streams = Streams(rngs)
    best = train(streams.fork(), sizes, learning_rate=first, target=target, **run)
    short = (best.accuracy < target).nonzero()[:, 0]
    if not others or not len(short):
        return best
    again = train(
        streams[short.tolist() * len(others)].fork(),
        sizes,
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


def _draw(
    rngs: Rngs,
    sizes: Sizes,
    dim: int,
    device: str | torch.device,
    dtype: torch.dtype,
) -> tuple[EmbeddedFacts, Weights]:
    """Draw tasks and initial weights."""
    streams, (s, r) = Streams(rngs, device, dtype), (sizes.subjects, sizes.relations)
    inputs = gaussian(streams, sizes.tokens, dim)
    outputs = gaussian(streams, r * sizes.answers, dim)
    answers = streams.integers(sizes.answers, s, r)
    answers += sizes.answers * torch.arange(r, device=answers.device)
    columns = sizes.heads * sizes.head_dim
    q, k, v = (streams.normal(columns, dim) / math.sqrt(sizes.head_dim) for _ in range(3))
    weights = Weights(
        q=q,
        k=k,
        v=v,
        o=streams.normal(dim, columns) / math.sqrt(dim),
        w1=lecun_normal(streams, dim, sizes.width).mT.contiguous(),
        b=inputs.new_zeros(len(streams), sizes.width, 1),
        w2=lecun_normal(streams, sizes.width, dim).mT.contiguous(),
    )
    return EmbeddedFacts(inputs=inputs, outputs=outputs, answers=answers), weights


def _prompts(
    rngs: Rngs,
    task: EmbeddedFacts,
    sizes: Sizes,
    steps: int,
    batch: int,
    length: int,
) -> Prompts:
    """Draw prompts for ``steps`` steps: subject, relation, noise and EOS, always in this order.

    A model without positions does not see the order.
    """
    streams, start = Streams.like(rngs, task.inputs), sizes.subjects + sizes.relations
    tokens = task.answers.new_full((len(rngs), steps, batch, length), sizes.tokens - 1)
    tokens[..., 0] = streams.integers(sizes.subjects, steps, batch)
    tokens[..., 1] = streams.integers(sizes.relations, steps, batch) + sizes.subjects
    tokens[..., 2:-1] = streams.integers(sizes.noise_tokens, steps, batch, length - 3) + start
    models = torch.arange(len(rngs), device=tokens.device)[:, None, None]
    labels = task.answers[models, tokens[..., 0], tokens[..., 1] - sizes.subjects]
    return Prompts(tokens=tokens, labels=labels)
