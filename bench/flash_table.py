"""The goals of the part `flash` and its tables, for a terminal or as Markdown: pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.flash_cost import DirectoryCost, FlashCosts, MountCost, WorkloadCost
from bench.flash_plans import MIB, Sizes
from bench.ratios import Goal

GOALS_FOR = "yaffs2"
SEQUENTIAL_GOALS = {GOALS_FOR: Goal(1.03), "logfs": Goal(1.10)}
DIRECTORY_GOALS_FOR = (GOALS_FOR, "logfs")
# The ratio, where it is not that of the logarithms. As many look-ups among few entries of LogFS
# find what they need in pages of flash that others have read, among many they read it each: a step,
# and no growth. A walk would take eight times as long.
DIRECTORY_GOALS: Mapping[tuple[str, str], float] = {("logfs", "lookup"): 1.8}
OTHER_READS_GOAL = Goal(0)
MOUNT_GOALS = {"clean": Goal(0.05, unit="s"), "scan": Goal(0.3, unit="s")}
MOUNT_GOALS["crash"] = MOUNT_GOALS["scan"]

LOGFS_OBJECTS = {
    "data": ("data_written",),
    "pointers": tuple(f"indirect_{level}_written" for level in (1, 2, 3, 4)),
    "inodes": ("inodes_written",),
    "of inode file": ("inode_file_1_written", "inode_file_2_written"),
}

_MOUNTS = {
    "clean": "after a clean unmount",
    "scan": "by scan, no-checkpoint-read",
    "crash": "after a crash",
    "scan-bare": "by scan, disable-summary",
    "crash-bare": "after a crash, disable-summary",
}
_OPERATIONS = {
    "create": "create",
    "lookup": "look up, cold dentries",
    "lookup-all": "look up each, cold dentries",
    "list": "read the directory",
    "remove": "delete",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A figure with its goal."""

    name: str
    value: float
    goal: Goal

    @property
    def met(self) -> bool:
        return self.goal.is_met(self.value)

    def __str__(self) -> str:
        return f"{self.goal} {'met' if self.met else 'missed'}"


@dataclass(frozen=True, slots=True)
class Table:
    """A row of one cell is a heading of those below it. The last column is text, as the first."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


# ---- goals ----


def checks(costs: FlashCosts) -> list[Check]:
    """Every figure that has a goal."""
    all_checks = [sequential_check(cost) for cost in costs.workloads]
    all_checks += [overwrite_check(cost) for cost in costs.workloads]
    all_checks += [mount_check(cost) for cost in costs.mounts]
    all_checks += [directory_check(costs, cost) for cost in costs.directories]
    return [check for check in all_checks if check]


def sequential_check(cost: WorkloadCost) -> Check | None:
    """Write amplification of a sequential write."""
    goal = SEQUENTIAL_GOALS.get(cost.filesystem)
    if not goal or not cost.workload.startswith("sequential"):
        return None
    name = f"{cost.filesystem}, {cost.workload}: write amplification"
    return Check(name, cost.write_amplification, goal)


def overwrite_check(cost: WorkloadCost) -> Check | None:
    """Reads of overwrites of whole pages that no page moved or verified explains."""
    if cost.filesystem != GOALS_FOR or cost.workload not in ("overwrite", "again"):
        return None
    return Check(f"{cost.workload}: other reads", cost.phase.other_reads, OTHER_READS_GOAL)


def mount_check(cost: MountCost) -> Check | None:
    """Time of a mount; one that did not go the way it should have takes for ever."""
    if cost.filesystem != GOALS_FOR or cost.how not in MOUNT_GOALS:
        return None
    as_meant = cost.by_checkpoint == (cost.how == "clean")
    seconds = cost.phase.ns / 1e9 if as_meant else math.inf
    return Check(f"mount, {cost.how}", seconds, MOUNT_GOALS[cost.how])


def directory_check(costs: FlashCosts, cost: DirectoryCost) -> Check | None:
    """CPU time per operation on the largest directory ÷ on the smallest.

    A balanced tree may grow with the logarithm; a walk over entries or objects would grow with
    their number. The first look-up after a mount reads the header of every entry, by design of
    the format: a directory holds no names.
    """
    largest, smallest = costs.sizes.directories[-1], costs.sizes.directories[0]
    if cost.filesystem not in DIRECTORY_GOALS_FOR or cost.entries != largest:
        return None
    if cost.operation == "first":
        return None
    ratio = cpu_ratio(costs.directories, cost.filesystem, cost.operation)
    logarithmic = math.log(largest) / math.log(smallest)
    limit = DIRECTORY_GOALS.get((cost.filesystem, cost.operation), logarithmic)
    name = f"{cost.filesystem}, directory, {cost.operation}: CPU time"
    return Check(name, ratio, Goal(limit))


def cpu_ratio(directories: Iterable[DirectoryCost], filesystem: str, operation: str) -> float:
    """CPU time per operation, largest directory ÷ smallest."""
    chosen = _sizes_of(directories, filesystem, operation)
    return chosen[-1].cpu_ns_per_operation / chosen[0].cpu_ns_per_operation


def _sizes_of(
    directories: Iterable[DirectoryCost], filesystem: str, operation: str
) -> list[DirectoryCost]:
    chosen = [d for d in directories if (d.filesystem, d.operation) == (filesystem, operation)]
    return sorted(chosen, key=lambda cost: cost.entries)


# ---- tables ----


def tables(costs: FlashCosts) -> list[Table]:
    """All tables, in the order to be read."""
    return [
        operations_table(costs),
        sources_table(costs),
        objects_table(costs),
        mounts_table(costs),
        directories_table(costs),
        first_lookups_table(costs),
    ]


def _size(count: int) -> str:
    for unit, name in ((MIB, "MiB"), (1024, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count:,} B"


def workload_titles(sizes: Sizes) -> dict[str, str]:
    """What each workload is, in the order of the tables."""
    file = _size(sizes.file_bytes)
    titles = {
        f"sequential-{record}": f"{file} in order, write() of {_size(record)}, fsync()"
        for record in sizes.records
    }
    record = _size(sizes.overwrite_bytes)
    return titles | {
        "overwrite": f"{sizes.overwrites:,} random {record} overwrites of that file, fsync()",
        "again": f"{sizes.overwrites_again:,} more",
        "create": f"{sizes.small_files:,} files of {sizes.small_bytes:,} B, sync",
        "ffsmark-free": "FFSMark, partition free",
        "ffsmark-aged": "FFSMark, partition aged",
    }


def _goal_cell(check: Check | None) -> str:
    return str(check) if check else ""


def operations_table(costs: FlashCosts) -> Table:
    """Per MiB of user data."""
    rows: list[tuple[str, ...]] = []
    for workload, title in workload_titles(costs.sizes).items():
        chosen = [cost for cost in costs.workloads if cost.workload == workload]
        rows += [(title,)] if chosen else []
        for cost in chosen:
            phase = cost.phase
            rows.append(
                (
                    cost.filesystem,
                    f"{cost.per_mib(phase.read):.1f}",
                    f"{cost.per_mib(phase.programmed):.1f}",
                    f"{cost.per_mib(phase.erased):.2f}",
                    f"{cost.write_amplification:.3f}",
                    _goal_cell(sequential_check(cost)),
                )
            )
    return Table(
        "Flash operations per MiB of user data",
        ("", "read", "programmed", "erased", "amplification", "goal"),
        tuple(rows),
    )


def sources_table(costs: FlashCosts) -> Table:
    """What yaffs2 says of its programs and reads, in pages."""
    rows: list[tuple[str, ...]] = []
    for workload, title in workload_titles(costs.sizes).items():
        for cost in costs.workloads:
            if cost.filesystem != GOALS_FOR or cost.workload != workload:
                continue
            phase = cost.sources or cost.phase
            names = ("data_writes", "header_writes", "summary_writes", "checkpoint_writes")
            rows.append((title,))
            rows.append(
                (
                    "",
                    *(f"{phase.own[name]:,}" for name in names),
                    f"{phase.own['gc_copies']:,}",
                    f"{phase.own['pages_verified']:,}",
                    f"{phase.other_reads:,}",
                    _goal_cell(overwrite_check(cost)),
                )
            )
    return Table(
        f"Pages of {GOALS_FOR}: programmed (first five), read (last three; a copy is both)",
        ("", "data", "headers", "summ.", "checkp.", "copies", "verified", "other", "goal"),
        tuple(rows),
    )


def objects_table(costs: FlashCosts) -> Table:
    """What logfs says of its objects and of its journal."""
    rows: list[tuple[str, ...]] = []
    for workload, title in workload_titles(costs.sizes).items():
        for cost in costs.workloads:
            if cost.filesystem != "logfs" or cost.workload != workload:
                continue
            own = (cost.sources or cost.phase).own
            groups = [sum(own[name] for name in names) for names in LOGFS_OBJECTS.values()]
            rows.append((title,))
            counts = (*groups, own["gc_objects"], own["commits"], own["journal_bytes"] // 1024)
            rows.append(("", *(f"{count:,}" for count in counts), ""))
    return Table(
        "Objects that logfs wrote, how many of them it moved; its journal",
        ("", *LOGFS_OBJECTS, "moved", "commits", "KiB", ""),
        tuple(rows),
    )


def mounts_table(costs: FlashCosts) -> Table:
    """Mounts of a partition with one file."""
    rows: list[tuple[str, ...]] = []
    for how, title in _MOUNTS.items():
        chosen = [cost for cost in costs.mounts if cost.how == how]
        rows += [(title,)] if chosen else []
        rows += [
            (
                cost.filesystem,
                f"{cost.phase.ns / 1e9:.4f}",
                f"{cost.phase.read:,}",
                f"{cost.first_read_ns / 1e9:.4f}",
                _goal_cell(mount_check(cost)),
            )
            for cost in chosen
        ]
    return Table(
        f"Mount of a partition that holds one file of {_size(costs.sizes.file_bytes)}",
        ("", "mount, s", "pages read", "first read, s", "goal"),
        tuple(rows),
    )


def directories_table(costs: FlashCosts) -> Table:
    """Microseconds per operation by size, and the CPU's share of them."""
    rows: list[tuple[str, ...]] = []
    for operation, title in _OPERATIONS.items():
        rows += [(title,)] if costs.directories else []
        for filesystem, chosen in _by_filesystem(costs, operation):
            ratio = cpu_ratio(costs.directories, filesystem, operation)
            rows.append(
                (
                    filesystem,
                    *(f"{cost.ns_per_operation / 1e3:,.1f}" for cost in chosen),
                    f"{chosen[-1].cpu_ns_per_operation / 1e3:,.1f}",
                    f"{ratio:.2f}",
                    _goal_cell(directory_check(costs, chosen[-1])),
                )
            )
    return Table(
        "µs per operation by entries of a directory; CPU of the last, and ÷ of the first",
        ("", *_entries(costs), "CPU", "ratio", "goal"),
        tuple(rows),
    )


def first_lookups_table(costs: FlashCosts) -> Table:
    """Milliseconds of the first look-up after a mount, by size."""
    rows = [
        (filesystem, *(f"{cost.ns_per_operation / 1e6:,.1f}" for cost in chosen), "")
        for filesystem, chosen in _by_filesystem(costs, "first")
    ]
    return Table(
        "ms of the first look-up after a mount by entries of a directory",
        ("", *_entries(costs), ""),
        tuple(rows),
    )


def _by_filesystem(costs: FlashCosts, operation: str) -> list[tuple[str, list[DirectoryCost]]]:
    filesystems = {cost.filesystem: None for cost in costs.directories}
    return [(name, _sizes_of(costs.directories, name, operation)) for name in filesystems]


def _entries(costs: FlashCosts) -> tuple[str, ...]:
    return tuple(f"{entries:,}" for entries in costs.sizes.directories)


# ---- printing ----


def text(shown: Sequence[Table]) -> str:
    """For a terminal of 80 columns."""
    return "\n\n".join(_text(table) for table in shown)


def _text(table: Table) -> str:
    full = [table.columns, *(row for row in table.rows if len(row) > 1)]
    widths = [max(len(row[i]) for row in full) for i in range(len(table.columns))]

    def line(row: Sequence[str]) -> str:
        if len(row) == 1:
            return row[0]
        figures = [f"{cell:>{width}}" for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        return "  ".join([f"  {row[0]:<{widths[0]}}", *figures, row[-1]]).rstrip()

    return "\n".join([table.title, *(line(row) for row in (table.columns, *table.rows))])


def markdown(shown: Sequence[Table]) -> str:
    """For a document."""
    return "\n\n".join(_markdown(table) for table in shown)


def _markdown(table: Table) -> str:
    align = ("---", *("---:" for _ in table.columns[1:-1]), "---")
    empty = ("",) * (len(table.columns) - 1)
    rows = [row if len(row) > 1 else (f"**{row[0]}**", *empty) for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in (table.columns, align, *rows)]
    return "\n".join([f"{table.title}:", "", *lines])
