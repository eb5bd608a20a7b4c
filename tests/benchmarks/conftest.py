"""Measurements without processes of their own, and on one thread."""

import sys
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import pytest
import torch

P = ParamSpec("P")
T = TypeVar("T")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process of its own for a measurement, and one thread."""

    def call(_: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    for name, module in list(sys.modules.items()):
        if name.startswith("tests.benchmarks.") and hasattr(module, "isolated"):
            monkeypatch.setattr(module, "isolated", call)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
