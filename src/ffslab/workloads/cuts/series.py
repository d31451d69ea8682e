"""One power cut after the other on one flash.

What the guest prints is in guest/cutter/series/series.h.

In each cycle the file system is mounted, all of it is looked at, some calls are made, it is
unmounted; then the power is cut at one operation of all this, and the flash stays as that left it.
The guest judges by itself: contents tell which call they are from, and where the log stood tells
which of them must be there.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ffslab.errors import InfrastructureError
from ffslab.model.case import Case
from ffslab.oracle.promises import Promise, promise_of
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.outcomes import CORRECT, GUEST_DIED, LEAK, OUTCOMES
from ffslab.workloads.cuts.stored import (
    CutsResult,
    StoredFinding,
    StoredSeries,
    alike,
    finding_id,
)

_BEFORE = "none"  # the kind of the cut before the first
_LOG_IS_FULL = f"stop {errno.ENOSPC}"
# What "wrong" tells of a name, beside the call's own word.
_PLACES = ("found", "before", "first", "last", "durable")
_LINES = 40  # of what the kernel said, kept with a finding
_LEAK_MEASURES = 8  # with fewer nothing is said


@dataclass(slots=True)
class CutMade:
    """A cut, and what the mount after it found: outcomes with a sentence each."""

    cycle: int
    operation: int
    kind: str
    variant: int
    operations: int
    wrong: list[tuple[str, str]] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        return min((word for word, _ in self.wrong), key=list(OUTCOMES).index, default=CORRECT)

    @property
    def detail(self) -> str:
        """Of the worst that was found."""
        return next((text for word, text in self.wrong if word == self.outcome), "")


@dataclass(slots=True)
class SeriesText:
    """What a guest printed. `stuck` is the step that ended it early, `complete`: it is all there.

    `messages` are the kernel's by cycle; `calls` and `log` are the last that were told.
    """

    cuts: list[CutMade] = field(default_factory=list)
    space: list[list[int]] = field(default_factory=list)
    recovery: dict[str, list[int]] = field(default_factory=dict)
    messages: dict[int, list[str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    stuck: str = ""
    complete: bool = False


def parse_series(text: str) -> SeriesText:
    """The lines of ffscrash series; what a guest that died had begun to write is left out."""
    series = SeriesText()
    before = start = CutMade(0, 0, _BEFORE, 0, 0)
    lines = iter(text[: text.rfind("\n") + 1].splitlines())
    for line in lines:
        words = line.split(" ")
        match words[0]:
            case "cut":
                cycle, operation, variant, operations = (int(words[i]) for i in (1, 2, 4, 5))
                before = CutMade(cycle, operation, words[3], variant, operations)
                series.cuts.append(before)
            case "wrong":
                before.wrong.append((words[2], _sentence(words[3:])))
            case "recovery":
                cost = [int(word) for word in words[3:6]]
                _add_row(series.recovery, words[2], [1, *cost, *cost])
            case "space":
                series.space.append([int(word) for word in words[1:8]])
            case "message":
                series.messages.setdefault(int(words[1]), []).extend(_until_end(lines))
            case "call":
                series.calls = [*(series.calls if not series.log else ()), line]
                series.log = []
            case "log":
                series.log = list(_until_end(lines))
            case "stuck":
                series.stuck = " ".join(words[1:])
            case "ended":
                series.complete = True
    if start.wrong:
        raise InfrastructureError(
            f"the file system fails without any power cut: {start.detail}",
            cause="its options, or a partition that is too small",
        )
    return series


def _until_end(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        if line == "end":
            return
        if line:
            yield line


def _sentence(words: Sequence[str]) -> str:
    """A name with what is known of it, or a step with its errno."""
    name, *rest = words
    known = dict(word.split("=", 1) for word in rest if "=" in word)
    if {"found", "before"} <= known.keys():
        return f"{name} {_about(known)}"
    if len(rest) == 1 and rest[0].isdigit():
        number = int(rest[0])
        return f"{name}: {os.strerror(number)}" if number else name
    return " ".join(words)


def _about(known: Mapping[str, str]) -> str:
    """What was found under a name, what was there before, and the call that changes it."""

    def size(text: str) -> str:
        return "is not there" if text == "-" else f"has {int(text):,} bytes"

    words = f"{size(known['found'])}, {size(known['before']).replace('has', 'had', 1)} before"
    words = words.replace("is not there before", "was not there before")
    change = next((key for key in known if key not in _PLACES), None)
    if change is None:
        return f"{words}; no call since then"
    durable = known.get("durable", "-")
    until = f"durable from operation {durable}" if durable != "-" else "not synced"
    made = "gone" if known[change] == "-" else f"{int(known[change]):,} bytes"
    return f"{words}; {change} ({made}), operations {known['first']} to {known['last']}, {until}"


def _add_row(costs: dict[str, list[int]], kind: str, row: Sequence[int]) -> None:
    """Further mounts to those before: how many, the sum of each cost, the most of each."""
    whole = costs.setdefault(kind, [0] * 7)
    for at in range(4):
        whole[at] += row[at]
    for at in range(4, 7):
        whole[at] = max(whole[at], row[at])


@dataclass(slots=True)
class Life:
    """The cuts of one flash: those after the first `first`, in its text and as parsed.

    `spared`: cuts that ended a guest, and so are left out of it, with the end of its console.
    """

    first: int
    text: str
    found: SeriesText
    spared: dict[int, tuple[CutMade, list[str]]]

    @property
    def is_given_up(self) -> bool:
        """Whether filling it wrote more than the chip's log has room for."""
        return self.found.stuck == _LOG_IS_FULL

    @property
    def last(self) -> int:
        return self.found.cuts[-1].cycle

    @property
    def cuts(self) -> list[CutMade]:
        """All of them, with what is known of those that ended a guest."""
        died = {cycle: cut for cycle, (cut, _) in self.spared.items()}
        return [died.get(cut.cycle, cut) for cut in self.found.cuts]


def series_words(
    workload: Cuts, promise: Promise, seed: int, *, first: int, cuts: int, spared: Sequence[int]
) -> list[str]:
    """The words of ffscrash series, the last of its cuts first; `first` were of another flash."""
    words = [
        *(str(cuts), f"seed={seed}", f"kinds={','.join(workload.cut_kinds)}"),
        *(f"space_every={workload.space_every}", f"first={first}"),
    ]
    if promise.own_names:
        words.append(f"own={promise.own_names[0]}")
    if promise.returned_is_durable:
        words.append("returned_is_durable=1")
    if not promise.rename_is_atomic:
        words.append("two_names=1")
    if workload.acts:
        words.append(f"acts={workload.acts.replace(' ', ',')}")
        words.append(f"reordered={','.join(workload.reordered_kinds)}")
    if spared:
        words.append(f"spared={','.join(map(str, spared))}")
    return words


def leaks(space: Sequence[Sequence[int]], growth_bytes: int = 0) -> list[str]:
    """What became less for good: sentences. `growth_bytes`: see `Promise`.

    What fits into a file differs from time to time, by where nodes end and what garbage there is.
    So less fits if the most of the last quarter of all measurements is less than the least of the
    first, by more than a file system without cuts takes.
    """
    if len(space) < _LEAK_MEASURES:
        return []
    quarter = len(space) // 4
    first, last = space[:quarter], space[-quarter:]
    sentences = []
    least, most = min(row[1] for row in first), max(row[1] for row in last)
    if most + growth_bytes < least:
        sentences.append(f"{least:,} bytes or more fitted at first, {most:,} or fewer at last")
    if last[-1][4] > first[0][4]:
        sentences.append(f"{last[-1][4] - first[0][4]} blocks more are marked bad")
    return sentences


def stored_series(case: Case, lives: Sequence[Life]) -> CutsResult:
    """What is kept of a series. Its states are its cuts, and are called after their number."""
    cuts = [cut for life in lives for cut in life.cuts]
    counts: dict[str, Counter[str]] = {}
    for cut in cuts:
        counts.setdefault(cut.kind, Counter())[cut.outcome] += 1
    said: dict[int, list[str]] = {}
    recovery: dict[str, list[int]] = {}
    for life in lives:
        said.update(life.found.messages)
        said.update({cycle: console for cycle, (_, console) in life.spared.items()})
        for kind, row in life.found.recovery.items():
            _add_row(recovery, kind, row)
    findings = _findings(case, cuts, said)
    growth_bytes = promise_of(case.filesystem.stack).growth_bytes
    for life in lives:
        for number, sentence in enumerate(leaks(life.found.space, growth_bytes)):
            findings.append(_finding(case, life.cuts[-1], LEAK, sentence, 1, [], number))
    series: StoredSeries = {
        "cuts": len(cuts),
        "lives": [life.first for life in lives],
        "given_up": [life.last for life in lives if life.is_given_up],
        "space": [row for life in lives for row in life.found.space],
        "recovery": dict(sorted(recovery.items())),
        "spared": sorted(cycle for life in lives for cycle in life.spared),
    }
    return {
        "calls": 0,
        "operations": sum(cut.operations for cut in cuts),
        "states_possible": len(cuts),
        "states": len(cuts),
        "untouched": 0,
        "counts": {kind: dict(sorted(made.items())) for kind, made in sorted(counts.items())},
        "random": {},
        "findings": findings,
        "recovery": {"curve": [], "worst": None},
        "series": series,
    }


def _findings(
    case: Case, cuts: Sequence[CutMade], said: dict[int, list[str]]
) -> list[StoredFinding]:
    """A finding for each outcome, kind of cut and reason: the first of these cuts."""
    groups = alike(cuts, lambda cut: (cut.outcome, cut.kind, cut.detail))
    return [
        _finding(
            *(case, group[0], outcome, group[0].detail, len(group)),
            _grave(said.get(group[0].cycle, []))[:_LINES],
        )
        for (outcome, _, _), group in groups.items()
    ]


def _grave(lines: list[str]) -> list[str]:
    """Errors and worse of the kernel's lines; all of them if there are none."""
    return [line for line in lines if re.match("<[0-3]>", line)] or lines


def _finding(
    case: Case,
    cut: CutMade,
    outcome: str,
    detail: str,
    states: int,
    console: list[str],
    number: int = 0,
) -> StoredFinding:
    """A finding; `number` tells it from others with the same cut and outcome."""
    state = f"{cut.cycle} {cut.kind} {cut.variant}"
    return {
        "id": finding_id(case, f"{state} {outcome}{f' {number}' if number else ''}"),
        "state": state,
        "outcome": outcome,
        "kind": cut.kind,
        "detail": detail,
        "states": states,
        "confirmed": outcome != GUEST_DIED,
        "filled": False,
        "console": console,
    }
