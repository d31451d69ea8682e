"""What a check found: rules with their grades, problems with their places.

*error*: the format forbids it, or data are lost. *warning*: nothing is lost, but something went
wrong: a bit that the ECC corrected, a page or erase that a power cut interrupted, a field that
readers ignore and writers should not set so. *note*: allowed, and worth knowing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ffslab.fsimage.flashfile import PageSizes


class Severity(StrEnum):
    """How grave a problem is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the format: its name in problems, the grade of a violation, and what it says."""

    name: str
    severity: Severity
    text: str


def place_of(*parts: tuple[str, int | str | None]) -> str:
    """Each part that is known, behind what it is; empty if none is."""
    return " ".join(f"{what}{which}" for what, which in parts if which is not None)


def rules(severity: Severity, *pairs: tuple[str, str]) -> Iterable[Rule]:
    return (Rule(name, severity, text) for name, text in pairs)


class Place(Protocol):
    """A place in an image: a named tuple of what each format says of it, None where it does not."""

    def __str__(self) -> str:
        """For example "block 3 page 7"; empty if the image as a whole."""

    def _asdict(self) -> dict[str, Any]: ...


W = TypeVar("W", bound=Place)


@dataclass(frozen=True, slots=True)
class Problem(Generic[W]):
    """One place where a rule is not kept."""

    severity: Severity
    rule: str
    message: str
    where: W


class Collector(Generic[W]):
    """Collects problems; of each rule the first `keep` are kept, all are counted.

    `nowhere` is the place of what concerns the image as a whole.
    """

    def __init__(self, known: Mapping[str, Rule], nowhere: W, keep: int = 1000) -> None:
        self._rules = known
        self._nowhere = nowhere
        self._keep = keep
        self._kept: list[Problem[W]] = []
        self.counts: Counter[str] = Counter()

    def add(self, rule: str, message: str, where: W | None = None) -> None:
        """Notes that `rule` is not kept there."""
        self.counts[rule] += 1
        if self.counts[rule] <= self._keep:
            severity = self._rules[rule].severity
            location = self._nowhere if where is None else where
            self._kept.append(Problem(severity, rule, message, location))

    def sorted(self) -> tuple[Problem[W], ...]:
        """Gravest first, then in the order found."""
        order = {severity: number for number, severity in enumerate(Severity)}
        return tuple(sorted(self._kept, key=lambda problem: order[problem.severity]))


@dataclass(frozen=True, slots=True)
class CheckResult(Generic[W]):
    """All problems of a check.

    `problems` are sorted, gravest first, and at most 1000 of each rule; `counts` has all, by rule.
    """

    rules: ClassVar[Mapping[str, Rule]] = {}
    problems: tuple[Problem[W], ...]
    counts: dict[str, int]

    def count(self, severity: Severity) -> int:
        """How many problems there are of that grade, those that were not kept included."""
        return sum(
            number for rule, number in self.counts.items() if self.rules[rule].severity is severity
        )

    def _of(self, severity: Severity) -> tuple[Problem[W], ...]:
        return tuple(problem for problem in self.problems if problem.severity is severity)

    @property
    def errors(self) -> tuple[Problem[W], ...]:
        return self._of(Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem[W], ...]:
        return self._of(Severity.WARNING)

    @property
    def notes(self) -> tuple[Problem[W], ...]:
        return self._of(Severity.NOTE)

    def text(self) -> str:
        """All problems, one in a line: for messages of tests."""
        return "\n".join(f"{f.severity}: {f.rule}: {f.where}: {f.message}" for f in self.problems)


@dataclass(frozen=True, slots=True)
class ImageReport(CheckResult[W]):
    """What a check found in an image file, and how pages lie there.

    `statistics` are counts by name; `geometry_source` says how the geometry was found.
    """

    path: Path
    file_format: str
    geometry: PageSizes
    geometry_source: str
    first_block: int
    blocks: int
    statistics: dict[str, int]
