"""Mistakes in the YAFFS2 module are told by an assertion at once, not by what comes of them.

Each is planted into a copy of the module's sources, where a parameter of the copy chooses one. The
copy is built with FFSLAB_CHECKS=y, so it has its assertions in the kernel of the lab, too; those of
the lock are there in the debug kernel alone.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fstree import Churn, Script
from guest_programs import NIGHTLY
from lab_support import ROOT
from own_modules import VARIANT, Own
from yaffs_guest import LIST, UMOUNT, Chip, Guest, load, mount, run, start

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress

KMOD = ROOT / "kmod"
CHIP = Chip(blocks=48)
SEGREGATED = "layout=segregated,no-checkpoint"
# Files that keep the collector busy: more than the partition has room for.
BUSY = Churn("/busy", files=30, bytes=90_000, rounds=5)


@dataclass(frozen=True)
class Mistake:
    """In `file` of the module, `right` becomes `wrong`, in which PLANTED is true when it is chosen.

    `told`: what the first assertion that fails says, and the file that has it.
    """

    name: str
    file: str
    right: str
    wrong: str
    told: str
    options: str = "no-checkpoint"


MISTAKES = (
    Mistake(
        "a cached chunk is counted as dirty twice",
        "core/slots.c",
        "dev->n_dirty_slots += dirty - slot->dirty;",
        "dev->n_dirty_slots += dirty - slot->dirty + (PLANTED && dirty > slot->dirty);",
        r"core/check\.c:\d+: 1 slots are dirty, and 2 are counted",
    ),
    Mistake(
        "a page that dies is not free",
        "core/blocks.c",
        "dev->space.free_chunks++;",
        "dev->space.free_chunks += !PLANTED;",
        r"core/check\.c:\d+: \d+ pages are free, and \d+ are counted",
    ),
    Mistake(
        "a block that is begun counts as erased",
        "core/alloc.c",
        "dev->space.erased_blocks--;\n\tstream->block = block;",
        "dev->space.erased_blocks -= !PLANTED;\n\tstream->block = block;",
        r"core/check\.c:\d+: \d+ blocks are erased, and \d+ are counted",
    ),
    Mistake(
        "a block gets a number above the highest",
        "core/alloc.c",
        "b->seq = ++dev->seq;",
        "b->seq = ++dev->seq + PLANTED;",
        r"core/check\.c:\d+: block \d+ has number \d+, and \d+ is the highest",
    ),
    Mistake(
        "a block is erased with its last live page",
        "core/blocks.c",
        "if (b->pages_in_use || dev->read_only || dev->bound.ns)",
        "if (b->pages_in_use > PLANTED || dev->read_only || dev->bound.ns)",
        r"core/blocks\.c:\d+: block \d+ of state \d+ is erased with 1 live pages",
    ),
    Mistake(
        "a full block stays the one that is written",
        "core/alloc.c",
        "b->state = YAFFS_BLOCK_FULL;\n\tstream->block = 0;",
        "if (!PLANTED)\n\t\tb->state = YAFFS_BLOCK_FULL;\n\tstream->block = 0;",
        r"core/check\.c:\d+: block \d+ has state 4: is it a stream's\?",
    ),
    Mistake(
        "the header that is replaced stays live",
        "core/header_io.c",
        "if (old)\n\t\tyaffs_chunk_dead(dev, old);",
        "if (old && !PLANTED)\n\t\tyaffs_chunk_dead(dev, old);",
        r"core/check\.c:\d+: 1 live pages have no owner, 1 more",
    ),
    Mistake(
        "the collector forgets where it moved a page",
        "core/gc.c",
        "yaffs_index_set(&obj->file.index, tags->chunk_id, copy);",
        "yaffs_index_set(&obj->file.index, tags->chunk_id, PLANTED ? chunk : copy);",
        r"core/check\.c:\d+: object \d+ has page \d+, which is dead",
    ),
    Mistake(
        "a page that is overwritten is counted once more",
        "core/chunks.c",
        "if (old)\n\t\tyaffs_chunk_dead(dev, old);\n\telse\n\t\tobj->file.data_chunks++;",
        "if (old)\n\t\tyaffs_chunk_dead(dev, old);\n\tif (!old || PLANTED)\n"
        "\t\tobj->file.data_chunks++;",
        r"core/check\.c:\d+: file \d+ has \d+ pages, and \d+ are counted",
    ),
    Mistake(
        "a directory that goes is still counted",
        "core/children.c",
        "dir->dir.n_directories--;",
        "dir->dir.n_directories -= !PLANTED;",
        r"core/check\.c:\d+: directory \d+ has \d+ directories, and \d+ are counted",
    ),
    Mistake(
        "a child takes the number of another parent",
        "core/children.c",
        "obj->parent_id = dir->id;",
        "obj->parent_id = PLANTED ? YAFFS_ID_LOST_FOUND : dir->id;",
        r"core/check\.c:\d+: object \d+ is in directory 1, and says 2",
    ),
    Mistake(
        "objects that go are counted",
        "core/objects.c",
        "dev->n_objects--;",
        "dev->n_objects -= !PLANTED;",
        r"core/check\.c:\d+: \d+ objects, and \d+ are counted",
    ),
    Mistake(
        "leaves that go are counted",
        "core/index.c",
        "if (!level)\n\t\tdev->n_leaves--;",
        "if (!level && !PLANTED)\n\t\tdev->n_leaves--;",
        r"core/check\.c:\d+: \d+ leaves, and \d+ are counted",
    ),
    Mistake(
        "a rename leaves the collector disabled",
        "core/operations.c",
        "\tdev->gc.disabled--;",
        "\tdev->gc.disabled -= !PLANTED;",
        r"core/check\.c:\d+: the collector is disabled 1 times",
    ),
    Mistake(
        "a part of an index waits ahead of older ones",
        "core/map.c",
        "list_add_tail(&piece->waiting, &piece->obj->dev->waiting_pieces);",
        "if (PLANTED)\n\t\tlist_add(&piece->waiting, &piece->obj->dev->waiting_pieces);\n"
        "\telse\n\t\tlist_add_tail(&piece->waiting, &piece->obj->dev->waiting_pieces);",
        r"core/check\.c:\d+: piece \d+ of file \d+ waits out of turn",
        SEGREGATED,
    ),
    Mistake(
        "a part of an index that is written still counts as unwritten",
        "core/map.c",
        "if (piece->number)\n\t\tpiece->obj->dev->n_unwritten",
        "if (piece->number && !PLANTED)\n\t\tpiece->obj->dev->n_unwritten",
        r"core/check\.c:\d+: \d+ pieces, \d+ of them unwritten, and \d+, \d+ are counted",
        SEGREGATED,
    ),
    Mistake(
        "summaries will say that what was deleted is there",
        "core/ids_table.c",
        "(*bits)[index / 8] &= ~(1 << (index % 8));",
        "(*bits)[index / 8] &= ~(!PLANTED << (index % 8));",
        r"core/check\.c:\d+: \d+ objects are told as there, \d+ of them are",
        SEGREGATED,
    ),
    Mistake(
        "erases of a block are not among those of all",
        "core/nand.c",
        "dev->all_erases++;",
        "dev->all_erases += !PLANTED;",
        r"core/check\.c:\d+: \d+ erases, and \d+ are counted",
        "wear=pools,no-checkpoint",
    ),
)
# In the debug kernel alone. The locks are pairs, so nothing else comes of it here.
UNLOCKED = Mistake(
    "statfs goes without the lock",
    "vfs/super.c",
    "\tyaffs_lock(dev);\n\tstat->f_blocks",
    "\tif (!PLANTED)\n\t\tyaffs_lock(dev);\n\tstat->f_blocks",
    r"core/space\.c:\d+ yaffs_free_chunks",
)
UNLOCKED_END = replace(
    UNLOCKED,
    right="dev->n_objects;\n\tyaffs_unlock(dev);",
    wrong="dev->n_objects;\n\tif (!PLANTED)\n\t\tyaffs_unlock(dev);",
)
PLANTED = (*MISTAKES, UNLOCKED)
PARAMETER = "\nunsigned int yaffs_planted;\nmodule_param(yaffs_planted, uint, 0444);\n"


def plant(sources: Path) -> None:
    """Puts all mistakes into the sources of the module."""
    numbers = {mistake.name: number for number, mistake in enumerate(PLANTED, 1)}
    for mistake in (*PLANTED, UNLOCKED_END):
        path = sources / mistake.file
        text = path.read_text()
        assert text.count(mistake.right) == 1, mistake
        wrong = mistake.wrong.replace("PLANTED", f"(yaffs_planted == {numbers[mistake.name]})")
        path.write_text(text.replace(mistake.right, wrong))
    header, check = sources / "core" / "device.h", sources / "core" / "check.c"
    declared = "\nextern unsigned int yaffs_planted;\n\n#endif\n"
    header.write_text(re.sub(r"\n#endif\n\Z", declared, header.read_text()))
    check.write_text(check.read_text() + PARAMETER)


def with_mistakes(lab: LabBuild, variant: str, root: Path) -> LabBuild:
    """The lab with such a module in the place of its own."""
    copy = root / "kmod"
    ignore = shutil.ignore_patterns("test", "Makefile")
    shutil.copytree(KMOD / "yaffs", copy / "yaffs", ignore=ignore)
    for header in KMOD.glob("*.h"):
        shutil.copy(header, copy)
    plant(copy / "yaffs")
    files = {
        path.relative_to(copy).as_posix(): path.read_text()
        for path in copy.rglob("*")
        if path.is_file()
    }
    own = Own(
        root / "own",
        "planted",
        {"Kbuild": "obj-m += yaffs/\n", **files},
        modules='"yaffs"',
        extra='make_arguments = ["FFSLAB_CHECKS=y"]\n',
    )
    setup = own.case().filesystem
    built = ensure_lab(variant, SilentProgress(), file_systems=[setup])
    return replace(lab, modules={**lab.modules, "yaffs": built.modules_for(setup)["yaffs"]})


@pytest.fixture(scope="module")
def planted(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> LabBuild:
    return with_mistakes(lab, VARIANT, tmp_path_factory.mktemp("planted"))


def use() -> Script:
    """Something of everything that a mistake may be in."""
    script = Script()
    script.mkdir("/directory")
    script.mkdir("/directory/below")
    for size in (100, 5_000, 1_200_000, 1_200_001):
        script.write(f"/directory/{size}", 0, size, seed=size)
    script.write("/directory/5000", 1_000, 3_000, seed=2)
    script.truncate("/directory/5000", 1_500)
    script.rename("/directory/100", "/100")
    script.link("/100", "/directory/link")
    script.unlink("/100")
    script.unlink("/directory/1200000")
    script.rmdir("/directory/below")
    return script


def used(lab: LabBuild, directory: Path, fstree: Path, number: int, options: str) -> Guest:
    steps = [*load(CHIP, f"yaffs_planted={number}"), mount(options), run(0), "sync target=/mnt"]
    steps += [run(1), *LIST, UMOUNT]
    return start(
        lab, directory, fstree, steps, chip=CHIP,
        scripts=[use(), BUSY.script()], passes=not number, clean=not number,
    )  # fmt: skip


def told(guest: Guest) -> list[str]:
    """What assertions said, in order."""
    return re.findall(r"invariant: \S*?(core/.*)", guest.console)


@pytest.mark.parametrize("options", sorted({mistake.options for mistake in MISTAKES}))
def test_nothing_is_told_without_a_mistake(
    planted: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    assert told(used(planted, tmp_path / "guest", fstree, 0, options)) == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(
    planted: LabBuild, tmp_path: Path, fstree: Path, mistake: Mistake
) -> None:
    number = PLANTED.index(mistake) + 1
    guest = used(planted, tmp_path / "guest", fstree, number, mistake.options)
    reports = told(guest)
    assert reports, guest.console[-3000:]
    assert re.match(mistake.told, reports[0]), reports
    # Nothing else was told before, neither by the module nor by the kernel.
    before = guest.console[: guest.console.index("invariant: ")]
    assert not re.search(r"BUG|Oops|KASAN|error -?\d", before), before[-3000:]


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the kernel with lockdep")
def test_a_lock_that_is_not_held_is_told(tmp_path: Path, fstree: Path) -> None:
    debug = with_mistakes(ensure_lab("debug"), "debug", tmp_path)
    steps = [*load(CHIP, f"yaffs_planted={PLANTED.index(UNLOCKED) + 1}"), mount(), UMOUNT]
    guest = start(debug, tmp_path / "guest", fstree, steps, chip=CHIP, clean=False)
    (warning,) = re.findall(r"WARNING: .* at \S*?(core/.*)", guest.console)
    assert re.match(UNLOCKED.told, warning)
