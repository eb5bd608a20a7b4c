r"""Explicit weights of a one-layer transformer that store facts (paper B, statements B4 and B5).

The model is softmax attention with H heads, with EOS as the query. In some constructions an MLP
with cosine features follows. No layer is trained or idealised:

    x = sum_h O_h V_h sum_t softmax_t((Q_h e_EOS) . (K_h e_t) / sqrt(d_h)) e_t,
    F(x) = V^T sigma(W x + b).

Each subject and relation has a code, a vector in d dimensions. Each head has a group of tokens,
either subjects or relations, and uses the dual basis in the span of its group's embeddings and the
EOS embedding. So a head with one of its tokens in the prompt outputs nearly that token's code, and
any other head attends to EOS and outputs nearly zero. A head fails where another token's embedding
overlaps with its key by chance.

In shapes, B is the number of replicates, S and R are the numbers of subjects and relations, and V
is the number of tokens.
"""

import math
from dataclasses import dataclass, replace

import torch

from simulation.embeddings import unit_vectors
from simulation.factual.task import Facts
from simulation.streams import Streams

FREQUENCY = 6.0
"""Frequency omega: codes much further apart than 1/omega have nearly orthogonal features."""
MARGIN, SCALE = 0.85, 100.0
"""Scores: EOS gets MARGIN * SCALE, a head's own tokens SCALE."""
NEGLIGIBLE = 45.0
"""Distance below EOS's score to which lower scores are raised. Each prompt has EOS, so rounding
hides the raised tokens. Denormal float32 weights would take eight times as long.
"""


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Weights of H heads of dimension d_h.

    ``query``, ``key``, ``value``: (B, H, d_h, d).  ``output``: (B, H, d, d_h).
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor

    @property
    def parameters(self) -> int:
        """Number of parameters, 4 H d_h d."""
        return 4 * self.value[0].numel()


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """MLP weights W, b, V. ``inner``: (B, m, d).  ``bias``: (B, 1, m).  ``outer``: (B, m, d)."""

    inner: torch.Tensor
    bias: torch.Tensor
    outer: torch.Tensor

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """Compute the hidden units' values for ``inputs`` (B, n, d): (B, n, m)."""
        return (inputs @ self.inner.mT + self.bias).cos_().mul_(math.sqrt(2))

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.features(inputs) @ self.outer


def attend(
    attention: Attention,
    facts: Facts,
    prompts: torch.Tensor,
    readout: torch.Tensor | None = None,
) -> torch.Tensor:
    """Compute the output of the attention layer at EOS: (B, P, d), for ``prompts`` (B, P, T).

    Scores and values depend only on the token, so a prompt enters through its counts of tokens. The
    softmax is exact, and its cost hardly depends on the length of prompts.

    ``readout``: (B, M, d); if given, return the products of outputs with these rows: (B, P, M).
    """
    counts, exponentials, totals = _softmax(attention, facts, prompts)
    values = torch.einsum("bhkd,bvd->bvhk", attention.value, facts.tokens)
    weighted = counts @ (values * exponentials.mT[..., None]).flatten(2)
    heads = weighted.mul_(totals.reciprocal().repeat_interleave(values.shape[3], 2))
    outputs = attention.output.mT.flatten(1, 2)
    if readout is not None:  # heads are fewer than prompts, so that their products come first
        outputs = outputs @ readout.mT
    return heads @ outputs


def focus(attention: Attention, facts: Facts, prompts: torch.Tensor) -> torch.Tensor:
    """Compute the attention weight of each fact's subject in the head of its group: (B, S, R).

    ``prompts``: (B, S R, T), one for each fact.
    """
    _, exponentials, totals = _softmax(attention, facts, prompts)
    subjects = torch.arange(facts.subjects, device=prompts.device)
    head = subjects // ((facts.subjects + facts.relations) // exponentials.shape[1])
    totals = totals.view(-1, facts.subjects, facts.relations, totals.shape[2]).mT
    return exponentials[:, head, subjects][..., None] / totals[:, subjects, head]


def token_scores(attention: Attention, facts: Facts) -> torch.Tensor:
    """Compute the attention scores of all tokens in each head: (B, H, V)."""
    queries = torch.einsum("bhkd,bd->bhk", attention.query, facts.tokens[:, -1])
    keys = torch.einsum("bhkd,bvd->bhvk", attention.key, facts.tokens)
    return torch.einsum("bhvk,bhk->bhv", keys, queries) / math.sqrt(queries.shape[2])


def _softmax(
    attention: Attention, facts: Facts, prompts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute prompts' token counts (B, P, V), exp(score) (B, H, V) and denominators (B, P, H)."""
    scores = token_scores(attention, facts)
    scores = torch.maximum(scores, scores[..., -1:] - NEGLIGIBLE)
    exponentials = (scores - scores.amax(2, keepdim=True)).exp()
    counts = scores.new_zeros(*prompts.shape[:2], facts.vocab_size)
    counts.scatter_add_(2, prompts, scores.new_ones(()).expand(prompts.shape))
    return counts, exponentials, counts @ exponentials.mT


def attention_only(
    facts: Facts, *, head_dim: int, margin: float = MARGIN, scale: float = SCALE
) -> Attention:
    r"""Make heads whose codes give the answers' logits without an MLP.

    The code of a subject is the shortest vector with logit 1 at all of its R answers. The code of a
    relation is the shortest vector with logit 1 at the D answers of its block. Among all these
    answers, the sum of both codes has logit 2 only at the fact's answer. A head has ``head_dim``
    tokens, so that H d_h = S + R.

    ``head_dim``: d_h, tokens of a group.  ``scale``: the score of these tokens.  ``margin``: the
    score of EOS, as a share of ``scale``.

    Raises ValueError if ``head_dim`` does not divide S and R, or d is too small for a dual basis.

    >>> import numpy as np
    >>> from simulation.factual.task import draw, prompts
    >>> streams = Streams([np.random.default_rng(0)])
    >>> facts = draw(streams, subjects=8, relations=4, answers=2, dim=96)
    >>> weights = attention_only(facts, head_dim=4)
    >>> weights.parameters == 4 * (8 + 4) * 96
    True
    >>> bool(recalled(facts, prompts(streams, facts, length=32), weights).all())
    True
    """
    blocks = facts.outputs.view(len(facts.outputs), facts.relations, -1, facts.dim)
    codes = [_least(rows) for rows in (facts.answered(), blocks)]
    return _heads(facts, torch.cat(codes, 1), head_dim, margin=margin, scale=scale)


def attention_mlp(
    streams: Streams, facts: Facts, *, head_dim: int, width: int
) -> tuple[Attention, Mlp]:
    """Make heads whose codes only name subject and relation, and an MLP that stores the facts.

    ``head_dim``, and errors: as for `attention_only`.  ``width``: number of hidden units, m; a
    width below 1 raises ValueError too.
    """
    with streams.together():
        codes = unit_vectors(streams, facts.subjects + facts.relations, facts.dim)
        features = cosines(streams, facts.dim, width)
    return _heads(facts, codes, head_dim), hebbian_mlp(facts, codes, features)


def compressed_values(
    streams: Streams, facts: Facts, *, group: int, head_dim: int, width: int
) -> tuple[Attention, Mlp]:
    """Make heads of dimension d_h for groups of more than d_h tokens, and an MLP.

    A group's tokens get random unit codes in d_h dimensions, and output matrices map groups to
    orthogonal subspaces. The MLP separates the codes although they overlap.

    ``group``: number of tokens of a group.  ``head_dim``: d_h.  ``width``: m.

    Raises ValueError if ``group`` does not divide S and R, d is too small for a dual basis or for
    the H d_h output directions, or ``width`` is below 1.
    """
    duals, key = _keys(facts, group)
    heads = duals.shape[1]
    if heads * head_dim > facts.dim:
        raise ValueError(
            f"{heads} heads of dimension {head_dim} do not fit into {facts.dim} dimensions"
        )
    with streams.together():
        drawn = unit_vectors(streams, heads * group, head_dim)
        features = cosines(streams, facts.dim, width)
    small = drawn.view(-1, heads, group, head_dim)
    # Any orthogonal subspaces serve, because rotations do not change the law of the MLP's features.
    output = torch.eye(facts.dim, heads * head_dim, device=drawn.device, dtype=drawn.dtype)
    output = output.view(facts.dim, heads, head_dim).permute(1, 0, 2).expand(len(drawn), -1, -1, -1)
    value = torch.einsum("bhzk,bhzd->bhkd", small, duals[:, :, :group])
    codes = torch.einsum("bhdk,bhzk->bhzd", output, small).flatten(1, 2)
    return _assemble(facts, key, value, output), hebbian_mlp(facts, codes, features)


def cosines(streams: Streams, dim: int, width: int) -> Mlp:
    """Draw m = ``width`` random cosine features, as an MLP whose outer weights have no meaning.

    Raises ValueError if ``width`` is below 1.
    """
    if width < 1:
        raise ValueError(f"width is {width}: give at least 1")
    inner, bias = streams.normal(width, dim), streams.uniform(1, width)
    streams.then(lambda: (inner.mul_(FREQUENCY), bias.mul_(2 * math.pi)))
    return Mlp(inner=inner, bias=bias, outer=inner)


def hebbian_mlp(facts: Facts, codes: torch.Tensor, blank: Mlp) -> Mlp:
    """Make an MLP that maps the sum of a subject's and a relation's code to the fact's answer.

    The outer weights are the sum of outer products of features and answers, divided by m.
    ``codes``: (B, S + R, d).  ``blank``: the features, from `cosines`.
    """
    inputs = codes[:, : facts.subjects, None] + codes[:, None, facts.subjects :]
    features = blank.features(inputs.flatten(1, 2))
    outer = features.mT @ facts.answered().flatten(1, 2) / features.shape[2]
    return replace(blank, outer=outer)


def recalled(
    facts: Facts, prompts: torch.Tensor, attention: Attention, mlp: Mlp | None = None
) -> torch.Tensor:
    """Check whether the weights recall each fact from its prompt: (B, S, R) bool.

    ``prompts``: (B, S R, T), one for each fact, as `task.prompts` draws them.
    """
    if mlp is None:
        logits = attend(attention, facts, prompts, facts.outputs)
    else:
        logits = mlp(attend(attention, facts, prompts)) @ facts.outputs.mT
    return logits.argmax(2).view_as(facts.answers) == facts.answers


def _duals(rows: torch.Tensor) -> torch.Tensor:
    """Compute the dual basis of rows (..., n, d), in their span."""
    duals: torch.Tensor = torch.linalg.solve_ex(_products(rows), rows)[0]
    return duals


def _least(rows: torch.Tensor) -> torch.Tensor:
    """Find the shortest vectors (..., d) whose products with the rows (..., n, d) are all 1."""
    weights: torch.Tensor = torch.linalg.solve_ex(_products(rows), rows.new_ones(rows.shape[:-1]))[
        0
    ]
    return (weights[..., None, :] @ rows)[..., 0, :]


def _products(rows: torch.Tensor) -> torch.Tensor:
    """Compute the products (..., n, n) of rows (..., n, d)."""
    if rows.shape[-2] > rows.shape[-1]:
        raise ValueError(
            f"{rows.shape[-2]} vectors in {rows.shape[-1]} dimensions have no dual basis: raise dim"
        )
    return rows @ rows.mT


def _keys(facts: Facts, group: int, margin: float = MARGIN) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute dual bases (B, H, group + 1, d) of groups, EOS last, and key vectors (B, H, d)."""
    if facts.subjects % group or facts.relations % group:
        raise ValueError(
            f"groups of {group} do not divide {facts.subjects} subjects and "
            f"{facts.relations} relations"
        )
    members = facts.tokens[:, : facts.subjects + facts.relations]
    members = members.view(len(members), -1, group, facts.dim)
    eos = facts.tokens[:, None, -1:].expand(-1, members.shape[1], -1, -1)
    duals = _duals(torch.cat([members, eos], 2))
    return duals, duals[:, :, :group].sum(2) + margin * duals[:, :, group]


def _heads(
    facts: Facts,
    codes: torch.Tensor,
    head_dim: int,
    *,
    margin: float = MARGIN,
    scale: float = SCALE,
) -> Attention:
    """Make heads with a value dimension for each token of a group."""
    duals, key = _keys(facts, head_dim, margin)
    output = codes.view(len(codes), -1, head_dim, facts.dim).mT
    return _assemble(facts, key, duals[:, :, :head_dim], output, scale)


def _assemble(
    facts: Facts, key: torch.Tensor, value: torch.Tensor, output: torch.Tensor, scale: float = SCALE
) -> Attention:
    """Assemble attention with keys of rank one: scores use only the first of d_h dimensions."""
    query, keys = torch.zeros_like(value), torch.zeros_like(value)
    query[:, :, 0] = scale * math.sqrt(value.shape[2]) * facts.tokens[:, -1:]
    keys[:, :, 0] = key
    return Attention(query=query, key=keys, value=value, output=output)
