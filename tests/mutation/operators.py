"""Small mistakes that can be made in a module: pure, from source text to a list of mutants.

A mutant is one edit of the module's syntax tree: a comparison with the other boundary, a sum for a
difference, another constant, a key that stands beside the right one, an element left out. They are
numbered inside the function they are in, so that a name stays what it was when lines move:
`results/metrics.py:quantile_ns:ceil-floor:1`.

Left out, since no figure depends on them: annotations, decorators, docstrings, imports, the words
of messages (f-strings' texts, strings with a space in them, all of a `raise`), and the keywords
`strict` and `encoding`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, TypeGuard

MODULE = "<module>"
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# The first is what the source has, the others what a mutant has instead.
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
}
CALLS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "ceil": "floor",
    "floor": "ceil",
    "round": "int",
}
UNWRAPPED = ("sorted", "reversed", "abs")  # mutants take the argument as it is
# Keys that stand beside each other: each is exchanged for the next.
NEIGHBOURS = (
    ("p50_ns", "p90_ns", "p99_ns", "p999_ns"),
    ("read_ns", "program_ns", "erase_ns"),
    ("pages_read", "pages_programmed", "blocks_erased"),
    ("bytes_read", "bytes_written"),
    ("read_bytes_per_s", "write_bytes_per_s"),
    ("min_ns", "mean_ns", "max_ns"),
    ("t_start_ns", "t_end_ns"),
    ("erases", "programs", "reads"),
    ("creation", "transactions", "deletion"),
    ("erases_mean", "erases_std", "erases_spread", "erases_max"),
    ("files_created", "files_deleted", "files_read", "files_appended"),
)
NEXT_KEY = {row[i]: row[(i + 1) % len(row)] for row in NEIGHBOURS for i in range(len(row))}
_KEY = re.compile(r"[^\s]*\Z")
_UNTOUCHED_FIELDS = ("annotation", "returns", "decorator_list", "type_params")
_UNTOUCHED_KEYWORDS = ("strict", "encoding")


@dataclass(frozen=True)
class Mutant:
    """One edit: `owner.name` (or its element `index`) becomes `value`, which None deletes.

    `function`: the outermost function whose body has the edit, by qualified name and first line;
    None for code that runs when the module is imported. `statement`: the place in the module of
    the assignment that has the edit, if it is in one.
    """

    name: str
    line: int
    change: str
    function: tuple[str, int] | None
    statement: int | None
    owner: ast.AST = field(repr=False, compare=False)
    field_name: str
    index: int | None
    value: Any = field(repr=False, compare=False)

    @property
    def scope(self) -> str:
        """The qualified name of the function, or "<module>"."""
        return self.name.split(":")[1]

    @property
    def title(self) -> str:
        """What survivors and equivalent.toml call it: another change is another mutant."""
        return f"{self.name} | {self.change}"


class Module:
    """A source file with its mutants, in functions that `has`; their names begin with `short`."""

    def __init__(self, path: Path, short: str, has: Callable[[str], bool]) -> None:
        self._path = str(path)
        self._tree = ast.parse(path.read_text(encoding="utf-8"))
        self.mutants = tuple(m for m in _Finder(short).of(self._tree) if has(m.scope))

    def compiled(self, mutant: Mutant) -> CodeType:
        """The code of the whole module with this one edit."""
        with _edited(mutant):
            return compile(ast.fix_missing_locations(self._tree), self._path, "exec")

    def assignments(self, mutant: Mutant) -> tuple[CodeType, tuple[str, ...]]:
        """The edited assignment with all that follow it, and the names that they bind."""
        with _edited(mutant):
            rest = self._tree.body[mutant.statement :]
            body: list[ast.stmt] = [s for s in rest if isinstance(s, ASSIGNMENTS)]
            tree = ast.fix_missing_locations(ast.Module(body, []))
            names = tuple(n.id for s in body for n in ast.walk(s) if _is_bound(n))
            return compile(tree, self._path, "exec"), names


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


@contextmanager
def _edited(mutant: Mutant) -> Iterator[None]:
    before = getattr(mutant.owner, mutant.field_name)
    after = mutant.value
    if mutant.index is not None:
        rest = before[mutant.index + 1 :]
        after = [*before[: mutant.index], *([] if mutant.value is None else [after]), *rest]
    setattr(mutant.owner, mutant.field_name, after)
    try:
        yield
    finally:
        setattr(mutant.owner, mutant.field_name, before)


@dataclass(frozen=True)
class _Place:
    """Where a node hangs, so that another can be put there."""

    owner: ast.AST
    field_name: str
    index: int | None = None


class _Finder:
    """Walks the tree in the order of the source and yields the mutants of each node."""

    def __init__(self, short: str) -> None:
        self._short = short
        self._scope: list[str] = []
        self._function: tuple[str, int] | None = None
        self._statement: int | None = None
        self._numbers: Counter[tuple[str, str]] = Counter()

    def of(self, tree: ast.Module) -> Iterator[Mutant]:
        for index, statement in enumerate(tree.body):
            self._statement = index if isinstance(statement, ASSIGNMENTS) else None
            yield from self._visit(statement, _Place(tree, "body", index))

    def _children(self, node: ast.AST) -> Iterator[Mutant]:
        for name, value in ast.iter_fields(node):
            if name in _UNTOUCHED_FIELDS:
                continue
            if isinstance(value, ast.AST):
                yield from self._visit(value, _Place(node, name))
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from self._visit(item, _Place(node, name, index))

    def _visit(self, node: ast.AST, slot: _Place) -> Iterator[Mutant]:
        if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom)) or _is_untouched(node, slot):
            return
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield from self._inside(node)
            return
        yield from self._mutants(node, slot)
        yield from self._children(node)

    def _inside(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[Mutant]:
        self._scope.append(node.name)
        if isinstance(node, ast.ClassDef):
            yield from self._children(node)
        else:
            yield from self._children(node.args)  # defaults: evaluated outside of the function
            outermost = self._function is None
            if outermost:
                self._function = (".".join(self._scope), node.lineno)
            for index, statement in enumerate(node.body):
                yield from self._visit(statement, _Place(node, "body", index))
            if outermost:
                self._function = None
        self._scope.pop()

    def _mutants(self, node: ast.AST, slot: _Place) -> Iterator[Mutant]:
        for operator, change, edit_place, value in _edits(node, slot):
            scope = ".".join(self._scope) or MODULE
            self._numbers[scope, operator] += 1
            number = self._numbers[scope, operator]
            yield Mutant(
                f"{self._short}:{scope}:{operator}:{number}",
                getattr(node, "lineno", 0) or getattr(slot.owner, "lineno", 0),
                change,
                self._function,
                self._statement,
                edit_place.owner,
                edit_place.field_name,
                edit_place.index,
                value,
            )


def _is_untouched(node: ast.AST, slot: _Place) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in _UNTOUCHED_KEYWORDS
    if isinstance(node, ast.Constant) and isinstance(slot.owner, (ast.JoinedStr, ast.Expr)):
        return True
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    # `Kind = Literal["a", "b"]` and `Rows = dict[str, int]` are annotations by another name.
    return isinstance(node, ast.Subscript) and (
        isinstance(slot.owner, ast.Assign)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Literal", "dict", "list", "tuple", "Mapping", "Sequence")
    )


Edit = tuple[str, str, _Place, Any]  # operator, the change in words, where, what


def _edits(node: ast.AST, slot: _Place) -> Iterator[Edit]:
    """All edits of one node, not of those below it."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                change = f"{type(operator).__name__} → {other.__name__}: {_text(node)}"
                yield "compare", change, _Place(node, "ops", index), other()
    elif isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other_kind in ARITHMETIC[type(node.op)]:
            change = f"{type(node.op).__name__} → {other_kind.__name__}: {_text(node)}"
            yield "arithmetic", change, _Place(node, "op"), other_kind()
    elif isinstance(node, ast.BoolOp):
        other_bool = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and-or", f"and ↔ or: {_text(node)}", _Place(node, "op"), other_bool
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield "sign", f"{_text(node)} → {_text(node.operand)}", slot, node.operand
    elif isinstance(node, ast.Constant):
        for value in _other_constants(node.value):
            new = ast.copy_location(ast.Constant(value), node)
            yield _constant_operator(node.value), f"{node.value!r} → {value!r}", slot, new
    elif isinstance(node, ast.Call):
        yield from _call_edits(node, slot)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
        yield from _element_edits(node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield from _condition_edits(node.test, _Place(node, "test"))
    if isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            yield "filter", f"without: if {_text(test)}", _Place(node, "ifs", index), None
    yield from _statement_edits(node, slot)


def _other_constants(value: object) -> tuple[bool | int | float | str, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return value + 1, value - 1
    if isinstance(value, float):
        return (value * 2 or 1.0,)
    if isinstance(value, str) and _KEY.match(value):
        return (NEXT_KEY.get(value, f"{value}~"),)
    return ()


def _constant_operator(value: object) -> str:
    return "key" if isinstance(value, str) else "constant"


def _call_edits(node: ast.Call, slot: _Place) -> Iterator[Edit]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in CALLS and isinstance(function, ast.Name):
        new = ast.copy_location(ast.Name(CALLS[name], ast.Load()), function)
        yield f"{name}-{CALLS[name]}", _text(node), _Place(node, "func"), new
    elif name in CALLS and isinstance(function, ast.Attribute):
        yield f"{name}-{CALLS[name]}", _text(node), _Place(function, "attr"), CALLS[name]
    elif name in UNWRAPPED and isinstance(function, ast.Name) and node.args:
        argument = node.args[0]
        if name != "abs":  # a generator has no length, and is not read twice
            list_name = ast.Name("list", ast.Load())
            argument = ast.copy_location(ast.Call(list_name, [argument], []), node)
        yield name, f"without {name}: {_text(node)}", slot, argument


def _element_edits(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> Iterator[Edit]:
    """Leaves out one element of a display that has several; of a dict, by a copy."""
    if isinstance(node, ast.Dict):
        for index, (key, _) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is not None:  # `None: value` stands for `**value`
                yield "element", f"without {_text(key)}", _Place(node, "keys", index), _NO_KEY
        return
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and len(node.elts) > 1:
        for index, element in enumerate(node.elts):
            yield "element", f"without {_text(element)}", _Place(node, "elts", index), None


# In a dict an element is left out by another key, since key and value are two lists.
_NO_KEY = ast.Constant("left out~")


def _condition_edits(test: ast.expr, slot: _Place) -> Iterator[Edit]:
    """The other way round, for conditions that have no operator of their own."""
    if not isinstance(test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        new = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        yield "condition", f"{_text(test)} → not {_text(test)}", slot, new


def _statement_edits(node: ast.AST, slot: _Place) -> Iterator[Edit]:
    if isinstance(node, ast.Return) and node.value is not None and _text(node.value) != "None":
        none = ast.copy_location(ast.Constant(None), node)
        yield "return", f"{_text(node)} → return None", _Place(node, "value"), none
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_store = isinstance(node, ast.Assign) and not isinstance(
        node.targets[0], (ast.Name, ast.Tuple)
    )
    if is_call or is_store or isinstance(node, (ast.AugAssign, ast.Continue, ast.Break)):
        nothing = ast.copy_location(ast.Pass(), node)
        yield "statement", f"without: {_text(node)}", slot, nothing


def _text(node: ast.AST) -> str:
    text = ast.unparse(node).replace("\n", " ")
    return text if len(text) <= 100 else f"{text[:99]}…"
