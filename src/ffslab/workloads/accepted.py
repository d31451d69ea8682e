"""Which findings of a run are known, and which cases fail by nothing else: pure.

A result stays what it is: only who judges or prints a run asks here. An entry accepts a finding
that it names (`ffslab.model.known`), if that is of no more states than the entry says and the
kernel is older than its `until`. A finding stands for all states that are alike, so that without
the number of states a new fault could hide behind a known one. What lies beyond an entry is new,
with the reason. A kernel that nobody recorded is not older than anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from ffslab.model.known import Known

Finding = Mapping[str, Any]
Change = Literal["new", "gone", "same"]
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Told:
    """A finding of a case, and the entry that accepts it; `why` not, though one names it."""

    case: str
    finding: Finding
    entry: Known | None = None
    why: str = ""

    @property
    def is_known(self) -> bool:
        return self.entry is not None


@dataclass(frozen=True, slots=True)
class Accepted:
    """All findings of a run. `cases`: those that fail by known findings alone. `stale`: entries
    that name no finding.
    """

    told: tuple[Told, ...] = ()
    cases: frozenset[str] = frozenset()
    stale: tuple[Known, ...] = ()

    @property
    def new(self) -> tuple[Told, ...]:
        return tuple(told for told in self.told if not told.is_known)

    @property
    def known(self) -> tuple[Told, ...]:
        return tuple(told for told in self.told if told.is_known)


def told_of(case: str, finding: Finding, entries: Sequence[Known], kernel: str) -> Told:
    """A finding of a case that ran in this kernel (6.1.192; "": not recorded)."""
    why = ""
    for entry in entries:
        if not _names(entry, finding):
            continue
        beyond = _beyond(entry, finding, kernel)
        if not beyond:
            return Told(case, finding, entry)
        why = why or beyond
    return Told(case, finding, None, why)


def accepted(
    findings: Iterable[tuple[str, Finding]],
    failed: Iterable[str],
    entries: Sequence[Known],
    kernels: Mapping[str, str],
) -> Accepted:
    """The findings of a run, each with its case; `failed`: the cases that are not good; `kernels`:
    by case.
    """
    told = tuple(
        told_of(case, finding, entries, kernels.get(case, "")) for case, finding in findings
    )
    known = {each.case for each in told} - {each.case for each in told if not each.is_known}
    stale = tuple(
        entry for entry in entries if not any(_names(entry, each.finding) for each in told)
    )
    return Accepted(told, frozenset(known & set(failed)), stale)


def changes(
    before: Mapping[str, Finding],
    after: Mapping[str, Finding],
    entries: Sequence[Known],
    kernel: str,
    case: str = "",
) -> tuple[tuple[Change, Told], ...]:
    """What became of the findings of a case between two runs, by what makes them the same
    (`ffslab.workloads.results.findings_of`); `entries` and `kernel` are of the later each.
    """

    parts = parted(before, after)
    return tuple((word, told_of(case, finding, entries, kernel)) for word, finding in parts)


def parted(before: Mapping[str, Part], after: Mapping[str, Part]) -> Iterator[tuple[Change, Part]]:
    """What only the later side has, only the earlier, and both; of these that of the later."""
    yield from (("new", after[key]) for key in after if key not in before)
    yield from (("gone", before[key]) for key in before if key not in after)
    yield from (("same", after[key]) for key in after if key in before)


def _names(entry: Known, finding: Finding) -> bool:
    if entry.id:
        return bool(finding["id"] == entry.id)
    return bool(finding.get("known") == entry.finding)


def _beyond(entry: Known, finding: Finding, kernel: str) -> str:
    """Why an entry does not accept a finding that it names; "" if it does."""
    if entry.until and not kernel:
        return f"{entry.name} is known until Linux {entry.until}, and which one ran is not recorded"
    if entry.until and _numbers(kernel) >= _numbers(entry.until):
        return f"{entry.name} is known until Linux {entry.until}, and this is {kernel}"
    if finding["states"] > entry.states:
        return f"{entry.name} is known of {entry.states:,} state{'s' * (entry.states != 1)}"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with; zeros at its end say nothing."""
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
