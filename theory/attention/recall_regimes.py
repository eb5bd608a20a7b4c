"""Where the formulas of `recall` state their errors."""

from collections.abc import Mapping
from typing import Any

from recall_claims import log_integers
from theory.attention.problem import SIZES

SEEN = SIZES.searched(
    "N >= V",
    holds=lambda cell: cell["samples"] >= cell["vocab_size"],
    size=lambda cell: cell["vocab_size"] ** 2,
    largest=1.2e6,
    without=("length",),
    samples=log_integers(128, 65536),
    embeddings=("sphere", "gaussian"),
)
REGIME = SEEN.searched("V >= 256", holds=lambda cell: cell["vocab_size"] >= 256)
"""Where `recall_accuracy` states its errors."""
PLAIN = REGIME.searched(
    "trigger in the keys, unit-sphere embeddings",
    without=("embeddings",),
    trigger_in_values=(False,),
)
"""Where `recall_accuracy_gaussian` states its error, and `half_dim_refined`:"""
THRESHOLD = PLAIN.searched(without=("dim",))
BALANCED = SEEN.searched(
    "balanced data: as many samples of each token; unit-sphere embeddings, trigger in the keys",
    vocab_size=[2**k for k in range(6, 13)],
    samples=[2**k for k in range(6, 15)],
    without=("dim", "embeddings"),
    trigger_in_values=(False,),
    balanced=(True,),
)
"""Where `all_tokens_probability` states its error."""


def plain(cell: Mapping[str, Any]) -> bool:
    """Whether embeddings are on the sphere, and the trigger is in the keys alone."""
    sphere = cell.get("embeddings", "sphere") == "sphere"
    return sphere and not cell.get("trigger_in_values", False)
