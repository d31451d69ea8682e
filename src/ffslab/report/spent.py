"""Time by what it is made of: the flash by kind of operation, and what passed beside it. Pure.

Where the guest's kernel tells whose time it was (`task_times` of a phase), that is the driver, the
code of each task, and waiting; else one part. Work of the CPU beside a busy chip hides in the
flash's, so that the parts together are the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ffslab.protocol.records import TaskTime

FLASH_PARTS = {
    "flash, reads": "flash_read_ns",
    "flash, programs": "flash_program_ns",
    "flash, erases": "flash_erase_ns",
    "flash, transfers": "flash_transfer_ns",
}
OUTSIDE = "outside the flash"
DRIVER, WAITING = "driver", "waiting"
_CPU = "CPU, "
_OTHERS = f"{_CPU}other tasks"
_OWN = "the work itself"
_AGENTS = ("init", "ffsagent")  # in the lab, on a board
_IDLE = "swapper"
_PAINTS = {
    **dict(zip(FLASH_PARTS, ("t0", "t1", "t2", "t4"), strict=True)),
    DRIVER: "t8",
    f"{_CPU}{_OWN}": "t5",
}
_TASK_PAINTS = ("t6", "t7", "c4")
_LAST = {_OTHERS: "c7", WAITING: "t3", OUTSIDE: "t3"}
NOTE = (
    "Flash time is how long the chip was busy, as it counted itself; the rest is mostly CPU time. "
    "CPU work beside a busy chip hides in flash time."
)


def task_name(name: str, own: str) -> str:
    """What a task is called; `own` is the agent's, which does the work, and all of the kernel's
    workers (`kworker/u2:1`) are one.
    """
    return own if name in _AGENTS else name.partition("/")[0]


def parts_of(
    counted: Mapping[str, float | None], duration_ns: float, tasks: Sequence[TaskTime]
) -> dict[str, float]:
    """The time of a phase or step in ns; `counted` has its figures of the flash."""
    flash = {part: float(counted.get(key) or 0) for part, key in FLASH_PARTS.items()}
    outside_ns = max(duration_ns - sum(flash.values()), 0.0)
    if not tasks:
        return {**flash, OUTSIDE: outside_ns}
    code: Counter[str] = Counter()
    for task in tasks:
        if task["name"] != _IDLE and task["code_ns"]:
            code[f"{_CPU}{task_name(task['name'], _OWN)}"] += task["code_ns"]
    beside = {DRIVER: float(sum(task["driver_ns"] for task in tasks)), **code}
    # What the chip did between the end and the reading of its counters is in `counted` only, and
    # code that was executed at the end and not charged yet is in no duration.
    fits = min(outside_ns / (sum(beside.values()) or 1), 1.0)
    beside = {part: fits * ns for part, ns in beside.items()}
    return {**flash, **beside, WAITING: max(outside_ns - sum(beside.values()), 0.0)}


def outside_of(parts: Mapping[str, float]) -> float:
    """How much of the time is not the flash's."""
    return sum(ns for part, ns in parts.items() if part not in FLASH_PARTS)


def folded(every: Iterable[Mapping[str, float]]) -> tuple[list[dict[str, float]], dict[str, str]]:
    """All of them with the largest tasks and the rest as one, and the colour of each part by its
    name in `svg.PAINT`, in order.
    """
    bars = [Counter(dict(parts)) for parts in every]
    most: Counter[str] = Counter()
    for parts in bars:
        for part, ns in parts.items():
            if part.startswith(_CPU) and part not in _PAINTS:
                most[part] = max(most[part], ns)
    told = [part for part, _ in most.most_common(len(_TASK_PAINTS))]
    for parts in bars:
        for part in set(parts) & set(most) - set(told):
            parts[_OTHERS] += parts.pop(part)
    paints = {**_PAINTS, **dict(zip(told, _TASK_PAINTS, strict=False)), **_LAST}
    own = {*FLASH_PARTS, *(part for parts in bars for part in parts)}
    return [dict(parts) for parts in bars], {p: c for p, c in paints.items() if p in own}
