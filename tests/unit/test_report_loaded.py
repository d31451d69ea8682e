"""What the report takes from results, key by key, and what it computes while it reads them.

Every value of an input is another number, so that a key taken for another is seen.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from result_support import stub

from ffslab.protocol.records import Prepared, TaskRecord
from ffslab.report.axes import FILES, Axis, Mean, axis_of
from ffslab.report.data import Fact, Latency, packed_buckets
from ffslab.report.estimates.load import _times
from ffslab.report.facts import notes, other_kernel, time_model
from ffslab.report.load import erases_during, histogram, of_stored
from ffslab.results.result import PhaseResult, PreparationResult, WallResult
from ffslab.workloads.ffsmark.report.load import _flash_time, _metrics, _wall_metrics
from ffslab.workloads.micro.report import load as micro_load
from ffslab.workloads.micro.report.data import Response, TaskWork, merged
from ffslab.workloads.micro.report.series import curves
from ffslab.workloads.micro.stored import StreamResult
from ffslab.workloads.tree.report import load as tree_load
from ffslab.workloads.tree.report.data import AGENT, Image, Memory, Task
from ffslab.workloads.tree.report.series import Split, means, split_of, spots
from ffslab.workloads.tree.report.words import Role
from ffslab.workloads.tree.result import NOT_TIMED
from ffslab.workloads.tree.stored import MemoryResult, TreeStep

TIMES = ("flash_read_ns", "flash_program_ns", "flash_erase_ns", "flash_transfer_ns", "flash_ns")


def phase(name: str, duration: int, times: tuple[int, ...]) -> dict[str, Any]:
    spent = dict(zip(TIMES, times, strict=True))
    return stub(PhaseResult, phase=name, duration_ns=duration, **spent)


PHASES = [
    phase("creation", 1_000_000, (1_000, 60_000, 0, 400, 61_400)),
    phase("transactions", 2_000_000, (2_000, 90_000, 28_000, 900, 120_900)),
    phase("deletion", 4_000_000, (4_000, 150_000, 35_000, 70, 189_070)),
]
FLASH_TIME = {
    "flash_read_ns": 7_000,
    "flash_program_ns": 300_000,
    "flash_erase_ns": 63_000,
    "flash_transfer_ns": 1_370,
    "flash_ns": 371_370,
    "rest_ns": 7_000_000 - 371_370,
}


def test_flash_time_is_what_the_chip_counted() -> None:
    assert _flash_time(PHASES) == FLASH_TIME
    # A chip that does not count leaves it open; the flash cannot rest less than never.
    lacking = {key: value for key, value in PHASES[1].items() if key != "flash_transfer_ns"}
    assert _flash_time([PHASES[0], lacking]) == {}
    short = [{**one, "duration_ns": 1} for one in PHASES]
    assert _flash_time(short)["rest_ns"] == 0


def test_the_metrics_of_a_case() -> None:
    rates = {"read_bytes_per_s": 11.0, "write_bytes_per_s": 12.0}
    # Files per second: 30 ÷ 1 ms, and 50 ÷ 4 ms.
    creation = {**PHASES[0], **rates, "files_created": 30, "files_deleted": 1}
    creation["write_amplification"] = 1.5
    deletion = {**PHASES[2], "files_created": 2, "files_deleted": 50, "write_amplification": None}
    keys = ("read_bytes_per_s", "write_bytes_per_s", "pages_read", "pages_programmed")
    keys += ("blocks_erased", "erases_mean", "erases_std", "erases_spread", "write_amplification")
    keys += ("in_driver_ns",)
    whole = {key: float(number) for number, key in enumerate(keys, 101)}
    del whole["erases_std"]
    total = stub(PhaseResult, phase="workload", other=5, **whole)
    transactions = {**PHASES[1], "files_created": 9, "files_deleted": 9}
    row = {
        "phases": [creation, transactions, deletion, total],
        "virtual_ns": 99,
    }
    assert _metrics(row) == pytest.approx(
        {
            "creation_ns": 1_000_000,
            "transactions_ns": 2_000_000,
            "deletion_ns": 4_000_000,
            "creation_read_bytes_per_s": 11,
            "creation_write_bytes_per_s": 12,
            "creation_files_per_s": 30_000,
            "creation_share": 1.5,
            "deletion_files_per_s": 12_500,
            **whole,
            **FLASH_TIME,
            "total_ns": 99,
        }
    )
    cut = {"phases": [{**PHASES[0], "duration_ns": 0}], "virtual_ns": None}
    assert _metrics(cut) == {"creation_ns": 0}
    wall = stub(WallResult, wall_ns=7, virtual_per_wall=2)
    assert _wall_metrics(wall) == {"wall_ns": 7, "virtual_per_wall": 2}
    assert _wall_metrics(stub(WallResult, wall_ns=5)) == {"wall_ns": 5}
    assert _wall_metrics(None) == {}


def test_erases_and_latencies() -> None:
    flash = [
        {"label": "creation:start", "erases": [1, 5]},
        {"label": "deletion:end", "erases": [4, 5]},
    ]
    phases = ("creation", "transactions", "deletion")
    assert erases_during({"flash": flash}, phases) == (3, 0)
    for snapshot in flash:
        assert erases_during({"flash": [snapshot]}, phases) == ()
    record = {"phase": "p", "op": "o", "count": 1, "sum_ns": 2, "min_ns": 3, "max_ns": 4}
    found = histogram({**record, "buckets": [[7, 1], [300, 2**40]]})
    assert found == replace(Latency("p", "o", 1, 2, 3, 4, b""), packed=found.packed)
    assert list(found.buckets()) == [(7, 1), (300, 2**40)]
    assert list(histogram({**record, "buckets": []}).buckets()) == []


@pytest.mark.parametrize("bucket", [[7], [7, 1, 2], [], [-1, 5], [7, -1], [2**64, 1]])
def test_what_is_no_bucket_is_refused(bucket: list[int]) -> None:
    with pytest.raises(ValueError, match="a bucket"):
        packed_buckets([[3, 1], bucket])


# Micro-benchmarks.

TASK = {
    "name": "t", "when": "after", "pages_read": 1, "pages_programmed": 2, "blocks_erased": 3,
    "busy_ns": 4, "oob_pages": 5,
}  # fmt: skip
FIGURES = {
    "count": 1,
    "mean_ns": 2,
    "p50_ns": 3,
    "p90_ns": 4,
    "p99_ns": 5,
    "p999_ns": 6,
    "max_ns": 7,
}
RESPONSE = Response(1, 2.0, 3.0, 4.0, 5.0, 7.0)


def test_a_stream_is_read() -> None:
    assert of_stored(Response, FIGURES) == RESPONSE
    work = of_stored(TaskWork, TASK, name="t", when="request", busy_ns=4)
    assert work == TaskWork("t", "request", 1, 2, 3, 4, 5) and work.operations == 11
    bare = {key: value for key, value in TASK.items() if key not in ("busy_ns", "when")}
    slow = {"request": 11, "latency_ns": 12, "offset": 13, "cause": "c"}
    entry = stub(StreamResult, stream=8, op="read", startup_count=9, all=FIGURES, tasks=[TASK])
    entry["running"] = {**FIGURES, "count": 10}
    entry["slowest"] = [{**slow, "tasks": [{**bare, "name": "u"}, {**bare, "busy_ns": 4}]}]
    found = micro_load._stream(entry, entry["all"])
    assert (found.stream, found.op, found.startup_count, found.all) == (8, "read", 9, RESPONSE)
    assert found.startup is None and found.running is not None and found.running.count == 10
    assert found.tasks == (TaskWork("t", "after", 1, 2, 3, 4, 5),)
    (slowest,) = found.slowest
    assert (slowest.request, slowest.latency_ns, slowest.offset, slowest.cause) == (11, 12, 13, "c")
    # The first versions told the time in single requests, too.
    assert slowest.tasks == (
        TaskWork("u", "request", 1, 2, 3, 0, 5),
        TaskWork("t", "request", 1, 2, 3, 4, 5),
    )
    entry["startup"] = {**FIGURES, "count": 12}
    found = micro_load._stream(entry, entry["all"])
    assert found.startup is not None and found.startup.count == 12


def test_the_figures_of_a_micro_benchmark() -> None:
    phases = [
        {"phase": "flush", "pages_programmed": 3},
        {"phase": "measure", "pages_programmed": 1, "blocks_erased": 2},
    ]
    wear = {"erases_mean": 4.5, "erases_std": 5.5, "pages_programmed": 6, "blocks_erased": 7}
    requests = [{"all": None, "bytes": 100}, {"all": None, "bytes": 20}]
    micro = {"volume_bytes": 8, "requests": 9, "file_bytes": 10, "stopped": "ENOSPC"}
    row = {"phases": [*phases, {"phase": "workload", **wear}], "requests": requests, "micro": micro}
    assert micro_load.figures_of(row) == {
        "streams": (),
        **wear,
        "flush_pages": 3,
        **micro,
        "moved_bytes": 120,
    }
    # Without its end, what was measured until then.
    assert micro_load.figures_of({"phases": phases}) == {
        "streams": (),
        "erases_mean": None,
        "erases_std": None,
        "pages_programmed": 1,
        "blocks_erased": 2,
        "flush_pages": 3,
    }


def test_a_case_that_measured_nothing_has_its_preparation() -> None:
    nothing = dict.fromkeys(("pages_programmed", "blocks_erased", "flush_pages"), 0)
    preparation = stub(PreparationResult, key="k")
    found = micro_load.figures_of({"phases": [], "preparation": preparation})
    assert found.pop("preparation").key == "k"
    assert found == {"streams": (), "erases_mean": None, "erases_std": None, **nothing}
    streams = [stub(StreamResult, op="read", all=FIGURES), stub(StreamResult)]
    row = {"phases": [], "requests": streams}
    assert [stream.all for stream in micro_load.figures_of(row)["streams"]] == [RESPONSE]


def test_a_preparation_is_read() -> None:
    phases = [
        {"phase": "prepare"},
        {"phase": "prepare", "pages_programmed": 10, "blocks_erased": 20},
        {"phase": "prepare", "pages_programmed": 100},
        {"phase": "settle", "pages_programmed": 1000, "blocks_erased": 1000},
    ]
    sizes = {"valid_bytes": 1, "invalid_bytes": 2, "file_bytes": 3}
    record = {
        "key": "k",
        "prepared": stub(Prepared, state="fill", **sizes, invalid_present=1),
        "phases": phases,
        "space": [
            {"label": "prepare:start", "free_bytes": 4},
            {"label": "prepare:end", "free_bytes": 5},
        ],
        "reserve_bytes": 0,
    }
    found = micro_load._preparation(record, {"prepare": {"pages_programmed": 7}})
    assert (found.key, found.state, found.invalid_present) == ("k", "fill", True)
    assert (found.valid_bytes, found.invalid_bytes, found.file_bytes) == (1, 2, 3)
    assert (found.pages_programmed, found.blocks_erased) == (110, 20)
    assert (found.free_before, found.free_after, found.reserve_bytes) == (4, 5, 0)
    own = {"prepare": {"pages_programmed": 7, "blocks_erased": 8}}
    found = micro_load._preparation(stub(PreparationResult), own)
    assert (found.key, found.state, found.pages_programmed, found.blocks_erased) == ("", "", 7, 8)
    assert (found.valid_bytes, found.invalid_bytes, found.file_bytes) == (0, 0, 0)
    assert (found.invalid_present, found.free_before, found.reserve_bytes) == (False, None, None)


def test_responses_of_several_streams_are_one() -> None:
    """Mean (2 × 10 + 6 × 30) ÷ 8 = 25; of percentiles the larger."""
    one = Response(2, 10.0, 5.0, None, 8.0, 9.0)
    two = Response(6, 30.0, 4.0, None, None, 40.0)
    nothing = Response(0, 1.0, 99.0, 99.0, 99.0, 99.0)
    assert merged([one, nothing, two]) == Response(8, 25.0, 5.0, None, 8.0, 40.0)
    assert merged([one, nothing]) is one
    assert merged([nothing]) is None


def test_curves_of_requests_are_means_over_seeds() -> None:
    def sample(panel: str, point: float, value: float | None, stopped: str = "") -> Any:
        case = SimpleNamespace(stopped=stopped)
        return SimpleNamespace(panel=panel, label="l", point=(point,), value=value, case=case)

    samples = [sample("p", 4, 10), sample("p", 2, 1), sample("p", 4, 30, "ENOSPC")]
    samples += [sample("p", 4, 50), sample("p", 2, None), sample("q", 4, None)]
    found = curves(samples, lambda one: one.value)  # type: ignore[attr-defined]
    line = {(2,): Mean(1, 1, 1, 1, False), (4,): Mean(30, 10, 50, 3, True)}
    assert found == {("p", "l"): line}
    assert list(found["p", "l"]) == [(2,), (4,)]


# Trees.


def test_a_step_is_read() -> None:
    counts = {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3}
    counts |= {"directories": 4, "files": 5, "found": 6}
    entry = stub(
        TreeStep,
        **counts,
        index=1,
        step="mount",
        phase="mount-2",
        prepared=True,
        status="ok",
        errno_name="E",
        duration_ns=70,
        flash_ns=8,
        tasks=[stub(TaskRecord, name="kworker/u2:1", busy_ns=9)],
        parts=[
            {"phase": "attach-2", "duration_ns": 30},
            {"phase": "mount-2", "duration_ns": 40},
        ],
    )
    roles = (Role("create", "create"), Role("mount", "mount again"))
    found = tree_load._step(entry, roles)
    assert (found.role, found.index, found.phase, found.prepared) == (roles[1], 1, "mount-2", True)
    assert (found.status, found.errno_name, found.ok) == ("ok", "E", True)
    assert (found.duration_ns, found.flash_ns, found.attach_ns) == (70.0, 8.0, 30.0)
    assert {key: getattr(found, key) for key in counts} == counts
    assert found.tasks == (Task("kworker", 0, 0, 0, 0, 9),)
    bare = stub(TreeStep, index=2, step="mount", phase="p", status="missing")
    found = tree_load._step(bare, roles)
    assert (found.role, found.prepared, found.ok) == (Role("mount", "p"), False, False)
    assert (found.errno_name, found.duration_ns, found.flash_ns, found.attach_ns) == (
        "", None, None, None,
    )  # fmt: skip
    assert (found.tasks, found.pages_read) == ((), None)
    assert tree_load._step({**entry, "index": 0}, roles).role == Role("mount", "mount-2")


def test_a_task_of_a_step_is_read() -> None:
    counts = {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3, "oob_pages": 4}
    found = tree_load._task({"name": "jffs2_gcd_mtd0", **counts, "busy_ns": 5})
    assert found == Task("jffs2_gcd_mtd0", 1, 2, 3, 4, 5)
    assert tree_load._task(stub(TaskRecord, name="ffsagent")) == Task(AGENT, 0, 0, 0, 0, 0)


def test_attaching_is_the_sum_of_its_parts() -> None:
    def parts(*durations: int) -> list[dict[str, Any]]:
        return [{"phase": "attach", "duration_ns": ns} for ns in durations]

    assert tree_load._attach_ns(parts(3, 4)) == 7
    assert tree_load._attach_ns([{"phase": "attached", "duration_ns": 1}]) is None


def test_memory_and_image_are_read() -> None:
    entry = stub(
        MemoryResult,
        label="mount",
        slab_bytes={"filesystem": 1, "kmalloc": 20, "inodes": 300, "other": 7},
        vmalloc_bytes=4_000,
        total_bytes=54_321,
        other_bytes=6,
        caches=[["b", 5], ["a", 5], ["c", 1]],
        vmalloc=[["f", 9]],
    )
    step = SimpleNamespace(phase="mount", role=Role("mount", "mount"))
    parts = {"filesystem": 1, "kmalloc": 20, "inodes": 300, "vmalloc": 4_000, "rest": 50_000}
    largest = (("vmalloc: f", 9), ("a", 5), ("b", 5))
    found = tree_load._memory(entry, [SimpleNamespace(phase="x"), step])  # type: ignore[list-item]
    assert found == Memory(step.role, "mount", False, parts, 54_321, 6, largest)
    bare = {key: entry[key] for key in ("label", "vmalloc_bytes", "total_bytes")}
    found = tree_load._memory(stub(MemoryResult, **bare, prepared=True), [])
    rest = {"filesystem": 0, "kmalloc": 0, "inodes": 0, "vmalloc": 4_000, "rest": 50_321}
    assert found == Memory(None, "mount", True, rest, 54_321, 0, ())
    sizes = {"image_bytes": 4, "flash_bytes": 5, "tree_bytes": 10}
    told = {"tree": "a", "tool": "b", "command": "c", **sizes, "write_ns": 7}
    image = of_stored(Image, told)
    assert image == Image("a", "b", "c", 4, 5, 10, 7.0) and image.ratio == 2.5
    assert Image("a", "b", "c", 0, 5, 10, None).ratio == 0


def test_a_duration_is_split_into_flash_and_processor() -> None:
    def split(duration: float | None, flash: float | None) -> Split | None:
        step: Any = SimpleNamespace(duration_ns=duration, flash_ns=flash)
        return split_of(step)

    assert split(100, 30) == Split(30, 70)
    assert split(100, 130) == Split(100, 0)
    assert split(100, None) is None and split(None, 1) is None


def test_values_of_steps_by_point_and_seed() -> None:
    def sample(x: float, seed: str, value: float | None, label: str = "l") -> Any:
        case = SimpleNamespace(seed=seed)
        return SimpleNamespace(place="p", label=label, x=x, case=case, value=value)

    samples = [sample(4, "1", 10), sample(2, "1", 1), sample(4, "2", 40)]
    samples += [sample(2, "2", None), sample(2, "1", 7, "m")]
    found = means(samples, lambda one: one.value)
    assert found == {
        ("p", "l"): {2: Mean(1, 1, 1, 1), 4: Mean(25, 10, 40, 2)},
        ("p", "m"): {2: Mean(7, 7, 7, 1)},
    }
    assert list(found["p", "l"]) == [2, 4]
    single = spots(samples, lambda one: one.value)
    assert single == {
        ("p", "l"): {(2, "1"): 1, (4, "1"): 10, (4, "2"): 40},
        ("p", "m"): {(2, "1"): 7},
    }
    assert next(iter(single["p", "l"])) == (2, "1")
    assert Mean.of([6, 1, 2]) == Mean(3, 1, 6, 3, False)


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


# Axes and the time model.


@pytest.mark.parametrize(
    ("name", "values", "unit", "texts"),
    [
        ("workload.request_bytes", (2048, 65_536), "KiB", ["2", "64"]),
        ("workload.volume_bytes", (2**20, 3 * 2**20), "MiB", ["1", "3"]),
        ("workload.volume_bytes", (0, 2**20), "MiB", ["0", "1"]),
        ("workload.volume_bytes", (2**20 - 1024, 2**20), "KiB", ["1,023", "1,024"]),
        ("workload.pause_us", (100, 1000), "ms", ["0.1", "1"]),
        ("workload.pause_us", (99, 1000), "µs", ["99", "1,000"]),
        ("workload.pause_us", (100, 999), "µs", ["100", "999"]),
        ("workload.pause_us", (1, 100, 1000), "µs", ["1", "100", "1,000"]),
        ("state.rate_percent", (30, 60), "%", ["30", "60"]),
        ("workload.partitions", (1, 12_345), "", ["1", "12,345"]),
        (FILES, (63, 10_017), "files", ["63", "10,017"]),
    ],
)
def test_an_axis_has_the_unit_that_suits_its_values(
    name: str, values: tuple[float, ...], unit: str, texts: list[str]
) -> None:
    axis = axis_of(name, [float(value) for value in values])
    assert axis.unit == unit
    assert [axis.number(float(value)) for value in values] == texts


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [
        ((1.0, 8.0), True),
        ((1.0, 7.9), False),
        ((0.0, 8.0), False),
        ((2.0, 8.0), False),
        ((1.0, 2.0, 8.0), True),
    ],
)
def test_an_axis_is_logarithmic_from_a_factor_of_eight(
    values: tuple[float, ...], logarithmic: bool
) -> None:
    files = Axis(FILES, "t (x)", "u", 1.0, values)
    assert (files.logarithmic, files.decades) == (logarithmic, logarithmic)
    other = Axis("x", "t (x)", "", 2.0, values)
    assert not other.decades
    assert (files.heading, other.heading, files.word) == ("t (x) (u)", "t (x)", "t")
    assert (files.text(3), other.text(3), other.value_text(3)) == ("3\u00a0u", "t 1.5", "1.5")


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
