"""What the report takes from results, key by key, and what it computes while it reads them.

Every value of an input is another number, so that a key taken for another is seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_report_support import Overrides, case_ids, write_run

from ffslab.errors import DamagedResultError, UsageError
from ffslab.report.data import Fact
from ffslab.report.estimates.load import _times
from ffslab.report.facts import basis_of, notes, other_kernel, time_model
from ffslab.report.kept import read_kept
from ffslab.report.load import erases_during, open_run
from ffslab.workloads.tree.result import NOT_TIMED
from loaded_support import load_run


def test_erases() -> None:
    flash = [
        {"label": "creation:start", "erases": [1, 5]},
        {"label": "deletion:end", "erases": [4, 5]},
    ]
    phases = ("creation", "transactions", "deletion")
    assert erases_during({"flash": flash}, phases) == (3, 0)
    for snapshot in flash:
        assert erases_during({"flash": [snapshot]}, phases) == ()


def test_the_times_that_verdicts_are_about() -> None:
    def times(kind: str, **row: Any) -> dict[str, float]:
        return _times({"spec": {"workload": {"kind": kind}}, **row})

    streams = [{"all": {"count": 1, "mean_ns": 10}}, {"all": {"count": 3, "mean_ns": 30}}]
    assert times("micro", requests=streams) == {"mean response time": 25}
    assert times("micro", requests=[]) == {}
    named = {"mount": 5, "create-2": 7, "list": None}
    named |= {f"{word}{number}": 9 for word in NOT_TIMED for number in ("", "-2")}
    steps = [{"phase": name, "duration_ns": ns} for name, ns in named.items()]
    assert times("tree", tree={"steps": steps}) == {"mount": 5, "create-2": 7}
    assert times("tree", tree=None) == {}
    names = ("deletion", "creation", "transactions", "workload")
    phases = [{"phase": name, "duration_ns": n} for n, name in enumerate(names, 1)]
    assert times("ffsmark", phases=phases) == {"creation": 2, "transactions": 3}
    assert _times({"spec": {"workload": {}}, "phases": phases[:2]}) == {"creation": 2}


# 25 ns for a byte read and 10 ns for one written, of which the bus takes 20 and 5 ns, and ECC
# 20,480 ns for each page of 4,096 bytes, which is 5 ns for a byte.
CHIP = {
    "page_bytes": 4096,
    "t_command_ns": 100,
    "t_read_ns": 1_000,
    "t_prog_ns": 3_000,
    "t_erase_ns": 7_000,
    "bus_read_ps": 20_000,
    "bus_write_ps": 5_000,
    "ecc_read_ns": 20_480,
    "ecc_write_ns": 20_480,
}
INSTRUCTION = "CPU time per instruction of kernel code, counted as a 32-bit ARM takes it"
MODEL = {
    "board": {"name": "b", "cpu": "c", "ram_bytes": 32 * 2**20, "wait": "polled", "chip": CHIP},
    "cpu_instruction_ps": 12_345,
    "cpu_byte_ps": 0,
    "cpu_set_byte_ps": 3500,
    "cpu_copy_ns": 150,
    "cpu_set_ns": 0,
    "cpu_syscall_ns": 1875,
    "driver_read_ns": 165_000,
    "driver_erase_ns": 0,
    "partition_bytes": 3 * 2**19,
}


def test_the_time_model_in_words() -> None:
    """20 ns for a byte are 50 MB/s; what has no price is free."""
    sources = [
        {"board": "b", "figure": "chip.t_read_ns", "source": "data sheet", "estimate": False},
        {"board": "b", "figure": "cpu_instruction_ps", "source": "guess", "estimate": True},
        {"board": "x", "figure": "cpu_instruction_ps", "source": "other", "estimate": False},
    ]
    other = {**MODEL, "cpu_instruction_ps": 0, "board": {**MODEL["board"], "name": "x"}}  # type: ignore[dict-item]
    facts = {f.name: f for f in time_model([MODEL, other, MODEL], {"provenance": sources})}
    assert {name: fact.value.replace("\u00a0", " ") for name, fact in facts.items()} == {
        "Lab kernel": facts["Lab kernel"].value,
        "Board": "b, x",
        "Processor": "c",
        "RAM": "32.0 MiB",
        INSTRUCTION: "12.3 ns per instruction, free (not charged)",
        "CPU time per byte copied by memory routines": "free (not charged)",
        "CPU time per byte set by memory routines": "3.50 ns per byte",
        "CPU time per call of memcpy() or memmove(), beside its bytes": "150 ns",
        "CPU time per call of memset(), beside its bytes": "free (not charged)",
        "CPU time per system call, the way into the kernel and back": "1.88 µs",
        "CPU time of the driver, per page read": "165 µs",
        "CPU time of the driver, per erase": "free (not charged)",
        "Waiting for the chip": "polled",
        "Page": "4,096 B",
        "Array read, tR": "1.00 µs",
        "Page program, tPROG": "3.00 µs",
        "Block erase, tBERS": "7.00 µs",
        "Command and address": "100 ns",
        "Bus, reading": "20.0 ns per byte (50.0 MB/s)",
        "Bus, writing": "5.00 ns per byte (200 MB/s)",
        "ECC, per page read": "20.5 µs",
        "ECC, per page programmed": "20.5 µs",
        "Partition": "1.50 MiB",
    }
    on_spi = {"spi_clock_hz": 50_000_000, "spi_rx_bits": 4, "spi_tx_bits": 1}
    nor = {"board": {**on_spi, "chip": {"t_prog_byte_ns": 30_000}}}
    assert [(f.name, f.value.replace("\u00a0", " ")) for f in time_model([nor], {})[1:]] == [
        ("Program of one byte", "30.0 µs"),
        ("SPI clock", "50.0 MHz"),
        ("SPI data lines, reading", "4"),
        ("SPI data lines, writing", "1"),
    ]
    price = facts[INSTRUCTION]
    assert (price.basis, price.estimate) == ("guess; other", True)
    read = facts["Array read, tR"]
    assert (read.basis, read.estimate) == ("data sheet", False)
    assert (facts["Page"].basis, facts["Page"].estimate) == ("", False)
    free = time_model([{"board": {"chip": {"bus_read_ps": 0}}}], {})
    assert [fact.value for fact in free if fact.name == "Bus, reading"] == ["0 ns per byte"]
    assert facts["Lab kernel"] == Fact("Lab kernel", facts["Lab kernel"].value, "", False)
    # 999.6 ns are 1,000 with three figures, and 1 MB/s.
    prices = {"board": {"chip": {"bus_read_ps": 999_600}}}
    prices |= {"cpu_instruction_ps": 999_600, "cpu_byte_ps": 999_600}  # type: ignore[dict-item]
    words = [fact.value.replace("\u00a0", " ") for fact in time_model([prices], {})[1:]]
    assert words == [
        "1,000 ns per instruction",
        "1,000 ns per byte",
        "1,000 ns per byte (1.00 MB/s)",
    ]


def test_the_time_of_a_real_processor_takes_the_place_of_prices() -> None:
    kernel, time, *rest = time_model([MODEL], {"cpu_time": "as it is"})
    assert (kernel.name, time) == ("Lab kernel", Fact("CPU time", "as it is", "", False))
    prices = time_model([MODEL], {})
    gone = [fact for fact in prices[1:] if fact not in rest]
    assert gone == [fact for fact in prices if fact.name.startswith("CPU time per ")] != []


def test_a_figure_has_the_source_of_its_value() -> None:
    """Older versions tell no values; a chip's figure stands in the chip."""

    def basis(figure: str, *values: int | None) -> str:
        sources = [
            {"board": "b", "figure": figure, "source": str(n), "estimate": False, "value": value}
            for n, value in enumerate(values)
        ]
        last = figure.rpartition(".")[2]
        found = basis_of({"provenance": sources}, MODEL, last)
        return str(found["source"]) if found else ""

    assert basis("chip.t_read_ns", 5, 1_000, 7) == "1"
    assert basis("chip.t_read_ns", None, None) == "0"
    assert basis("ram_bytes", 1, 32 * 2**20) == "1" and basis("ram_bytes") == ""


def test_a_run_in_another_kernel_says_so() -> None:
    assert other_kernel(time_model([MODEL], {})) == ""
    assert other_kernel(()) == ""
    board = Fact("Board", "b")
    assert other_kernel((board, Fact("Lab kernel", "period"))) == "period"
    # What its processor can do is the board's part, and no other kernel.
    assert other_kernel((board, Fact("Lab kernel", "default; unaligned"))) == ""
    assert other_kernel((board, Fact("Lab kernel", "period; unaligned-period"))) == "period"
    assert other_kernel((board, Fact("Lab kernel", "default; period"))) == ""


def test_notes_say_whether_a_board_was_measured() -> None:
    board = {"title": "T", "chip": "c", "derivation": "by  a\nrule"}
    boards = {"x": {**board, "calibrated": True}, "y": {**board, "calibrated": False}}
    assert notes({"boards": boards}) == (
        "T (x), c: calibrated against a real board. by a rule",
        "T (y), c: not calibrated against a real board. by a rule",
    )
    assert notes({}) == ()


# Run directories.

ONE_SEED: Overrides = [("seed", (1,))]


def test_run_is_read_with_axes_and_commands(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r"))
    assert [case.id for case in run.cases] == case_ids()
    first = run.cases[0]
    assert (first.filesystem, first.state, first.compression) == ("jffs2", "free", "none")
    assert first.command == f"ffslab run ffsmark --case {first.id}"
    assert len(first.erases) == 200 and min(first.erases) >= 0 and sum(first.erases) > 100
    assert {lat.op for lat in first.latencies} >= {"create", "read", "append", "delete"}
    assert run.seeds == ("1", "2", "3")
    assert run.varying == ("filesystem", "compression", "write_mode", "state", "seed")


def test_overrides_are_part_of_the_command(tmp_path: Path) -> None:
    overrides: Overrides = [("partition_bytes", ("64 MiB",)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides))
    assert "--set 'partition_bytes=\"64 MiB\"'" in run.cases[0].command


def test_damaged_results_give_a_clear_message(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    first, second, *rest = (folder / "results.jsonl").read_text().splitlines()
    (folder / "results.jsonl").write_text("\n".join([first, second[:100], *rest]) + "\n")
    with pytest.raises(DamagedResultError, match=str(folder)) as caught:
        load_run(folder)
    assert "next:" in str(caught.value)


def test_what_is_no_run_or_has_no_results(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        load_run(tmp_path)
    folder = write_run(tmp_path / "r", ONE_SEED)
    (folder / "results.jsonl").write_text("")
    with pytest.raises(UsageError, match="no results yet"):
        load_run(folder)


VARIANTS = ("yaffs2", "yaffs2-inband", "yaffs2-no-cache")


def test_an_option_that_a_file_system_does_not_vary_is_in_no_label(tmp_path: Path) -> None:
    overrides: Overrides = [("filesystem", ("jffs2", *VARIANTS)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides, study="yaffs2"))
    assert run.varying == ("filesystem", "compression", "state")
    facts = {fact.key: fact for fact in run.filesystems}
    assert facts["jffs2"].code.startswith("the Linux kernel")
    assert "ffslab" in facts["yaffs2"].code
    assert facts["yaffs2-inband"].mounts == ("mount -t yaffs2 -o inband-tags",)
    varied: Overrides = [
        ("filesystem", ("yaffs2",)),
        ("options.tags", ("oob", "inband")),
        *ONE_SEED,
    ]
    run = load_run(write_run(tmp_path / "s", varied, study="yaffs2"))
    assert "tags" in run.varying
    assert len(run.filesystems[0].mounts) == 2


# What is kept of them: histograms above all.

OP = "read"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """JFFS2 and UBIFS with three seeds each, free."""
    options: Overrides = [("options.compression", ("none",)), ("options.write_mode", ("default",))]
    two: Overrides = [("filesystem", ("jffs2", "ubifs")), ("state", ("free",))]
    return write_run(tmp_path / "r", [*two, *options])


def edited(folder: Path, changes: dict[int, dict[str, Any]]) -> None:
    """Gives the results of these numbers other keys."""
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [{**row, **changes.get(number, {})} for number, row in enumerate(rows)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def latency(*buckets: list[int], count: int = 1, at_ns: int = 0) -> dict[str, Any]:
    times = {"sum_ns": count * at_ns, "min_ns": at_ns, "max_ns": at_ns}
    rest = dict.fromkeys(("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns"), at_ns)
    return {"phase": "p", "op": OP, "count": count, **times, **rest, "buckets": list(buckets)}


def shared(folder: Path) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
    """For each histogram the numbers of the cases that share it, and its buckets."""
    cases = load_run(folder).cases
    for own in {id(case.histograms): case.histograms for case in cases}.values():
        members = tuple(n for n, case in enumerate(cases) if case.histograms is own)
        yield members, dict(own[OP].buckets()) if OP in own else {}


def test_histograms_of_seeds_are_one(folder: Path) -> None:
    told = {0: [latency([3, 1], [4, 2], count=3, at_ns=3), latency([9, 1], at_ns=9)]}
    told |= {1: [latency([3, 5], count=5, at_ns=4)], 2: [latency([8, 1], count=0)]}
    told |= {number: [latency([3, 1])] for number in (3, 4, 5)}
    edited(folder, {number: {"latencies": own} for number, own in told.items()})
    assert list(shared(folder)) == [((0, 1, 2), {3: 6, 4: 2, 9: 1}), ((3, 4, 5), {3: 3})]
    whole = load_run(folder).cases[0].histograms[OP]
    assert (whole.count, whole.sum_ns, whole.min_ns, whole.max_ns) == (9, 38, 3, 9)


def test_what_is_shown_shares_nothing_with_what_is_not(folder: Path) -> None:
    told = {number: {"latencies": [latency([number, 1])]} for number in range(6)}
    edited(folder, {**told, 1: {**told[1], "outcome": "fail"}})
    found = [members for members, _ in shared(folder)]
    assert found == [(0,), (1,), (2,), (3, 4, 5)]


@pytest.mark.parametrize("bucket", [[7], [7, 1, 2], [], [-1, 5], [7, -1], [2**64, 1]])
def test_what_is_no_bucket_is_damage(folder: Path, bucket: list[int]) -> None:
    edited(folder, {0: {"latencies": [latency([3, 1], bucket)]}})
    with pytest.raises(DamagedResultError, match="its results lack what the report needs"):
        read_kept(open_run(folder))


def test_each_result_is_judged_and_keeps_what_its_collector_says(folder: Path) -> None:
    bound = {"bound_us": 1, "calls": 2, "missed": 3, "forced_runs": 4, "longest_ns": 5}
    edited(folder, {1: {"collector": {"bound": bound}}})
    judged: list[Any] = []
    judge: Any = SimpleNamespace(take=judged.append)
    read = read_kept(open_run(folder), judge)
    assert [row["id"] for row in judged] == [each.head["id"] for each in read]
    assert [each.figures.collector for each in read[:3]] == [None, {"bound": bound}, None]


def rows_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_only_the_seed_may_differ_among_those_that_share(folder: Path) -> None:
    row = rows_in(folder)[4]
    short = {"what": "bytes", "measured": 1, "asked": 2, "stopped": "ENOSPC", "accepted": True}
    edited(folder, {1: {"short": short}, 4: {"axes": {**row["axes"], "workload.size": 7}}})
    assert [members for members, _ in shared(folder)] == [(0,), (1,), (2,), (3,), (4,), (5,)]
    edited(folder, {4: {"axes": row["axes"], "spec": {**row["spec"], "partition_bytes": 2**24}}})
    assert [members for members, _ in shared(folder)][3:] == [(3,), (4,), (5,)]


def test_when_the_slowest_began_in_their_phase(folder: Path) -> None:
    """Of a phase that nobody began it is since the start of the guest."""
    begun = {phase["phase"]: phase["t_start_ns"] for phase in rows_in(folder)[0]["phases"]}
    began = begun["transactions"] + 5
    own = {**latency([3, 1]), "phase": "transactions", "slowest": [[began, 70], [began + 2, 60]]}
    edited(folder, {0: {"latencies": [own, {**own, "phase": "?"}, latency([3, 1])]}})
    first, unknown, none = load_run(folder).cases[0].latencies
    assert (first.phase, first.slowest) == ("transactions", ((5, 70), (7, 60)))
    assert unknown.slowest == ((began, 70), (began + 2, 60))
    assert none.slowest == ()


def test_the_time_of_the_work_is_that_of_its_phases_that_were_good(folder: Path) -> None:
    """The phase `workload` is all of them together, and no part of the work."""
    phases = rows_in(folder)[0]["phases"]
    took = {phase["phase"]: phase["duration_ns"] for phase in phases}
    assert took.pop("workload") > 0 and len(took) == 3
    failed = [{**p, "status": "error" if p["phase"] == "creation" else p["status"]} for p in phases]
    uncounted = [{k: v for k, v in phase.items() if k != "flash_ns"} for phase in phases]
    tasks = [{"name": "init", "code_ns": 7, "driver_ns": 3, "chip_ns": 0}]
    told = [{**phase, "task_times": tasks} for phase in phases]
    edited(folder, {n: {"phases": own} for n, own in enumerate((failed, uncounted, told), 1)})
    cases = load_run(folder).cases
    assert [case.parts.get("driver") for case in cases[2:4]] == [None, 3 * 3]
    whole, rest, none, *_ = (sum(case.parts.values()) for case in cases)
    assert whole == pytest.approx(sum(took.values()))
    assert rest == pytest.approx(took["transactions"] + took["deletion"])
    assert none == 0
