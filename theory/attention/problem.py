"""The recall problem: its sizes and its embedding law.

Paper A is Vural, Bietti, Soltanolkotabi, Wu, "Learning to Recall with Transformers Beyond
Orthogonal Embeddings", arXiv 2603.15923.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from recall_claims import Regime, log_range

SIZES = Regime(
    "",
    {
        "vocab_size": log_range(128, 4096),
        "length": log_range(8, 256),
        "samples": log_range(12, 16384),
        "dim": log_range(12, 512),
        "trigger_in_values": (False, True),
    },
)
"""Ranges of a problem's sizes and options; the regime of a formula narrows or replaces them."""

Embeddings = Literal["sphere", "gaussian", "orthonormal"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    r"""One setting of the attention-only recall task.

    Attributes:
        vocab_size: $V$, number of tokens, and of labels.
        length: $L$, tokens in a sequence, one of them informative.
        samples: $N$, sequences in the one training batch.
        dim: $d$, embedding dimension.
        embeddings: law of the embeddings: uniform on the unit sphere, $N(0, I/d)$, or orthonormal.
        trigger_in_values: $\tau$; whether the trigger embedding is added to the values as well as
            to the keys.

    Raises ValueError: a size is not an integer of at least 2 (``samples``: at least 1), the
    embedding law is unknown, or ``dim`` is too small for orthonormal tokens, trigger and query.

    >>> Problem(vocab_size=128, length=8, samples=512, dim=32).load
    4.0
    """

    vocab_size: int
    length: int
    samples: int
    dim: int
    embeddings: Embeddings = "sphere"
    trigger_in_values: bool = False

    def __post_init__(self) -> None:
        for name, least in (("vocab_size", 2), ("length", 2), ("samples", 1), ("dim", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or int(value) != value or value < least:
                raise ValueError(f"{name} is {value!r}: give an integer of at least {least}")
        if self.embeddings not in get_args(Embeddings):
            known = ", ".join(get_args(Embeddings))
            raise ValueError(f"embeddings is {self.embeddings!r}: give one of {known}")
        if self.embeddings == "orthonormal" and self.dim < self.vocab_size + 2:
            raise ValueError(
                f"dim is {self.dim}, too small for {self.vocab_size} orthonormal tokens, trigger "
                f"and query: give dim of at least {self.vocab_size + 2}, or other embeddings"
            )

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Take the problem from a mapping; other keys are ignored."""
        return cls(**{f.name: parameters[f.name] for f in fields(cls) if f.name in parameters})

    def replace(self, **changes: Any) -> Self:
        """Copy the problem with some fields changed, and validate the copy."""
        return replace(self, **changes)

    @property
    def load(self) -> float:
        r"""Samples per token, $\lambda = N/V$."""
        return self.samples / self.vocab_size

    @property
    def overlap(self) -> float:
        r"""Mean squared overlap $1/d$ of two embeddings; 0 if they are orthonormal."""
        return 0.0 if self.embeddings == "orthonormal" else 1.0 / self.dim

    @property
    def ratio(self) -> float:
        r"""Superposition ratio $r = V/d$; 0 if the embeddings are orthonormal."""
        return self.vocab_size * self.overlap
