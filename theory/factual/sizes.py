"""Ranges of sizes of factual recall tasks, from which formulas build their regimes."""

from recall_claims import Regime, log_range

ANY = Regime(
    "",
    {
        "subjects": log_range(2, 256),
        "relations": log_range(2, 64),
        "answers": log_range(2, 64),
    },
)
"""Any number of facts."""
PAIRED = ANY.searched(
    "two tokens per head",
    holds=lambda cell: cell["subjects"] % 2 == cell["relations"] % 2 == 0,
    subjects=range(8, 257, 2),
    relations=range(4, 65, 2),
    answers=log_range(3, 64),
)
COMPRESSED = Regime(
    "16 subjects and 16 relations in heads of 8 tokens, or 32 and 32 in heads of 16 at d >= 384, "
    "where attention is selective; at most 4 facts per hidden unit",
    {
        "subjects": (16, 32),
        "relations": (16, 32),
        "answers": log_range(4, 16),
        "dim": log_range(128, 512),
        "width": log_range(64, 1024),
        "group": (8, 16),
        "head_dim": (2, 3, 4, 5, 6),
    },
    holds=lambda cell: (
        cell["subjects"] == cell["relations"] == 2 * cell["group"]
        and (cell["group"] == 8 or cell["dim"] >= 384)
        and 4 * cell["width"] >= cell["subjects"] ** 2
    ),
)
SELECTIVE = Regime(
    "heads of 2, 4 or 8 tokens, but not 2 at 64 subjects; as many noise tokens as others",
    {"subjects": (8, 16, 32, 64), "group": (2, 4, 8)},
    holds=lambda cell: cell["subjects"] < 64 or cell["group"] > 2,
)
SOFT = Regime(
    "tau = 1/2 and d >= 128",
    {
        "subjects": 16,
        "length": log_range(8, 512),
        "dim": log_range(128, 512),
        "group": (2, 4),
        "scale": (8.0, 9.0, 10.0, 11.0, 12.0),
    },
)
