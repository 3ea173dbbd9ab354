"""Evaluating a definition's constraints on a workload's sizes, without running code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

Number = int | float | bool

ARITHMETIC: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

COMPARISONS: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _UndecidedError(Exception):
    """The expression looks at values of tensors, or uses what is not evaluated here."""


def holds(constraint: str, values: Mapping[str, Number]) -> bool | None:
    """Return whether a constraint holds for axis sizes and scalars, None where it depends on anything else.

    Understands numbers, names, ``+ - * / // %``, comparisons and ``and or not``.
    """
    try:
        return bool(_value(ast.parse(constraint, mode="eval").body, values))
    except _UndecidedError:
        return None
    except ZeroDivisionError:
        return False


def _value(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.BoolOp(op=op, values=parts):
            decided = [_value(part, values) for part in parts]
            return all(decided) if isinstance(op, ast.And) else any(decided)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return ARITHMETIC[type(op)](_value(left, values), _value(right, values))
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in COMPARISONS for op in ops):
            terms = [_value(term, values) for term in (left, *comparators)]
            return all(COMPARISONS[type(op)](terms[at], terms[at + 1]) for at, op in enumerate(ops))
    raise _UndecidedError
