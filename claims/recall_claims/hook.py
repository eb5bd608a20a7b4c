"""The hook with which a conftest.py makes pytest collect claims."""

import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin once for all folders."""
    pluginmanager.import_plugin("recall_claims.plugin")
