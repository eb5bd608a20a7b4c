"""All claims of the suite, for tests that are about every one of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from recall_claims import Claim

_ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(file.relative_to(_ROOT).with_suffix("").parts): file
    for file in sorted((_ROOT / "claims").rglob("test_*.py"))
}
"""Every claim file, by the name it is imported by."""


@cache
def imported() -> dict[str, Claim]:
    """All claims, by id, as the suite runs them."""
    importlib.import_module("claims.papers")
    return claims_in(importlib.import_module(name) for name in FILES)


def claims_in(modules: Iterable[object]) -> dict[str, Claim]:
    """The claims that modules hold, by id."""
    return {
        value.id: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Claim)
    }
