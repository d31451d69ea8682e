"""A board to reach by ssh: QEMU's machine `virt` with a network, a flash and a little of Debian.

It stands for a board on a desk. Its kernel is the lab's for ARM with a network (variant `board`),
its flash a virtual chip whose contents are a file, so that they survive a power cut; on it are a
shell (busybox) and an ssh server (dropbear), Debian's for armel. It listens on the loopback address
only, and lets in whoever has the key that is made for it.

Its clock counts instructions, as that of target qemu, but no faster than the host's goes, without
which there is no network. Time is not virtual: what comes over the network comes when it comes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.lab import ensure_lab
from ffslab.lab.archives import Archive, extract_commands, fetch
from ffslab.lab.cache import cache_root, make_directory
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.packages import ensure_packages
from ffslab.lab.progress import SilentProgress
from ffslab.model.case import Case
from ffslab.protocol.chip_file import create_flash_file, flash_file_bytes
from ffslab.targets.qemu.machine import PROGRAM, RIG, machine_arguments
from ffslab.targets.qemu.packages import PACKAGES as QEMU_PACKAGES
from ffslab.targets.ssh.packages import PACKAGES as SSH_PACKAGES
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME
from ffslab.targets.uml.directory import INITRAMFS_NAME, KERNEL_NAME
from ffslab.targets.uml.initramfs import (
    build_archive,
    character_device,
    regular_file,
    symbolic_link,
)
from ffslab.targets.uml.launch import Guard
from ffslab.targets.virtual_flash import vnand_chip

UP_S = 120
_MIRRORS = (
    "http://deb.debian.org/debian/pool/main",
    "https://snapshot.debian.org/archive/debian/20261123T000000Z/pool/main",
)
_LIB = "lib/arm-linux-gnueabi"
# Debian's packages for armel: where they are, their SHA-256, and which file of each goes where.
PACKAGES = (
    (
        "b/busybox/busybox-static_1.35.0-4+deb12u1+b1_armel.deb",
        "061813bf602fdec8f81f07afd196a0e1b8ab0223fbbe9d7b4e003ee44130a60f",
        (("bin/busybox", "/bin/busybox"),),
    ),
    (
        "d/dropbear/dropbear-bin_2022.83-1+deb12u3_armel.deb",
        "d0e44f5827109220d2d69e5d353f2eefcd2378578f10f0c4c933c8a60b9f5b50",
        (("usr/sbin/dropbear", "/bin/dropbear"), ("usr/bin/dropbearkey", "/bin/dropbearkey")),
    ),
    (
        "g/glibc/libc6_2.36-9+deb12u14_armel.deb",
        "5eb674d8a73cccad372a7d35878209fc403266da1c23eb5974cdadb69de4091e",
        (
            (f"{_LIB}/ld-linux.so.3", "/lib/ld-linux.so.3"),
            (f"{_LIB}/libc.so.6", "/lib/libc.so.6"),
        ),
    ),
    (
        "libx/libxcrypt/libcrypt1_4.4.33-2_armel.deb",
        "a56d0fac6237f76b8f42695baea45bc8a70ba152fe2566b29cf43b7dd4aa8e03",
        ((f"{_LIB}/libcrypt.so.1.1.0", "/lib/libcrypt.so.1"),),
    ),
    (
        "g/gmp/libgmp10_6.2.1+dfsg1-1.1_armel.deb",
        "f26683e97eca31a8c8fedff95b5c169ea15f0226b09b10eaedc34727d5176d37",
        ((f"usr/{_LIB}/libgmp.so.10.4.1", "/lib/libgmp.so.10"),),
    ),
    (
        "libt/libtomcrypt/libtomcrypt1_1.18.2-6_armel.deb",
        "4b650a75d725a429f419f27c4dd682ce46d196e81797e586ee9ecdb53193dace",
        ((f"usr/{_LIB}/libtomcrypt.so.1.0.1", "/lib/libtomcrypt.so.1"),),
    ),
    (
        "libt/libtommath/libtommath1_1.2.0-6+deb12u1_armel.deb",
        "5aefa8e5abb8e2dbe660fd8aeabbc8be9237a4d66a461df8c24e06cb6d6093e7",
        ((f"usr/{_LIB}/libtommath.so.1.2.0", "/lib/libtommath.so.1"),),
    ),
    (
        "z/zlib/zlib1g_1.2.13.dfsg-1_armel.deb",
        "e048eb368e45058d2a62449e8a967a4cb336c7af05c9075a9bbd1107c38f627a",
        ((f"{_LIB}/libz.so.1.2.13", "/lib/libz.so.1"),),
    ),
)
_NETWORK = "ip=10.0.2.15::10.0.2.2:255.255.255.0::eth0:off"
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o size={tmp} tmpfs /tmp
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts
insmod /lib/vnand.ko chip='{chip}'
echo up >/dev/console
exec dropbear -R -E -F -s -p 22
"""


def debian_files() -> dict[str, bytes]:
    """The board's programs and libraries, by their paths there; fetched once."""
    directory = make_directory(cache_root() / "test-board")
    found = {}
    for path, sha256, members in PACKAGES:
        package = directory / path.rpartition("/")[2]
        if not package.exists():
            urls = tuple(f"{mirror}/{path}" for mirror in _MIRRORS)
            fetch(Archive(path.split("_")[1], urls, sha256), directory, SilentProgress())
        for member, target in members:
            pipe = " | ".join(
                shlex.join(words) for words in extract_commands(package, f"./{member}")
            )
            found[target] = subprocess.run(
                ["bash", "-o", "pipefail", "-c", pipe], stdout=subprocess.PIPE, check=True
            ).stdout
    return found


@dataclass
class Board:
    """A board in `directory`; `case` says which chip, partition and RAM it has.

    `modules` has the kernel modules of its kernel, as a user would keep them.
    """

    directory: Path
    case: Case
    lab: LabBuild
    port: int
    tmp_bytes: int = 16 * 2**20
    machine: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    guard: Guard = field(default_factory=Guard, repr=False)  # it ends with this process

    @property
    def identity(self) -> Path:
        """The key that it lets in."""
        return self.directory / "key"

    @property
    def modules(self) -> Path:
        """Modules for its kernel that it does not have itself."""
        return self.directory / "modules"

    @property
    def console(self) -> str:
        """All that its kernel has said."""
        return (self.directory / CONSOLE_NAME).read_text("utf-8", "replace")

    def switch_on(self) -> None:
        """Starts it, and waits until its ssh server answers."""
        command = [PROGRAM, *self._arguments()]
        with (self.directory / "qemu.log").open("ab") as log:
            self.machine = subprocess.Popen(
                command, cwd=self.directory, stdout=log, stderr=log, start_new_session=True
            )
        self.guard.watch(self.machine.pid)
        ends_s = time.monotonic() + UP_S
        while not self._answers():
            assert self.machine.poll() is None, (self.directory / "qemu.log").read_text()
            assert time.monotonic() < ends_s, self.console
            time.sleep(0.5)

    def make_usable(self) -> None:
        """On, not hanging, and with an empty disk, whatever an earlier test has left."""
        if self.machine is not None and self.machine.poll() is None:
            self.go_on()
        else:
            self.switch_on()
        self.shell("rm -f /tmp/full; umount /mnt 2>/dev/null; true")

    def cut_power(self) -> None:
        """It is off at once; its flash has what it had."""
        if self.machine is not None:
            self.machine.kill()
            self.machine.wait()
        self.machine = None

    def hang(self) -> None:
        """It does nothing more, and says nothing."""
        assert self.machine is not None
        self.machine.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It goes on where it hung."""
        assert self.machine is not None
        self.machine.send_signal(signal.SIGCONT)

    def shell(self, command: str) -> str:
        """What a command prints there."""
        return subprocess.run(
            [*self.ssh_words, command], capture_output=True, text=True, check=True
        ).stdout

    @property
    def ssh_words(self) -> list[str]:
        """A client of its own, beside that of ffslab."""
        options = [f"-o{option}" for option in (*SSH_OPTIONS, "BatchMode=yes", "LogLevel=ERROR")]
        return ["ssh", *options, "-i", str(self.identity), "-p", str(self.port), "root@127.0.0.1"]

    def place(self, path: Path, **changes: object) -> Path:
        """The file that describes it."""
        values: dict[str, object] = {
            "schema": 1,
            "name": "test-board",
            "board": self.case.board.name,
            "host": "127.0.0.1",
            "port": self.port,
            "identity": str(self.identity),
            "ssh_options": list(SSH_OPTIONS),
            "architecture": "armv5te",
            "modules": str(self.modules),
            "partition": {"name": "data", "size": self.case.partition_bytes},
            **changes,
        }
        lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    def _answers(self) -> bool:
        done = subprocess.run(
            [*self.ssh_words, "-o", "ConnectTimeout=5", "true"], capture_output=True, check=False
        )
        return done.returncode == 0

    def _arguments(self) -> list[str]:
        size = (self.directory / INITRAMFS_NAME).stat().st_size
        words = list(machine_arguments(self.case, size))
        # It waits for the host where it sleeps, so that the network's time passes for it too.
        words[words.index("-icount") + 1] = "shift=2,sleep=on"
        # Entropy from QEMU, or its ssh server waits for some for ten seconds.
        words[words.index("-M") + 1] = "virt,highmem=off"
        words[words.index("-append") + 1] += f" {_NETWORK} random.trust_bootloader=on"
        forward = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22"
        return [*words, "-netdev", forward, "-device", "virtio-net-device,netdev=net"]


OVERLAPS = "spare"  # the name of a partition that overlaps the one under test
SSH_OPTIONS = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")


def make_board(directory: Path, case: Case, tmp_bytes: int = 16 * 2**20) -> Board:
    """A board that is off, with an erased flash."""
    needed = (*QEMU_PACKAGES, *SSH_PACKAGES)
    ensure_packages(needed, cache_root() / "packages.log", SilentProgress())
    lab = ensure_lab("board", SilentProgress(), file_systems=[case.filesystem])
    directory.mkdir()
    board = Board(directory, case, lab, _free_port(), tmp_bytes)
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(board.identity)], check=True
    )
    board.modules.mkdir()
    for name, module in lab.modules.items():
        if name != "vnand":
            shutil.copy(module, board.modules / f"{name}.ko")
    chip = _with_overlap(vnand_chip(case, RIG.store(case)))
    (directory / INITRAMFS_NAME).write_bytes(_root(board, chip))
    (directory / KERNEL_NAME).symlink_to(lab.kernel)
    create_flash_file(directory / FLASH_NAME, flash_file_bytes(case.board.chip))
    return board


def _with_overlap(chip: str) -> str:
    """A chip with one partition more: the last 8 blocks of the one under test, and 8 more."""
    return re.sub(
        r"data@(\d+)\+(\d+)",
        lambda found: f"{found[0]}/{OVERLAPS}@{int(found[1]) + int(found[2]) - 8}+16",
        chip,
    )


def _root(board: Board, chip: str) -> bytes:
    key = board.identity.with_suffix(".pub").read_bytes()
    init = _INIT.format(chip=chip, tmp=board.tmp_bytes)
    return build_archive(
        [
            character_device("/dev/console", 5, 1),
            regular_file("/init", init.encode(), executable=True),
            *(
                regular_file(path, data, executable=True)
                for path, data in sorted(debian_files().items())
            ),
            symbolic_link("/bin/sh", "busybox"),
            regular_file("/lib/vnand.ko", board.lab.modules["vnand"].read_bytes()),
            regular_file("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n"),
            regular_file("/etc/shells", b"/bin/sh\n"),
            regular_file("/etc/dropbear/none", b""),
            regular_file("/root/.ssh/authorized_keys", key),
            *(regular_file(f"/{name}/.there", b"") for name in ("proc", "sys", "tmp", "mnt")),
        ]
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
