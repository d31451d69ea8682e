"""What the report knows about a case of workload `tree`: frozen values, free of any file format.

`ffslab.workloads.tree.report.load` fills these; series, sentences, tables and charts read
only these.
Durations are virtual nanoseconds, sizes bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ffslab.report.data import Run
from ffslab.workloads.tree.report.words import Role

CPU = "cpu_scale"
AGENT = "the agent"  # what does the steps
# What the memory of a mounted file system is made of: key, name, colour.
MEMORY_PARTS: tuple[tuple[str, str, str], ...] = (
    ("filesystem", "the file system’s own caches", "t2"),
    ("kmalloc", "kmalloc", "t1"),
    ("inodes", "inodes and directory entries, which the kernel gives back when it must", "t0"),
    ("vmalloc", "vmalloc", "t3"),
    ("rest", "other caches, per CPU", "c7"),
)


@dataclass(frozen=True)
class Task:
    """What one task did on the flash during a step."""

    name: str
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    oob_pages: int
    busy_ns: int


@dataclass(frozen=True)
class Step:
    """One step of a case. `duration_ns` is None when it did not end, `flash_ns` (time in the
    driver) when nobody counted.
    """

    role: Role
    index: int
    phase: str
    prepared: bool
    status: str
    errno_name: str
    duration_ns: float | None
    flash_ns: float | None = None
    pages_read: int | None = None
    pages_programmed: int | None = None
    blocks_erased: int | None = None
    directories: int | None = None
    files: int | None = None
    found: int | None = None
    tasks: tuple[Task, ...] = ()
    attach_ns: float | None = None  # of a mount, how long attaching UBI took of it

    @property
    def ok(self) -> bool:
        return self.status == "ok"


@dataclass(frozen=True)
class Memory:
    """Growth of the kernel's memory since before the file system was there, after a step."""

    role: Role | None
    label: str
    prepared: bool
    parts: Mapping[str, int]
    total_bytes: int
    unexplained_bytes: int
    largest: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Image:
    """The image that was written to a case's flash."""

    tree: str
    tool: str
    command: str
    image_bytes: int
    flash_bytes: int
    tree_bytes: int
    write_ns: float | None

    @property
    def ratio(self) -> float:
        """Bytes of the tree's files ÷ bytes of the image."""
        return self.tree_bytes / self.image_bytes if self.image_bytes else 0.0


@dataclass(frozen=True)
class TreeCase:
    """One case. `line` has the axes that tell configurations apart, `numbers` its place on the
    numeric ones, `settings` what a figure must say it is for. `twin` is what cases share that
    differ in the processor's speed only.
    """

    id: str
    seed: str
    outcome: str
    passed: bool
    reason: str
    part: str
    line: Mapping[str, str]
    numbers: Mapping[str, float]
    shape: str
    words: tuple[str, ...]
    cpu_scale: float
    settings: Mapping[str, str]
    twin: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...] = ()
    memory: tuple[Memory, ...] = ()
    image: Image | None = None

    @property
    def whole_steps(self) -> tuple[Step, ...]:
        """The steps before the first that did not end well: of those after it, nobody knows what
        they were done to.
        """
        whole = []
        for step in self.steps:
            if not step.ok:
                break
            whole.append(step)
        return tuple(whole)

    @property
    def broken(self) -> Step | None:
        """The first step that did not end well."""
        return next((step for step in self.steps if not step.ok), None)


@dataclass(frozen=True)
class TreeRun:
    """A run: `run` has what every report shows, `cases` the figures.

    `labels` has what a case's configuration is called, by the case's id; `lines` the axes of each
    such configuration; `parts` the study's parts with titles.
    """

    run: Run
    cases: tuple[TreeCase, ...]
    labels: Mapping[str, str]
    lines: Mapping[str, Mapping[str, str]]
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[TreeCase, ...]:
        """The cases that figures are of: all but those with a free processor, which stand in the
        table of all steps; these, if there are no others.
        """
        charged = tuple(case for case in self.cases if case.cpu_scale > 0)
        return charged or self.cases
