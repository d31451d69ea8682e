"""What each file system promises of a power cut, with the source of each sentence.

All of them are logs. What a call changes goes to flash as one or more *steps*, in the order of the
calls, and a cut leaves what the first so many steps make: the promise is how many of them survive
at least, and how finely a step may be divided. Contents of files are steps of that log, too
(`in-order`), or are written back later, each page of a file by itself (`write-back`).

The rules are fields, so that the oracle names no file system; the statements say the same in words,
and a finding quotes them. Where documentation says less than the code does, the code is the source:
a promise that nobody could rely on would find nothing.

Limits: attributes are observed where calls change them; of times only an mtime that was set.
Histories are of one process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ffslab.errors import UsageError
from ffslab.oracle.attributes import EXTENDED, INODE
from ffslab.oracle.files import PAGE_BYTES

IN_ORDER, WRITE_BACK = "in-order", "write-back"
PREFIX, ANY = "prefix", "any"
MAN_FSYNC = "man 2 fsync: the entry in the directory needs an fsync of the directory"
MAN_RENAME = "man 2 rename: another process, and a crash, finds the old or the new file"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a promise, and who says so."""

    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The rules of a file system.

    `contents`: in-order or write-back. `pieces`: how a write that was cut may be divided: `prefix`:
    its first so many bytes; `any`: any part of it. `returned_is_durable`: what returned survives,
    synced or not. `rename_is_atomic`: False: for a moment a file has both names, never none; a
    directory must not.
    `names_note_the_file`: creating, linking and deleting is noted for an fsync of the file too, not
    for one of its directory only; `fsync_notes_rename`: renaming is, for fsync, not for fdatasync.
    `overwriting_is_noted`: a write within the file is a step that fsync brings to flash with all
    before it. `loose_attributes`: parts of attributes that come to flash in their own time, at the
    latest with an fsync; others in order. `refuses`: features that it has not (`oracle.acts`).
    `close_writes_back`: what is written to an open file is on flash when that is closed,
    and contents of a file that was ever kept open are judged as written back. `unit_bytes`: what of
    a file is written back at once, 1 for any part. `range_syncs_size`: a sync of a part of a file,
    as that of a write with O_SYNC, makes its whole size durable, and not only as far as that part
    goes. `root_links`: of an empty file system; 1:
    directories do not count those below them. `own_names`: directories that it makes itself.
    `names_of_lost`: a pattern of the names of files whose own name cannot be read. `joins`: it is
    an overlay: a tree may be there from the beginning, and stays until it is changed.
    `growth_bytes`: so much less fits into a file, once, when many were made before it: what leads
    to it is larger then. That is no leak.
    """

    filesystem: str
    contents: str
    pieces: str = PREFIX
    returned_is_durable: bool = False
    rename_is_atomic: bool = True
    names_note_the_file: bool = False
    fsync_notes_rename: bool = False
    overwriting_is_noted: bool = True
    loose_attributes: tuple[str, ...] = ()
    refuses: frozenset[str] = frozenset()
    close_writes_back: bool = False
    unit_bytes: int = PAGE_BYTES
    range_syncs_size: bool = True
    root_links: int = 2
    own_names: tuple[str, ...] = ()
    names_of_lost: str = ""
    joins: bool = False
    growth_bytes: int = 0
    statements: tuple[Statement, ...] = ()


_SYNC = Statement(
    "sync makes durable all that returned before it; fsync of a directory its names; "
    "fsync, fdatasync, msync and writes with O_SYNC or O_DSYNC the contents and size of their "
    "file; sync_file_range nothing",
    f"man 2 sync, man 2 open, man 2 msync, man 2 sync_file_range; {MAN_FSYNC}",
)

JFFS2 = Promise(
    filesystem="jffs2",
    contents=IN_ORDER,
    rename_is_atomic=False,  # F-JFFS2-15 of docs/findings.md
    loose_attributes=(EXTENDED,),
    refuses=frozenset({"mapping", "exchange", "whiteout", "tmpfile"}),  # F-JFFS2-17, F-JFFS2-18
    root_links=3,  # F-JFFS2-16
    statements=(
        _SYNC,
        Statement(
            "a call writes its nodes before it returns, in the order of the calls; on NAND the "
            "last ones stay in the write buffer, which holds less than a page: the flash has a "
            "beginning of the sequence of nodes",
            "mtd-www, ubifs.html, 'UBIFS in synchronous mode vs JFFS2'; fs/jffs2/README.Locking, "
            "alloc_sem; fs/jffs2/wbuf.c, jffs2_flash_writev(): one buffer, no gaps",
        ),
        Statement(
            "fsync writes the buffer if a node of that inode is in it, with all before; a name is "
            "a node of its directory",
            "fs/jffs2/wbuf.c, jffs2_flush_wbuf_gc(); fs/jffs2/write.c, jffs2_write_dirent()",
        ),
        Statement(
            "a write that is cut leaves its first bytes, the rest as before",
            "fs/jffs2/write.c, jffs2_write_inode_range(): node after node, each with a CRC",
        ),
        Statement(
            "rename: the new name appears (in place of a file that had it) before the old one "
            "goes: a file has both names for a moment, never none; of a directory that would be a "
            "finding, since nothing can use it then",
            "fs/jffs2/dir.c, jffs2_rename(): 'Make a hard link', then 'Unlink the original'; "
            "docs/findings.md, F-JFFS2-21",
        ),
        Statement(
            "fsync makes mode, times and extended attributes of its file durable",
            "man 2 fsync: metadata; that it does not so is F-JFFS2-22",
        ),
        Statement(
            "a file cannot be written to through a mapping",
            "fs/jffs2/file.c, jffs2_file_operations: generic_file_readonly_mmap",
        ),
        Statement(
            "the root has one link more than other directories",
            "fs/jffs2/fs.c, jffs2_iget(): 'Root dir gets i_nlink 3 for some reason'",
        ),
    ),
)

UBIFS = Promise(
    filesystem="ubifs",
    contents=WRITE_BACK,  # F-UBIFS-15 of docs/findings.md, and so are the next, and the last
    pieces=ANY,
    names_note_the_file=True,
    fsync_notes_rename=True,
    overwriting_is_noted=False,
    loose_attributes=(INODE,),
    statements=(
        _SYNC,
        Statement(
            "creating, linking, renaming and deleting are atomic each, and go to flash in order",
            "fs/ubifs/journal.c, head: all inode, entry and truncation nodes go to the base head; "
            "what is written at one go is atomic with respect to unclean reboots",
        ),
        Statement(
            "contents are written back later, in units of 4 KiB and in no order; until then a file "
            "has older ones, or holes",
            "Documentation/filesystems/ubifs.rst, write-back; linux-mtd, September 2009, 'UBIFS "
            "power cut issues'; fs/ubifs/file.c, ubifs_writepage(); recovery.c, "
            "ubifs_recover_size()",
        ),
        Statement(
            "rename is atomic: there is the old naming or the new one; the directory's fsync makes "
            "it durable",
            f"linux-mtd, July 2009, 'UBIFS robustness questions'; {MAN_RENAME}",
        ),
        Statement(
            "fsync writes the buffers that have a node of that inode, with all names before it",
            "fs/ubifs/file.c, ubifs_fsync(); journal.c, ubifs_jnl_update(): both inodes are noted",
        ),
        Statement(
            "mode and times are written back later, by an fsync of the file at the latest; "
            "extended attributes are not",
            "fs/ubifs/file.c, ubifs_setattr(), do_setattr(): mark_inode_dirty_sync(); "
            "fs/ubifs/xattr.c, head: 'Extended attributes are synchronous'",
        ),
    ),
)

YAFFS2 = Promise(
    filesystem="yaffs2",
    contents=IN_ORDER,
    pieces=ANY,
    returned_is_durable=True,
    close_writes_back=True,
    unit_bytes=1,
    root_links=3,
    own_names=("lost+found",),
    names_of_lost=r"obj\d+",
    refuses=frozenset({"exchange", "whiteout"}),
    statements=(
        _SYNC,
        Statement(
            "there is no write buffer but the short-op cache, and closing a file writes that and "
            "its header: what a call made is on flash when the file was closed",
            "kmod/yaffs/core/cache.c, head: 'Flushed by close, fsync, sync and resize'; "
            "kmod/yaffs/vfs/file.c, yaffs_flush()",
        ),
        Statement(
            "while a file is open, any part of what was written to it may be on flash; what was "
            "stored through a mapping of it may be until it is synced, closed or not",
            "kmod/yaffs/core/cache.c, head; kmod/yaffs/vfs/file.c, head: 'Only stores through "
            "shared mappings make pages dirty'",
        ),
        Statement(
            "creating, deleting and renaming are one header each that counts; renaming over a file "
            "names the file that it replaces in the same header",
            "kmod/yaffs/core/operations.c, yaffs_rename() and replace(); kmod/yaffs/README.md, "
            "'Where it does better'",
        ),
        Statement(
            "a write that is cut leaves any of its chunks, the others as before, or zeros behind "
            "the old end; a shortened file never shows its old size with data missing",
            "kmod/yaffs/core/data.c, head; kmod/yaffs/README.md, 'Where it does better'",
        ),
        Statement(
            "what lost its directory is in lost+found, never deleted",
            "kmod/yaffs/core/recover.c, head",
        ),
    ),
)

LOGFS = Promise(
    filesystem="logfs",
    contents=WRITE_BACK,
    pieces=ANY,
    range_syncs_size=False,
    names_note_the_file=True,
    fsync_notes_rename=True,
    loose_attributes=(INODE,),
    refuses=frozenset({"whiteout", "tmpfile", "xattr"}),
    root_links=1,
    growth_bytes=PAGE_BYTES,
    statements=(
        _SYNC,
        Statement(
            "a commit has all that was done before it, or it is as if it had not been begun; "
            "creating, linking, renaming and deleting are whole in one",
            "docs/logfs-format.md, commits; kmod/logfs/core/journal.c, core/dir.c",
        ),
        Statement(
            "sync and fsync of any file or directory are a commit: all names before it are durable",
            "kmod/logfs/vfs/file.c; kmod/logfs/README.md, 'What it does'",
        ),
        Statement(
            "contents are written back later, in units of 4 KiB and in no order; until then a file "
            "has older ones, or holes",
            "kmod/logfs/README.md, 'Write back'",
        ),
        Statement(
            "a write with O_SYNC, and msync, bring the pages of their part to flash; what an "
            "earlier write made the file longer by is written back later",
            "kmod/logfs/vfs/file.c, logfs_vfs_fsync(): file_write_and_wait_range() of that part",
        ),
        Statement(
            "directories have one link, whatever is in them",
            "docs/logfs-format.md, directories",
        ),
        Statement(
            "from inode 512 on a block of pointers more leads to an inode, whatever was deleted: "
            "one block less fits into a file",
            "docs/logfs-format.md, tree: the inode file has height 2 then",
        ),
    ),
)

# Of overlayfs itself. What is changed is on the upper file system, and has its promise.
_OVERLAY = (
    Statement(
        "what no call changed is read from the lower file system, which nothing writes to: it is "
        "there and whole, whatever is lost of the upper one",
        "Documentation/filesystems/overlayfs.rst, 'Upper and Lower', 'Non-directories'",
    ),
    Statement(
        "the first change of a lower file copies it up, which nobody sees: the copy is made apart "
        "from its name, its data are synced, and then it gets its name by one rename or link",
        "fs/overlayfs/copy_up.c, ovl_copy_up_file(): vfs_fsync(); ovl_copy_up_workdir(), "
        "ovl_copy_up_tmpfile(); overlayfs.rst, 'Non-directories'",
    ),
    Statement(
        "of a lower file with several names the copied one becomes a file of its own, with one "
        "link; the others keep their contents and count",
        "overlayfs.rst, 'Non-standard behavior'; fs/overlayfs/copy_up.c, ovl_do_copy_up(): "
        "'breaking the association with a lower hard link'; inode.c, ovl_getattr()",
    ),
    Statement(
        "deleting or renaming away a lower file, deleting a lower directory, creating what was "
        "deleted are one rename each in the upper directory: of a whiteout, or over it",
        "fs/overlayfs/dir.c, ovl_cleanup_and_whiteout(), ovl_create_over_whiteout(), ovl_rename()",
    ),
    Statement(
        "sync is that of the upper file system, fsync that of the file or directory there; of what "
        "is only below there is nothing to sync",
        "fs/overlayfs/super.c, ovl_sync_fs(); file.c, ovl_fsync(); readdir.c, ovl_dir_fsync()",
    ),
    Statement(
        "what a copy or a removal left in the work directory is deleted at the next mount, and is "
        "not to be seen",
        "fs/overlayfs/super.c, ovl_workdir_create(); readdir.c, ovl_workdir_cleanup()",
    ),
    Statement(
        "a directory that is in both file systems has one link",
        "fs/overlayfs/inode.c, ovl_getattr(): 'nlink=1 seems to pacify find and other utilities'",
    ),
)


def _joined(upper: Promise) -> Promise:
    """That of an overlay whose upper file system this is."""
    return replace(
        upper,
        filesystem=f"overlay-{upper.filesystem}",
        joins=True,
        refuses=upper.refuses | {"tmpfile", "whiteout"},
        statements=(*upper.statements, *_OVERLAY),
    )


PROMISES: Mapping[str, Promise] = {
    promise.filesystem: promise
    for promise in (JFFS2, UBIFS, YAFFS2, LOGFS, _joined(JFFS2), _joined(UBIFS))
}


def promise_of(filesystem: str) -> Promise:
    """The promise of a type of file system; UsageError if none is written down."""
    promise = PROMISES.get(filesystem)
    if promise is None:
        raise UsageError(
            f"it is not written down what {filesystem!r} promises of a power cut",
            cause=f"promises are known of {', '.join(PROMISES)}",
            remedy="add one, with its sources, to src/ffslab/oracle/promises.py",
        )
    return promise
