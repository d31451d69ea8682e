"""Findings of power cuts, and limits that were missed, on two sides: new, gone, the same. Pure.

A finding is known by its case, outcome, kind of cut and reason, not by the operation at which power
was cut: another build may write one page more before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.workloads.accepted import changes, parted
from ffslab.workloads.results import finding_line

if TYPE_CHECKING:
    from ffslab.compare.pairs import CasePair
    from ffslab.model.known import Known

Findings = Mapping[str, Mapping[str, Any]]  # by what they are known by


@dataclass(frozen=True, slots=True)
class FindingChange:
    """What differs between the findings of two sides, each a line with the finding's id.

    `known`: those of the new side alone that its known findings accept.
    """

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.same or self.known)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """A line for each, behind what became of it."""
        told = (("new", self.new), ("known", self.known), ("gone", self.gone), ("same", self.same))
        return tuple((word, line) for word, lines in told for line in lines)


NONE = FindingChange()


def finding_change(pairs: Iterable[CasePair], entries: Sequence[Known] = ()) -> FindingChange:
    """The change over the cases that differ in the seed only; `entries` are of the new side."""
    told: dict[str, dict[str, None]] = {"new": {}, "gone": {}, "same": {}, "known": {}}
    for pair in pairs:
        base, new = pair.base, pair.new
        for word, each in changes(base.findings, new.findings, entries, new.kernel, new.id):
            kind = "known" if word == "new" and each.is_known else word
            told[kind][finding_line(each.finding)] = None
    return FindingChange(**{word: tuple(lines) for word, lines in told.items()})


def missed_change(pairs: Iterable[CasePair]) -> FindingChange:
    """The same of the limits that cases miss, known by case and figure."""
    told: dict[str, dict[str, None]] = {"new": {}, "gone": {}, "same": {}}
    for pair in pairs:
        for word, line in parted(pair.base.missed, pair.new.missed):
            told[word][line] = None
    return FindingChange(**{word: tuple(lines) for word, lines in told.items()})
