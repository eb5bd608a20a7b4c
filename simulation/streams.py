"""Random numbers of all replicates at once, on the device, with a generator for each replicate.

A generator gives 64-bit words on the host. numpy promises never to change these words, but makes no
such promise for its distributions. So the words are moved to the device and turned into numbers
there. Normal numbers come from the Box-Muller transform in float32, so draws in float64 are the
same as in float32. Permutations and multinomial counts are drawn by numpy on the host.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import torch

Rngs = Sequence[np.random.Generator]
"""One numpy generator per replicate."""
Words = npt.NDArray[np.int64]
Law = npt.NDArray[np.float64] | Sequence[float]
"""Probabilities of some categories, which add up to 1."""

CPU_TILE, GPU_TILE = 2**15, 2**24
"""Words converted to numbers at a time: 256 kB, which fit a CPU core's cache, and 128 MB."""


class Streams(Sequence[np.random.Generator]):
    """Generators of R replicates, for draws from all of them at once.

    Every draw is a tensor (R, ...) on the device. A replicate's numbers depend only on its own
    generator: not on other replicates or the dtype, and on the device only by rounding.

    Draws by MT19937, except in `counts` and `permutation`, raise ValueError, because its words have
    32 bits.
    """

    def __init__(
        self,
        rngs: Rngs,
        device: str | torch.device = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self._rngs = tuple(rngs)
        self.device, self.dtype = torch.device(device), dtype
        self._tile = CPU_TILE if self.device.type == "cpu" else GPU_TILE
        self._together = False
        self._waiting: list[tuple[Words, Callable[[torch.Tensor], object]]] = []

    @classmethod
    def like(cls, rngs: Rngs, tensor: torch.Tensor) -> Streams:
        """Make streams that draw on the device and in the dtype of a tensor."""
        return cls(rngs, tensor.device, tensor.dtype)

    def __len__(self) -> int:
        return len(self._rngs)

    @overload
    def __getitem__(self, which: int) -> np.random.Generator: ...
    @overload
    def __getitem__(self, which: slice | list[int]) -> Streams: ...
    def __getitem__(self, which: int | slice | list[int]) -> np.random.Generator | Streams:
        """Select a replicate's generator, or streams of some replicates, in their present state."""
        if isinstance(which, int):
            return self._rngs[which]
        if isinstance(which, slice):
            return Streams(self._rngs[which], self.device, self.dtype)
        return Streams([self._rngs[i] for i in which], self.device, self.dtype)

    def fork(self) -> Streams:
        """Copy the streams: the copy will give the same numbers as the original."""
        return Streams([copy.deepcopy(rng) for rng in self._rngs], self.device, self.dtype)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Move the context's draws to a GPU in few copies; the GPU has all values at the end.

        A CPU has each value when it is drawn.
        """
        outer, self._together = self._together, self.device.type != "cpu"
        try:
            yield
        finally:
            self._together = outer
            if not outer:
                self._move()

    def then(self, step: Callable[[], object]) -> None:
        """Run ``step``, which changes drawn numbers in place, as soon as the device has them."""
        if self._waiting:
            self._waiting.append((np.empty(0, np.int64), lambda _: step()))
        else:
            step()

    def moved(
        self, table: npt.NDArray[np.int64 | np.float64], dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """Move a table from the host to the device, in its own dtype if none is given."""
        here = torch.from_numpy(table)
        dtype = dtype or here.dtype
        if not self._together:
            return here.to(self.device, dtype)
        there = torch.empty(here.shape, dtype=dtype, device=self.device)
        self._add(table.view(np.int64), lambda words: there.copy_(words.view(here.dtype)))
        return there

    def normal(self, *shape: int) -> torch.Tensor:
        """Draw standard normal variables, none beyond 6.7 in absolute value: (R, *shape).

        A word makes two variables: one half gives their radius, the other half their angle.
        """

        def turned(words: torch.Tensor) -> torch.Tensor:
            halves = _halves(words).to(torch.float32).view(-1, 2)
            angle = halves[:, 1] * (math.pi / 2**31)
            radius = halves[:, 0].abs().add_(0.5).mul_(2.0**-31).log_().mul_(-2).sqrt_()
            torch.mul(angle.cos(), radius, out=halves[:, 0])
            torch.mul(angle.sin_(), radius, out=halves[:, 1])
            return halves.view(len(words), -1)

        return self._made(shape, 2, self.dtype, turned)

    def uniform(self, *shape: int) -> torch.Tensor:
        """Draw multiples of 2^-24, uniform from 0 (included) to 1 (excluded): (R, *shape)."""
        return self._made(
            shape, 2, self.dtype, lambda words: ((_halves(words) >> 8) & 0xFFFFFF) * 2.0**-24
        )

    def integers(self, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Draw integers uniform in [0, high), to a relative bias of high / 2^32: (R, *shape).

        Raises ValueError for ``high`` below 1 or above 2^31.
        """
        if not 1 <= high <= 2**31:
            raise ValueError(f"no integers below {high}: give 1 to {2**31}")
        share = high / 2**32

        def scaled(words: torch.Tensor) -> torch.Tensor:
            # In float64, whose products are vectorised; every result fits an int32.
            return _halves(words).double().add_(2.0**31).mul_(share).to(torch.int32)

        return self._made(shape, 2, dtype, scaled)

    def signs(self, *shape: int) -> torch.Tensor:
        """Draw signs -1 or 1, equally likely: (R, *shape)."""
        bits = torch.arange(8, dtype=torch.uint8, device=self.device)

        def made(words: torch.Tensor) -> torch.Tensor:
            found = (words.view(torch.uint8)[..., None] >> bits) & 1
            return found.flatten(1).to(self.dtype).mul_(2).sub_(1)

        return self._made(shape, 64, self.dtype, made)

    def category(self, law: Law, *shape: int) -> torch.Tensor:
        """Draw categories with the probabilities ``law``: (R, *shape) int64."""
        total = np.cumsum(law)
        ends = self.moved(total[:-1] / total[-1])

        def found(words: torch.Tensor) -> torch.Tensor:
            fraction = ((words >> 11) & (2**53 - 1)).double() * 2.0**-53
            return torch.searchsorted(ends, fraction, right=True)

        return self._made(shape, 1, torch.int64, found)

    def counts(self, draws: int, law: Law, *shape: int) -> torch.Tensor:
        """Count how often each category occurs in ``draws`` draws: (R, *shape, categories)."""
        size = (*shape, len(law))
        return self._filled(size, self.dtype, lambda rng: rng.multinomial(draws, law, shape))

    def permutation(self, count: int, *shape: int) -> torch.Tensor:
        """Draw permutations of 0 to ``count - 1``: (R, *shape, count) int64."""
        rows = np.broadcast_to(np.arange(count), (*shape, count))
        return self._filled(
            (*shape, count),
            torch.int64,
            lambda rng: rng.permuted(rows, axis=-1) if shape else rng.permutation(count),
        )

    def _filled(
        self, shape: Sequence[int], dtype: torch.dtype, drawn: Callable[[np.random.Generator], Any]
    ) -> torch.Tensor:
        """Draw integers from each generator by numpy, on the host."""
        table = np.empty((len(self), *shape), np.int64)
        for r, rng in enumerate(self._rngs):
            table[r] = drawn(rng)
        return self.moved(table, dtype)

    def _made(
        self,
        shape: Sequence[int],
        each: int,
        dtype: torch.dtype,
        numbers: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """Make ``each`` numbers of every word, in order: (R, *shape)."""
        count = math.prod(shape)
        words = -(-count // each)
        out = torch.empty(len(self), words * each, dtype=dtype, device=self.device)
        group = max(1, self._tile // max(1, words))
        for r in range(0, len(self), group):
            rngs = self._rngs[r : r + group]
            if any(isinstance(rng.bit_generator, np.random.MT19937) for rng in rngs):
                raise ValueError("MT19937 gives words of 32 bits, not of 64: take SFC64 or PCG64")
            for first in range(0, words, self._tile):
                size = min(self._tile, words - first)
                drawn = np.stack([rng.bit_generator.random_raw(size) for rng in rngs])
                part = out[r : r + group, each * first : each * (first + size)]
                self._add(drawn.view(np.int64), partial(_fill, part, numbers))
        return out[:, :count].reshape(len(self), *shape)

    def _add(self, words: Words, use: Callable[[torch.Tensor], object]) -> None:
        """Move words to the device and use them: now or, within `together`, with other words."""
        if not self._together:
            use(torch.from_numpy(words).to(self.device))
            return
        if sum(held.size for held, _ in self._waiting) + words.size > self._tile:
            self._move()
        self._waiting.append((words, use))

    def _move(self) -> None:
        """Copy all waiting words to the device at once, and use them in order."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        host = torch.from_numpy(np.concatenate([words.ravel() for words, _ in waiting]))
        parts = torch.split(host.to(self.device), [words.size for words, _ in waiting])
        for (words, use), part in zip(waiting, parts, strict=True):
            use(part.view(words.shape))


def _fill(
    out: torch.Tensor, numbers: Callable[[torch.Tensor], torch.Tensor], words: torch.Tensor
) -> None:
    out.copy_(numbers(words))


def _halves(words: torch.Tensor) -> torch.Tensor:
    """Split words into signed 32-bit halves, lower halves first."""
    return words.view(torch.int32)
