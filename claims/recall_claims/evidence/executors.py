"""Where blocks run: any `concurrent.futures.Executor`."""

import importlib
import importlib.util
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import cache, partial
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

import threadpoolctl
import torch

from recall_claims.errors import ExecutorError

P = ParamSpec("P")
T = TypeVar("T")

FORMS = "auto, serial, processes:K, dask:ADDRESS, or module:callable that returns an Executor"


class SerialExecutor(Executor):
    """Runs a call when it is submitted, in this process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run now; the future is done when it is returned."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def one_thread() -> None:
    """Let torch, NumPy and SciPy use one thread in this process.

    Sums over several threads have other last digits: a block's figures, and the judgement on
    them, must not depend on the number of cores or on who runs what.
    """
    torch.set_num_threads(1)
    _blas().limit(limits=1)


@cache
def _blas() -> Any:
    # A search through all loaded libraries takes milliseconds: once a process.
    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def cores() -> int:
    """CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve(spec: str, device: str, *, nested: bool) -> str:
    """What "auto" stands for: a process per core on a CPU; in this process on a GPU, or when
    pytest-xdist already runs a process per core (`nested`)."""
    if spec != "auto":
        return spec
    return "serial" if nested or device != "cpu" or cores() == 1 else f"processes:{cores()}"


def count(spec: str) -> int:
    """How many processes the executor of an option value has; 1 where only itself knows."""
    kind, _, number = spec.partition(":")
    return int(number) if kind == "processes" else 1


def is_local(spec: str) -> bool:
    """Whether blocks run on this machine, so that its devices are those they can use."""
    return spec in ("auto", "serial") or spec.startswith("processes:")


def factory(spec: str) -> Callable[[], Any]:
    """What makes the executor that an option value names; it starts nothing yet.

    Args:
        spec: "serial", "processes:K", "dask:ADDRESS" (a running scheduler's), or
            "module:callable" (called without arguments, to return any
            `concurrent.futures.Executor`, such as mpi4py's).

    Raises:
        ExecutorError: the value is none of these, or dask is not installed.
    """
    if spec == "serial":
        return SerialExecutor
    kind, _, rest = spec.partition(":")
    if kind == "processes":
        if not rest.isdecimal() or int(rest) < 1:
            raise ExecutorError(f"--executor processes:K needs a positive number, got {rest!r}")
        return partial(_processes, int(rest))
    if kind == "dask" and rest:
        if importlib.util.find_spec("distributed") is None:
            remedy = "pip install 'recall-claims[cluster]'"
            raise ExecutorError(f"--executor {spec} needs dask: {remedy}")
        return partial(_dask, rest)
    if not (kind and rest):
        raise ExecutorError(f"unknown executor {spec!r}; it is one of {FORMS}")
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(kind), rest)
    except (ImportError, AttributeError) as error:
        raise ExecutorError(f"--executor {spec}: {error}") from error
    return found


def make(spec: str) -> Executor:
    """Start the executor that an option value names.

    Raises:
        ExecutorError: the value names none, what it names returns something else, or no cluster
            answers.
    """
    executor = factory(spec)()
    if not isinstance(executor, Executor):
        raise ExecutorError(
            f"--executor {spec} returned {type(executor).__name__}, not a "
            "concurrent.futures.Executor"
        )
    return executor


def _dask(address: str) -> Executor:
    from recall_claims.evidence.cluster import ClusterExecutor  # dask is optional

    return ClusterExecutor(address)


def _processes(count: int) -> Executor:
    # Spawned, not forked: torch's thread pools do not survive a fork.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, mp_context=context, initializer=_begin)


def _begin() -> None:
    """Have a worker process end when the process it works for is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(process: BaseProcess) -> None:
    process.join()
    os._exit(1)
