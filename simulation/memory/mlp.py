r"""MLP associative memories :math:`F(z) = V^\top \sigma(Wz + b)`, by construction and by training.

A memory maps each of N input embeddings to one of M outputs. Its answer to z is
:math:`\arg\max_j u_j^\top F(z)`. Association i has output floor(i M / N), so that outputs occur
equally often (paper B, statements B2 and B8).
"""

import math
from dataclasses import dataclass, replace

import torch

from simulation import decoding
from simulation.adam import Adam, no_denormals
from simulation.embeddings import unit_vectors
from simulation.initial_weights import lecun_normal
from simulation.streams import Rngs, Streams
from simulation.tiles import groups

CHECK_EVERY = 256
"""Steps of training between two looks at the accuracy, as in the released code."""


@dataclass(frozen=True, kw_only=True)
class Associations:
    """Pairs to store, for R replicates, N associations, M outputs and dimension d.

    ``z``: (R, N, d) inputs.  ``u``: (R, M, d) outputs.  ``targets``: (N,) int64, by input.
    """

    z: torch.Tensor
    u: torch.Tensor
    targets: torch.Tensor

    def correct(self, answers: torch.Tensor) -> torch.Tensor:
        """Check whether each answer F(z), (R, N, d), overlaps most with its target: (R, N)."""
        return decoding.nearest(self.u, answers) == self.targets


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """Weights of F(z) = second^T activation(first z + bias), with m neurons.

    ``first``: (R, m, d).  ``bias``: (R, m).  ``second``: (R, m, d).  ``activation``: "cosine",
    which is sqrt(2) cos, or "relu".
    """

    first: torch.Tensor
    bias: torch.Tensor
    second: torch.Tensor
    activation: str

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        return _features(z, self.first, self.bias, self.activation) @ self.second


def draw(
    rngs: Rngs,
    *,
    associations: int,
    outputs: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Associations:
    """Draw uniform unit vectors as inputs and outputs from each generator.

    Raises ValueError for no generator, ``dim`` or ``outputs`` below 2, or fewer associations than
    outputs.
    """
    if not rngs:
        raise ValueError("no generator given: pass one numpy Generator per replicate")
    if dim < 2 or outputs < 2:
        raise ValueError(f"dim is {dim} and outputs {outputs}: give at least 2 of each")
    if associations < outputs:
        raise ValueError(f"{associations} associations cannot use all of {outputs} outputs")
    vectors = unit_vectors(Streams(rngs, device, dtype), associations + outputs, dim)
    return Associations(
        z=vectors[:, :associations],
        u=vectors[:, associations:],
        targets=torch.arange(associations, device=device) * outputs // associations,
    )


def grouped(facts: Associations, rngs: Rngs, *, groups: int, shared: float) -> Associations:
    """Make outputs of unit length that share a part with their group.

    Output j is in group floor(j groups / M). Its new vector is sqrt(1 - shared) times the old one
    plus sqrt(shared) times a uniform unit vector of the group, scaled to unit length.

    Raises ValueError for less than one group, more groups than outputs, or ``shared`` outside
    [0, 1).
    """
    outputs, dim = facts.u.shape[1:]
    if not 1 <= groups <= outputs or not 0 <= shared < 1:
        raise ValueError(
            f"{groups} groups of {outputs} outputs that share {shared}: give 1 to {outputs} "
            "groups, and a share from 0 to below 1"
        )
    common = unit_vectors(Streams.like(rngs, facts.u), groups, dim)
    group = torch.arange(outputs, device=common.device) * groups // outputs
    mixed = math.sqrt(1 - shared) * facts.u + math.sqrt(shared) * common[:, group]
    return replace(facts, u=mixed / mixed.norm(dim=2, keepdim=True))


def cosine_memory(
    z: torch.Tensor,
    targets: torch.Tensor,
    rngs: Rngs,
    *,
    width: int,
    frequency: float = 8.0,
) -> Mlp:
    r"""Make a memory of random cosine features and a Hebbian second layer.

    .. math:: W_{ij} \sim \omega N(0, 1),\quad b_i \sim U[0, 2\pi],\quad
        V = \frac1m \sum_x \sigma(W z_x + b)\, y_x^\top

    Here :math:`y_x` is the target of input :math:`z_x`, and :math:`\sigma = \sqrt2\cos`. The
    features of two inputs z and z' have the mean overlap :math:`e^{-\omega^2 |z - z'|^2 / 2}`,
    which is negligible for different inputs at large frequency :math:`\omega`. The inputs then
    become nearly orthogonal directions of :math:`R^m`.

    >>> import numpy as np
    >>> z = torch.nn.functional.normalize(torch.eye(3, 8)[None].double() + 0.5, dim=2)
    >>> y = torch.eye(3, 8).double()[None]
    >>> memory = cosine_memory(z, y, [np.random.default_rng(0)], width=4000)
    >>> (memory(z) @ y.mT).abs().round(decimals=1).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]

    Args:
        z: (R, N, d) unit inputs.
        targets: (R, N, d) vectors, the right answers.
        rngs: draw the first layer.
        width: m.
        frequency: :math:`\omega`.

    Raises:
        ValueError: ``width`` or ``frequency`` is not positive.
    """
    if width < 1 or not frequency > 0:
        raise ValueError(f"width is {width} and frequency {frequency}: both must be positive")
    streams = Streams.like(rngs, z)
    with streams.together():
        first, bias = streams.normal(width, z.shape[2]), streams.uniform(width)
    first, bias = frequency * first, 2 * math.pi * bias
    second = _features(z, first, bias, "cosine").mT @ targets / width
    return Mlp(first=first, bias=bias, second=second, activation="cosine")


def relu_memory(
    z: torch.Tensor,
    targets: torch.Tensor,
    rngs: Rngs,
    *,
    width: int,
    project: bool = True,
) -> Mlp:
    r"""Make a memory of random ReLU features, less their constant and linear parts.

    .. math:: W_i \sim \sqrt d\, U(S^{d-1}),\quad b = 0,\quad
        V = \frac{4}{m}\, P \sum_x \mathrm{relu}(W z_x)\, y_x^\top

    Rows of W are uniform on a sphere, and :math:`y_x` is the target of input :math:`z_x`. P
    projects the neurons, :math:`R^m`, onto the complement of the vector of ones and of the columns
    of W. As relu(a) = (a + |a|) / 2, the features are then :math:`P|Wz|/2`, without linear part and
    mean. Without P, the overlap of different inputs' features is 1/pi of their squared length,
    which hides the stored outputs.

    >>> import numpy as np
    >>> z = torch.nn.functional.normalize(torch.eye(3, 8)[None].double() - 0.2, dim=2)
    >>> y = torch.eye(3, 8).double()[None]
    >>> memory = relu_memory(z, y, [np.random.default_rng(0)], width=4000)
    >>> (memory(z) @ y.mT).argmax(2).tolist()
    [[0, 1, 2]]

    Args:
        z: (R, N, d) unit inputs.
        targets: (R, N, d) vectors, the right answers.
        rngs: draw the first layer.
        width: m.
        project: whether to apply P.

    Raises:
        ValueError: ``width`` is at most d + 1, where P is zero (an error even without P).
    """
    dim = z.shape[2]
    if width <= dim + 1:
        raise ValueError(f"width is {width}: the projection leaves nothing at dim {dim}")
    first = math.sqrt(dim) * unit_vectors(Streams.like(rngs, z), width, dim)
    raw = 4 / width * torch.relu(z @ first.mT).mT @ targets
    basis = torch.linalg.qr(torch.cat([torch.ones_like(first[..., :1]), first], 2)).Q
    second = raw - basis @ (basis.mT @ raw) if project else raw
    return Mlp(first=first, bias=torch.zeros_like(first[..., 0]), second=second, activation="relu")


def _features(
    z: torch.Tensor, first: torch.Tensor, bias: torch.Tensor, activation: str
) -> torch.Tensor:
    inner = torch.baddbmm(bias[:, None], z, first.mT)
    return math.sqrt(2) * torch.cos(inner) if activation == "cosine" else torch.relu(inner)


def constructed(
    rngs: Rngs,
    *,
    associations: int,
    dim: int,
    width: int,
    outputs: int | None = None,
    features: str = "cosine",
    frequency: float = 8.0,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Test a construction: ``accuracy``, and ``all`` (1 if every answer is right), both (R,).

    Replicates are built in groups whose (N, m) features fit a tile.

    Args:
        rngs: one generator per replicate.
        associations: N.
        dim: d.
        width: m.
        outputs: M; None for M = N.
        features: "cosine", "relu", or "plain relu" without the projection.
        frequency: frequency of the cosine.
        device: device of the tensors.
        dtype: floating-point type.

    Raises:
        ValueError: unknown ``features``, and sizes that `draw`, `cosine_memory` or `relu_memory`
            reject.
    """
    accuracies, streams = [], Streams(rngs, device, dtype)
    for r in groups(len(rngs), associations * width, streams):
        some = rngs[r]
        facts = draw(
            some,
            associations=associations,
            outputs=outputs or associations,
            dim=dim,
            device=device,
            dtype=dtype,
        )
        z, y = facts.z, facts.u[:, facts.targets]
        if features == "cosine":
            memory = cosine_memory(z, y, some, width=width, frequency=frequency)
        elif features in ("relu", "plain relu"):
            memory = relu_memory(z, y, some, width=width, project=features == "relu")
        else:
            raise ValueError(f"unknown features {features!r}: give cosine, relu or plain relu")
        accuracies.append(facts.correct(memory(z)).to(dtype).mean(1))
    accuracy = torch.cat(accuracies)
    return {"accuracy": accuracy, "all": (accuracy == 1).to(dtype)}


def trained_accuracy(
    facts: Associations,
    rngs: Rngs,
    *,
    width: int,
    steps: int = 2**15,
    rate: float = 0.03,
    enough: float = 0.99,
) -> torch.Tensor:
    """Train a ReLU MLP on all associations at once, and return its best accuracy: (R,).

    As in the released code, only the first layer has a bias, which starts at zero, and weights have
    truncated normal laws of variance 1 / fan-in. AdamW without weight decay lowers the mean
    cross-entropy. Accuracy is measured after step 1 and every `CHECK_EVERY` steps from there, and
    training stops once accuracy exceeds ``enough``.
    """
    network = _network(facts, rngs, width, rate)
    best = facts.z.new_zeros(len(rngs))
    active = torch.arange(len(rngs), device=best.device)
    with no_denormals():
        for step in range(steps):
            network.step()
            if step % CHECK_EVERY == 0:
                accuracy = network.accuracy()
                best[active] = torch.maximum(best[active], accuracy)
                going = (accuracy <= enough).nonzero()[:, 0]
                if not len(going):
                    break
                if len(going) < len(active):
                    active = active[going]
                    network.keep(going)
    return best


def trained(facts: Associations, rngs: Rngs, *, width: int, steps: int, rate: float = 0.03) -> Mlp:
    """Train a ReLU MLP as `trained_accuracy` does, but for all ``steps``, and return the MLP."""
    network = _network(facts, rngs, width, rate)
    with no_denormals():
        for _ in range(steps):
            network.step()
    first, second = network.weights
    return Mlp(first=first[..., :-1], bias=first[..., -1], second=second.mT, activation="relu")


def _network(facts: Associations, rngs: Rngs, width: int, rate: float) -> "_Network":
    width_in, width_out = facts.z.shape[2], facts.u.shape[2]
    streams = Streams.like(rngs, facts.z)
    first = lecun_normal(streams, width_in, width)
    return _Network(facts, first, lecun_normal(streams, width, width_out), rate)


class _Network:
    r"""ReLU networks in training, one per replicate.

    Activations have a column for each association, so most products have few rows and many
    columns. With inputs z, hidden h, answers f, outputs u and p the softmax of the scores,

    .. math:: h = \mathrm{relu}(W z),\quad f = V h,\quad p = \mathrm{softmax}(u f),

    the gradient of the mean cross-entropy with respect to f is
    :math:`g = (u^\top p - u_{target}) / N`. The gradients of the weights are
    :math:`V' = g h^\top` and :math:`W' = ((V^\top g) 1_{h > 0}) z^\top`. The bias is the last
    column of W, whose input is always 1.
    """

    def __init__(
        self, facts: Associations, first: torch.Tensor, second: torch.Tensor, rate: float
    ) -> None:
        z, count = facts.z.mT, facts.z.shape[1]
        self._z = torch.cat([z, torch.ones_like(z[:, :1])], 1)
        self._u = facts.u.contiguous()
        self._targets = facts.targets
        self._back = self._u.mT / count
        self._wanted = self._back[:, :, facts.targets].contiguous()
        bias = torch.zeros_like(first[:, :1])
        first, second = torch.cat([first, bias], 1).mT.contiguous(), second.mT.contiguous()
        self.weights = [first, second]
        self._adam = Adam(self.weights, [rate] * len(first))
        self._make_room()

    def _make_room(self) -> None:
        """Allocate buffers that all steps use, as new memory would take longer than arithmetic."""
        first, second = self.weights
        models, width, dim, count = *first.shape[:2], second.shape[1], self._z.shape[2]
        empty = self._z.new_empty
        self._hidden, self._hidden_back = (empty(models, width, count) for _ in range(2))
        self._answers, self._answers_back = (empty(models, dim, count) for _ in range(2))
        self._scores = empty(models, count, self._u.shape[1])
        self._gradients = [torch.empty_like(weights) for weights in self.weights]

    def _forward(self) -> torch.Tensor:
        first, second = self.weights
        torch.bmm(first, self._z, out=self._hidden).relu_()
        torch.bmm(second, self._hidden, out=self._answers)
        return torch.bmm(self._answers.mT, self._u.mT, out=self._scores)

    def gradient(self) -> list[torch.Tensor]:
        """Differentiate the mean cross-entropy by each of ``weights``, in buffers."""
        scores, hidden, back = self._forward(), self._hidden, self._hidden_back
        torch.softmax(scores, 2, out=scores)
        torch.bmm(self._back, scores.mT, out=self._answers_back).sub_(self._wanted)
        torch.bmm(self._answers_back, hidden.mT, out=self._gradients[1])
        torch.bmm(self.weights[1].mT, self._answers_back, out=back)
        torch.ops.aten.threshold_backward(back, hidden, 0, grad_input=back)
        torch.bmm(back, self._z.mT, out=self._gradients[0])
        return self._gradients

    def step(self) -> None:
        self._adam.step(self.weights, self.gradient())

    def accuracy(self) -> torch.Tensor:
        """Measure the share of associations answered correctly: (R,)."""
        right = self._forward().argmax(2) == self._targets
        return right.to(self._z.dtype).mean(1)

    def keep(self, chosen: torch.Tensor) -> None:
        """Keep only the replicates at the indices ``chosen``."""
        self._z, self._u, self._back, self._wanted = (
            tensor[chosen] for tensor in (self._z, self._u, self._back, self._wanted)
        )
        self.weights = [weights[chosen] for weights in self.weights]
        self._adam.keep(chosen)
        self._make_room()
