"""What the host is does not matter: its name, its processor, its user, its limits.

Each host is played: the guest runs in a namespace with another name, with another /proc/cpuinfo, as
another user. What it left behind must be what the usual guest left. Of the processor itself there
is only one here: no program of a guest may have an instruction that asks it, and `test_hosts.py`
has QEMU play others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_support import STUDY, cases, edited

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, IMAGE_NAME, RECORDS_NAME
from ffslab.targets.uml.directory import write_guest_directory
from ffslab.targets.uml.guests import batch_command
from ffslab.targets.virtual_flash import PARTITION, plan_text

# A file system each that compresses with routines of its own, and one that does not; both read a
# file of the host first, as cases with an image do.
CASES = ("ubifs-zstd-s1", "jffs2-none-s1")
IMAGE = bytes(range(256)) * 2048
OTHER_USER = 65534
# The processor's identity, its clock, its random numbers.
ASKING = re.compile(r"\s(cpuid|xgetbv|rdtscp?|rdrand|rdseed|rdpid|rdpru)\b")
IS_ROOT = os.geteuid() == 0
NAMESPACE = ("unshare", *(() if IS_ROOT else ("--user", "--map-root-user")))

# What starts a guest's shell command, in its directory.
Words = tuple[str, ...]


def another_name(_: Path) -> Words:
    name = "a-much-longer-name-of-a-host.example.org"
    return (*NAMESPACE, "--uts", "sh", "-c", f'hostname {name} && exec "$@"', "-")


def another_processor(directory: Path) -> Words:
    flags = " ".join(f"feature{number}" for number in range(500))
    fake = directory / "cpuinfo"
    fake.write_text(f"processor\t: 0\nflags\t\t: fpu {flags} avx512f\ncache_alignment\t: 256\n")
    return (
        *NAMESPACE,
        "--mount",
        "sh",
        "-c",
        f'mount --bind {fake} /proc/cpuinfo && exec "$@"',
        "-",
    )


def another_user(directory: Path) -> Words:
    """Of root, a user who may read nothing but this directory; of a user, a root."""
    if not IS_ROOT:
        return (*NAMESPACE, "--")
    for path in (directory, *directory.iterdir()):
        path.chmod(0o700 if path.is_dir() or path.name == "linux" else 0o600)
        os.chown(path, OTHER_USER, OTHER_USER)
    user = ("setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups")
    return ("sh", "-c", 'umask 077; exec "$@"', "-", *user)


def other_limits(_: Path) -> Words:
    """Without a limit for its stack a process has another layout of its memory."""
    return ("sh", "-c", 'ulimit -s unlimited; ulimit -n 40; exec "$@"', "-")


def ignored_signals(_: Path) -> Words:
    return ("sh", "-c", "trap '' HUP INT QUIT PIPE; exec \"$@\"", "-")


def another_process_number(_: Path) -> Words:
    """Process 2 or so, of a namespace of its own; the guest must not be process 1."""
    return (*NAMESPACE, "--pid", "--fork", "sh", "-c", '"$@"; exit $?', "-")


def other_routines(_: Path) -> Words:
    """The host's C library takes those of a plain processor."""
    hidden = ("AVX", "AVX2", "AVX512F", "AVX512VL", "ERMS", "FSRM", "BMI2", "SSE4_2", "SSSE3")
    tunables = ",".join(f"-{name}" for name in hidden)
    # After the guest's own `env -i`.
    change = f"s/exec env -i /&GLIBC_TUNABLES=glibc.cpu.hwcaps={tunables} /"
    return ("sh", "-c", f'script=$(echo "$3" | sed "{change}"); exec sh -c "$script"', "-")


def no_terminals(_: Path) -> Words:
    """A container without pseudo-terminals."""
    hide = "mount -t tmpfs none /dev/pts && mount --bind /dev/null /dev/ptmx"
    return (*NAMESPACE, "--mount", "sh", "-c", f'{hide} && exec "$@"', "-")


HOSTS: tuple[Callable[[Path], Words], ...] = (
    another_name,
    another_processor,
    another_user,
    other_limits,
    ignored_signals,
    another_process_number,
    other_routines,
    no_terminals,
)


def chosen(name: str) -> Case:
    text = edited(
        STUDY,
        [
            ('["none"]', '["none", "zstd"]'),
            ('["free", "aged"]', '["aged"]'),
            ("number = 300", "number = 150"),
        ],
    )
    text += '\n[[exclude]]\nfilesystem = "jffs2"\n"options.compression" = "zstd"\n'
    return cases(text)[name]


def prepared(lab: LabBuild, case: Case, directory: Path) -> Path:
    """A guest's directory, without links to anywhere else."""
    directory.mkdir(parents=True)
    erase = f"erase mtd={PARTITION}\n"
    read = (
        "mount type=hostfs source=none target=/host options=/proc/self/cwd flags=ro\n"
        f"write-image mtd={PARTITION} path=/host/{IMAGE_NAME} oob=0 phase=write\n"
        "umount target=/host\n"
    )
    plan = edited(plan_text(case), [(erase, erase + read + erase)])
    image = directory.with_suffix(".image")
    image.write_bytes(IMAGE)
    write_guest_directory(directory, lab, case, plan, image=image)
    (directory / "linux").unlink()
    shutil.copy(lab.kernel, directory / "linux")
    return directory


def left_behind(case: Case, directory: Path, words: Words = ()) -> dict[str, bytes]:
    """What the guest wrote, which ended well."""
    command = (*words, "/bin/sh", "-c", batch_command(case, None).script)
    subprocess.run(command, cwd=directory, timeout=120, check=True)
    names = (RECORDS_NAME, CONSOLE_NAME, FLASH_NAME)
    return {name: (directory / name).read_bytes() for name in names}


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """Unlike pytest's, one that other users may go through: hostfs goes by the whole path."""
    with tempfile.TemporaryDirectory(prefix="ffslab-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def usual(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    top = tmp_path_factory.mktemp("usual")
    return {
        name: left_behind(chosen(name), prepared(lab, chosen(name), top / name)) for name in CASES
    }


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_another_host_gives_the_same_bytes(
    host: Callable[[Path], Words],
    usual: dict[str, dict[str, bytes]],
    lab: LabBuild,
    open_directory: Path,
) -> None:
    deep = open_directory / ("deep-" * 40)
    deep.mkdir()
    deep.chmod(0o755)
    for name in CASES:
        case = chosen(name)
        directory = prepared(lab, case, deep / name)
        there = left_behind(case, directory, host(directory))
        assert len(there[RECORDS_NAME]) > 10_000
        for file, contents in usual[name].items():
            assert there[file] == contents, (name, file)


def test_no_program_of_a_guest_asks_the_processor(lab: LabBuild) -> None:
    for program in (lab.kernel, lab.agent, *lab.modules.values()):
        listing = subprocess.run(
            ["objdump", "--disassemble", "--no-show-raw-insn", program],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert listing.count("\n") > 100, program
        asking = [line for line in listing.splitlines() if ASKING.search(line)]
        assert not asking, (program, asking[:5])
