"""SquashFS below UBIFS or JFFS2, joined by overlayfs: every workload, and what a layer costs.

The flash operations of a workload are those of plain UBIFS or JFFS2, as long as nothing of the
lower file system is changed: overlayfs has no data of its own. The first change of a lower file
copies it.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, boot, cases, results, run_study

from ffslab.images.build import build_image, image_spec
from ffslab.images.source import source_tree
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.model.case import Case
from ffslab.protocol.plan import plan_of
from ffslab.targets.virtual_flash import RIG
from findings import finding

pytestmark = pytest.mark.usefixtures("lab")
UPPER = ("ubifs", "jffs2")
STUDY = """
schema = 1
name = "overlay"
title = "Every workload on an overlay"

[base]
board = "apf27-2012"
partition_bytes = "24 MiB"
seeds = [1]

[axes]
filesystem = ["ubifs", "overlay-ubifs", "jffs2", "overlay-jffs2"]

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
IMAGE = """
schema = 1
name = "below"
title = "A tree below"

[base]
board = "apf27-2012"
partition_bytes = "24 MiB"
filesystem = "overlay-UPPER"
state = { kind = "image", tree = "TREE" }

[base.workload]
kind = "tree"
steps = "mount list delete list unmount mount list unmount"
"""
BIG_BYTES, FILES = 300_000, 12


def tree(directory: Path, big_bytes: int = BIG_BYTES) -> Path:
    """A file that takes many pages and some small ones, which no compressor makes smaller."""
    generator = random.Random(3)
    directory.mkdir()
    (directory / "big").write_bytes(generator.randbytes(big_bytes))
    for number in range(FILES - 1):
        (directory / f"small{number}").write_bytes(generator.randbytes(1000))
    return directory


def image_of(case: Case, files: Path, lab: LabBuild, path: Path) -> Path:
    """The image of a tree for the case's flash, copied to `path`."""
    spec = image_spec(case.board.chip, case.partition_blocks, case.filesystem)
    assert spec is not None
    built = build_image(source_tree(str(files), SilentProgress()), spec, lab, SilentProgress())
    path.write_bytes(built.path.read_bytes())
    return path


def programmed(result: Any) -> int:
    """Pages programmed by the workload."""
    (found,) = [one for one in result["phases"] if one["phase"] == "workload"]
    return int(found["pages_programmed"])


def image_study(upper: str, directory: Path) -> str:
    return IMAGE.replace("UPPER", upper).replace("TREE", str(directory))


def test_every_workload_asks_the_flash_for_what_the_upper_one_alone_does(tmp_path: Path) -> None:
    (tmp_path / "one.sh").write_text("dd if=/dev/zero of=a bs=4k count=50 && mv a b && rm b\n")
    (tmp_path / "overlay.toml").write_text(STUDY)
    run = run_study(tmp_path / "overlay.toml", tmp_path / "run")
    found = {result["id"]: result for result in results(run)}
    assert len(found) == 16 and {one["outcome"] for one in found.values()} == {"pass"}
    # Equal but for a node of an inode more now and then: overlayfs names some files twice, and a
    # commit of UBIFS, or a full write buffer of JFFS2, falls into another place.
    for upper, part in itertools.product(UPPER, ("ffsmark", "log", "micro")):
        plain, joined = (
            programmed(found[f"{part}-{name}-s1"]) for name in (upper, f"overlay{upper}")
        )
        assert plain > 100
        assert joined == pytest.approx(plain, rel=0.02), (upper, part)
    for result in found.values():
        lower = [step for step in result["steps"] if step["label"] == "mount"]
        assert len(lower) == ("overlay" in result["id"])


@pytest.mark.parametrize("upper", UPPER)
def test_a_lower_tree_is_seen_whited_out_and_stays_so(tmp_path: Path, upper: str) -> None:
    (tmp_path / "below.toml").write_text(image_study(upper, tree(tmp_path / "tree")))
    (result,) = results(run_study(tmp_path / "below.toml", tmp_path / "run"))
    steps = {step["phase"]: step for step in result["tree"]["steps"]}
    assert [steps[name]["files"] for name in ("list", "list-2", "list-3")] == [FILES, 0, 0]
    around = (["attach"], ["detach"]) if upper == "ubifs" else ([], [])
    parts = [part["phase"] for part in steps["mount"]["parts"]]
    assert parts == [*around[0], "lower", "upper", "mount"]
    times = [part["duration_ns"] for part in steps["mount"]["parts"]]
    assert all(times) and sum(times) == steps["mount"]["duration_ns"]
    parts = [part["phase"] for part in steps["unmount"]["parts"]]
    assert parts == ["unmount", "upper-unmount", "lower-unmount", *around[1]]
    # What is deleted is hidden, and only that is on the flash: an inode and two names of each.
    assert 0 < steps["delete"]["pages_programmed"] + steps["unmount"]["pages_programmed"] < 147


def test_mainline_jffs2_cannot_hide_a_directory_of_the_lower_file_system(tmp_path: Path) -> None:
    """Not one of which files were deleted: it knows no RENAME_EXCHANGE."""
    tree(tree(tmp_path / "tree") / "sub", big_bytes=1)
    text = image_study("jffs2", tmp_path / "tree").replace('filesystem = "overlay-jffs2"', "")
    both = '\n[axes]\nfilesystem = ["overlay-ubifs", "overlay-jffs2"]\n'
    (tmp_path / "sub.toml").write_text(text + both)
    run = run_study(tmp_path / "sub.toml", tmp_path / "run", status=1)
    found = {one["id"].partition("-")[0]: one for one in results(run)}
    assert found["overlayubifs"]["outcome"] == "pass"
    refused = finding("F-OVERLAY-03", "EINVAL cannot delete /mnt/sub")
    assert refused in found["overlayjffs2"]["reason"]


def test_without_ubi_bad_blocks_below_are_skipped(lab: LabBuild, tmp_path: Path) -> None:
    """Of the image's 23 blocks some lie behind bad ones; what is read is what was written."""
    files = tree(tmp_path / "tree", big_bytes=3_000_000)
    text = image_study("jffs2", files) + '\n[axes]\n"chip.factory_bad" = [200]\n'
    (case,) = cases(text).values()
    image = image_of(case, files, lab, tmp_path / "image.bin")
    plan = [
        *RIG.begin(case, trace=False),
        *RIG.erase(),
        "write-image mtd=data path=/image.bin oob=0",
        *RIG.mount(case),
        *RIG.host_programs(),
        "exec path=/usr/bin/cmp args=/mnt/big%20/big",
        *RIG.unmount(case),
    ]
    contents = {"/image.bin": image, "/big": files / "big"}
    guest = boot(lab, tmp_path / "guest", case, plan_of(plan), files=contents)
    assert guest.of_type("end")[0]["status"] == "ok"
    (written,) = [one for one in guest.records if "bad_blocks_skipped" in one]
    assert written["bad_blocks_skipped"] > 0


@pytest.mark.parametrize("upper", UPPER)
def test_the_first_change_of_a_lower_file_copies_it(
    lab: LabBuild, tmp_path: Path, upper: str
) -> None:
    files = tree(tmp_path / "tree")
    (case,) = cases(image_study(upper, files)).values()
    image = image_of(case, files, lab, tmp_path / "image.bin")
    costs = {}
    for name, words in (("lower", "-s +1 /mnt/big"), ("own", "-s +1 /mnt/own")):
        guest = changed(lab, tmp_path / name, case, image, words)
        assert guest.of_type("end")[0]["status"] == "ok"
        before, after = guest.flash_record("before"), guest.flash_record("after")
        costs[name] = after["counters"]["pages_programmed"] - before["counters"]["pages_programmed"]
    # What is written first after a mount, and the 147 pages that 300,000 random bytes take.
    assert costs["own"] > 0
    assert 147 <= costs["lower"] - costs["own"] < 2 * 147


def changed(lab: LabBuild, directory: Path, case: Case, image: Path, words: str) -> Boot:
    """A guest with the image below in which /usr/bin/truncate does something to a file of it."""
    plan = [
        *RIG.begin(case, trace=False),
        *RIG.erase(),
        "write-image mtd=data path=/image.bin oob=0",
        *RIG.mount(case),
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


def test_what_is_no_squashfs_is_not_divided(lab: LabBuild, tmp_path: Path) -> None:
    """The step fails, and the module says why."""
    (case,) = cases(image_study("jffs2", tree(tmp_path / "tree"))).values()
    plan = [*RIG.begin(case, trace=False), *RIG.erase(), *RIG.mount(case)]
    guest = boot(lab, tmp_path / "guest", case, plan_of(plan), clean=False)
    assert guest.failed_step()["verb"] == "insmod"
    assert "mtdsplit: 'data' does not begin with SquashFS" in guest.console
