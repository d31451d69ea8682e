"""Guests with a file-system module of ours: chips, plans, and a look at the flash that they leave.

A guest's plan loads the modules and does what the test says, step by step; nothing is mounted
or unmounted unless a step does it. A plan that ends while the file system is mounted is a crash:
the guest is switched off and nothing more reaches the flash.

What is one file system's is in `yaffs_guest` and `logfs_guest`; tests import from these.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import fstree
from fstree import Listing, Script
from lab_support import Boot, boot, cases

from ffslab.fsimage.flashfile import map_file
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.chip_file import flash_file_bytes
from ffslab.protocol.chip_layout import parse_lab_header
from ffslab.protocol.plan import encode
from ffslab.results.console import scan_console
from ffslab.targets.virtual_flash import TRACE_REGION, module_path, vnand_chip

PROGRAM = "/test/fstree"
LISTING = "/tmp/listing"
COUNTERS = "/proc/vnand/flash0/counters"

_STUDY = """
schema = 1
name = "moduletest"
title = "A chip for the tests of a file system of ours"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"

[axes]
filesystem = ["yaffs2"]
"""


@cache
def _base_case() -> Case:
    (case,) = cases(_STUDY).values()
    return case


@dataclass(frozen=True)
class Chip:
    """A small chip with one partition over its first `blocks` blocks. `faults`: vnand's keys."""

    page_bytes: int = 2048
    oob_bytes: int = 64
    pages_per_block: int = 64
    blocks: int = 64
    spare_blocks: int = 0  # behind the partition
    seed: int = 1
    faults: dict[str, object] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        base = _base_case()
        chip = replace(
            base.board.chip,
            page_bytes=self.page_bytes,
            oob_bytes=self.oob_bytes,
            pages_per_block=self.pages_per_block,
            blocks=self.blocks + self.spare_blocks,
            subpages=1,
            nop=1,  # each page is programmed once
        )
        board = replace(base.board, chip=chip)
        return replace(base, board=board, partition_blocks=self.blocks, seed=self.seed)

    @property
    def arguments(self) -> str:
        """The value of vnand's chip=."""
        words = vnand_chip(self.case).split(";")
        kept = [word for word in words if word.partition("=")[0] not in self.faults]
        return ";".join([*kept, *(f"{key}={value}" for key, value in self.faults.items())])


CHIP = Chip()


# --- steps of a plan ---


def load_module(
    chip: Chip, module: str, parameters: str = "", *, vnand: str = "vnand"
) -> list[str]:
    """Loads chip and file system; `parameters` are the module's, `vnand` is the chip's one."""
    arguments = encode(f"chip={chip.arguments}")
    words = f" args={encode(parameters)}" if parameters else ""
    return [
        f"insmod path={module_path(vnand)} args={arguments}",
        f"insmod path={module_path(module)}{words}",
    ]


def mount_type(
    type_name: str,
    options: str = "",
    *,
    flags: str = "",
    source: str = "mtd:data",
    may_fail: bool = False,
) -> str:
    words = [f"mount type={type_name}", f"source={source}", "target=/mnt"]
    words += [f"options={encode(options)}"] if options else []
    words += [f"flags={flags}"] if flags else []
    words += ["may_fail=1"] if may_fail else []
    return " ".join(words)


UMOUNT = "umount target=/mnt"
CHIP_COUNTERS = f"capture path={COUNTERS}"


def listing_steps(directory: str = "/mnt") -> list[str]:
    """Lists what is below `directory`; `Guest.listings` has the result."""
    words = encode(f"list {directory} {LISTING}")
    return [f"exec path={PROGRAM} args={words}", f"capture path={LISTING}"]


LIST = tuple(listing_steps())


def run(number: int) -> str:
    """Runs the script of that number among those that `start` is given."""
    return run_file(f"/test/script{number}")


def run_file(path: str) -> str:
    """Runs a script that is a file of the guest."""
    return f"exec path={PROGRAM} args={encode(f'run {path}')}"


# Records every operation on the partition; `Guest.operations` has them.
MONITOR = (
    f"insmod path={module_path('flashmon')} args={encode(f'trace_store=iomem:{TRACE_REGION}')}",
    "monitor mtd=data",
    "trace on=1",
)


# --- guests ---

# kmod/flashmon/trace_format.h
_TRACE = struct.Struct("<8sIIQ")
_PLACE = struct.Struct("<II")
_OPERATIONS = {1: "read", 2: "program", 3: "erase"}


@dataclass(frozen=True)
class Guest:
    """A guest that ended. `images`: the package that checks and reads images; `proc`: the state."""

    chip: Chip
    boot: Boot
    images: ClassVar[ModuleType]
    proc: ClassVar[str]

    @property
    def flash(self) -> Path:
        return self.boot.flash

    @property
    def console(self) -> str:
        return self.boot.console

    def captures(self, path: str) -> list[str]:
        return [r["text"] for r in self.boot.of_type("file") if r["path"] == path]

    def numbers(self, path: str) -> list[dict[str, int]]:
        """Captured statistics, one dictionary for each time."""
        texts = self.captures(path)
        return [{k: int(v) for k, v in map(str.split, text.splitlines())} for text in texts]

    @property
    def states(self) -> list[dict[str, int]]:
        return self.numbers(self.proc)

    @property
    def counters(self) -> dict[str, int]:
        """The chip's, as captured last."""
        return self.numbers(COUNTERS)[-1]

    @property
    def listings(self) -> list[Listing]:
        return [fstree.parse_listing(text) for text in self.captures(LISTING)]

    @property
    def operations(self) -> list[tuple[str, int, int]]:
        """Programs and erases in their order: the kind, block and page of each."""
        trace = self.boot.trace.open("rb")
        with trace:
            _, _, record_bytes, count = _TRACE.unpack(trace.read(_TRACE.size))
            trace.seek(64)
            records = [trace.read(record_bytes) for _ in range(count)]
        found = [(_OPERATIONS[record[40]], *_PLACE.unpack_from(record, 16)) for record in records]
        return [operation for operation in found if operation[0] != "read"]

    def step_errors(self, verb: str) -> list[str]:
        """Names of the errors of all steps of that verb, in order; "" for success."""
        steps = [r for r in self.boot.of_type("step") if r["verb"] == verb]
        return [r["errno_name"] if r["status"] == "error" else "" for r in steps]

    def check(self, **known: Any) -> Any:
        """What the checker finds on the flash; `known` are keys of ImageOptions."""
        return self.images.check_image(self.flash, self.options(**known))

    def options(self, **known: Any) -> Any:
        return self.images.ImageOptions(first_block=0, blocks=self.chip.blocks, **known)

    def assert_sound(self, **known: Any) -> Any:
        report = self.check(**known)
        assert not report.errors, report.text()
        return report

    def image_listing(self, **known: Any) -> Listing:
        return fstree.image_listing(self.images.read_tree(self.flash, self.options(**known)))


def start(
    lab: LabBuild,
    directory: Path,
    program: Path,
    steps: Sequence[str],
    *,
    guest: type[Guest],
    chip: Chip,
    scripts: Sequence[Script] = (),
    programs: Mapping[str, Path] | None = None,
    host_files: Mapping[str, str] | None = None,
    flash: Path | None = None,
    passes: bool = True,
    clean: bool = True,
    limit_s: float = 120,
    arguments: Sequence[str] = (),
) -> Guest:
    """Boots a guest with these steps. `passes`: every step must succeed, or may fail.

    `programs`: further ones, by their paths in the guest. `host_files`, `arguments`: see `boot`.
    """
    files = {PROGRAM: program, **(programs or {})}
    for number, script in enumerate(scripts):
        path = directory.with_name(f"{directory.name}-script{number}")
        path.write_text(script.text)
        files[f"/test/script{number}"] = path
    plan = "\n".join(["ffsplan 1", *steps]) + "\n"
    result = boot(
        lab, directory, chip.case, plan, flash=flash, files=files, host_files=host_files,
        limit_s=limit_s, clean=False, arguments=arguments,
    )  # fmt: skip
    end = result.of_type("end")
    if passes:
        assert end and end[0]["status"] == "ok", (end, result.printed)
    if clean:
        assert result.status == 0, result.console[-5000:]
        assert not scan_console(result.console), result.console[-5000:]
    return guest(chip, result)


def no_violations(counters: dict[str, int]) -> bool:
    """No rule of the chip was broken."""
    return not any(count for name, count in counters.items() if name.startswith("violation_"))


# --- the flash file ---

_BLOCK = struct.Struct("<7I")
_FAILED = 2  # a flag of a block
_UNCORRECTABLE = bytes(4 * [1])  # a page's state, kmod/vnand/rules.h


def flash_contents(path: Path) -> str:
    """A digest of all that is written: pages, marks of bad blocks; not how often it was read."""
    contents = map_file(path)
    lab = parse_lab_header(contents)
    assert lab and not lab.problem
    digest = hashlib.sha256()
    raw_page_bytes = lab.page_bytes + lab.oob_bytes
    for block in range(lab.blocks):
        at = lab.blocks_offset + block * _BLOCK.size
        erases, programs, _, _, next_page, flags, _ = _BLOCK.unpack(contents[at : at + _BLOCK.size])
        digest.update(struct.pack("<4I", erases, programs, next_page, flags))
        for page in range(block * lab.pages_per_block, (block + 1) * lab.pages_per_block):
            if contents[lab.pages_offset + 4 * page : lab.pages_offset + 4 * page + 1] != b"\0":
                at = lab.data_offset + page * raw_page_bytes
                digest.update(contents[at : at + raw_page_bytes])
    return digest.hexdigest()


def _blocks_with(path: Path, flag: int) -> set[int]:
    contents = map_file(path)
    lab = parse_lab_header(contents)
    assert lab
    flags = (lab.blocks_offset + block * _BLOCK.size + 20 for block in range(lab.blocks))
    return {block for block, at in enumerate(flags) if contents[at : at + 1][0] & flag}


def erase_counts(path: Path) -> list[int]:
    """How often each block of the chip was erased."""
    contents = map_file(path)
    lab = parse_lab_header(contents)
    assert lab
    at = (lab.blocks_offset + block * _BLOCK.size for block in range(lab.blocks))
    return [_BLOCK.unpack(contents[start : start + _BLOCK.size])[0] for start in at]


def bad_blocks(path: Path) -> set[int]:
    """Blocks of the chip that are marked as bad."""
    return _blocks_with(path, 1)


def failed_blocks(path: Path) -> set[int]:
    """Blocks in which a program or an erase failed."""
    return _blocks_with(path, _FAILED)


def fail_blocks(path: Path, blocks: Iterable[int]) -> None:
    """Lets every program and erase of these blocks of the chip fail from now on."""
    lab = parse_lab_header(map_file(path))
    assert lab
    with path.open("r+b") as file:
        for block in blocks:
            file.seek(lab.blocks_offset + block * _BLOCK.size + 20)
            (flags,) = struct.unpack("<I", file.read(4))
            file.seek(-4, 1)
            file.write(struct.pack("<I", flags | _FAILED))


def spoil_pages(path: Path, pages: Iterable[int]) -> None:
    """Makes pages of the chip uncorrectable, and all their bits wrong; they are programmed ones."""
    lab = parse_lab_header(map_file(path))
    assert lab
    with path.open("r+b") as file:
        for page in pages:
            file.seek(lab.pages_offset + 4 * page)
            assert file.read(1) == b"\1"
            file.seek(-1, 1)
            file.write(_UNCORRECTABLE)
            file.seek(lab.data_offset + page * (lab.page_bytes + lab.oob_bytes))
            wrong = bytes(0xFF ^ byte for byte in file.read(lab.page_bytes))
            file.seek(-lab.page_bytes, 1)
            file.write(wrong)


def write_flash(path: Path, chip: Chip, raw: Path) -> None:
    """Makes a flash file that holds a raw image (pages with their OOB) from block 0 on.

    The format is that of kmod/vnand/image_format.h.
    """
    pages = chip.case.board.chip.blocks * chip.pages_per_block
    blocks = chip.case.board.chip.blocks
    raw_page_bytes = chip.page_bytes + chip.oob_bytes

    def aligned(offset: int) -> int:
        return -(-offset // 4096) * 4096

    blocks_at = 4096
    pages_at = aligned(blocks_at + blocks * _BLOCK.size)
    data_at = aligned(pages_at + 4 * pages)
    end = aligned(data_at + pages * raw_page_bytes)
    header = b"VNANDIMG" + struct.pack(
        "<6I4Q", 2, chip.page_bytes, chip.oob_bytes, 1, chip.pages_per_block, blocks,
        blocks_at, pages_at, data_at, end,
    )  # fmt: skip
    crc = zlib.crc32(header) ^ 0xFFFFFFFF
    blank = b"\xff" * raw_page_bytes
    with path.open("wb") as file, raw.open("rb") as image:
        file.truncate(flash_file_bytes(chip.case.board.chip))
        file.write(header + struct.pack("<II", crc, 0))
        next_page = [0] * blocks
        for page in range(pages):
            content = image.read(raw_page_bytes)
            if not content or content == blank:
                continue
            file.seek(pages_at + 4 * page)
            file.write(bytes([1, 1, 1, 0]))
            file.seek(data_at + page * raw_page_bytes)
            file.write(content)
            block, number = divmod(page, chip.pages_per_block)
            next_page[block] = number + 1
        for block, behind in enumerate(next_page):
            file.seek(blocks_at + block * _BLOCK.size)
            file.write(_BLOCK.pack(0, behind, 0, 0, behind, 0, 0))
