"""What is mutated, what became of it, and how that is told."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "src" / "ffslab"
KILLED, SURVIVED, TIMEOUT, EQUIVALENT = "killed", "survived", "timeout", "equivalent"
_SCOPES = ("without", "only")
_OF_C = ("tests", "beside", "flags", "libraries")
STATES = (KILLED, TIMEOUT, SURVIVED, EQUIVALENT)
Chosen = Callable[[str], bool]  # by a mutant's name


@dataclass(frozen=True)
class Target:
    """A module below src/ffslab and the files of tests/unit that are to notice its mutants.

    `without`: qualified names of functions that are left out, or "<module>". `only`: those that
    are not, if it names any.
    """

    module: str
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def has(self, scope: str) -> bool:
        """Whether the mutants of a function belong to it."""
        return scope not in self.without and (not self.only or scope in self.only)

    @property
    def path(self) -> Path:
        return PACKAGE / self.module


@dataclass(frozen=True)
class CTarget:
    """A C source or header, the programs that test it, and the compiler's flags.

    `tests`: a source for each program, which has its main(). `beside`: what they are linked with,
    as far as they need it, and `libraries` likewise.
    """

    source: str
    tests: tuple[str, ...]
    beside: tuple[str, ...]
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class MutantOutcome:
    """`title` is the mutant's name with its change, as equivalent.toml has it."""

    title: str
    line: int
    state: str

    @property
    def text(self) -> str:
        return f"{self.state}, line {self.line}: {self.title}"


@dataclass(frozen=True)
class Score:
    """What became of the mutants of one source, or of all."""

    source: str
    outcomes: tuple[MutantOutcome, ...]
    seconds: float

    def count(self, state: str) -> int:
        return sum(outcome.state == state for outcome in self.outcomes)

    @property
    def percent(self) -> float:
        """Killed ÷ all that are not equivalent; a timeout is a kill."""
        tried = len(self.outcomes) - self.count(EQUIVALENT)
        return 100 * (1 - self.count(SURVIVED) / tried) if tried else 100.0

    @property
    def text(self) -> str:
        counts = "  ".join(f"{self.count(state):5} {state}" for state in STATES)
        return f"{self.source:30} {len(self.outcomes):5}  {counts}  {self.percent:5.1f} %"


def total(scores: Sequence[Score]) -> Score:
    outcomes = tuple(outcome for score in scores for outcome in score.outcomes)
    return Score("all", outcomes, sum(score.seconds for score in scores))


def load_targets() -> tuple[tuple[Target, ...], tuple[CTarget, ...]]:
    """targets.toml: groups of modules with the tests of the group; C sources."""
    document = tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))
    modules = tuple(
        Target(module, tuple(group["tests"]), *(tuple(group.get(k, ())) for k in _SCOPES))
        for group in document["group"]
        for module in group["modules"]
    )
    sources = tuple(
        CTarget(c["source"], *(tuple(_files(c.get(key, ()))) for key in _OF_C))
        for c in document["c"]
    )
    return modules, sources


def _files(words: Iterable[str]) -> Iterator[str]:
    """With the files that a pattern stands for; one without any is left, to be found wrong."""
    for word in words:
        names = sorted(path.relative_to(ROOT) for path in ROOT.glob(word)) if "*" in word else ()
        yield from map(str, names or (word,))


def load_equivalent() -> dict[str, str]:
    """equivalent.toml: titles of mutants that change nothing that can be seen, with reasons."""
    entries = tomllib.loads((HERE / "equivalent.toml").read_text(encoding="utf-8"))
    return {title: entry["reason"] for entry in entries["equivalent"] for title in entry["mutants"]}


def stale(titles: Iterable[str]) -> list[str]:
    """Entries of equivalent.toml that no mutant among `titles`, which are all, is called by."""
    known = set(titles)
    return [title for title in load_equivalent() if title not in known]
