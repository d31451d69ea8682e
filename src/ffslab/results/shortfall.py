"""How much less a case measured than it was asked to: pure.

A partition that fills up ends a workload early, and a file system without room for the volume of a
micro-benchmark gets a smaller one. Neither is a fault of anybody, and neither is what was asked
for: such a case has the outcome `short`, with how much of what was measured. It is accepted, which
means that it is no failure, if the study allowed it (`workload.limit` of a micro-benchmark) and a
tenth at least was measured: two requests of 320 are no measurement of 320.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ffslab.model.specs import Ffsmark, Micro, Tree, Workload
from ffslab.model.units import format_size
from ffslab.results.records import Record, RecordStream

FULL = "ENOSPC"
LEAST_PERCENT = 10  # of what was asked for; less is accepted of no case
_FFSMARK_PHASES = ("creation", "transactions", "deletion")
_OF_FILES = re.compile(r"after \d+ of (\d+) files")


@dataclass(frozen=True, slots=True)
class Shortfall:
    """`measured` of `asked` (None: not known) of `what`.

    `stopped` is ENOSPC if the partition filled up meanwhile, and empty if the workload was made
    smaller before it began.
    """

    what: str  # bytes, transactions, files created, files deleted
    measured: int
    asked: int | None
    stopped: str
    accepted: bool
    told: str  # the outcome's reason

    @property
    def plain(self) -> dict[str, Any]:
        """The key `short` of a result."""
        return {key: value for key, value in asdict(self).items() if key != "told"}


def is_good(result: Mapping[str, Any]) -> bool:
    """Whether a result is no failure: it passed, was skipped on purpose, or is short as allowed."""
    short = result.get("short") or {}
    return result["outcome"] in ("pass", "skip") or is_accepted(result["outcome"], short)


def is_accepted(outcome: str, short: Mapping[str, Any]) -> bool:
    """Whether an outcome is `short` in a way that the study allows; `short` as in a result."""
    return outcome == "short" and bool(short.get("accepted"))


def shortfall(
    workload: Workload, stream: RecordStream, full_phase: Record | None
) -> Shortfall | None:
    """What a guest measured less than `workload` asks for; None if it measured all of it.

    `full_phase` is the phase that failed with ENOSPC, if one did.
    """
    if isinstance(workload, Micro):
        return _micro(workload, stream.first("micro"), full_phase)
    if full_phase is None:
        return None
    if isinstance(workload, Tree):
        return _tree(stream, full_phase)
    return _ffsmark(workload, stream, full_phase)


def _micro(workload: Micro, record: Record | None, full_phase: Record | None) -> Shortfall | None:
    """The volume is the measure; where only the test file is smaller than asked for, the file."""
    if record is None:
        return None
    done, planned = int(record["requests_done"]), int(record["requests"])
    volume, file = int(record["volume_bytes"]), int(record["file_bytes"])
    cut = volume < workload.volume_bytes
    stopped = FULL if record["stopped"] or full_phase is not None else ""
    what = "bytes"
    measured = done * workload.request_bytes
    asked = workload.volume_bytes if cut else planned * workload.request_bytes
    told = []
    if stopped or done < planned:
        why = f": the partition is full ({FULL})" if stopped else ""
        told.append(f"{done:,} of {planned:,} requests{why}")
    if cut:
        sizes = f"{format_size(volume)} of {format_size(workload.volume_bytes)}"
        told.append(f"{sizes}: the file system has room for no more")
    elif not told and 0 < file < workload.test_file_bytes:
        what, measured, asked = "bytes of the test file", file, workload.test_file_bytes
        told.append(f"a test file of {format_size(file)} instead of {format_size(asked)}")
    if not told:
        return None
    enough = measured * 100 >= asked * LEAST_PERCENT
    if not enough:
        little = f"less than {LEAST_PERCENT} % of what was asked for" if done else "nothing"
        told.insert(0, f"{little} was measured")
    accepted = workload.limit and enough
    return Shortfall(what, measured, asked, stopped, accepted, "; ".join(told))


def _ffsmark(workload: Ffsmark, stream: RecordStream, phase: Record) -> Shortfall | None:
    """How far the phase came that filled the partition."""
    name = str(phase["phase"])
    if name not in _FFSMARK_PHASES:
        return None
    what, measured, asked = "files created", phase["files_created"], workload.number
    if name == "transactions":
        # One half of a transaction reads or appends, the other creates or deletes.
        first = phase["files_read"] + phase["files_appended"]
        second = phase["files_created"] + phase["files_deleted"]
        what, measured, asked = "transactions", max(first, second), workload.transactions
    elif name == "deletion":
        before = [p for p in stream.of_type("phase") if p["phase"] in _FFSMARK_PHASES[:2]]
        left = sum(p["files_created"] - p["files_deleted"] for p in before)
        what, measured, asked = "files deleted", phase["files_deleted"], left
    told = f"phase {name}: no space left on the partition ({FULL})"
    told = f"{told} after {measured:,} of {asked:,} {what}"
    return Shortfall(what, int(measured), int(asked), FULL, accepted=False, told=told)


def _tree(stream: RecordStream, phase: Record) -> Shortfall | None:
    """Files of the tree; a copy's message does not say how many there are to be."""
    if phase["workload"] != "tree":
        return None
    name, message = str(phase["phase"]), str(phase.get("message") or "")
    made = next((tree for tree in stream.of_type("tree") if tree["phase"] == name), None)
    asked = _OF_FILES.search(message)
    told = f"phase {name}: no space left on the partition ({FULL})"
    return Shortfall(
        "files created",
        int(made["files"]) if made else 0,
        int(asked[1]) if asked else None,
        FULL,
        accepted=False,
        told=f"{told}: {message}" if message else told,
    )
