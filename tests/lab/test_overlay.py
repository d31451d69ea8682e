"""SquashFS below UBIFS, joined by overlayfs: every workload, and what another layer costs.

The flash operations of a workload are those of plain UBIFS, as long as nothing of the lower file
system is changed: overlayfs has no data of its own. The first change of a lower file copies it.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, boot, cases, results, run_study

from ffslab.images.build import build_image, image_spec
from ffslab.images.source import source_tree
from ffslab.kernel.lab_build import LabBuild
from ffslab.kernel.progress import SilentProgress
from ffslab.protocol.plan import plan_of
from ffslab.targets.virtual_flash import RIG

pytestmark = pytest.mark.usefixtures("lab")
BOTH = '\n[axes]\nfilesystem = ["ubifs", "overlay-ubifs"]\n'
STUDY = (
    """
schema = 1
name = "overlay"
title = "Every workload on an overlay"

[base]
board = "apf27-2012"
partition_bytes = "24 MiB"
seeds = [1]
"""
    + BOTH
    + """
[[part]]
name = "ffsmark"
set = { workload = { kind = "ffsmark", number = 100, transactions = 100 } }

[[part]]
name = "log"
set = { workload = { kind = "append-log", lines = 500 } }

[[part]]
name = "micro"
set = { workload = { kind = "micro", volume_bytes = "1 MiB" } }

[[part]]
name = "script"
set = { workload = { kind = "script", script = "one.sh" } }
"""
)
IMAGE = """
schema = 1
name = "below"
title = "A tree below"

[base]
board = "apf27-2012"
partition_bytes = "24 MiB"
filesystem = "overlay-ubifs"
state = { kind = "image", tree = "TREE" }

[base.workload]
kind = "tree"
steps = "mount list delete list unmount mount list unmount"
"""
BIG_BYTES, FILES = 300_000, 12


def tree(directory: Path) -> Path:
    """A file that takes many pages and some small ones, which no compressor makes smaller."""
    generator = random.Random(3)
    directory.mkdir()
    (directory / "big").write_bytes(generator.randbytes(BIG_BYTES))
    for number in range(FILES - 1):
        (directory / f"small{number}").write_bytes(generator.randbytes(1000))
    return directory


def programmed(result: Any) -> int:
    """Pages programmed by the workload."""
    (found,) = [one for one in result["phases"] if one["phase"] == "workload"]
    return int(found["pages_programmed"])


def test_every_workload_asks_the_flash_for_what_plain_ubifs_does(tmp_path: Path) -> None:
    (tmp_path / "one.sh").write_text("dd if=/dev/zero of=a bs=4k count=50 && mv a b && rm b\n")
    (tmp_path / "overlay.toml").write_text(STUDY)
    run = run_study(tmp_path / "overlay.toml", tmp_path / "run")
    found = {result["id"]: result for result in results(run)}
    assert len(found) == 8 and {one["outcome"] for one in found.values()} == {"pass"}
    # Equal but for a node of an inode more now and then: overlayfs names some files twice, and a
    # commit of UBIFS falls into another place.
    for part in ("ffsmark", "log", "micro"):
        plain, joined = (
            programmed(found[f"{part}-{name}-s1"]) for name in ("ubifs", "overlayubifs")
        )
        assert plain > 100
        assert joined == pytest.approx(plain, rel=0.02)
    for result in found.values():
        lower = [step for step in result["steps"] if step["verb"] == "mount-overlay"]
        assert len(lower) == ("overlay" in result["id"])


def test_a_lower_tree_is_seen_whited_out_and_stays_so(tmp_path: Path) -> None:
    text = IMAGE.replace("TREE", str(tree(tmp_path / "tree")))
    (tmp_path / "below.toml").write_text(text)
    (result,) = results(run_study(tmp_path / "below.toml", tmp_path / "run"))
    steps = {step["phase"]: step for step in result["tree"]["steps"]}
    assert [steps[name]["files"] for name in ("list", "list-2", "list-3")] == [FILES, 0, 0]
    parts = [part["phase"] for part in steps["mount"]["parts"]]
    assert parts == ["attach", "lower", "upper", "mount"]
    times = [part["duration_ns"] for part in steps["mount"]["parts"]]
    assert all(times) and sum(times) == steps["mount"]["duration_ns"]
    parts = [part["phase"] for part in steps["unmount"]["parts"]]
    assert parts == ["unmount", "upper-unmount", "lower-unmount", "detach"]
    # What is deleted is hidden, and only that is on the flash: an inode and two names of each.
    assert 0 < steps["delete"]["pages_programmed"] + steps["unmount"]["pages_programmed"] < 147


def copied_up(lab: LabBuild, directory: Path, image: Path, words: str) -> Boot:
    """A guest with the image below in which /usr/bin/truncate does something to a file of it."""
    text = IMAGE.replace("TREE", str(image.parent / "tree"))
    (case,) = cases(text).values()
    mounted = RIG.mount(case)
    plan = [
        *RIG.begin(case, trace=False),
        *RIG.erase(),
        "write-image mtd=data path=/image.bin oob=0",
        *mounted,
        *RIG.host_programs(),
        # UBI erases and marks what the image left free.
        *RIG.settle(quiet_ms=2000),
        *RIG.snapshot("before"),
        f"exec path=/usr/bin/truncate args={words.replace(' ', '%20')}",
        "sync target=/mnt",
        *RIG.snapshot("after"),
        *RIG.unmount(case),
    ]
    return boot(lab, directory, case, plan_of(plan), files={"/image.bin": image})


def test_the_first_change_of_a_lower_file_copies_it(lab: LabBuild, tmp_path: Path) -> None:
    files = tree(tmp_path / "tree")
    (case,) = cases(IMAGE.replace("TREE", str(files))).values()
    spec = image_spec(case.board.chip, case.partition_blocks, case.filesystem)
    assert spec is not None
    built = build_image(source_tree(str(files), SilentProgress()), spec, lab, SilentProgress())
    image = tmp_path / "image.bin"
    image.write_bytes(built.path.read_bytes())
    costs = {}
    for name, words in (("lower", "-s +1 /mnt/big"), ("own", "-s +1 /mnt/own")):
        guest = copied_up(lab, tmp_path / name, image, words)
        before, after = guest.flash_record("before"), guest.flash_record("after")
        costs[name] = after["counters"]["pages_programmed"] - before["counters"]["pages_programmed"]
    # What is written first after a mount, and the 147 pages that 300,000 random bytes take.
    assert costs["own"] > 0
    assert 147 <= costs["lower"] - costs["own"] < 2 * 147
