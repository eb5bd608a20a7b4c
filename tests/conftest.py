"""Settings of the tests: `pytest tests/ claims/` judges no claim that `tests/` declares."""

import gc
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

import claims.papers  # noqa: F401  (adds the papers that claims made by tests cite)
from recall_claims import Claim

# Explaining a counterexample takes a hundred times as long as finding it.
settings.register_profile("brief", phases=[phase for phase in Phase if phase is not Phase.explain])
settings.load_profile("brief")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(obj: object) -> list[pytest.Item] | None:
    """Collect nothing for a claim."""
    return [] if isinstance(obj, Claim) else None


@pytest.fixture(scope="module")
def sockets_freed() -> Iterator[None]:
    """Close sockets that other packages leave open, so that no later test warns of them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
