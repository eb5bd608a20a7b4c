"""Simulate a block: what a worker does, in this process or in another one, and who waits for it."""

import importlib
import platform
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy
import torch

from recall_claims.declare.cell import Block, Cell
from recall_claims.declare.claim import Claim
from recall_claims.errors import GivenUp, OutOfTime, SimulationError
from recall_claims.evidence.alarm import Rung, alarm
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.fingerprints import fingerprint
from recall_claims.evidence.ledger import BlockKey, BlockResult
from recall_claims.evidence.memory import peak_memory
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.judge.methods import Array


@dataclass(frozen=True)
class Task:
    """A block to simulate, in words that any worker process understands.

    The key has the registration, which the process that judges has worked out: a worker predicts
    nothing.

    `latest`: when it must have begun, in seconds since 1970, or it is not simulated; `until`: when
    it is given up.
    """

    module: str
    cell: Cell
    device: str
    key: BlockKey
    latest: float | None = None
    until: float | None = None


@dataclass(frozen=True)
class TimeLimit:
    """When blocks must have ended.

    Attributes:
        deadline: in seconds since 1970.
        patience: seconds after that until a block that takes longer than expected is given up.
        costs: what they are expected to take.
    """

    deadline: float
    patience: float
    costs: Costs

    def timed(self, task: Task) -> Task:
        """The task with the times when it must have begun and ended."""
        latest = self.deadline - (self._seconds(task.key) or 0.0)
        return replace(task, latest=latest, until=self.deadline + self.patience)

    def knows(self, key: BlockKey) -> bool:
        """Whether anything is known of what the block takes."""
        return self._seconds(key) is not None

    def _seconds(self, key: BlockKey) -> float | None:
        return self.costs.seconds(key.claim, key.cell, key.replicates)


def simulate(task: Task) -> BlockResult:
    """Simulate one block; this is what an executor's worker runs.

    If memory runs out, the block is simulated in halves, those in halves again, and so on. Every
    replicate has its own generator, so that its draws are those of the whole block, and its figures
    are so but for rounding: batched products round by the size of their batch.

    Raises:
        OutOfTime: it is later than the task's `latest`.
        GivenUp: it is later than the task's `until`.
        SimulationError: the worker's code or libraries are not those of the run, the claim's
            function returned something that cannot be evidence, or memory does not suffice for a
            single replicate.
    """
    key = task.key
    if task.latest is not None and time.time() > task.latest:
        raise OutOfTime(f"{_where(key)}: not expected to end in time")
    claim, code = find(task.module, key.claim)
    one_thread()
    full_precision()
    if (code, versions()) != (key.code, key.versions):
        raise SimulationError(
            f"worker {platform.node()} has other code or libraries than this run: {code} and "
            f"{versions()} there, {key.code} and {key.versions} here; install the same on both "
            "and start the workers anew"
        )
    start = time.perf_counter()
    try:
        with alarm(task.until):
            parts = _parts(claim, task)
    except Rung:
        raise GivenUp(_where(key), time.perf_counter() - start) from None
    seconds = time.perf_counter() - start
    observations = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return BlockResult(observations, seconds, peak_memory(), parts=len(parts))


def _parts(claim: Claim, task: Task) -> list[dict[str, Array]]:
    """Observables of a block, in as many parts as memory asks for."""
    key = task.key
    spans, parts = [slice(0, key.replicates)], []
    while spans:
        span = spans.pop()
        part = _observe(claim, task, span)
        if part is not None:
            parts.append(part)
        elif span.stop - span.start > 1:
            middle = (span.start + span.stop) // 2
            spans += [slice(middle, span.stop), slice(span.start, middle)]
        else:
            raise SimulationError(
                f"{_where(key)}: out of memory on {task.device} even for a single replicate; "
                "free memory there, run fewer processes at a time (--executor serial), or take a "
                "device with more"
            )
    return parts


def completed(
    missing: Sequence[Task],
    executor: Executor,
    prefetched: Mapping[BlockKey, Future[BlockResult]],
    limit: TimeLimit | None,
) -> Iterator[tuple[BlockKey, BlockResult | OutOfTime]]:
    """Blocks as they are done, so that a run killed at any point loses only those in flight.

    An error stands for one that would not have ended, or did not end, in time. Where nothing is
    known of that, one block is waited for, which tells.
    """
    queue = deque(missing)
    # A serial executor runs a block when it is submitted: one at a time, or none would be kept
    # before the last is done.
    window = 1 if isinstance(executor, SerialExecutor) else len(missing)
    flying: dict[Future[BlockResult], BlockKey] = {}
    try:
        while queue or flying:
            while queue and len(flying) < window:
                if limit is not None and flying and not limit.knows(queue[0].key):
                    break
                task = queue.popleft() if limit is None else limit.timed(queue.popleft())
                future = prefetched.get(task.key) or executor.submit(simulate, task)
                flying[future] = task.key
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield flying.pop(future), _result(future)
    finally:
        for future in flying:
            future.cancel()


def _result(future: Future[BlockResult]) -> BlockResult | OutOfTime:
    try:
        return future.result()
    except OutOfTime as error:
        return error
    except CancelledError as error:
        raise BrokenExecutor(
            "the executor gave up its blocks; is its scheduler gone? Start it and run again: "
            "finished blocks are kept"
        ) from error


def full_precision() -> None:
    """Multiply float32 matrices in float32: no TensorFloat-32, which keeps 10 bits of a factor."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _observe(claim: Claim, task: Task, span: slice) -> dict[str, Array] | None:
    """Observables of some replicates of a block, or None if memory does not suffice."""
    key = task.key
    # Anew for every attempt: one that failed has used its generators.
    rngs = replicate_generators(
        key.seed, key.claim, key.registration, key.cell, key.block, key.replicates
    )
    block = Block(rngs=rngs[span], device=task.device, dtype=getattr(torch, key.dtype))
    try:
        raw = claim.observe(task.cell, block)
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        return None
    where = _where(key)
    if not isinstance(raw, Mapping):
        raw = {"value": raw}
    if not raw:
        raise SimulationError(f"{where}: the claim's function returned no observables")
    observations = {name: _array(value) for name, value in raw.items()}
    for name, values in observations.items():
        if values.shape != (block.replicates,):
            raise SimulationError(
                f"{where}: observable {name!r} has shape {values.shape}, not one value per "
                f"replicate ({block.replicates},)"
            )
        if not np.isfinite(values).all():
            raise SimulationError(
                f"{where}: observable {name!r} has {(~np.isfinite(values)).sum()} values that are "
                "not finite; the simulation is broken there or the cell makes no sense"
            )
    return observations


def _out_of_memory(error: Exception) -> bool:
    """Whether an allocation failed: on a GPU, in one of its libraries, or on the CPU."""
    kinds = (MemoryError, torch.OutOfMemoryError)
    return isinstance(error, kinds) or any(
        text in str(error) for text in ("can't allocate memory", "STATUS_ALLOC_FAILED")
    )


def _where(key: BlockKey) -> str:
    return f"{key.claim} at {key.cell}, block {key.block}"


def _array(value: object) -> Array:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    return np.asarray(value, dtype=np.float64)


def find(module: str, claim_id: str) -> tuple[Claim, str]:
    """A claim and the fingerprint of its code, as they were when this process imported them.

    Raises:
        SimulationError: this process cannot import the module, or that holds no such claim.
    """
    try:
        return _claims(module)[claim_id]
    except KeyError:
        raise SimulationError(f"module {module} holds no claim {claim_id}") from None


@cache
def _claims(module: str) -> dict[str, tuple[Claim, str]]:
    # All at once: a worker that lives on while files are edited must not mistake a later text
    # for the code that it has imported.
    try:
        found = vars(importlib.import_module(module)).values()
    except ModuleNotFoundError as error:
        raise SimulationError(
            f"worker {platform.node()} cannot import {module} ({error}); install the claims there, "
            "or start the worker with their folder on PYTHONPATH"
        ) from error
    return {c.id: (c, fingerprint(c.observe)) for c in found if isinstance(c, Claim)}


@cache
def versions() -> str:
    """Of what a block's last digits depend on besides the code."""
    return (
        f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"torch {torch.__version__}"
    )
