"""What a check found: rules with their grades, findings with their places.

*error*: the format forbids it, or data are lost. *warning*: nothing is lost, but something went
wrong: a bit that the ECC corrected, a page or erase that a power cut interrupted, a field that
readers ignore and writers should not set so. *note*: allowed, and worth knowing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar


class Severity(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the format: its name in findings, the grade of a violation, and what it says."""

    name: str
    severity: Severity
    text: str


def place_of(*parts: tuple[str, int | str | None]) -> str:
    """Each part that is known, behind what it is; empty if none is."""
    return " ".join(f"{what}{which}" for what, which in parts if which is not None)


def rules(severity: Severity, *pairs: tuple[str, str]) -> Iterable[Rule]:
    return (Rule(name, severity, text) for name, text in pairs)


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule is not kept. Each format says what a place is."""

    severity: Severity
    rule: str
    message: str

    def place(self) -> str:
        """For example "block 3 page 7"; empty if the image as a whole."""
        return ""


F = TypeVar("F", bound=Finding)


class Collector(Generic[F]):
    """Collects findings; of each rule the first `keep` are kept, all are counted.

    `make` is the class of a finding: after rule and message it takes what `where` has.
    """

    def __init__(self, known: Mapping[str, Rule], make: type[F], keep: int = 1000) -> None:
        self._rules = known
        self._make = make
        self._keep = keep
        self._kept: list[F] = []
        self.counts: Counter[str] = Counter()

    def add(self, rule: str, message: str, where: tuple[Any, ...] | None = None) -> None:
        """Notes that `rule` is not kept there."""
        self.counts[rule] += 1
        if self.counts[rule] <= self._keep:
            severity = self._rules[rule].severity
            self._kept.append(self._make(severity, rule, message, *(where or ())))

    def sorted(self) -> tuple[F, ...]:
        """Gravest first, then in the order found."""
        order = {severity: number for number, severity in enumerate(Severity)}
        return tuple(sorted(self._kept, key=lambda finding: order[finding.severity]))


@dataclass(frozen=True, slots=True)
class Verdict(Generic[F]):
    """All findings of a check.

    `findings` are sorted, gravest first, and at most 1000 of each rule; `counts` has all, by rule.
    """

    rules: ClassVar[Mapping[str, Rule]] = {}
    findings: tuple[F, ...]
    counts: dict[str, int]

    def count(self, severity: Severity) -> int:
        """How many findings there are of that grade, those that were not kept included."""
        return sum(
            number for rule, number in self.counts.items() if self.rules[rule].severity is severity
        )

    def _of(self, severity: Severity) -> tuple[F, ...]:
        return tuple(finding for finding in self.findings if finding.severity is severity)

    @property
    def errors(self) -> tuple[F, ...]:
        return self._of(Severity.ERROR)

    @property
    def warnings(self) -> tuple[F, ...]:
        return self._of(Severity.WARNING)

    @property
    def notes(self) -> tuple[F, ...]:
        return self._of(Severity.NOTE)

    def text(self) -> str:
        """All findings, one in a line: for messages of tests."""
        return "\n".join(f"{f.severity}: {f.rule}: {f.place()}: {f.message}" for f in self.findings)
