"""YAFFS2 in both directions: what the module writes, the checker of `src/ffslab/yaffs2` reads, and
what `mkfs` makes, the module mounts.

The two implementations share no code, only the description of the format. A tree with all that
the format can hold is compared three times: with what the script that made it says, as the guest
lists it, and as it is found on the flash.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from fstree import Churn, Listing, Script, assert_same, pattern, wrong_contents
from rich_trees import rich_tree
from yaffs_guest import (
    CHIP,
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)

from ffslab.lab.lab_build import LabBuild
from ffslab.yaffs2.mkfs import MkfsOptions, make_image


@dataclass(frozen=True)
class Variant:
    """A way to mount, and where the tags are then."""

    name: str
    options: str = ""
    chip: Chip = CHIP
    inband: bool = False

    @property
    def chunk_bytes(self) -> int:
        return self.chip.page_bytes - (16 if self.inband else 0)


OPTIONS = [
    Variant("default"),
    Variant("inband", "inband-tags", inband=True),
    Variant("no-tags-ecc", "tags-ecc-off"),
    Variant("no-summary", "disable-summary"),
    Variant("no-checkpoint", "no-checkpoint"),
    Variant("no-lazy", "lazy-loading-off"),
    Variant("no-cache", "no-cache"),
    Variant("bound", "gc=predict,gc_bound_us=10000"),
    Variant("inband-plain", "inband-tags,disable-summary,no-cache,lazy-loading-off", inband=True),
]
GEOMETRIES = [
    Variant("1024+64x16", chip=Chip(1024, 64, 16, 256)),
    Variant("1024+32x64", chip=Chip(1024, 32, 64, 64), inband=True),
    Variant("2048+64x32", chip=Chip(2048, 64, 32, 70)),
    Variant("2048+64x256", chip=Chip(2048, 64, 256, 60)),
    Variant("4096+128x64", chip=Chip(4096, 128, 64, 61)),
    Variant("4096+224x16", chip=Chip(4096, 224, 16, 100)),
    Variant("8192+448x128", chip=Chip(8192, 448, 128, 40)),
    Variant("16384+1280x64", chip=Chip(16384, 1280, 64, 40)),
]
VARIANTS = [*OPTIONS, *GEOMETRIES]


def ids(variants: list[Variant]) -> list[str]:
    return [variant.name for variant in variants]


def rich_script(variant: Variant) -> Script:
    script = Script()
    rich_tree(script, variant.chunk_bytes)
    return script


def compare(guest: Guest, variant: Variant, expected: Listing) -> Listing:
    """The flash is sound and holds what the guest listed last, which is as expected."""
    listing = guest.listings[-1]
    assert_same(expected, listing)
    report = guest.assert_sound()
    assert not report.warnings, report.text()
    assert report.geometry.inband == variant.inband
    assert_same(listing, guest.image_listing())
    assert no_violations(guest.counters)
    return listing


@pytest.mark.parametrize("variant", VARIANTS, ids=ids(VARIANTS))
def test_the_checker_reads_what_the_module_writes(
    lab: LabBuild, tmp_path: Path, fstree: Path, variant: Variant
) -> None:
    """And so does the module itself, by checkpoint and by scan, writable and read-only."""
    script = rich_script(variant)
    steps = [
        *(*load(variant.chip), mount(variant.options), run(0), *LIST, UMOUNT, CHIP_COUNTERS),
    ]
    first = start(lab, tmp_path / "first", fstree, steps, chip=variant.chip, scripts=[script])
    listing = compare(first, variant, script.listing())

    options = [variant.options, f"{variant.options},no-checkpoint-read".strip(",")]
    options.append(f"{variant.options},lazy-loading-off,no-checkpoint-read".strip(","))
    steps = load(variant.chip)
    for flags in ("ro", ""):
        for words in options:
            steps += [mount(words, flags=flags), STATE, *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, chip=variant.chip, flash=first.flash)
    by_checkpoint = [state["mounted_by_checkpoint"] for state in second.states]
    writes_checkpoints = variant.chip.blocks >= 60 and "no-checkpoint" not in variant.options
    assert by_checkpoint == ([1, 0, 0] * 2 if writes_checkpoints else [0] * 6)
    for again in second.listings:
        assert_same(listing, again)
    compare(second, variant, script.listing())


@pytest.mark.parametrize("variant", OPTIONS, ids=ids(OPTIONS))
def test_what_was_synced_survives_a_crash(
    lab: LabBuild, tmp_path: Path, fstree: Path, variant: Variant
) -> None:
    """The guest is switched off without an unmount, with files open that have no name."""
    script = rich_script(variant)
    for path in ("/links/kept", "/sizes/over"):
        script.line("hold", f"/mnt{path}")
        script.unlink(path)
    script.line("sync")
    steps = [*load(), mount(variant.options), run(0), *LIST, CHIP_COUNTERS]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script])
    listing = compare(first, variant, script.listing())
    assert first.check().counts["object-unlinked"] == 2

    for name, words in (("checkpoint", ""), ("scan", ",no-checkpoint-read")):
        steps = [*load(), mount(variant.options + words), STATE, *LIST, UMOUNT, CHIP_COUNTERS]
        second = start(lab, tmp_path / name, fstree, steps, flash=first.flash)
        uses_checkpoint = name == "checkpoint" and "no-checkpoint" not in variant.options
        assert second.states[0]["mounted_by_checkpoint"] == uses_checkpoint
        assert_same(listing, second.listings[0])
        compare(second, variant, script.listing())
        assert "object-unlinked" not in second.check().counts


@pytest.mark.parametrize("variant", OPTIONS, ids=ids(OPTIONS))
def test_the_collector_keeps_everything(
    lab: LabBuild, tmp_path: Path, fstree: Path, variant: Variant
) -> None:
    """Headers of every kind are moved. Between them on the flash are pages that die soon."""
    chip = Chip(2048, 64, 16, 72)
    script = rich_script(variant)
    lines, script.lines = script.lines, []
    for number, line in enumerate(lines):
        script.lines.append(line)
        script.line("write", f"/mnt/soon{number % 9}", 0, 2000, number)
    for number in range(9):
        script.line("unlink", f"/mnt/soon{number}")
    churn = Churn("/busy", files=6, bytes=100_000, rounds=30)
    steps = [*load(chip), mount(variant.options), run(0), run(1), f"capture path={churn.result}"]
    # Behind the directories' new headers.
    steps += ["sync target=/mnt", STATE, *LIST, UMOUNT, CHIP_COUNTERS]
    first = start(
        lab, tmp_path / "first", fstree, steps, chip=chip, scripts=[script, churn.script()]
    )
    assert first.states[0]["gc_copies"] > 300
    files = churn.contents(first.captures(churn.result)[0])
    assert len(files) == 6
    steps = [*load(chip), mount(f"{variant.options},no-checkpoint-read"), *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, chip=chip, flash=first.flash)
    for guest in (first, second):
        listing = guest.listings[0]
        assert wrong_contents(files, listing) == []
        tree = {path: entry for path, entry in listing.items() if path not in files}
        assert_same(script.listing(), tree)
        compare(guest, variant, listing)


FFSMARK = "ffsmark dir=/mnt number=200 subdirectories=5 transactions=1500 verify=1 seed=3"


@pytest.mark.parametrize("options", ["", "inband-tags", "no-cache,disable-summary"])
@pytest.mark.parametrize("state", ["free", "aged"])
def test_ffsmark_leaves_a_sound_image(
    lab: LabBuild, tmp_path: Path, fstree: Path, state: str, options: str
) -> None:
    """A workload that collects garbage over and over; of an aged state a large file remains."""
    shares = " valid_percent=50 invalid_percent=40" if state == "aged" else ""
    script = Script()
    script.write("/kept", 0, 100_000, seed=1)
    steps = [*load(), mount(options), run(0), FFSMARK + shares, STATE, *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script])
    assert guest.states[0]["erasures"] > 64
    listing = guest.listings[0]
    assert {*listing} == {"/", "/lost+found", "/kept"} | (
        {"/ffsmark.valid"} if state == "aged" else set()
    )
    report = guest.assert_sound()
    assert not report.warnings, report.text()
    assert_same(listing, guest.image_listing())
    assert_same({"/kept": script.listing()["/kept"]}, {"/kept": listing["/kept"]})
    assert no_violations(guest.counters)


# --- the other direction ---

SOURCES = [variant for variant in VARIANTS if variant.name in ("default", "inband", "no-tags-ecc")]
SOURCES += [variant for variant in GEOMETRIES if variant.name in ("1024+64x16", "4096+224x16")]


def made_image(path: Path, variant: Variant, script: Script, options: MkfsOptions) -> None:
    """A flash file with an image that mkfs makes of the script's tree."""
    archive, raw = path.with_suffix(".tar"), path.with_suffix(".raw")
    script.archive(archive)
    make_image(archive, raw, options)
    write_flash(path, variant.chip, raw)


@pytest.mark.parametrize("checkpoint", [True, False], ids=["checkpoint", "scan"])
@pytest.mark.parametrize("variant", SOURCES, ids=ids(SOURCES))
def test_the_module_reads_what_mkfs_makes(
    lab: LabBuild, tmp_path: Path, fstree: Path, variant: Variant, checkpoint: bool
) -> None:
    """And goes on with it: what it changes is again sound for the checker."""
    script = Script()
    rich_tree(script, variant.chunk_bytes, large=False)
    script.unlink("/dev/socket")  # tar archives have none
    script.utimes("/dev", 1, 2)
    geometry = variant.chip.geometry(
        inband=variant.inband, tags_ecc="tags-ecc-off" not in variant.options
    )
    options = MkfsOptions(
        geometry=geometry,
        summaries=checkpoint,
        checkpoint=checkpoint,
        partition_bytes=variant.chip.blocks * geometry.block_bytes,
    )
    flash = tmp_path / "flash"
    made_image(flash, variant, script, options)
    for inode in script.tree.values():
        inode.atime = inode.mtime  # mkfs makes them equal
    before = script.listing()

    changes = Script()
    changes.tree = script.tree
    change_tree(changes, variant.chunk_bytes)
    steps = [*load(variant.chip), mount(variant.options, flags="ro"), STATE, *LIST, UMOUNT]
    steps += [mount(variant.options), STATE, *LIST, run(0), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        lab,
        tmp_path / "guest",
        fstree,
        steps,
        chip=variant.chip,
        scripts=[changes],
        flash=flash,
    )
    assert [state["mounted_by_checkpoint"] for state in guest.states] == [checkpoint] * 2
    for listing in guest.listings[:2]:
        assert_same(before, listing)
    compare(guest, variant, changes.listing())


def change_tree(script: Script, chunk: int) -> None:
    """Changes of every kind to the rich tree."""
    script.write("/sizes/over", chunk + 5, 2 * chunk, seed=51)
    script.write("/sizes/2048", 2048, 5000, seed=52)
    script.truncate("/sizes/cut", 3)
    script.truncate("/holes/only", 9 * chunk)
    script.write("/holes/long", 7 * chunk, 10, seed=53)
    script.unlink("/links/second")
    script.link("/links/fourth", "/links/fifth")
    script.unlink("/dev/block")
    script.rename("/names/d", "/sizes/d")
    script.rename("/sizes/1", "/sizes/2047")
    script.mkdir("/more")
    script.write("/more/file", 0, 20 * chunk, seed=54)
    script.setxattr("/attr/x", "user.more", "m")
    script.removexattr("/attr/x", "trusted.long")
    script.chmod("/attr/1", 0o111)
    script.chown("/links/longest", 1, 1)
    script.unlink("/names/empty/file")
    script.rmdir("/names/empty")


def test_mkfs_and_files_of_more_than_2_gib(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = Script()
    source = tmp_path / "source"
    source.mkdir()
    script.directory = str(source)
    for path, size in (("/2g", (2 << 30) + 5), ("/4g", (4 << 30) + 5)):
        script.write(path, size, 3000, seed=61)
        with (source / path[1:]).open("wb") as file:
            file.seek(size)
            file.write(pattern(size, 3000, 61))
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    make_image(source, raw, MkfsOptions(geometry=CHIP.geometry()))
    write_flash(flash, CHIP, raw)
    steps = [*load(), mount(), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, flash=flash)
    keys = ("uid", "gid", "mode")
    assert_same(script.listing(), guest.listings[0], ignore=keys)
    guest.assert_sound()
