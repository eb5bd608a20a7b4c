r"""Explicit weights of a one-layer transformer that store facts (paper B, statements B4 and B5).

Softmax attention with H heads, queried by EOS; in some constructions an MLP with cosine features
follows. No layer is trained and nothing is idealised:

    x = sum_h O_h V_h sum_t softmax_t((Q_h e_EOS) . (K_h e_t) / sqrt(d_h)) e_t,
    F(x) = V^T sigma(W x + b).

Each head looks after a group of tokens, either subjects or relations. On the span of its group's
embeddings and the EOS embedding it computes with the dual basis. So a head whose token is in the
prompt outputs that token's code, and any other head attends to EOS and outputs nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from simulation.embeddings import unit_vectors
from simulation.factual.task import Facts
from simulation.streams import Streams

FREQUENCY = 6.0
"""Length scale omega of the cosine features: codes further apart than 1/omega look unrelated."""
MARGIN, SCALE = 0.85, 100.0
"""Scores: EOS gets MARGIN * SCALE, a head's own tokens SCALE."""


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Weights of H heads of dimension d_h.

    ``query``, ``key``, ``value``: (H, d_h, d).  ``output``: (H, d, d_h).
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor

    @property
    def parameters(self) -> int:
        """4 H d_h d."""
        return 4 * self.value.numel()


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """``inner``: (m, d).  ``bias``: (m,).  ``outer``: (m, d)."""

    inner: torch.Tensor
    bias: torch.Tensor
    outer: torch.Tensor

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """(..., m) values of the hidden units."""
        return (inputs @ self.inner.T + self.bias).cos_().mul_(math.sqrt(2))

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.features(inputs) @ self.outer


def attend(attention: Attention, facts: Facts, prompts: torch.Tensor) -> torch.Tensor:
    """(prompts, d) outputs of the attention layer at EOS.

    Scores and values depend on a token alone, so a prompt enters through how often it holds each
    token: the softmax is exact, and costs the same for every prompt length.
    """
    counts, exponentials, totals = _softmax(attention, facts, prompts)
    values = torch.einsum("hkd,vd->vhk", attention.value, facts.tokens)
    weighted = counts @ (values * exponentials.T[:, :, None]).flatten(1)
    heads = weighted.view(len(prompts), *values.shape[1:]) / totals[:, :, None]
    return torch.einsum("phk,hdk->pd", heads, attention.output)


def focus(attention: Attention, facts: Facts, prompts: torch.Tensor) -> torch.Tensor:
    """(S, R) attention that each fact's subject receives in the head of its group."""
    _, exponentials, totals = _softmax(attention, facts, prompts)
    group = (facts.subjects + facts.relations) // len(exponentials)
    subjects = torch.arange(facts.subjects, device=prompts.device)
    share = exponentials[subjects // group, subjects][:, None]
    totals = totals.view(facts.subjects, facts.relations, -1)
    return share / totals[subjects, :, subjects // group]


def token_scores(attention: Attention, facts: Facts) -> torch.Tensor:
    """(H, V) attention scores of all tokens."""
    queries = attention.query @ facts.tokens[-1]
    keys = torch.einsum("hkd,vd->hvk", attention.key, facts.tokens)
    return torch.einsum("hvk,hk->hv", keys, queries) / math.sqrt(queries.shape[1])


def _softmax(
    attention: Attention, facts: Facts, prompts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return counts of tokens in prompts (P, V); exp(score) (H, V); the softmax's sums (P, H)."""
    scores = token_scores(attention, facts)
    exponentials = (scores - scores.amax(1, keepdim=True)).exp()
    counts = scores.new_zeros(len(prompts), facts.vocab_size)
    counts.scatter_add_(1, prompts, torch.ones_like(prompts, dtype=scores.dtype))
    return counts, exponentials, counts @ exponentials.T


def attention_only(
    facts: Facts, *, head_dim: int, margin: float = MARGIN, scale: float = SCALE
) -> Attention:
    r"""Heads whose codes are the answers' logits themselves: no MLP is needed.

    The code of subject s is the least vector y_s with logit 1 at all of its R answers. The code of
    relation r is the least vector with logit 1 at the D answers of its block. Their sum has logit 2
    at the answer alone. A head holds ``head_dim`` tokens, so that H d_h = S + R.

    ``head_dim``: d_h, tokens of a group.  ``scale``: beta, their score.  ``margin``: tau, the score
    of EOS relative to that.

    Raises ValueError: ``head_dim`` does not divide S and R, or d is too small for a dual basis.

    >>> from simulation.factual.task import draw, prompts
    >>> rng = np.random.default_rng(0)
    >>> facts = draw(rng, subjects=8, relations=4, answers=2, dim=96)
    >>> weights = attention_only(facts, head_dim=4)
    >>> weights.parameters == 4 * (8 + 4) * 96
    True
    >>> logits = attend(weights, facts, prompts(rng, facts, length=32)) @ facts.outputs.T
    >>> answered_share(logits, facts)
    1.0
    """
    blocks = facts.outputs.view(facts.relations, facts.answers_each, facts.dim)
    # The least vector with product 1 with each of some rows is the sum of their duals.
    codes = [_duals(rows).sum(-2) for rows in (facts.outputs[facts.answers], blocks)]
    return _heads(facts, torch.cat(codes), head_dim, margin=margin, scale=scale)


def attention_mlp(
    rng: np.random.Generator, facts: Facts, *, head_dim: int, width: int
) -> tuple[Attention, Mlp]:
    """Heads whose codes only name subject and relation; the MLP stores the facts.

    ``head_dim``, and errors: as for `attention_only`.  ``width``: hidden units m.

    >>> from simulation.factual.task import draw, prompts
    >>> rng = np.random.default_rng(0)
    >>> facts = draw(rng, subjects=8, relations=4, answers=2, dim=64)
    >>> attention, mlp = attention_mlp(rng, facts, head_dim=2, width=256)
    >>> inputs = attend(attention, facts, prompts(rng, facts, length=32))
    >>> answered_share(mlp(inputs) @ facts.outputs.T, facts)
    1.0
    """
    one = Streams.like([rng], facts.tokens)
    codes = unit_vectors(one, facts.subjects + facts.relations, facts.dim)[0]
    attention = _heads(facts, codes, head_dim)
    return attention, hebbian_mlp(rng, facts, codes, width=width)


def compressed_values(
    rng: np.random.Generator, facts: Facts, *, group: int, head_dim: int, width: int
) -> tuple[Attention, Mlp]:
    """Fewer value dimensions than tokens: heads of dimension d_h for groups of more tokens.

    A group's tokens get random unit codes in d_h dimensions, which the output matrices carry to
    orthogonal subspaces; the MLP separates the codes although they overlap.

    ``group``: tokens of a group; must divide S and R.  ``head_dim``: d_h.  ``width``: m.

    Raises ValueError: the H d_h output directions do not fit into d dimensions.

    >>> from simulation.factual.task import draw, prompts
    >>> rng = np.random.default_rng(0)
    >>> facts = draw(rng, subjects=16, relations=8, answers=2, dim=128)
    >>> attention, mlp = compressed_values(rng, facts, group=8, head_dim=4, width=1024)
    >>> attention.parameters // (4 * facts.dim)  # H d_h, where S + R = 24
    12
    >>> inputs = attend(attention, facts, prompts(rng, facts, length=32))
    >>> answered_share(mlp(inputs) @ facts.outputs.T, facts)
    1.0
    """
    duals, key = _keys(facts, group)
    heads = len(duals)
    if heads * head_dim > facts.dim:
        raise ValueError(
            f"{heads} heads of dimension {head_dim} do not fit into {facts.dim} dimensions"
        )
    drawn = unit_vectors(Streams.like([rng], facts.tokens), heads * group, head_dim)
    small = drawn.view(heads, group, head_dim)
    # Any orthogonal subspaces serve, as the MLP's features look the same from all sides.
    output = torch.eye(facts.dim, heads * head_dim).to(facts.tokens)
    output = output.view(facts.dim, heads, head_dim).permute(1, 0, 2)
    value = torch.einsum("hzk,hzd->hkd", small, duals[:, :group])
    codes = torch.einsum("hdk,hzk->hzd", output, small).reshape(-1, facts.dim)
    attention = _assemble(facts, key, value, output)
    return attention, hebbian_mlp(rng, facts, codes, width=width)


def hebbian_mlp(rng: np.random.Generator, facts: Facts, codes: torch.Tensor, *, width: int) -> Mlp:
    """An MLP that maps the sum of a subject's and a relation's code to the fact's answer.

    Random cosine features, and outer weights that are the plain sum of features times answers.
    ``codes``: (S + R, d).  ``width``: hidden units m.

    Raises ValueError for no hidden units.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1")
    one = Streams.like([rng], facts.tokens)
    inner = FREQUENCY * one.normal(width, facts.dim)[0]
    bias = 2 * math.pi * one.uniform(width)[0]
    blank = Mlp(inner=inner, bias=bias, outer=inner)
    inputs = codes[: facts.subjects, None] + codes[None, facts.subjects :]
    features = blank.features(inputs.flatten(0, 1))
    stored = facts.outputs[facts.answers.flatten()]
    return Mlp(inner=inner, bias=bias, outer=features.T @ stored / width)


def right(logits: torch.Tensor, facts: Facts) -> torch.Tensor:
    """(S, R) whether each fact is recalled, from (S R, R D) logits."""
    return (logits.argmax(1) == facts.answers.flatten()).view_as(facts.answers)


def answered_share(logits: torch.Tensor, facts: Facts) -> float:
    """Share of the facts that are recalled."""
    return float(right(logits, facts).double().mean())


def _duals(rows: torch.Tensor) -> torch.Tensor:
    """The dual basis of the (..., n, d) rows in their span."""
    if rows.shape[-2] > rows.shape[-1]:
        raise ValueError(
            f"{rows.shape[-2]} vectors in {rows.shape[-1]} dimensions have no dual basis: raise dim"
        )
    duals: torch.Tensor = torch.linalg.solve(rows @ rows.mT, rows)
    return duals


def _keys(facts: Facts, group: int, margin: float = MARGIN) -> tuple[torch.Tensor, torch.Tensor]:
    """Dual bases (H, group + 1, d) of the groups with EOS last, and key vectors (H, d)."""
    if facts.subjects % group or facts.relations % group:
        raise ValueError(
            f"groups of {group} do not divide {facts.subjects} subjects and "
            f"{facts.relations} relations"
        )
    members = facts.tokens[: facts.subjects + facts.relations].view(-1, group, facts.dim)
    eos = facts.tokens[-1].expand(len(members), 1, -1)
    duals = _duals(torch.cat([members, eos], 1))
    return duals, duals[:, :group].sum(1) + margin * duals[:, group]


def _heads(
    facts: Facts,
    codes: torch.Tensor,
    head_dim: int,
    *,
    margin: float = MARGIN,
    scale: float = SCALE,
) -> Attention:
    """One value dimension per token of a group."""
    duals, key = _keys(facts, head_dim, margin)
    output = codes.view(-1, head_dim, facts.dim).mT
    return _assemble(facts, key, duals[:, :head_dim], output, scale)


def _assemble(
    facts: Facts, key: torch.Tensor, value: torch.Tensor, output: torch.Tensor, scale: float = SCALE
) -> Attention:
    """Keys of rank one: all scores come from the first of the d_h dimensions."""
    query, keys = torch.zeros_like(value), torch.zeros_like(value)
    query[:, 0] = scale * math.sqrt(value.shape[1]) * facts.tokens[-1]
    keys[:, 0] = key
    return Attention(query=query, key=keys, value=value, output=output)
