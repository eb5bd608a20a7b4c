r"""Effect of one token on the hidden features of a whole sequence, direction by direction.

At initialisation attention is uniform. With a random layer W of m neurons the gradient depends on a
sequence's tokens only through features :math:`F = \phi(W \bar h)`, with :math:`\phi` the
activation and :math:`\bar h` the mean value. The conditional means of F, given token v at one
position, are :math:`\mu_v = E[F \mid x_l = v]`. In the j-th direction the token at this position
explains a share :math:`\rho_j` of the variance of F. The shares are the eigenvalues of
:math:`\Sigma_F^{-1}\Sigma_\mu`, with :math:`\Sigma` a covariance.
"""

from dataclasses import dataclass
from typing import Any

import torch

from simulation.attention.contractions import occurrences, sum_bags
from simulation.attention_mlp import three_steps
from simulation.streams import Rngs
from simulation.tiles import groups


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Mean shares, each (R,): ``leading`` of the d largest, and ``rest`` of the other m - d."""

    leading: torch.Tensor
    rest: torch.Tensor


def shares(
    rngs: Rngs,
    *,
    vocab_size: int,
    dim: int,
    width: int,
    sequences: int,
    **setting: Any,
) -> Shares:
    """Estimate shares from S = ``sequences`` random sequences per generator.

    With L = ``length`` and V = ``vocab_size``, the estimate of each conditional mean has a variance
    of V/(L S) times F's variance. This adds (V - 1)/(L S) to every share, and the function
    subtracts this bias.

    ``setting``: as for `three_steps.draw`, ``length`` among others.

    Raises ValueError unless ``dim < width < vocab_size``, and as `three_steps.draw`.
    """
    if not dim < width < vocab_size:
        raise ValueError(
            f"width is {width}: give more than dim = {dim} and less than vocab_size = {vocab_size}"
        )
    batch, layer = three_steps.draw(
        rngs, samples=sequences, vocab_size=vocab_size, dim=dim, width=width, **setting
    )
    length, values = batch.length, []
    for r in groups(batch.replicates, sequences * width, batch.z):
        some, own = batch.tokens[r].flatten(1), torch.arange(len(batch.z[r]), device=batch.z.device)
        rows, bags = (some + vocab_size * own[:, None]).flatten(), len(own) * sequences
        ends = length * torch.arange(1, bags + 1, device=rows.device)
        means = sum_bags(batch.z[r].flatten(0, 1), rows, ends).view(len(own), sequences, dim)
        features = layer[r].features(means / length)
        features -= features.mean(1, keepdim=True)
        beside = some.argsort(1) // length + sequences * own[:, None]
        ends = occurrences(rows, len(own) * vocab_size).cumsum(0)
        effects = sum_bags(features.flatten(0, 1), beside.flatten(), ends)
        effects = effects.view(len(own), vocab_size, width) * (vocab_size / (length * sequences))
        effects -= effects.mean(1, keepdim=True)
        root = torch.linalg.cholesky(features.mT @ features / sequences)
        white = torch.linalg.solve_triangular(root, effects.mT, upper=False)
        bias = (vocab_size - 1) / (length * sequences)
        values.append(torch.linalg.svdvals(white).square() / vocab_size - bias)
    table = torch.cat(values)
    return Shares(leading=table[:, :dim].mean(1), rest=table[:, dim:].mean(1))
