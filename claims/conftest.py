"""Loads the engine's pytest plugin; a folder of claims elsewhere takes this hook over."""

import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin, once for all folders that ask for it."""
    pluginmanager.import_plugin("claims.engine.plugin")
