r"""MLP associative memories :math:`F(z) = V^\top \sigma(Wz + b)`, by construction and by training.

A memory maps each of N input embeddings to one of M outputs; what it answers to z is
:math:`\arg\max_j u_j^\top F(z)`. Association i has output floor(i M / N), so that outputs are used
equally often (paper B, statements B2 and B8).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from simulation import decoding
from simulation.adam import adam
from simulation.embeddings import unit_vectors
from simulation.initial_weights import lecun_normal

CHECK_EVERY = 256
"""Steps of training between two looks at the accuracy, as in the released code."""


@dataclass(frozen=True, kw_only=True)
class Associations:
    """What is to be memorised; R replicates, N associations, M outputs, dimension d.

    ``z``: (R, N, d) inputs.  ``u``: (R, M, d) outputs.  ``targets``: (N,) int64, by input.
    """

    z: torch.Tensor
    u: torch.Tensor
    targets: torch.Tensor

    def correct(self, answers: torch.Tensor) -> torch.Tensor:
        """Which of the answers F(z), (R, N, d), are nearest in score to their targets: (R, N)."""
        return decoding.nearest(self.u, answers) == self.targets


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """Weights of F(z) = second^T activation(first z + bias), with m neurons.

    ``first``: (m, d).  ``bias``: (m,).  ``second``: (m, d).  ``activation``: "cosine", which is
    sqrt(2) cos, or "relu".
    """

    first: torch.Tensor
    bias: torch.Tensor
    second: torch.Tensor
    activation: str

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        return _features(z, self.first, self.bias, self.activation) @ self.second


def draw(
    rngs: Sequence[np.random.Generator],
    *,
    associations: int,
    outputs: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Associations:
    """Uniform unit vectors as inputs and outputs, one draw per generator.

    Raises ValueError for no generator, ``dim`` or ``outputs`` below 2, or fewer associations than
    outputs.
    """
    if not rngs:
        raise ValueError("no generator given: pass one numpy Generator per replicate")
    if dim < 2 or outputs < 2:
        raise ValueError(f"dim is {dim} and outputs {outputs}: give at least 2 of each")
    if associations < outputs:
        raise ValueError(f"{associations} associations cannot use all of {outputs} outputs")
    vectors = np.stack([unit_vectors(rng, associations + outputs, dim) for rng in rngs])
    moved = torch.from_numpy(vectors).to(device, dtype)
    return Associations(
        z=moved[:, :associations],
        u=moved[:, associations:],
        targets=torch.arange(associations, device=device) * outputs // associations,
    )


def cosine_memory(
    z: torch.Tensor,
    targets: torch.Tensor,
    rng: np.random.Generator,
    *,
    width: int,
    frequency: float = 8.0,
) -> Mlp:
    r"""Random cosine features and a Hebbian second layer.

    .. math:: W_{ij} \sim \omega N(0, 1),\quad b_i \sim U[0, 2\pi],\quad
        V = \frac1m \sum_x \sigma(W z_x + b)\, y_x^\top

    The features of x and x' have the mean overlap :math:`e^{-\omega^2 |x - x'|^2 / 2}`, which is
    next to nothing for different inputs once the frequency :math:`\omega` is large: the inputs
    become nearly orthogonal directions of :math:`R^m`.

    >>> z = torch.nn.functional.normalize(torch.eye(3, 8).double() + 0.5, dim=1)
    >>> y = torch.eye(3, 8).double()
    >>> memory = cosine_memory(z, y, np.random.default_rng(0), width=4000)
    >>> (memory(z) @ y.mT).abs().round(decimals=1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Args:
        z: (N, d) unit inputs.
        targets: (N, d) vectors to be given in answer.
        rng: draws the first layer.
        width: m.
        frequency: :math:`\omega`.

    Raises:
        ValueError: the width or the frequency is not positive.
    """
    if width < 1 or not frequency > 0:
        raise ValueError(f"width is {width} and frequency {frequency}: both must be positive")
    first = torch.from_numpy(frequency * rng.standard_normal((width, z.shape[1]))).to(z)
    bias = torch.from_numpy(rng.uniform(0, 2 * math.pi, width)).to(z)
    second = _features(z, first, bias, "cosine").mT @ targets / width
    return Mlp(first=first, bias=bias, second=second, activation="cosine")


def relu_memory(
    z: torch.Tensor,
    targets: torch.Tensor,
    rng: np.random.Generator,
    *,
    width: int,
    project: bool = True,
) -> Mlp:
    r"""Random ReLU features, rid of their constant and linear parts, and a Hebbian second layer.

    .. math:: W_i \sim \sqrt d\, U(S^{d-1}),\quad b = 0,\quad
        V = \frac{4}{m}\, P \sum_x \mathrm{relu}(W z_x)\, y_x^\top

    P projects the neurons, :math:`R^m`, onto the complement of the vector of ones and of the
    columns of W. As relu(a) = (a + |a|) / 2, that leaves the features :math:`P|Wz|/2`, which have
    no linear part at all, and no mean. Plain ReLU features (P = 1) of different inputs overlap by
    1/pi of their square, which drowns what is stored, and P is what makes a memory of them.

    >>> z = torch.nn.functional.normalize(torch.eye(3, 8).double() - 0.2, dim=1)
    >>> y = torch.eye(3, 8).double()
    >>> memory = relu_memory(z, y, np.random.default_rng(0), width=4000)
    >>> (memory(z) @ y.mT).argmax(1).tolist()
    [0, 1, 2]

    Args:
        z: (N, d) unit inputs.
        targets: (N, d) vectors to be given in answer.
        rng: draws the first layer.
        width: m.
        project: whether to apply P.

    Raises:
        ValueError: the width is at most d + 1, so that P leaves nothing of the features.
    """
    dim = z.shape[1]
    if width <= dim + 1:
        raise ValueError(f"width is {width}: the projection leaves nothing at dim {dim}")
    rows = rng.standard_normal((width, dim))
    rows *= math.sqrt(dim) / np.linalg.norm(rows, axis=1, keepdims=True)
    first = torch.from_numpy(rows).to(z)
    raw = 4 / width * torch.relu(z @ first.mT).mT @ targets
    basis = torch.linalg.qr(torch.cat([torch.ones_like(first[:, :1]), first], 1)).Q
    second = raw - basis @ (basis.mT @ raw) if project else raw
    return Mlp(first=first, bias=torch.zeros_like(first[:, 0]), second=second, activation="relu")


def _features(
    z: torch.Tensor, first: torch.Tensor, bias: torch.Tensor, activation: str
) -> torch.Tensor:
    inner = torch.addmm(bias, z, first.mT)
    return math.sqrt(2) * torch.cos(inner) if activation == "cosine" else torch.relu(inner)


def constructed(
    rngs: Sequence[np.random.Generator],
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
    """How well a construction answers: ``accuracy``, and ``all`` (1 if nothing is wrong), (R,).

    One replicate is built at a time: its (N, m) features are the largest tensor.

    Args:
        rngs: one generator per replicate.
        associations: N.
        dim: d.
        width: m.
        outputs: M; None for as many as associations.
        features: "cosine", "relu", or "plain relu" without the projection.
        frequency: of the cosine.
        device: where it runs.
        dtype: floating-point type.

    Raises:
        ValueError: unknown features, or sizes as in `draw`, `cosine_memory` and `relu_memory`.
    """
    accuracies = []
    for rng in rngs:
        facts = draw(
            [rng],
            associations=associations,
            outputs=outputs or associations,
            dim=dim,
            device=device,
            dtype=dtype,
        )
        z, y = facts.z[0], facts.u[0, facts.targets]
        if features == "cosine":
            memory = cosine_memory(z, y, rng, width=width, frequency=frequency)
        elif features in ("relu", "plain relu"):
            memory = relu_memory(z, y, rng, width=width, project=features == "relu")
        else:
            raise ValueError(f"unknown features {features!r}: give cosine, relu or plain relu")
        accuracies.append(facts.correct(memory(z)[None]).to(dtype).mean())
    accuracy = torch.stack(accuracies)
    return {"accuracy": accuracy, "all": (accuracy == 1).to(dtype)}


def trained_accuracy(
    facts: Associations,
    rngs: Sequence[np.random.Generator],
    *,
    width: int,
    steps: int = 2**15,
    rate: float = 0.03,
    enough: float = 0.99,
) -> torch.Tensor:
    """Best accuracy of a ReLU MLP trained on all associations at once: (R,).

    The released configuration: bias in the first layer only, weights from truncated normal laws
    of variance 1 / fan-in, zero bias, mean cross-entropy, AdamW without weight decay. Training
    looks at the accuracy after step 1 and every `CHECK_EVERY` steps from there, and stops once it
    exceeds ``enough``.

    The replicates are trained in one batch; those that are done leave it.
    """
    width_in, width_out = facts.z.shape[2], facts.u.shape[2]
    first, second = (
        torch.from_numpy(np.stack([lecun_normal(rng, shape) for rng in rngs])).to(facts.z)
        for shape in ((width_in, width), (width, width_out))
    )
    network = _Network(facts, first, second)
    best = facts.z.new_zeros(len(rngs))
    active = torch.arange(len(rngs), device=best.device)
    for step in range(steps):
        network.step(step + 1, rate)
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


class _Network:
    """ReLU networks, one per replicate, and the state of their Adam."""

    def __init__(self, facts: Associations, first: torch.Tensor, second: torch.Tensor) -> None:
        # The bias is the last row of the first layer: an input that is always 1.
        self._z = torch.cat([facts.z, torch.ones_like(facts.z[..., :1])], 2)
        self._u = facts.u
        self._targets = facts.targets
        self._wanted = torch.nn.functional.one_hot(facts.targets, facts.u.shape[1]).to(facts.u)
        first = torch.cat([first, torch.zeros_like(first[:, :1])], 1)
        self._split = first[0].numel()
        self._width = first.shape[2]
        self._parameters = torch.cat([first.flatten(1), second.flatten(1)], 1)
        self._mean = torch.zeros_like(self._parameters)
        self._square = torch.zeros_like(self._parameters)

    def _layers(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self._views(self._parameters)

    def _views(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Views of rows of parameters, or of their gradient."""
        count, split = len(rows), self._split
        first = rows[:, :split].view(count, split // self._width, self._width)
        return first, rows[:, split:].view(count, self._width, self._u.shape[2])

    def _forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = self._layers()
        hidden = torch.bmm(self._z, first).relu_()
        return hidden, torch.bmm(torch.bmm(hidden, second), self._u.mT)

    def gradient(self) -> torch.Tensor:
        """Of the mean cross-entropy, written out: faster than autograd on small matrices."""
        hidden, logits = self._forward()
        _, second = self._layers()
        error = torch.softmax(logits, 2).sub_(self._wanted)
        answer = torch.bmm(error, self._u).div_(self._targets.numel())
        back = torch.bmm(answer, second.mT).mul_(hidden > 0)
        gradient = torch.empty_like(self._parameters)
        grad_first, grad_second = self._views(gradient)
        grad_first.copy_(torch.bmm(self._z.mT, back))
        grad_second.copy_(torch.bmm(hidden.mT, answer))
        return gradient

    def step(self, count: int, rate: float) -> None:
        adam(self._parameters, self.gradient(), self._mean, self._square, count, rate)

    def accuracy(self) -> torch.Tensor:
        """Share of associations answered rightly: (R,)."""
        right = self._forward()[1].argmax(2) == self._targets
        return right.to(self._z.dtype).mean(1)

    def keep(self, chosen: torch.Tensor) -> None:
        """Go on with the chosen replicates alone."""
        self._z, self._u = self._z[chosen], self._u[chosen]
        self._parameters = self._parameters[chosen]
        self._mean, self._square = self._mean[chosen], self._square[chosen]
