"""Claims are collected and run by the engine's pytest hooks."""

from claims.engine.plugin import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_configure_node,
    pytest_pycollect_makeitem,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_runtestloop,
    pytest_sessionfinish,
    pytest_sessionstart,
    pytest_terminal_summary,
)

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_pycollect_makeitem",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
    "pytest_sessionstart",
    "pytest_terminal_summary",
]
