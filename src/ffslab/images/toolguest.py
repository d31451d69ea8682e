"""Runs image tools in a guest of the lab, so that the same tree gives the same bytes.

On the host a tool would meet the order that the host's file system has directories in, draw a UUID
and look at a clock; and without root it could not read a tree of root's files and devices. In the
guest the tree is unpacked in the order of its archive, by root; entropy comes from a fixed seed and
the clock is virtual. What the bytes would still owe to that seed or clock is given to the tools as
arguments (`ffslab.images.tools`) or replaced (`ffslab.images.ubifs_uuid`).

The guest sees the directories of the host that the programs and their libraries are in, through
hostfs and read-only; so nothing is copied, and nothing is installed in a root file system. A shell
script runs the commands. It and what the tools write are in a directory of the host, /out there.

The tree is unpacked by tar, not by the kernel from the initramfs: that takes twice the memory, and
keeps no times of modification without an option of the kernel's.

Limits: extended attributes are left out, the guest's tmpfs has none. Tools and libraries must not
be below /dev, /proc, /sys, /tmp, /tree or /out, which are the guest's own.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.images.cache import FileState, file_state, unchanged_sha256
from ffslab.images.tools import OUT, TREE, Command
from ffslab.lab.commands import clean_environment
from ffslab.lab.lab_build import LabBuild
from ffslab.model.workload import GuestFile
from ffslab.program import program
from ffslab.protocol.plan import encode
from ffslab.protocol.records import RecordStream, parse_records, read_records
from ffslab.results.console import tail_of
from ffslab.targets.registry import tool_machine
from ffslab.targets.running import GuestSlot
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME, ToolGuest

OUT_NAME = "out"  # of the guest's directory
_TREE_NAME = "tree.tar"
_LOG_NAME = "log"
_SCRIPT = "/run.sh"
# For the C library's malloc(): to keep memory that was freed. A page fault is expensive in a guest,
# and mkfs.jffs2 allocates and frees a quarter of a megabyte for every 4 KiB that it compresses.
_ENVIRONMENT = "MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=33554432"
# The kernel trusts its generator after 256 bits, and counts one for an interrupt a second after the
# last. Until then whoever asks for random numbers, as mkfs.ubifs does, spins for seconds of wall
# time; virtual seconds cost nothing.
_ENTROPY_BITS = 280
_ENTROPY_STEP = "sleep ms=1010"
# Where the dynamic linker looks for libraries first.
_LINKER_CACHE = Path("/etc/ld.so.cache")
_BASE_RAM_MIB = 768
_TOUCHED_RAM_MIB = 256
# Of the tree: the unpacked files, the image in the page cache, what a tool holds in memory.
_RAM_PER_TREE = 3
_BASE_SCRATCH_BYTES = 32 * 2**20
_SCRATCH_PER_TREE = 3
_BASE_LIMIT_S = 120.0
_SLOWEST_BYTES_PER_S = 100_000


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of the host. `identity` is a hash of it and of the libraries it loads."""

    name: str
    path: Path
    libraries: tuple[Path, ...]
    version: str
    identity: str

    @property
    def directories(self) -> set[str]:
        """Top-level directories of the host that the program is opened through."""
        return {f"/{path.parts[1]}" for path in (self.path, *self.libraries)}


class ToolFailedError(Exception):
    """A command ended with another status than 0. `lines` are the last it printed."""

    def __init__(self, command: str, lines: Sequence[str]) -> None:
        super().__init__(command)
        self.command = command
        self.lines = tuple(lines)


class BuildStoppedError(Exception):
    """The guest was killed, or did not start, because ffslab is to stop."""


def find_tool(name: str, version_word: str = "") -> Tool:
    """The host's program of that name; InfrastructureError if there is none."""
    executable = shutil.which(name, path=clean_environment()["PATH"])
    if executable is None:
        raise InfrastructureError(
            f"cannot find the program {name}",
            cause="it is not installed",
            remedy=f"{program()} doctor",
        )
    path = Path(executable)
    linker = file_state(_LINKER_CACHE) if _LINKER_CACHE.exists() else None
    libraries = _libraries(path, file_state(path), linker)
    digest = hashlib.sha256()
    for part in (path, *libraries):
        digest.update(bytes.fromhex(unchanged_sha256(part)))
    identity = digest.hexdigest()
    return Tool(name, path, libraries, _version(path, version_word, identity), identity)


# A run asks for the same few programs for each of its images, and again when an image is built, to
# see whether they are still the same: what they are asked depends on nothing but these arguments.
@lru_cache(maxsize=64)
def _libraries(path: Path, _state: FileState, _linker_cache: FileState | None) -> tuple[Path, ...]:
    """The paths by which a program's libraries and its loader are opened."""
    listed = _printed(["ldd", str(path)])
    return tuple(sorted({Path(library) for library in re.findall(r"(?:^|\s)(/[^\s:]+)", listed)}))


@lru_cache(maxsize=64)
def _version(path: Path, word: str, _identity: str) -> str:
    """The first line with the program's name and a number."""
    if not word:
        return ""
    pattern = re.compile(rf"^{re.escape(path.name)}\b.*\d")
    lines = _printed([str(path), word]).splitlines()
    return next((line.strip() for line in lines if pattern.match(line)), path.name)


def _printed(words: list[str]) -> str:
    try:
        finished = subprocess.run(
            words,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,  # a Ctrl-C at the terminal is ffslab's alone
        )
    except OSError as error:
        raise InfrastructureError(
            f"cannot run {words[0]}: {error.strerror}",
            cause="it is not installed, or not for this machine",
            remedy=f"{program()} doctor",
        ) from error
    return finished.stdout


def helper_tools() -> tuple[Tool, ...]:
    """What the script itself needs."""
    return tuple(find_tool(name) for name in ("sh", "tar"))


@dataclass(frozen=True, slots=True)
class ToolJob:
    """What a guest runs: all that determines what the commands write, but the kernel."""

    tools: tuple[Tool, ...]
    commands: tuple[Command, ...]
    files: tuple[tuple[str, str], ...]  # texts for /out, by their names there
    tree_bytes: int

    @property
    def ram_bytes(self) -> int:
        """The guest's RAM."""
        return (_BASE_RAM_MIB + _RAM_PER_TREE * (self.tree_bytes >> 20)) << 20

    @property
    def ram_claim_bytes(self) -> int:
        """What of its RAM the guest may touch: the tools of a small tree take some 64 MiB."""
        return self.ram_bytes - ((_BASE_RAM_MIB - _TOUCHED_RAM_MIB) << 20)

    @property
    def scratch_bytes(self) -> int:
        """Room for the tree, and for an image or two that are hardly larger than it."""
        return _BASE_SCRATCH_BYTES + _SCRATCH_PER_TREE * self.tree_bytes

    @property
    def arguments(self) -> tuple[str, ...]:
        """The guest's command line."""
        return tool_machine().arguments(self.ram_bytes)

    @property
    def plan(self) -> str:
        """The agent's plan. The host's directory is named by way of the guest's own process, so
        that the text is the same wherever that directory is."""
        helpers = {tool.name: tool for tool in self.tools}
        directories = sorted({name for tool in self.tools for name in tool.directories})
        lines = [
            "ffsplan 1",
            *(
                f"mount type=hostfs source=none target={encode(name)} "
                f"options={encode(str(Path(name).resolve()))} flags=ro"
                for name in directories
            ),
            f"mount type=hostfs source=none target={OUT} options=/proc/self/cwd/{OUT_NAME}",
            f"mount type=tmpfs source=none target={TREE} "
            f"options={encode('size=100%,nr_inodes=0,mode=755')}",
            *[_ENTROPY_STEP] * _ENTROPY_BITS,
            f"exec path={encode(str(helpers['sh'].path))} args={_SCRIPT}",
            f"umount target={OUT}",
        ]
        return "\n".join(lines) + "\n"

    @property
    def script(self) -> str:
        """The commands, each announced in the log by a line that begins with `$ `."""
        tar = Command("tar", ("-x", "-p", "--numeric-owner", f"-f{OUT}/{_TREE_NAME}", f"-C{TREE}"))
        places = {tool.name: str(tool.path) for tool in self.tools}
        lines = ["#!/bin/sh", "set -e", f"export {_ENVIRONMENT}", f"exec >{OUT}/{_LOG_NAME} 2>&1"]
        for command in (tar, *self.commands):
            lines.append(f"echo {shlex.quote(f'$ {command}')}")
            lines.append(command.line(places[command.program]))
        return "\n".join(lines) + "\n"


def run_tools(job: ToolJob, tree: Path, lab: LabBuild, directory: Path, slot: GuestSlot) -> str:
    """Runs the commands in a guest in `directory`, which exists and is empty; returns their log.

    What they wrote is in its sub-directory `OUT_NAME` then. Raises ToolFailedError if one of them
    fails, InfrastructureError if the guest does, BuildStoppedError if it was killed in its slot.
    """
    out = directory / OUT_NAME

    def begun(_directory: Path) -> None:
        out.mkdir()
        shutil.copyfile(tree, out / _TREE_NAME)
        for name, text in job.files:
            (out / name).write_text(text, encoding="utf-8")

    guest = ToolGuest(
        who="builds an image",
        plan=job.plan,
        files=(GuestFile(_SCRIPT, job.script.encode()),),
        begun=begun,
        ram_bytes=job.ram_bytes,
        touched_ram_bytes=job.ram_claim_bytes,
        scratch_bytes=job.scratch_bytes,
        limit_s=_BASE_LIMIT_S + job.tree_bytes / _SLOWEST_BYTES_PER_S,
    )
    end = tool_machine().run(guest, lab, directory, slot)
    if end.killed:
        raise BuildStoppedError
    log = _text(out / _LOG_NAME)
    if end.too_much:
        raise _guest_failed(end.too_much, directory, log)
    records = directory / RECORDS_NAME
    stream = read_records(records) if records.exists() else parse_records(b"")
    if end.timed_out or stream.end is None:
        raise _guest_failed("it did not end" if end.timed_out else "it crashed", directory, log)
    _raise_failed_step(stream, directory, log)
    return log


def _raise_failed_step(stream: RecordStream, directory: Path, log: str) -> None:
    failed = next((step for step in stream.steps if step.failed), None)
    if failed is None:
        return
    lines = log.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    # The first command is ffslab's own: it unpacks the tree.
    if failed.verb != "exec" or len(starts) < 2:
        reason = f"step {failed.verb}: {failed.message}"
        raise _guest_failed(reason, directory, log)
    raise ToolFailedError(lines[starts[-1]][2:], lines[starts[-1] + 1 :])


def _guest_failed(reason: str, directory: Path, log: str) -> InfrastructureError:
    printed = (tail_of(directory / name) for name in (CONSOLE_NAME, OUTPUT_NAME))
    last = [line for text in (log, *printed) for line in text.splitlines()[-5:]]
    return InfrastructureError(
        f"the guest that builds an image failed: {reason}\n"
        + "\n".join("    " + line for line in last),
        cause="the disk or /dev/shm is full, or the tree is too large for the guest's memory",
        remedy=f"{program()} doctor",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
