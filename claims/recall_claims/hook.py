"""The hook that makes pytest collect claims; the conftest.py of a folder of claims imports it."""

import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin, once for all folders that ask for it."""
    pluginmanager.import_plugin("recall_claims.plugin")
