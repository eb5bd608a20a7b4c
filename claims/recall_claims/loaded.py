"""Torch, where something has loaded it: a suite on numpy alone starts, runs and ends without it."""

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def torch() -> Any:
    """The module, or None where nothing in this process has imported it."""
    return sys.modules.get("torch")


def installed(package: str) -> str:
    """Which version of a package there is, loaded or not; "none" without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
