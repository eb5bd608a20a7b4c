"""Operations that a GPU refuses, or that make the host wait, in planted slips and in claims."""

import copy
import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from recall_claims import Block, Cell, Claim
from recall_claims.evidence import replay
from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import again
from recall_claims.model.errors import SimulationError
from tests.benchmarks import device
from tests.every_claim import FILES, SLOW, claims_in, imported, lowest, simulated
from tests.pretended import Count, pretended_gpu
from tests.unit.library.made import declared, first_task

Slip = Callable[[torch.Tensor, torch.Tensor], object]

MIXED: dict[str, Slip] = {
    "sum": lambda here, there: here + there,
    "sum into": lambda here, there: torch.add(there, there, out=here),
    "joined": lambda here, there: torch.cat([there, here]),
    "joined numbers": lambda here, there: torch.stack([there.sum(), torch.tensor(1.0)]),
    "number of the GPU": lambda here, there: here * there.sum(),
    "index": lambda here, there: here[there.long()],
    "gathered": lambda here, there: there.gather(0, torch.tensor([0, 1])),
    "scattered": lambda here, there: there.scatter_add(0, torch.tensor([0]), there),
    "under a mask": lambda here, there: there.masked_scatter_(there > 0, here),
    "put": lambda here, there: there.index_put_((there > 0,), here),
    "factory": lambda here, there: there * torch.arange(3),
    "layer": lambda here, there: torch.nn.Linear(3, 2)(there),
    "like it": lambda here, there: there - torch.zeros_like(here),
    "own function": lambda here, there: torch.autograd.grad(
        (there * there.clone().requires_grad_()).sum(), [here.requires_grad_()]
    ),
}
"""Slips that mix devices; `here` are three numbers on the host, `there` three on the GPU."""


@pytest.mark.parametrize("name", MIXED)
def test_a_mixture_of_devices_is_refused(name: str) -> None:
    with (
        pretended_gpu(),
        pytest.raises(RuntimeError, match=r"two devices|not .* used in the graph"),
    ):
        MIXED[name](torch.zeros(3), torch.ones(3, device="cuda"))


@pytest.mark.parametrize("slip", [torch.Tensor.numpy, np.asarray])
def test_the_gpu_has_no_numpy_arrays(slip: Callable[[torch.Tensor], object]) -> None:
    with pretended_gpu(), pytest.raises(TypeError, match="numpy"):
        slip(torch.ones(3, device="cuda"))


def test_the_gpu_has_no_products_of_integers() -> None:
    with pretended_gpu(), pytest.raises(NotImplementedError, match="not implemented for CUDA"):
        torch.ones(2, 2, dtype=torch.int64, device="cuda") @ torch.arange(2, device="cuda")


COUNTED: dict[str, tuple[Callable[[torch.Tensor], object], Count]] = {
    "number": (lambda x: float(x[0]), Count(0, 1, 1, 0)),
    "truth": (lambda x: bool((x > 0).all()), Count(0, 1, 1, 2)),
    "numbers": (lambda x: x.tolist(), Count(0, 1, 1, 0)),
    "array": (lambda x: x.cpu().numpy(), Count(0, 1, 1, 0)),
    "selection": (lambda x: x[x > 0], Count(0, 0, 1, 2)),
    "selection by number": (lambda x: x[torch.tensor([0, 1])], Count(1, 0, 0, 1)),
    "number under a mask": (lambda x: x.clone().__setitem__(x > 0, 1.0), Count(0, 0, 0, 4)),
    "mask at places": (lambda x: (x > 0).__setitem__(x.long() - 1, x > 0), Count(0, 0, 0, 5)),
    "numbers under a mask": (lambda x: x.clone().__setitem__(x > 0, x), Count(0, 0, 1, 3)),
    "places": (lambda x: x.nonzero(), Count(0, 0, 1, 1)),
    "histogram": (lambda x: torch.bincount(x.long()), Count(0, 0, 1, 2)),
    "repeated": (lambda x: x.repeat_interleave(x.long()), Count(0, 0, 1, 3)),
    "repeated to a size": (
        lambda x: x.repeat_interleave(x.long(), output_size=3),
        Count(0, 0, 0, 3),
    ),
    "made": (lambda x: torch.tensor([1.0, 2.0, 3.0], device=x.device) + x, Count(1, 0, 0, 1)),
    "moved": (lambda x: torch.from_numpy(np.ones(3)).to(x), Count(1, 0, 0, 0)),
    "table": (lambda x: torch.linalg.svdvals(x.outer(x)), Count(0, 0, 1, 2)),
    "view": (lambda x: x[:2].view(2, 1).mT.expand(4, 2), Count()),
    "copied": (lambda x: copy.deepcopy(x), Count(0, 0, 0, 1)),
    "slope": (
        lambda x: torch.autograd.grad((x.requires_grad_() ** 2).sum(), [x]),
        Count(0, 0, 0, 6),
    ),
}
"""Functions of three numbers on the GPU, and the operations that each needs."""


@pytest.mark.parametrize("name", COUNTED)
def test_what_a_gpu_waits_for_is_counted(name: str) -> None:
    work, expected = COUNTED[name]
    with pretended_gpu() as count:
        x = torch.ones(3, device="cuda")
        assert count == Count(0, 0, 0, 1)
        count.kernels = 0
        work(x)
    assert count == expected


@declared("T.mixed")
def mixed(cell: Cell, block: Block) -> torch.Tensor:
    """A simulation that forgets a device."""
    return torch.zeros(block.replicates, device=block.device) + torch.ones(block.replicates)


def test_a_claim_that_mixes_devices_is_named_with_the_remedy() -> None:
    where = r"T\.mixed at length=4, block 0: .*two devices.*device=block\.device"
    with pretended_gpu(), pytest.raises(SimulationError, match=where):
        again(mixed, replace(first_task(mixed), device="cuda"), (0, 1))


def test_a_run_on_a_gpu_takes_blocks_together_and_has_the_cpus_figures(tmp_path: Path) -> None:
    claim = imported()["A.trigger-signal"]
    claim = replace(claim, block={"smoke": claim.replicates["smoke"][0] // 8})
    known = {claim.id: Earlier(1e-3, looks=1)}
    found = []
    for name in ("cpu", "cuda"):
        settings = Settings("smoke", device=name, costs=Costs(lambda: None, name, known))
        with pretended_gpu() as count, Ledger(tmp_path / name) as ledger:
            outcome = run_claim(claim, settings, ledger, SerialExecutor())
        found.append({sample.cell: sample.observations for sample in outcome.evidence})
    here, there = found
    for cell, figures in here.items():
        assert not replay.differing(claim, figures, range(figures["value"].size), there[cell])
    assert count.uploads < outcome.blocks / 4


LONG = 4_000
"""Least number of kernels of a block that takes over half a second on the pretended GPU."""
RECORDED = device.recorded()


def within_budget(claim: Claim) -> None:
    """Fail if a claim mixes devices, has other figures than on the CPU, or exceeds a budget.

    Budgets that the claim exceeds in `tests/benchmarks/DEVICE.md` are left out.
    """
    row = device.counted(claim)
    (once, twice), here = row.figures, simulated(claim, lowest(claim)[0], (0, 1))
    for found in (once, {name: values[2:] for name, values in twice.items()}):
        assert not replay.differing(claim, here, (0, 1), found), claim.id
    _, allowed = RECORDED.get(claim.id, (0, []))
    assert not {*row.over} - {*allowed}, row


@pytest.mark.parametrize("module", FILES)
def test_simulations_keep_to_their_device_and_budget(module: str) -> None:
    for claim in claims_in([importlib.import_module(module)]).values():
        if claim.id not in SLOW and RECORDED.get(claim.id, (0, []))[0] < LONG:
            within_budget(claim)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [name for name, (kernels, _) in RECORDED.items() if kernels >= LONG]
)
def test_long_training_keeps_to_its_device_and_budget(name: str) -> None:
    within_budget(imported()[name])


def test_claims_over_budget_are_those_with_a_reason() -> None:
    named = " ".join(device.OVER.values()).split()
    assert sorted(named) == sorted(name for name, (_, over) in RECORDED.items() if over)
    assert len(device.OVER) <= 10
    assert {*RECORDED, *SLOW} == {*imported()}
