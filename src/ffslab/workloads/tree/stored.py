"""The keys of a result that are tree's own: their types (docs/result-format.md describes them)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.protocol.records import TaskRecord
from ffslab.results.result import CaseResult


class PartResult(TypedDict):
    """One phase of a step."""

    phase: str
    duration_ns: int


class StepTimes(TypedDict, total=False):
    """How long the chip was busy with a step; null where it does not count that."""

    flash_read_ns: int | None
    flash_program_ns: int | None
    flash_erase_ns: int | None
    flash_transfer_ns: int | None
    flash_ns: int | None


class StepFlash(StepTimes):
    """What a step asked of the flash; null without a monitor."""

    in_driver_ns: NotRequired[int | None]
    mtd_calls: NotRequired[int | None]
    pages_read: int | None
    pages_programmed: int | None
    blocks_erased: int | None
    oob_reads: int | None
    oob_programs: int | None
    corrected_bitflips: NotRequired[int | None]
    read_errors: NotRequired[int | None]


class WalkCounts(TypedDict):
    """What a step walked; null if it walks no tree."""

    directories: int | None
    files: int | None
    links: int | None
    others: int | None
    bytes: int | None
    depth: int | None
    found: int | None
    digest: str | None


class TreeStep(StepFlash, WalkCounts):
    """One word of the workload's steps."""

    index: int
    step: str
    number: int
    phase: str
    prepared: bool
    status: str
    errno_name: str
    t_start_ns: int | None
    duration_ns: int | None
    parts: list[PartResult]
    bytes_read: int
    bytes_written: int
    tasks: list[TaskRecord]


class SlabGroups(TypedDict):
    """Caches of kernel objects (`ffslab.workloads.tree.memory`)."""

    filesystem: int
    kmalloc: int
    inodes: int
    other: int


class MemoryGrowth(TypedDict):
    """How much memory grew, in bytes; [[name, bytes], …] of what did."""

    slab_bytes: SlabGroups
    vmalloc_bytes: int
    kernel_stack_bytes: int
    percpu_bytes: int
    page_cache_bytes: int
    other_bytes: int
    total_bytes: int
    caches: list[list[str | int]]
    vmalloc: list[list[str | int]]


class MemoryResult(MemoryGrowth):
    """The same after a phase."""

    label: str
    prepared: bool


class TreeResult(TypedDict):
    """The key `tree`."""

    steps: list[TreeStep]
    memory: list[MemoryResult]


class ImageResult(TypedDict):
    """The image on the flash; what the guest that wrote it did not report is null."""

    tree: str
    tree_sha256: str
    tool: str
    command: str
    image_bytes: int
    flash_bytes: int
    tree_bytes: int
    sha256: str
    ratio: float | None
    write_ns: int | None
    pages: int | None
    blocks: int | None


class TreeKeys(TypedDict):
    """Null for other workloads; runs of the first versions have neither."""

    tree: NotRequired[TreeResult | None]
    image: NotRequired[ImageResult | None]


def tree_of(result: CaseResult) -> TreeResult | None:
    """The key `tree` of a result of whichever workload."""
    return cast(TreeKeys, result).get("tree")


def image_of(result: CaseResult) -> ImageResult | None:
    """The key `image` of a result of whichever workload."""
    return cast(TreeKeys, result).get("image")
