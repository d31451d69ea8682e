"""Who wins at how many contests: pure.

A contest is a figure that the verdict hangs on at one place, between those whose name differs: file
systems, if there are two or more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ffslab.report import data
from ffslab.report.first.samples import Matter
from ffslab.report.first.weigh import Weighed

_MOST_LEADERS = 2


@dataclass(frozen=True)
class Contest:
    """A figure at one of its places. `best`: the configurations that win, none if all are alike."""

    weighed: Weighed
    number: int
    best: tuple[str, ...]


def names_of(matter: Matter) -> dict[str, str]:
    """What each configuration counts for: its file system, if there are two or more."""
    systems = {c.label: data.filesystem_name(c.filesystem) for c in matter.configurations}
    return systems if len(set(systems.values())) > 1 else {label: label for label in systems}


@dataclass(frozen=True)
class Score:
    """Who is best at most of these contests; `names` by configuration."""

    contests: tuple[Contest, ...]
    names: Mapping[str, str]

    @cached_property
    def _wins(self) -> Counter[str]:
        return Counter(
            name
            for contest in self.contests
            for name in {self.names[label] for label in contest.best}
        )

    @property
    def count(self) -> int:
        """At how many contests the leaders are best."""
        return max(self._wins.values(), default=0)

    @property
    def leaders(self) -> tuple[str, ...]:
        """Whose wins are most, the first by name of many."""
        most = sorted(name for name, wins in self._wins.items() if wins == self.count)
        return tuple(most[:_MOST_LEADERS])

    def with_options(self, name: str) -> str:
        """A winner with the options without which it wins nowhere: "UBIFS (write-back)"."""
        own = [_options(label) for label, of in self.names.items() if of == name != label]
        won = [
            _options(label)
            for contest in self.contests
            for label in contest.best
            if self.names[label] == name != label
        ]
        told = [
            option
            for option in (won[0] if won else ())
            if all(option in options for options in won)
            and not all(option in options for options in own)
        ]
        return f"{name} ({', '.join(told)})" if told else name


def score(rows: Sequence[Weighed], names: Mapping[str, str], *, may_lose: bool = False) -> Score:
    """The contests of these rows; `may_lose`: who failed at a place has lost there."""
    contests = (contest for each in rows for contest in _contests(each, names, may_lose))
    return Score(tuple(contests), names)


def _contests(each: Weighed, names: Mapping[str, str], may_lose: bool) -> Iterator[Contest]:
    row = each.row
    for number in range(len(row.places)):
        ranked = each.ranked(number)
        there = {names[label] for label in ranked}
        beaten = {names[label] for label in row.failed.get(number, ()) if may_lose} - there
        if len(there | beaten) > 1 and any(row.cells[label][number].mean for label in ranked):
            yield Contest(each, number, each.best[number] or (ranked if beaten else ()))


def _options(label: str) -> tuple[str, ...]:
    return tuple(label.split(data.BETWEEN))
