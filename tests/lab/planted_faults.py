"""The mistakes that test_planted_faults.py plants: where, what finds them, and as what.

Those of JFFS2, UBIFS and UBI are in tests/planted/mistakes.patch under the same names. Two are what
mainline had, until 23892d383bee (jffs2-hole) and da8b94ea61c5 (ubifs-recover-drops).
"""

from __future__ import annotations

from dataclasses import dataclass

# Longer than a page of the page cache, shortened, and made longer again: what was there is not.
SHORTENED = """write a 0 20000 1
sync
truncate a 3000
fsync a
truncate a 20000
fsync a
write b 0 3000 5
sync
"""
# Shortened within a page, and written to again behind the old end, in the same page.
WITH_A_HOLE = """write a 0 3000 1
sync
truncate a 1000
fsync a
write a 2500 100 3
fsync a
write b 0 3000 5
sync
"""
# Two groups of names, each in a page of its own that fsync wrote.
NAMES = "".join(
    "".join(f"create {group}{number}\n" for number in range(6)) + f"fsync {group}0\n"
    for group in "fg"
)
# All that is live in the first block is two names, which fsync collects into the write buffer; they
# do not fill it.
EMPTIED = """create a
create j
write j 0 131072 1
sync
write a 0 300 3
sync
write j 0 131072 5
sync
write j 0 131072 7
sync
write a 0 300 9
fsync a
write a 0 300 11
sync
"""
# The block with the name `x` is full of what stays; the one with its deletion is collected.
DELETED = """create x
write cold 0 131072 1
sync
unlink x
write j 0 60000 3
sync
write j 0 131072 5
sync
write j 0 131072 7
sync
write j 0 300 9
fsync j
write j 0 300 11
fsync j
write j 0 300 13
fsync j
write j 0 300 15
fsync j
"""


def half_live() -> str:
    """Blocks that hold two files by turns, one of which is deleted; then there is little room."""
    lines, seed, piece = [], 1, 32 * 1024
    for at in range(0, 14 * piece, piece):
        for path in "ab":
            lines.append(f"write {path} {at} {piece} {seed}")
            seed += 2
    lines += ["sync", "unlink b", "sync"]
    for at in range(0, 13 * piece, piece // 2):
        lines += [f"write c {at} {piece // 2} {seed}", "fsync c"]
        seed += 2
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Fault:
    """A mistake; `history` is a kind or a whole one. `outcomes`: what it is found as.

    `mistake`: what the kernel calls it, if it is not the name.
    """

    name: str
    what: str
    history: str
    kinds: tuple[str, ...]
    outcomes: frozenset[str]
    parameters: str = ""
    cuts: str = ""
    partition: str = "8 MiB"
    board: str = "apf27"
    mistake: str = ""
    changes: tuple[tuple[str, str, str], ...] = ()  # of our module: file, text, what for it

    @property
    def filesystem(self) -> str:
        return {"ubi": "ubifs"}.get(self.name.split("-")[0], self.name.split("-")[0])


LOST, PREFIX = ("lost",), ("torn-prefix",)
ON_NOR = "mt7621-gnubee"  # sectors of 64 KiB
STALE = frozenset({"stale-data", "synced-data-lost"})
FAULTS = (
    Fault(
        "jffs2-fsync",
        "fsync does not write the buffer",
        "update-by-rename",
        LOST,
        STALE,
        parameters="updates=8",
    ),
    Fault("jffs2-sync", "sync does not write the buffer", "transactions", LOST, STALE),
    Fault(
        "jffs2-data-crc",
        "data are not checked against their CRC",
        "overwrite",
        PREFIX,
        frozenset({"corrupt-contents"}),
    ),
    Fault(
        "jffs2-data-crc-nor",
        "the same on NOR flash, where no ECC tells",
        "overwrite",
        PREFIX,
        frozenset({"corrupt-contents"}),
        cuts="sample = 100",
        partition="512 KiB",
        board=ON_NOR,
        mistake="jffs2-data-crc",
    ),
    Fault(
        "jffs2-rename-order",
        "rename deletes the old name before it writes the new one",
        "update-by-rename",
        (*LOST, *PREFIX),
        frozenset({"wrong-order", "not-atomic"}),
        parameters="updates=100",
        cuts="variants = 8",  # the page has to end between the two entries
    ),
    Fault(
        "jffs2-hole",
        "a hole ends where a page begins, not at what is written",
        WITH_A_HOLE,
        LOST,
        frozenset({"corrupt-contents"}),
    ),
    Fault(
        "jffs2-erase-early",
        "a block is erased while copies of its last nodes are in the buffer",
        EMPTIED,
        LOST,
        frozenset({"name-lost"}),
    ),
    Fault(
        "jffs2-deletion",
        "a deletion is not copied on while the deleted name is on the flash",
        DELETED,
        LOST,
        frozenset({"name-kept"}),
    ),
    Fault(
        "ubifs-fsync",
        "fsync does not write the buffers",
        "update-by-rename",
        LOST,
        STALE,
        parameters="updates=8",
    ),
    Fault(
        "ubifs-replay-names",
        "replay leaves out deletions of names",
        "directories",
        LOST,
        frozenset({"name-kept"}),
    ),
    Fault(
        "ubifs-replay-truncation",
        "replay leaves out truncations",
        SHORTENED,
        LOST,
        frozenset({"stale-data"}),
    ),
    Fault(
        "ubifs-node-crc",
        "nodes are not checked against their CRC",
        "appends",
        PREFIX,
        frozenset({"corrupt-contents"}),
    ),
    Fault(
        "ubifs-master-wrap",
        "recovery does not know that the first master block begins anew",
        "transactions",
        LOST,
        frozenset({"mount-fails"}),
        parameters="sync_every=1 transactions=90",
    ),
    Fault(
        "ubifs-recover-drops",
        "recovery drops the last page of every journal head",
        NAMES,
        LOST,
        frozenset({"name-lost"}),
    ),
    Fault(
        "ubifs-log-erase",
        "a commit erases the old log before it writes the master node",
        "transactions",
        LOST,
        frozenset({"mount-fails"}),
        parameters="sync_every=1 transactions=90",
    ),
    Fault(
        "ubi-copy-crc",
        "of two copies of a block the newer is taken, whole or not",
        "update-by-rename",
        (*LOST, *PREFIX),
        frozenset({"mount-fails", "synced-data-lost"}),
        parameters="updates=8",
        cuts="recovery_sample = 8",
    ),
    Fault(
        "ubi-change-order",
        "an atomic change erases the old block before the new one is there",
        "update-by-rename",
        LOST,
        frozenset({"mount-fails", "synced-data-lost"}),
        parameters="updates=8",
        cuts="recovery_sample = 8",
    ),
    Fault(
        "ubi-move-erase",
        "wear levelling erases a block before its copy is written",
        "moved-blocks",
        LOST,
        frozenset({"mount-fails", "synced-data-lost"}),
        parameters="rewrites=60",
        cuts="sample = 300",
    ),
    Fault(
        "ubi-nor-headers",
        "UBI leaves a block's headers whole before it erases it (NOR flash)",
        "transactions",
        ("erase-zeros",),
        frozenset({"mount-fails"}),
        partition="1536 KiB",
        board=ON_NOR,
    ),
    Fault(
        "yaffs2-checkpoint",
        "a checkpoint is not invalidated before the next write",
        "transactions",
        LOST,
        STALE,
        changes=(
            ("core/checkpoint.c", "if (!dev->ckpt_blocks || dev->read_only)", "if (dev->n_blocks)"),
        ),
    ),
    Fault(
        "yaffs2-close",
        "closing a file does not write what is cached of it",
        "transactions",
        LOST,
        STALE,
        changes=(("vfs/file.c", "err = yaffs_object_sync(yaffs_obj(inode), false);", "err = 0;"),),
    ),
    Fault(
        "yaffs2-fsync",
        "fsync does not write what is cached of the file",
        "open-files",
        LOST,
        STALE,
        changes=(
            ("vfs/file.c", "err = yaffs_object_sync(yaffs_obj(inode), datasync);", "err = 0;"),
        ),
    ),
    Fault(
        "yaffs2-erase-early",
        "a block is erased before its last page is copied",
        half_live(),
        LOST,
        # Its tags do not say that it is that page, so it is not moved: it is lost.
        frozenset({"synced-data-lost"}),
        partition="2 MiB",
        changes=(
            (
                "core/gc.c",
                "	err = yaffs_nand_read(dev, chunk, dev->gc_page_data, &tags);",
                "	if (dev->blocks[dev->gc.block].pages_in_use <= 1 + dev->summary_pages)\n"
                "		yaffs_nand_erase(dev, dev->gc.block);\n"
                "	err = yaffs_nand_read(dev, chunk, dev->gc_page_data, &tags);",
            ),
        ),
    ),
    Fault(
        "yaffs2-torn",
        "a scan takes a torn last page of a block for a whole one",
        "appends",
        ("torn-bits",),
        frozenset({"name-lost", "unreadable"}),
        changes=(
            (
                "core/scan.c",
                "if (!last_seen && is_torn(dev, first + page))",
                "if (!last_seen && !is_torn)",
            ),
        ),
    ),
    Fault(
        "yaffs2-shadow",
        "a scan does not delete the file that a rename replaced",
        "update-by-rename",
        LOST,
        frozenset({"unknown-name"}),
        parameters="updates=8",
        changes=(
            (
                "core/scan.c",
                "return s.shadowed_id ? shadow(dev, s.shadowed_id) : 0;",
                "return s.shadowed_id && !shadow ? -EIO : 0;",
            ),
        ),
    ),
    Fault(
        "yaffs2-shrink",
        "a scan forgets that a file was shorter before",
        SHORTENED,
        LOST,
        frozenset({"stale-data"}),
        changes=(
            (
                "core/scan.c",
                "obj->file.shrink_limit = min(obj->file.shrink_limit, size);",
                "obj->file.shrink_limit = max(obj->file.shrink_limit, size);",
            ),
        ),
    ),
)
