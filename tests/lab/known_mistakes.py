"""Mistakes of UBIFS, UBI and JFFS2 that others found and corrected, and what finds them here.

tests/planted/mistakes.patch has each back under its name. A title is that of the commit that
corrected it in mainline.
"""

from __future__ import annotations

from dataclasses import dataclass

from findings import finding

CHECKED = ("ubifs_chk_fs",)  # UBIFS's own check of all of it, at each mount
SLABS = ("slub_debug=FZPU",)  # what is freed twice, or written to beside its end, is told
DEBUG = "debug"  # KASAN and kmemleak
NAND, NOR = "apf27", "mt7621-gnubee"
SECTORS_4K = '"chip.pages_per_block" = [16]\n"chip.blocks" = [8192]'  # of NOR flash


@dataclass(frozen=True)
class Mistake:
    """`workload`: lines of the study that finds it, `base` further ones of it.

    `outcomes`: of a state, or of the case. `open_as`: Linux 6.1.192 has it still. `words`: on the
    kernel's command line, with it and without. `is_quick`: CI tries it, too.
    """

    name: str
    title: str
    filesystem: str
    workload: str
    outcomes: frozenset[str]
    base: str = ""
    axes: str = ""
    described: tuple[str, str] = ("", "")  # text of the file system's description, what for it
    board: str = NAND
    partition: str = "8 MiB"
    words: tuple[str, ...] = ()
    kernel: str = ""  # the variant, if not that of the study's cases
    open_as: str = ""
    is_quick: bool = False


NOT_OVER_EMPTIED = finding("F-JFFS2-08", "over_emptied = false")


def sequences(act_set: str, length: int, begins: str = "new", kinds: str = "") -> str:
    return (
        f'kind = "cuts"\nhistory = "sequences"\nact_set = "{act_set}"\nlength = {length}\n'
        f'beginning = "{begins}"\nkinds = "{kinds}"\n'
    )


def calls(text: str, kinds: str = "", more: str = "") -> str:
    return f'kind = "cuts"\nhistory = "calls"\ncalls = """{text}"""\nkinds = "{kinds}"\n{more}\n'


def script(name: str, arguments: str = "") -> str:
    return f'kind = "script"\nscript = "{name}"\narguments = "{arguments}"'


def of(*outcomes: str) -> frozenset[str]:
    return frozenset(outcomes)


def whiteouts(number: int, appends: int, first: int, step: int, before: str = "") -> str:
    """So many on a full flash, where each has a little more room than the one before."""
    files = range(number)
    return (
        "mkdir e\n"
        + "".join(f"create e/b{n}\nappend z{n} 4000 #\n" for n in files)
        + "sync\nfill f 4096\n"
        + "append g 16384 #\n" * appends
        + "".join(
            f"unlink z{n}\nappend g {first + step * n} #\n{before.format(n % 8)}"
            f"whiteout e/b{n} e/w{n}\n"
            for n in files
        )
        + "sync\n"
    )


# A directory with a changed mode before each whiteout, where there is just room, or just none.
FULL_WHITEOUTS = whiteouts(250, 30, 3000, 11, "chmod e 7{}0\n")
# Without it, and with so much room that of the three requests of a whiteout the last one fails.
LAST_WHITEOUTS = whiteouts(100, 35, 2500, 13)
ORPHANS = sequences("orphans", 3, kinds="lost")
MISTAKES = (
    Mistake(
        "ubifs-whiteout-steps",
        "ubifs: Rename whiteout atomically",
        "ubifs",
        sequences("whiteouts", 1, "names"),
        of("name-lost", "unreadable"),
        is_quick=True,
    ),
    Mistake(
        "ubifs-whiteout-deadlock",
        "ubifs: Fix deadlock in concurrent rename whiteout and inode writeback",
        "ubifs",
        calls(FULL_WHITEOUTS, "lost", "sample = 10"),
        of("stuck", "crash", "guest-died"),
    ),
    Mistake(
        "ubifs-whiteout-free",
        "ubifs: rename_whiteout: Fix double free for whiteout_ui->data",
        "ubifs",
        calls(LAST_WHITEOUTS, "lost", "sample = 2\nfill_sample = 0"),
        of("crash"),
        words=SLABS,
    ),
    Mistake(
        "ubifs-whiteout-size",
        "ubifs: rename_whiteout: correct old_dir size computing",
        "ubifs",
        sequences("whiteouts", 2, "names", "lost"),
        of("mount-fails", "remount-fails"),
        words=CHECKED,
        is_quick=True,
    ),
    Mistake(
        "ubifs-relink",
        "ubifs: Handle re-linking of inodes correctly while recovery",
        "ubifs",
        calls(
            "tmpfile @0 .\nwrite @0 0 9000 #\nfsync @0\ntruncate @0 5000\nlinkfd @0 b\nfsync @0\n",
            "lost",
        ),
        of("synced-data-lost", "stale-data", "corrupt-contents", "wrong-size"),
    ),
    Mistake(
        "ubifs-orphan-linked",
        "ubifs: Check link count of inodes when killing orphans.",
        "ubifs",
        ORPHANS,
        of("unreadable", "synced-data-lost", "name-lost"),
    ),
    Mistake(
        "ubifs-link-stays-orphan",
        "ubifs: Fix O_TMPFILE corner case in ubifs_link()",
        "ubifs",
        ORPHANS,
        of("call-fails"),
    ),
    Mistake(
        "ubifs-replay-node-type",
        "ubifs: Only check replay with inode type to judge if inode linked",
        "ubifs",
        ORPHANS,
        of("mount-fails", "remount-fails"),
        words=CHECKED,
    ),
    Mistake(
        "ubifs-xattr-unattached",
        "ubifs: Fix unattached xattr inode if powercut happens after deleting",
        "ubifs",
        sequences("orphans", 4, kinds="lost"),
        of("mount-fails", "remount-fails"),
        words=CHECKED,
        open_as=finding("F-UBIFS-18", "F-UBIFS-18"),
    ),
    Mistake(
        "ubifs-replay-xattr",
        "ubifs: Fix journal replay wrt. xattr nodes",
        "ubifs",
        ORPHANS,
        of("mount-fails", "remount-fails"),
        words=CHECKED,
    ),
    Mistake(
        "ubifs-orphan-gone",
        "ubifs: Fix ubifs_tnc_lookup() usage in do_kill_orphans()",
        "ubifs",
        ORPHANS,
        of("mount-fails", "remount-fails"),
    ),
    Mistake(
        "ubifs-clean-count",
        "ubifs: Re-statistic cleaned znode count if commit failed",
        "ubifs",
        'kind = "cuts"\nhistory = "transactions"\nparameters = "transactions=300"\n'
        'kinds = "lost"\nsample = 3\nfill_sample = 0',
        of("fail"),
        base="seeds = [1, 2, 3, 4, 5, 6, 7, 8]",
        axes='"chip.program_fail_ppm" = [15000, 30000]',
    ),
    Mistake(
        "ubi-vid-offset-beyond",
        "ubi: ensure that VID header offset + VID header size <= alloc, size",
        "ubifs",
        sequences("plain", 1),
        of("kernel-warning", "fail", "crash"),
        described=("vid_hdr_offset = 0", "vid_hdr_offset = 480"),
        words=SLABS,
        is_quick=True,
    ),
    Mistake(
        "ubi-vid-offset-equal",
        "ubi: Fix failure attaching when vid_hdr offset equals to (sub)page size",
        "ubifs",
        sequences("plain", 1),
        of("fail", "crash"),
        is_quick=True,
    ),
    Mistake(
        "jffs2-hole",
        "jffs2: correct logic when creating a hole in jffs2_write_begin",
        "jffs2",
        sequences("all", 2, kinds="lost"),
        of("corrupt-contents", "stale-data"),
    ),
    Mistake(
        "jffs2-xattr-size",
        "jffs2: prevent xattr node from overflowing the eraseblock",
        "jffs2",
        calls("write a 0 3000 #\nsync\nsetxattr a user.x 6000 #\nsync\nwrite b 0 9000 #\nsync\n"),
        of("fail"),
        axes=SECTORS_4K,
        board=NOR,
        partition="512 KiB",
        is_quick=True,
    ),
    Mistake(
        "jffs2-summary-offset",
        "jffs2: Fix kasan slab-out-of-bounds problem",
        "jffs2",
        calls(
            "".join(f"write a {at} 3000 #\n" for at in range(0, 60000, 3000)),
            "torn-bits",
            'variants = 60\ncheck = "mount"',
        ),
        of("mount-fails"),
        axes=SECTORS_4K,
        board=NOR,
        partition="512 KiB",
    ),
    Mistake(
        "jffs2-name-crc",
        "jffs2: Fix GC exit abnormally",
        "jffs2",
        calls(
            "".join(f"create {chr(97 + number) * 120}\n" for number in range(20)),
            "weak-bits",
            "variants = 20",
        ),
        of("unknown-name"),
        axes=SECTORS_4K,
        board=NOR,
        partition="512 KiB",
        is_quick=True,
    ),
    Mistake(
        "jffs2-rtime-short",
        "jffs2: Fix rtime decompressor",
        "jffs2",
        'kind = "tree"\nsteps = "mount settle list copy sync unmount"',
        of("fail", "corrupt", "crash"),
        base='state = "image"\noptions.compression = "rtime"',
        partition="64 MiB",
    ),
    Mistake(
        "jffs2-reserve-null",
        "jffs2: Fix NULL pointer dereference in rp_size fs option parsing",
        "jffs2",
        sequences("plain", 1, kinds="lost"),
        of("fail", "crash"),
        described=(
            'mount_options = ["compr=zlib"]',
            'mount_options = ["compr=zlib", "rp_size=64"]',
        ),
        is_quick=True,
    ),
    Mistake(
        "jffs2-splice",
        "jffs2: Hook up splice_write callback",
        "jffs2",
        f'kind = "random"\nrounds = 8\n{NOT_OVER_EMPTIED}',
        of("fail", "corrupt"),
        is_quick=True,
    ),
    Mistake(
        "jffs2-gc-deadlock",
        "jffs2: GC deadlock reading a page that is used in jffs2_write_begin()",
        "jffs2",
        script("cold-writes.sh", "2900000 60"),
        of("corrupt", "stuck", "crash"),
        partition="4 MiB",
    ),
    Mistake(
        "jffs2-remount-options",
        "jffs2: Fix ignoring mounting options problem during remounting",
        "jffs2",
        script("remount.sh"),
        of("fail", "corrupt"),
        is_quick=True,
    ),
    Mistake(
        "jffs2-rtime-beyond",
        "jffs2: check the validity of dstlen in jffs2_zlib_compress()",
        "jffs2",
        calls("write a 0 1 #\nsync\nwrite b 0 2 #\nsync\n", "lost"),
        of("crash", "fail"),
        base='options.compression = "priority"',
        kernel=DEBUG,
    ),
    Mistake(
        "jffs2-mount-leak",
        "jffs2: fix memory leak in jffs2_do_mount_fs",
        "ubifs",
        script("leaks.sh"),
        of("fail"),
        kernel=DEBUG,
    ),
    Mistake(
        "ubifs-node-beyond",
        "ubifs: Fix read out-of-bounds in ubifs_wbuf_write_nolock()",
        "ubifs",
        script("links.sh"),
        of("crash", "fail"),
        board=NOR,
        kernel=DEBUG,
    ),
)
