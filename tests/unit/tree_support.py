"""Synthetic cases of workload `tree`: what the agent of each guest would report.

`tree_case` gives a case with any steps, `tree_records` the records of a guest; a test chooses the
phases, what they asked of the flash, and the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from host_support import cases_of
from made_records import end_record, lines_of, phase_record, start_record, tasks_record

from ffslab.model.case import Case
from ffslab.protocol.records import parse_records
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.result import tree_results

MIB = 2**20
COUNTERS = (
    "pages_read",
    "pages_programmed",
    "blocks_erased",
    "oob_reads",
    "oob_programs",
    "read_ns",
    "program_ns",
    "erase_ns",
)
SHAPE = {
    "directories": 213,
    "files": 1122,
    "links": 40,
    "others": 3,
    "bytes": 14_600_000,
    "depth": 7,
    "found": 0,
    "digest": "",
    "largest_directory": 90,
}
IMAGE_FACTS = {
    "tree": "embedded-rootfs",
    "tree_sha256": "a" * 64,
    "tool": "mkfs.jffs2 2.1.5",
    "command": "mkfs.jffs2 -n -e 131072 -l -d /tree -o image",
    "image_bytes": 7_300_000,
    "flash_bytes": 7_340_032,
    "tree_bytes": 14_600_000,
    "sha256": "b" * 64,
}


@dataclass(frozen=True)
class Phase:
    """A phase; `counters` is what they gained, `error` an errno's name, `tree` of SHAPE's keys."""

    name: str
    duration_ns: int = 1_000_000
    counters: Mapping[str, int] = field(default_factory=dict)
    tasks: Sequence[Mapping[str, Any]] = ()
    error: str = ""
    tree: Mapping[str, Any] | None = None
    bytes_written: int = 0
    monitor: bool = True


@dataclass(frozen=True)
class Memory:
    """Memory at one time, in bytes."""

    label: str
    free: int = 100 * MIB
    page_cache: int = 0
    anonymous: int = 0
    kernel_stack: int = 0
    page_table: int = 0
    percpu: int = 0
    slabs: Mapping[str, int] = field(default_factory=dict)
    vmalloc: Mapping[str, int] = field(default_factory=dict)


def tree_case(steps: str, filesystem: str = "jffs2") -> Case:
    """A case on jffs2 or, with UBI, on ubifs."""
    case = next(case for case in cases_of() if case.filesystem.name == filesystem)
    return replace(case, workload=Tree(steps=steps))


def tree_records(parts: Iterable[Phase | Memory], end: bool = True) -> bytes:
    """The records of a guest that went through `parts`; without `end` it was cut."""
    return lines_of(_records(tuple(parts), end))


def _records(parts: Sequence[Phase | Memory], end: bool) -> Iterator[Mapping[str, Any]]:
    yield start_record()
    further = [name for part in parts if isinstance(part, Phase) for name in part.counters]
    now, counters, errno = 1_000_000_000, dict.fromkeys([*COUNTERS, *further], 0), ""
    for part in parts:
        now += 10_000
        if isinstance(part, Memory):
            yield memory_record(part, now)
            continue
        before, counters = counters, {n: v + part.counters.get(n, 0) for n, v in counters.items()}
        flash = (before, counters) if part.monitor else ()
        times, wrote = (now, now + part.duration_ns), part.bytes_written
        errno, now = errno or part.error, times[1]
        yield phase_record("tree", part.name, times, flash, part.error, bytes_written=wrote)
        if part.monitor:
            yield tasks_record("tree", part.name, part.tasks)
        if part.tree is not None:
            yield {"type": "tree", "phase": part.name, **SHAPE, **part.tree}
    if end:
        yield end_record(now, errno)


def memory_record(memory: Memory, t_ns: int) -> dict[str, Any]:
    """A `memory` record; every object of a cache has 100 bytes."""
    return {
        "type": "memory",
        "label": memory.label,
        "t_ns": t_ns,
        "mem_free_bytes": memory.free,
        "page_cache_bytes": memory.page_cache,
        "anonymous_bytes": memory.anonymous,
        "kernel_stack_bytes": memory.kernel_stack,
        "page_table_bytes": memory.page_table,
        "percpu_bytes": memory.percpu,
        "slabs": [[name, size, size // 100, 100] for name, size in memory.slabs.items()],
        "vmalloc": [list(row) for row in memory.vmalloc.items()],
    }


def with_written(data: bytes) -> bytes:
    """The records with a `written` before the first phase's."""
    first, _, rest = data.partition(b"\n")
    written = {
        "type": "written",
        "path": "/image",
        "image_bytes": 7_340_032,
        "pages": 3584,
        "blocks": 56,
        "bad_blocks_skipped": 1,
    }
    return first + b"\n" + lines_of([written]) + rest


def results(case: Case, data: bytes, preparation: bytes | None = None) -> dict[str, Any]:
    """The key `tree` of a case's result, of the records of both its guests."""
    before = [] if preparation is None else [parse_records(preparation)]
    return tree_results(case, parse_records(data), before)
