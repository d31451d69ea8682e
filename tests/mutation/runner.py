"""Runs the tests of modules against each of their mutants: a pytest session with another loop.

All test files are collected once, and everything heavy is imported once. Then each mutant gets a
forked process, in which the mutated function replaces the one that is there (its code object, so
that whoever imported it has the mutant too), and which runs the tests that execute the changed
line, the fastest first, until one fails. Code that runs at import cannot be exchanged so. An
assignment is made again, with those behind it, where no test has taken its value; what survives
that, and all else, has a process that forgets ffslab and the tests and imports them anew.

A mutant is killed if a test fails, the process dies, or takes CPU_LIMIT_S longer than twice what
the tests took before. What runs is decided by coverage of the unchanged module, not by times; only
the order in which tests are tried depends on them. What a function did at import is not undone by
exchanging it: what survives that is imported anew, too.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import os
import pickle
import pkgutil
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from operators import Module, Mutant
from outcomes import (
    EQUIVALENT,
    KILLED,
    PACKAGE,
    ROOT,
    SURVIVED,
    TIMEOUT,
    Chosen,
    MutantOutcome,
    Score,
    Target,
)

CPU_LIMIT_S = 5
WALL_LIMIT_S = 600
MEMORY_LIMIT_BYTES = 6 << 30
UNIT = ROOT / "tests" / "unit"


@dataclass(frozen=True)
class Trial:
    """One test alone: the lines of the targets that it executed, and its time."""

    lines: frozenset[tuple[str, int]]
    seconds: float


class MutationLoop:
    """The pytest plugin: every chosen mutant of the targets against the session's tests.

    `broken` has the tests that fail without any mutant, which are left out.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        chosen: Chosen,
        equivalent: Container[str],
        tell: Callable[[str], None],
    ) -> None:
        self._targets, self._chosen = targets, chosen
        self._equivalent, self._tell = equivalent, tell
        self._failed = False
        self._trials: dict[str, Trial] = {}
        self.scores: list[Score] = []
        self.broken: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _import_everything()
        for item in session.items:
            self._trials[item.nodeid] = self._trial(item)
        usable = [item for item in session.items if item.nodeid not in self.broken]
        for target in self._targets:
            items = [item for item in usable if str(item.path.relative_to(UNIT)) in target.tests]
            self.scores.append(self._score(target, items))
        return True

    def _score(self, target: Target, items: Sequence[pytest.Item]) -> Score:
        began = time.monotonic()
        module = Module(target.path, target.module, target.has)
        functions = _functions_of(target.path)
        outcomes = []
        for mutant in module.mutants:
            if not self._chosen(mutant.name):
                continue
            state = EQUIVALENT
            if mutant.title not in self._equivalent:
                state = self._state(module, mutant, target, functions, items)
            outcomes.append(MutantOutcome(mutant.title, mutant.line, state))
            if state == SURVIVED:
                self._tell(outcomes[-1].text)
        score = Score(target.module, tuple(outcomes), time.monotonic() - began)
        self._tell(score.text)
        return score

    def _trial(self, item: pytest.Item) -> Trial:
        """Runs a test alone and as it is, with what it executes of the targets."""
        watched = {str(target.path) for target in self._targets}
        with tempfile.NamedTemporaryFile() as answer:

            def run() -> bool:
                lines: set[tuple[str, int]] = set()

                def of_line(frame: FrameType, _event: str, _: Any) -> Any:
                    lines.add((frame.f_code.co_filename, frame.f_lineno))
                    return of_line

                def of_call(frame: FrameType, _: str, __: Any) -> Any:
                    return of_line(frame, "", None) if frame.f_code.co_filename in watched else None

                began = time.process_time()
                sys.settrace(of_call)
                self._run([item])
                sys.settrace(None)
                trial = Trial(frozenset(lines), time.process_time() - began)
                Path(answer.name).write_bytes(pickle.dumps(trial))
                return not self._failed

            if _forked(run, WALL_LIMIT_S) != 0:
                self.broken.append(item.nodeid)
                return Trial(frozenset(), 0.0)
            trial: Trial = pickle.loads(Path(answer.name).read_bytes())
            return trial

    def _state(
        self,
        module: Module,
        mutant: Mutant,
        target: Target,
        functions: dict[tuple[str, int], list[FunctionType]],
        items: Sequence[pytest.Item],
    ) -> str:
        try:
            code = module.compiled(mutant)
        except SyntaxError:  # for example the third element of a subscript
            return KILLED
        line = (str(target.path), mutant.line)
        ordered = sorted(items, key=lambda item: self._trials[item.nodeid].seconds)
        if mutant.function is None:
            status = 0
            if mutant.statement is not None and (rebind := _rebinding(module, mutant, target)):
                status = self._limited(lambda: rebind() and self._run(ordered), ordered)
            if status == 0:
                status = self._imported_anew(target, code, ordered)
        else:
            first, last = mutant.function[1], _last_line(mutant)
            touched = [item for item in ordered if line in self._trials[item.nodeid].lines]
            if not touched:
                # A constant on a continuation line has no event of its own.
                span = {(line[0], number) for number in range(first, last + 1)}
                touched = [i for i in ordered if span & self._trials[i.nodeid].lines]
            mutated = functions.get(mutant.function, [])
            new = _code_of(code, mutant.function)

            def run() -> bool:
                for function in mutated:
                    function.__code__ = new
                return self._run(touched)

            if not mutated:
                return SURVIVED
            status = self._limited(run, touched)
            if status == 0:
                status = self._imported_anew(target, code, ordered)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM):
            return TIMEOUT
        return SURVIVED if status == 0 else KILLED

    def _imported_anew(self, target: Target, code: CodeType, items: Sequence[pytest.Item]) -> int:
        return self._limited(lambda: self._run_again(target, code, items), items, 4 * CPU_LIMIT_S)

    def _limited(
        self, run: Callable[[], bool], items: Sequence[pytest.Item], more_s: int = CPU_LIMIT_S
    ) -> int:
        """The wait status of a process that runs these tests."""
        seconds = sum(self._trials[item.nodeid].seconds for item in items)
        return _forked(run, more_s + int(2 * seconds))

    def _run(self, items: Sequence[pytest.Item]) -> bool:
        """Whether all pass; stops at the first that does not."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return False
        return True

    def _run_again(self, target: Target, code: CodeType, items: Sequence[pytest.Item]) -> bool:
        """A session of its own with everything of ours imported anew, and this module mutated."""
        for name, loaded in list(sys.modules.items()):
            file = getattr(loaded, "__file__", None) or ""
            of_tests = file.startswith(str(UNIT)) or Path(file).parent == UNIT.parent
            if name.partition(".")[0] == "ffslab" or of_tests:
                del sys.modules[name]
        name = _name_of(target)
        sys.meta_path.insert(0, _MutatedImport(name, target.path, code))
        order = {item.nodeid: number for number, item in enumerate(items)}
        files = [str(UNIT / test) for test in target.tests]
        return pytest.main(pytest_arguments(["-x", *files]), plugins=[_Order(order)]) == 0


class _Order:
    """Sorts the tests of a session."""

    def __init__(self, order: dict[str, int]) -> None:
        self._order = order

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._order.get(item.nodeid, len(self._order)))


class _MutatedImport(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, whose code it has already."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = name, path, code

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: Any) -> None:
        exec(self._code, module.__dict__)


def pytest_arguments(words: Sequence[str]) -> list[str]:
    """What every session here is started with."""
    base = Path(tempfile.gettempdir()) / f"ffslab-mutation-{os.getpid()}"
    return [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faulthandler",
        f"--basetemp={base}",
        *words,
    ]


def _import_everything() -> None:
    """What tests import late is imported once, before the first process is forked."""
    for name in ("duckdb", "pyarrow.parquet", "typer.testing"):
        importlib.import_module(name)
    for package in pkgutil.walk_packages([str(PACKAGE)], "ffslab."):
        if not package.name.endswith("__main__"):
            importlib.import_module(package.name)


def _functions_of(path: Path) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions of a file that are alive, by qualified name and first line of their `def`."""
    gc.unfreeze()  # what the tests' conftest froze would not be listed
    functions: dict[tuple[str, int], list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(path):
            functions.setdefault(_key(thing.__code__), []).append(thing)
    if not functions:
        raise LookupError(f"no function of {path} is alive: its mutants would all survive")
    return functions


def _key(code: CodeType) -> tuple[str, int]:
    """co_firstlineno is that of the first decorator; the tree's is that of the `def`."""
    lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()
    line = code.co_firstlineno
    while lines[line - 1].lstrip().startswith("@"):
        line += 1
    return code.co_qualname, line


def _code_of(code: CodeType, function: tuple[str, int]) -> CodeType:
    """The code of one function in that of its module."""
    waiting = [code]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                if constant.co_qualname == function[0] and _key(constant) == function:
                    return constant
                waiting.append(constant)
    raise LookupError(function)


def _name_of(target: Target) -> str:
    return ".".join(("ffslab", *Path(target.module).with_suffix("").parts))


def _rebinding(module: Module, mutant: Mutant, target: Target) -> Callable[[], bool] | None:
    """What gives everybody the mutated constants; None if a test module has taken one of them."""
    code, names = module.assignments(mutant)
    own = sys.modules[_name_of(target)].__dict__
    old = {name: own[name] for name in names if name in own}  # not those of comprehensions
    takers: list[tuple[dict[str, Any], list[str]]] = []
    for loaded in list(sys.modules.values()):
        taken = [n for n in old if loaded.__dict__.get(n, takers) is old[n]]
        if taken and str(getattr(loaded, "__file__", "")).startswith(str(UNIT)):
            return None
        if taken and loaded.__name__.startswith("ffslab."):
            takers.append((loaded.__dict__, taken))

    def rebind() -> bool:
        exec(code, own)
        for space, taken in takers:
            space.update({name: own[name] for name in taken})
        return True

    return rebind


def _last_line(mutant: Mutant) -> int:
    return max(mutant.line, getattr(mutant.owner, "end_lineno", 0) or 0)


def _forked(run: Callable[[], bool], cpu_limit_s: int) -> int:
    """The wait status of a process that does `run` without a word; 0 if that was true."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 2
        try:
            quiet = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(quiet, descriptor)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
            signal.setitimer(signal.ITIMER_PROF, cpu_limit_s)
            signal.setitimer(signal.ITIMER_REAL, WALL_LIMIT_S)
            status = 0 if run() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def run_modules(
    targets: Sequence[Target],
    chosen: Chosen,
    equivalent: Container[str],
    tell: Callable[[str], None],
) -> tuple[list[Score], list[str]]:
    """The scores, and the tests that fail without any mutant."""
    if not targets:
        return [], []
    names = sorted({test for target in targets for test in target.tests})
    loop = MutationLoop(targets, chosen, equivalent, tell)
    pytest.main(pytest_arguments([str(UNIT / name) for name in names]), plugins=[loop])
    if len(loop.scores) < len(targets):
        raise SystemExit("the tests could not be collected, or this program failed: see above")
    return loop.scores, loop.broken
