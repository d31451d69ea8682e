"""The smallest inputs that show what is wrong in JFFS2, UBI and UBIFS, as docs/findings.md has it.

Tests of the usual kernel and of the changes take theirs from here, findings_by_version.py all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guest_programs import JFFS2, UBIFS, Subject
from lab_support import ROOT
from test_nor_cuts import TORN
from test_series import CLEAN_BLOCKS, CUT_ERASES
from test_series import study as series

from ffslab.oracle.promises import IN_ORDER, PREFIX
from findings import NOT_SEEN, THERE


@dataclass(frozen=True)
class Input:
    """A study of examples/findings. `words`: options of `run` for a module with another type.

    `has_change`: kernel/fixes mends it. `boards`: other times, by which the collector may go the
    way that shows it.
    """

    number: str
    name: str
    filesystem: str
    outcome: str
    reason: str
    words: Sequence[str] = ()
    has_change: bool = True
    boards: Sequence[str] = ("apf27",)

    @property
    def study(self) -> Path:
        return ROOT / "examples" / "findings" / f"{self.name}.toml"


SMALL = (
    Input(
        *("F-JFFS2-05", "removed-names", "jffs2", "fail", "these are back: name"),
        words=("--set", "workload.arguments=20 jffs2x"),
        boards=("apf27", "apf27-2012"),
    ),
    Input(
        *("F-JFFS2-24", "removed-attribute", "jffs2", "fail", "this is back: user.a"),
        words=("--set", "workload.arguments=jffs2x"),
    ),
    Input(
        *("F-JFFS2-25", "inherited-attribute", "jffs2", "fail", "a new file has this: user.a"),
        words=("--set", "workload.arguments=6 jffs2x"),
        boards=("apf27", "apf27-2012"),
    ),
    Input("F-JFFS2-08", "rename-onto-emptied", "jffs2", "stuck", "without use of the flash"),
    Input("F-UBIFS-09", "xattr-of-symlink", "ubifs", "corrupt", "Invalid argument"),
    Input("F-JFFS2-07", "fsync-after-deletion", "jffs2", "fail", "the longest fsync took"),
    Input(
        *("F-UBIFS-16", "many-attributes", "ubifs", "fail", "already has too many xattrs"),
        has_change=False,
    ),
)


@dataclass(frozen=True)
class Excepted:
    """An option of a subject that leaves out or loosens `check`; without it `found` is printed.

    `mended`: the options in its place that the changed file system passes; None: none mends it.
    `elsewhere`: what other versions of Linux print, and the cell that stands for.
    """

    number: str
    subject: Subject
    option: str
    check: str
    found: str
    more: Sequence[str] = ()
    mended: Sequence[str] | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)


POSIX = (
    Excepted(
        *("F-JFFS2-09", JFFS2, "--xattr-refused", "xattr-too-large", "not fit: Success"),
        mended=(),
    ),
    Excepted(
        *("F-JFFS2-10", JFFS2, "--id-max", "access-owners", "found 65533"),
        mended=("--id-max=65535", "--id-refused=65536"),
    ),
    Excepted("F-JFFS2-11", JFFS2, "--lax-times", "time-of-files", "leaves mtime"),
    Excepted("F-JFFS2-14", JFFS2, "--time-gran", "time-set", "found 1000000000"),
    Excepted("F-JFFS2-17", JFFS2, "--no-mmap-write", "map-shared-writing", "Invalid argument"),
    Excepted("F-JFFS2-18", JFFS2, "", "rename-exchange", "found EINVAL", ("--exchange",)),
    Excepted("F-JFFS2-18", JFFS2, "", "open-tmpfile-named", "EOPNOTSUPP", ("--tmpfile",)),
    Excepted("F-JFFS2-19", JFFS2, "--name-max", "names-longest", "ENAMETOOLONG"),
    Excepted("F-JFFS2-19", JFFS2, "--symlink-max", "symlink-lengths", "ENAMETOOLONG"),
    Excepted("F-JFFS2-19", JFFS2, "--size-max", "hole-huge", "found 49"),
    Excepted(
        *("F-UBIFS-10", UBIFS, "--except", "open-bad-memory", "expected 5000 bytes"),
        mended=(),
        # 7.3 also sets the size where nothing was copied; 5.10 stops before the page that has both.
        elsewhere={"expected 0 (0x0), found 100": THERE, "or EFAULT, found 4096": NOT_SEEN},
    ),
    Excepted("F-UBIFS-12", UBIFS, "--lax-times", "time-of-files", "sets mtime"),
    Excepted("F-UBIFS-13", UBIFS, "--time-gran", "time-set", "found 1000000000"),
    Excepted("F-UBIFS-14", UBIFS, "--blocks-by-size", "hole-huge", "a hole occupies"),
)


def id_of(one: Excepted) -> str:
    return f"{one.number}-{one.check}"


def words_without(one: Excepted, words: Sequence[str]) -> list[str]:
    left = [word for word in words if not (one.option and word.startswith(one.option))]
    assert bool(one.option) == (len(left) < len(words))
    return [*left, *one.more]


HISTORY = (
    Excepted("F-JFFS2-16", JFFS2, "--root-links", "operation 0", "number of links of #0"),
    Excepted("F-UBIFS-11", UBIFS, "--lax-times", "exchange", "ctime of #194", ("--seed=4",)),
)


SLEEPS = "--sleep-max-ms=4000"
LONGER = (
    Excepted("F-JFFS2-12", JFFS2, "--no-dir-times", "operation 784", "time of #", ("--seed=2",)),
    Excepted("F-JFFS2-13", JFFS2, "--late-times", "operation 2546", "mtime of #", ("--seed=2",)),
)


@dataclass(frozen=True)
class Cuts:
    """A study that cuts the power, as text or by its name, `changes` as --set has them.

    It shows the finding where a state has one of the `outcomes` and `sign`, a pattern, is in what
    is told of it: the state, the detail, the kernel's messages. `strict`: rules that the file
    system is held to beside what it promises. `is_whole`: these are all cuts in a few calls, which
    would show it in any kernel.
    """

    number: str
    study: str
    outcomes: Sequence[str]
    sign: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    strict: Mapping[str, Any] = field(default_factory=dict)
    is_whole: bool = False


STUDY = """
schema = 1
name = "finding"
title = "A finding"
[base]
board = "{board}"
partition_bytes = "{partition}"
[base.workload]
kind = "cuts"
{workload}
[axes]
filesystem = ["{filesystem}"]
"""


def study(workload: str, filesystem: str, board: str = "apf27", partition: str = "8 MiB") -> str:
    return STUDY.format(workload=workload, filesystem=filesystem, board=board, partition=partition)


def calls(text: str, more: str = "") -> str:
    return f'history = "calls"\ncalls = """{text}"""\n{more}'


# Of the histories that the changed file systems come through, too.
TORN_UPDATE = 'history = "update-by-rename"\nkinds = "torn-bits"'
ONE_ACT = 'history = "sequences"\nact_set = "all"\nlength = 1'
RENAME = (ROOT / "examples" / "calls" / "rename-directory.calls").read_text(encoding="utf-8")
NEW_MODE = "write a 0 300 #; sync; chmod a 600; mkdir d; fsync .; mkdir e"
SEEDS = 'options.compression = "default"\nseeds = [2, 3, 4, 5]'
NOR = "mt7621-gnubee"  # each node goes to flash by itself
OF_HISTORY = "workload.history"
UNSTABLE = {"filesystem": "ubifs", "workload.kinds": "unstable", "workload.fill_sample": 0}
TRANSACTIONS = {"filesystem": "jffs2", "workload.kinds": "torn-bits"}
CUTS = (
    Cuts(
        *("F-JFFS2-01", study(TORN_UPDATE, "jffs2"), ["mount-fails"], "Input/output error"),
        is_whole=True,
    ),
    Cuts(
        *("F-JFFS2-02", "power-cuts-all", ["wrong-kind", "bad-links"]),
        changes={**TRANSACTIONS, OF_HISTORY: "directories", "workload.fill_sample": 0},
    ),
    Cuts("F-JFFS2-02", "power-loss", ["corrupt-contents"], changes=TRANSACTIONS),
    Cuts(
        *("F-JFFS2-03", "power-loss", ["unknown-name"]),
        changes={
            **TRANSACTIONS,
            "workload.kinds": "unstable",
            "workload.parameters": "files=100 transactions=0",
        },
    ),
    Cuts(
        *("F-JFFS2-04", "cuts-in-a-row", ["stale-data", "corrupt-contents"]),
        changes={"filesystem": "jffs2", "workload.cuts": 10_000},
    ),
    Cuts(
        "F-JFFS2-15",
        study(calls("write a 0 300 #; sync; rename a b"), "jffs2", NOR, "2 MiB"),
        ["not-atomic"],
        strict={"rename_is_atomic": True},
        is_whole=True,
    ),
    Cuts("F-JFFS2-20", series(CLEAN_BLOCKS, ["jffs2"]), ["guest-died"], "stuck"),
    # Where a kernel goes another way, so that the first meets nothing.
    Cuts("F-JFFS2-20", series(CLEAN_BLOCKS, ["jffs2"], 0, SEEDS), ["guest-died"], "stuck"),
    Cuts(
        *("F-JFFS2-21", study(calls(RENAME), "jffs2", NOR, "2 MiB"), ["not-atomic"], "both names"),
        is_whole=True,
    ),
    Cuts("F-JFFS2-22", study(ONE_ACT, "jffs2"), ["bad-attributes"], is_whole=True),
    Cuts(
        *("F-JFFS2-23", "sequences", ["changed-by-use", "call-fails"]),
        changes={"filesystem": "jffs2", "workload.length": 2, "workload.beginning": "bad-blocks"},
    ),
    Cuts("F-UBIFS-01", series(CUT_ERASES, ["ubifs"]), ["mount-fails"], "UBIFS error"),
    Cuts("F-UBIFS-01", series(CUT_ERASES, ["ubifs"], 0, SEEDS), ["mount-fails"], "UBIFS error"),
    Cuts(
        *("F-UBIFS-03", "power-cuts-all", ["remount-fails"], "Invalid argument"),
        changes={**UNSTABLE, OF_HISTORY: "full"},
    ),
    Cuts(
        *("F-UBIFS-03", "power-cuts-all", ["remount-fails"], "Invalid argument"),
        changes={**UNSTABLE, OF_HISTORY: "transactions", "workload.parameters": "files=250"},
    ),
    Cuts(
        *("F-UBIFS-04", "power-cuts-all", ["remount-fails", "read-only"]),
        changes={**UNSTABLE, OF_HISTORY: "moved-blocks"},
    ),
    Cuts(
        *("F-UBIFS-05", "power-cuts-all", ["corrupt-contents"]),
        changes={**UNSTABLE, OF_HISTORY: "moved-blocks"},
    ),
    Cuts("F-UBIFS-06", TORN, ["mount-fails"], changes={"filesystem": "ubifs", "board": NOR}),
    Cuts("F-UBIFS-07", "paired-pages", ["mount-fails"], changes={"filesystem": "ubifs"}),
    Cuts(
        "F-UBIFS-15",
        study('history = "sequences"\nlength = 1\nkinds = "lost"', "ubifs"),
        ["stale-data", "wrong-size", "corrupt-contents", "wrong-order"],
        strict={"contents": IN_ORDER, "pieces": PREFIX, "overwriting_is_noted": True},
        is_whole=True,
    ),
    Cuts(
        "F-UBIFS-17",
        study(calls(NEW_MODE, 'kinds = "lost"'), "ubifs"),
        ["bad-attributes"],
        strict={"loose_attributes": ()},
        is_whole=True,
    ),
)
# For a UBIFS that checks all of itself at each mount.
ORPHAN = Cuts(
    "F-UBIFS-18",
    study(
        calls(
            "create a; sync; open @0 a; setxattr a user.x 40 #; unlink a; sync", 'kinds = "lost"'
        ),
        "ubifs-own",
    ),
    ["mount-fails"],
    "Invalid argument",
    is_whole=True,
)
