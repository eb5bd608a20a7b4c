r"""Closed-form gradient of a batch of one-layer transformers on factual recall.

Activations have a column for each prompt, so most products have few rows and many columns. With
inputs E (Z, d), the last of which is e_EOS, outputs u (M, d) and counts n (B, Z) of tokens in
prompts, head h of d_h dimensions has

$$ q_h = Q_h e_{EOS},\quad k_h = K_h^\top q_h / \sqrt{d_h},\quad w_h = \exp(E k_h - \max),\quad
   v_h = V_h E^\top $$

per token, and per prompt

$$ N_h = (v_h w_h) n^\top,\quad D_h = w_h n^\top,\quad c_h = N_h / D_h,\quad x = O c,\quad
   a = \mathrm{ReLU}(W_1 x + b),\quad y = x + W_2 a,\quad p = \mathrm{softmax}(y^\top u^\top). $$

A prime marks the gradient of the mean cross-entropy over B prompts. In p - 1, the 1 is the table of
one-hot labels:

$$ y' = u^\top (p - 1)^\top / B,\quad W_2' = y' a^\top,\quad a' = (W_2^\top y') 1_{a > 0},\quad
   b' = a' \mathbf 1,\quad W_1' = a' x^\top,\quad x' = y' + W_1^\top a',\quad O' = x' c^\top, $$

$$ N_h' = (O^\top x')_h / D_h,\quad D_h' = -\langle N_h', c_h\rangle,\quad
   v_h' = w_h (N_h' n),\quad (E k_h)' = \langle v_h', v_h\rangle + w_h (D_h' n), $$

$$ V_h' = v_h' E,\quad k_h' = E^\top (E k_h)',\quad K_h' = q_h k_h'^\top / \sqrt{d_h},\quad
   Q_h' = (K_h k_h') e_{EOS}^\top / \sqrt{d_h}. $$

One product with E gives values and scores, and one product with n gives numerators and
denominators; likewise for gradients. Subtracting the largest score adds nothing to the gradient,
because the shift cancels in c.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

WEAKEST = -60.0
"""Floor of (score - largest score of its head). Far below the floor, exp is 0 in float32."""


class ByModel:
    """Tensors whose first axis runs over the G models."""

    def take(self, kept: Tensor) -> Self:
        """Select the models at the indices ``kept``."""
        return type(self)(**{name: value[kept] for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class Weights(ByModel):
    """Trained weights of G models with H heads of d_h dimensions and m neurons.

    ``q``, ``k``, ``v``: (G, H d_h, d), head by head.  ``o``: (G, d, H d_h).  ``w1``: (G, m, d).
    ``b``: (G, m, 1).  ``w2``: (G, d, m).
    """

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor
    w1: Tensor
    b: Tensor
    w2: Tensor

    def tensors(self) -> list[Tensor]:
        """List all weights, in the order of the fields."""
        return list(vars(self).values())


@dataclass(frozen=True, kw_only=True)
class EmbeddedFacts(ByModel):
    """G tasks. Tokens are in the order S subjects, R relations, noise, EOS.

    ``inputs``: (G, Z, d) embeddings of the tokens. ``outputs``: (G, M, d) embeddings of the
    answers; answer k of the D answers of relation r has index r D + k. ``answers``: (G, S, R)
    int64.
    """

    inputs: Tensor
    outputs: Tensor
    answers: Tensor


@dataclass(frozen=True, kw_only=True)
class Prompts(ByModel):
    """Prompts. ``tokens``: (G, steps, B, T) int64.  ``labels``: (G, steps, B)."""

    tokens: Tensor
    labels: Tensor


class Transformers:
    """Models on their tasks, for batches of ``batch`` prompts.

    All calls write to the same buffers, because new memory would cost more time than the
    arithmetic.
    """

    def __init__(self, weights: Weights, task: EmbeddedFacts, heads: int, batch: int) -> None:
        self.weights, self.task = weights, task
        models, columns, dim = weights.q.shape
        self._heads, self._head_dim = heads, columns // heads
        self._scale: float = self._head_dim**-0.5
        self._columns = columns
        empty = weights.q.new_empty
        rows, tokens, width = columns + heads, task.inputs.shape[1], weights.w1.shape[1]
        self._read = empty(models, rows, dim)
        self._table, self._table_back = (empty(models, rows, tokens) for _ in range(2))
        self._weighted = empty(models, rows, tokens)
        self._sums, self._sums_back = (empty(models, rows, batch) for _ in range(2))
        self._mixed, self._mixed_back = (empty(models, columns, batch) for _ in range(2))
        self._x, self._y, self._y_back = (empty(models, dim, batch) for _ in range(3))
        self._hidden, self._hidden_back = (empty(models, width, batch) for _ in range(2))
        self._logits = empty(models, batch, task.outputs.shape[1])
        self._back = task.outputs.mT / batch
        self._counts = empty(models, batch, tokens)
        self._one = empty(()).fill_(1)
        self._eos = task.inputs[:, -1:].mT.contiguous()
        self.gradients = Weights(**{n: torch.empty_like(w) for n, w in vars(weights).items()})

    def logits(self, prompts: Tensor) -> Tensor:
        """Compute the answers' logits (G, B, M) for prompts (G, B, T), in a shared buffer."""
        weights, columns = self.weights, self._columns
        counts = self._counts.zero_()
        counts.scatter_add_(2, prompts, self._one.expand(prompts.shape))
        values, scores = self._table[:, :columns], self._table[:, columns:]
        self._query = torch.bmm(weights.q, self._eos)
        key = (self._by_head(self._query * weights.k)).sum(2)
        self._read[:, :columns] = weights.v
        torch.mul(key, self._scale, out=self._read[:, columns:])
        torch.bmm(self._read, self.task.inputs.mT, out=self._table)
        scores.sub_(scores.amax(2, keepdim=True)).clamp_(min=WEAKEST)
        weight = torch.exp(scores, out=self._weighted[:, columns:])
        torch.mul(
            self._by_head(values),
            weight[:, :, None],
            out=self._by_head(self._weighted[:, :columns]),
        )
        torch.bmm(self._weighted, counts.mT, out=self._sums)
        over = self._sums[:, columns:].reciprocal_()
        mixed = self._by_head(self._mixed)
        torch.mul(self._by_head(self._sums[:, :columns]), over[:, :, None], out=mixed)
        torch.bmm(weights.o, self._mixed, out=self._x)
        torch.baddbmm(weights.b, weights.w1, self._x, out=self._hidden).relu_()
        torch.baddbmm(self._x, weights.w2, self._hidden, out=self._y)
        return torch.bmm(self._y.mT, self.task.outputs.mT, out=self._logits)

    def accuracy(self, prompts: Tensor, labels: Tensor) -> Tensor:
        """Measure the share of prompts (G, B, T) that each model answers with its label: (G,)."""
        return (self.logits(prompts).argmax(2) == labels).to(self._one.dtype).mean(1)

    def gradient(self, prompts: Tensor, labels: Tensor) -> Weights:
        """Compute the gradient of each model's mean cross-entropy, in a shared buffer."""
        weights, found, columns = self.weights, self.gradients, self._columns
        p = self.logits(prompts)
        torch.softmax(p, 2, out=p)
        where = labels[:, :, None]
        p.scatter_add_(2, where, -self._one.expand(where.shape))
        y = torch.bmm(self._back, p.mT, out=self._y_back)
        torch.bmm(y, self._hidden.mT, out=found.w2)
        hidden = torch.bmm(weights.w2.mT, y, out=self._hidden_back)
        torch.ops.aten.threshold_backward(hidden, self._hidden, 0, grad_input=hidden)
        torch.sum(hidden, 2, keepdim=True, out=found.b)
        torch.bmm(hidden, self._x.mT, out=found.w1)
        x = torch.baddbmm(y, weights.w1.mT, hidden, out=self._y)
        torch.bmm(x, self._mixed.mT, out=found.o)
        mixed = torch.bmm(weights.o.mT, x, out=self._mixed_back)
        over = self._sums[:, columns:, None]
        above, below = self._sums_back[:, :columns], self._sums_back[:, columns:]
        torch.mul(self._by_head(mixed), over, out=self._by_head(above))
        torch.mul(above, self._mixed, out=mixed)
        torch.sum(self._by_head(mixed), 2, out=below).neg_()
        table = torch.bmm(self._sums_back, self._counts, out=self._table_back)
        values, weight = table[:, :columns], self._weighted[:, columns:]
        self._by_head(values).mul_(weight[:, :, None])
        products = (values * self._table[:, :columns]).view(*weight.shape[:2], -1, table.shape[2])
        table[:, columns:].mul_(weight).add_(products.sum(2))
        read = torch.bmm(table, self.task.inputs)
        found.v.copy_(read[:, :columns])
        key = read[:, columns:, None].mul_(self._scale)
        torch.mul(self._by_head(self._query), key, out=self._by_head(found.k))
        query = (self._by_head(weights.k) * key).sum(3).flatten(1)[:, :, None]
        torch.mul(query, self._eos.mT, out=found.q)
        return found

    def _by_head(self, rows: Tensor) -> Tensor:
        """View rows (G, H d_h, n) as (G, H, d_h, n)."""
        return rows.view(len(rows), self._heads, self._head_dim, -1)
