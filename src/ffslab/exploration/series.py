"""One power cut after the other on one flash.

What the guest prints is in guest/cutter/series/series.h.

In each cycle the file system is mounted, all of it is looked at, some calls are made, it is
unmounted; then the power is cut at one operation of all this, and the flash stays as that left it.
The guest judges by itself: contents tell which call they are from, and where the log stood tells
which of them must be there.

A cut that ends the guest is a finding. The series begins anew without it ("lost" in its place), and
comes to the same place by the same way, for guests are deterministic.
"""

from __future__ import annotations

import errno
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.exploration.guest import WALK, GuestTexts
from ffslab.exploration.stored import (
    VERSION,
    StoredFinding,
    StoredSeries,
    StoredUnit,
    finding_id,
)
from ffslab.exploration.study import SERIES, Series
from ffslab.exploration.unit import StoppedError
from ffslab.exploration.verdict import CORRECT, GUEST_DIED, LEAK, MOUNT_FAILS, OUTCOMES
from ffslab.oracle.promises import Promise
from ffslab.results.console import scan_console

# Runs a guest of the series with these words of ffscrash, and tells in which directory it writes;
# None: ffslab is to stop.
RunSeries = Callable[[str, Sequence[str], Callable[[Path], None]], GuestTexts | None]
_BEFORE = "none"  # the kind of the cut before the first
_LOG_IS_FULL = f"stop {errno.ENOSPC}"
_SPARED_MAX = 16  # so many guests may end before it is no series any more
_TOLD_EVERY_S = 1.0
_TAIL_BYTES = 4096  # more than what is said of a cut, but for messages
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
    found = SeriesText()
    before = start = CutMade(0, 0, _BEFORE, 0, 0)
    lines = iter(text[: text.rfind("\n") + 1].splitlines())
    for line in lines:
        words = line.split(" ")
        match words[0]:
            case "cut":
                cycle, operation, variant, operations = (int(words[i]) for i in (1, 2, 4, 5))
                before = CutMade(cycle, operation, words[3], variant, operations)
                found.cuts.append(before)
            case "wrong":
                before.wrong.append((words[2], _sentence(words[3:])))
            case "recovery":
                cost = [int(word) for word in words[3:6]]
                _add_row(found.recovery, words[2], [1, *cost, *cost])
            case "space":
                found.space.append([int(word) for word in words[1:8]])
            case "message":
                found.messages.setdefault(int(words[1]), []).extend(_until_end(lines))
            case "call":
                found.calls = [*(found.calls if not found.log else ()), line]
                found.log = []
            case "log":
                found.log = list(_until_end(lines))
            case "stuck":
                found.stuck = " ".join(words[1:])
            case "ended":
                found.complete = True
    if start.wrong:
        raise InfrastructureError(
            f"the file system fails without any power cut: {start.detail}",
            cause="its options, or a partition that is too small",
        )
    return found


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
        return [died.get(one.cycle, one) for one in self.found.cuts]


def series_words(
    series: Series, promise: Promise, seed: int, *, first: int, cuts: int, spared: Sequence[int]
) -> list[str]:
    """The words of ffscrash series, the last of its cuts first; `first` were of another flash."""
    words = [
        *(str(cuts), f"seed={seed}", f"kinds={','.join(series.kinds)}"),
        *(f"space_every={series.space_every}", f"first={first}"),
    ]
    if promise.own_names:
        words.append(f"own={promise.own_names[0]}")
    if promise.returned_is_durable:
        words.append("returned_is_durable=1")
    if not promise.rename_is_atomic:
        words.append("two_names=1")
    if spared:
        words.append(f"spared={','.join(map(str, spared))}")
    return words


@dataclass(slots=True)
class SeriesUnit:
    """Makes the cuts of a series on one file system.

    `tell` is called with how many cuts have been made, of how many.
    """

    series: Series
    promise: Promise
    seed: int
    run: RunSeries
    tell: Callable[[int, int], None] = lambda _done, _all: None

    def explore(self) -> list[Life]:
        """All cuts, of one flash or, when that cannot be mounted any more, of several.

        InfrastructureError if it fails without a cut, or ends for no reason to be seen.
        """
        lives: list[Life] = []
        while not lives or lives[-1].last < self.series.cuts:
            lives.append(self._life(len(lives), lives[-1].last if lives else 0))
        return lives

    def _life(self, number: int, first: int) -> Life:
        """The cuts of one flash, to the last or until it cannot be mounted."""
        spared: dict[int, tuple[CutMade, list[str]]] = {}
        while True:
            texts = self._guest(f"series-{number}-{len(spared)}", first, list(spared))
            found = parse_series(texts.walk)
            life = Life(first, texts.walk, found, spared)
            if found.complete:
                return life
            last = found.cuts[-1] if found.cuts else None
            if found.stuck and last is not None:
                if not life.is_given_up:
                    last.wrong.append((MOUNT_FAILS, f"the flash is lost: cannot {found.stuck}"))
                return life
            if last is None or last.cycle in spared:
                raise _ended(texts)
            spared[last.cycle] = _died(last, texts)
            if texts.timed_out or len(spared) == _SPARED_MAX:
                return life

    def _guest(self, name: str, first: int, spared: Sequence[int]) -> GuestTexts:
        ended = threading.Event()

        def begun(directory: Path) -> None:
            threading.Thread(target=self._watch, args=(directory, ended), daemon=True).start()

        words = series_words(
            self.series, self.promise, self.seed, first=first, cuts=self.series.cuts, spared=spared
        )
        try:
            texts = self.run(name, words, begun)
        finally:
            ended.set()
        if texts is None:
            raise StoppedError
        return texts

    def _watch(self, directory: Path, ended: threading.Event) -> None:
        """Tells how far the guest has come, from the end of what it has written."""
        while not ended.wait(_TOLD_EVERY_S):
            try:
                with (directory / WALK).open("rb") as file:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                    cuts = re.findall(rb"^cut (\d+) ", file.read(), re.MULTILINE)
            except FileNotFoundError:
                continue
            if cuts:
                self.tell(int(cuts[-1]), self.series.cuts)


def _ended(texts: GuestTexts) -> InfrastructureError:
    return InfrastructureError(
        "a guest with a series of power cuts ended without one:\n"
        + "\n".join(f"    {line}" for line in texts.last),
        cause="ffscrash failed, or the guest's memory is too small",
    )


def _died(cut: CutMade, texts: GuestTexts) -> tuple[CutMade, list[str]]:
    """The cut that ended a guest, and the end of its console."""
    worst = scan_console(texts.console)
    said = "no end within the limit" if texts.timed_out else "the guest ended"
    cut.wrong = [(GUEST_DIED, worst[0].text if worst else said)]
    return cut, list(worst[0].excerpt if worst else texts.last)


def leaks(space: Sequence[Sequence[int]]) -> list[str]:
    """What became less for good: sentences.

    What fits into a file differs from time to time, by where nodes end and what garbage there is.
    So less fits if the most of the last quarter of all measurements is less than the least of the
    first.
    """
    if len(space) < _LEAK_MEASURES:
        return []
    quarter = len(space) // 4
    first, last = space[:quarter], space[-quarter:]
    found = []
    least, most = min(row[1] for row in first), max(row[1] for row in last)
    if most < least:
        found.append(f"{least:,} bytes or more fitted at first, {most:,} or fewer at last")
    if last[-1][4] > first[0][4]:
        found.append(f"{last[-1][4] - first[0][4]} blocks more are marked bad")
    return found


def stored_series(
    exploration: str, unit_id: str, filesystem: str, seed: int, lives: Sequence[Life]
) -> StoredUnit:
    """What is kept of a series. Its states are its cuts, and are called after their number."""
    cuts = [cut for life in lives for cut in life.cuts]
    counts: dict[str, Counter[str]] = {}
    for one in cuts:
        counts.setdefault(one.kind, Counter())[one.outcome] += 1
    said: dict[int, list[str]] = {}
    recovery: dict[str, list[int]] = {}
    for life in lives:
        said.update(life.found.messages)
        said.update({cycle: console for cycle, (_, console) in life.spared.items()})
        for kind, row in life.found.recovery.items():
            _add_row(recovery, kind, row)
    findings = _findings(exploration, unit_id, cuts, said)
    for life in lives:
        for sentence in leaks(life.found.space):
            findings.append(_finding(exploration, unit_id, life.cuts[-1], LEAK, sentence, 1, []))
    series: StoredSeries = {
        "cuts": len(cuts),
        "lives": [life.first for life in lives],
        "given_up": [life.last for life in lives if life.is_given_up],
        "space": [row for life in lives for row in life.found.space],
        "recovery": dict(sorted(recovery.items())),
        "spared": sorted(cycle for life in lives for cycle in life.spared),
    }
    return {
        "v": VERSION,
        "id": unit_id,
        "filesystem": filesystem,
        "workload": SERIES,
        "seed": seed,
        "calls": 0,
        "operations": sum(one.operations for one in cuts),
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
    exploration: str, unit_id: str, cuts: Sequence[CutMade], said: dict[int, list[str]]
) -> list[StoredFinding]:
    """A finding for each outcome, kind of cut and reason: the first of these cuts."""
    alike: dict[tuple[str, str, str], list[CutMade]] = {}
    for one in cuts:
        if one.outcome != CORRECT:
            reason = re.sub(r"\d[\d,]*", "#", one.detail)
            alike.setdefault((one.outcome, one.kind, reason), []).append(one)
    return [
        _finding(
            *(exploration, unit_id, group[0], outcome, group[0].detail, len(group)),
            _grave(said.get(group[0].cycle, []))[:_LINES],
        )
        for (outcome, _, _), group in alike.items()
    ]


def _grave(lines: list[str]) -> list[str]:
    """Errors and worse of the kernel's lines; all of them if there are none."""
    return [line for line in lines if re.match("<[0-3]>", line)] or lines


def _finding(
    exploration: str,
    unit_id: str,
    cut: CutMade,
    outcome: str,
    detail: str,
    states: int,
    console: list[str],
) -> StoredFinding:
    state = f"{cut.cycle} {cut.kind} {cut.variant}"
    return {
        "id": finding_id(exploration, unit_id, f"{state} {outcome}"),
        "state": state,
        "outcome": outcome,
        "kind": cut.kind,
        "detail": detail,
        "states": states,
        "confirmed": outcome != GUEST_DIED,
        "filled": False,
        "console": console,
    }
