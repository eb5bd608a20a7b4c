"""The hook by which the conftest.py of a folder of claims has pytest collect them."""

import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin, once for all folders that ask for it."""
    pluginmanager.import_plugin("recall_claims.plugin")
