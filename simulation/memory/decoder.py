"""Facts decoded from short codes: one direction per fact, projected at random.

A fact has a vector, its value. Values of a group share a part, like embeddings of one kind. A code
is the projected direction, and the decoder the projection's transpose. The answer is the value of
largest score.
"""

import math

import torch

from simulation.decoding import nearest
from simulation.streams import Rngs, Streams
from simulation.tiles import groups as tiles


def directions(values: torch.Tensor, groups: int, shared: float) -> torch.Tensor:
    """Find, for each value, the direction that separates it best from all others: (..., F, k).

    The direction maximises its least cosine with the value's differences from others. It is the
    value less its group's mean, plus a multiple of the difference between this mean and the mean of
    all. The multiple makes the cosines with all differences equal, for values of length 1 with
    scalar products ``shared`` in a group and 0 elsewhere.

    ``values``: (..., F, k), in groups of equal size; may be projected.
    """
    size = values.shape[-2] // groups
    own = math.sqrt(1 - shared)
    apart = (1 - shared) / size + shared
    parts = values.reshape(*values.shape[:-2], groups, size, -1)
    of_group = parts.mean(-2).repeat_interleave(size, -2)
    multiple = own * (1 - own * (1 - 1 / size)) / apart
    found: torch.Tensor = values - of_group
    found += multiple * (of_group - values.mean(-2, keepdim=True))
    return found


def accuracy(
    rngs: Rngs,
    *,
    facts: int,
    groups: int,
    shared: float,
    code_dim: int,
    code: str = "best",
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Measure the share of facts decoded correctly, (R,), with a projection from each generator.

    Unit vectors along the values' own parts and the groups' common parts are orthonormal. Their
    projections are independent normal vectors.

    Args:
        rngs: one generator per replicate.
        facts: number of values, a multiple of ``groups``.
        groups: number of groups of values.
        shared: squared length of the common part of a group's values; values have length 1.
        code_dim: dimension of a code.
        code: "best" for codes of `directions`, "plain" for codes of the values themselves.
        device: torch device of the result.
        dtype: torch dtype of the result.

    Raises:
        ValueError: groups of unequal size or of one value, ``shared`` outside [0, 1), ``code_dim``
            below 1, or an unknown ``code``.
    """
    size = facts // max(groups, 1)
    if size < 2 or size * groups != facts or not 0 <= shared < 1 or code_dim < 1:
        raise ValueError(
            f"{facts} facts in {groups} groups that share {shared}, {code_dim} dimensions: give "
            "groups of two and more, a share from 0 to below 1, and a dimension"
        )
    if code not in ("best", "plain"):
        raise ValueError(f'code {code!r}: give "best" or "plain"')
    streams = Streams(rngs, device, dtype)
    projected = streams.normal(facts + groups, code_dim)
    asked, shares = torch.arange(facts, device=streams.device), []
    for r in tiles(len(rngs), facts * code_dim, streams):
        common = projected[r, facts:].repeat_interleave(size, 1)
        values = math.sqrt(1 - shared) * projected[r, :facts] + math.sqrt(shared) * common
        codes = values if code == "plain" else directions(values, groups, shared)
        shares.append((nearest(values, codes) == asked).to(dtype).mean(1))
    return torch.cat(shares)
