"""`pytest tests/ claims/` judges no claim that a test has made for its own use."""

import pytest

from claims.engine import Claim


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(obj: object) -> list[pytest.Item] | None:
    """Collect nothing for a claim."""
    return [] if isinstance(obj, Claim) else None
