"""Sizes of tasks of factual recall, of which each formula says where it holds."""

from recall_claims import Regime, Values, log_integers, one_of

ANY = Regime(
    "",
    {
        "subjects": log_integers(2, 256),
        "relations": log_integers(2, 64),
        "answers": log_integers(2, 64),
    },
)
"""Any number of facts."""
PAIRED = ANY.searched(
    "two tokens a head",
    subjects=range(8, 257, 2),
    relations=range(4, 65, 2),
    answers=log_integers(3, 64),
)
COMPRESSED = Regime(
    "16 subjects and relations in heads of 8 tokens, or 32 in heads of 16 at d of 384 and more, "
    "where attention is selective; at most 4 facts a hidden unit",
    {
        "subjects": one_of(16, 32),
        "relations": one_of(16, 32),
        "answers": log_integers(4, 16),
        "dim": log_integers(128, 512),
        "width": log_integers(64, 1024),
        "group": one_of(8, 16),
        "head_dim": one_of(2, 3, 4, 5, 6),
    },
    holds=lambda cell: (
        cell["subjects"] == cell["relations"] == 2 * cell["group"]
        and (cell["group"] == 8 or cell["dim"] >= 384)
        and 4 * cell["width"] >= cell["subjects"] ** 2
    ),
)
SELECTIVE = Regime(
    "heads of 2 to 8 tokens, 4 or 8 of 64, whose codes need 64 dimensions; as many noise tokens as "
    "others",
    {"subjects": one_of(8, 16, 32, 64), "group": one_of(2, 4, 8)},
    holds=lambda cell: cell["subjects"] < 64 or cell["group"] > 2,
)
SOFT = Regime(
    "margins of 1/2 and d >= 128",
    {
        "subjects": one_of(16),
        "length": log_integers(8, 512),
        "dim": log_integers(128, 512),
        "group": one_of(2, 4),
        "scale": Values((8.0, 9.0, 10.0, 11.0, 12.0)),
    },
)
