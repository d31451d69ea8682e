"""The benchmark's part `flash` without a guest: plans, arithmetic, goals, tables."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import flash_plans as plans
from bench import flash_table as tables
from bench.flash_cost import DirectoryCost, FlashCosts, MountCost, Phase, WorkloadCost, observe
from bench.run import Request, run_bench

from ffslab.errors import UsageError
from ffslab.protocol.plan import parse_step
from ffslab.protocol.records import parse_records

SIZES = plans.Sizes()
YAFFS = dict.fromkeys(
    (
        "data_writes",
        "header_writes",
        "summary_writes",
        "checkpoint_writes",
        "gc_copies",
        "pages_verified",
    ),
    0,
)


def phase(
    read: int = 0,
    programmed: int = 0,
    ns: int = 0,
    busy_ns: int = 0,
    driver_ns: int = 0,
    operations: int = 1,
    **own: int,
) -> Phase:
    flash = {
        "pages_read": read,
        "oob_reads": 0,
        "pages_programmed": programmed,
        "oob_programs": 0,
        "blocks_erased": 0,
    }
    return Phase(
        flash,
        {"busy_ns": busy_ns, "driver_ns": driver_ns},
        {**YAFFS, **own},
        ns,
        operations,
        plans.MIB,
    )


LOGFS = dict.fromkeys(
    (
        *(name for names in tables.LOGFS_OBJECTS.values() for name in names),
        "gc_objects",
        "commits",
        "journal_bytes",
    ),
    0,
)


def workload(name: str, measured: Phase, filesystem: str = "yaffs2") -> WorkloadCost:
    return WorkloadCost(filesystem, name, measured, 2048)


def mount(how: str, seconds: float, *, by_checkpoint: bool) -> MountCost:
    return MountCost("yaffs2", how, phase(ns=round(seconds * 1e9)), 0, by_checkpoint)


def directories(
    cpu_ns: dict[int, int], operation: str = "lookup", filesystem: str = "yaffs2"
) -> FlashCosts:
    """Each operation keeps the chip busy for 1 ms besides."""
    ms = 10**6
    costs = [
        DirectoryCost(
            filesystem,
            operation,
            n,
            phase(ns=2 * (ns + ms), busy_ns=ms, driver_ns=ms, operations=2),
        )
        for n, ns in cpu_ns.items()
    ]
    return FlashCosts(replace(SIZES, directories=tuple(cpu_ns)), directories=tuple(costs))


def test_amplification_is_bytes_programmed_per_byte_written() -> None:
    cost = workload("sequential-4096", phase(programmed=520))
    assert cost.write_amplification == 520 * 2048 / 2**20
    assert cost.per_mib(cost.phase.programmed) == 520


def test_what_moves_and_verifies_pages_is_no_read_of_the_workload() -> None:
    measured = phase(read=9, programmed=6, gc_copies=4, pages_verified=2, data_writes=2)
    assert measured.other_reads == 3
    assert measured.other_programs == 0


@pytest.mark.parametrize(("pages", "met"), [(512, True), (527, True), (528, False)])
def test_the_goal_of_a_sequential_write(pages: int, met: bool) -> None:
    check = tables.sequential_check(workload("sequential-4096", phase(programmed=pages)))
    assert check and check.met is met
    assert tables.sequential_check(workload("create", phase())) is None
    assert tables.sequential_check(workload("sequential-4096", phase(), "jffs2")) is None


@pytest.mark.parametrize(("pages", "met"), [(563, True), (564, False)])
def test_the_goal_of_a_sequential_write_of_logfs(pages: int, met: bool) -> None:
    """1.1 × 512 pages of 2 KiB."""
    check = tables.sequential_check(workload("sequential-4096", phase(programmed=pages), "logfs"))
    assert check and check.met is met
    assert check.name.startswith("logfs")


def test_objects_of_logfs_are_counted_by_what_they_are() -> None:
    own = {"data_written": 5, "indirect_1_written": 1, "indirect_4_written": 2, "inodes_written": 4,
           "inode_file_2_written": 6, "gc_objects": 3, "commits": 9,
           "journal_bytes": 8192}  # fmt: skip
    cost = workload("create", phase(**{**LOGFS, **own}), "logfs")
    table = tables.objects_table(FlashCosts(SIZES, (cost, workload("create", phase()))))
    assert table.rows[1] == ("", "5", "3", "4", "6", "3", "9", "8", "")
    assert len(table.rows) == 2


@pytest.mark.parametrize(("read", "met"), [(7, True), (8, False)])
def test_one_read_too_many_misses_the_goal_of_overwrites(read: int, met: bool) -> None:
    check = tables.overwrite_check(
        workload("overwrite", phase(read=read, gc_copies=3, pages_verified=4))
    )
    assert check and check.met is met


@pytest.mark.parametrize(
    ("cost", "met"),
    [
        (mount("clean", 0.05, by_checkpoint=True), True),
        (mount("clean", 0.051, by_checkpoint=True), False),
        (mount("scan", 0.3, by_checkpoint=False), True),
        (mount("crash", 0.31, by_checkpoint=False), False),
        # Quick, but not the way that is asked for.
        (mount("clean", 0.01, by_checkpoint=False), False),
        (mount("scan", 0.01, by_checkpoint=True), False),
    ],
)
def test_the_goals_of_mounts(cost: MountCost, met: bool) -> None:
    check = tables.mount_check(cost)
    assert check and check.met is met


@pytest.mark.parametrize(
    ("cpu_ns", "met"),
    [
        ({1250: 20_000, 10_000: 20_000}, True),
        ({1250: 20_000, 10_000: 25_800}, True),  # grows with the logarithm
        ({1250: 20_000, 10_000: 27_000}, False),
        ({1250: 20_000, 10_000: 160_000}, False),
    ],
)
def test_a_directory_may_grow_with_the_logarithm_only(cpu_ns: dict[int, int], met: bool) -> None:
    costs = directories(cpu_ns)
    (check,) = tables.checks(costs)
    assert check.met is met
    # The chip's time is not in it: it would hide the growth.
    assert check.value == pytest.approx(cpu_ns[10_000] / 20_000)


@pytest.mark.parametrize(
    ("filesystem", "operation", "largest_ns", "met"),
    [
        ("logfs", "lookup", 36_000, True),
        ("logfs", "lookup", 36_100, False),
        # log 10,000 / log 1,250 = 1.2916: of 20,000 ns 25,832.
        ("logfs", "lookup-all", 25_800, True),
        ("logfs", "lookup-all", 25_900, False),
        ("jffs2", "lookup", 160_000, None),
    ],
)
def test_some_look_ups_of_logfs_may_need_what_is_not_in_memory(
    filesystem: str, operation: str, largest_ns: int, met: bool | None
) -> None:
    costs = directories({1250: 20_000, 10_000: largest_ns}, operation, filesystem)
    assert [check.met for check in tables.checks(costs)] == ([] if met is None else [met])


def test_the_first_look_up_has_no_goal() -> None:
    assert tables.checks(directories({1250: 1, 10_000: 9}, "first")) == []


def all_figures() -> FlashCosts:
    """Large ones, of every file system."""
    large = phase(
        read=1_500_000, programmed=1_600_000, ns=10**10, busy_ns=10**9, operations=1000,
        data_writes=60_000, header_writes=90_000, summary_writes=30_000, gc_copies=1_400_000,
        pages_verified=1600, **dict.fromkeys(LOGFS, 1_400_000),
    )  # fmt: skip
    workloads = [
        workload(name, large, filesystem)
        for filesystem in plans.FILESYSTEMS
        for name in tables.workload_titles(SIZES)
    ]
    mounts = [
        MountCost(filesystem, how, large, 10**9, by_checkpoint=how == "clean")
        for filesystem in plans.FILESYSTEMS
        for how in ("clean", "scan", "crash", "scan-bare", "crash-bare")
    ]
    first = replace(large, operations=1)
    listed = [
        DirectoryCost(filesystem, operation, n, first if operation == "first" else large)
        for filesystem in plans.DIRECTORY_FILESYSTEMS
        for operation in plans.DIRECTORY_OPERATIONS
        for n in SIZES.directories
    ]
    return FlashCosts(SIZES, tuple(workloads), tuple(mounts), tuple(listed))


def test_the_tables_fit_80_columns_and_show_every_goal() -> None:
    costs = all_figures()
    text = tables.text(tables.tables(costs))
    assert max(len(line) for line in text.splitlines()) <= 80
    checks = tables.checks(costs)
    # Three sequential writes, two rows of overwrites, three mounts, five operations on
    # directories; of LogFS sequential writes and directories.
    assert len(checks) == 13 + 8
    verdicts = sum(line.endswith((" met", " missed")) for line in text.splitlines())
    assert verdicts == len(checks)


def test_markdown_has_the_same_cells() -> None:
    shown = tables.tables(all_figures())
    rows = [line for line in tables.markdown(shown).splitlines() if line.startswith("|")]
    assert len(rows) == sum(2 + len(table.rows) for table in shown)
    for table in shown:
        for row in table.rows:
            cells = f"**{row[0]}**" if len(row) == 1 else " | ".join(row)
            assert any(cells in line for line in rows)
    pipes = [line.count("|") for line in rows]
    assert sorted(set(pipes)) == sorted({len(table.columns) + 1 for table in shown})


def test_raw_figures_are_plain() -> None:
    raw = json.loads(json.dumps(all_figures().raw()))
    assert raw["workloads"][0]["phase"]["own"]["gc_copies"] == 1_400_000


def test_markdown_is_for_parts_that_count() -> None:
    with pytest.raises(UsageError, match="flash and price"):
        run_bench(Request(("flash", "boot"), 1, None, True, print, print))


def test_records_become_phases() -> None:
    def line(**keys: object) -> str:
        return json.dumps({"v": 1, **keys})

    def flash(label: str, pages: int) -> str:
        counters = {"pages_read": pages, "pages_programmed": 2 * pages}
        return line(
            type="flash", label=label, t_ns=0, counters=counters, erases=[], programs=[], reads=[]
        )

    numbers = count()

    def step(verb: str, label: str, ns: int) -> str:
        times = {"t_start_ns": 5, "t_end_ns": 5 + ns}
        index = next(numbers)
        return line(type="step", index=index, verb=verb, label=label, **times, status="ok")

    def captured(path: str, label: str, text: str) -> list[str]:
        return [line(type="file", path=path, text=text), step("capture", label, 0)]

    records = [
        flash("write:start", 10),
        *captured(plans.STATISTICS["yaffs2"], "write:start", "data_writes 3\n"),
        step("exec", "write", 900),
        flash("write:end", 14),
        *captured(plans.STATISTICS["yaffs2"], "write:end", "data_writes 8\n"),
        *captured("/tmp/result", "write", "operations 5\nbytes 4096\nns 700\n"),
        flash("clean:start", 14),
        step("ubi-attach", "clean:attach", 30),
        step("mount", "clean", 12),
        flash("clean:end", 15),
    ]
    observed = observe(parse_records(("\n".join(records) + "\n").encode()))
    write = observed.phase("write")
    assert write.flash == {"pages_read": 4, "pages_programmed": 8}
    assert write.own == {"data_writes": 5}
    # The program's own time, without what it takes to start it.
    assert (write.ns, write.operations, write.user_bytes) == (700, 5, 4096)
    assert observed.phase("clean").ns == 42


# ---- plans ----

CASES = plans.cost_cases()


def verbs(plan: str) -> list[str]:
    return [line.split()[0] for line in plan.splitlines()[1:]]


def test_the_chip_is_that_of_the_goals() -> None:
    assert {name for name, _ in CASES} == set(plans.FILESYSTEMS)
    for case in CASES.values():
        chip = case.board.chip
        assert (chip.page_bytes, chip.oob_bytes, chip.pages_per_block) == (2048, 64, 64)
        assert chip.page_read_ns() == 25_000 + 2112 * 50
        assert chip.page_program_ns() == 200_000 + 2112 * 50
        assert chip.block_erase_ns() == 1_000_000
        assert case.partition_bytes == 100 * 2**20
        assert not any(case.cpu_prices.values())
        assert (case.workload.number, case.workload.transactions) == (5000, 15_000)
        assert "zlib" not in case.filesystem.mount_options


@pytest.mark.parametrize("name", plans.FILESYSTEMS)
def test_each_phase_is_between_two_snapshots(name: str) -> None:
    case = CASES[name, "free"]
    whole = [
        plans.sequential_plan(case, SIZES, 512),
        plans.overwrite_plan(case, SIZES),
        plans.create_plan(case, SIZES),
        plans.mount_plan(case, SIZES),
        plans.crash_plan(case, SIZES),
        plans.after_crash_plan(case),
        plans.directory_plan(case, 10, SIZES),
        plans.ffsmark_plan(case),
    ]
    for plan in whole:
        steps = [parse_step(line) for line in plan.splitlines()[1:]]
        labels = [keys["label"] for verb, keys in steps if verb == "snapshot"]
        starts = {label for label in labels if label.endswith(":start")}
        assert starts
        for label in starts:
            assert labels.count(label) == labels.count(label.replace(":start", ":end")) == 1
        # Those that have statistics are asked for them, others must not be.
        for type_name, path in plans.STATISTICS.items():
            assert (path in plan) is (type_name == case.filesystem.type)
        mounts, attaches = (
            sum(verb == name for verb, _ in steps) for name in ("mount", "ubi-attach")
        )
        assert attaches == (mounts if name == "ubifs" else 0)


def test_a_crash_leaves_no_trace_of_an_unmount() -> None:
    case = CASES["ubifs", "free"]
    assert not {"umount", "ubi-detach", "sync"} & set(verbs(plans.crash_plan(case, SIZES)))
    assert not {"erase", "ubi-mkvol"} & set(verbs(plans.after_crash_plan(case)))


def test_options_of_a_scan_are_added_to_those_of_the_case() -> None:
    case = CASES["yaffs2-inband", "free"]
    options = [
        keys.get("options")
        for verb, keys in map(parse_step, plans.mount_plan(case, SIZES).splitlines())
        if verb == "mount"
    ]
    assert options == ["inband-tags", "inband-tags", "inband-tags,no-checkpoint-read"]


def test_a_goal_is_never_met_by_a_missing_figure() -> None:
    check = tables.mount_check(mount("clean", 0.0, by_checkpoint=False))
    assert check and math.isinf(check.value)
