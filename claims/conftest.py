"""Loads the library's pytest plugin, and makes the papers of this suite known."""

import claims.papers  # noqa: F401  (adds them)
from recall_claims.hook import pytest_addoption  # noqa: F401  (makes pytest collect claims)
