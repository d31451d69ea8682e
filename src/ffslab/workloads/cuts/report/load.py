"""What the page keeps of a case of power cuts, and the texts beside its result.

Of the mounts after a cut it keeps the longest in each of some hundred stretches of the history, so
that no worst case is lost. Where chip and CPU took no time it is an estimate from the counts and
the board's figures, between two bounds: each operation's command, array and the driver's fixed part
alone; and the same with a whole page and its OOB area on the bus, through ECC and the driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import DamagedResultError
from ffslab.model.case import board_of
from ffslab.oracle.faults import PROGRAM
from ffslab.oracle.operations import FormatError
from ffslab.oracle.record import Record, parse_record
from ffslab.program import command
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import BETWEEN, FILESYSTEM, SEED, Case, Run, group_label
from ffslab.report.first.board import short_names
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.states import Logged, parse_log
from ffslab.workloads.cuts.stored import (
    CutsResult,
    StoredFinding,
    StoredSequences,
    StoredSeries,
    cuts_result,
    outcomes_of,
)

UNMOUNTING = "unmount"
_STRETCHES = 120  # of a history, each a point of a chart


@dataclass(frozen=True, slots=True)
class Mount:
    """The mount after a cut at `operation`: its counts and its time in ns, between two bounds."""

    operation: int
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    least_ns: float
    most_ns: float


@dataclass(frozen=True, slots=True)
class Own:
    """What became of a case's cuts. `mounts` are in order of operations; `uncut` is the mount
    without a cut.
    """

    workload: Cuts
    calls: int
    operations: int
    states: int
    states_possible: int
    outcomes: Mapping[str, int]
    findings: tuple[StoredFinding, ...]
    mounts: tuple[Mount, ...]
    uncut: Mount | None
    series: StoredSeries | None
    sequences: StoredSequences | None

    @property
    def longest(self) -> Mount:
        """The mount that took longest."""
        return max(self.mounts, key=_length)


@dataclass(frozen=True, slots=True)
class Named:
    """A case as the sections call it: its configuration, and where it differs from others."""

    id: str
    filesystem: str
    label: str
    place: str
    own: Own

    @property
    def name(self) -> str:
        return f"{self.label}{BETWEEN}{self.place}" if self.place else self.label


def named_cases(run: Run) -> list[Named]:
    """The cases with cuts, as configurations at places; a seed is a part of the place."""
    axes = (FILESYSTEM, *chosen_among(run.cases))
    own = [case for case in run.cases if case.own is not None]
    labels = {case.id: group_label(case.axes, axes) or "all cases" for case in own}
    short = short_names(tuple(dict.fromkeys(labels.values())))
    return [
        Named(case.id, case.filesystem, short[labels[case.id]], _place(run, case), case.own)
        for case in own
    ]


def _place(run: Run, case: Case) -> str:
    seed = f"seed {case.seed}" if SEED in run.varying else ""
    return ", ".join(filter(None, (place_text(place_of(case.axes, run.varying)), seed)))


def own_of(row: CaseResult) -> Own | None:
    """None for a case whose history failed without a cut."""
    cuts = cuts_result(row)
    if cuts is None:
        return None
    workload = Cuts(**row["spec"]["workload"])
    mounts, uncut = _mounts(row, cuts, is_timed=workload.is_timed)
    return Own(
        workload=workload,
        calls=cuts["calls"],
        operations=cuts["operations"],
        states=cuts["states"],
        states_possible=cuts["states_possible"],
        outcomes=dict(outcomes_of(cuts)),
        findings=tuple(cuts["findings"]),
        mounts=mounts,
        uncut=uncut,
        series=cuts.get("series"),
        sequences=cuts.get("sequences"),
    )


def _mounts(
    row: CaseResult, cuts: CutsResult, *, is_timed: bool
) -> tuple[tuple[Mount, ...], Mount | None]:
    curve, uncut = cuts["recovery"]["curve"], cuts["recovery"].get("uncut")
    if not curve:
        return (), None
    board = board_of(row["spec"])

    def mount(operation: int, read: int, programmed: int, erased: int, ns: int) -> Mount:
        counts = (read, programmed, erased)
        low, high = (
            ns if is_timed else board.flash_ns(counts, whole=whole) for whole in (False, True)
        )
        return Mount(operation, *counts, low, high)

    stretches: dict[int, Mount] = {}
    for point in sorted(curve):
        costly = mount(*point)
        stretch = costly.operation * _STRETCHES // max(cuts["operations"], _STRETCHES)
        stretches[stretch] = max(stretches.get(stretch, costly), costly, key=_length)
    return tuple(stretches.values()), None if uncut is None else mount(cuts["operations"], *uncut)


def _length(mount: Mount) -> float:
    return mount.most_ns


@dataclass(frozen=True)
class Operations:
    """The operations of a case's log, and which call of its history each belongs to.

    `calls` are the lines of the history. What its files do not say, if one is not there, is empty.
    """

    logged: tuple[Logged, ...]
    record: Record
    calls: tuple[str, ...]

    def calls_to(self, operation: int) -> tuple[str, ...]:
        """The calls up to the one that returned first after an operation; what the background did
        counts with it.
        """
        if not self.calls or not self.record.is_complete:
            return ()
        number = self.record.finished(operation)
        return (*self.calls[: number + 1], *([UNMOUNTING] if number >= len(self.calls) else ()))

    def call(self, operation: int) -> str:
        """The last of them."""
        return next(reversed(self.calls_to(operation)), "")

    def flash(self, operation: int) -> str:
        """What the chip was to do: "program of block 10, page 2"."""
        if operation >= len(self.logged):
            return ""
        logged = self.logged[operation]
        page = f", page {logged.page}" if logged.verb == PROGRAM else ""
        return f"{logged.verb} of block {logged.block}{page}"


def operations_of(run_dir: Path, case_id: str, own: Own) -> Operations:
    """Reads the files of a case; DamagedResultError for what is not theirs."""
    directory = RunDirectory(run_dir).case_dir(case_id)
    try:
        log, record = parse_log(_text(directory / "log")), parse_record(_text(directory / "record"))
        calls = tuple(_text(directory / "history").splitlines())
        if log and len(log) != own.operations:
            raise FormatError(f"a log of {len(log)} operations, of {own.operations}")
        if record.calls and not record.is_complete:
            raise FormatError("the record has no end")
        if record.calls and calls and len(record.calls) != len(calls):
            raise FormatError(f"a history of {len(calls)} calls, a record of {len(record.calls)}")
    except (DamagedResultError, FormatError) as error:
        raise DamagedResultError(
            f"{directory}: {error.message}",
            cause="a file there was edited or cut after ffslab wrote it",
            remedy=f"rm -r {directory}, then: {command('run', '--resume', run_dir)}",
        ) from error
    return Operations(log, record, calls)


def _text(path: Path) -> str:
    """Empty if it is not there: the page says less then."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
