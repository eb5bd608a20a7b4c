"""Adam without weight decay, in place and for a batch of models."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

import torch
from torch.optim.adam import adam

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""The usual constants."""


class Adam:
    """Running means of the gradients and of their squares, for a batch of models.

    Args:
        weights: trained tensors; the first axis of each runs over the models.
        rates: a learning rate for each model; successive models of equal rate move together.
    """

    def __init__(self, weights: Sequence[torch.Tensor], rates: Sequence[float]) -> None:
        self._rates = list(rates)
        self._means, self._squares = (
            [torch.zeros_like(w, memory_format=torch.contiguous_format) for w in weights]
            for _ in range(2)
        )
        self._group(weights[0].new_zeros((), dtype=torch.float32))

    def step(self, weights: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights, in place.

        Raises ValueError for weights or gradients that are not contiguous, because torch would mix
        up their entries.
        """
        if not all(tensor.is_contiguous() for tensor in (*weights, *gradients)):
            raise ValueError("weights or gradients are not contiguous: copy them")
        for part, rate, steps in self._groups:
            adam(
                [tensor[part] for tensor in weights],
                [tensor[part] for tensor in gradients],
                [tensor[part] for tensor in self._means],
                [tensor[part] for tensor in self._squares],
                max_exp_avg_sqs=[],
                state_steps=steps,
                fused=True,
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=rate,
                weight_decay=0.0,
                eps=EPSILON,
                maximize=False,
            )

    def keep(self, kept: torch.Tensor) -> None:
        """Keep the state of the models at the indices ``kept``, and drop the rest."""
        self._rates = [self._rates[i] for i in kept.tolist()]
        state = self._means, self._squares
        self._means, self._squares = ([t[kept] for t in each] for each in state)
        self._group(self._groups[0][2][0])

    def _group(self, taken: torch.Tensor) -> None:
        """Group successive models of equal rate; ``taken``: number of steps so far."""
        self._groups, first = [], 0
        for rate, same in groupby(self._rates):
            part = slice(first, first := first + len(list(same)))
            self._groups.append((part, rate, [taken.clone() for _ in self._means]))


@contextmanager
def no_denormals() -> Iterator[None]:
    """Round denormal numbers to zero within the context, as they make a CPU many times slower.

    Only this thread rounds.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
