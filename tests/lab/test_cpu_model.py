"""The CPU model: time grows with the price of code, and compression costs CPU time."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_support import STUDY, Boot, boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.specs import CPU_FIGURES
from ffslab.protocol.plan import plan_of, step
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, RECORDS_NAME
from ffslab.targets.virtual_flash import RIG, plan_text

WITH_COMPRESSION = STUDY.replace('["none"]', '["none", "zlib"]')
EVERY_FILESYSTEM = STUDY.replace('"ubifs"]', '"ubifs", "yaffs2"]')
SCALES = (0.0, 0.25, 0.5, 1.0, 2.0)


# The lines of /proc/cpu_model: a price, and what it is the price of.
COUNT_OF = {
    "instruction_ps": "instructions",
    "byte_ps": "bytes",
    "set_byte_ps": "set_bytes",
    "copy_ns": "copies",
    "set_ns": "sets",
    "syscall_ns": "syscalls",
}


def _ps(name: str, price: int) -> int:
    return price if name.endswith("_ps") else 1000 * price


def workload_ns(boot_: Boot) -> int:
    return sum(
        record["t_end_ns"] - record["t_start_ns"]
        for record in boot_.of_type("phase")
        if record["phase"] in ("creation", "transactions", "deletion")
    )


def at_scales(lab: LabBuild, directory: Path, case: Case) -> list[Boot]:
    return [
        boot(lab, directory / f"{case.id}-{scale}", replace(case, cpu_scale=scale))
        for scale in SCALES
    ]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
def test_time_falls_towards_the_flash_only_time(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    case = cases(EVERY_FILESYSTEM)[f"{filesystem}-free-s1"]
    boots = at_scales(lab, tmp_path, case)
    times = [workload_ns(b) for b in boots]
    assert times == sorted(times) and len(set(times)) == len(times), times
    free = boots[0].captured("cpu_model")
    assert free["charged_ns"] == 0 and free["instructions"] > 5 * 10**6


def test_with_a_free_cpu_the_time_is_the_flash_s(lab: LabBuild, tmp_path: Path) -> None:
    """JFFS2 writes through: with a free, polling CPU its phases are flash operations."""
    case = cases()["jffs2-free-s1"]
    polled = replace(case, cpu_scale=0.0, board=replace(case.board, wait="polled"))
    guest = boot(lab, tmp_path / "guest", polled)
    phases = [p for p in guest.of_type("phase") if p["phase"] in ("creation", "transactions")]
    flash_ns = sum(
        phase["flash_end"][key] - phase["flash_start"][key]
        for phase in phases
        for key in ("read_ns", "program_ns", "erase_ns")
    )
    time_ns = sum(phase["t_end_ns"] - phase["t_start_ns"] for phase in phases)
    # The collector's thread can be in the driver while the workload is, too.
    assert 0.98 * time_ns < flash_ns < 1.02 * time_ns


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_compression_costs_cpu_time(lab: LabBuild, tmp_path: Path, filesystem: str) -> None:
    both = cases(WITH_COMPRESSION)
    charged = {}
    for compression in ("none", "zlib"):
        case = both[f"{filesystem}-free-{compression}-s1"]
        charged[compression] = boot(lab, tmp_path / compression, case).captured("cpu_model")
    assert charged["zlib"]["charged_ns"] > 1.5 * charged["none"]["charged_ns"]


def test_charge_is_the_counts_times_the_prices(lab: LabBuild, tmp_path: Path) -> None:
    case = cases()["ubifs-aged-s1"]
    model = boot(lab, tmp_path / "guest", case).captured("cpu_model")
    prices = {f"cpu_{name}": model[name] for name in COUNT_OF}
    assert prices == case.cpu_prices and all(model[count] for count in COUNT_OF.values())
    due = sum(model[count] * _ps(name, model[name]) for name, count in COUNT_OF.items()) // 1000
    # The charge for what ran since the last system call is still due.
    assert 0 <= due - model["charged_ns"] < 10**6


def test_setting_memory_has_a_price_of_its_own(lab: LabBuild, tmp_path: Path) -> None:
    """zlib clears its tables, 64 KiB of them, in each call: the bytes are set, not copied."""
    both, models = cases(WITH_COMPRESSION), {}
    for compression in ("none", "zlib"):
        case = both[f"jffs2-free-{compression}-s1"]
        free = dict.fromkeys(CPU_FIGURES, 0) | {"cpu_set_byte_ps": 3500}
        dear = replace(case, board=replace(case.board, **free))
        models[compression] = boot(lab, tmp_path / compression, dear).captured("cpu_model")
        due = models[compression]["set_bytes"] * 3500 // 1000
        assert 0 <= due - models[compression]["charged_ns"] < 10**6
    # Each of the 300 files was written at least once, and compressed then.
    assert models["zlib"]["set_bytes"] - models["none"]["set_bytes"] > 300 * 65536
    assert models["zlib"]["bytes"] < 2 * models["none"]["bytes"]


def test_wait_models_differ_and_both_work(lab: LabBuild, tmp_path: Path) -> None:
    case = cases()["ubifs-aged-s1"]
    boots = {
        wait: boot(lab, tmp_path / wait, replace(case, board=replace(case.board, wait=wait)))
        for wait in ("polled", "interrupt")
    }
    assert workload_ns(boots["polled"]) != workload_ns(boots["interrupt"])


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
def test_a_sleep_without_a_switch_of_tasks_is_the_same(
    lab: LabBuild, tmp_path: Path, filesystem: str, scale: float
) -> None:
    """The words have one length: what is left of the guest's RAM is part of its history."""
    case = cases(EVERY_FILESYSTEM)[f"{filesystem}-aged-s1"]
    board = replace(case.board, wait="interrupt")
    case = replace(case, board=board, cpu_scale=scale, trace=True)
    plan = plan_text(case)
    assert plan.count("wait%3Dinterrupt") == 1
    switching = plan.replace("wait%3Dinterrupt", "wait%3Dswitching")
    alone = boot(lab, tmp_path / "alone", case, plan)
    switched = boot(lab, tmp_path / "switched", case, switching)
    assert len(trace_records(alone.trace)) > 1000
    assert alone.records == switched.records
    assert alone.trace.read_bytes() == switched.trace.read_bytes()
    assert alone.flash.read_bytes() == switched.flash.read_bytes()


def trace_records(path: Path) -> list[tuple[Any, ...]]:
    data = path.read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    (count,) = struct.unpack_from("<Q", data, 16)
    return [struct.unpack_from("<QQIIIIiIB", data, 64 + i * size) for i in range(count)]


def test_time_never_goes_backwards(lab: LabBuild, tmp_path: Path) -> None:
    case = replace(cases()["jffs2-aged-s1"], trace=True)
    guest = boot(lab, tmp_path / "guest", case)
    steps = guest.of_type("step")
    moments = [t for step in steps for t in (step["t_start_ns"], step["t_end_ns"])]
    assert moments == sorted(moments)
    # Records are written when an operation ends.
    ends = [start + duration for start, duration, *_ in trace_records(guest.trace)]
    assert len(ends) > 1000 and ends == sorted(ends)


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_a_guest_halts_wherever_code_is_due(lab: LabBuild, tmp_path: Path, filesystem: str) -> None:
    """With a file system mounted, and after plans that leave the time of the next charge here and
    there: boot() takes no other end than that of a guest that halted."""
    case = cases()[f"{filesystem}-free-s1"]
    begin = [*RIG.begin(case, trace=False), *RIG.erase(), *RIG.mount(case, new=True)]
    for path in ("version", "mtd", "meminfo", "mounts", "filesystems", "modules"):
        plan = plan_of([*begin, step("capture", path=f"/proc/{path}")])
        guest = boot(lab, tmp_path / path, case, plan)
        assert guest.of_type("end")[0]["status"] == "ok"


# pclmulqdq $0, %xmm0, %xmm0, once; and an undefined instruction with as many bytes.
TRIAL = bytes.fromhex("660f3a44c000")
UNDEFINED = bytes.fromhex("0f0b90909090")


@pytest.mark.parametrize("name", ["jffs2-aged-zlib-s1", "ubifs-aged-zlib-s1"])
def test_a_host_that_does_not_multiply_without_carry(
    lab: LabBuild, tmp_path: Path, name: str
) -> None:
    """The kernel tries the instruction; here it finds none and looks up the table."""
    kernel = lab.kernel.read_bytes()
    assert kernel.count(TRIAL) == 1
    other = tmp_path / lab.kernel.name
    other.write_bytes(kernel.replace(TRIAL, UNDEFINED))
    other.chmod(0o755)
    case = cases(WITH_COMPRESSION)[name]
    here = boot(lab, tmp_path / "here", case)
    there = boot(replace(lab, kernel=other), tmp_path / "there", case)
    for file in (RECORDS_NAME, CONSOLE_NAME, FLASH_NAME):
        one, two = ((guest.directory / file).read_bytes() for guest in (here, there))
        assert one == two, file
