"""What the benchmark runs: full-size FFSMark cases, their floor, and the driver loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bench.guest import Guest, Runner
from ffslab.errors import InfrastructureError
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.study import expand, study_from_document
from ffslab.process import run_command
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import MOUNT_POINT, module_path, plan_text, vnand_chip

_STUDY = """
schema = 1
name = "bench"
title = "FFSMark at full size, UBIFS with write-back"

[base]
board = "apf27"
partition_bytes = "100 MiB"
seeds = [1]

[base.workload]
number = 5000
transactions = 15000

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
state = ["free", "aged"]
"options.compression" = ["none", "default"]
"""
ZLIB = "jffs2 free, zlib"
# Bytes of its identification: 256 MiB in pages of 2 KiB, 64 to the erase block.
_NANDSIM_ID = "first_id_byte=0x20 second_id_byte=0xaa third_id_byte=0x00 fourth_id_byte=0x15"
# nandsim keeps what is programmed in the guest's RAM.
_DRIVER_RAM_BYTES = 512 * 2**20
DRIVER_BLOCKS = 800
DRIVER_PAGES_PER_BLOCK = 64


def ffsmark_cases() -> dict[str, Case]:
    """The cases by name: "jffs2 free", "jffs2 aged", likewise of UBIFS and YAFFS2, and ZLIB."""
    catalog = load_catalog()
    study = study_from_document(parse_toml(_STUDY, "bench"), catalog, "bench")
    cases = {}
    for case in expand(study, catalog):
        name = f"{case.filesystem.name} {case.state.name}"
        compression = dict(case.filesystem.options)["compression"]
        if compression == "none":
            cases[name] = case
        elif f"{name}, {compression}" == ZLIB:
            cases[ZLIB] = case
    return cases


def balanced_cases() -> tuple[Case, ...]:
    """Four cases of nearly equal length, so that two workers end at the same time."""
    cases = ffsmark_cases()
    return tuple(
        replace(cases[name], id=f"{cases[name].id}-seed-{seed}", seed=seed)
        for name in ("jffs2 free", "ubifs free")
        for seed in (1, 2)
    )


def with_cpu_scale(case: Case, scale: float) -> Case:
    """The same case with another CPU speed; 0 charges nothing."""
    return replace(case, cpu_scale=scale)


def ffsmark(lab: LabBuild, case: Case) -> Guest:
    """The case as `ffslab run` runs it, but without the CPU model's statistics at the end.

    A kernel that does not count would say 0.
    """
    lines = [line for line in plan_text(case).splitlines() if "/proc/cpu_model" not in line]
    return Guest(lab, case, _joined(lines))


def counted_instructions(runner: Runner, lab: LabBuild, case: Case) -> int:
    """How many instructions the guest of a case executes, as its CPU model counts them."""
    stream = runner.records(Guest(lab, case, plan_text(case)))
    for record in stream.of_type("file"):
        if record["path"] == "/proc/cpu_model":
            return int(dict(line.split() for line in record["text"].splitlines())["instructions"])
    raise InfrastructureError(
        "a guest did not say what its CPU model counted",
        cause="plans no longer capture /proc/cpu_model",
        remedy="adapt bench/cases.py",
    )


def ffsmark_on_tmpfs(lab: LabBuild, case: Case) -> Guest:
    """The workload of `case`, a free one, on tmpfs: no chip, no monitor, the same system calls."""
    workload = [line for line in plan_text(case).splitlines() if line.startswith("ffsmark ")]
    mount = f"mount type=tmpfs source=none target={MOUNT_POINT}"
    plan = _joined(["ffsplan 1", mount, *workload, f"umount target={MOUNT_POINT}"])
    return Guest(lab, case, plan)


def single_step(lab: LabBuild, case: Case) -> Guest:
    """The cheapest plan that there is."""
    return Guest(lab, case, "ffsplan 1\nsleep ms=1\n")


def build_program(name: str, directory: Path) -> bytes:
    """Compiles NAME.c of this directory into `directory`; the static program's bytes."""
    source = Path(__file__).with_name(f"{name}.c")
    program = directory / name
    flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-static")
    run_command(["gcc", *flags, "-o", program, source])
    return program.read_bytes()


def driver_loop(
    lab: LabBuild, case: Case, driver: str, program: bytes, *, programs: bool, rounds: int
) -> Guest:
    """`rounds` rounds of mtd_bench on `driver`, "vnand" or "nandsim", both with zero timing.

    With `programs` a round fills the blocks before it erases them.
    """
    chip = replace(
        case.board.chip,
        t_command_ns=0,
        t_read_ns=0,
        t_prog_ns=0,
        t_erase_ns=0,
        bus_read_ps=0,
        bus_write_ps=0,
        ecc_read_ns=0,
        ecc_write_ns=0,
    )
    board = replace(
        case.board, chip=chip, ram_bytes=_DRIVER_RAM_BYTES, partitions=(), wait="polled"
    )
    free = replace(case, board=board, cpu_scale=0)
    if driver == "vnand":
        arguments = f"chip={vnand_chip(replace(free, partition_blocks=DRIVER_BLOCKS))}"
    else:
        arguments = _NANDSIM_ID
    words = f"/dev/mtd0 {DRIVER_BLOCKS} {int(programs)} {rounds}"
    plan = [
        "ffsplan 1",
        f"insmod path={module_path(driver)} args={encode(arguments)}",
        f"exec path=/bench/mtd_bench args={encode(words)}",
    ]
    return Guest(lab, free, _joined(plan), {"mtd_bench": program})


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
