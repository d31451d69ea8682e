"""What the report takes from results, key by key, and what it computes while it reads them.

Every value of an input is another number, so that a key taken for another is seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ffslab.report.axes import FILES, Axis, axis_of
from ffslab.report.data import Fact, Latency, packed_buckets
from ffslab.report.estimates.load import _times
from ffslab.report.facts import notes, other_kernel, time_model
from ffslab.report.load import erases_during, histogram
from ffslab.workloads.tree.result import NOT_TIMED


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
    slow = {**record, "buckets": [], "slowest": [[1007, 9], [1000, 5]]}
    assert histogram(slow, 1000).slowest == ((7, 9), (0, 5))


@pytest.mark.parametrize("bucket", [[7], [7, 1, 2], [], [-1, 5], [7, -1], [2**64, 1]])
def test_what_is_no_bucket_is_refused(bucket: list[int]) -> None:
    with pytest.raises(ValueError, match="a bucket"):
        packed_buckets([[3, 1], bucket])


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
    assert files.logarithmic is logarithmic
    other = Axis("x", "t (x)", "", 2.0, values)
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
