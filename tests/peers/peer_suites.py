"""What each program of others does in a guest, and what its output says of each of its checks.

A check has a name and, unless it passed, a reason. A script runs all checks of a program, each
within `_BOUND_S` of virtual time, and ends with status 0: what failed is said by the checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from peer_programs import CRATES, crate, debian_version, integck

_BOUND_S = 3600
_NO_RESOURCE = 3  # stress-ng's exit status
_TOLD = 150  # letters of a reason
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# run NAME PROGRAM [ARGUMENT...]
_RUN = f"""run() {{
    name=$1
    shift
    echo "begin $name"
    timeout -s KILL {_BOUND_S} "$@" 2>&1
    echo "end $name $?"
}}
"""

Checks = Mapping[str, str]  # of each its reason not to pass; empty: passed


@dataclass(frozen=True, slots=True)
class Suite:
    """A program: its version, the script, the files beside that by name, what its output means."""

    name: str
    version: Callable[[], str]
    script: str
    read: Callable[[str], Checks]
    programs: Callable[[], Mapping[str, Path]] = dict
    texts: Mapping[str, str] = field(default_factory=dict)

    def put(self, directory: Path) -> list[str]:
        """Writes script and files into a directory; the names of the files."""
        (directory / "peer.sh").write_text(self.script)
        for name, text in self.texts.items():
            (directory / name).write_text(text)
        programs = self.programs()
        for name, path in programs.items():
            (directory / name).write_bytes(path.read_bytes())
            (directory / name).chmod(0o755)
        return [*programs, *self.texts]


def _of_pjdfstest(output: str) -> Checks:
    """A line of a check ends with its status; the next line says why, behind a tabulator."""
    checks: dict[str, str] = {}
    lines = _COLOUR.sub("", output).splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found = re.fullmatch(r"(\w+(?:::\w+)+)\s+(ok|FAILED|skipped)", line)
        if found:
            why = "" if found[2] == "ok" else f"{found[2].lower()}: {following.strip()}"
            checks[found[1]] = why
    return checks


def _of_run(output: str) -> Checks:
    """Between the lines `begin` and `end` of a check the last line of an error is the reason."""
    checks: dict[str, str] = {}
    printed: list[str] = []
    for line in map(str.strip, _COLOUR.sub("", output).splitlines()):
        begins, ends = re.fullmatch(r"begin (\S+)", line), re.fullmatch(r"end (\S+) (\d+)", line)
        if begins:
            printed = []
            checks[begins[1]] = "it did not end"
        elif ends:
            checks[ends[1]] = _reason(int(ends[2]), printed)
        elif line:
            printed.append(line)
    return checks


def _reason(status: int, printed: list[str]) -> str:
    wrong = [line for line in printed if re.search(r"error|fail|verify:|No stress", line, re.I)]
    if any("No stress workers invoked" in line for line in wrong) or (
        status == _NO_RESOURCE and any("stress-ng:" in line for line in printed)
    ):
        return "not supported"
    if status == 0 and not any(" fail:" in line for line in wrong):
        return ""
    if status == 137:
        return f"not finished within {_BOUND_S} s"
    panic = next((at for at, line in enumerate(printed[:-1]) if "panicked at" in line), None)
    told = printed[panic + 1] if panic is not None else (wrong or printed or [""])[0]
    told = re.sub(r"\[\d+\] *", "", told)
    return f"status {status}: {told[:_TOLD]}"


_PJDFSTEST = """cd "$FFSLAB_DIRECTORY"
"$FFSLAB_FILES/pjdfstest" -c "$FFSLAB_FILES/calls.toml" -p .
"$FFSLAB_FILES/pjdfstest" -c "$FFSLAB_FILES/remounts.toml" -p . erofs
exit 0
"""
# Whole seconds pass, for some file systems have no finer times.
_PJDFSTEST_CONFIG = """[features]
posix_fallocate = {{}}
rename_ctime = {{}}
utime_now = {{}}
utimensat = {{}}
secondary_fs = "/tmp"
[settings]
naptime = 1.1
allow_remount = {remounts}
[dummy_auth]
entries = [["nobody", "nogroup"], ["user", "user"]]
"""
_FSX = f"""{_RUN}for seed in 1 2 3; do
    for kind in calls mapped; do
        run "$kind-$seed" "$FFSLAB_FILES/fsx" -f "$FFSLAB_FILES/$kind.toml" -S "$seed" -N 2000 file
        rm -f file*
    done
done
exit 0
"""
_FSX_CONFIG = """flen = 262144
[weights]
close_open = 1
read = 10
write = 10
sendfile = 3
copy_file_range = 3
mapread = {mapped}
mapwrite = {mapped}
invalidate = {mapped}
truncate = 5
fsync = 1
fdatasync = 1
"""
_FIO = f"""{_RUN}verified() {{
    name=$1
    shift
    run "$name" fio --name="$name" --filename=file --size=2m --bs=4k --clocksource=clock_gettime \\
        --fallocate=none --verify=crc32c --verify_fatal=1 --do_verify=1 --randseed="$FFSLAB_SEED" \\
        --thread --output-format=terse "$@"
    rm -f file*
}}
verified sequential --ioengine=psync --rw=write
verified random --ioengine=psync --rw=randwrite
verified odd-sizes --ioengine=psync --rw=randwrite --bsrange=512-16k --bs_unaligned
verified synced --ioengine=sync --rw=randwrite --fsync=8
verified mixed --ioengine=psync --rw=randrw
verified in-place --ioengine=psync --rw=randwrite --overwrite=1 --loops=2
verified vectors --ioengine=pvsync --rw=randwrite
verified asynchronous --ioengine=posixaio --rw=randwrite --iodepth=4
verified mapped --ioengine=mmap --rw=randwrite
exit 0
"""
# Those of stress-ng's class `filesystem` that call a file system of the disk; the others are about
# descriptors, /proc, mounts and what the lab's kernel has not (inotify, fanotify, dnotify).
_STRESSORS = (
    *("access", "chattr", "chdir", "chmod", "chown", "copy-file", "dentry", "dir", "dirdeep"),
    *("dirmany", "fallocate", "fcntl", "fiemap", "file-ioctl", "filename", "flock", "fpunch"),
    *("fsize", "fstat", "getdent", "hdd", "inode-flags", "iomix", "lease", "link", "locka"),
    *("lockf", "lockofd", "mknod", "open", "rename", "symlink", "sync-file", "touch", "utime"),
    *("xattr",),
)
_STRESS = f"""{_RUN}for name in {" ".join(_STRESSORS)}; do
    run "$name" stress-ng --"$name" 1 --"$name"-ops 10 --timeout 2 --temp-path . --verify --seed 1
    rm -rf tmp-stress-ng*
done
exit 0
"""
_INTEGCK = f"""{_RUN}cd /
run verified "$FFSLAB_FILES/integck" -e -n 1 "$FFSLAB_DIRECTORY"
run repeated "$FFSLAB_FILES/integck" -n 2 "$FFSLAB_DIRECTORY"
exit 0
"""

SUITES = (
    Suite(
        name="pjdfstest",
        version=lambda: CRATES["pjdfstest"],
        script=_PJDFSTEST,
        read=_of_pjdfstest,
        programs=lambda: {"pjdfstest": crate("pjdfstest")},
        texts={
            "calls.toml": _PJDFSTEST_CONFIG.format(remounts="false"),
            "remounts.toml": _PJDFSTEST_CONFIG.format(remounts="true"),
        },
    ),
    Suite(
        name="fsx",
        version=lambda: CRATES["fsx"],
        script=_FSX,
        read=_of_run,
        programs=lambda: {"fsx": crate("fsx")},
        texts={
            "calls.toml": _FSX_CONFIG.format(mapped=0),
            "mapped.toml": _FSX_CONFIG.format(mapped=5),
        },
    ),
    Suite("fio", lambda: debian_version("fio"), _FIO, _of_run),
    Suite("stress-ng", lambda: debian_version("stress-ng"), _STRESS, _of_run),
    Suite(
        name="integck",
        version=lambda: debian_version("mtd-utils"),
        script=_INTEGCK,
        read=_of_run,
        programs=lambda: {"integck": integck()},
    ),
)
