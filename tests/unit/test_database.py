"""database: its settings, plans, results and figures, with values worked out by hand."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_records import made_run, read_records
from rich.console import Console
from test_report_support import page_of_words, section_of

from ffslab.campaign.run import prepare
from ffslab.errors import DamagedResultError, SpecError
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.database import terminal
from ffslab.workloads.database.keys import Database
from ffslab.workloads.database.result import (
    RECORD,
    check_records,
    compared_times_ns,
    result_keys,
)
from ffslab.workloads.figures import criteria_of, figures_of, tasks_of
from ffslab.workloads.results import asked_of

STUDY = prepare("database", [])
CASE = STUDY.cases[0]
MS = 1_000_000
BLOCKS = 128


def flash(label: str, pages: int, erases: int) -> dict[str, Any]:
    counters = {"pages_read": pages // 10, "pages_programmed": pages, "blocks_erased": erases}
    rows: dict[str, Any] = {name: [0] * BLOCKS for name in ("programs", "reads")}
    rows["erases"] = [erases] + [0] * (BLOCKS - 1)
    return {"type": "flash", "label": label, "t_ns": 0, "counters": counters, **rows}


def phase(name: str, start_ms: int, end_ms: int, pages: tuple[int, int]) -> dict[str, Any]:
    before, after = (flash("", count, 0)["counters"] for count in pages)
    row = {"type": "phase", "workload": RECORD, "phase": name, "status": "ok"}
    row |= {"t_start_ns": start_ms * MS, "t_end_ns": end_ms * MS}
    row |= dict.fromkeys(("files_created", "files_deleted", "files_read", "files_appended"), 0)
    row |= {"bytes_read": 0, "bytes_written": 80 * 4096 if name == "commit" else 0}
    return row | {"flash_start": before, "flash_end": after}


def records(*without: str, **changed: Any) -> Any:
    """40 transactions of 2 pages in 200 ms, the last of which had a checkpoint; 40 ms to close.

    200 pages of 2 KiB were programmed in `commit`, 40 in `close`; 8 blocks were erased.
    """
    record = {"type": RECORD, "transactions": 40, "transactions_done": 40, "stopped": ""}
    record |= {"changed_bytes": 80 * 4096, "written_bytes": 120 * 4096, "checkpoints": 1}
    # In buckets of their own: 39 of 4 ms, one of 44 ms.
    latency = {"type": "latency", "workload": RECORD, "phase": "commit", "op": "transaction"}
    latency |= {"count": 40, "sum_ns": 200 * MS, "min_ns": 4 * MS, "max_ns": 44 * MS}
    latency |= {"buckets": [[128 * 15 + 116, 39], [128 * 19 + 39, 1]]}
    sync = latency | {"op": "sync", "count": 41, "sum_ns": 41, "buckets": [[1, 41]]}
    sync |= {"min_ns": 1, "max_ns": 1}
    task = {"name": "init", "pages_read": 0, "pages_programmed": 200, "blocks_erased": 8}
    task |= {"busy_ns": 5, "oob_pages": 0}
    rows: list[dict[str, Any]] = [
        flash("commit:start", 1000, 0),
        phase("commit", 100, 300, (1000, 1200)),
        sync,
        latency,
        flash("commit:end", 1200, 8),
        {"type": "tasks", "workload": RECORD, "phase": "commit", "tasks": [task]},
        flash("close:start", 1200, 8),
        phase("close", 300, 340, (1200, 1240)),
        flash("close:end", 1240, 8),
        record | changed,
    ]
    kept = [row for row in rows if row.get("phase") not in without or row["type"] == "tasks"]
    return read_records(kept)


def example_result() -> Any:
    """As a run has it: the tests that look at results of all workloads take it."""
    return case_result(CASE, Outcome("pass"), records(), "f" * 64)


# Settings and plans.


def test_the_agent_gets_every_key() -> None:
    assert CASE.workload.spec["journal"] == "delete"
    own = plans(CASE)[-1]
    assert (
        "database dir=/mnt journal=delete transactions=2000 pages_per_transaction=2 "
        "page_bytes=4096 database_bytes=2097152 checkpoint_frames=1000 text=1 verify=0 seed=1"
    ) in own
    (preparing, _) = plans(CASE)
    assert "prepare dir=/mnt" in preparing and "database " not in preparing


def test_the_defaults_are_those_of_sqlite() -> None:
    default = Database()
    assert (default.journal, default.page_bytes, default.checkpoint_frames) == (
        "delete",
        4096,
        1000,
    )


def test_only_a_log_has_checkpoints() -> None:
    assert Database(checkpoint_frames=9).without_idle_keys() == Database()
    log = Database(journal="wal", checkpoint_frames=9)
    assert log.without_idle_keys() == log


def test_how_much_the_files_hold() -> None:
    journal = Database(database_bytes=8192 * 10, page_bytes=8192, pages_per_transaction=3)
    assert journal.files_bytes == 8192 * (10 + 4)  # the first page is in the journal, too
    log = replace(journal, journal="wal", checkpoint_frames=100)
    # The transaction that comes to 100 frames may have had 99 before it.
    assert log.files_bytes == 8192 * 10 + 32 + 103 * (8192 + 24)
    assert replace(log, transactions=2).files_bytes == 8192 * 10 + 32 + 6 * (8192 + 24)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workload.page_bytes": 256}, "page_bytes is 256, no power of two from 512"),
        ({"workload.page_bytes": 5000}, "page_bytes is 5000"),
        ({"workload.page_bytes": 131_072}, "page_bytes is 131072"),
        ({"workload.database_bytes": 8192}, "a database of 2 pages, of which a transaction chang"),
        ({"workload.database_bytes": "65 MiB"}, "database and journal grow to 65"),
        ({"workload.pages_per_transaction": 0}, "greater than or equal to 1"),
        ({"state.settle_ms": 5}, "has no invalid data"),
        ({"state": "image"}, "it is for workload tree"),
    ],
)
def test_settings_that_contradict_each_other(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        prepare("database", [(name, (value,)) for name, value in settings.items()])


@pytest.mark.parametrize(
    "settings",
    [
        {"workload.page_bytes": 512},
        {"workload.page_bytes": "64 KiB", "workload.transactions": 100},
        {"workload.database_bytes": 3 * 4096},
        {"workload.database_bytes": "60 MiB"},
    ],
)
def test_settings_at_their_bounds(settings: dict[str, Any]) -> None:
    assert prepare("database", [(name, (value,)) for name, value in settings.items()]).cases


@pytest.mark.parametrize(
    ("state", "removal"), [("free", ""), ("saturated", " remove=1 settle_ms=0")]
)
def test_invalid_data_goes_right_before_the_database(state: str, removal: str) -> None:
    case = prepare("database", [("state", (state,))]).cases[0]
    (line,) = [line for line in plans(case)[-1].splitlines() if line.startswith("database ")]
    assert line.endswith(f"verify=0{removal} seed=1")


# Results.


def test_a_transaction_takes_its_part_of_both_phases() -> None:
    stored: Any = result_keys(CASE, records(), ())["database"]
    assert stored["on_flash_mean_ns"] == 6 * MS  # 240 ms ÷ 40
    assert stored["transactions_per_s"] == 200  # 40 in 0.2 s: the close is in none
    assert stored["journal_amplification"] == 1.5
    assert stored["programs_per_transaction"] == 6
    assert stored["reads_per_transaction"] == 0.6
    assert stored["erases_per_1000_transactions"] == 200
    assert [task["phase"] for task in stored["tasks"]] == ["commit"]


def test_without_its_close_nothing_is_said_per_transaction() -> None:
    stored: Any = result_keys(CASE, records("close"), ())["database"]
    assert stored["transactions_done"] == 40 and stored["journal_amplification"] == 1.5
    for name in ("on_flash_mean_ns", "transactions_per_s", "programs_per_transaction"):
        assert stored[name] is None


def test_without_a_transaction_there_are_no_ratios() -> None:
    nothing = {"transactions_done": 0, "changed_bytes": 0, "written_bytes": 9, "stopped": "ENOSPC"}
    stored: Any = result_keys(CASE, records(**nothing), ())["database"]
    assert stored["journal_amplification"] is stored["on_flash_mean_ns"] is None


@pytest.mark.parametrize(
    "changed",
    [
        {"transactions_done": 41},
        {"changed_bytes": -1},
        {"written_bytes": 80 * 4096 - 1},
        {"checkpoints": "1"},
        {"stopped": "EIO"},
    ],
)
def test_a_record_that_contradicts_itself_is_no_result(changed: dict[str, Any]) -> None:
    with pytest.raises(DamagedResultError):
        check_records(records(**changed))
    assert result_keys(CASE, records(**changed), ()) == {"database": None}


def test_a_record_at_its_bounds() -> None:
    """A transaction at least writes what it changes."""
    check_records(records(written_bytes=80 * 4096))


def test_a_full_partition_is_short() -> None:
    stream = records(transactions_done=10, stopped="ENOSPC")
    asked = asked_of(CASE.workload, own=True)
    assert asked.shortfall is not None
    short = asked.shortfall(stream, stream.phases[0])
    assert short is not None
    assert (short.what, short.measured, short.asked) == ("transactions", 10, 40)
    assert not short.accepted and "after 10 of 40 transactions" in short.told
    assert asked.shortfall(stream, None) is None


# Figures.


def test_figures_and_what_people_decide_by() -> None:
    result = example_result()
    figures = {figure.key: figure.value for figure in figures_of(result)}
    assert figures["workload/transaction.transactions_per_s"] == 200
    # 240 pages of 2 KiB ÷ 80 pages of 4 KiB: the journal is a cost.
    assert figures["workload.write_amplification"] == 1.5
    assert figures["commit/transaction.max_ns"] == 44 * MS
    assert figures["measured_share"] == 1
    assert figures["workload/transaction.on_flash_mean_ns"] == 6 * MS
    assert {figure.key for figure in figures_of(result) if figure.main} == {
        "workload/transaction.transactions_per_s",
        "workload/transaction.programs_per_transaction",
        "workload/transaction.erases_per_1000_transactions",
        *(
            f"workload.{name}"
            for name in ("pages_programmed", "blocks_erased", "write_amplification")
        ),
        *(f"commit/transaction.{name}" for name in ("p50_ns", "p99_ns", "max_ns")),
    }
    criteria = list(criteria_of(result))
    assert (criteria[0].aspect, criteria[0].headline) == ("time", True)
    assert not any(criterion.in_memory for criterion in criteria)
    titles = [criterion.title for criterion in criteria]
    assert titles[:3] == [
        "a transaction, with its part of the close",
        "a transaction, 99 % of the times",
        "a transaction, longest time",
    ]
    assert compared_times_ns(result) == {
        "mean time of a transaction": 6 * MS,
        "p99 of a transaction": pytest.approx(44 * MS, rel=0.004),
    }
    (work,) = tasks_of(result)
    assert (work.place, work.task, work.counts["pages_programmed"]) == ("commit", "init", 200)


def test_what_a_terminal_shows() -> None:
    shown = terminal.cells(example_result())
    assert len(shown) == len(terminal.HEADINGS)
    assert (shown[0], shown[4], shown[5]) == ("200.0", "6.0", "200.0")
    console = Console(file=io.StringIO(), width=80)
    terminal.print_case(console, example_result())
    assert "40 of 40 transactions, 1 checkpoint, 1.50 bytes" in console.file.getvalue()  # type: ignore[attr-defined]
    nothing: Any = case_result(CASE, Outcome("crash"), read_records([]), None)
    assert set(terminal.cells(nothing)) == {""}
    assert not list(criteria_of(nothing)) and not compared_times_ns(nothing)


def test_the_report_has_a_row_for_each_case(tmp_path: Path) -> None:
    folder = made_run(
        tmp_path / "run",
        STUDY,
        lambda case: case_result(case, Outcome("pass"), records(), "f" * 64),
    )
    page = page_of_words(folder, validate=True)
    assert section_of(page, "results").count('<th scope="row"') == len(STUDY.cases)
    assert 'class="headline">' in page
