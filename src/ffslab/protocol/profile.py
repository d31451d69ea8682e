"""Where virtual time went, by function and task: what a profiled guest's kernel wrote, and the
JSON file that is kept of it.

The kernel adds up a tree of calls for each task and each window of time
(`arch/um/kernel/cpu_profile.c` of the lab kernel, whose `struct um_profile` is read here). Windows
are the phases and steps of the guest's records, without those that contain another one.
"""

from __future__ import annotations

import json
import mmap
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.protocol.records import RecordStream

PROFILE_VERSION = 1
PARTS = ("code", "driver", "chip")
WINDOWS_MAX = 256
PROFILE_NAME = "profile.json"  # of a case
KERNEL_PROFILE_NAME = "profile.bin"
REST = "the rest"  # what is in no window: the guest's boot, what is between phases

_MAGIC = b"UMPROF1\0"
_HEADER = struct.Struct("<8s6I")  # magic; functions, nodes, name_bytes, sites, lost_sites, windows
_TASKS, _TASK_BYTES = 128, 16
_FUNCTIONS = 1 << 16
_NODES = 1 << 20
_NODE = struct.Struct("<II3Q")  # parent, function, ns of code, driver, chip
_TASKS_AT = _HEADER.size
_NAME_AT = _TASKS_AT + _TASKS * _TASK_BYTES
_NODES_AT = _NAME_AT + 4 * _FUNCTIONS
_NAMES_AT = _NODES_AT + _NODE.size * _NODES
# What the compiler adds to the name of a function that it cut in parts or made a copy of.
_COMPILERS = re.compile(r"\.(cold|part|isra|constprop)(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of virtual time since the guest's boot, in ns."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(slots=True)
class Node:
    """A task, or a function below those that called it: its own time in ns, by PARTS.

    `name` of a function of a module is `function module`.
    """

    name: str
    ns: list[int] = field(default_factory=lambda: [0, 0, 0])
    calls: dict[str, Node] = field(default_factory=dict)

    @property
    def own_ns(self) -> int:
        """The time in it, and in none that it called."""
        return sum(self.ns)

    @property
    def total_ns(self) -> int:
        """Its own time, and that of all that it called."""
        return self.own_ns + sum(node.total_ns for node in self.calls.values())

    def below(self, name: str) -> Node:
        """The node of a function that it calls, a new one if need be."""
        return self.calls.setdefault(name, Node(name))

    def stacks(self, callers: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[int]]]:
        """Every chain of calls in which time passed, its task first, with that time by PARTS."""
        stack = (*callers, self.name)
        if any(self.ns):
            yield stack, self.ns
        for name in sorted(self.calls):
            yield from self.calls[name].stacks(stack)


@dataclass(frozen=True, slots=True)
class WindowProfile:
    """The calls of each task in one window; `window` is None for what is in no window."""

    window: Window | None
    tasks: Mapping[str, Node]

    @property
    def name(self) -> str:
        """The window's name, or REST."""
        return self.window.name if self.window else REST

    @property
    def total_ns(self) -> int:
        """All time in it."""
        return sum(task.total_ns for task in self.tasks.values())

    def stacks(self) -> Iterator[tuple[tuple[str, ...], list[int]]]:
        """Those of all tasks."""
        for name in sorted(self.tasks):
            yield from self.tasks[name].stacks()


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a guest went. `lost_ns`: for what the kernel had no room."""

    windows: tuple[WindowProfile, ...]
    lost_ns: int = 0


def windows_of(records: RecordStream) -> tuple[Window, ...]:
    """The phases, and the steps without phases, in order of time; of too many the longest."""
    spans = [
        Window(f"{phase.workload}/{phase.name}", phase.t_start_ns, phase.t_end_ns)
        for phase in records.phases
    ]
    spans += [
        Window(" ".join(filter(None, (step.verb, step.label))), step.t_start_ns, step.t_end_ns)
        for step in records.steps
    ]
    apart = [
        span
        for span in spans
        if span.begin_ns < span.end_ns and not any(_gives_way(span, inner) for inner in spans)
    ]
    longest = sorted(apart, key=lambda span: (span.begin_ns - span.end_ns, span.begin_ns))
    return tuple(sorted(longest[:WINDOWS_MAX], key=lambda span: span.begin_ns))


def _gives_way(span: Window, inner: Window) -> bool:
    """Whether the other one lies in the same time and is shorter, or alike and named before."""
    return (
        span is not inner
        and inner.begin_ns < inner.end_ns
        and span.begin_ns < inner.end_ns
        and inner.begin_ns < span.end_ns
        and (span.end_ns - span.begin_ns, span.name) > (inner.end_ns - inner.begin_ns, inner.name)
    )


def profile_argument(windows: Sequence[Window]) -> str:
    """The word of a kernel's command line that makes it profile, in these windows."""
    spans = "".join(f",{window.begin_ns}-{window.end_ns}" for window in windows)
    return f"um_profile={KERNEL_PROFILE_NAME}{spans}"


# --- what the kernel wrote ---


def read_kernel_profile(path: Path, windows: Sequence[Window]) -> Profile:
    """What a guest's kernel left in its file; DamagedResultError if that is none, or not whole."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return _profile(path, data, windows)
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error


def _profile(path: Path, data: mmap.mmap, windows: Sequence[Window]) -> Profile:
    if len(data) < _NAMES_AT:
        raise _damaged(path, f"{len(data):,} bytes are too few")
    magic, functions, nodes, name_bytes, _, lost_sites, seen = _HEADER.unpack_from(data)
    if magic != _MAGIC or functions > _FUNCTIONS or nodes > _NODES or not nodes:
        raise _damaged(path, "it does not begin as one")
    if lost_sites or seen != len(windows):
        raise _damaged(path, f"{seen} windows of {len(windows)}, {lost_sites} places without room")
    names = _names(data, functions, name_bytes)
    return _tree(path, data, nodes, names, windows)


def _names(data: mmap.mmap, functions: int, name_bytes: int) -> list[str]:
    text = data[_NAMES_AT : _NAMES_AT + name_bytes]
    begins = struct.unpack_from(f"<{functions}I", data, _NAME_AT)
    return [
        _COMPILERS.sub("", text[at : text.find(b"\0", at)].decode("ascii", "replace")).strip()
        for at in begins
    ]


def _tree(
    path: Path, data: mmap.mmap, nodes: int, names: Sequence[str], windows: Sequence[Window]
) -> Profile:
    profiles = [WindowProfile(window, {}) for window in (None, *windows)]
    made: list[Node | None] = [None]
    _, _, *lost = _NODE.unpack_from(data, _NODES_AT)
    for number in range(1, nodes):
        parent, function, *ns = _NODE.unpack_from(data, _NODES_AT + _NODE.size * number)
        if parent >= number or (parent and function >= len(names)):
            raise _damaged(path, f"node {number} has no place")
        above = made[parent]
        if above is None:
            window, task = function >> 16, function & 0xFFFF
            if window > len(windows) or task >= _TASKS:
                raise _damaged(path, f"node {number} is nobody's")
            at = _TASKS_AT + task * _TASK_BYTES
            name = data[at : at + _TASK_BYTES].rstrip(b"\0").decode("ascii", "replace")
            tasks = profiles[window].tasks
            assert isinstance(tasks, dict)
            node = tasks.setdefault(name, Node(name))
        else:
            # What the compiler made a function of its own is the function that it was.
            node = above if names[function] == above.name else above.below(names[function])
        node.ns = [mine + its for mine, its in zip(node.ns, ns, strict=True)]
        made.append(node)
    return Profile(tuple(profile for profile in profiles if profile.total_ns), sum(lost))


def _damaged(path: Path, why: str) -> DamagedResultError:
    return DamagedResultError(
        f"{path} is no profile of a guest: {why}",
        cause="the guest was killed, or the lab kernel is another one",
        remedy="the same command again",
    )


# --- what is kept ---


def write_profile(profile: Profile, path: Path) -> None:
    """Writes it as JSON, the same bytes for the same profile."""
    path.write_text(json.dumps(_as_json(profile), separators=(",", ":")) + "\n", encoding="utf-8")


def _as_json(profile: Profile) -> dict[str, Any]:
    numbers: dict[str, int] = {}

    def tree(node: Node) -> list[Any]:
        calls = [tree(node.calls[name]) for name in sorted(node.calls) if node.calls[name].total_ns]
        return [numbers.setdefault(node.name, len(numbers)), *node.ns, calls]

    windows = [
        {
            "window": [w.window.name, w.window.begin_ns, w.window.end_ns] if w.window else None,
            "tasks": [tree(w.tasks[name]) for name in sorted(w.tasks)],
        }
        for w in profile.windows
    ]
    return {
        "v": PROFILE_VERSION,
        "lost_ns": profile.lost_ns,
        "names": list(numbers),
        "windows": windows,
    }


def read_profile(path: Path) -> Profile:
    """Reads what write_profile() wrote; DamagedResultError if it is not that."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        names = told["names"]
        windows = tuple(_window(window, names) for window in told["windows"])
        if told["v"] != PROFILE_VERSION:
            raise ValueError(f"version {told['v']}")
        return Profile(windows, int(told["lost_ns"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise DamagedResultError(
            f"{path} is no profile: {error}",
            cause="the file was edited or cut, or another version of ffslab wrote it",
            remedy="run the case again with --profile",
        ) from error


def _window(told: Mapping[str, Any], names: Sequence[str]) -> WindowProfile:
    window = Window(*told["window"]) if told["window"] else None
    tasks = [_node(task, names) for task in told["tasks"]]
    return WindowProfile(window, {task.name: task for task in tasks})


def _node(told: Sequence[Any], names: Sequence[str]) -> Node:
    number, code, driver, chip, calls = told
    nodes = [_node(call, names) for call in calls]
    return Node(names[number], [code, driver, chip], {node.name: node for node in nodes})
