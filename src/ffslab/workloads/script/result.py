"""What the records of a script mean: how it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.own_latencies import LATENCIES, bad_line
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.script.keys import Script
from ffslab.workloads.script.plan import BEGINS, ENDS, LACKED, MISSING, STATUS
from ffslab.workloads.script.stored import ScriptKeys, ScriptResult, below_of

PHASES = ("script", "flush")
KEYS = ScriptKeys
ELSEWHERE: Mapping[str, object] = {}
_OF_KERNEL = re.compile(r"^\[ *\d+\.\d+\]")
_TOLD = 200  # letters of a line
_SOCKETS = 'the default kernel has no sockets; with them: kernel = "sockets" in the study'
# What a program says if it asks for what guests do not have, with what would help.
_LACKS = (
    (
        re.compile(
            rf"{LACKED}|Cannot allocate memory|cannot map zero-fill pages|MemoryError|bad_alloc"
        ),
        "the board has too little RAM for its programs; more: --set 'board.ram_bytes=\"256 MiB\"'",
    ),
    (re.compile(r"Address family not supported|[Uu]nable to create socket"), _SOCKETS),
    (re.compile(r"Function not implemented"), f"{_SOCKETS}; no kernel of the lab has {MISSING}"),
)


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the file that the shell wrote holds no status."""
    text = _status_text(stream)
    if text is not None and not text.isdecimal():
        raise DamagedResultError(
            f"the script's exit status is {text!r}",
            cause="the script wrote to a file of ffslab's, or filled the guest's memory",
            remedy="run the case again",
        )


def shortfall(
    _workload: Script, _stream: RecordStream, _full_phase: Phase | None
) -> Shortfall | None:
    """A script runs to its end or fails: what a full partition means is its own affair."""
    return None


def failure(stream: RecordStream, output: str) -> str:
    """What is wrong though no step failed; empty for nothing.

    A status other than 0, with the last line of output. What a program did to the flash below the
    file system: such a case measured something else, even if nothing was lost.
    """
    status = _exit_status(stream)
    last = _last_line(output)
    told = []
    if status:
        printed = output.rpartition(BEGINS)[2]
        lacks = [remedy for pattern, remedy in _LACKS if pattern.search(printed)]
        exited = f"the script exited with status {status}{f': {last}' if last else ''}"
        told.append("; likely cause: ".join((exited, *lacks[:1])))
    bad = bad_line(stream.captured(LATENCIES) or "")
    if bad:
        told.append(f"what it wrote to $FFSLAB_LATENCIES is not latencies: {bad}")
    below = below_of(_script_result(stream))
    if below:
        told.append(f"{below} below the mounted file system, which it did not ask for")
    return "; ".join(told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The time until all is on the flash."""
    whole = next((phase for phase in result["phases"] if phase["phase"] == "workload"), None)
    return {} if whole is None else {"time of the script": float(whole["duration_ns"])}


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> ScriptKeys:
    """The key `script`."""
    return {"script": _script_result(stream)}


def _script_result(stream: RecordStream) -> ScriptResult | None:
    status = _exit_status(stream)
    if status is None:
        return None
    result: ScriptResult = {"exit_status": status}
    counters = stream.snapshots[-1]["counters"] if stream.snapshots else {}
    if "erased_below" in counters:
        result["programmed_below"] = counters["programmed_below"]
        result["erased_below"] = counters["erased_below"]
    return result


def _status_text(stream: RecordStream) -> str | None:
    text = stream.captured(STATUS)
    return None if text is None else text.strip()


def _exit_status(stream: RecordStream) -> int | None:
    text = _status_text(stream)
    return int(text) if text is not None and text.isdecimal() else None


def _last_line(output: str) -> str:
    """The last that the script printed; on some targets the kernel prints there, too."""
    printed = output.rpartition(BEGINS)[2].partition(ENDS)[0].splitlines()
    lines = [line.strip() for line in printed if not _OF_KERNEL.match(line)]
    return next((line[:_TOLD] for line in reversed(lines) if line), "")
