r"""Listwise retrieval: can any matrix raise own scores above averages of the top competitors?

With n pairs (e_i, u_i) the margin of W at pair i is :math:`u_i^\top We_i - h_i(W)`, where
:math:`h_i` is the average of the m largest of the n - 1 other scores, m the share r of them,
rounded up.  It is concave in W, so that whether some W has positive margins throughout is a convex
problem. It is decided by Newton's method on

.. math:: \sum_i\log(1+e^{\tilde h_i-u_i^\top We_i}),\qquad
   \tilde h_i = \min_t\,t+\frac1m\sum_{j\ne i}\log(1+e^{u_j^\top We_i-t})\ge h_i .

Either some iterate has positive margins, or the loss has a minimiser.  There, with
:math:`\lambda_i\in(0,1)`, :math:`\theta_{ij}\in(0,\frac1m)` and :math:`\sum_j\theta_{ij}=1`,

.. math:: \sum_i\lambda_i\Big(\sum_{j\ne i}\theta_{ij}u_j-u_i\Big)e_i^\top = 0 ,

a certificate that there is none: as :math:`h_i\ge\sum_j\theta_{ij}u_j^\top We_i`, the margins of
any W, weighted by :math:`\lambda_i`, add up to at most 0.
"""

import math

import torch

from simulation.memory.optimal import Pairs, damped_step, scores, squares
from simulation.tiles import TILE_ELEMENTS

_ITERATIONS = 200
_CONVERGED = 1e-9
"""Squared Newton decrement, an estimate of twice the loss above its minimum."""
_HALVINGS = 60
_LEVEL = 1e-13
"""Relative accuracy of a level t, by Newton's method inside a bracket, halved where it must be."""


def competitors(associations: int, share: float) -> int:
    """Number of top competitors that are averaged over.

    Raises ValueError unless that leaves some out: 0 < share < 1, and one competitor more.

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


def margins(pairs: Pairs, memory: torch.Tensor, share: float) -> torch.Tensor:
    """Own score less the average of the top competitors, in float64: (R, n)."""
    exact = Pairs(inputs=pairs.inputs.double(), outputs=pairs.outputs.double())
    return _margins(scores(exact, memory.double()), share)


def feasible(pairs: Pairs, share: float) -> torch.Tensor:
    """Whether some linear memory has positive margins at all pairs: (R,) bool.

    ``pairs``: with outputs (R, n, d).

    Raises RuntimeError if Newton's method decides neither way.
    """
    count, dim = pairs.inputs.shape[1:]
    group = max(1, TILE_ELEMENTS[pairs.inputs.device.type] // max(count * dim**2, dim**4, count**2))
    parts = [pairs[r : r + group] for r in range(0, pairs.replicates, group)]
    return torch.cat([_feasible(part, share) for part in parts])


def _feasible(pairs: Pairs, share: float) -> torch.Tensor:
    top = competitors(pairs.inputs.shape[1], share)
    found = torch.zeros(pairs.replicates, dtype=torch.bool, device=pairs.inputs.device)
    active = torch.arange(pairs.replicates, device=pairs.inputs.device)
    current = torch.zeros_like(pairs.inputs @ pairs.outputs.mT)
    for _ in range(_ITERATIONS):
        step, decrement = _newton_step(pairs, current, top)
        done = (_margins(current, share) > 0).all(1)
        found[active[done]] = True
        going = ~done & ~((decrement >= 0) & (decrement < _CONVERGED))
        active, pairs, current = active[going], pairs[going], current[going]
        if not len(active):
            return found
        change, decrement = scores(pairs, step[going]), decrement[going]
        length = _line_search(current, change, decrement, top)
        current = current + length[:, None, None] * change
    raise RuntimeError(f"Newton's method left {len(active)} sets of pairs undecided")


def _newton_step(
    pairs: Pairs, current: torch.Tensor, top: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Step (R, d, d) that minimises the quadratic model of the loss, and its decrement (R,)."""
    inputs, outputs, (count, dim) = pairs.inputs, pairs.outputs, pairs.inputs.shape[1:]
    share, height = _smoothed(current, top)
    weight = torch.sigmoid(height - current.diagonal(dim1=1, dim2=2))
    push = share @ outputs / top - outputs
    bend = share * (1 - share)
    mean = bend @ outputs / bend.sum(2, keepdim=True)
    second = (bend @ squares(outputs)).view(-1, count, dim, dim)
    second -= bend.sum(2)[..., None, None] * mean[..., :, None] * mean[..., None, :]
    second *= (weight / top)[..., None, None]
    slope = (weight * (1 - weight))[..., None, None]
    second += slope * push[..., :, None] * push[..., None, :]
    # The Hessian is a sum of Kronecker products of these with e_i e_i^T.
    hessian = (second.flatten(2).mT @ squares(inputs)).view(-1, dim, dim, dim, dim)
    hessian = hessian.transpose(2, 3).reshape(-1, dim**2, dim**2)
    gradient = ((weight[..., None] * push).mT @ inputs).flatten(1)
    step, decrement = damped_step(hessian, gradient, 2 * _loss(current, top))
    return step.view(-1, dim, dim), decrement


def _smoothed(current: torch.Tensor, top: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights m theta_ij (R, n, n), which add up to m, and the smoothed tail averages (R, n)."""
    rivals = current.clone()
    rivals.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    count = current.shape[2] - 1
    offset = math.log(count / top - 1)
    # Between these all shares together would be too many, and too few.
    high = rivals.amax(2) + offset
    rivals.diagonal(dim1=1, dim2=2).fill_(math.inf)
    low = rivals.amin(2) + offset
    rivals.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    level, moved = (low + high) / 2, (high - low) / 2
    settled = torch.zeros_like(level, dtype=torch.bool)
    for _ in range(_HALVINGS):
        near = torch.sigmoid(rivals - level[..., None])
        excess, slope = near.sum(2) - top, (near * (1 - near)).sum(2)
        low, high = torch.where(excess > 0, level, low), torch.where(excess > 0, high, level)
        tried = level + excess / slope
        settled |= (tried - level).abs() <= _LEVEL * (1 + level.abs())
        if settled.all():
            break
        # Newton's steps may creep, or go round in a circle: each has to be half of the last.
        fast = (tried >= low) & (tried <= high) & ((tried - level).abs() <= moved / 2)
        tried = torch.where(settled, level, torch.where(fast, tried, (low + high) / 2))
        level, moved = tried, (tried - level).abs()
    level = level[..., None]
    over = torch.nn.functional.softplus(rivals - level).sum(2) / top
    return torch.sigmoid(rivals - level), level[..., 0] + over


def _loss(current: torch.Tensor, top: int) -> torch.Tensor:
    _, height = _smoothed(current, top)
    return torch.nn.functional.softplus(height - current.diagonal(dim1=1, dim2=2)).sum(1)


def _line_search(
    current: torch.Tensor, change: torch.Tensor, decrement: torch.Tensor, top: int
) -> torch.Tensor:
    """Largest 1, 1/2, 1/4, ... of the step that lowers the loss by a tenth of what is promised."""
    length = torch.ones_like(decrement)
    loss = _loss(current, top)
    while True:
        tried = _loss(current + length[:, None, None] * change, top)
        short = tried > loss - 0.1 * length * decrement
        if not short.any() or bool((length < 1e-9).any()):
            return length
        length = torch.where(short, length / 2, length)


def _margins(current: torch.Tensor, share: float) -> torch.Tensor:
    top = competitors(current.shape[2], share)
    own = current.diagonal(dim1=1, dim2=2)
    rivals = current.clone()
    rivals.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    return own - rivals.topk(top, dim=2).values.mean(2)
