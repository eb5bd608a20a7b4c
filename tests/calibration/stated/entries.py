"""Every entry, room by room."""

from tests.calibration.stated import (
    attention,
    attention_mlp,
    attention_recall,
    factual,
    factual_learning,
    lower_bound,
    memory,
    memory_features,
)

ENTRIES = (
    *attention.STATED,
    *attention_recall.STATED,
    *attention_mlp.STATED,
    *lower_bound.STATED,
    *factual.STATED,
    *factual_learning.STATED,
    *memory.STATED,
    *memory_features.STATED,
)
"""What is tried."""
