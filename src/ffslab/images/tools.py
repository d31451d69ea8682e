"""The programs that build an image, with their arguments: a pure function of the spec.

Paths are those of the guest (`ffslab.images.toolguest`): the tree is /tree, and /out is a directory
of the host. What a tool would draw or read from a clock is given to it where it takes such an
argument.

- mkfs.jffs2 -s is the page size of the kernel's memory management, the largest data node; not the
  flash's page. No clean markers: on NAND they are in the OOB area and the kernel writes them.
- sumtool has to be told the same of erase blocks and clean markers. It moves nodes to make room
  for a summary at the end of each erase block; the last, which is not full, gets none.
- mkfs.ubifs -c is the number of blocks up to which the file system can grow. The volume gets fewer
  than the partition has, so the partition's number is never too low.
- ubinize -Q is a fixed number, else it would draw one.
- mksquashfs and mkfs.erofs write a file system that never changes: its volume, dynamic or static,
  has as many blocks as the image needs and does not grow.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from ffslab.errors import SpecError
from ffslab.images.spec import ImageSpec
from ffslab.lab.packages import IMAGE_PACKAGES, DebianPackage

TREE = "/tree"
OUT = "/out"
FLASH_FILE = "flash.img"
VOLUME_FILE = "volume.img"
_PLAIN_FILE = "plain.img"  # a JFFS2 image without summaries, for sumtool
_UBINIZE_FILE = "ubinize.ini"
_MEMORY_PAGE_BYTES = 4096  # of the lab kernel; the largest data node of JFFS2
_IMAGE_SEQUENCE = 1
_TIME_S = 1_000_000_000
# 2100-01-01. mkfs.erofs takes it for the time of building, and for that of files that are newer.
_LATE_S = 4_102_444_800
_UUID = "ff51ab00-0000-4000-8000-000000000000"
_NAMES = {
    "jffs2": ("mkfs.jffs2", "sumtool"),
    "ubifs": ("mkfs.ubifs", "ubinize"),
    "squashfs": ("mksquashfs", "ubinize"),
    "squashfs-mtd": ("mksquashfs",),
    "erofs": ("mkfs.erofs", "ubinize"),
    # ffslab's own, in this process.
    "yaffs2": (),
    "logfs": (),
}
_PACKAGES = {
    "mkfs.jffs2": "mtd-utils",
    "sumtool": "mtd-utils",
    "mkfs.ubifs": "mtd-utils",
    "ubinize": "mtd-utils",
    "mksquashfs": "squashfs-tools",
    "mkfs.erofs": "erofs-utils",
}
# How each is made to say its version; mkfs.erofs 1.5 calls the word invalid, and says it.
VERSION_WORDS = {
    "mkfs.jffs2": "--version",
    "sumtool": "--version",
    "mkfs.ubifs": "--version",
    "ubinize": "--version",
    "mksquashfs": "-version",
    "mkfs.erofs": "--version",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A program by its name, its arguments, and what is set in its environment (NAME=VALUE)."""

    program: str
    words: tuple[str, ...]
    environment: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.line(self.program)

    def line(self, path: str) -> str:
        """The command for a shell, with the program at `path`."""
        return " ".join((*self.environment, shlex.join((path, *self.words))))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Commands in their order, and text files that they read in /out.

    `image_name` is the file system's file, without UBI; `FLASH_FILE` is what goes to the flash.
    """

    commands: tuple[Command, ...]
    files: tuple[tuple[str, str], ...]
    image_name: str

    @property
    def programs(self) -> tuple[str, ...]:
        """What must be there to run it."""
        return tuple(command.program for command in self.commands)

    @property
    def text(self) -> str:
        """All of it for people, as one would type it."""
        return " && ".join(str(command) for command in self.commands)


def tool_names() -> tuple[str, ...]:
    """What `ImageSpec.tool` may be."""
    return tuple(_NAMES)


def programs(tool: str) -> tuple[str, ...]:
    """All programs that images of that tool may need; SpecError if there is no such tool."""
    if tool not in _NAMES:
        raise SpecError(
            f"there is no image tool {tool!r}", remedy=f"one of: {', '.join(tool_names())}"
        )
    return _NAMES[tool]


def packages(tool: str) -> tuple[DebianPackage, ...]:
    """The Debian packages that have these programs."""
    names = {_PACKAGES[program] for program in programs(tool)}
    return tuple(package for package in IMAGE_PACKAGES if package.name in names)


def recipe(spec: ImageSpec) -> Recipe:
    """How the image of `spec` is built by the tools in the guest."""
    programs(spec.tool)
    builder = {
        "jffs2": _jffs2,
        "ubifs": _ubifs,
        "squashfs": _squashfs,
        "squashfs-mtd": _squashfs_on_mtd,
        "erofs": _erofs,
    }[spec.tool]
    return builder(spec)


def _jffs2(spec: ImageSpec) -> Recipe:
    eraseblock = f"--eraseblock={spec.block_bytes}"
    output = _PLAIN_FILE if spec.summaries else FLASH_FILE
    words = (
        *(f"--root={TREE}", f"--output={OUT}/{output}"),
        *(eraseblock, f"--pagesize={_MEMORY_PAGE_BYTES}"),
        *("--no-cleanmarkers", "--little-endian"),
        *spec.options,
    )
    commands = [Command("mkfs.jffs2", words)]
    if spec.summaries:
        files = (f"--input={OUT}/{output}", f"--output={OUT}/{FLASH_FILE}")
        words = (*files, eraseblock, "--no-cleanmarkers", "--littleendian")
        commands.append(Command("sumtool", words))
    return Recipe(tuple(commands), (), FLASH_FILE)


def _ubifs(spec: ImageSpec) -> Recipe:
    words = (
        *("-r", TREE, "-o", f"{OUT}/{VOLUME_FILE}"),
        *("-m", str(spec.page_bytes), "-e", str(spec.leb_bytes), "-c", str(spec.partition_blocks)),
        *spec.options,
    )
    return _in_volume(spec, Command("mkfs.ubifs", words), "vol_type=dynamic\nvol_flags=autoresize")


def _squashfs(spec: ImageSpec) -> Recipe:
    return _in_volume(spec, _mksquashfs(spec, VOLUME_FILE), f"vol_type={spec.volume_type}")


def _squashfs_on_mtd(spec: ImageSpec) -> Recipe:
    return Recipe((_mksquashfs(spec, FLASH_FILE),), (), FLASH_FILE)


def _mksquashfs(spec: ImageSpec, output: str) -> Command:
    words = (
        *(TREE, f"{OUT}/{output}", "-noappend", "-no-progress", "-no-recovery"),
        *("-processors", "1", "-mkfs-time", str(_TIME_S)),
        *spec.options,
    )
    return Command("mksquashfs", words)


def _erofs(spec: ImageSpec) -> Recipe:
    words = (f"-U{_UUID}", *spec.options, f"{OUT}/{VOLUME_FILE}", TREE)
    mkfs = Command("mkfs.erofs", words, (f"SOURCE_DATE_EPOCH={_LATE_S}",))
    return _in_volume(spec, mkfs, f"vol_type={spec.volume_type}")


def _in_volume(spec: ImageSpec, mkfs: Command, volume_lines: str) -> Recipe:
    """The file of `mkfs` in volume 0 of a UBI image."""
    offset = ("-O", str(spec.ubi_vid_hdr_offset)) if spec.ubi_vid_hdr_offset else ()
    words = (
        *("-o", f"{OUT}/{FLASH_FILE}", "-p", str(spec.block_bytes), "-m", str(spec.page_bytes)),
        *("-s", str(spec.subpage_bytes), *offset, "-Q", str(_IMAGE_SEQUENCE)),
        f"{OUT}/{_UBINIZE_FILE}",
    )
    text = (
        f"[{spec.volume}]\nmode=ubi\nimage={OUT}/{VOLUME_FILE}\nvol_id=0\n"
        f"vol_name={spec.volume}\n{volume_lines}\n"
    )
    if spec.upper_volume:
        text += (
            f"[{spec.upper_volume}]\nmode=ubi\nvol_id=1\nvol_size={spec.leb_bytes}\n"
            f"vol_type=dynamic\nvol_name={spec.upper_volume}\nvol_flags=autoresize\n"
        )
    return Recipe((mkfs, Command("ubinize", words)), ((_UBINIZE_FILE, text),), VOLUME_FILE)
