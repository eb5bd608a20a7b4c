"""A pretended GPU: tensors that claim to be on it, and a count of waits that a GPU would cause.

A `Far` tensor has its numbers in the CPU's memory. To PyTorch's own code it is on the device
"meta", to Python code on "cuda:0". Within `pretended_gpu`, every operation on the pretended GPU
that reaches PyTorch's dispatcher is checked, counted and computed on the CPU. This includes
operations inside composite operations and automatic differentiation.

Some Python code would start CUDA before it reaches the dispatcher: factories and moves that name
"cuda", and reads such as `tolist`. These calls are caught one level higher.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

GPU, META = torch.device("cuda:0"), torch.device("meta")
Given = tuple[Any, ...]
Named = dict[str, Any]

WAITING = {
    *("bincount", "equal", "masked_select", "nonzero", "repeat_interleave"),
    *("_linalg_check_errors", "_linalg_eigh", "_linalg_svd", "_unique", "_unique2", "unique_dim"),
    *("unique_consecutive", "linalg_eig", "linalg_lstsq", "multinomial"),
}
"""Operations whose result, or its size, the host has to know."""
PRODUCTS = {"addbmm", "addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv", "vdot"}
"""Matrix products; cuBLAS has none of integers."""
ABSENT = {"histogram", "histogramdd"}
"""Operations that CUDA does not have."""
IDLE = {"_unsafe_view", "_reshape_alias", "detach", "empty", "empty_like", "empty_strided"}
"""Operations that launch no kernel, views aside."""
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}
"""Operations whose indices may lie on the host."""


@dataclass
class Count:
    """Numbers of operations, by kind; a download counts as a synchronisation too."""

    uploads: int = 0
    downloads: int = 0
    synchronisations: int = 0
    kernels: int = 0


class Far(torch.Tensor):
    """A tensor on a device in name only, with the numbers of `host`."""

    host: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, host: torch.Tensor) -> "Far":
        assert not isinstance(host, Far)
        far: Far = torch.Tensor._make_wrapper_subclass(
            cls,
            host.shape,
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=META,
        )
        far.host = host
        return far

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return GPU

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        return True

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Far({self.host})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Given = (), kwargs: Named | None = None
    ) -> Any:
        raise AssertionError(f"{func} of a tensor on the pretended GPU, outside of it")


@contextmanager
def pretended_gpu() -> Iterator[Count]:
    """Treat "cuda" as a separate device, and count its operations."""
    count = Count()
    with _Dispatched(count), _Called():
        yield count


class _Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Mode that checks and counts operations at the dispatcher, and computes them on the CPU."""

    def __init__(self, count: Count) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = count

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Given = (), kwargs: Named | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        owners = {id(x.host): x for x in given if isinstance(x, Far)}
        there = bool(owners)
        if "device" in kwargs and kwargs["device"] is not None:
            there = kwargs["device"] == META
            kwargs = {**kwargs, "device": torch.device("cpu")}
        if not (owners or there):
            return func(*args, **kwargs)
        name, computes = _known(func)
        check(name, given)
        if kwargs.get("output_size") is not None:
            name = f"{name} of a known size"
        self.add(name, given, there, computes)
        result = func(*tree_map(_near, args), **tree_map(_near, kwargs))
        return tree_map(lambda x: _far(x, owners), result) if there else result

    def add(self, name: str, given: list[torch.Tensor], there: bool, computes: bool) -> None:
        """Count an operation."""
        count, first = self.count, isinstance(given[0], Far) if given else False
        returns = {"_local_scalar_dense": True, "_to_copy": not there, "copy_": not first}
        if returns.get(name):
            count.downloads += 1
            count.synchronisations += 1
        elif name == "_to_copy" and not first:
            count.uploads += 1
        else:
            count.uploads += any(x.ndim and not isinstance(x, Far) for x in given)
            count.synchronisations += waits(name, given)
            count.kernels += computes


@cache
def _known(func: Any) -> tuple[str, bool]:
    """Return the name of an operation, and whether it launches a kernel."""
    name = func._schema.name.split("::")[1]
    aliases = [x.alias_info for x in func._schema.returns]
    return name, name not in IDLE and not any(x is not None and not x.is_write for x in aliases)


def _near(x: Any) -> Any:
    return x.host if isinstance(x, Far) else x


def _far(x: Any, owners: Mapping[int, Far]) -> Any:
    return (owners[id(x)] if id(x) in owners else Far(x)) if isinstance(x, torch.Tensor) else x


def waits(name: str, given: list[torch.Tensor]) -> bool:
    """Whether the host waits for the result of an operation."""
    if name in INDEXING:
        indices = given[1:] if name == "index" else given[1:-1]
        masks = [x for x in indices if x.dtype in (torch.bool, torch.uint8)]
        filled = name != "index" and given[-1].numel() == 1 and len(masks) == 1
        return bool(masks) and not filled
    return name in WAITING


def check(name: str, given: list[torch.Tensor]) -> None:
    """Raise the errors that CUDA raises.

    Indices into a tensor on the GPU may be on the host. So may a single number, except in `cat` and
    `stack`.

    Raises:
        RuntimeError: the operation mixes devices.
        NotImplementedError: CUDA does not have the operation, or not for integers.
    """
    far = [x for x in given if isinstance(x, Far)]
    integers = any(not (x.is_floating_point() or x.is_complex()) for x in far)
    if far and (name in ABSENT or (name in PRODUCTS and integers)):
        raise NotImplementedError(f'"{name}" not implemented for CUDA and {far[0].dtype}')
    if name in ("_to_copy", "copy_"):
        return
    together = (
        given if name not in INDEXING else given[:1] + (given[-1:] if name != "index" else [])
    )
    if far and any(
        not isinstance(x, Far) and (x.ndim or name in ("cat", "stack")) for x in together
    ):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"cuda:0 and cpu! ({name})"
        )


class _Called(TorchFunctionMode):
    """Mode that catches, before the dispatcher, calls that would start CUDA or read memory."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Given = (),
        kwargs: Named | None = None,
    ) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        first = args[0] if args else None
        if func in (torch.tensor, torch.as_tensor, torch.Tensor.new_tensor):
            return _made(func, args, kwargs)
        if isinstance(first, Far):
            if name in ("numpy", "__array__"):
                raise TypeError("can't convert a tensor on the pretended GPU to numpy")
            if name == "tolist":
                return func(first.cpu())
        if kwargs.get("device") is not None:
            kwargs["device"] = _place(kwargs["device"])
        if name == "to":
            args = tuple(_place(x) if isinstance(x, str | torch.device) else x for x in args)
        elif name == "cuda":
            return first.to(META)  # type: ignore[union-attr]
        return func(*args, **kwargs)


def _made(func: Callable[..., Any], args: Given, kwargs: Named) -> torch.Tensor:
    """Make a tensor from numbers, of which some may be on the GPU."""
    first, *rest = args
    device = kwargs.pop("device", None)
    if func is torch.Tensor.new_tensor:
        device = device or first.device
        kwargs.setdefault("dtype", first.dtype)
        first, *rest = rest
    if isinstance(first, torch.Tensor) and func is torch.as_tensor:
        kept = first if kwargs.get("dtype") is None else first.to(kwargs["dtype"])
        return kept if device is None else kept.to(_place(device))
    numbers = tree_map(lambda x: x.item() if isinstance(x, Far) else x, first)
    made = torch.tensor(numbers, *rest, **kwargs)
    return made if device is None else made.to(_place(device))


def _place(device: Any) -> torch.device:
    device = torch.device(device)
    return META if device.type == "cuda" else device
