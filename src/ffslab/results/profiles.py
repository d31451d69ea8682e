"""What a profile of a guest says: functions with their time, and the files that others' tools read.

Folded stacks are what flame-graph tools read, a line `task;function;...;function NS`. speedscope
(https://www.speedscope.app) reads its own JSON. In both the flash's driver and the chip stand below
the function that waited for them, as [driver] and [chip].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.protocol.profile import PROFILE_NAME, Profile, WindowProfile
from ffslab.results.files import CASES
from ffslab.results.rundir import RunDirectory

IDLE = "swapper"  # the task that has the time in which no other could go on
_LEAVES = ("", "[driver]", "[chip]")
_SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def profiles_in(run: RunDirectory) -> dict[str, Path]:
    """The files of the cases that were profiled, by the case's id."""
    return profiles_at(run.path, [case["id"] for case in run.manifest()["cases"]])


def profiles_at(path: Path, case_ids: Iterable[str]) -> dict[str, Path]:
    """The same of a run's directory and its cases."""
    paths = {case_id: path / CASES / case_id / PROFILE_NAME for case_id in case_ids}
    return {case_id: path for case_id, path in paths.items() if path.is_file()}


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function's own time in ns, by what it was for, and that in it and in all that it called."""

    name: str
    code_ns: int
    driver_ns: int
    chip_ns: int
    total_ns: int

    @property
    def own_ns(self) -> int:
        """The time in it, and in none that it called."""
        return self.code_ns + self.driver_ns + self.chip_ns


def stacks_of(windows: Iterable[WindowProfile]) -> Counter[tuple[str, ...]]:
    """Each chain of calls, its task first, with its own time in ns; driver and chip are leaves."""
    times: Counter[tuple[str, ...]] = Counter()
    for window in windows:
        for stack, by_part in window.stacks():
            for leaf, ns in zip(_LEAVES, by_part, strict=True):
                if ns:
                    times[(*stack, leaf) if leaf else stack] += ns
    return times


def functions_of(windows: Iterable[WindowProfile]) -> list[FunctionTime]:
    """The functions with time, that with the most of its own first; not of the idle task."""
    own: dict[str, list[int]] = {}
    total: Counter[str] = Counter()
    for window in windows:
        for (task, *functions), by_part in window.stacks():
            if not functions or task == IDLE:
                continue
            mine = own.setdefault(functions[-1], [0, 0, 0])
            for part, ns in enumerate(by_part):
                mine[part] += ns
            for name in set(functions):
                total[name] += sum(by_part)
    rows = [
        FunctionTime(name, code, driver, chip, total[name])
        for name, (code, driver, chip) in own.items()
    ]
    return sorted(rows, key=lambda row: (-row.own_ns, row.name))


def chosen(profile: Profile, name: str | None) -> tuple[WindowProfile, ...]:
    """The windows of that name; without one all of the work: what is in any window."""
    if name is None:
        named = tuple(window for window in profile.windows if window.window)
        return named or profile.windows
    return tuple(window for window in profile.windows if window.name == name)


def folded(windows: Iterable[WindowProfile]) -> str:
    """The stacks as flame-graph tools read them, in ns, in order."""
    lines = (f"{_words(stack)} {ns}" for stack, ns in sorted(stacks_of(windows).items()))
    return "".join(f"{line}\n" for line in lines)


def _words(stack: Sequence[str]) -> str:
    return ";".join(name.replace(";", ",").replace(" ", "_") for name in stack)


def speedscope(profile: Profile, title: str) -> dict[str, Any]:
    """speedscope's file: a profile for each window, its stacks with their ns."""
    frames: dict[str, int] = {}
    windows = [_sampled(window, frames) for window in profile.windows]
    return {
        "$schema": _SPEEDSCOPE,
        "name": title,
        "exporter": "ffslab",
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(name) for name in frames]},
        "profiles": windows,
    }


def _frame(name: str) -> dict[str, str]:
    function, _, module = name.partition(" ")
    return {"name": function, "file": module} if module else {"name": function}


def _sampled(window: WindowProfile, frames: dict[str, int]) -> dict[str, Any]:
    stacks = sorted(stacks_of([window]).items())
    return {
        "type": "sampled",
        "name": window.name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(ns for _, ns in stacks),
        "samples": [
            [frames.setdefault(name, len(frames)) for name in stack] for stack, _ in stacks
        ],
        "weights": [ns for _, ns in stacks],
    }


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function's own time in ns in two profiles."""

    name: str
    old_ns: int
    new_ns: int

    @property
    def more_ns(self) -> int:
        """What it takes more in the second."""
        return self.new_ns - self.old_ns


def changes(
    old: Iterable[WindowProfile], new: Iterable[WindowProfile]
) -> tuple[FunctionChange, ...]:
    """Functions whose own time is another one, the largest difference first."""
    times: tuple[Mapping[str, int], Mapping[str, int]] = (_own(old), _own(new))
    rows = (
        FunctionChange(name, times[0].get(name, 0), times[1].get(name, 0))
        for name in {**times[0], **times[1]}
    )
    different = [row for row in rows if row.more_ns]
    return tuple(sorted(different, key=lambda row: (-abs(row.more_ns), row.name)))


def _own(windows: Iterable[WindowProfile]) -> dict[str, int]:
    return {row.name: row.own_ns for row in functions_of(windows)}


def busy_ns(windows: Iterable[WindowProfile]) -> int:
    """The time of all tasks but the idle one."""
    return sum(ns for name, ns in tasks_of(windows) if name != IDLE)


def tasks_of(windows: Iterable[WindowProfile]) -> Iterator[tuple[str, int]]:
    """The tasks with their time in ns, that with the most first."""
    times: Counter[str] = Counter()
    for window in windows:
        for name, task in window.tasks.items():
            times[name] += task.total_ns
    yield from sorted(times.items(), key=lambda item: (-item[1], item[0]))
