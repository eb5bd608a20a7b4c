r"""Best linear memory: whether a matrix can store all pairs, and whether training finds it.

A matrix W stores the pairs (e_i, u_i) if every input scores its own output highest,
:math:`u_i^\top We_i > u_j^\top We_i` for all :math:`j \ne i`. A linear programme in :math:`d^2`
variables with n (n - 1) constraints would decide whether such a W exists. Here Newton's method
decides, on the cross-entropy :math:`-\sum_i\log p_{ii}`, with :math:`p_i` the softmax of the scores
of input i. Either some iterate stores all pairs, or the loss has a minimiser, where

.. math:: \sum_{i,j} p_{ij}\,(u_j - u_i) e_i^\top = 0,\qquad p_{ij} > 0,

so that by Farkas' lemma no W stores all pairs. The simplex method gives the same answers, 30
(d = 8) to 250 times (d = 16) more slowly. At d = 16 and 140 pairs, matrix products and Cholesky
factors take half of the time; softmaxes and copies of undecided sets take the other half.

With ``own_competitors`` each input has its own n outputs, which no other input has, as in the
decoupled model (arXiv 2605.10795; paper C).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from simulation.adam import no_denormals
from simulation.initial_weights import lecun_normal
from simulation.streams import Rngs, Streams
from simulation.tiles import LOOK_EVERY, groups

_ITERATIONS = 200
_RIDGE = 1e-13
_RIDGE_STEPS = _HALVINGS = 30
_CONVERGED = 1e-9
"""Squared Newton decrement, about twice the excess loss, below which a loss is minimal."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """R sets of n pairs to store, with vectors on the unit sphere in d dimensions.

    ``inputs``: (R, n, d).  ``outputs``: (R, n, d), or (R, n, n, d) if every input has its own n
    outputs; the output of input i is number i.  ``start``: (R, d, d), the memory from which
    training starts; zero if None.
    """

    inputs: torch.Tensor
    outputs: torch.Tensor
    start: torch.Tensor | None = None

    @property
    def replicates(self) -> int:
        return self.inputs.shape[0]

    def __getitem__(self, which: torch.Tensor | slice) -> "Pairs":
        """Select the replicates ``which``."""
        start = None if self.start is None else self.start[which]
        return Pairs(inputs=self.inputs[which], outputs=self.outputs[which], start=start)


def draw(
    rngs: Rngs,
    *,
    dim: int,
    associations: int,
    own_competitors: bool = False,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Pairs:
    """Draw a set of pairs from each generator: inputs, outputs, and last the start of training.

    Raises ValueError for no generator, ``dim`` below 1 or ``associations`` below 2.
    """
    if not rngs:
        raise ValueError("no generator given: pass one numpy Generator per replicate")
    if dim < 1 or associations < 2:
        raise ValueError(
            f"dim is {dim} and associations is {associations}: give at least 1 dimension and 2 "
            "associations"
        )
    inputs = (associations, dim)
    outputs = (associations, *inputs) if own_competitors else inputs
    streams = Streams(rngs, device, dtype)
    e, u = (
        torch.nn.functional.normalize(streams.normal(*shape), dim=-1) for shape in (inputs, outputs)
    )
    return Pairs(inputs=e, outputs=u, start=lecun_normal(streams, dim, dim))


def scores(pairs: Pairs, memory: torch.Tensor) -> torch.Tensor:
    """Score output j at input i, under each memory (..., R, d, d): (..., R, n, n), inputs first."""
    answers = pairs.inputs @ memory.mT
    if pairs.outputs.ndim == 3:
        return answers @ pairs.outputs.mT
    return torch.einsum("rijd,...rid->...rij", pairs.outputs, answers)


def stored(pairs: Pairs, memory: torch.Tensor) -> torch.Tensor:
    """Check whether each input scores its own output above all others, in float64: (R, n) bool."""
    exact = Pairs(inputs=pairs.inputs.double(), outputs=pairs.outputs.double())
    return _highest(scores(exact, memory.double()))


def hebbian(pairs: Pairs) -> torch.Tensor:
    """Sum the outer products of outputs and inputs: (R, d, d)."""
    return _targets(pairs).mT @ pairs.inputs


def separable(pairs: Pairs) -> torch.Tensor:
    """Check whether a linear memory exists that stores all pairs: (R,) bool.

    Raises RuntimeError if Newton's method does not decide. This can happen in float32, or if pairs
    are not in general position.

    >>> import numpy as np
    >>> few, many = (draw([np.random.default_rng(1)], dim=4, associations=n) for n in (4, 40))
    >>> separable(few).tolist(), separable(many).tolist()
    ([True], [False])
    """
    largest = max(pairs.outputs[0].numel(), pairs.inputs.shape[2] ** 4)
    parts = groups(pairs.replicates, largest, pairs.inputs)
    return torch.cat(
        [decided(pairs[r], _curvature, _loss, lambda x: _highest(x).all(1)) for r in parts]
    )


@no_denormals()
def train(pairs: Pairs, *, steps: int, rate: float, enough: float, every: int = 32) -> torch.Tensor:
    """Train memories by full-batch Adam on the mean cross-entropy: (R, d, d).

    Adam has its usual constants and no weight decay. As in the released code, the share of stored
    pairs is measured after step 1 and every ``every`` steps from there. The best memory seen is
    returned, and a memory whose share is at least ``enough`` is trained no further.
    """
    memory = torch.zeros_like(hebbian(pairs))
    active = torch.arange(pairs.replicates, device=memory.device)
    best = torch.full((pairs.replicates,), -1.0, device=memory.device, dtype=torch.float64)
    trained, first, second = (torch.zeros_like(memory) for _ in range(3))
    if pairs.start is not None:
        trained += pairs.start
    for step in range(1, steps + 1):
        residual = torch.softmax(scores(pairs, trained), 2)
        residual.diagonal(dim1=1, dim2=2).sub_(1)
        gradient = _average(pairs, residual).mT @ pairs.inputs / residual.shape[1]
        first.lerp_(gradient, 0.1)
        second.lerp_(gradient.square(), 0.001)
        spread = (second / (1 - 0.999**step)).sqrt() + 1e-8
        trained -= rate / (1 - 0.9**step) * first / spread
        if (step - 1) % every == 0:
            share = stored(pairs, trained).double().mean(1)
            better = share > best[active]
            kept = torch.where(better[:, None, None], trained, memory[active])
            memory.index_copy_(0, active, kept)
            best.index_copy_(0, active, torch.where(better, share, best[active]))
            going = (share < enough).nonzero()[:, 0]
            if not len(going):
                break
            if len(going) < len(active):
                active, pairs = active[going], pairs[going]
                trained, first, second = trained[going], first[going], second[going]
    return memory


def regularised(pairs: Pairs, ridge: float) -> torch.Tensor:
    """Find the memory of least (cross-entropy + ridge/2 times squared norm): (R, d, d).

    If all pairs can be stored, and the ridge goes to 0, the memory's direction tends to the
    direction of largest margin over norm. The distance falls as one over the logarithm of the
    ridge. Newton's method takes a fixed number of steps, each halved until it lowers the loss.

    >>> import numpy as np
    >>> pairs = draw([np.random.default_rng(1)], dim=4, associations=4)
    >>> bool(stored(pairs, regularised(pairs, 1e-3)).all())
    True
    """
    memory = torch.zeros_like(hebbian(pairs))

    def objective(tried: torch.Tensor) -> torch.Tensor:
        return _loss(scores(pairs, tried)) + ridge / 2 * tried.square().sum((-2, -1))

    for _ in range(_RIDGE_STEPS):
        hessian, gradient, loss = _curvature(pairs, scores(pairs, memory))
        before = loss + ridge / 2 * memory.square().sum((1, 2))
        hessian.diagonal(dim1=1, dim2=2).add_(ridge)
        gradient += ridge * memory.flatten(1)
        factor = torch.linalg.cholesky_ex(hessian)[0]
        step = -torch.cholesky_solve(gradient[..., None], factor).view_as(memory)
        memory = memory + _longest(objective, memory, step, before) * step
    return memory


def decided(
    pairs: Pairs,
    curvature: Callable[[Pairs, torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]],
    loss: Callable[[torch.Tensor], torch.Tensor],
    solved: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """Check whether Newton's method finds a solution before the loss is minimal: (R,) bool.

    ``curvature``: Hessian (R, d^2, d^2), gradient (R, d^2) and loss (R,) at scores (R, n, n).
    ``loss``: the loss alone.  ``solved``: whether scores are a solution, (R,) bool.

    Raises RuntimeError if Newton's method finds neither a solution nor the minimum.
    """
    replicates, count, dim = pairs.inputs.shape
    current = pairs.inputs.new_zeros(replicates, count, count)
    active = torch.arange(replicates, device=current.device)
    found, going = torch.zeros_like(active, dtype=torch.bool), active >= 0
    power, every = torch.zeros_like(current[:, 0, 0]), -(-LOOK_EVERY[current.device.type] // 8)
    for iteration in range(1, _ITERATIONS + 1):
        hessian, gradient, before = curvature(pairs, current)
        step, decrement = damped_step(hessian, gradient, 2 * before, power)
        done, least = solved(current), (power == 0) & (decrement >= 0) & (decrement < _CONVERGED)
        found[active] |= going & done
        going = going & ~done & ~least
        if iteration % every == 0:
            kept = going.nonzero()[:, 0]
            if not len(kept):
                return found
            active, pairs, current, going = active[kept], pairs[kept], current[kept], going[kept]
            step, decrement, before, power = (x[kept] for x in (step, decrement, before, power))
        moves = going & (power == 0)
        step = torch.where(moves[:, None], step, 0).view(-1, dim, dim)
        change, fall = scores(pairs, step), torch.where(moves, 0.1 * decrement, 0)
        current = current + _longest(loss, current, change, before, fall) * change
    raise RuntimeError(f"Newton's method left {len(active)} sets of pairs undecided")


def _curvature(
    pairs: Pairs, current: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the Hessian (R, d^2, d^2), gradient (R, d^2) and loss (R,) at ``current`` scores."""
    inputs, outputs, (count, dim) = pairs.inputs, pairs.outputs, pairs.inputs.shape[1:]
    p = torch.softmax(current, 2)
    mean = _average(pairs, p)
    if outputs.ndim == 3:
        second = (p @ squares(outputs)).view(-1, count, dim, dim)
    else:
        second = (outputs * p[..., None]).mT @ outputs
    covariance = second - mean[..., :, None] * mean[..., None, :]
    # The Hessian is a sum of Kronecker products of the outputs' covariance with e_i e_i^T.
    hessian = (covariance.flatten(2).mT @ squares(inputs)).view(-1, dim, dim, dim, dim)
    hessian = hessian.transpose(2, 3).reshape(-1, dim**2, dim**2)
    gradient = ((mean - _targets(pairs)).mT @ inputs).flatten(1)
    return hessian, gradient, _loss(current)


def damped_step(
    hessian: torch.Tensor, gradient: torch.Tensor, most: torch.Tensor, power: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute Newton steps (R, d^2), each with the least ridge that works, and decrements (R,).

    Two cases need a ridge. Outputs or inputs may not span the space, so that the Hessian is
    singular. Or only saturated pairs are left to store, and the loss has too little curvature for a
    quadratic model. A ridge is too small if the Hessian has no Cholesky factor, or if the decrement
    exceeds ``most``, as the model then predicts a negative loss.

    Too small a ridge is raised a hundredfold: ``power`` (R,) counts the raises, and becomes 0 where
    a step is good. The first ridge is added to ``hessian`` in place. A GPU would have to wait for
    each test, so on a GPU the next call tries the next ridge.
    """
    step, decrement = torch.zeros_like(gradient), torch.zeros_like(most)
    left = torch.arange(len(gradient), device=gradient.device)
    scale = hessian.diagonal(dim1=1, dim2=2).mean(1).clamp(min=1e-100)
    for tries in range(60 if gradient.device.type == "cpu" else 1):
        ridged = hessian[left] if tries else hessian
        ridge = _RIDGE * 100.0 ** power[left] * scale[left]
        ridged.diagonal(dim1=1, dim2=2).add_(ridge[:, None])
        factor, failed = torch.linalg.cholesky_ex(ridged)
        tried = -torch.cholesky_solve(gradient[left, :, None], factor)[..., 0]
        promised = -(tried * gradient[left]).sum(1)
        good = (failed == 0) & (promised <= most[left])
        step[left], decrement[left] = tried, promised
        power[left] = torch.where(good, 0, power[left] + 1)
        left = left[~good] if gradient.device.type == "cpu" else left
        if not len(left):
            break
    return step, decrement


def squares(vectors: torch.Tensor) -> torch.Tensor:
    """Multiply each vector (R, n, d) by itself, as a flat outer product: (R, n, d^2)."""
    return (vectors[..., :, None] * vectors[..., None, :]).flatten(2)


def _longest(
    loss: Callable[[torch.Tensor], torch.Tensor],
    start: torch.Tensor,
    step: torch.Tensor,
    before: torch.Tensor,
    fall: torch.Tensor | float = 0.0,
) -> torch.Tensor:
    """Find the largest factor among 1, 1/2, ... that lowers the loss by at least factor * ``fall``.

    The factors, (R, 1, 1), are at least 2^-30. A GPU tries all factors at once, a CPU one after the
    other.
    """
    lengths = before.new_full((_HALVINGS, 1), 0.5).cumprod(0) * 2
    found, many = torch.zeros_like(before), LOOK_EVERY[before.device.type]
    for tried in torch.split(lengths, many):
        worse = loss(start + tried[..., None, None] * step) > before - tried * fall
        found = torch.maximum(found, torch.where(worse, 0, tried).amax(0))
        if many < _HALVINGS and bool((found > 0).all()):
            break
    return found.clamp(min=0.5**_HALVINGS)[:, None, None]


def _loss(current: torch.Tensor) -> torch.Tensor:
    return -torch.log_softmax(current, -1).diagonal(dim1=-2, dim2=-1).sum(-1)


def _highest(current: torch.Tensor) -> torch.Tensor:
    own = current.diagonal(dim1=1, dim2=2)
    rivals = current.clone()
    rivals.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    return own > rivals.amax(2)


def _average(pairs: Pairs, weights: torch.Tensor) -> torch.Tensor:
    """Sum the outputs for each input with ``weights`` (R, n, n): (R, n, d)."""
    if pairs.outputs.ndim == 3:
        return (pairs.outputs.mT @ weights.mT).mT  # the thin side first
    return (weights[:, :, None] @ pairs.outputs)[:, :, 0]


def _targets(pairs: Pairs) -> torch.Tensor:
    if pairs.outputs.ndim == 3:
        return pairs.outputs
    return pairs.outputs.diagonal(dim1=1, dim2=2).mT
