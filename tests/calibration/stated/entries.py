"""Every entry, room by room."""

from tests.calibration.stated import attention, attention_recall, memory, memory_features

ENTRIES = (
    *attention.STATED,
    *attention_recall.STATED,
    *memory.STATED,
    *memory_features.STATED,
)
"""What is tried."""
