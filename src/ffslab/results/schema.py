"""What a result's figures are: each metric once, with its unit, its meaning and what is better.

A *metric* is a kind of figure: `duration_ns`, `pages_programmed`. A *figure* is a metric at a
*place* of one case: the phase `creation`, the step `mount-2`, the memory after it. Its key is
`creation.duration_ns`. The tables of `results.store`, the report's catalogue, `ffslab compare`
and docs/metrics.md take names, units, types and meanings from here and from the `metrics` module
of each workload.

Limits: absolute times (`t_start_ns`) and texts of a result are no metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, cast

from ffslab.protocol.records import OK, TaskRecord
from ffslab.results.result import CaseResult, PhaseResult

Better = Literal["lower", "higher", "neither"]
ALL_KINDS: tuple[str, ...] = ()  # no kind in particular
# What brings the flash to its initial state: phases of the case's guest, and another guest's.
SETUP_PHASES = ("prepare", "invalidate")
PREPARATION = "preparation"

# What a figure that grew is, and one that fell: in words, by what is counted.
_WORDS: Mapping[str, tuple[str, str]] = {
    "_per_s": ("faster", "slower"),
    "_ns": ("slower", "faster"),
    "_bytes": ("larger", "smaller"),
}
_LONGER = ("longer", "shorter")
_MORE = ("more", "fewer")
_HIGHER = ("higher", "lower")
_MORE_ROOM = ("more", "less")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One kind of figure. `name` is that of the stored figure, the unit last.

    A stored value divided by `scale` is in `unit`. `exact`: an integer. `kinds`: the workloads that
    have it. `grown`, `fallen`: what a larger and a smaller value is called ("slower", "faster").
    `of_flash`: the report's table of what each case did to the flash has it. `sums`: twice the work
    makes it twice as large.
    """

    name: str
    title: str
    meaning: str
    unit: str = ""
    scale: float = 1.0
    better: Better = "lower"
    exact: bool = True
    kinds: tuple[str, ...] = ALL_KINDS
    words: tuple[str, str] | None = None
    of_flash: bool = False
    sums: bool = False

    @property
    def is_rate(self) -> bool:
        """Whether it is of a unit of work as it stands, however much of it there is."""
        return self.name.endswith(("_per_s", "_amplification", "mean_ns"))

    @property
    def grown(self) -> str:
        return self._words[0]

    @property
    def fallen(self) -> str:
        return self._words[1]

    @property
    def is_time(self) -> bool:
        """Whether it is virtual time."""
        return self.name.endswith("_ns")

    @property
    def _words(self) -> tuple[str, str]:
        if self.words is not None:
            return self.words
        known = (words for ending, words in _WORDS.items() if self.name.endswith(ending))
        return next(known, _MORE if self.exact else _HIGHER)


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric's value at a place of a case; `main`: one of the few that a reader asks for first.

    A place below another is behind a slash: `transactions/read` are the reads of that phase.
    """

    metric: Metric
    place: str
    value: float
    main: bool = False

    @property
    def key(self) -> str:
        """Names it within its case."""
        return f"{self.place}.{self.metric.name}" if self.place else self.metric.name

    @property
    def phase(self) -> str:
        """The phase that it is of: its time and its flash operations explain this figure."""
        return self.place.partition("/")[0]

    @property
    def better(self) -> Better:
        """Which way is better. Of what only brings the flash to its initial state, neither."""
        is_setup = self.phase in SETUP_PHASES or self.phase.startswith(PREPARATION)
        return "neither" if is_setup else self.metric.better


@dataclass(frozen=True, slots=True)
class Place:
    """A place with a title of its own, and what its time is."""

    name: str
    title: str
    meaning: str


@dataclass(frozen=True, slots=True)
class TaskWork:
    """What one task asked of the flash at a place; the counts by the names of their metrics."""

    place: str
    task: str
    counts: Mapping[str, int]


def _seconds(name: str, title: str, meaning: str) -> Metric:
    return Metric(name=name, title=title, unit="s", scale=1e9, meaning=meaning, sums=True)


def _flash_time(name: str, title: str, meaning: str) -> Metric:
    return replace(_seconds(name, title, meaning), words=_LONGER)


DURATION = _seconds(
    "duration_ns", "Time", "virtual time from the begin to the end of the phase or step"
)
REST = _flash_time(
    "rest_ns", "Time outside the flash", "time of the phases minus flash time: mostly CPU"
)
VIRTUAL = _seconds("virtual_ns", "Virtual time of the case", "boot to the last step")
MEASURED = Metric(
    name="measured_share",
    title="Measured of what was asked for",
    meaning="1, or less of a case whose outcome is short",
    better="higher",
    exact=False,
)

# What MTD itself counted, where no monitor did (`ffslab.results.mtd_statistics`).
MTD_METRICS = (
    Metric(
        name="corrected_bits",
        title="Bits corrected, as MTD counted",
        unit="bits",
        meaning="by the ECC; on a board without flashmon",
    ),
    Metric(
        name="ecc_failures",
        title="ECC failures, as MTD counted",
        unit="failures",
        meaning="not corrected; on such a board",
    ),
    Metric(
        name="grown_bad_blocks",
        title="Blocks gone bad, as MTD counted",
        unit="blocks",
        meaning="marked as bad; on such a board",
    ),
)


def _work(name: str, title: str, meaning: str, unit: str = "files") -> Metric:
    """How much the workload did: neither good nor bad."""
    return Metric(name=name, title=title, meaning=meaning, unit=unit, better="neither")


def _flash_count(name: str, title: str, meaning: str, unit: str) -> Metric:
    return Metric(name=name, title=title, unit=unit, meaning=meaning, of_flash=True, sums=True)


FLASH_COUNTS = (
    _flash_count("pages_read", "Pages read", "page reads on the chip", "pages"),
    _flash_count("pages_programmed", "Pages programmed", "page programs on the chip", "pages"),
    _flash_count("blocks_erased", "Blocks erased", "erases on the chip", "blocks"),
)


FLASH_PARTS = (
    _flash_time("flash_read_ns", "Flash time, reads", "reads: commands, array times and ECC"),
    _flash_time(
        "flash_program_ns", "Flash time, programs", "programs: commands, array times and ECC"
    ),
    _flash_time("flash_erase_ns", "Flash time, erases", "erases: commands and array times"),
    _flash_time("flash_transfer_ns", "Flash time, transfers", "bytes on the chip's bus, both ways"),
)
FLASH_TIME = _flash_time(
    "flash_ns", "Flash time", "how long the chip was busy, as it counted itself"
)
IN_DRIVER = _flash_time(
    "in_driver_ns",
    "Time in the driver",
    "of all tasks: each that waits for the chip counts",
)


def _erases(
    name: str, title: str, meaning: str, *, exact: bool = True, of_flash: bool = True
) -> Metric:
    return Metric(
        name=name, title=title, unit="erases", meaning=meaning, exact=exact, of_flash=of_flash
    )


def _throughput(name: str, what: str, moved: str) -> Metric:
    return Metric(
        name=name,
        title=f"{what} throughput",
        unit="MB/s",
        scale=1e6,
        meaning=f"{moved} ÷ time of its phases",
        better="higher",
        exact=False,
    )


# The figures of a phase, in the order of the table `phases`.
PHASE_METRICS = (
    DURATION,
    _work("files_created", "Files created", "by the workload"),
    _work("files_deleted", "Files deleted", "by the workload"),
    _work("files_read", "Files read", "by the workload"),
    _work("files_appended", "Files appended to", "by the workload"),
    _work("bytes_read", "Bytes read", "by the workload", "B"),
    _work("bytes_written", "Bytes written", "by the workload", "B"),
    *FLASH_COUNTS,
    *FLASH_PARTS,
    FLASH_TIME,
    IN_DRIVER,
    replace(
        _erases("erases_spread", "Wear spread", "most erased minus least erased block"),
        words=_HIGHER,
    ),
    _erases(
        "erases_max",
        "Most erases of a block",
        "of the block that was erased most",
        of_flash=False,
    ),
    _throughput("read_bytes_per_s", "Read", "bytes the workload read"),
    _throughput("write_bytes_per_s", "Write", "bytes the workload wrote"),
    _erases(
        "erases_mean",
        "Mean erases per block",
        "mean over the partition's erase blocks",
        exact=False,
    ),
    _erases(
        "erases_std", "Erase standard deviation", "over the partition's erase blocks", exact=False
    ),
    Metric(
        name="write_amplification",
        title="Write amplification",
        meaning="bytes programmed ÷ bytes the workload wrote",
        exact=False,
        of_flash=True,
    ),
    Metric(
        name="read_amplification",
        title="Read amplification",
        meaning="bytes of the pages read ÷ bytes the workload read",
        exact=False,
        of_flash=True,
    ),
)
# What the report's table of the flash has of each case.
OF_FLASH = tuple(metric for metric in PHASE_METRICS if metric.of_flash)


def _latency(name: str, title: str, meaning: str, *, exact: bool = True) -> Metric:
    return Metric(name=name, title=title, unit="ms", scale=1e6, meaning=meaning, exact=exact)


ON_FLASH = _seconds(
    "on_flash_ns", "Time until on flash", "from the begin until what was written is on the flash"
)
ON_FLASH_MEAN = _latency(
    "on_flash_mean_ns",
    "Mean time until on flash",
    "operations and the flush behind them ÷ operations",
    exact=False,
)
SPACE_LEFT = Metric(
    name="available_bytes",
    title="Space available",
    unit="MiB",
    scale=2**20,
    meaning="to files, as the file system says (statfs)",
    better="higher",
    words=_MORE_ROOM,
)
MEMORY_USED = Metric(
    name="memory_used_bytes",
    title="RAM in use",
    unit="MiB",
    scale=2**20,
    meaning="the board's RAM less free memory and page cache",
    words=_MORE_ROOM,
)
# What the report's verdict compares beside figures of every result (`ffslab.results.criteria`).
DECISION_METRICS = (ON_FLASH, ON_FLASH_MEAN, SPACE_LEFT, MEMORY_USED)

# The figures of many operations of one kind, in the order of the table `latencies`.
LATENCY_METRICS = (
    Metric(name="count", title="Operations", meaning="how many there were", better="neither"),
    _flash_time("sum_ns", "Sum of latencies", "of all operations"),
    _latency("min_ns", "Smallest latency", "of the fastest operation"),
    _latency("max_ns", "Largest latency", "of the slowest operation"),
    _latency("p50_ns", "Latency p50", "that half of the operations do not exceed"),
    _latency("p90_ns", "Latency p90", "that 90 % of the operations do not exceed"),
    _latency("p99_ns", "Latency p99", "that 99 % of the operations do not exceed"),
    _latency("p999_ns", "Latency p99.9", "that 99.9 % of the operations do not exceed"),
    _latency("mean_ns", "Mean latency", "sum of latencies ÷ operations", exact=False),
)

CASE_METRICS = (VIRTUAL, MEASURED, *MTD_METRICS)
GENERAL = (*CASE_METRICS, REST, *PHASE_METRICS, *LATENCY_METRICS)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in GENERAL}


def figures_at(
    row: Mapping[str, object], where: str, metrics: Iterable[Metric], main: Iterable[str] = ()
) -> Iterator[Figure]:
    """The metrics that `row` has a number for; `main` are the names of those to be asked first."""
    chosen = frozenset(main)
    for metric in metrics:
        value = row.get(metric.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield Figure(metric, where, value, metric.name in chosen)


def timed_figures(
    row: Mapping[str, object], where: str, metrics: Iterable[Metric], main: Iterable[str] = ()
) -> Iterator[Figure]:
    """The same of a phase or step, and how much of its time is not the chip's."""
    yield from figures_at(row, where, metrics, main)
    duration, flash = row.get(DURATION.name), row.get(FLASH_TIME.name)
    if isinstance(duration, int) and isinstance(flash, int):
        # The chip may still be busy for others when a phase ends.
        yield Figure(REST, where, max(duration - flash, 0))


def phase_figures(
    phases: Iterable[PhaseResult], main: Mapping[str, Iterable[str]], prefix: str = ""
) -> Iterator[Figure]:
    """The figures of the phases that came to their end; `main` has names of metrics by phase."""
    for phase in phases:
        if phase["status"] == OK:
            name = phase["phase"]
            yield from timed_figures(phase, f"{prefix}{name}", PHASE_METRICS, main.get(name, ()))


def latency_figures(
    result: CaseResult, main: Mapping[str, Iterable[str]] = MappingProxyType({})
) -> Iterator[Figure]:
    """The figures of each kind of operation in each phase; `main` has names of metrics by kind."""
    for latency in result["latencies"]:
        if latency["count"]:
            where = f"{latency['phase']}/{latency['op']}"
            yield from figures_at(latency, where, LATENCY_METRICS, main.get(latency["op"], ()))


def task_work(where: str, tasks: Iterable[TaskRecord]) -> Iterator[TaskWork]:
    """What tasks asked of the flash at a place, from their rows in a result."""
    for task in tasks:
        row = cast(Mapping[str, int], task)
        counts = {metric.name: row[metric.name] for metric in FLASH_COUNTS}
        yield TaskWork(where, task["name"], counts)


def case_figures(result: CaseResult) -> Iterator[Figure]:
    """What every case has: its time, and how much of what was asked for it measured.

    And what MTD counted, where a board has nobody else who counts.
    """
    if result["virtual_ns"] is not None:
        yield Figure(VIRTUAL, "", result["virtual_ns"])
    short = result.get("short")
    if short is None:
        yield Figure(MEASURED, "", 1)
    elif short["asked"]:
        yield Figure(MEASURED, "", short["measured"] / short["asked"], main=True)
    counted = result.get("mtd_statistics", {})
    yield from figures_at(counted, "", MTD_METRICS, [metric.name for metric in MTD_METRICS])
