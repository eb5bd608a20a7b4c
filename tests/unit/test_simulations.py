"""All simulations: a replicate alone has its own figures, and nothing mixes devices."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten

from recall_claims import Block, Claim
from recall_claims.evidence import replay
from recall_claims.evidence.block import BlockKey
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.evidence.simulate import Task, again, full_precision
from tests.every_claim import DEAR, FILES, SLOW, claims_in, imported, lowest

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
"""Of the largest figure; `.github/docs/gpu.md` promises it."""

LEFT_OUT = {
    "G.beyond-language-model": "minutes; factual/test_simulation_language_model.py tries it",
    "B.trained-reference-line": "minutes; factual/test_trained_transformer.py tries it",
}
"""Claims, and why they are not tried."""

SAMPLE = ("claims.memory.test_linear", "claims.attention.test_orthonormal")
"""Files for the default run: a cheap one, and one with exact ties."""


@pytest.mark.parametrize(
    "module",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in FILES],
)
def test_a_replicate_does_not_depend_on_its_batch(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_precision()
    monkeypatch.setattr(replay, "TOLERANCE", TOLERANCE)
    for claim in claims_in([importlib.import_module(module)]).values():
        if claim.id in (*SLOW, *DEAR, *LEFT_OUT):
            continue
        cells = lowest(claim)
        for cell in {cells[0], cells[-1]}:
            key = BlockKey(claim.id, "", cell.id, 1000, 0, 3, claim.dtype, "cpu", "", "")
            task = Task(module, cell, "cpu", key)
            whole, alone, others = (again(claim, task, part) for part in ([0, 1, 2], [0], [1, 2]))
            assert whole
            assert alone
            assert others
            for name in whole:
                one = {name: whole[name]}
                assert not replay.differing(claim, one, [0], {name: alone[name]}), claim.id
                assert not replay.differing(claim, one, [1, 2], {name: others[name]}), claim.id


def marked(tensor: torch.Tensor) -> bool:
    return getattr(tensor, "pretended", False)


def is_cuda(device: object) -> bool:
    return isinstance(device, str | torch.device) and torch.device(device).type == "cuda"


class PretendedGpu(TorchFunctionMode):
    """Within it, "cuda" is a device of its own: what would fail on a GPU fails without one.

    A tensor there lies in the CPU's memory and is marked. A mark passes from operands to results,
    "cuda" wherever a device is named sets it, and an operation on marked and unmarked tensors
    fails, as it would on the device.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if func == torch.Tensor.device.__get__ and marked(args[0]):
            return torch.device("cuda:0")
        operands = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        target = None
        if kwargs.get("device") is not None:
            target, kwargs["device"] = is_cuda(kwargs["device"]), "cpu"
        if func is torch.Tensor.cpu:
            target = False
        elif func is torch.Tensor.to:
            for given in args[1:]:
                if isinstance(given, torch.Tensor):
                    target = marked(given)
                elif isinstance(given, str | torch.device):
                    target = is_cuda(given)
            places = (str, torch.device)
            args = tuple("cpu" if isinstance(given, places) else given for given in args)
        else:
            check(name, operands)
        result = func(*args, **kwargs)
        mark = any(map(marked, operands)) if target is None else target
        if target is not None and any(result is operand for operand in operands):
            result = result.view(result.shape)  # the same memory, but another tensor to mark
        for tensor in tree_flatten(result)[0]:
            if isinstance(tensor, torch.Tensor):
                tensor.pretended = mark  # type: ignore[attr-defined]
        return result


def check(name: str, operands: list[torch.Tensor]) -> None:
    """Fail where a device would."""
    if name in ("numpy", "__array__"):
        assert not marked(operands[0]), "a tensor on the GPU has no numpy array"
    if name in ("__getitem__", "__setitem__") and marked(operands[0]):
        return  # indices and single numbers may come from the CPU
    lying = {marked(tensor) for tensor in operands if tensor.ndim}
    assert len(lying) < 2, f"{name} mixes devices"
    numbers = {marked(tensor) for tensor in operands if not tensor.ndim}
    assert not (lying == {False} and True in numbers), f"{name} reads a number from the GPU"


def observe(claim: Claim) -> Any:
    """Two replicates of the first cell in the lowest tier."""
    cell = lowest(claim)[0]
    rngs = replicate_generators(1000, claim.id, "", cell.id, 0, range(2))
    with PretendedGpu():
        block = Block(rngs=rngs, device="cuda", precision=claim.dtype)
        return claim.observe(cell, block)


@pytest.mark.parametrize("module", FILES)
def test_simulations_keep_to_their_device(module: str) -> None:
    for name, claim in claims_in([importlib.import_module(module)]).items():
        assert name in (*SLOW, *DEAR) or len(observe(claim)), name


@pytest.mark.thorough
@pytest.mark.parametrize("name", DEAR)
def test_long_training_keeps_to_its_device(name: str) -> None:
    assert len(observe(imported()[name]))


def test_the_pretended_gpu_sees_what_is_mixed() -> None:
    with PretendedGpu():
        here, there = torch.zeros(3), torch.ones(3, device="cuda")
        assert (here.device.type, there.device.type) == ("cpu", "cuda")
        assert (2 * there[:2]).sum().device.type == "cuda"
        assert here.to(there).device.type == "cuda"
        assert there.cpu().device.type == here.device.type == "cpu"
        with pytest.raises(AssertionError, match="add mixes devices"):
            here + there
        with pytest.raises(AssertionError, match="__getitem__ mixes devices"):
            here[there.long()]
        with pytest.raises(AssertionError, match="reads a number"):
            here * there.sum()
        with pytest.raises(AssertionError, match="no numpy array"):
            there.numpy()
