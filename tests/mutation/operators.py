"""Operators on the syntax tree of a function: each gives every way to falsify it once.

They know no line of the function, and hardly a name, so that neither a renamed variable nor a
moved line loses one.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

Operator = Callable[[Any], Iterator[ast.AST]]
"""What may stand in a node's place; nothing if the operator has no business there."""


def without_factor(node: ast.AST) -> Iterator[ast.AST]:
    """``a * b`` becomes ``a`` or ``b``, ``a / b`` becomes ``a``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        yield node.left
        if isinstance(node.op, ast.Mult):
            yield node.right


def other_sign(node: ast.AST) -> Iterator[ast.AST]:
    """``a - b`` becomes ``a + b``, ``a + b`` becomes ``a - b`` and ``-a`` becomes ``a``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield ast.BinOp(node.left, op, node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


REVERSED: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Gt(),
    ast.LtE: ast.Gt(),
    ast.Gt: ast.Lt(),
    ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}


def reversed_comparison(node: ast.AST) -> Iterator[ast.AST]:
    """``<`` becomes ``>``, ``==`` becomes ``!=``, ``in`` becomes ``not in``."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            ops = [*node.ops[:place], REVERSED[type(op)], *node.ops[place + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators)


def part_of_condition(node: ast.AST) -> Iterator[ast.AST]:
    """``a and b``, ``a or b`` become ``a`` or ``b``; ``a if c else b`` becomes either."""
    if isinstance(node, ast.BoolOp):
        yield from node.values
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def never(node: ast.AST) -> Iterator[ast.AST]:
    """What stands under an ``if`` is never done."""
    if isinstance(node, ast.If):
        yield ast.If(ast.Constant(False), node.body, node.orelse)


def no_break(node: ast.AST) -> Iterator[ast.AST]:
    """``break`` becomes ``continue``."""
    if isinstance(node, ast.Break):
        yield ast.Continue()


def without_first(node: ast.AST) -> Iterator[ast.AST]:
    """A comprehension leaves out the first of what it goes through."""
    if isinstance(node, ast.comprehension):
        rest = ast.parse("[*x][1:]", mode="eval").body
        assert isinstance(rest, ast.Subscript)
        rest.value = ast.List([ast.Starred(node.iter, ast.Load())], ast.Load())
        yield ast.comprehension(node.target, rest, node.ifs, node.is_async)


def without_entry(node: ast.AST) -> Iterator[ast.AST]:
    """A call loses a named argument, a mapping an entry, a tuple or a text a part."""
    if isinstance(node, ast.Call):
        for lost in node.keywords:
            yield ast.Call(node.func, node.args, [k for k in node.keywords if k is not lost])
    if isinstance(node, ast.Dict):
        for place in range(len(node.keys)):
            keys, values = list(node.keys), list(node.values)
            del keys[place], values[place]
            yield ast.Dict(keys, values)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        for part in node.elts:
            yield ast.Tuple([one for one in node.elts if one is not part], ast.Load())
    if isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                yield ast.JoinedStr([one for one in node.values if one is not value])


def closed(node: ast.AST) -> Iterator[ast.AST]:
    """``<`` becomes ``<=``, and ``>`` becomes ``>=``."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.Gt):
        op = ast.LtE() if isinstance(node.ops[0], ast.Lt) else ast.GtE()
        yield ast.Compare(node.left, [op, *node.ops[1:]], node.comparators)


def one_less(node: ast.AST) -> Iterator[ast.AST]:
    """A call's last argument, a whole number, becomes one less."""
    last = node.args[-1] if isinstance(node, ast.Call) and node.args else None
    if isinstance(node, ast.Call) and isinstance(last, ast.Constant):
        assert isinstance(last.value, int)
        yield ast.Call(node.func, [*node.args[:-1], ast.Constant(last.value - 1)], node.keywords)


def instead(old: str, new: str) -> Operator:
    """Another name, or for ``.old`` another attribute, stands in this one's place."""

    def operator(node: ast.AST) -> Iterator[ast.AST]:
        if not isinstance(getattr(node, "ctx", None), ast.Load):
            return
        if isinstance(node, ast.Attribute) and f".{node.attr}" == old:
            yield ast.Attribute(node.value, new.removeprefix("."), node.ctx)
        elif ast.unparse(node) == old:
            yield ast.parse(new, mode="eval").body

    return operator


def on(name: str, operator: Operator) -> Operator:
    """The operator where this name stands, such as a parameter's or a field's."""

    def restricted(node: ast.AST) -> Iterator[ast.AST]:
        parts = ast.walk(node)
        if name in {getattr(part, "id", getattr(part, "attr", None)) for part in parts}:
            yield from operator(node)

    return restricted


ANNOTATIONS = __future__.annotations.compiler_flag


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else super().visit(node)


def falsified(function: FunctionType, operator: Operator) -> Iterator[tuple[str, CodeType]]:
    """Each way in which the operator falsifies the body: what was put in, and the code."""

    def parsed() -> tuple[ast.Module, list[ast.AST]]:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        [definition] = tree.body
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
        return tree, [node for line in definition.body for node in ast.walk(line)]

    for place, node in enumerate(parsed()[1]):
        for choice, _ in enumerate(operator(node)):
            tree, nodes = parsed()
            new = copy.deepcopy([*operator(nodes[place])][choice])
            tree = ast.fix_missing_locations(_Replaced(nodes[place], new).visit(tree))
            code = compile(tree, inspect.getfile(function), "exec", ANNOTATIONS, dont_inherit=True)
            names: dict[str, Any] = {}
            exec(code, {**function.__globals__}, names)
            yield ast.unparse(new), names[function.__name__].__code__
