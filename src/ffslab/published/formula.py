"""Formulas of published statements: arithmetic over figures of runs, evaluated strictly.

A formula is an expression in Python's syntax, of which only this is allowed: numbers, + - * /,
named values, units, and calls of the functions below. An order is such a comparison.

    figure("main", "ubifs-aged-*", "transactions.time") / s

What a figure is, a `Reader` knows: one measures, another only looks whether there is such a case.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Protocol

from ffslab.errors import SpecError
from ffslab.model.names import suggestion

Value = float | tuple[float, ...]
UNITS: Mapping[str, float] = {
    "us": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "KB": 1e3,
    "MB": 1e6,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: Mapping[type[ast.cmpop], str] = {ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<="}
_OVER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "mean": lambda numbers: sum(numbers) / len(numbers),
}


class NotMeasuredError(Exception):
    """A figure of a formula is not there: the case failed, or has not run. The text says why."""


class SkippedError(NotMeasuredError):
    """The case was skipped: the target cannot run it."""


class Reader(Protocol):
    """Where the figures of a formula come from; NotMeasuredError if one is not there."""

    def figure(self, run: str, case: str, word: str = "") -> float:
        """The mean over seeds of a figure of one configuration."""
        ...

    def figures(self, run: str, case: str, word: str = "") -> tuple[float, ...]:
        """The same of each configuration that fits the pattern, in the order of the study."""
        ...

    def stored(self, run: str, case: str, key: str) -> float:
        """A number of a result that is no figure, by its keys: `collector.bound.missed`."""
        ...

    def grade(self, run: str, filesystem: str, criterion: str) -> float:
        """What the study's rating says of a file system: 4 the best, 1 the worst."""
        ...

    def spent(self, run: str, case: str, phase: str) -> str:
        """What the time of a phase is made of, in words."""
        ...

    def code_bytes(self, filesystem: str) -> float:
        """Text, data and bss of all that a file system needs with its default options, for the
        lab's kernel.
        """
        ...


FUNCTIONS = ("figure", "figures", "stored", "grade", "code_bytes")


@dataclass(frozen=True, slots=True)
class Compared:
    """Two neighbours of a comparison; `sign` is one of > < >= <=."""

    left: float
    sign: str
    right: float


@dataclass(frozen=True, slots=True)
class Formulas:
    """Evaluates formulas; `values` are those with a name, `where` is their file."""

    reader: Reader
    values: Mapping[str, str]
    where: str
    known: dict[str, Value] = field(default_factory=dict)

    def number(self, text: str) -> float:
        """What a formula comes to; SpecError for what is none, or not one number."""
        value = self._value(self._parsed(text), text)
        if isinstance(value, tuple):
            raise self._wrong(text, "is several numbers", "min(), max(), mean() or sum() of them")
        return value

    def spent(self, text: str) -> str:
        """What the time of a formula's figure is made of; nothing of a formula that names several
        figures, or none of a phase.
        """
        calls = [node for node in ast.walk(self._parsed(text)) if isinstance(node, ast.Call)]
        words = [ast.literal_eval(argument) for call in calls for argument in call.args]
        if len(calls) != 1 or len(words) != 3:
            return ""
        run, case, figure = words
        phase = figure.rpartition(".")[0].rpartition("/")[2]
        return self.reader.spent(run, case, phase)

    def compared(self, text: str) -> tuple[Compared, ...]:
        """The neighbours of a comparison; SpecError for what is none."""
        node = self._parsed(text)
        if not isinstance(node, ast.Compare):
            raise self._wrong(text, "compares nothing", "an order has > or < between its figures")
        sides = [self.number(ast.unparse(side)) for side in (node.left, *node.comparators)]
        signs = [_SIGNS.get(type(sign), "") for sign in node.ops]
        if "" in signs:
            raise self._wrong(text, "has another sign", "one of > < >= <=")
        return tuple(map(Compared, sides, signs, sides[1:]))

    def _parsed(self, text: str) -> ast.expr:
        try:
            return ast.parse(f"({text.strip()})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._wrong(text, f"is no formula: {error}", "see docs/published.md") from error

    def _value(self, node: ast.expr, text: str) -> Value:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return self._named(name, text)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand, text)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
                sides = self._number(left, text), self._number(right, text)
                try:
                    return _OPERATORS[type(sign)](*sides)
                except ZeroDivisionError:
                    raise NotMeasuredError("the formula divides by 0") from None
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._called(name, arguments, text)
        allowed = "numbers, + - * /, names, and calls of " + ", ".join((*FUNCTIONS, *_OVER))
        raise self._wrong(text, f"has {ast.unparse(node)!r} in it", f"allowed are {allowed}")

    def _number(self, node: ast.expr, text: str) -> float:
        value = self._value(node, text)
        if isinstance(value, tuple):
            raise self._wrong(text, "calculates with several numbers", "min(), max() or mean()")
        return value

    def _named(self, name: str, text: str) -> Value:
        if name in UNITS:
            return UNITS[name]
        if name not in self.values:
            near = suggestion(name, (*self.values, *UNITS))
            raise self._wrong(text, f"names {name!r}{near}", "a key of [values], or a unit")
        if name not in self.known:
            # A value that names itself would never end.
            inner = Formulas(
                self.reader,
                {key: value for key, value in self.values.items() if key != name},
                self.where,
            )
            self.known[name] = inner.number(self.values[name])
        return self.known[name]

    def _called(self, name: str, arguments: Sequence[ast.expr], text: str) -> Value:
        if name in _OVER:
            numbers: list[float] = []
            for argument in arguments:
                value = self._value(argument, text)
                numbers += value if isinstance(value, tuple) else (value,)
            if not numbers:
                raise self._wrong(text, f"has {name}() of nothing", f"{name}(figures(...))")
            return float(_OVER[name](numbers))
        if name == "abs" and len(arguments) == 1:
            return abs(self._number(arguments[0], text))
        if name not in FUNCTIONS:
            near = suggestion(name, (*FUNCTIONS, *_OVER, "abs"))
            raise self._wrong(text, f"calls {name}(){near}", f"{', '.join((*FUNCTIONS, *_OVER))}")
        words = [
            argument.value
            for argument in arguments
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if len(words) != len(arguments):
            raise self._wrong(text, f"calls {name}() with other than texts", 'texts in "quotes"')
        function: Any = getattr(self.reader, name)
        try:
            signature(function).bind(*words)
        except TypeError as error:
            raise self._wrong(
                text, f"calls {name}() with {len(words)} words", f"{name}(RUN, CASE, FIGURE)"
            ) from error
        value = function(*words)
        return value if isinstance(value, tuple) else float(value)

    def _wrong(self, text: str, what: str, remedy: str) -> SpecError:
        return SpecError(
            f"{self.where}: the formula {' '.join(text.split())!r} {what}",
            cause="a typing mistake in the file",
            remedy=remedy,
        )
