"""The same for pure C: one small mistake in a line, compiled and run against its unit tests.

    FFSLAB_MUTANTS=kmod/yaffs/policy/original.c ./ffslab test --quick tests/mutation -s

There is no C parser here, so operators are found in the text of a function's lines. Comments, the
words of messages (strings with a space in them) and what only the kernel compiles are left out.
What a compiler refuses is no mutant. The other sources are compiled once, without sanitizers: a
mutant takes about a quarter of a second.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from outcomes import (
    EQUIVALENT,
    KILLED,
    ROOT,
    SURVIVED,
    TIMEOUT,
    Chosen,
    CTarget,
    MutantOutcome,
    Score,
)

CPU_LIMIT_S = 20
WALL_LIMIT_S = 600


@dataclass(frozen=True)
class CMutant:
    name: str
    line: int
    change: str
    text: str  # the whole file with the change

    @property
    def title(self) -> str:
        return f"{self.name} | {self.change}"


# What is replaced, where it stands alone, and by what.
_OPERATORS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("compare", r"(?<= )<=(?= )", ("<", ">")),
    ("compare", r"(?<= )>=(?= )", (">", "<")),
    ("compare", r"(?<= )<(?= )", ("<=", ">=")),
    ("compare", r"(?<= )>(?= )", (">=", "<=")),
    ("compare", r"(?<= )==(?= |$)", ("!=",)),
    ("compare", r"(?<= )!=(?= |$)", ("==",)),
    ("and-or", r"(?<= )&&(?= |$)", ("||",)),
    ("and-or", r"(?<= )\|\|(?= |$)", ("&&",)),
    ("arithmetic", r"(?<= )\+(?= |$)", ("-",)),
    ("arithmetic", r"(?<= )-(?= |$)", ("+",)),
    ("arithmetic", r"(?<= )\*(?= |$)", ("/",)),
    ("arithmetic", r"(?<= )/(?= |$)", ("*",)),
    ("arithmetic", r"(?<= )%(?= |$)", ("/",)),
    ("arithmetic", r"(?<= )<<(?= |$)", (">>",)),
    ("arithmetic", r"(?<= )>>(?= |$)", ("<<",)),
    ("arithmetic", r"(?<= )\+=(?= )", ("-=", "=")),
    ("arithmetic", r"(?<= )-=(?= )", ("+=", "=")),
    ("arithmetic", r"(?<=\w)\+\+", ("--",)),
    ("arithmetic", r"--(?=\w)|(?<=\w)--", ("++",)),
    ("not", r"!(?=[\w(])", ("",)),
    ("min-max", r"\bmin_t\b", ("max_t",)),
    ("min-max", r"\bmax_t\b", ("min_t",)),
    ("bool", r"\btrue\b", ("false",)),
    ("bool", r"\bfalse\b", ("true",)),
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(r"(?<![\w.\"%])(\d+)(?=[uUlL]*\b)(?![\w.]*\")")
_STATEMENT = re.compile(
    r"\t+(?:[\w>.\[\]*&()-]+ (?:[-+*/|&]|<<|>>)?= .*|[\w>.\[\]-]+\(.*\)"
    r"|.*(?:\+\+|--)|continue|break);$"
)
_FUNCTION = re.compile(r"^(?!\t|#|/|\*|\{|\})[\w\s*]*?\b(\w+)\(", re.ASCII)


def c_mutants(text: str, short: str) -> Iterator[CMutant]:
    """All mutants of a file, by line."""
    lines = text.splitlines()
    numbers: Counter[tuple[str, str]] = Counter()
    function, in_comment, in_kernel = "file", False, False
    for at, line in enumerate(lines):
        in_kernel = line == "#ifdef __KERNEL__" or (in_kernel and line not in ("#else", "#endif"))
        if not in_comment and (definition := _FUNCTION.match(line)):
            function = definition[1]
        if "/*" in line:
            in_comment = True
        if not (in_comment or in_kernel or line.startswith(("#include", "//"))):
            for operator, changed in _changes(line):
                numbers[function, operator] += 1
                name = f"{short}:{function}:{operator}:{numbers[function, operator]}"
                words = f"{' '.join(line.split())} → {' '.join(changed.split())}"
                whole = "\n".join([*lines[:at], changed, *lines[at + 1 :]]) + "\n"
                yield CMutant(name, at + 1, words, whole)
        if "*/" in line:
            in_comment = False


def _changes(line: str) -> Iterator[tuple[str, str]]:
    code = _STRING.sub(lambda s: "_" * len(s[0]) if " " in s[0] else s[0], line)
    for operator, pattern, others in _OPERATORS:
        for match in re.finditer(pattern, code):
            for other in others:
                yield operator, line[: match.start()] + other + line[match.end() :]
    for match in _NUMBER.finditer(code):
        number = int(match[1])
        for other in (number + 1, *((number - 1,) if number else ())):
            yield "constant", line[: match.start(1)] + str(other) + line[match.end(1) :]
    if _STATEMENT.match(line):
        yield "statement", ";"


class Build:
    """A directory with everything compiled but what a change of the target concerns: the target,
    or if that is a header, what includes it, in which it comes first and so is not read again.
    """

    def __init__(self, target: CTarget, directory: Path) -> None:
        self._target, self._directory = target, directory
        self._changed = directory / Path(target.source).name
        self._is_header = target.source.endswith(".h")
        self._anew = {} if self._is_header else {self._changed: directory / "target.o"}
        self._tests = self._compiled("test", target.tests)
        self._beside = self._compiled("beside", target.beside)
        if not self._anew:
            raise SystemExit(f"{target.source}: no source that is compiled includes it")

    def _compiled(self, prefix: str, sources: Sequence[str]) -> list[Path]:
        made = [self._directory / f"{prefix}{number}.o" for number, _ in enumerate(sources)]
        for source, out in zip(sources, made, strict=True):
            _must(self._compiler(ROOT / source, out))
            if self._is_header and self._includes(ROOT / source):
                self._anew[ROOT / source] = out
        return made

    def _includes(self, source: Path) -> bool:
        words = _must(["gcc", *self._flags, "-MM", str(source)]).split()
        return ROOT / self._target.source in (Path(os.path.normpath(ROOT / word)) for word in words)

    @property
    def _flags(self) -> list[str]:
        return ["-O1", "-w", f"-I{ROOT / Path(self._target.source).parent}", *self._target.flags]

    def _compiler(self, source: Path, made: Path, *more: str) -> list[str]:
        return ["gcc", *self._flags, *more, "-c", "-o", str(made), str(source)]

    def run(self, text: str) -> str | None:
        """What became of the file's text; None if it does not compile."""
        self._changed.write_text(text, encoding="utf-8")
        first = ["-include", str(self._changed)] if self._is_header else []
        for source, made in self._anew.items():
            if _run(self._compiler(source, made, *first)).returncode:
                return None
        own = [made for made in self._anew.values() if made not in (*self._tests, *self._beside)]
        # A program takes of an archive what it needs.
        archive, program = self._directory / "beside.a", self._directory / "program"
        archive.unlink(missing_ok=True)
        _must(["ar", "rcs", str(archive), *map(str, self._beside)])
        for test in self._tests:
            objects = [str(made) for made in (test, *own, archive)]
            _must(["gcc", "-o", str(program), *objects, "-lm", *self._target.libraries])
            # Of the processor's time, which does not depend on what else runs.
            limited = ["prlimit", f"--cpu={CPU_LIMIT_S}", str(program)]
            try:
                done = subprocess.run(limited, capture_output=True, timeout=WALL_LIMIT_S)
            except subprocess.TimeoutExpired:
                return TIMEOUT
            if done.returncode == -signal.SIGXCPU:
                return TIMEOUT
            if done.returncode:
                return KILLED
        return SURVIVED


def run_target(target: CTarget, chosen: Chosen, equivalent: Container[str]) -> Score:
    """The chosen mutants against the unit test."""
    began = time.monotonic()
    text = (ROOT / target.source).read_text(encoding="utf-8")
    mutants = [mutant for mutant in c_mutants(text, target.source) if chosen(mutant.name)]
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="ffslab-mutants-") as directory:
        build = Build(target, Path(directory))
        if build.run(text) != SURVIVED:
            raise SystemExit(f"{target.source}: its tests fail without a mutant")
        for mutant in mutants:
            state = EQUIVALENT if mutant.title in equivalent else build.run(mutant.text)
            if state is not None:
                outcomes.append(MutantOutcome(mutant.title, mutant.line, state))
    return Score(target.source, tuple(outcomes), time.monotonic() - began)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def _must(command: list[str]) -> str:
    done = _run(command)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout
