"""Bound the replicates per second by memory and arithmetic: for a GPU on paper, for a CPU next to a
measurement.

    python -m tests.benchmarks.roof

Bytes count every operand and result of each kernel once, but only those rows of a looked-up table
that are read. Operations count only matrix products. A replicate takes at least the longer of both
times. For this CPU the bound uses measured rates of copying and multiplying a large matrix, and the
time is measured as well.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from simulation.attention import sampling, three_steps
from simulation.memory import linear, mlp
from tests.benchmarks.speed import machine
from tests.pretended import pretended_gpu

BANDWIDTH, OPERATIONS = 3.35e12, 67e12
"""Bytes and float32 operations a second of the card that is predicted: an H100 (SXM)."""
LOOKED_UP = {"embedding", "gather", "index", "index_select"}
"""Operations that read only as much of a table as they return."""
REPLICATES = 16
Work = Callable[[str], Callable[[], object]]


class Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Mode that counts the bytes and operations of a computation."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes, self.operations = 0, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[1]
        aliases = [x.alias_info for x in func._schema.returns]
        if name != "empty" and all(x is None or x.is_write for x in aliases):
            given, made = size(args), size(result)
            self.bytes += made + (min(given, 2 * made) if name in LOOKED_UP else given)
        if counts := flop_registry.get(func.overloadpacket):
            self.operations += counts(*args, **(kwargs or {}), out_val=result)
        return result


def size(x: Any) -> int:
    """Number of bytes of all tensors in arguments or results."""
    if isinstance(x, torch.Tensor):
        return x.numel() * x.element_size()
    return sum(map(size, x)) if isinstance(x, list | tuple) else 0


@dataclass(frozen=True)
class Roof:
    """Numbers of bytes and operations of a replicate."""

    bytes: float
    operations: float

    def rate(self, bandwidth: float, operations: float) -> float:
        """Largest number of replicates per second on a device of these rates."""
        return 1 / max(self.bytes / bandwidth, self.operations / operations)


def roof(work: Callable[[], object]) -> Roof:
    """Count the bytes and operations of a function that simulates `REPLICATES` replicates."""
    with Traffic() as traffic, pretended_gpu():
        work()
    return Roof(traffic.bytes / REPLICATES, traffic.operations / REPLICATES)


def least(work: Callable[[], object]) -> float:
    """Least processor time of ten runs, in seconds."""
    taken = []
    for _ in range(10):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def works() -> dict[str, Work]:
    """Functions for three steps, recall of every pair, and a training step of `REPLICATES`."""
    rngs = [np.random.default_rng(index) for index in range(REPLICATES)]
    batch = sampling.draw(
        rngs, vocab_size=1024, samples=8192, length=32, dim=64, dtype=torch.float32
    )
    pairs = linear.draw(rngs, associations=4096, dim=64, dtype=torch.float32)
    facts = mlp.draw(rngs, associations=1024, outputs=1024, dim=64, dtype=torch.float32)

    def moved(data: Any, device: str) -> Any:
        parts = vars(data).items()
        return type(data)(
            **{n: x.to(device) if isinstance(x, torch.Tensor) else x for n, x in parts}
        )

    def steps(device: str) -> Callable[[], object]:
        here = moved(batch, device)

        def work() -> None:
            scores = three_steps.token_scores(here)
            three_steps.trained_memory(here, three_steps.attend(here, scores))

        return work

    def recall(device: str) -> Callable[[], object]:
        here = moved(pairs, device)
        return lambda: linear.recalled_share(here, linear.hebbian(here))

    def training(device: str) -> Callable[[], object]:
        here = moved(facts, device)
        first, second = (torch.ones(REPLICATES, *s).to(here.z) for s in ((64, 256), (256, 64)))
        return mlp._Network(here, first, second, 0.03).step

    return {
        "three steps, V, N, L, d = 1024, 8192, 32, 64": steps,
        "recall, V, d = 4096, 64": recall,
        "one step of training, N, d, m = 1024, 64, 256": training,
    }


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    table, copy = torch.zeros(2**26), torch.zeros(2**26)
    square = torch.ones(2048, 2048)
    rates = (
        2 * size(table) / least(lambda: copy.copy_(table)),
        2 * 2048**3 / least(lambda: square @ square),
    )
    print(machine("cpu"), f"copies {rates[0] / 1e9:.3g} GB/s, {rates[1] / 1e9:.3g} GFLOP/s\n")
    print("| replicate | bytes | operations | card, predicted | CPU, predicted | CPU, measured |")
    print("|---|---|---|---|---|---|")
    for name, make in works().items():
        with pretended_gpu():
            work = make("cuda")
        there = roof(work)
        here = make("cpu")
        figures = (
            *(f"{number / 1e6:,.3g} M" for number in (there.bytes, there.operations)),
            f"{there.rate(BANDWIDTH, OPERATIONS):,.0f}/s",
            f"{roof(here).rate(*rates):,.0f}/s",
            f"{REPLICATES / least(here):,.0f}/s",
        )
        print(" | ".join((f"| {name}", *figures, "")), flush=True)


if __name__ == "__main__":
    main()
