"""Slips in simulations: each falsifies one function in one place, and the tests must notice.

`python -m tests.mutation.slips spectral` plants every slip in `simulation/spectral`, runs the tests
of the room that reach the function, quickest first, and prints the slips that no test notices;
SURVIVORS.md keeps these, each with its reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
import torch
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

import simulation
from tests.mutation import operators as op

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("SURVIVORS.md")
NARROWER = {"float64": "float32", "int64": "int8", "long": "char", "double": "float"}
COUNTS = ("bincount", "multinomial")
ZEROS = ("zeros", "new_zeros", "zeros_like")
CLAMPS = ("clamp", "clamp_", "clip")
EXTREMES = ("max", "min", "maximum", "minimum", "fmax", "fmin")


def narrow(node: ast.AST) -> Iterator[ast.AST]:
    """A dtype holds fewer digits; what is counted overflows beyond 127, as in eight bits."""
    if isinstance(node, ast.Attribute) and node.attr in NARROWER:
        yield ast.Attribute(node.value, NARROWER[node.attr], node.ctx)
    if not isinstance(node, ast.Call):
        return
    wrapped = None
    if _name(node.func) in COUNTS:
        wrapped = ast.parse("(x + 128) % 256 - 128", mode="eval").body
    elif _name(node.func).endswith("add_") and "ones" in ast.unparse(node):
        wrapped = ast.parse("x.add_(128).remainder_(256).sub_(128)", mode="eval").body
    if wrapped is not None:
        [place] = [part for part in ast.walk(wrapped) if isinstance(part, ast.Name)]
        yield op._Replaced(place, node).visit(wrapped)


def unclamped(node: ast.AST) -> Iterator[ast.AST]:
    """``x.clamp(a, b)`` becomes ``x``, ``max(a, b)`` becomes either of them."""
    if isinstance(node, ast.Call) and _name(node.func) in CLAMPS:
        assert isinstance(node.func, ast.Attribute)
        yield node.func.value
    if isinstance(node, ast.Call) and _name(node.func) in EXTREMES and len(node.args) == 2:
        yield from (arg for arg in node.args if not isinstance(arg, ast.Constant))


def stale(node: ast.AST) -> Iterator[ast.AST]:
    """A buffer begins with ones in place of zeros, and what is added to replaces what was there."""
    if isinstance(node, ast.Attribute) and node.attr in ZEROS:
        yield ast.Attribute(node.value, node.attr.replace("zeros", "ones"), node.ctx)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        target = ast.parse(ast.unparse(node.target) + " = 0").body[0]
        assert isinstance(target, ast.Assign)
        yield ast.Assign(target.targets, node.value)


def other_branch(node: ast.AST) -> Iterator[ast.AST]:
    """What stands under an ``if`` is never done, unless it refuses; nothing ends a loop early."""
    if isinstance(node, ast.If) and not isinstance(node.body[-1], ast.Raise):
        yield from op.never(node)
    yield from op.part_of_condition(node)
    yield from op.no_break(node)


def other_sign(node: ast.AST) -> Iterator[ast.AST]:
    """``a - b`` becomes ``a + b`` and the reverse, also in ``-=``; ``-a`` becomes ``a``."""
    if not _is_index(getattr(node, "right", getattr(node, "operand", node))):
        yield from op.other_sign(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield ast.AugAssign(node.target, sign, node.value)


def next_index(node: ast.AST) -> Iterator[ast.AST]:
    """An index, an end of a slice or of a range is one more; ``<`` becomes ``<=``."""
    if isinstance(node, ast.Subscript) and _is_index(node.slice):
        yield ast.Subscript(node.value, ast.BinOp(node.slice, ast.Add(), ast.Constant(1)), node.ctx)
    if isinstance(node, ast.Slice):
        for name in ("lower", "upper"):
            if (end := getattr(node, name)) is not None:
                more = ast.BinOp(end, ast.Add(), ast.Constant(1))
                yield ast.Slice(**{**{f: getattr(node, f) for f in node._fields}, name: more})
    yield from op.closed(node)


def uncentred(node: ast.AST) -> Iterator[ast.AST]:
    """``x - x.mean()`` becomes ``x``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_mean(node.right):
        yield node.left
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub) and _is_mean(node.value):
        yield ast.Pass()


OPERATORS = (narrow, unclamped, stale, other_branch, other_sign, next_index, uncentred)


def _name(function: ast.AST) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _is_index(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_mean(node: ast.AST) -> bool:
    return "mean" in {_name(part) for part in ast.walk(node)}


@dataclass(frozen=True)
class Slip:
    """One slip.

    Attributes:
        where: module and function.
        kind: the operator's name.
        text: what was put in.
        function: what is falsified.
        code: its falsified code.
    """

    where: str
    kind: str
    text: str
    function: FunctionType = field(compare=False, repr=False)
    code: CodeType = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"`{self.where}` | {self.kind} | `{self.text}`"


def slips(room: str) -> Iterator[Slip]:
    """All slips in the modules of a room, or in one module such as "memory.linear"."""
    for found in pkgutil.walk_packages(simulation.__path__, "simulation."):
        name = found.name.removeprefix("simulation.")
        if name == room or name.startswith(f"{room}."):
            module = importlib.import_module(found.name)
            for function in functions(module.__dict__, found.name):
                where = f"{name}.{function.__qualname__}"
                for operator in OPERATORS:
                    for text, code in op.falsified(function, operator):
                        yield Slip(where, operator.__name__, " ".join(text.split()), function, code)


def functions(names: dict[str, Any], module: str) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
    for value in names.values():
        if inspect.isclass(value) and value.__module__ == module:
            yield from functions(dict(vars(value)), module)
        plain = getattr(value, "fget", None) or getattr(value, "func", None) or value
        plain = inspect.unwrap(getattr(plain, "__func__", plain)) if callable(plain) else plain
        if isinstance(plain, FunctionType) and plain.__module__ == module:
            written = plain.__name__ != "<lambda>" and plain.__code__.co_filename[0] != "<"
            yield from [plain] * written  # a dataclass writes others


class Late(Exception):
    """A test takes much longer than on the right simulation."""


class Planter:
    """A plugin of pytest that runs what is collected once, and then on each slip what reaches it.

    Attributes:
        survivors: slips that no test has noticed.
    """

    def __init__(self, planted: Sequence[Slip], longest: float) -> None:
        self.survivors: list[Slip] = []
        self._planted, self._longest, self._out = planted, longest, sys.stdout
        self._reached: dict[CodeType, list[tuple[float, pytest.Item]]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        signal.signal(signal.SIGPROF, _late)
        wanted = {slip.function.__code__ for slip in self._planted}
        for item in session.items:
            self._reach(item, wanted)
        first = self._planted[0]
        right = replace(first, code=first.function.__code__)
        for slip in (right, *self._planted):
            tests = sorted(self._reached.get(slip.function.__code__, ()), key=lambda pair: pair[0])
            if slip is right:
                assert _survives(slip, tests), "what is right is taken for a slip"
            elif _survives(slip, tests):
                self.survivors.append(slip)
                print(f"| {slip} |", file=self._out, flush=True)
        return True

    def _reach(self, item: pytest.Item, wanted: set[CodeType]) -> None:
        reached: set[CodeType] = set()

        def called(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code in wanted:
                reached.add(frame.f_code)

        begin = time.process_time()
        sys.setprofile(called)
        try:
            right = passes(item, self._longest)
        finally:
            sys.setprofile(None)
        if right:
            for code in reached:
                took = time.process_time() - begin
                self._reached.setdefault(code, []).append((took, item))


def _survives(slip: Slip, tests: Sequence[tuple[float, pytest.Item]]) -> bool:
    """Whether all tests pass with the slip, in a fork: an index beyond a table may kill it."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 2
    try:
        for name, module in [*sys.modules.items()]:
            for value in vars(module).values() if name.startswith("simulation.") else ():
                getattr(value, "cache_clear", int)()  # what the right function has worked out
        slip.function.__code__ = slip.code
        status = int(not all(passes(item, 5 * seconds + 2) for seconds, item in tests))
    finally:
        os._exit(status)


def passes(item: pytest.Item, limit: float) -> bool:
    """Whether a test passes within so many seconds of the processor."""
    item._initrequest()  # type: ignore[attr-defined]
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return not any(report.failed for report in runtestprotocol(item, log=False))
    except Late:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _late(*_: object) -> None:
    raise Late


def plant(planted: Sequence[Slip], tests: Iterable[Path], longest: float) -> list[Slip]:
    """Slips that the tests of some files do not notice; a longer test is left out."""
    torch.set_num_threads(1)  # a fork has no other
    # Torch loads it late: a test cut off meanwhile would leave half a module to the next tests.
    importlib.import_module("torch._dynamo")
    planter = Planter(planted, longest)
    settings.register_profile("slips", phases=(Phase.explicit, Phase.generate), database=None)
    settings.load_profile("slips")
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:faulthandler")
    # A test that is cut off inside a hook of pytest's is a warning, which would end the run.
    ignored = ("pytest.PytestAssertRewriteWarning", "pluggy.PluggyTeardownRaisedWarning")
    quiet = ("-q", "-n0", *(f"-Wignore::{name}" for name in ignored), *left_out)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = pytest.main([*quiet, *map(str, tests)], plugins=[planter])
    settings.load_profile("default")
    if status:
        raise RuntimeError(f"the tests did not run:\n{printed.getvalue()[-2000:]}")
    return planter.survivors


def tests_of(room: str) -> list[Path]:
    """The files of tests that a slip of the room may be noticed by."""
    unit, own = ROOT / "tests/unit", room.split(".")[0]
    rooms = [own] if (unit / own).is_dir() else ["attention", "memory"]
    found = [file for one in rooms for file in sorted((unit / one).glob("test_*.py"))]
    return [*found, unit / "test_simulation_draws.py", *(ROOT / "tests/property").glob("test_*.py")]


def main() -> int:
    """Print survivors; status 1 if one is not listed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.slips", description=__doc__)
    parser.add_argument("rooms", nargs="+", help="of simulation/, or a module such as memory.bits")
    parser.add_argument("--longest", type=float, default=5.0, help="seconds of a test (default 5)")
    parser.add_argument("--every", type=int, default=1, help="try each so many-th slip alone")
    given, listed = parser.parse_args(), FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    planted = [slip for room in given.rooms for slip in slips(room)][:: given.every]
    tests = dict.fromkeys(file for room in given.rooms for file in tests_of(room))
    survivors = plant(planted, tests, given.longest)
    unlisted = sum(str(slip) not in listed for slip in survivors)
    print(f"{len(planted)} slips, {len(survivors)} survive, of which {unlisted} are not listed")
    return int(unlisted > 0)


if __name__ == "__main__":
    sys.exit(main())
