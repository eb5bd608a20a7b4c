r"""Listwise retrieval: whether a matrix scores every pair above its top competitors' average.

With n pairs (e_i, u_i) the margin of W at pair i is :math:`u_i^\top We_i - h_i(W)`. Here
:math:`h_i` is the average of the m largest of the n - 1 other scores, and m is a share r of n - 1,
rounded up. The margin is concave in W, so it is a convex problem to find a W with only positive
margins. Newton's method decides whether such a W exists, on the loss

.. math:: \sum_i\log(1+e^{\tilde h_i-u_i^\top We_i}),\qquad
   \tilde h_i = \min_t\,t+\frac1m\sum_{j\ne i}\log(1+e^{u_j^\top We_i-t})\ge h_i .

Either some iterate has positive margins, or the loss has a minimiser.  There, with
:math:`\lambda_i\in(0,1)`, :math:`\theta_{ij}\in(0,\frac1m)` and :math:`\sum_j\theta_{ij}=1`,

.. math:: \sum_i\lambda_i\Big(\sum_{j\ne i}\theta_{ij}u_j-u_i\Big)e_i^\top = 0 ,

which proves that no such W exists: as :math:`h_i\ge\sum_j\theta_{ij}u_j^\top We_i`, the margins of
any W, weighted by :math:`\lambda_i`, add up to at most 0.
"""

import math
from functools import partial

import torch

from simulation.memory.optimal import Pairs, decided, squares
from simulation.tiles import LOOK_EVERY, groups

_HALVINGS = 60
_LEVEL = 1e-13
"""Newton step, relative to 1 + |t|, below which a search for t ends."""


def competitors(associations: int, share: float) -> int:
    """Compute the number of top competitors in an average, m.

    Raises ValueError unless 0 < share < 1 and at least one competitor is left out.

    >>> competitors(11, 0.25)
    3
    """
    most = associations - 1
    count = math.ceil(share * most - 1e-9)
    if not 0 < share < 1 or count >= most:
        raise ValueError(
            f"share={share} of {most} competitors: give a share above 0 that leaves some out"
        )
    return count


def feasible(pairs: Pairs, share: float) -> torch.Tensor:
    """Check whether a linear memory exists with positive margins at all pairs: (R,) bool.

    ``pairs``: pairs with outputs (R, n, d), which compete at every input.  ``share``: r, as for
    `competitors`.

    Raises ValueError as `competitors`, and RuntimeError if Newton's method does not decide.
    """
    count, dim = pairs.inputs.shape[1:]
    top = competitors(count, share)
    given = partial(_curvature, top=top), partial(_loss, top=top)
    parts = groups(pairs.replicates, max(count * dim**2, dim**4, count**2), pairs.inputs)
    found = [decided(pairs[r], *given, lambda x: (_margins(x, share) > 0).all(1)) for r in parts]
    return torch.cat(found)


def _curvature(
    pairs: Pairs, current: torch.Tensor, top: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the Hessian (R, d^2, d^2), gradient (R, d^2) and loss (R,) at ``current`` scores."""
    inputs, outputs, (count, dim) = pairs.inputs, pairs.outputs, pairs.inputs.shape[1:]
    share, height = _smoothed(current, top)
    lack = height - current.diagonal(dim1=1, dim2=2)
    weight = torch.sigmoid(lack)
    push = share @ outputs / top - outputs
    bend = share * (1 - share)
    mean = bend @ outputs / bend.sum(2, keepdim=True)
    second = (bend @ squares(outputs)).view(-1, count, dim, dim)
    second -= bend.sum(2)[..., None, None] * mean[..., :, None] * mean[..., None, :]
    second *= (weight / top)[..., None, None]
    slope = (weight * (1 - weight))[..., None, None]
    second += slope * push[..., :, None] * push[..., None, :]
    # The Hessian is a sum of Kronecker products of `second` with e_i e_i^T.
    hessian = (second.flatten(2).mT @ squares(inputs)).view(-1, dim, dim, dim, dim)
    hessian = hessian.transpose(2, 3).reshape(-1, dim**2, dim**2)
    gradient = ((weight[..., None] * push).mT @ inputs).flatten(1)
    return hessian, gradient, torch.nn.functional.softplus(lack).sum(1)


def _smoothed(current: torch.Tensor, top: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute weights m theta_ij (..., n, n), in rows of sum m, and smoothed averages (..., n)."""
    rivals = current.clone()
    own = rivals.diagonal(dim1=-2, dim2=-1)
    own.fill_(-math.inf)
    count = current.shape[-1] - 1
    offset = math.log(count / top - 1)
    # The weights add up to too much at the lowest level, and to too little at the highest.
    high = rivals.amax(-1) + offset
    own.fill_(math.inf)
    low = rivals.amin(-1) + offset
    own.fill_(-math.inf)
    level, moved = (low + high) / 2, (high - low) / 2
    settled = torch.zeros_like(level, dtype=torch.bool)
    for step in range(1, _HALVINGS + 1):
        near = torch.sigmoid(rivals - level[..., None])
        excess, slope = near.sum(-1) - top, (near * (1 - near)).sum(-1)
        low, high = torch.where(excess > 0, level, low), torch.where(excess > 0, high, level)
        tried = level + excess / slope
        settled |= (tried - level).abs() <= _LEVEL * (1 + level.abs())
        if step % LOOK_EVERY[level.device.type] == 0 and bool(settled.all()):
            break
        # Newton's steps may creep or go in circles, so each is at most half of the last.
        fast = (tried >= low) & (tried <= high) & ((tried - level).abs() <= moved / 2)
        tried = torch.where(settled, level, torch.where(fast, tried, (low + high) / 2))
        level, moved = tried, (tried - level).abs()
    level = level[..., None]
    over = torch.nn.functional.softplus(rivals - level).sum(-1) / top
    return torch.sigmoid(rivals - level), level[..., 0] + over


def _loss(current: torch.Tensor, top: int) -> torch.Tensor:
    own = current.diagonal(dim1=-2, dim2=-1)
    return torch.nn.functional.softplus(_smoothed(current, top)[1] - own).sum(-1)


def _margins(current: torch.Tensor, share: float) -> torch.Tensor:
    top = competitors(current.shape[2], share)
    own = current.diagonal(dim1=1, dim2=2)
    rivals = current.clone()
    rivals.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    return own - rivals.topk(top, dim=2).values.mean(2)
