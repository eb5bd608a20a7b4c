"""Load the library's pytest plugin, and register the papers of this suite."""

import claims.papers  # noqa: F401  (adds them)
from recall_claims.hook import pytest_addoption  # noqa: F401  (makes pytest collect claims)
