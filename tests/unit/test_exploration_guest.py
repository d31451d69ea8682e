"""The plans of an exploration's guests."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from ffslab.exploration.guest import Explored, plan, walk_step
from ffslab.exploration.run import explored_of, history_of, units_of
from ffslab.exploration.study import exploration_of
from ffslab.loader import load_catalog

EXPLORATION = """
exploration = 1
name = "x"
title = "x"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[axes]
filesystem = ["ubifs", "jffs2"]

[[workload]]
kind = "wear"

[[workload]]
kind = "wear"
name = "even"
parameters.worn_erases = 0

[[workload]]
kind = "overwrite"
"""


def guests(text: str = EXPLORATION) -> dict[str, Explored]:
    exploration = exploration_of(text, "x.toml", load_catalog())
    return {
        f"{unit.case.filesystem.name} {unit.choice.name}": explored_of(
            exploration, unit, history_of(unit)
        )
        for unit in units_of(exploration)
    }


def test_blocks_are_worn_where_ubi_and_the_workload_want_it() -> None:
    found = {name: plan(guest, "last") for name, guest in guests().items()}
    worn = [name for name, text in found.items() if "args=wear" in text]
    assert worn == ["ubifs wear"]
    lines = found["ubifs wear"].splitlines()
    at = next(at for at, line in enumerate(lines) if "args=wear%20data%205000" in line)
    # UBI has to be there before, for its headers, and gone, for it keeps counters in memory.
    # Before the first program the files of the host are mounted, which cannot be done later.
    verbs = [line.split()[0] for line in lines]
    assert verbs[at - 4 : at + 3] == [
        *("mount", "ubi-attach", "sleep", "ubi-detach"),
        *("exec", "ubi-attach", "ubi-mkvol"),
    ]
    guest = guests()["ubifs wear"]
    plain = plan(replace(guest, worn_erases=0), "last").splitlines()
    host_files = lines[at - 4]
    assert "type=hostfs" in host_files
    assert sorted(plain) == sorted([host_files, *lines[: at - 4], *lines[at + 1 :]])
    assert [line for line in plain if line != host_files] == lines[: at - 4] + lines[at + 1 :]


def test_a_stack_is_mounted_layer_by_layer_from_what_is_below() -> None:
    names = 'filesystem = ["overlay-ubifs", "overlay-jffs2", "jffs2"]\n'
    names += 'options.write_mode = ["sync"]'
    text = EXPLORATION.replace('filesystem = ["ubifs", "jffs2"]', names)
    text += '[[workload]]\nkind = "overlay"\n'
    found = guests(text)
    joined = "overlay overlay /mnt lowerdir=/rom,upperdir=/overlay/upper,workdir=/overlay/work"
    made = "- - /overlay/upper - + - - /overlay/work -"
    for name, lower, upper, ubi in (
        (
            *(
                "overlay-ubifs",
                "/dev/ubiblock0_0",
                "ubifs ubi0:rootfs_data /overlay sync,compr=lzo",
            ),
            "data vid_hdr_offset=0 max_beb_per1024=20 ubi_block=0",
        ),
        (
            *("overlay-jffs2", "/dev/mtdblock2", "jffs2 mtd:rootfs_data /overlay sync,compr=zlib"),
            "",
        ),
    ):
        guest = found[f"{name} overlay"]
        words = unquote(walk_step(guest).split("args=")[1])
        stack = f"squashfs {lower} /rom ro + {upper} + {made} + {joined} {ubi}".rstrip()
        assert words.startswith(f"walk flash0 /states {stack} check=full")
        lines = plan(guest, "last").splitlines()
        # What is below is written before anything is mounted, and as large as it is.
        (below,) = [line for line in lines if "=/lower" in line]
        assert len(guest.lower) > 80_000 and guest.lower[:4] == b"hsqs"
        if "ubifs" in name:
            assert f"size={len(guest.lower)} contents=/lower" in below
        # A guest loads no module after its first program: the division has to stay.
        assert not any(line.startswith("rmmod") for line in lines)
        assert sum("mtdsplit" in line for line in lines) == ("jffs2" in name)
    plain = unquote(walk_step(found["jffs2 overwrite"]).split("args=")[1])
    assert plain.startswith("walk flash0 /states jffs2 mtd:data /mnt sync,compr=zlib check=full")
    # Another workload has nothing below, in one erase block.
    assert found["overlay-ubifs overwrite"].lower == b""
    assert "/lab/empty-" in plan(found["overlay-ubifs overwrite"], "last")
