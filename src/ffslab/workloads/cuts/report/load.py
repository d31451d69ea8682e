"""The cases of a run as the page reads them: what became of their cuts, what was under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.case import board_of
from ffslab.model.specs import Board
from ffslab.oracle.faults import PROGRAM
from ffslab.oracle.operations import FormatError
from ffslab.oracle.record import Record, parse_record
from ffslab.program import command
from ffslab.report import data
from ffslab.report.data import Case, Run
from ffslab.report.load import Read, fixed_options
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.states import Logged, parse_log
from ffslab.workloads.cuts.stored import CutsResult

UNMOUNTING = "unmount"
_HISTORY = "workload.history"


@dataclass(frozen=True)
class Operations:
    """The operations of a case's log, and which call of its history each belongs to.

    `calls` are the lines of the history. What its files do not say, if one is not there, is empty.
    """

    logged: tuple[Logged, ...]
    record: Record
    calls: tuple[str, ...]

    def call(self, operation: int) -> str:
        """The call that returned first after it; what the background did counts with it."""
        if not self.calls or not self.record.is_complete:
            return ""
        number = self.record.finished(operation)
        return self.calls[number] if number < len(self.calls) else UNMOUNTING

    def flash(self, operation: int) -> str:
        """What the chip was to do: "program of block 10, page 2"."""
        if operation >= len(self.logged):
            return ""
        logged = self.logged[operation]
        page = f", page {logged.page}" if logged.verb == PROGRAM else ""
        return f"{logged.verb} of block {logged.block}{page}"


@dataclass(frozen=True)
class Part:
    """A case with what became of its cuts. `label`: its file system, with what else tells it apart
    but the history.
    """

    case: Case
    cuts: CutsResult
    spec: Mapping[str, Any]
    label: str
    operations: Operations

    @property
    def workload(self) -> Cuts:
        """Which cuts were made."""
        return Cuts(**self.spec["workload"])

    @property
    def history(self) -> str:
        """The calls in which power was cut."""
        return self.workload.history

    @property
    def filesystem(self) -> str:
        """Its file system, as the catalog calls it."""
        return str(self.spec["filesystem"]["name"])

    @property
    def board(self) -> Board:
        """Its board, with the times that its guests did without."""
        return board_of(self.spec)

    @property
    def technology(self) -> str:
        """NAND or NOR."""
        return self.board.chip.technology

    @property
    def is_timed(self) -> bool:
        """Whether chip and CPU took the board's times."""
        return self.workload.is_timed


def parts_of(
    directory: RunDirectory, run: Run, read_cases: Sequence[Read[CutsResult | None]]
) -> tuple[Part, ...]:
    """The cases with cuts, in order; DamagedResultError for files that are not theirs."""
    # An option that only goes with the file system tells nothing beside it.
    told = {
        *fixed_options([read_case.head["spec"] for read_case in read_cases]),
        data.FILESYSTEM,
        data.SEED,
    }
    names = [name for name in run.varying if name not in (*told, _HISTORY)]
    seeds = [data.SEED] if data.SEED in run.varying else []
    return tuple(
        Part(
            case,
            read_case.figures,
            read_case.head["spec"],
            data.group_label(case.axes, (data.FILESYSTEM, *names, *seeds)),
            _operations(directory, case.id, read_case.figures),
        )
        for case, read_case in zip(run.cases, read_cases, strict=True)
        if read_case.figures is not None
    )


def _operations(directory: RunDirectory, case_id: str, cuts: CutsResult) -> Operations:
    case_directory = directory.case_dir(case_id)
    try:
        log, record = (
            parse_log(_text(case_directory / "log")),
            parse_record(_text(case_directory / "record")),
        )
        calls = tuple(_text(case_directory / "history").splitlines())
        if log and len(log) != cuts["operations"]:
            raise FormatError(f"a log of {len(log)} operations, of {cuts['operations']}")
        if record.calls and not record.is_complete:
            raise FormatError("the record has no end")
        if record.calls and calls and len(record.calls) != len(calls):
            raise FormatError(f"a history of {len(calls)} calls, a record of {len(record.calls)}")
    except (DamagedResultError, FormatError) as error:
        raise DamagedResultError(
            f"{case_directory}: {error.message}",
            cause="a file there was edited or cut after ffslab wrote it",
            remedy=f"rm -r {case_directory}, then: {command('run', '--resume', directory.path)}",
        ) from error
    return Operations(log, record, calls)


def _text(path: Path) -> str:
    """Empty if it is not there: the page says less then."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
