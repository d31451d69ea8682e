"""The same bytes of kernel, modules and agent give the same results on this host as on another one.

`tests/golden/hosts.json` has the hashes of what was built, what each phase of some cases measured,
and the host that had it. Where the build is another one there is nothing to compare: the test then
fails with the file's new contents. Other processors, and another kernel of the host, are played by
QEMU: a guest in such a machine must say the same bytes. FFSLAB_NIGHTLY=1 runs both.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT, cases, results, run_study

from ffslab.lab.lab_build import LabBuild
from ffslab.lab.packages import DebianPackage, ensure_packages
from ffslab.lab.progress import SilentProgress
from ffslab.model.case import Case
from ffslab.paths import data_dir
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, OUTPUT_NAME, RECORDS_NAME, TRACE_NAME
from ffslab.targets.uml.directory import INITRAMFS_NAME, KERNEL_NAME, write_guest_directory
from ffslab.targets.uml.guests import batch_command
from ffslab.targets.uml.initramfs import build_archive, regular_file
from ffslab.targets.uml.launch import GUEST_ENVIRONMENT
from ffslab.targets.virtual_flash import plan_text

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 compares with another host")

GOLDEN = ROOT / "tests" / "golden" / "hosts.json"
# UBIFS with a compressor writes back by the clock: what takes another nanosecond shows there.
RUNS = {
    "quick": ("quick",),
    "compression": (
        *("compression", "--case", "files-ubifs-lzo-s1"),
        *("--case", "files-ubifs-zstd-s1"),
    ),
}
USED = ("vnand", "flashmon", "mtdsplit")
PLAYERS = (
    DebianPackage("qemu-system-x86", "the machine of other processors", "qemu-system-x86_64"),
    DebianPackage("busybox-static", "the programs of that machine", "/bin/busybox"),
)
KERNEL_OF_OTHERS = "linux-image-cloud-amd64"
# The first has protection keys (PKU) and most of what QEMU knows, the second as good as nothing.
PROCESSORS = ("max", "qemu64")
SETARCH = "/usr/bin/setarch"
# What the lab's kernel and setarch are linked with.
LIBRARIES = ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6")
BEGIN, END = "records begin", "records end"
LIMIT_S = 600
INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /dev /tmp && mount -t proc none /proc && mount -t devtmpfs none /dev
mkdir -p /dev/shm /dev/pts && mount -t devpts none /dev/pts
mount -t tmpfs none /dev/shm && mount -t tmpfs none /tmp
mkdir /tmp/guest && cp /guest/* /tmp/guest && cd /tmp/guest && truncate -s FLASH {FLASH_NAME} && \\
	truncate -s TRACE {TRACE_NAME} && \\
	env -i VARIABLES {SETARCH} x86_64 -R ./{KERNEL_NAME} ARGUMENTS \\
	</dev/null >{OUTPUT_NAME} 2>{CONSOLE_NAME} 3>{RECORDS_NAME}
echo "{BEGIN}"; cat {RECORDS_NAME}; echo "{END}"; tail -n 3 {CONSOLE_NAME}
poweroff -f
"""


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    wanted = ("vendor_id", "cpu family", "model\t", "model name")
    told = [line.partition(":")[2].strip() for line in lines if line.startswith(wanted)]
    return ", ".join(told[: len(wanted)])


def phases_of(run: Path) -> dict[str, list[list[int]]]:
    """By case: when each phase began and ended, and the pages it programmed."""
    named = ("t_start_ns", "t_end_ns", "pages_programmed")
    return {
        result["id"]: [[phase[name] for name in named] for phase in result["phases"]]
        for result in results(run)
    }


def test_another_host_has_the_same_results(lab: LabBuild, tmp_path: Path) -> None:
    measured = {
        name: phases_of(run_study(words[0], tmp_path / name, *words[1:]))
        for name, words in RUNS.items()
    }
    built = {"kernel": sha256(lab.kernel), "agent": sha256(lab.agent)}
    built |= {name: sha256(lab.modules[name]) for name in USED if name in lab.modules}
    here: dict[str, Any] = {"host": processor(), "built": built, "results": measured}
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert known["built"] == built, f"another build: {GOLDEN.name} is to be {json.dumps(here)}"
    assert known["results"] == measured, f"{known['host']} had other results than {here['host']}"


@pytest.fixture(scope="module")
def case() -> Case:
    return cases((data_dir("studies") / "quick.toml").read_text(encoding="utf-8"))["ubifs-free-s1"]


@pytest.fixture(scope="module")
def guest(lab: LabBuild, case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a guest that ran here."""
    directory = tmp_path_factory.mktemp("guest")
    write_guest_directory(directory, lab, case, plan_text(case))
    words = ["/bin/sh", "-c", batch_command(case, None).script]
    subprocess.run(words, cwd=directory, timeout=LIMIT_S, check=True)
    return directory


@pytest.fixture(scope="module")
def other_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Debian's kernel for virtual machines."""
    place = tmp_path_factory.mktemp("kernel")
    ensure_packages(PLAYERS, place / "packages.log", SilentProgress())
    words = ["apt-cache", "depends", KERNEL_OF_OTHERS]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    name = re.search(r"Depends: (linux-image-\S+)", told)
    assert name, told
    subprocess.run(["apt-get", "download", name[1]], cwd=place, check=True)
    (package,) = place.glob("*.deb")
    subprocess.run(["dpkg-deb", "--extract", package, place / "files"], check=True)
    (kernel,) = place.glob("files/boot/vmlinuz-*")
    return kernel


def root_of(guest: Path, case: Case) -> bytes:
    """A root file system with what the guest began with, and a first program that runs it."""
    variables = " ".join(f"{name}={value}" for name, value in GUEST_ENVIRONMENT.items())
    edits = {
        "FLASH": str((guest / FLASH_NAME).stat().st_size),
        "TRACE": str((guest / TRACE_NAME).stat().st_size),
        "VARIABLES": variables,
        "ARGUMENTS": shlex.join(batch_command(case, None).arguments),
    }
    init = INIT
    for name, text in edits.items():
        init = init.replace(name, text)
    programs = {"/bin/busybox": Path("/bin/busybox"), SETARCH: Path(SETARCH)}
    programs |= {library: Path(library) for library in LIBRARIES}
    programs |= {f"/guest/{name}": guest / name for name in (KERNEL_NAME, INITRAMFS_NAME)}
    files = [
        regular_file(path, source.read_bytes(), executable=True)
        for path, source in programs.items()
    ]
    return build_archive([regular_file("/init", init.encode(), executable=True), *files])


@pytest.mark.parametrize("name", PROCESSORS)
def test_another_processor_gives_the_same_bytes(
    name: str, guest: Path, other_kernel: Path, case: Case, tmp_path: Path
) -> None:
    root = tmp_path / "root.gz"
    root.write_bytes(gzip.compress(root_of(guest, case), 1))
    words = [
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", name, "-m", "3G"),
        *("-display", "none", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(other_kernel), "-initrd", str(root)),
        *("-append", "console=ttyS0 quiet panic=-1"),
    ]
    said = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    _, begun, rest = said.replace("\r", "").partition(BEGIN + "\n")
    there, ended, console = rest.partition(END)
    assert begun and ended, said[-2000:]
    here = (guest / RECORDS_NAME).read_text(encoding="utf-8")
    assert there == here, console
