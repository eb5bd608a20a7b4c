"""The recall problem with a fixed random layer before the value matrix (Attention-MLP)."""

import math
from dataclasses import dataclass

from theory.attention.problem import Problem
from theory.attention_mlp import activations
from theory.attention_mlp.activations import Moments


@dataclass(frozen=True, kw_only=True)
class MlpProblem(Problem):
    r"""One setting of the task, with embeddings on the sphere and a random layer $W$.

    An attended value $h$ has the logits $U^\top V_m\phi(Wh)/\sqrt m$, with the output embeddings
    $U$ and the value matrix $V_m$.

    Attributes:
        width: $m$, neurons of the random layer.
        activation: name of $\phi$, one of `theory.attention_mlp.activations.NAMES`.
        centred: residuals are $e_k - \bar p$ with the training set's label frequencies $\bar p$,
            instead of $e_k - 1/V$.

    Raises ValueError: as `Problem`; also for a width that is no integer of at least 1, an unknown
    activation, or embeddings that are not uniform on the sphere.
    """

    width: int
    activation: str
    centred: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if int(self.width) != self.width or self.width < 1:
            raise ValueError(f"width is {self.width!r}: give an integer of at least 1")
        if self.activation not in activations.NAMES:
            known = ", ".join(activations.NAMES)
            raise ValueError(f"unknown activation {self.activation!r}: give one of {known}")
        if self.embeddings != "sphere":
            raise ValueError(f"embeddings is {self.embeddings!r}: the theory has 'sphere' only")

    @property
    def mean_value_norm(self) -> float:
        r"""Root mean square length $\varepsilon$ of a sequence's mean value."""
        extra = self.length**-2 if self.trigger_in_values else 0.0
        return math.sqrt(1 / self.length + (1 - 1 / self.length) / self.vocab_size + extra)

    @property
    def local(self) -> Moments:
        r"""Moments of $\phi$ at the scale of mean values, for the attention step."""
        return activations.moments(self.activation, self.mean_value_norm)

    @property
    def unit(self) -> Moments:
        r"""Moments of $\phi$ at the scale of single values: 1, or $\sqrt2$ with the trigger."""
        return activations.moments(self.activation, math.sqrt(2) if self.trigger_in_values else 1.0)
