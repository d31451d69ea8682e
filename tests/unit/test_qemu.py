"""The machine of target qemu without QEMU: what it is told, what it refuses, what is said of it."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from compare_support import TIME, only, result, row_of, scaled, side
from host_support import FakeSite, FakeTarget

from ffslab.campaign.manifest import new_manifest
from ffslab.campaign.run import prepare
from ffslab.compare.engine import compare_runs
from ffslab.compare.verdicts import Verdict
from ffslab.lab.build import ARM, UML
from ffslab.lab.lab import architecture_of, kernel_inputs, module_names
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog
from ffslab.model.case import Case
from ffslab.model.figures import CPU_PRICES
from ffslab.model.kernels import lab_kernel
from ffslab.model.specs import CPU_FIGURES, InitialState, LabKernel
from ffslab.paths import data_dir
from ffslab.protocol.chip_file import flash_file_bytes
from ffslab.report.facts import time_model
from ffslab.results.reproduce import other_target, reproduce_command
from ffslab.targets.qemu import site as qemu_site
from ffslab.targets.qemu.machine import (
    INSTRUCTION_NS,
    KIND,
    MACHINE,
    PROGRAM,
    RIG,
    command,
    kernel_arguments,
    machine_arguments,
    missing,
)
from ffslab.targets.qemu.romfs import write_romfs
from ffslab.targets.qemu.site import on_machine
from ffslab.targets.registry import site_module, target_names
from ffslab.targets.target import CONSOLE_NAME, IMAGE_NAME, RECORDS_NAME, SiteOptions
from ffslab.targets.uml.directory import INITRAMFS_NAME
from ffslab.targets.uml.hostfault import GuestEnd, host_fault

MIB = 2**20
RAM_AT = 0x4000_0000
DEVICE_TREE_AT = RAM_AT + 128 * MIB  # hw/arm/boot.c


def a_case() -> Case:
    return prepare("quick").cases[0]


def with_ram(case: Case, mib: int) -> Case:
    return replace(case, board=replace(case.board, ram_bytes=mib * MIB))


def value_of(arguments: tuple[str, ...], option: str) -> str:
    return arguments[arguments.index(option) + 1]


def test_it_is_a_target() -> None:
    assert "qemu" in target_names()
    assert site_module("qemu").KIND is KIND
    assert MACHINE.kind is KIND


def test_the_same_case_is_told_the_same_and_no_path_of_the_host() -> None:
    case = a_case()
    arguments = machine_arguments(case, 1000)
    assert arguments == machine_arguments(case, 1000)
    paths = [word for word in " ".join(arguments).replace("=", " ").split() if word[0] == "/"]
    assert paths == ["/dev/shm"]


def test_time_is_that_of_instructions() -> None:
    arguments = machine_arguments(a_case(), 0)
    shift = int(re.match(r"shift=(\d+),sleep=off,align=off$", value_of(arguments, "-icount"))[1])  # type: ignore[index]
    assert 2**shift == INSTRUCTION_NS
    assert f"{INSTRUCTION_NS} ns" in KIND.cpu_time


def test_the_kernel_has_the_boards_ram_and_the_chip_lies_behind_all_ram() -> None:
    case = a_case()
    arguments = machine_arguments(case, 1000)
    assert f"mem={case.board.ram_bytes // MIB}M" in kernel_arguments(case, 1000)
    flash = flash_file_bytes(case.board.chip)
    nodes = [word for word in arguments if word.startswith("memory-backend-file")]
    sizes = [int(re.search(r"size=(\d+)", node)[1]) for node in nodes]  # type: ignore[index]
    assert sizes == [2**30, flash]
    assert value_of(arguments, "-m") == f"{sum(sizes)}B"
    assert RIG.store(case) == f"iomem:{RAM_AT + sizes[0]:#x}-{flash:#x}"
    assert f"store%3Diomem:{RAM_AT + sizes[0]:#x}-{flash:#x};" in "\n".join(RIG.devices(case))


def boards() -> list[str]:
    """Those whose RAM and chip the kernel can address together."""
    catalog = load_catalog()
    return [
        name
        for name in sorted(catalog.boards)
        if not missing(replace(a_case(), board=catalog.board(name)))
    ]


@pytest.mark.parametrize("board", boards())
def test_the_initramfs_is_in_ram_and_not_where_the_device_tree_is(board: str) -> None:
    case = replace(a_case(), board=load_catalog().board(board))
    size = 4 * MIB
    (told,) = [word for word in kernel_arguments(case, size) if word.startswith("initrd=")]
    at, stated = told.removeprefix("initrd=").split(",")
    assert int(stated) == size
    assert int(at, 0) >= RAM_AT + 16 * MIB
    assert int(at, 0) + size <= min(DEVICE_TREE_AT, RAM_AT + case.board.ram_bytes)
    loader = [word for word in machine_arguments(case, size) if word.startswith("loader,")]
    assert [f"addr={at}" in word for word in loader] == [True]


def test_its_channels_are_the_usual_files(tmp_path: Path) -> None:
    (tmp_path / INITRAMFS_NAME).write_bytes(bytes(12345))
    started = command(a_case(), tmp_path, 1, False)
    assert started.words[:5] == ("1", CONSOLE_NAME, "-", "-", PROGRAM)
    assert ",12345 " in value_of(started.arguments, "-append")
    channels = [word for word in started.arguments if word.startswith("file,id=")]
    assert [word.split("path=")[1] for word in channels] == [
        f"{CONSOLE_NAME},append=on",
        f"{RECORDS_NAME},append=on",
    ]
    assert "taskset -c 1" in started.script
    assert PROGRAM in started.script
    assert "3>>" not in started.script


def test_ram_on_disk_is_in_the_guests_directory(tmp_path: Path) -> None:
    started = command(a_case(), tmp_path, None, True)
    assert [word for word in started.arguments if "mem-path=." in word]


def refusals() -> Mapping[str, Case]:
    case = a_case()
    chip = replace(case.board.chip, blocks=8 * case.board.chip.blocks)
    return {
        "no cpu_scale": replace(case, cpu_scale=0.5),
        "not perturbed": replace(case, perturbation=1),
        "needs a board with 32 MiB": with_ram(case, 16),
        "cannot address": replace(case, board=replace(case.board, chip=chip)),
        "no programs or files of the host": prepare("script").cases[0],
    }


@pytest.mark.parametrize("reason", refusals())
def test_it_says_what_it_cannot(reason: str) -> None:
    assert reason in missing(refusals()[reason])


def test_it_can_what_quick_needs() -> None:
    assert [missing(case) for case in prepare("quick").cases] == [""] * 4


def with_image(case: Case) -> Case:
    return replace(case, state=InitialState("image", "image", tree="a-tree"))


def test_room_for_an_image_is_there_for_cases_with_one_behind_the_chip() -> None:
    case = a_case()
    assert not [word for word in machine_arguments(case, 0) if word.endswith("memdev=image")]
    wanted = with_image(case)
    arguments = machine_arguments(wanted, 0)
    nodes = [word for word in arguments if word.startswith("memory-backend-file")]
    ram, flash, image = (int(re.search(r"size=(\d+)", node)[1]) for node in nodes)  # type: ignore[index]
    chip, blocks = case.board.chip, case.partition_blocks
    assert image >= blocks * chip.pages_per_block * (chip.page_bytes + chip.oob_bytes) + 96
    assert image % MIB == 0
    (line,) = [line for line in RIG.write_image(wanted, phase="w") if "phram.ko" in line]
    assert f"{IMAGE_NAME},{RAM_AT + ram + flash:#x},{image:#x}" in line.replace("%2C", ",")


def test_the_kernels_variants_are_built_for_it() -> None:
    case = replace(a_case(), kernel=lab_kernel({"kernel": "period:lzo_no_skip"}, ""))
    assert missing(case) == ""
    assert architecture_of(on_machine("period")) == ARM
    assert "period.lzo_no_skip=1" in kernel_arguments(case, 0)
    names = {path.name for path in kernel_inputs(on_machine("fastmap")).fragments}
    assert names == {"lab.config", "fastmap.config", "qemu.config"}


def test_a_kernel_of_armv7_is_the_same_on_every_board() -> None:
    """It has unaligned access: what a board brings is left out, what a study names is not."""
    variants = {"unaligned": "qemu", "unaligned-fastmap": "qemu-fastmap", "period": "qemu-period"}
    assert {name: on_machine(name) for name in variants} == variants
    case = a_case()
    assert not case.kernel.is_named
    here, there = (replace(case, kernel=LabKernel().on_board(has)) for has in (False, True))
    assert KIND.history(here) == KIND.history(there)
    wear, worn = (replace(case, kernel=LabKernel("ubi-wear").on_board(x)) for x in (False, True))
    assert KIND.history(wear) == KIND.history(worn) != KIND.history(here)


def test_a_lab_for_qemu_is_asked_for_no_kernel_of_a_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {}
    plain = LabBuild(tmp_path / "linux", {}, tmp_path / "agent", "plain", tmp_path / "ffscrash")
    fastmap = replace(plain, build_id="fastmap")

    def ensure(variant: str, **words: Any) -> LabBuild:
        asked.update(words, variant=variant)
        return replace(plain, variants=dict.fromkeys(words["variants"], fastmap))

    monkeypatch.setattr(qemu_site, "ensure_lab", ensure)
    monkeypatch.setattr(qemu_site, "ensure_packages", lambda *_: None)
    case = a_case()
    named = (LabKernel(), LabKernel("fastmap"))
    kernels = [kernel.on_board(has) for kernel in named for has in (False, True)]
    site = qemu_site.site_for([replace(case, kernel=kernel) for kernel in kernels], SiteOptions())
    assert (asked["variant"], len(asked["file_systems"])) == ("qemu", 2)
    assert {name: len(setups) for name, setups in asked["variants"].items()} == {"qemu-fastmap": 2}
    labs = [site.lab.for_kernel(kernel) for kernel in kernels]
    assert [lab and lab.build_id for lab in labs] == ["plain", "plain", "fastmap", "fastmap"]


def words(data: bytes) -> int:
    """The sum that romfs has as 0: of 32-bit big-endian words."""
    return sum(struct.unpack(f">{len(data) // 4}I", data)) % 2**32


@pytest.mark.parametrize("size", [1, 415, 416, 417, 100_000])
def test_an_image_is_the_one_file_of_a_romfs(tmp_path: Path, size: int) -> None:
    """By the kernel's description of the format; mount checks the sum of the first 512 bytes."""
    contents = bytes(i * 7 % 251 for i in range(size))
    (tmp_path / "made").write_bytes(contents)
    write_romfs(tmp_path / "made", tmp_path / "romfs")
    data = (tmp_path / "romfs").read_bytes()
    whole = struct.unpack(">I", data[8:12])[0]
    assert data[:8] == b"-rom1fs-"
    assert whole == len(data) == (96 + size + 15) // 16 * 16
    assert words(data[: min(512, whole)]) == 0
    assert words(data[32:64]) == words(data[64:96]) == 0
    following, first, _, _ = struct.unpack(">4I", data[32:48])
    assert (following, first, data[48:50]) == (1 | 8, 64, b".\0")
    following, _, length, _ = struct.unpack(">4I", data[64:80])
    assert (following, length, data[80:96]) == (2, size, IMAGE_NAME.encode().ljust(16, b"\0"))
    assert data[96 : 96 + size] == contents


def test_its_history_tells_it_from_the_default_targets() -> None:
    case = a_case()
    assert KIND.history(case) != site_module("uml").KIND.history(case)
    assert KIND.history(case) == KIND.history(replace(case, id="other"))


def test_it_traces_nothing_and_captures_no_model_of_the_cpu() -> None:
    case = a_case()
    plan = "\n".join([*RIG.begin(case, trace=False), *RIG.statistics()])
    assert "trace_store" not in plan
    assert "cpu_model" not in plan
    assert not KIND.capabilities.trace


@pytest.mark.parametrize(
    "line",
    [
        "qemu-system-arm: terminating on signal 15 from pid 1 (kill)",
        "qemu-system-arm: cannot set up guest memory 'ram': Cannot allocate memory",
    ],
)
def test_what_qemu_says_is_no_result_of_the_guest(line: str) -> None:
    console = f"[    0.000000] Linux version 6.1\n{line}\n"
    fault = host_fault(GuestEnd(0, console.split("\n"), lambda: False))
    assert fault is not None
    assert "QEMU" in fault.cause
    assert host_fault(GuestEnd(0, ["Linux version 6.1", "Power down"], lambda: True)) is None


def test_the_signal_that_ended_qemu_may_stand_behind_what_the_guest_was_printing() -> None:
    console = (
        "[    0.000000] Linux version 6.1\n[    0.012000] Mount-cacheqemu-system-arm: "
        "terminating on signal 15 from pid 4711 (/usr/bin/python3)\n"
    )
    fault = host_fault(GuestEnd(0, console.split("\n"), lambda: False))
    assert fault is not None and "signal 15" in fault.what


def test_the_kernel_is_arms_without_patches_and_without_the_explorer_of_cuts() -> None:
    inputs = kernel_inputs("qemu")
    assert [path.name for path in inputs.fragments] == ["lab.config", "qemu.config"]
    assert not inputs.series.patches
    assert (architecture_of("qemu"), architecture_of("default")) == (ARM, UML)
    ours = module_names(data_dir("kmod"))
    assert set(ours) - set(module_names(data_dir("kmod"), ARM)) == {"vnand_crash", "vnor_crash"}


def manifest(**changes: Any) -> dict[str, Any]:
    return {"target": "uml", "study": "small", **changes}


def test_a_manifest_says_where_cpu_time_is_from() -> None:
    there, ssh = prepare("quick", target="qemu"), site_module("ssh").KIND
    written = {
        kind.name: new_manifest(
            *("run", there, FakeSite(FakeTarget(), kind=kind)),
            command="",
            started=datetime(2026, 1, 1, tzinfo=UTC),
            jobs=1,
        )
        for kind in (KIND, site_module("uml").KIND, replace(ssh, absent=(("erases", "why"),)))
    }
    assert written["qemu"]["cpu_time"] == KIND.cpu_time and "cpu_time" not in written["uml"]
    assert [name for name, told in written.items() if told.get("real_clock")] == ["ssh"]
    assert written["ssh"]["absent"] == [["erases", "why"]] and "absent" not in written["uml"]
    assert written["ssh"]["absent"] == [["erases", "why"]] and "absent" not in written["uml"]
    assert {told["target"] for told in written.values()} == {"qemu"}
    assert other_target(manifest()) == ""
    assert other_target(manifest(target="qemu", cpu_time="stated")) == "qemu"


def test_a_case_is_repeated_where_it_ran() -> None:
    assert reproduce_command("quick", (), "a-s1") == "ffslab run quick --case a-s1"
    told = reproduce_command("quick", (), "a-s1", target="qemu")
    assert told == "ffslab run quick --target qemu --case a-s1"


def test_a_report_shows_no_price_that_was_not_charged() -> None:
    prices = dict.fromkeys(CPU_FIGURES, 40_000)
    spec = {"board": {"name": "apf27"}, **prices}
    modelled = {fact.name: fact.value for fact in time_model([spec], manifest())}
    stated = {
        fact.name: fact.value
        for fact in time_model([spec], manifest(target="qemu", cpu_time="4 ns each"))
    }
    assert modelled.keys() - stated.keys() == {row.title for row in CPU_PRICES}
    assert stated["CPU time"] == "4 ns each"


def test_a_comparison_over_targets_says_that_it_is_of_models() -> None:
    assert not compare_runs(side([result()]), side([result()], "new")).is_of_targets
    other = side([scaled(result(), TIME, 2)], "new", target="qemu")
    found = compare_runs(side([result()]), other)
    assert found.is_of_targets and row_of(only(found), TIME).verdict is Verdict.DIFFERENT
