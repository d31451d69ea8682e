"""Findings of power cuts on two sides: which are new, gone, the same. Pure.

A finding is known by its case, outcome, kind of cut and reason, not by the operation at which power
was cut: another build may write one page more before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.workloads.results import finding_line

Findings = Mapping[str, Mapping[str, Any]]  # by what they are known by


@dataclass(frozen=True, slots=True)
class FindingChange:
    """What differs between the findings of two sides, each a line with the finding's id."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.same)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """A line for each, behind what became of it."""
        told = (("new", self.new), ("gone", self.gone), ("same", self.same))
        return tuple((word, line) for word, lines in told for line in lines)


NONE = FindingChange()


def finding_change(pairs: Iterable[tuple[Findings, Findings]]) -> FindingChange:
    """The change over the cases that differ in the seed only."""
    new: dict[str, None] = {}
    gone: dict[str, None] = {}
    same: dict[str, None] = {}
    for base, other in pairs:
        new |= {finding_line(other[key]): None for key in other if key not in base}
        gone |= {finding_line(base[key]): None for key in base if key not in other}
        same |= {finding_line(other[key]): None for key in other if key in base}
    return FindingChange(tuple(new), tuple(gone), tuple(same))
