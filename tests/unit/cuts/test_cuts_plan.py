"""The plans of the guests that lose power."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from cuts_support import cut_case
from host_support import cases_of

from ffslab.targets.qemu.machine import KIND as QEMU
from ffslab.targets.uml.guests import KIND
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.plan import (
    LOG_MIB,
    SERIES_LOG_MIB,
    Cutter,
    cuts_of,
    cutter_of,
    guest_case,
    guest_plans,
    log_plan,
    series_plan,
    walk_plan,
    walk_step,
)

STUDY = """
schema = 1
name = "x"
title = "x"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[base.workload]
kind = "cuts"

[axes]
filesystem = ["ubifs", "jffs2"]
"workload.history" = ["moved-blocks", "overwrite"]
"workload.parameters" = ["", "worn_erases=0"]

[[exclude]]
"workload.history" = "overwrite"
"workload.parameters" = "worn_erases=0"
"""


def guests() -> dict[str, Cutter]:
    return {
        f"{case.filesystem.name} {workload.history} {workload.parameters}".strip(): cutter_of(
            case, KIND.rig
        )
        for case in cases_of(STUDY)
        if isinstance(workload := case.workload, Cuts)
    }


def test_blocks_are_worn_where_ubi_and_the_workload_want_it() -> None:
    found = {name: log_plan(guest) for name, guest in guests().items()}
    worn = [name for name, text in found.items() if "args=wear" in text]
    assert worn == ["ubifs moved-blocks"]
    lines = found["ubifs moved-blocks"].splitlines()
    at = next(at for at, line in enumerate(lines) if "args=wear%20data%205000" in line)
    # UBI has to be there before, for its headers, and gone, for it keeps counters in memory.
    # Before the first program the files of the host are mounted, which cannot be done later.
    verbs = [line.split()[0] for line in lines]
    assert verbs[at - 4 : at + 3] == [
        *("mount", "ubi-attach", "sleep", "ubi-detach"),
        *("exec", "ubi-attach", "ubi-mkvol"),
    ]
    guest = guests()["ubifs moved-blocks"]
    plain = log_plan(replace(guest, worn_erases=0)).splitlines()
    host_files = lines[at - 4]
    assert "type=hostfs" in host_files
    assert sorted(plain) == sorted([host_files, *lines[: at - 4], *lines[at + 1 :]])
    assert [line for line in plain if line != host_files] == lines[: at - 4] + lines[at + 1 :]


def test_the_guests_have_memory_for_the_log_and_no_time_unless_it_is_asked_for() -> None:
    case = cut_case()
    guest = guest_case(case)
    assert guest.board.ram_bytes >= case.board.ram_bytes + LOG_MIB * 2**20
    assert guest.board.chip.t_prog_ns == guest.board.chip.t_erase_ns == guest.cpu_scale == 0
    timed = guest_case(cut_case('timing = "board"'))
    assert (timed.board.chip, timed.cpu_scale) == (case.board.chip, case.cpu_scale)
    assert timed.board.chip.t_prog_ns > 0 < timed.cpu_scale
    series = guest_case(cut_case(series=True))
    assert series.board.ram_bytes - guest.board.ram_bytes == (SERIES_LOG_MIB - LOG_MIB) * 2**20


def test_the_first_guest_logs_the_history_and_tells_the_log() -> None:
    case = cut_case()
    (plan,) = guest_plans(case, KIND.rig)
    cutter = cutter_of(case, KIND.rig)
    assert plan == log_plan(cutter)
    *before, last = plan.splitlines()
    assert last == f"capture path={cutter.cutting.log}"
    # Those that go through states do the same until then.
    *before_walk, walk = walk_plan(cutter).splitlines()
    assert before_walk == before and "args=walk" in walk and "check%3Dfull" in walk
    assert "args=history" in plan
    # A target that cannot cut power has no such plan; the campaign skips the case with the reason.
    (none,) = guest_plans(case, QEMU.rig)
    assert none == ""


def test_a_series_has_no_history() -> None:
    cutter = cutter_of(cut_case(series=True), KIND.rig)
    plan = series_plan(cutter, ["40", "seed=1"])
    assert cutter.history == "" and "args=history" not in plan
    (line,) = [line for line in plan.splitlines() if "args=series" in line]
    words = unquote(line.partition("args=")[2]).split(" ")
    assert words[:3] == ["series", cutter.cutting.chip, "40"] and "seed=1" in words


def test_paired_pages_are_a_parameter_of_the_module() -> None:
    paired = cutter_of(cut_case('kinds = "paired"\npaired_distance_pages = 4'), KIND.rig)
    (line,) = [line for line in walk_plan(paired).splitlines() if "vnand_crash" in line]
    parameters = unquote(line.partition("args=")[2]).split(" ")
    assert parameters[1:] == ["paired_distance_pages=4"]


STACKS = """
schema = 1
name = "x"
title = "x"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[base.workload]
kind = "cuts"

[axes]
filesystem = ["overlay-ubifs", "overlay-jffs2"]
"options.write_mode" = ["sync"]
"workload.history" = ["overlay", "overwrite"]
"""


def test_a_stack_is_mounted_layer_by_layer_from_what_is_below() -> None:
    stacks = {
        f"{case.filesystem.name} {cuts_of(case).history}": cutter_of(case, KIND.rig)
        for case in cases_of(STACKS)
    }
    joined = "overlay overlay /mnt lowerdir=/rom,upperdir=/overlay/upper,workdir=/overlay/work"
    made = "- - /overlay/upper - + - - /overlay/work -"
    ubi = "data vid_hdr_offset=0 max_beb_per1024=20 ubi_block=0"
    ubifs = "ubifs ubi0:rootfs_data /overlay sync,compr=lzo"
    jffs2 = "jffs2 mtd:rootfs_data /overlay sync,compr=zlib"
    for name, lower, upper, attached in (
        ("overlay-ubifs", "/dev/ubiblock0_0", ubifs, ubi),
        ("overlay-jffs2", "/dev/mtdblock2", jffs2, ""),
    ):
        cutter = stacks[f"{name} overlay"]
        words = unquote(walk_step(cutter).split("args=")[1])
        stack = f"squashfs {lower} /rom ro + {upper} + {made} + {joined} {attached}".rstrip()
        assert words.startswith(f"walk flash0 /host/states {stack} check=full")
        lines = log_plan(cutter).splitlines()
        # What is below is written before anything is mounted, and as large as it is.
        (below,) = [line for line in lines if "=/lower" in line]
        assert len(cutter.lower) > 80_000 and cutter.lower[:4] == b"hsqs"
        if "ubifs" in name:
            assert f"size={len(cutter.lower)} contents=/lower" in below
        # A guest loads no module after its first program: the division has to stay.
        assert not any(line.startswith("rmmod") for line in lines)
        assert sum("mtdsplit" in line for line in lines) == ("jffs2" in name)
    # Another history has nothing below, in one erase block.
    assert stacks["overlay-ubifs overwrite"].lower == b""
    assert "/lab/empty-" in log_plan(stacks["overlay-ubifs overwrite"])
