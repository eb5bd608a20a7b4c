"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import recall_claims
import recall_reports
import simulation
import theory

PACKAGES = (theory, simulation, recall_claims, recall_reports)
MODULES = [package.__name__ for package in PACKAGES] + [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_says_what_it_is() -> None:
    """A dataclass without a docstring gets its signature for one, which says nothing."""
    for name in recall_claims.__all__:
        text = getattr(recall_claims, name).__doc__ or ""
        assert len(text) > 20, name
        assert not text.startswith(f"{name}("), name
