"""The part `flash`: flash operations per megabyte of user data, mounts, and large directories.

Everything here is counted or is virtual time: one run tells all, and a loaded host changes
nothing. The CPU is free, so that times are those of the chip; only the directories are measured
with the board's prices, because what they are asked is what the CPU has to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench import flash_plans as plans
from bench.cases import build_program
from bench.guest import Guest, Runner
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream
from ffslab.results.metrics import counter_difference
from ffslab.workloads.ffsmark.result import PHASES as WORKLOAD_PHASES

RESULT = "/tmp/result"
Counters = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Phase:
    """What happened between two snapshots.

    `flash` and `chip` are what the monitor's and the chip's counters gained, `own` what those of
    the file system gained (empty if it has none, or was mounted in the phase). `ns` is the time of
    `operations` operations on `user_bytes` bytes, or of a mount.
    """

    flash: Counters
    chip: Counters
    own: Counters
    ns: int
    operations: int = 0
    user_bytes: int = 0

    @property
    def read(self) -> int:
        """Pages of which data or OOB were read."""
        return self.flash["pages_read"] + self.flash["oob_reads"]

    @property
    def programmed(self) -> int:
        """Programs of a page, or of a part of one."""
        return self.flash["pages_programmed"] + self.flash["oob_programs"]

    @property
    def erased(self) -> int:
        return self.flash["blocks_erased"]

    @property
    def other_reads(self) -> int:
        """Reads of a yaffs2 that neither moved a page nor verified one: what users asked for."""
        return self.read - self.own["gc_copies"] - self.own["pages_verified"]

    @property
    def other_programs(self) -> int:
        """Programs of a yaffs2 that none of its statistics explains: 0."""
        names = ("data_writes", "header_writes", "summary_writes", "checkpoint_writes", "gc_copies")
        return self.programmed - sum(self.own[name] for name in names)


@dataclass(frozen=True, slots=True)
class WorkloadCost:
    """A workload on a file system. `sources`: the phase that its statistics explain, if wider."""

    filesystem: str
    workload: str
    phase: Phase
    page_bytes: int
    sources: Phase | None = None

    def per_mib(self, count: int) -> float:
        """A count per MiB that the workload wrote."""
        return count * plans.MIB / self.phase.user_bytes

    @property
    def write_amplification(self) -> float:
        """Bytes of the pages programmed ÷ bytes that the workload wrote."""
        return self.phase.programmed * self.page_bytes / self.phase.user_bytes


@dataclass(frozen=True, slots=True)
class MountCost:
    """A mount, with UBI's attach; `first_read_ns` is what opening and reading 4 KB took then."""

    filesystem: str
    how: str
    phase: Phase
    first_read_ns: int
    by_checkpoint: bool


@dataclass(frozen=True, slots=True)
class DirectoryCost:
    """Operations on a directory of `entries` entries, with the board's CPU."""

    filesystem: str
    operation: str
    entries: int
    phase: Phase

    @property
    def ns_per_operation(self) -> float:
        return self.phase.ns / self.phase.operations

    @property
    def cpu_ns_per_operation(self) -> float:
        """The time in which neither the chip nor its driver was busy: the file system's own."""
        driven = self.phase.chip["busy_ns"] + self.phase.chip["driver_ns"]
        return (self.phase.ns - driven) / self.phase.operations


@dataclass(frozen=True, slots=True)
class FlashCosts:
    """All figures of the part."""

    sizes: plans.Sizes
    workloads: tuple[WorkloadCost, ...] = ()
    mounts: tuple[MountCost, ...] = ()
    directories: tuple[DirectoryCost, ...] = ()

    def raw(self) -> dict[str, Any]:
        """Plain values for --json."""
        return asdict(self)


# ---- from records to phases ----


@dataclass(slots=True)
class Observed:
    """A guest's records by label: the monitor's counters, captured files, times of steps."""

    counters: dict[str, Counters] = field(default_factory=dict)
    files: dict[tuple[str, str], Counters] = field(default_factory=dict)
    steps_ns: dict[str, int] = field(default_factory=dict)

    def phase(self, name: str) -> Phase:
        """The phase of a plan of flash_plans."""
        result = self.files.get((RESULT, name), {})
        return Phase(
            counter_difference(self.counters[f"{name}:start"], self.counters[f"{name}:end"]),
            self._gained((plans.CHIP_STATISTICS,), name),
            self._gained(plans.STATISTICS.values(), name),
            result.get("ns", self.steps_ns[name] + self.steps_ns.get(f"{name}:attach", 0)),
            result.get("operations", 0),
            result.get("bytes", 0),
        )

    def last(self, paths: Iterable[str], label: str) -> Counters:
        """What the one of these files that was captured with the label says."""
        counters = (self.files.get((path, label), {}) for path in paths)
        return next(filter(None, counters), {})

    def _gained(self, paths: Iterable[str], name: str) -> Counters:
        paths = tuple(paths)
        return counter_difference(
            self.last(paths, f"{name}:start"), self.last(paths, f"{name}:end")
        )


def observe(stream: RecordStream) -> Observed:
    """Sorts records by label. A captured file comes before the step that captured it."""
    observed = Observed()
    text = ("", "")
    for record in stream.records:
        match record["type"]:
            case "flash":
                observed.counters[record["label"]] = record["counters"]
            case "file":
                text = (record["path"], record["text"])
            case "step":
                label = record["label"]
                if record["verb"] == "capture":
                    observed.files[text[0], label] = _numbers(text[1])
                elif label and record["verb"] != "snapshot":
                    observed.steps_ns[label] = record["t_end_ns"] - record["t_start_ns"]
    return observed


def _numbers(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


# ---- measuring ----


@dataclass(frozen=True, slots=True)
class Measurer:
    """Runs the guests of the part."""

    lab: LabBuild
    runner: Runner
    scratch: Path
    tell: Callable[[str], None]
    program: bytes
    sizes: plans.Sizes

    def observe(self, case: Case, plan: str) -> Observed:
        return observe(self.runner.records(self._guest(case, plan)))

    def observe_crash(self, case: Case) -> Observed:
        """A guest that ends with the file system mounted, then one with its chip."""
        flash = self.scratch / "crashed-flash"
        first = self._guest(case, plans.crash_plan(case, self.sizes))
        self.runner.records(first, keep_flash=flash)
        guest = self._guest(case, plans.after_crash_plan(case))
        return observe(self.runner.records(guest, flash=flash))

    def _guest(self, case: Case, plan: str) -> Guest:
        return Guest(self.lab, case, plan, {plans.PROGRAM: self.program})


def measure(
    lab: LabBuild,
    runner: Runner,
    scratch: Path,
    tell: Callable[[str], None],
    sizes: plans.Sizes | None = None,
    filesystems: tuple[str, ...] = plans.FILESYSTEMS,
    *,
    ffsmark: bool = True,
) -> FlashCosts:
    """All figures of the file systems; InfrastructureError if a guest does not pass."""
    sizes = sizes or plans.Sizes()
    program = build_program(plans.PROGRAM, scratch)
    measurer = Measurer(lab, runner, scratch, tell, program, sizes)
    cases = plans.cost_cases()
    free = {name: cases[name, "free"] for name in filesystems}
    workloads = [cost for case in free.values() for cost in _workloads(measurer, case)]
    if ffsmark:
        states = {name: ("free",) if name in plans.FREE_ONLY else ("free", "aged") for name in free}
        chosen = [cases[name, state] for name, all_of in states.items() for state in all_of]
        workloads += [_ffsmark(measurer, case) for case in chosen]
    return FlashCosts(
        sizes,
        tuple(workloads),
        tuple(cost for case in free.values() for cost in _mounts(measurer, case)),
        tuple(
            cost
            for name in plans.DIRECTORY_FILESYSTEMS
            if name in free
            for cost in _directories(measurer, free[name])
        ),
    )


def _workloads(measurer: Measurer, case: Case) -> Iterator[WorkloadCost]:
    name, page_bytes = case.filesystem.name, case.board.chip.page_bytes
    for record in measurer.sizes.records:
        measurer.tell(f"{name}: sequential, {record} bytes")
        observed = measurer.observe(case, plans.sequential_plan(case, measurer.sizes, record))
        yield WorkloadCost(name, f"sequential-{record}", observed.phase("write"), page_bytes)
    measurer.tell(f"{name}: overwrites")
    observed = measurer.observe(case, plans.overwrite_plan(case, measurer.sizes))
    for phase in ("overwrite", "again"):
        yield WorkloadCost(name, phase, observed.phase(phase), page_bytes)
    measurer.tell(f"{name}: small files")
    observed = measurer.observe(case, plans.create_plan(case, measurer.sizes))
    yield WorkloadCost(name, "create", observed.phase("create"), page_bytes)


def _ffsmark(measurer: Measurer, case: Case) -> WorkloadCost:
    """From the start of FFSMark's creation to the end of its deletion."""
    name, state = case.filesystem.name, case.state.name
    measurer.tell(f"{name}: FFSMark, {state}")
    guest = Guest(measurer.lab, case, plans.ffsmark_plan(case))
    stream = measurer.runner.records(guest)
    observed = observe(stream)
    phases = [p for p in stream.of_type("phase") if p["phase"] in WORKLOAD_PHASES]
    before, after = (
        observed.counters[label]
        for label in (f"{WORKLOAD_PHASES[0]}:start", f"{WORKLOAD_PHASES[-1]}:end")
    )
    phase = Phase(
        counter_difference(before, after),
        {},
        {},
        sum(p["t_end_ns"] - p["t_start_ns"] for p in phases),
        user_bytes=sum(p["bytes_written"] for p in phases),
    )
    return WorkloadCost(
        name, f"ffsmark-{state}", phase, case.board.chip.page_bytes, observed.phase("whole")
    )


def _mounts(measurer: Measurer, case: Case) -> Iterator[MountCost]:
    name = case.filesystem.name
    measurer.tell(f"{name}: mounts")
    observed = measurer.observe(case, plans.mount_plan(case, measurer.sizes))
    yield _mount(name, "clean", observed, "clean")
    if plans.is_yaffs(case):
        yield _mount(name, "scan", observed, "scan")
    yield _mount(name, "crash", measurer.observe_crash(case), "crash")
    if name == plans.SUMMARIES_OFF:
        bare = plans.with_options(case, "disable-summary")
        observed = measurer.observe(bare, plans.mount_plan(bare, measurer.sizes))
        yield _mount(name, "scan-bare", observed, "scan")
        yield _mount(name, "crash-bare", measurer.observe_crash(bare), "crash")


def _mount(filesystem: str, how: str, observed: Observed, phase: str) -> MountCost:
    first_read = observed.phase(f"{phase}-read")
    statistics = observed.last(plans.STATISTICS.values(), f"{phase}:end")
    by_checkpoint = statistics.get("mounted_by_checkpoint") == 1
    return MountCost(filesystem, how, observed.phase(phase), first_read.ns, by_checkpoint)


def _directories(measurer: Measurer, case: Case) -> Iterator[DirectoryCost]:
    name, busy = case.filesystem.name, replace(case, cpu_scale=1.0)
    for entries in measurer.sizes.directories:
        measurer.tell(f"{name}: directory of {entries}")
        observed = measurer.observe(busy, plans.directory_plan(busy, entries, measurer.sizes))
        for operation in plans.DIRECTORY_OPERATIONS:
            yield DirectoryCost(name, operation, entries, observed.phase(operation))
