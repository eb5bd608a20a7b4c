"""Processes for measurements that take a core for long."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Executor, ProcessPoolExecutor

from recall_claims.evidence.executors import SerialExecutor, cores, one_thread


def pool() -> Executor:
    """A process per core; in this process where pytest-xdist already runs one per core."""
    if "PYTEST_XDIST_WORKER" in os.environ or cores() == 1:
        return SerialExecutor()
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(min(cores(), 8), mp_context=context, initializer=one_thread)
