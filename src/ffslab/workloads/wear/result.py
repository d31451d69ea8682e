"""What the records of wear mean: the erases of every block at each volume.

Pure functions from records to the key `wear` of a result (docs/metrics.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.record_values import is_count
from ffslab.protocol.records import Phase, Record, RecordStream, Snapshot
from ffslab.results.metrics import amplification, counter_difference
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.wear import leveling
from ffslab.workloads.wear.keys import Wear
from ffslab.workloads.wear.stored import Grown, Volume, WearKeys, WearResult

PHASES = ("write",)
KEYS = WearKeys
ELSEWHERE: Mapping[str, object] = {}
_NOTED = "written:"
_GROWN = "grown:"
_START, _END = "static:start", "static:end"
# What a file system says when nothing can be written any more.
_LAST_WORDS = frozenset({"file system error"})


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the record contradicts itself, or its snapshots."""
    for chip in stream.of_type("chip-blocks"):
        erases = chip.get("erases")
        if not isinstance(erases, list) or not all(map(is_count, erases)):
            raise _damaged("the chip's erases are no list of counts")
    grown = stream.first("grown")
    if grown is not None and not _is_grown(grown):
        raise _damaged("its grown bad blocks are no counts that rise")
    record = stream.first("wear")
    if record is None:
        return
    if not all(is_count(record.get(name)) for name in ("asked", "written", "files")):
        raise _damaged("its record wear lacks a number")
    if record["written"] > record["asked"]:
        raise _damaged("more was written than was asked for")
    if not isinstance(record.get("stopped"), str):
        raise _damaged("its record wear does not say what stopped it")


def _is_grown(record: Record) -> bool:
    written, counts = record.get("written"), record.get("bad_blocks")
    if not (isinstance(written, list) and isinstance(counts, list) and is_count(record["before"])):
        return False
    if not all(map(is_count, (*written, *counts))) or len(written) != len(counts):
        return False
    rises = all(low < high for low, high in pairwise((record["before"], *counts)))
    return rises and written == sorted(written)


def failure(stream: RecordStream, _output: str) -> str:
    """What is wrong though the writing was allowed to fail: the static data."""
    phase = next((phase for phase in stream.phases if phase.name == "verify"), None)
    if phase is None or not phase.failed:
        return ""
    return f"phase verify: {phase.message or phase.errno_name or 'data differ'}"


def expected_messages(workload: Wear) -> frozenset[str]:
    """What a kernel may say without the case having failed: at the end of life, errors."""
    return _LAST_WORDS if workload.to_death else frozenset()


def shortfall(workload: Wear, stream: RecordStream, full_phase: Phase | None) -> Shortfall | None:
    """How much could be written before the partition was full."""
    record = stream.first("wear")
    if full_phase is None or record is None:
        return None
    done, asked = int(record["written"]), workload.asked
    told = (
        f"phase {full_phase.name}: no space left on the partition ({FULL}) after {done:,} of "
        f"{asked:,} bytes"
    )
    return Shortfall("bytes", done, asked, FULL, accepted=False, told=told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """How long the writing took."""
    whole = next((phase for phase in result["phases"] if phase["phase"] == "workload"), None)
    return {} if whole is None else {"time of the writing": float(whole["duration_ns"])}


def result_keys(case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> WearKeys:
    """The key `wear`; of contradictory records, and without any, it is None."""
    record = stream.first("wear")
    try:
        check_records(stream)
    except DamagedResultError:
        record = None
    return {"wear": None if record is None else _wear(case, record, stream)}


def first_block(case: Case) -> int:
    """Where on the chip the partition under test begins: behind those of the board."""
    block_bytes = case.board.chip.block_bytes
    return sum(-(-partition.size_bytes // block_bytes) for partition in case.board.partitions)


def _wear(case: Case, record: Record, stream: RecordStream) -> WearResult:
    snapshots = {snapshot["label"]: snapshot for snapshot in stream.snapshots}
    chip = {
        str(blocks["label"]): list(blocks["erases"]) for blocks in stream.of_type("chip-blocks")
    }
    start, end = snapshots.get(_START), snapshots.get(_END)
    static: tuple[int, ...] = ()
    if start and end and case.workload.spec["static_bytes"]:
        programs = [b - a for a, b in zip(start["programs"], end["programs"], strict=True)]
        static = leveling.static_blocks(programs, case.board.chip.pages_per_block)
    volumes = []
    if end:
        # The last snapshot of a phase that failed is a volume, too: that at which it ended.
        for label, snapshot in snapshots.items():
            if label.startswith(_NOTED):
                written = int(label.removeprefix(_NOTED))
                outside = _outside(case, chip.get("static"), chip.get(label))
                volumes.append(_volume(case, written, static, (end, snapshot), outside))
        last = snapshots.get("write:end")
        if last and record["stopped"]:
            outside = _outside(case, chip.get("static"), chip.get("end"))
            volumes.append(_volume(case, record["written"], static, (end, last), outside))
    return {
        "asked": record["asked"],
        "written": record["written"],
        "files": record["files"],
        "stopped": record["stopped"],
        "first_block": first_block(case),
        "static_blocks": list(static),
        "volumes": volumes,
        "grown": _grown(stream.first("grown"), snapshots),
    }


def _grown(record: Record | None, snapshots: Mapping[str, Snapshot]) -> Grown | None:
    if record is None:
        return None
    end = snapshots.get(_END)
    first = next(
        (snapshot for label, snapshot in snapshots.items() if label.startswith(_GROWN)), None
    )
    erases = None
    if end and first:
        erases = [b - a for a, b in zip(end["erases"], first["erases"], strict=True)]
    return {
        "before": record["before"],
        "written": record["written"],
        "bad_blocks": record["bad_blocks"],
        "erases": erases,
    }


def _outside(case: Case, before: list[int] | None, after: list[int] | None) -> list[int]:
    """Erases of the chip's other blocks since the static data were written."""
    if before is None or after is None:
        return []
    start = first_block(case)
    erases = [b - a for a, b in zip(before, after, strict=True)]
    return [*erases[:start], *erases[start + case.partition_blocks :]]


def _volume(
    case: Case,
    written: int,
    static: Sequence[int],
    between: tuple[Snapshot, Snapshot],
    outside: Sequence[int],
) -> Volume:
    before, after = between
    erases = [b - a for a, b in zip(before["erases"], after["erases"], strict=True)]
    counts = counter_difference(before["counters"], after["counters"])
    pages, page_bytes = counts.get("pages_programmed"), case.board.chip.page_bytes
    moved = leveling.moved_share(erases, static)
    return {
        "written_bytes": written,
        "time_ns": after["t_ns"] - before["t_ns"],
        "inside": leveling.spread(erases),
        "outside": leveling.spread(outside) if outside else None,
        "write_amplification": amplification(pages, page_bytes, written) if pages else None,
        "static_moved": moved,
        "static_leveling": leveling.static_verdict(moved),
        "global_leveling": leveling.global_verdict(outside),
        "erases": erases,
    }


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
