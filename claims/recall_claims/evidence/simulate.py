"""Simulate a block: what a worker does, in this process or in another one."""

import importlib
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby

import numpy as np
import scipy

from recall_claims.declare.claim import Claim
from recall_claims.evidence import replay
from recall_claims.evidence.block import fault, replicate_generators
from recall_claims.evidence.executors import installed, loaded_torch, one_thread
from recall_claims.evidence.fingerprints import fingerprint
from recall_claims.evidence.imports import NOTEBOOK
from recall_claims.evidence.ledger import BlockKey, BlockResult
from recall_claims.judge.methods import Array
from recall_claims.model.cell import Block, Cell
from recall_claims.model.errors import SimulationError, told


@dataclass(frozen=True)
class Task:
    """A block to simulate, as plain data that any worker process can read.

    The key has the registration, so no worker needs predictions to compute it.

    `replay`: whether to simulate some of its replicates again (`replay.py`).
    """

    module: str
    cell: Cell
    device: str
    key: BlockKey
    replay: bool = False


def simulate(task: Task) -> BlockResult:
    """Simulate one block.

    If memory runs out, the block is simulated in halves, then in quarters, and so on. Every
    replicate has its own generator, so its draws are the same as in the whole block. Only
    rounding, which depends on the size of a batch, changes its figures.

    Raises:
        SimulationError: the worker's code or libraries differ from the run's, the claim's function
            failed or returned no evidence, its replicates are not independent, or memory is too
            small for one replicate.
    """
    key, claim = task.key, _found(task)
    for _ in range(2):
        start, processor = time.perf_counter(), time.process_time()
        _prepare()
        torch = loaded_torch()
        parts = _parts(claim, task)
        if loaded_torch() is torch:
            break  # else the simulation has just loaded torch, with threads for all cores
    seconds = time.perf_counter() - start
    observations = {n: np.concatenate([part[n] for part in parts]) for n in parts[0]}
    if task.replay:
        processor = time.process_time() - processor
        problem = replay.fault(claim, observations, processor, partial(again, claim, task))
        if problem is not None:
            raise SimulationError(f"{key}: {problem}")
    return BlockResult(observations, seconds, parts=len(parts))


def _found(task: Task) -> Claim:
    """Return the claim of a task; raise SimulationError if code or libraries differ here."""
    key = task.key
    claim, code = find(task.module, key.claim)
    if (code, versions()) != (key.code, key.versions):
        raise SimulationError(
            f"{key}: worker {platform.node()} has other code or libraries than this run: {code} "
            f"and {versions()} there, {key.code} and {key.versions} here. Install the same on both "
            "and restart the workers"
        )
    return claim


def _prepare() -> None:
    one_thread()
    full_precision()


def elsewhere(task: Task, result: BlockResult) -> None:
    """Simulate two replicates of another process's replayed block here; all if these differ.

    Raises:
        SimulationError: figures differ both times.
    """
    if not task.replay:
        return
    claim, _ = find(task.module, task.key.claim)
    figures = result.observations
    batches = (next(replay.pairs(task.key.replicates)), range(task.key.replicates))
    if all(replay.differing(claim, figures, batch, again(claim, task, batch)) for batch in batches):
        raise SimulationError(
            f"{task.key}: its worker has other figures than this process: they depend on "
            f"what is drawn or set when modules are imported, or on the process; {replay.OWN}"
        )


def simulate_each(tasks: Sequence[Task]) -> list[BlockResult]:
    """Simulate blocks of a claim in an executor's worker; on a GPU, blocks of a cell together."""
    found: list[BlockResult] = []
    for _, same in groupby(tasks, lambda task: (task.cell, task.device, task.replay)):
        blocks = [*same]
        apart = blocks[0].replay or blocks[0].device == "cpu"
        found += [simulate(task) for task in blocks] if apart else _together(blocks)
    return found


_most_together: dict[tuple[str, str], int] = {}
"""Most blocks that this process may simulate together, by claim and cell."""


def _together(tasks: Sequence[Task]) -> list[BlockResult]:
    """Simulate blocks of one cell in one batch, so that a GPU launches fewer kernels.

    If the batch fails, for example for lack of memory, each half is simulated by itself.
    """
    first, count = tasks[0], len(tasks)
    if count == 1:
        return [simulate(first)]
    place = first.key.claim, first.cell.id
    most = _most_together.get(place, count)
    if most < count:
        return [one for i in range(0, count, most) for one in _together(tasks[i : i + most])]
    claim = _found(first)
    start = time.perf_counter()
    _prepare()
    drawn = [_generators(task.key, range(task.key.replicates)) for task in tasks]
    try:
        whole = _observe(claim, first, tuple(rng for rngs in drawn for rng in rngs))
    except SimulationError:  # a block alone raises the same error, or gives evidence
        whole = None
    if whole is None:
        _most_together[place] = (count + 1) // 2
        return _together(tasks)
    seconds = (time.perf_counter() - start) / count
    ends = np.cumsum([len(rngs) for rngs in drawn])[:-1]
    blocks = {name: np.split(values, ends) for name, values in whole.items()}
    return [BlockResult({n: part[i] for n, part in blocks.items()}, seconds) for i in range(count)]


def _parts(claim: Claim, task: Task) -> list[dict[str, Array]]:
    """Simulate a block in as many parts as memory requires; return each part's observables."""
    key = task.key
    spans, parts = [slice(0, key.replicates)], []
    while spans:
        span = spans.pop()
        part = _observe(claim, task, _generators(key, range(span.start, span.stop)))
        if part is not None:
            parts.append(part)
        elif span.stop - span.start > 1:
            middle = (span.start + span.stop) // 2
            spans += [slice(middle, span.stop), slice(span.start, middle)]
        else:
            raise SimulationError(
                f"{key}: out of memory on {task.device} even for a single replicate; "
                "free memory there, run fewer processes at a time (--executor serial), or take a "
                "device with more"
            )
    return parts


def full_precision() -> None:
    """Multiply float32 matrices in float32: no TensorFloat-32, which keeps 10 bits of a factor."""
    torch = loaded_torch()
    if torch is None:
        return
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _generators(key: BlockKey, replicates: Iterable[int]) -> tuple[np.random.Generator, ...]:
    """Make new generators for replicates of a block; each simulation uses them up."""
    return replicate_generators(
        key.seed, key.claim, key.registration, key.cell, key.block, replicates
    )


def again(claim: Claim, task: Task, indices: Sequence[int]) -> dict[str, Array] | None:
    """Simulate replicates of a block together, in the order of `indices`; None if memory is too
    small.

    An index beyond the block means a replicate with draws that no evidence uses.
    """
    own, others = task.key, replace(task.key, registration="strangers")
    rngs = [_generators(own if i < own.replicates else others, [i])[0] for i in indices]
    return _observe(claim, task, tuple(rngs))


def _observe(
    claim: Claim, task: Task, rngs: tuple[np.random.Generator, ...]
) -> dict[str, Array] | None:
    """Simulate replicates with these generators; None if memory is too small."""
    key = task.key
    block = Block(rngs=rngs, device=task.device, precision=key.dtype)
    try:
        raw = claim.observe(task.cell, block)
    except Exception as error:
        if _out_of_memory(error):
            return None
        mixed = "on the same device" in str(error)  # as torch says it
        remedy = "; make every tensor with device=block.device" if mixed else ""
        raise SimulationError(f"{key}: {told(error)}{remedy}") from error
    if not isinstance(raw, Mapping):
        raw = {"value": raw}
    if not raw:
        raise SimulationError(f"{key}: the claim's function returned no observables")
    observations = {
        name: _array(value, f"{key}: observable {name!r}") for name, value in _fetched(raw).items()
    }
    problem = fault(replace(key, replicates=block.replicates), BlockResult(observations, 0.0))
    if problem is not None:
        raise SimulationError(f"{key}: {problem}")
    return observations


def _out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: on a GPU, in one of its libraries, or on the CPU."""
    torch = loaded_torch()
    kinds = (MemoryError, torch.OutOfMemoryError) if torch else MemoryError
    return isinstance(error, kinds) or any(
        text in str(error) for text in ("can't allocate memory", "STATUS_ALLOC_FAILED")
    )


def _fetched(raw: Mapping[str, object]) -> Mapping[str, object]:
    """Copy observables from their device, in one copy if they are tensors of one shape."""
    torch = loaded_torch()
    values = [value for value in raw.values() if torch and isinstance(value, torch.Tensor)]
    kinds = {(value.shape, value.device, value.is_complex()) for value in values}
    if torch is None or len(values) < len(raw) or len(kinds) > 1 or values[0].is_complex():
        return raw
    table = torch.stack([value.detach().double() for value in values]).cpu()
    return dict(zip(raw, table, strict=True))


def _array(value: object, what: str) -> Array:
    torch = loaded_torch()
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    try:
        found = np.asarray(value)
        if found.dtype.kind in "cUS":
            raise ValueError("it has complex ones" if found.dtype.kind == "c" else "it has text")
        return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{what} is not made of numbers: {error}") from error


def find(module: str, claim_id: str) -> tuple[Claim, str]:
    """Find a claim and its code's fingerprint, as they were when this process imported them.

    Raises:
        SimulationError: this process cannot import the module, or the module lacks the claim.
    """
    try:
        # A notebook's cells may have changed since.
        found = (_claims.__wrapped__ if module == NOTEBOOK else _claims)(module)
    except ModuleNotFoundError as error:
        raise SimulationError(
            f"{claim_id}: worker {platform.node()} cannot import {module} ({error}); install the "
            "claims there, or start the worker with their folder on PYTHONPATH"
        ) from error
    if claim_id not in found:
        raise SimulationError(f"module {module} holds no claim {claim_id}")
    return found[claim_id]


@cache
def _claims(module: str) -> dict[str, tuple[Claim, str]]:
    # All claims at once: if files are edited later, a worker must not take the new text for the
    # code that it has imported.
    found = vars(importlib.import_module(module)).values()
    return {c.id: (c, fingerprint(c.observe)) for c in found if isinstance(c, Claim)}


def instructions() -> str:
    """Name the processor's instructions that torch uses; others round differently."""
    torch = loaded_torch()
    return str(torch.backends.cpu.get_cpu_capability()) if torch else "unknown"


@cache
def versions() -> str:
    """Name the library versions on which a block's last digits depend."""
    return (
        f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"torch {installed('torch')}"
    )
