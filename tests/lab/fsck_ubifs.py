"""fsck.ubifs in guests: a second judge of UBIFS, which reads the flash with code of its own.

mtd-utils has it from 2.3.0 on, Debian from 13 on. So it is compiled here from Debian 13's source,
without the libraries for compression and signatures: it looks at no contents. It takes the device
of a UBI volume, no file, so it runs in guests; their kernel's UBI unmaps and changes blocks for it.

A guest carries a history out on the chip that logs, and then goes from state to state by steps of
its plan, for programs run between them. `-n` changes nothing and leaves the space out; `-a` looks
at that too, and corrects what costs no data; `-y` drops what is damaged; `-y -b` collects the nodes
of the whole volume where log, master node or index are.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab_support import Boot, boot

from ffslab.lab.archives import Archive, fetch
from ffslab.lab.cache import (
    cache_root,
    file_sha256,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.model.case import Case
from ffslab.oracle.promises import promise_of
from ffslab.protocol.plan import parse_step, step
from ffslab.targets.virtual_flash import VirtualFlash
from ffslab.workloads.cuts.plan import (
    HISTORY,
    WALK,
    Cutter,
    cuts_of,
    cutter_of,
    guest_case,
    log_plan,
    series_plan,
)
from ffslab.workloads.cuts.series import CutMade, SeriesText, parse_series, series_words
from ffslab.workloads.cuts.states import Logged, parse_log
from ffslab.workloads.cuts.walk import Cut
from ffslab.workloads.rig import CUTTER

_POOL = "pool/main/m/mtd-utils/mtd-utils_2.3.0.orig.tar.xz"
SOURCE = Archive(
    version="2.3.0",
    urls=(
        f"http://deb.debian.org/debian/{_POOL}",
        f"https://snapshot.debian.org/archive/debian/20261128T000000Z/{_POOL}",
    ),
    sha256="d1242d44c5772394d159117f3aeaa352f4265a073cb6dc0d91ced13d9b3299df",
)
_GCC = (
    *("gcc", "-O1", "-w", "-static", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"),
    *("-DWITHOUT_LZO", "-DWITHOUT_ZSTD", "-DWITHOUT_ZLIB", '-DVERSION="2.3.0"'),
    *("-Iinclude", "-Iubi-utils/include", "-Iubifs-utils/common", "-Iubifs-utils/libubifs"),
)
_PARTS = (
    *("lib/libubi.c", "lib/libmtd.c", "lib/libmtd_legacy.c", "lib/libcrc32.c", "lib/common.c"),
    *("lib/rbtree.c", "lib/list_sort.c", "lib/execinfo.c"),
    *("ubifs-utils/common/*.c", "ubifs-utils/common/hashtable/*.c"),
    *("ubifs-utils/libubifs/*.c", "ubifs-utils/fsck.ubifs/*.c"),
)
_LEFT_OUT = {"auth.c", "crypto.c", "devtable.c", "fscrypt.c", "sign.c"}
# What mends findings: a file, the first so many places in it, what comes before them.
_MENDS = {
    "F-FSCK-01": (
        "ubifs-utils/fsck.ubifs/check_space.c",
        r"^\t+err = retake_ihead\(c\);",
        2,
        "FSCK(c)->lpt_status = 0;",
    ),
    "F-FSCK-03": (
        "ubifs-utils/libubifs/recovery.c",
        r'^\t+ubifs_err\(c, "unrecoverable log corruption',
        1,
        "set_failure_reason_callback(c, FR_DATA_CORRUPTED);",
    ),
    # What cannot be read is neither blank nor a node.
    "F-FSCK-02": (
        "ubifs-utils/libubifs/io.c",
        r"^out:",
        1,
        """for (int at = 0, n, unit = c->di.min_io_size; err == -EBADMSG && at < len; at += n) {
            n = unit - (offs + at) % unit;
            n = n < len - at ? n : len - at;
            if (pread(c->dev_fd, (char *)buf + at, n, pos + at) != n)
                memset((char *)buf + at, 0x5a, n);
        }""",
    ),
}
FSCK = "/fsck.ubifs"  # in a guest
VOLUME = "/dev/ubi0_0"
CHECK, SAFE, YES, REBUILD = ("-n",), ("-a",), ("-y",), ("-y", "-b")
CHIP = "flash0"


def fsck_program(mended: Sequence[str] = ()) -> Path:
    """The program, static; compiled once. `mended`: without these findings."""
    progress = SilentProgress()
    root = make_directory(cache_root() / "mtd-utils")
    made_of = f"{SOURCE.sha256} {_GCC} {_PARTS} {[_MENDS[number] for number in mended]}"
    entry = root / hashlib.sha256(made_of.encode()).hexdigest()[:16]
    with locked(root / "lock", progress):
        if not set_aside_if_damaged(entry):
            archive = root / SOURCE.name
            if not archive.exists() or file_sha256(archive) != SOURCE.sha256:
                fetch(SOURCE, root, progress)
            scratch = scratch_directory(root)
            program = scratch / "fsck.ubifs"
            with TemporaryDirectory() as unpacked:
                subprocess.run(["tar", "-xJf", archive, "-C", unpacked], check=True)
                source = Path(unpacked) / f"mtd-utils-{SOURCE.version}"
                _compile(source, program, mended)
            write_stamp(scratch, {"made_of": made_of}, [program])
            replace_directory(scratch, entry)
    return entry / "fsck.ubifs"


def _compile(source: Path, program: Path, mended: Sequence[str]) -> None:
    for name, place, times, mend in (_MENDS[number] for number in mended):
        text = (source / name).read_text()
        text, count = re.subn(place, rf"{mend}\n\g<0>", text, count=times, flags=re.M)
        assert count == times, place
        (source / name).write_text(text)
    files = [path for part in _PARTS for path in sorted(source.glob(part))]
    words = [str(path) for path in files if path.name not in _LEFT_OUT]
    subprocess.run([*_GCC, *words, "-o", str(program), "-lpthread", "-lm"], cwd=source, check=True)


@dataclass(frozen=True)
class Report:
    """What a run of fsck.ubifs said. `problems` are its sentences, without numbers of places."""

    status: int
    lines: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        told = (line.partition("problem: ")[2] for line in self.lines)
        return tuple(line for line in told if line)

    @property
    def is_clean(self) -> bool:
        return self.status == 0 and not self.problems


@dataclass
class State:
    """What became of a state: by the labels of its steps, whether mounts came to an end, what fsck
    said, and the trees that were seen."""

    cut: Cut
    is_there: bool = True
    mounts: dict[str, bool] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    trees: dict[str, str] = field(default_factory=dict)


def _exec(path: str, *words: object, **keys: object) -> str:
    return step("exec", path=path, args=" ".join(map(str, words)), **keys)


def fsck(label: str, words: Sequence[str], program: str = FSCK) -> str:
    return _exec(program, *words, VOLUME, label=f"fsck-{label}", may_fail=1)


def chip(*words: object, **keys: object) -> str:
    return _exec(CUTTER, "chip", CHIP, *words, **keys)


def cut_to(cut: Cut) -> list[str]:
    """Leaves the operation at which the chip stands as the cut does."""
    return [chip("cut", cut.kind, cut.variant, label="cut", may_fail=1)]


UMOUNT = step("umount", target="/mnt", may_fail=1)
DETACH = step("ubi-detach", ubi=0, may_fail=1)


@dataclass(frozen=True)
class Fsck:
    """Guests of a case of UBIFS in which the program can run."""

    lab: LabBuild
    case: Case
    programs: Mapping[str, Path]  # by their paths in the guest
    directory: Path

    def mounted(self, label: str, *further: str) -> list[str]:
        """A mount, a look at all that is there, these steps, and an unmount."""
        (mount,) = (line for line in self._lines("mount") if " type=ubifs " in line)
        return [
            f"{mount} label=mount-{label} may_fail=1",
            _exec(CUTTER, "observe", "/mnt", label=f"tree-{label}"),
            *further,
            UMOUNT,
        ]

    @property
    def attach(self) -> str:
        return f"{self._lines('ubi-attach')[0]} may_fail=1"

    def _lines(self, verb: str) -> list[str]:
        lines = log_plan(self._cutter).splitlines()
        return [line for line in lines if parse_step(line)[0] == verb]

    @property
    def _cutter(self) -> Cutter:
        return cutter_of(self.case, VirtualFlash())

    def guest(self, name: str, lines: Iterable[str]) -> Boot:
        """A guest with this plan; its steps succeed, or may fail."""
        self.directory.mkdir(exist_ok=True)
        history = self.directory / "history"
        history.write_text(self._cutter.history)
        found = boot(
            *(self.lab, self.directory / name, guest_case(self.case)),
            "".join(f"{line}\n" for line in lines),
            files={CUTTER: self.lab.cutter, HISTORY: history, **self.programs},
            clean=False,
            limit_s=1200,
        )
        assert found.status == 0 and found.records[-1]["status"] == "ok", found.printed
        return found

    @cached_property
    def log(self) -> tuple[Logged, ...]:
        """The chip's log of the history."""
        return parse_log(_log_of(self.guest("log", log_plan(self._cutter).splitlines())))

    def states(self, name: str, cuts: Sequence[Cut], steps: Sequence[str]) -> list[State]:
        """Makes these steps in each state; what is not on this chip is left out."""
        plan = log_plan(self._cutter).splitlines()
        for cut in cuts:
            plan += [chip("at", cut.operation), *cut_to(cut), *steps, chip("back")]
        guest = self.guest(name, plan)
        assert parse_log(_log_of(guest)) == self.log, "the history did other things to the chip"
        return [state for state in _states(guest, cuts) if state.is_there]

    def series(self, name: str, cuts: int, steps: Iterable[str] = ()) -> tuple[Boot, SeriesText]:
        """So many cuts in a row, and then these steps; each `cut` in them is a state."""
        words = series_words(
            *(cuts_of(self.case), promise_of("ubifs"), self.case.seed),
            first=0,
            cuts=cuts,
            spared=(),
        )
        words.append(f"tell_from={cuts - 1}")  # the calls before the last cut
        *before, last = series_plan(self._cutter, words).splitlines()
        # It fails if the last cut leaves a flash that cannot be mounted with it undone, either.
        guest = self.guest(name, [*before, f"{last} may_fail=1", *steps])
        return guest, parse_series((guest.directory / WALK).read_text())

    def behind(
        self, made: CutMade, tried: Sequence[Sequence[str]]
    ) -> tuple[list[State], SeriesText]:
        """Makes each of these steps on the flash that a cut of a series left."""
        cut = Cut(made.operation, made.kind, made.variant)
        steps = [line for lines in tried for line in (*cut_to(cut), *lines, chip("back"))]
        guest, text = self.series(f"{made.cycle}", made.cycle, [chip("pop"), *steps])
        return list(_states(guest, [cut] * len(tried))), text

    def before(self, made: CutMade) -> str:
        """The tree that the cut before it left, at most eight calls earlier."""
        steps = [chip("pop", label="cut"), self.attach, *self.mounted("before")]
        guest, _ = self.series(f"{made.cycle}-before", made.cycle - 1, steps)
        (state,) = _states(guest, [Cut(0, "lost", 0)])
        return state.trees["before"]


def _log_of(guest: Boot) -> str:
    (record,) = [record for record in guest.of_type("file") if record["path"].endswith("/log")]
    return str(record["text"])


_SAID = re.compile(r"^fsck\.ubifs\[(\d+)\] \([^)]*\): ?(.*)$")


def said(output: str) -> Iterator[tuple[str, ...]]:
    """What each run of fsck.ubifs printed, without what begins all of its lines."""
    process, lines = "", list[str]()
    for line in output.splitlines():
        found = _SAID.match(line)
        if not found:
            continue
        if found[1] != process and lines:
            yield tuple(lines)
            lines = []
        process = found[1]
        lines.append(found[2])
    if lines:
        yield tuple(lines)


def trees(output: str) -> Iterator[str]:
    """The entries that `ffscrash observe` printed, each time; not what is free, which fsck changes
    as any commit does."""
    lines: list[str] = []
    for line in output.splitlines():
        lines = [] if line.startswith("dir . ") else lines
        if line.startswith("statfs "):
            yield "".join(f"{line}\n" for line in lines)
        lines.append(line)


def _states(guest: Boot, cuts: Sequence[Cut]) -> Iterator[State]:
    """The records of steps say what was done, in the order of what was printed."""
    reports, seen = said(guest.output), trees(guest.output)
    left = iter(cuts)
    state: State | None = None
    for record in guest.of_type("step"):
        verb, _, label = record["label"].partition("-")
        is_good = record["status"] == "ok"
        if verb == "cut":
            if state:
                yield state
            state = State(next(left), is_there=is_good)
        elif state and verb == "mount":
            state.mounts[label] = is_good
        elif state and verb == "fsck":
            state.reports[label] = Report(_status(record), next(reports))
        elif state and verb == "tree":
            state.trees[label] = next(seen)
    if state:
        yield state
    assert next(left, None) is None and next(reports, None) is None and next(seen, None) is None


def _status(record: Mapping[str, Any]) -> int:
    if record["status"] == "ok":
        return 0
    found = re.search(r"exited with status (\d+)$", record["message"])
    return int(found[1]) if found else -1  # a signal
