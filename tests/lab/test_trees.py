"""Workload `tree` in guests: what is written is there, on every file system, after unmounts and
crashes; images hold their tree; and who prepared a flash makes no difference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from lab_support import boot, cases, ffslab, results, run_study
from test_determinism import load_on_every_core

from ffslab.images.source import source_tree
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.loader import load_catalog
from ffslab.model.case import Case
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.tree.metrics import boots

FILES = ("records.jsonl", "console.log", "trace.bin", "flash.img")

WRITTEN = '''
schema = 1
name = "written"
title = "Trees that are written, and found again"

[base]
board = "apf27-2012"
partition_bytes = "32 MiB"
seeds = [1]

[base.workload]
kind = "tree"
files = "uniform(0, 9)"
directories = "normal(2.5, 1)"
size = "uniform(0, 20 KiB)"
depth = 4
contents = "compressible"
compressibility_percent = 40

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "yaffs2-inband", "yaffs2-no-checkpoint"]

[[part]]
name = "unmounted"
[part.set.workload]
steps = """
  mount create unmount mount check copy delete unmount restart mount list create check unmount"""

[[part]]
name = "crashed"
[part.set.workload]
steps = "mount warm create log sync log crash mount check list delete unmount mount find unmount"
'''

IMAGES = """
schema = 1
name = "images"
title = "Images of a small tree"

[base]
board = "apf27-2012"
partition_bytes = "16 MiB"
seeds = [1]

[base.state]
kind = "image"
tree = "{tree}"

[base.workload]
kind = "tree"
steps = "mount list list unmount mount find unmount"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "squashfs", "erofs"]
"""

# 126 files of which each takes an erase block and a bit.
FULL = """
schema = 1
name = "full"
title = "A tree that does not fit"

[base]
board = "apf27-2012"
partition_bytes = "16 MiB"

[base.workload]
kind = "tree"
steps = "mount create list unmount mount list unmount"
files = 2
directories = 2
size = "129 KiB"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""


def run(place: Path, name: str, text: str, *arguments: str) -> Path:
    study = place / "study.toml"
    study.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(place / "state"))
        return run_study(study, place / name, "--keep-flash", "--trace", *arguments)


@pytest.fixture(scope="module")
def written(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001
    return run(tmp_path_factory.mktemp("written"), "first", WRITTEN, "--jobs", "2")


def steps_of(result: Any) -> dict[str, Any]:
    return {step["phase"]: step for step in result["tree"]["steps"]}


def test_every_tree_is_found_again(written: Path) -> None:
    """`check` reads every byte; the same seed is the same tree on every file system."""
    shapes = set()
    for result in results(written):
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        steps = steps_of(result)
        for step in steps.values():
            assert step["status"] == "ok" or step["step"] in ("crash", "restart"), result["id"]
        create, check = steps["create"], steps["check"]
        assert create["files"] == check["files"] > 100
        assert create["bytes"] == check["bytes"] > 10**6
        shapes.add((create["directories"], create["files"], create["bytes"]))
    assert len(shapes) == 1


def test_steps_see_what_there_is(written: Path) -> None:
    for result in results(written):
        steps = steps_of(result)
        create = steps["create"]
        # The mount point counts, and YAFFS2 shows a directory of its own.
        more = 1 + int(result["axes"]["filesystem"].startswith("yaffs2"))
        if result["axes"]["part"] == "unmounted":
            assert steps["delete"]["files"] == create["files"]
            assert steps["copy"]["bytes"] == create["bytes"]
            # The copy is left.
            assert steps["list"]["files"] == create["files"]
            assert steps["list"]["directories"] == create["directories"] + more
        else:
            # Two logs of one file each.
            assert steps["list"]["files"] == create["files"] + 2
            assert steps["list"]["directories"] == create["directories"] + 2 + more
            assert steps["find"]["files"] == 2
            assert steps["find"]["found"] == 0
            assert steps["warm"]["bytes_written"] > 20 * 2**20


def test_memory_is_given_back(written: Path) -> None:
    """What a mount takes and an unmount leaves: nothing of the file system but empty slabs."""
    for result in results(written):
        rows = [row for row in result["tree"]["memory"] if not row["prepared"]]
        by_label = {row["label"]: row for row in rows}
        number = 3 if result["axes"]["part"] == "unmounted" else 2
        mounted, left = by_label[f"mount-{number}"], by_label[f"unmount-{number}"]
        assert mounted["total_bytes"] > 64 * 1024, result["id"]
        assert left["total_bytes"] < 512 * 1024, result["id"]


def test_who_prepares_and_how_busy_the_host_is_makes_no_difference(written: Path) -> None:
    place = written.parent.parent
    with load_on_every_core():
        kept = run(place, "kept", WRITTEN, "--jobs", "4")
    again = run(place, "again", WRITTEN, "--jobs", "1", "--fresh-states")
    for other in (kept, again):
        first = (written / "results.jsonl").read_bytes()
        assert (other / "results.jsonl").read_bytes() == first
        for result in results(written):
            for file in FILES:
                one, two = (path / "cases" / result["id"] / file for path in (written, other))
                assert one.read_bytes() == two.read_bytes(), (result["id"], file)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what a root file system has: links, modes, an empty file, odd names."""
    top = tmp_path_factory.mktemp("tree") / "rootfs"
    for number in range(40):
        directory = top / f"usr/share/d{number % 7}"
        directory.mkdir(parents=True, exist_ok=True)
        text = "".join(f"line {line} of file {number}\n" for line in range(number * 20))
        (directory / f"file {number}.txt").write_text(text)
    (top / "bin").mkdir()
    (top / "bin/busybox").write_bytes(bytes(range(256)) * 4000)
    (top / "bin/busybox").chmod(0o4755)
    (top / "bin/sh").symlink_to("busybox")
    (top / "tmp").mkdir(mode=0o1777)
    (top / "tmp").chmod(0o1777)
    (top / "bin/[").symlink_to("busybox")
    return top


def compressions(filesystem: str) -> list[str]:
    return list(load_catalog().filesystem(filesystem).options["compression"].values)


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2", "squashfs", "erofs"])
def test_an_image_holds_its_tree(
    lab: LabBuild, tmp_path: Path, tree: Path, filesystem: str
) -> None:
    """With every compression: names, modes, owners, links and every byte, by one digest."""
    digest = source_tree(str(tree), SilentProgress()).digest
    wanted = compressions(filesystem)
    place = run(
        tmp_path,
        "run",
        IMAGES.format(tree=tree),
        *("--set", f'filesystem="{filesystem}"'),
        *("--set", f"options.compression={wanted}".replace("'", '"')),
    )
    found = results(place)
    assert len(found) == len(wanted)
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        assert result["image"]["image_bytes"] > 0
        assert steps_of(result)["list"]["files"] == 41
        assert steps_of(result)["list"]["links"] == 2
    for case in image_cases(tree, filesystem):
        flash = place / "cases" / case_id(found, case) / "flash.img"
        plan = plan_text(case).splitlines()
        at = next(n for n, line in enumerate(plan) if line.startswith("tree-list"))
        exclude = "exclude=lost+found" if filesystem == "yaffs2" else ""
        plan[at] = f"tree-digest dir=/mnt phase=digest expect={digest} {exclude}"
        name = f"digest-{dict(case.filesystem.options)['compression']}"
        guest = boot(lab, tmp_path / name, case, "\n".join(plan) + "\n", flash=flash)
        assert guest.of_type("end")[0]["status"] == "ok", guest.of_type("end")


def test_summaries_spare_a_mount_of_jffs2_most_of_its_reading(
    lab: LabBuild, tmp_path: Path, tree: Path
) -> None:
    wanted = (
        *("--set", 'filesystem="jffs2"', "--set", 'options.compression=["none", "zlib"]'),
        *("--set", 'options.summary=["off", "on"]'),
    )
    place = run(tmp_path, "run", IMAGES.format(tree=tree), *wanted)
    found = results(place)
    digest = source_tree(str(tree), SilentProgress()).digest
    by_id = cases(
        IMAGES.format(tree=tree).replace(
            'filesystem = ["jffs2", "ubifs", "yaffs2", "squashfs", "erofs"]',
            'filesystem = ["jffs2"]\n"options.compression" = ["none", "zlib"]\n'
            '"options.summary" = ["off", "on"]',
        )
    )
    assert list(by_id) == [result["id"] for result in found]
    for off, on in (found[:2], found[2:]):
        assert off["spec"]["filesystem"]["options"]["summary"] == "off"
        assert (off["outcome"], on["outcome"]) == ("pass", "pass")
        # Of each erase block of the partition, empty ones among them, a mount reads something.
        blocks = on["image"]["flash_bytes"] // on["spec"]["board"]["chip"]["page_bytes"] // 64
        for mount in ("mount", "mount-2"):
            pages = [steps_of(result)[mount]["pages_read"] for result in (off, on)]
            assert pages[0] - pages[1] > 20 * blocks, (off["id"], mount)
        for step in ("list", "find"):
            assert steps_of(on)[step]["files"] == steps_of(off)[step]["files"] > 0
        plan = plan_text(by_id[on["id"]]).splitlines()
        at = next(number for number, line in enumerate(plan) if line.startswith("tree-list"))
        plan[at] = f"tree-digest dir=/mnt phase=digest expect={digest}"
        guest = boot(
            *(lab, tmp_path / f"digest-{on['id']}", by_id[on["id"]], "\n".join(plan) + "\n"),
            flash=place / "cases" / on["id"] / "flash.img",
        )
        assert guest.of_type("end")[0]["status"] == "ok", guest.of_type("end")


@pytest.mark.parametrize("filesystem", ["squashfs", "erofs"])
def test_a_static_volume_is_read_at_the_attach_and_a_dynamic_one_is_not(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    tree: Path,
    filesystem: str,
) -> None:
    place = run(
        tmp_path,
        "run",
        IMAGES.format(tree=tree),
        *("--set", f'filesystem="{filesystem}"', "--set", "options.compression=none"),
        *("--set", 'options.volume=["dynamic", "static"]'),
    )
    dynamic, static = results(place)
    assert (dynamic["outcome"], static["outcome"]) == ("pass", "pass")
    assert dynamic["image"]["flash_bytes"] == static["image"]["flash_bytes"]
    chip = static["spec"]["board"]["chip"]
    data_pages = static["image"]["image_bytes"] // chip["page_bytes"]
    # A logical erase block is 63 pages; each has its sum in a header, which is read too.
    blocks = -(-data_pages // (chip["pages_per_block"] - 1))
    more, again = (
        steps_of(static)[mount]["pages_read"] - steps_of(dynamic)[mount]["pages_read"]
        for mount in ("mount", "mount-2")
    )
    assert more == data_pages + blocks
    # The first attach took longer: UBI has written headers to a few more of the erased blocks.
    assert more <= again < more + 64
    for step in ("list", "find"):
        assert steps_of(dynamic)[step]["files"] == steps_of(static)[step]["files"] > 0


def image_cases(tree: Path, filesystem: str) -> list[Case]:
    values = str(compressions(filesystem)).replace("'", '"')
    text = IMAGES.format(tree=tree).replace(
        'filesystem = ["jffs2", "ubifs", "yaffs2", "squashfs", "erofs"]',
        f'filesystem = ["{filesystem}"]\n"options.compression" = {values}',
    )
    return list(cases(text).values())


def case_id(found: list[Any], case: Case) -> str:
    compression = dict(case.filesystem.options)["compression"]
    (match,) = [
        result["id"]
        for result in found
        if result["spec"]["filesystem"]["options"]["compression"] == compression
    ]
    return str(match)


def test_an_image_that_is_too_large_is_the_reason_of_a_skip_and_without_any_other_an_error(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    tree: Path,
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(IMAGES.format(tree=tree).replace("16 MiB", "1310720 B"))
    ended = ffslab(
        *("run", str(study), "--output", str(tmp_path / "out"), "--set", 'filesystem="yaffs2"')
    )
    assert ended.returncode == 2
    assert "larger than the partition" in " ".join(ended.stderr.split())
    (place,) = (tmp_path / "out").glob("*/")
    for result in results(place):
        assert result["outcome"] == "skip"
        assert "larger than the partition" in result["reason"]
        assert result["preparation"] is None


def test_a_tree_that_does_not_fit_keeps_what_was_measured(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(FULL)
    place = run_study(study, tmp_path / "out", status=1)
    for result in results(place):
        assert result["outcome"] == "short"
        assert "no space left" in result["reason"]
        steps = steps_of(result)
        short = result["short"]
        assert (short["what"], short["accepted"]) == ("files created", False)
        assert short["measured"] == steps["create"]["files"] < short["asked"]
        assert steps["create"]["errno_name"] == "ENOSPC", result["id"]
        assert 0 < steps["create"]["files"] < 126
        assert steps["list-2"]["status"] == "ok"
        assert steps["unmount-2"]["status"] == "ok"


# More inodes than YAFFS2 has ids, or than fit into the RAM of the second.
MANY = """
schema = 1
name = "many"
title = "Many inodes"

[base]
board = "apf27-2012"
options = {{ compression = "none" }}

[base.workload]
kind = "tree"
steps = "mount create list delete unmount"
files = {files}
size = 0
directories = 2
depth = 5

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"board.ram_bytes" = ["{ram}"]
"chip.blocks" = [{blocks}]
"""


def test_a_file_system_without_inodes_says_so(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    study = tmp_path / "study.toml"
    study.write_text(MANY.format(files=4800, ram="128 MiB", blocks=8192))
    place = run_study(study, tmp_path / "out", "--set", 'filesystem="yaffs2"', status=1)
    (result,) = results(place)
    assert "it has no more inodes" in result["reason"]
    assert steps_of(result)["create"]["files"] > 260_000
    assert steps_of(result)["delete"]["status"] == "ok"


def test_inodes_that_do_not_fit_into_memory_go(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    """Memory reclaim evicts inodes while a file system waits for memory under its locks."""
    study = tmp_path / "study.toml"
    study.write_text(MANY.format(files=800, ram="32 MiB", blocks=2048))
    # Not UBIFS: docs/architecture.md, "What the lab cannot tell".
    chosen = ("--set", 'filesystem=["jffs2", "yaffs2"]')
    for result in results(run_study(study, tmp_path / "out", *chosen)):
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        assert steps_of(result)["list"]["files"] == 63 * 800


def test_a_hundred_thousand_files(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    """On 1 GB, found again after a crash, by every file system."""
    place = run_study(
        "mount-scaling",
        tmp_path / "out",
        *("--set", 'part="files-crash"', "--set", "workload.files=1588", "--set", "cpu_scale=1"),
        *("--jobs", "2"),
    )
    for result in results(place):
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        steps = steps_of(result)
        assert steps["create"]["files"] == 63 * 1588 == 100_044
        assert steps["list"]["files"] == 100_044 + 1
        assert steps["mount-2"]["duration_ns"] > 0


BOOT = """
schema = 1
name = "boot"
title = "A boot from an image"

[base]
board = "apf27-2012"
partition_bytes = "16 MiB"
seeds = [1]

[base.state]
kind = "image"
tree = "{tree}"

[base.workload]
kind = "tree"
steps = "mount read unmount mount read unmount"
read_files = \"\"\"
sbin/init
/bin/sh
etc/part\t1000
\"\"\"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "squashfs"]
"""


def test_a_boot_reads_the_files_of_its_list(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    """From the flash, each time it is mounted; a link leads to where it would on the device."""
    tree = tmp_path / "tree"
    for name in ("bin", "sbin", "etc"):
        (tree / name).mkdir(parents=True)
    (tree / "bin" / "busybox").write_bytes(random.Random(1).randbytes(300_000))
    (tree / "bin" / "sh").symlink_to("/bin/busybox")
    (tree / "sbin" / "init").write_bytes(random.Random(2).randbytes(50_000))
    (tree / "etc" / "part").write_bytes(random.Random(3).randbytes(50_000))
    for result in results(run(tmp_path, "boot", BOOT.format(tree=tree))):
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        steps = steps_of(result)
        boot = {figure.place: figure.value for figure in boots(result)}
        for read, mount in (("read", "mount"), ("read-2", "mount-2")):
            assert steps[read]["files"] == 3 and steps[read]["bytes"] == 351_000
            assert steps[read]["pages_read"] > 350_000 / 2048
            assert boot[read] == steps[read]["duration_ns"] + steps[mount]["duration_ns"]
