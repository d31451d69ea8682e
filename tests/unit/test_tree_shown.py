"""Results of workload `tree` where they are read: tables, terminal, and of recorded guests."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from host_support import golden
from made_records import lines_of, task
from rich.console import Console
from tree_support import (
    IMAGE_FACTS,
    Memory,
    Phase,
    results,
    tree_case,
    tree_records,
    with_written,
)

from ffslab.cli.tables import case_tables, print_cases
from ffslab.model.case import Case
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result, skipped_result
from ffslab.results.outcome import Outcome, judge
from ffslab.results.preparation import Preparation
from ffslab.results.rundir import RunDirectory
from ffslab.results.store import COLUMNS, export_tables, open_store
from ffslab.workloads.results import asked_of
from ffslab.workloads.tree.result import image_results
from ffslab.workloads.tree.terminal import cells, print_case

BUSY = {"chip_read_ns": 11 * 10**9, "chip_program_ns": 0, "chip_erase_ns": 0}
BUSY["chip_transfer_ns"] = 10**9
FLASH = {"pages_read": 3, "pages_programmed": 2, "blocks_erased": 1, "oob_reads": 4, "read_ns": 30}


# Tables, and the terminal.


def tree_result(case: Case, data: bytes, preparation: bytes | None = None) -> dict[str, Any]:
    """A line of results.jsonl."""
    stream = parse_records(data)
    before = None if preparation is None else parse_records(preparation)
    prepared = [Preparation("7" * 64, Outcome("pass"), before, IMAGE_FACTS)] if before else []
    asked = asked_of(case.workload, own=True)
    return case_result(case, judge(stream, "", 0, None, asked), stream, None, prepared)


LONG_STEPS = "mount list create unmount crash mount list find delete settle unmount"
LONG = tree_case(LONG_STEPS, "ubifs")
BEFORE = with_written(
    tree_records(
        [
            Phase("write", 1_400_000_000, {"pages_programmed": 3584}),
            Memory("start"),
            Phase("attach", 130_000_000, {"pages_read": 1600, "read_ns": 120_000_000}),
            Phase("mount", 23_000_000),
            Memory("mount", slabs={"ubi_wl_entry_slab": 57_344}),
            Phase("list", 3_100_000_000, FLASH, [task("ffsagent", pages_read=3)], tree={}),
            Phase("create", 3_100_000_000, FLASH, tree={"bytes": 123_456_789}),
            Phase("unmount", 31_000_000),
            Phase("detach", 1_000_000),
        ]
    )
)
AFTER = tree_records(
    [
        Memory("start"),
        Phase("attach-2", 130_000_000),
        Phase("mount-2", 230_000_000, {"pages_read": 120_000, "read_ns": 1, **BUSY}),
        Memory("mount-2", free=98 * 2**20, slabs={"ubifs_inode_slab": 2**20, "fork": 2048}),
        Phase("list-2", 900_000_000, tree={}),
        Phase("find", 900_000_000, tree={"found": 12_345}),
        Phase(
            "delete",
            112_000_000_000,
            {"pages_programmed": 1_234_567, "blocks_erased": 12_345, "program_ns": 10**11},
            [task("ubifs_bgt0_0", pages_programmed=1_234_567, busy_ns=10**11)],
            error="ENOSPC",
            tree={"files": 2_000_000, "bytes": 1023 * 2**20 + 2**19},
        ),
    ],
)


def _shown(result: Mapping[str, Any]) -> str:
    console = Console(width=80, file=io.StringIO(), highlight=False)
    print_case(console, result)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_case_is_shown_in_80_columns() -> None:
    text = _shown(tree_result(LONG, AFTER, BEFORE))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in text
    for words in (
        "preparation: pass (777777777777)",
        "image: embedded-rootfs",
        "7,300,000 B (2.00 : 1); 7,340,032 B",
        "3,584 pages in 56 blocks, 1.40 s",
        "  ENOSPC",
        "missing",
        "2,000,256",
        "ubifs_bgt0_0",
        "1,234,567",
    ):
        assert words in text
    (row,) = (line for line in lines if line.startswith("mount-2 ") and "s " in line)
    assert row.split()[1:4] == ["360", "ms", "12.0"]
    assert lines[-1].split() == ["mount-2", "0", "0", "1,024", "2", "0", "0", "1,026", "1,022"]
    assert [line.split()[0] for line in lines if line.startswith("  ") and "ms" in line][:3] == [
        "attach",
        "mount",
        "unmount",
    ]


def test_a_case_without_records_is_shown() -> None:
    for result in (skipped_result(LONG, "x"), tree_result(LONG, b"")):
        text = _shown(result)
        assert max(map(len, text.splitlines()), default=0) <= 80


def test_the_table_of_a_run() -> None:
    result = tree_result(LONG, AFTER, BEFORE)
    assert cells(result) == ("360 ms", "114 s", "1.0 MiB")
    console = Console(width=80, file=io.StringIO(), highlight=False)
    print_cases(console, case_tables([result, skipped_result(LONG, "why")], {}))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "creation" not in text
    assert "all steps" in text
    assert max(map(len, text.splitlines())) <= 80


def test_tables(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    result = tree_result(LONG, AFTER, BEFORE)
    older = {k: v for k, v in skipped_result(LONG, "x").items() if k not in ("tree", "image")}
    rows = [result | {"id": "a"}, older | {"id": "b"}, tree_result(LONG, b"") | {"id": "c"}]
    run.write_manifest({"v": 1, "cases": [{"id": row["id"]} for row in rows]})
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = open_store([run])
    assert store.execute(
        "SELECT step, number, prepared, status, duration_ns, pages_read, files, found "
        "FROM tree_steps WHERE case_id = 'a' ORDER BY index"
    ).fetchall()[4:8] == [
        ("crash", 1, True, "ok", None, None, None, None),
        ("mount", 2, False, "ok", 360_000_000, 120_000, None, None),
        ("list", 2, False, "ok", 900_000_000, 0, 1122, 0),
        ("find", 1, False, "ok", 900_000_000, 0, 1122, 12_345),
    ]
    assert store.execute("SELECT count(*) FROM tree_steps WHERE case_id = 'b'").fetchone() == (0,)
    assert store.execute(
        "SELECT case_id, label, prepared, slab_inodes_bytes, slab_filesystem_bytes, total_bytes, "
        "other_bytes FROM memory ORDER BY prepared, label"
    ).fetchall() == [
        ("a", "mount-2", False, 2**20, 0, 2**20 + 2048, 2**20 - 2048),
        ("a", "mount", True, 0, 57_344, 57_344, -57_344),
    ]
    cases = "SELECT workload, steps, image_bytes, image_write_ns FROM cases WHERE case_id = 'a'"
    assert store.execute(cases).fetchall() == [("tree", LONG_STEPS, 7_300_000, 1_400_000_000)]
    files = export_tables(run, tmp_path / "csv", "csv")
    assert [file.stem for file in files] == list(COLUMNS)


# Recorded guests: an image on UBI, mounted, restarted and copied; a JFFS2 that became full.

RECORDED = tree_case("mount list unmount restart mount list copy delete unmount", "ubifs")


def recorded() -> dict[str, Any]:
    return results(
        RECORDED, golden("records/tree-ubifs.jsonl"), golden("records/tree-ubifs-prepared.jsonl")
    )


def test_recorded_steps_are_complete() -> None:
    steps = recorded()["steps"]
    assert {step["status"] for step in steps} == {"ok"}
    assert [step["phase"] for step in steps if step["prepared"]] == [
        "mount",
        "list",
        "unmount",
        "restart",
    ]
    for step in steps:
        if step["step"] == "restart":
            continue
        assert step["duration_ns"] == sum(part["duration_ns"] for part in step["parts"])
        # What all tasks asked for is what the monitor counted.
        for name in ("pages_read", "pages_programmed", "blocks_erased"):
            assert step[name] == sum(task[name] for task in step["tasks"]), (step["phase"], name)
        assert step["in_driver_ns"] == sum(task["busy_ns"] for task in step["tasks"])
    # The volume is there already: it was in the image.
    assert [part["phase"] for part in steps[0]["parts"]] == ["attach", "mount"]
    walks = {step["phase"]: step for step in steps if step["files"] is not None}
    assert set(walks) == {"list", "list-2", "copy", "delete"}
    for name in ("directories", "files", "links", "bytes"):
        assert walks["list"][name] == walks["list-2"][name] > 0


def test_recorded_memory_is_the_file_system_s() -> None:
    rows = {row["label"]: row for row in recorded()["memory"]}
    assert [row["prepared"] for row in rows.values()] == [True] * 3 + [False] * 5
    for label in ("mount", "mount-2"):
        assert rows[label]["slab_bytes"]["filesystem"] > 0
        assert rows[label]["vmalloc_bytes"] > 2 * 129_024  # UBIFS's buffers of an erase block
    for label in ("unmount", "unmount-2"):
        assert (rows[label]["vmalloc_bytes"], rows[label]["kernel_stack_bytes"]) == (0, 0)


def test_recorded_image() -> None:
    image = image_results(IMAGE_FACTS, parse_records(golden("records/tree-ubifs-prepared.jsonl")))
    assert image is not None
    assert image["write_ns"] > 104 * 220_000  # so many pages, each with its t_prog
    assert (image["pages"], image["blocks"]) == (104, 15)


def test_recorded_full_partition() -> None:
    data = golden("records/tree-enospc.jsonl")
    outcome = judge(parse_records(data), "", 0, None)
    assert outcome.reason.startswith("phase create-2: no space left on the partition (ENOSPC): ")
    assert "after 9 of 30 files" in outcome.reason
    case = tree_case("mount settle list create crash mount list find create check delete unmount")
    steps = results(case, data)["steps"]
    assert [(s["phase"], s["status"], s["errno_name"]) for s in steps[5:]] == [
        ("mount-2", "ok", ""),
        ("list-2", "ok", ""),
        ("find", "ok", ""),
        ("create-2", "error", "ENOSPC"),
        ("check", "error", "EBADMSG"),
        ("delete", "missing", ""),
        ("unmount", "missing", ""),
    ]
    assert steps[8]["duration_ns"] > steps[8]["files"] * 1000
    assert {step["status"] for step in steps[:5]} == {"missing"}


@pytest.mark.slow
def test_recorded_guests_cut_anywhere() -> None:
    before = golden("records/tree-ubifs-prepared.jsonl")
    data = golden("records/tree-ubifs.jsonl")
    whole = recorded()
    for length in range(0, len(data) - 1, 499):
        stream = parse_records(data[:length])
        assert judge(stream, "", -9, None).kind == "crash"
        result = tree_result(RECORDED, data[:length], before)
        for step, complete in zip(result["tree"]["steps"], whole["steps"], strict=True):
            assert step["status"] == "missing" or step["duration_ns"] == complete["duration_ns"]
        _shown(result)


# What may fail.


@pytest.mark.parametrize(
    ("after", "end", "outcome"),
    [
        (True, "ok", ("pass", "")),
        (False, "ok", ("pass", "")),
        # Something else failed; without a record of it, the agent's end says so.
        (True, "error", ("fail", "the agent: it ended with status error")),
        (False, "error", ("fail", "the agent: it ended with status error")),
    ],
)
def test_a_step_that_may_fail_fails_no_case(
    after: bool, end: str, outcome: tuple[str, str]
) -> None:
    phase = tree_records([Phase("settle", error="ETIMEDOUT")], end=False)
    step = {"type": "step", "index": 1, "verb": "settle", "t_start_ns": 0, "t_end_ns": 9}
    failed = {"status": "error", "errno": 110, "errno_name": "ETIMEDOUT", "message": "why"}
    failed["may_fail"] = True
    later = [{**step, "index": 2, "verb": "sync", "status": "ok"}] if after else []
    last = {"type": "end", "status": end, "steps_run": 2, "steps_total": 2, "t_ns": 10}
    stream = parse_records(phase + lines_of([step | failed, *later, last]))
    found = judge(stream, "", 0, None)
    assert (found.kind, found.reason) == outcome


def test_a_full_partition_is_told_though_the_plan_went_on() -> None:
    phase = tree_records([Phase("create", error="ENOSPC")], end=False)
    failed = {"status": "error", "errno": 28, "errno_name": "ENOSPC", "message": "full"}
    failed["may_fill"] = True
    step = {"type": "step", "index": 1, "verb": "tree-create", "t_start_ns": 0, "t_end_ns": 9}
    later = {**step, "index": 2, "verb": "umount", "status": "ok"}
    last = {"type": "end", "status": "error", "steps_run": 2, "steps_total": 2, "t_ns": 10}
    stream = parse_records(phase + lines_of([step | failed, later, last]))
    assert judge(stream, "", 0, None).reason.startswith("phase create: no space left")
