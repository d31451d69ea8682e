"""cuts as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.errors import SpecError, UsageError
from ffslab.model.names import suggestion
from ffslab.model.workload import Setting, WorkloadType
from ffslab.oracle.calls import history_of_calls
from ffslab.oracle.faults import KINDS, kinds_on
from ffslab.oracle.generators.registry import KINDS as HISTORIES
from ffslab.oracle.generators.registry import parameters
from ffslab.oracle.promises import promise_of
from ffslab.workloads.checks import check_writable
from ffslab.workloads.cuts.keys import CALLS, FULL, SEQUENCES, SERIES, Cuts
from ffslab.workloads.cuts.plan import LOG_MIB

# Filling writes each page once, and the log has it as it was before and after.
FILLED_BYTES_MAX = (LOG_MIB - 64) // 2 * 2**20


class CutsType(WorkloadType[Cuts]):
    """cuts as a kind of workload."""

    settings = Cuts
    cuts_power = True

    def check(self, workload: Cuts, setting: Setting) -> None:
        """SpecError for a history, a kind of cut or a file system that cannot be."""
        check_writable(self.kind, setting)
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: {self.kind} begins on a new file system",
                cause="the chip logs all that was done to the flash since then",
                remedy='state = "free"',
            )
        try:
            promise_of(setting.setup.stack)
        except UsageError as error:
            raise SpecError(
                f"{setting.where}: {error.message}", cause=error.cause, remedy=error.remedy
            ) from error
        _check_history(workload, setting.where)
        _check_kinds(workload, setting)
        _check_room(workload, setting)


def _check_history(workload: Cuts, where: str) -> None:
    known = (*HISTORIES, CALLS, SEQUENCES, SERIES)
    if workload.history not in known:
        raise SpecError(
            f"{where}: no history {workload.history!r}{suggestion(workload.history, known)}",
            cause="power is cut in the calls of one of the histories that ffslab makes",
            remedy=f"one of: {', '.join(known)}",
        )
    if workload.part > workload.parts:
        raise SpecError(
            f"{where}: part {workload.part} of {workload.parts}",
            cause="parts have the numbers 1 to workload.parts",
            remedy=f"workload.part = {workload.parts}",
        )
    if workload.is_calls:
        _check_calls(workload, where)
    elif not (workload.is_series or workload.is_sequences):
        _check_parameters(workload, where)


def _check_calls(workload: Cuts, where: str) -> None:
    try:
        history_of_calls(workload.calls, seed=1)
    except UsageError as error:
        raise SpecError(
            f"{where}: workload.calls: {error.message}", cause=error.cause, remedy=error.remedy
        ) from error


def _check_parameters(workload: Cuts, where: str) -> None:
    usual = parameters(workload.history)
    try:
        stated = workload.settings
    except ValueError as error:
        raise SpecError(
            f"{where}: workload.parameters: {error}",
            cause="parameters are words with a number each",
            remedy='parameters = "files=250 transactions=750"',
        ) from error
    for name in stated:
        if name not in usual:
            raise SpecError(
                f"{where}: history {workload.history} has no parameter {name!r}"
                f"{suggestion(name, usual)}",
                cause="a misspelt name, or another history's",
                remedy=f"its parameters: {', '.join(sorted(usual))}",
            )


def _check_kinds(workload: Cuts, setting: Setting) -> None:
    chip = setting.chip
    in_a_row = [kind.name for kind in KINDS.values() if kind.in_a_row]
    possible = in_a_row if workload.is_series else list(KINDS)
    for name in workload.cut_kinds:
        if name not in possible:
            raise SpecError(
                f"{setting.where}: no kind of cut {name!r}{suggestion(name, possible)}",
                cause="in a series nobody could say to which cut a loss belongs"
                if name in KINDS
                else "a misspelt name",
                remedy=f"some of: {' '.join(possible)}",
            )
    if not kinds_on([chip.technology], workload.cut_kinds):
        raise SpecError(
            f"{setting.where}: chip {chip.name} has none of these kinds of cut",
            cause=f"it is {chip.technology} flash",
            remedy=f"some of: {' '.join(kinds_on([chip.technology], possible))}",
        )


def _check_room(workload: Cuts, setting: Setting) -> None:
    if workload.is_sequences:
        return
    fills = workload.space_every if workload.is_series else workload.fill_sample
    if not fills or workload.check != FULL or setting.partition_bytes <= FILLED_BYTES_MAX:
        return
    key = "space_every" if workload.is_series else "fill_sample"
    raise SpecError(
        f"{setting.where}: a partition of {setting.partition_bytes // 2**20} MiB cannot be filled",
        cause=f"the chip's log has each page twice, and {LOG_MIB} MiB in all",
        remedy=f"workload.{key} = 0, or at most {FILLED_BYTES_MAX // 2**20} MiB",
    )


WORKLOAD = CutsType()
