"""Executors of blocks: any `concurrent.futures.Executor`."""

import importlib
import importlib.util
import math
import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import threadpoolctl

from recall_claims.model.errors import ExecutorError, told
from recall_reports.record.spelling import meant

P = ParamSpec("P")
T = TypeVar("T")

FORMS = (
    "auto, serial, processes:K, dask:ADDRESS, dask-insecure:ADDRESS (any address, unprotected), "
    "or module:callable that returns an Executor"
)
KINDS = ("auto", "serial", "processes:K", "dask:ADDRESS")
UNTOLD = 64
"""Assumed number of parallel tasks of an executor that does not state one."""
CGROUPS = Path("/sys/fs/cgroup")
MOST_PROCESSES = 61 if sys.platform == "win32" else 9999
"""Largest number of processes: on Windows, as many as Python can wait for."""


class SerialExecutor(Executor):
    """Executor that runs each call in this process, at the moment when it is submitted."""

    workers = 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call now, and return its finished future."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def loaded_torch() -> Any:
    """Return torch, or None where nothing in this process has imported it.

    A suite on numpy alone never loads torch.
    """
    return sys.modules.get("torch")


def installed(package: str) -> str:
    """Return the version of a package, loaded or not; "none" without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def one_thread() -> None:
    """Let torch, NumPy and SciPy use one thread in this process.

    Sums over several threads have other last digits, but neither a block's figures nor a verdict
    may depend on the number of cores or on the process.
    """
    torch = loaded_torch()
    if torch is not None:
        torch.set_num_threads(1)
    _blas(torch is not None).limit(limits=1)


@cache
def _blas(_with_torch: bool) -> Any:
    # A search of all loaded libraries takes milliseconds: once per process, and once after torch.
    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def cores() -> int:
    """Count the CPU cores that this process may use; a control group's quota is rounded up."""
    affine = hasattr(os, "sched_getaffinity")
    return max(1, min(len(os.sched_getaffinity(0)) if affine else os.cpu_count() or 1, _quota()))


def _quota() -> int:
    """Count the cores that control groups (version 2 or 1) allow a container or service."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # "max" means no limit
            told = " ".join((CGROUPS / name).read_text(encoding="ascii") for name in files)
            quota, period = map(int, told.split())
            if quota > 0:
                return math.ceil(quota / period)
    return sys.maxsize


def resolve(spec: str, device: str) -> str:
    """Return the executor that "auto" means, or any other `spec` as it is.

    On a CPU: a process per core, or "serial" for one core. On a GPU: two processes, so that one
    computes while the other waits for the host.
    """
    if spec != "auto":
        return spec
    processes = min(cores(), MOST_PROCESSES) if device == "cpu" else 2
    return "serial" if processes == 1 else f"processes:{processes}"


def capacity(executor: Executor) -> int:
    """Return an executor's number of parallel tasks; UNTOLD if it does not state one."""
    told = (getattr(executor, name, None) for name in ("workers", "_max_workers"))
    return next((count for count in told if isinstance(count, int)), UNTOLD)


def in_other_processes(executor: Executor) -> bool:
    """Whether the executor is a `ProcessPoolExecutor`, whose calls run in other processes."""
    return isinstance(executor, ProcessPoolExecutor)


def is_local(spec: str) -> bool:
    """Whether blocks run on this machine, and so can use only its devices."""
    return spec in ("auto", "serial") or spec.startswith("processes:")


def factory(spec: str) -> Callable[[], Any]:
    """Return a function that starts the executor that an option value names.

    Args:
        spec: "serial", "processes:K", "dask:ADDRESS" (of a running scheduler, by TLS or on this
            machine), "dask-insecure:ADDRESS" (without TLS, on any machine), or "module:callable".
            The callable takes no arguments and returns any `concurrent.futures.Executor`, such as
            mpi4py's.

    Raises:
        ExecutorError: the value is none of these, dask is missing, or its address unprotected.
    """
    if spec == "serial":
        return SerialExecutor
    kind, _, rest = spec.partition(":")
    if kind == "processes":
        if not re.fullmatch("[1-9][0-9]{0,3}", rest):
            raise ExecutorError(
                f"--executor processes:K needs a positive number below 10000, got {rest[:100]!r}"
            )
        if int(rest) > MOST_PROCESSES:
            raise ExecutorError(
                f"--executor {spec}: Windows waits for at most {MOST_PROCESSES} processes; name so "
                "many, or a cluster"
            )
        # Spawned, not forked: torch's thread pools do not survive a fork.
        context = multiprocessing.get_context("spawn")
        return partial(ProcessPoolExecutor, int(rest), context, _begin)
    if kind in ("dask", "dask-insecure") and rest:
        if importlib.util.find_spec("distributed") is None:
            remedy = "pip install 'recall-claims[cluster]'"
            raise ExecutorError(f"--executor {spec} needs dask: {remedy}")
        from recall_claims.evidence import cluster  # dask is optional

        if kind == "dask":
            cluster.refuse_open(rest)
        return partial(cluster.ClusterExecutor, rest)
    if not (kind and rest):
        raise ExecutorError(f"unknown executor {spec!r}{meant(spec, KINDS)}; it is one of {FORMS}")
    if rest.isdigit():  # a number is no function
        raise ExecutorError(
            f"unknown executor {spec!r} (did you mean processes:{rest[:4]}?); it is one of {FORMS}"
        )
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(kind), rest)
    except Exception as error:  # a module may raise anything while it is imported
        raise ExecutorError(
            f"--executor {spec}: {type(error).__name__}: {error}; an executor is {FORMS}"
        ) from error
    return found


def make(spec: str) -> Executor:
    """Start the executor that an option value names.

    Raises:
        ExecutorError: the value names no executor, its callable fails or returns something else,
            or no cluster answers.
    """
    start = factory(spec)
    try:
        executor = start()
    except ExecutorError:
        raise
    except Exception as error:  # a callable may raise anything, or be none
        raise ExecutorError(f"--executor {spec} starts no executor: {told(error)}") from error
    if not isinstance(executor, Executor):
        raise ExecutorError(
            f"--executor {spec} returned {type(executor).__name__}, not a "
            "concurrent.futures.Executor"
        )
    return executor


def _begin() -> None:
    """Make this worker process end when its parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(process: BaseProcess) -> None:
    process.join()
    os._exit(1)
