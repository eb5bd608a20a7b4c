"""Make slips in formulas that grids may not notice, such as exchanged equal sizes or small terms.

`python -m tests.mutation.formulas -k memory.linear` makes slips in the functions of a theory's
modules, one at a time. Two sizes are exchanged, one size replaces another, or a term of a sum is
left out. Nothing is simulated. A grid notices a slip if at one of a claim's cells it moves the
prediction by more than the claim's resolution in the record. A slip that no grid notices is
harmless if it moves no prediction by more than the resolution in the claims' regimes either, at
corners and some random points. Other slips are hidden: unit tests have to notice them. The command
prints the hidden slips that no unit test notices, with the claim and the point of the largest
effect.
"""

from __future__ import annotations
import __future__

import argparse
import ast
import contextlib
import copy
import inspect
import io
import itertools
import math
import sys
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import Any

import msgspec
import numpy as np
import pytest

from recall_claims import Cell, Claim
from recall_claims.declare.registration import _where
from recall_claims.evidence.executors import one_thread
from recall_claims.hunt.corners import corners
from recall_claims.hunt.search import reachable
from tests.calibration.corners import OutOfReach, within
from tests.every_claim import imported
from tests.mutation.judge import upstream
from tests.mutation.mutants import forget, modules

RECORD = Path(__file__).parents[2] / "reports" / "baseline.json"
LEVELS = (np.arange(20) + 0.5) / 20
"""Levels at which laws are compared."""
POINTS = 12
"""Number of points of a regime to try, in addition to its corners."""
PATIENCE = 10.0
"""Seconds of processor time that a claim's predictions may take."""


@dataclass(frozen=True)
class Slip:
    """A function of the theory, its error in words, and its wrong code."""

    function: FunctionType
    told: str
    code: CodeType

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        """Put the slip into the theory for a while; caches are emptied before and after."""
        right = self.function.__code__
        _forget()
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = right
            _forget()


def slips(function: FunctionType, sizes: frozenset[str]) -> Iterator[Slip]:
    """List the slips that can be made in a function, each once."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    definition.returns = None
    seen = {ast.unparse(tree)}
    for told, edit in _edits(definition, sizes):
        changed = copy.deepcopy(tree)
        edit(list(ast.walk(changed)))
        text = ast.unparse(ast.fix_missing_locations(changed))
        if text not in seen:
            seen.add(text)
            yield Slip(function, told, _compiled(function, text))


def _compiled(function: FunctionType, text: str) -> CodeType:
    flags, names = __future__.annotations.compiler_flag, dict[str, Any]()
    exec(compile(text, inspect.getfile(function), "exec", flags, True), function.__globals__, names)
    found: CodeType = names[function.__name__].__code__
    return found


Edit = Callable[[list[ast.AST]], None]


def _edits(definition: ast.FunctionDef, sizes: frozenset[str]) -> Iterator[tuple[str, Edit]]:
    """Yield possible errors of a definition: what each does, and the edit that makes it."""
    nodes = list(ast.walk(definition))
    # A walk of the whole module begins with one more node.
    places = defaultdict[str, list[int]](list)
    for i, node in enumerate(nodes, start=1):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in sizes:
                places[ast.unparse(node)].append(i)
    for a, b in itertools.combinations(sorted(places), 2):
        both = dict.fromkeys(places[a], b) | dict.fromkeys(places[b], a)
        yield f"{a} and {b} change places", partial(_named, both)
        for one, other in ((a, b), (b, a)):
            for i in places[one]:
                line = getattr(nodes[i - 1], "lineno", 0)
                yield f"{other} for {one} in line {line}", partial(_named, {i: other})
    for i, node in enumerate(nodes, start=1):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            yield f"without {ast.unparse(node.right)}", partial(_kept, i, "left")
            if isinstance(node.op, ast.Add):
                yield f"without {ast.unparse(node.left)}", partial(_kept, i, "right")


def _named(names: Mapping[int, str], nodes: list[ast.AST]) -> None:
    """Replace names by other names."""
    for i, name in names.items():
        _become(nodes[i], ast.parse(name, mode="eval").body)


def _kept(i: int, side: str, nodes: list[ast.AST]) -> None:
    """Keep one side of a sum."""
    _become(nodes[i], getattr(nodes[i], side))


def _become(node: ast.AST, other: ast.AST) -> None:
    vars(node).clear()
    node.__class__ = other.__class__
    vars(node).update(vars(other))


def functions() -> Iterator[FunctionType]:
    """Functions of the theory's modules, without their caches."""
    for module in modules():
        for value in vars(module).values():
            plain = inspect.unwrap(value) if callable(value) else None
            if not isinstance(plain, FunctionType) or plain.__module__ != module.__name__:
                continue
            if "<lambda>" not in plain.__name__ and not plain.__code__.co_freevars:
                yield plain


def _name(function: FunctionType) -> str:
    return f"{function.__module__.removeprefix('theory.')}.{function.__name__}"


class Judge:
    """Claims whose files import some modules, and their predictions.

    Attributes:
        by: claims that call a function, by the function's code, the fastest first.
    """

    def __init__(self, homes: frozenset[str]) -> None:
        rows = msgspec.json.decode(RECORD.read_bytes())["claims"]
        self._resolutions = {row["id"]: row["resolution"] for row in rows}
        self._right: dict[tuple[str, Cell], Any] = {}
        self.by: dict[CodeType, list[Claim]] = defaultdict(list)
        every = [
            claim
            for claim in imported().values()
            if claim.predict is not None and self._resolutions.get(claim.id)
            if upstream(claim.module) & homes
        ]
        spent = {}
        for claim in every:
            called: set[CodeType] = set()
            _forget()
            start = time.process_time()
            sys.setprofile(lambda frame, *_, called=called: called.add(frame.f_code))
            try:
                with within(PATIENCE):
                    for cell in _grid(claim):
                        self._right[claim.id, cell] = _predicted(claim, cell)
            except OutOfReach:
                continue
            finally:
                sys.setprofile(None)
            spent[claim.id] = time.process_time() - start
            for code in called:
                self.by[code].append(claim)
        for claims in self.by.values():
            claims.sort(key=lambda claim: spent[claim.id])

    def moved(self, claim: Claim, cells: Iterable[Cell]) -> tuple[float, Cell | None]:
        """Largest change of a claim's predictions under the present theory, in resolutions, and its
        point.
        """
        resolution = self._resolutions[claim.id]
        found: list[tuple[float, Cell | None]] = [(0.0, None)]
        logs = []
        for cell in cells:
            right = self._right[claim.id, cell]
            try:
                with within(PATIENCE), np.errstate(all="ignore"):
                    now = _predicted(claim, cell, right)
            except (Exception, OutOfReach):  # a theory that breaks down is noticed
                return math.inf, cell
            if claim.rule.scale == "exponent":
                logs.append((math.log(abs(now / right)) if right and now else math.inf, cell))
            found.append((_off(right, now, claim.rule.scale) / resolution, cell))
        if logs:  # exponents follow from differences of logarithms
            far = max(logs)[0] - min(logs)[0]
            return far / math.log(8) / resolution, logs[0][1]
        return max(found, key=lambda pair: pair[0])

    def points(self, claim: Claim) -> list[Cell]:
        """Corners and some other points of a claim's regime, and the predictions there."""
        if claim.regime is None or claim.rule.scale in ("exponent", "share"):
            return []
        ranges, random = claim.regime.ranges.items(), Random(0)
        drawn = (
            Cell(**{name: random.choice(values.steps) for name, values in ranges})
            for _ in range(20 * POINTS)
        )
        some = itertools.islice((cell for cell in drawn if _cheap(claim, cell)), POINTS)
        ends = corners(claim.regime, lambda cell: reachable(claim, cell), random)
        found = []
        for cell in (*some, *itertools.islice(ends, POINTS)):
            if (claim.id, cell) not in self._right:
                try:
                    with within(1.0):
                        self._right[claim.id, cell] = _predicted(claim, cell)
                except (Exception, OutOfReach):
                    continue
            found.append(cell)
        return found


def _cheap(claim: Claim, cell: Cell) -> bool:
    try:
        return claim.searchable(cell)
    except (ArithmeticError, ValueError):
        return False


def _grid(claim: Claim) -> tuple[Cell, ...]:
    tier = "standard" if claim.cells.get("standard") else next(iter(claim.cells))
    return claim.cells[tier]


def _predicted(claim: Claim, cell: Cell, right: Any = None) -> Any:
    """Prediction as numbers: a law's quantiles, or a law's values at the right law's quantiles."""
    assert claim.predict is not None
    return _numbers(claim.predict(cell), right)


def _numbers(value: Any, right: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {n: _numbers(one, None if right is None else right[n]) for n, one in value.items()}
    if callable(value):
        places = _where(value, LEVELS) if right is None else right[0]
        return places, np.asarray(value(places), dtype=float)
    return float(value)


def _off(right: Any, now: Any, scale: str) -> float:
    if isinstance(right, str):
        return math.inf if right != now else 0.0
    if isinstance(right, Mapping):
        return max(_off(right[name], now[name], scale) for name in right)
    if isinstance(right, tuple):
        return float(np.abs(now[1] - right[1]).max())
    if math.isnan(now) or right == now:
        return 0.0 if right == now else math.inf
    if scale == "ratio":
        return abs(float(now) / float(right) - 1) if right else math.inf
    return abs(float(now) - float(right))


def _forget() -> None:
    """Empty the caches of theory and claims."""
    forget()
    for name, module in list(sys.modules.items()):
        if name.startswith("claims."):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def seen_by_tests(slip: Slip) -> bool:
    """Whether a unit test fails, of those in the slip's folder that name its module."""
    room, module = slip.function.__module__.split(".")[1:3]
    files = sorted((Path(__file__).parents[1] / "unit" / room).glob("test_*.py"))
    near = [str(file) for file in files if f"{module}" in file.read_text(encoding="utf-8")]
    with slip.planted(), contextlib.redirect_stdout(io.StringIO()):
        return bool(near) and pytest.main(["-x", "-q", "-p", "no:cacheprovider", *near]) == 1


def main() -> int:
    """Make slips, count them, and print slips that nothing notices; return 1 if there are any."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation.formulas", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only functions whose name holds it")
    parser.add_argument("--no-tests", action="store_true", help="do not ask unit tests")
    given = parser.parse_args()
    one_thread()
    chosen = [function for function in functions() if given.k in _name(function)]
    judge = Judge(frozenset(function.__module__ for function in chosen))
    counts = Counter[str]()
    sizes = frozenset(name for claim in imported().values() for name in _sizes_of(claim))
    for function in chosen:
        claims = judge.by.get(function.__code__, [])
        for slip in slips(function, sizes) if claims else ():
            with slip.planted():
                seen = any(judge.moved(claim, _grid(claim))[0] > 1 for claim in claims)
            if seen:
                counts["seen by a grid"] += 1
                continue
            where = {claim.id: judge.points(claim) for claim in claims}
            with slip.planted():
                found = [(*judge.moved(claim, where[claim.id]), claim.id) for claim in claims]
            most, cell, claim_id = max(found, key=lambda one: one[0])
            if most <= 1:
                counts["harmless in the regime"] += 1
            elif not given.no_tests and seen_by_tests(slip):
                counts["seen by unit tests"] += 1
            else:
                counts["hidden"] += 1
                at = "" if cell is None else f" at {cell.id}"
                print(f"{_name(function)}: {slip.told}: {claim_id} {most:.3g}{at}", flush=True)
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return int(counts["hidden"] > 0)


def _sizes_of(claim: Claim) -> Iterator[str]:
    """Names of a claim's numeric parameters."""
    for name, value in _grid(claim)[0].items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name


if __name__ == "__main__":
    sys.exit(main())
