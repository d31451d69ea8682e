"""The directory of a guest on the host: kernel, initramfs, the chip's file, an image.

Guests of cases and those that build images are made alike; they differ in what their initramfs has
beside agent and plan.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ffslab.errors import InfrastructureError, full
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.program import program
from ffslab.protocol.chip_file import copy_flash_file, create_flash_file, flash_file_bytes
from ffslab.targets.empty_squashfs import EMPTY_LOWER, empty_squashfs
from ffslab.targets.target import FLASH_NAME, IMAGE_NAME, TRACE_NAME
from ffslab.targets.uml.initramfs import (
    ArchiveEntry,
    build_archive,
    character_device,
    regular_file,
)
from ffslab.targets.uml.perturbation import padding
from ffslab.targets.uml.scratch import TRACE_BYTES
from ffslab.targets.virtual_flash import HOST, RIG
from ffslab.workloads.plans import guest_files
from ffslab.workloads.rig import Rig

INITRAMFS_NAME = "initrd.cpio"
KERNEL_NAME = "linux"


def write_kernel_and_root(
    directory: Path,
    lab: LabBuild,
    plan: str,
    before: Sequence[ArchiveEntry] = (),
    behind: Sequence[ArchiveEntry] = (),
) -> None:
    """Kernel and initramfs with agent and plan; further files stand `before` or `behind` the plan.

    OSError if the disk or the lab's files do not allow it.
    """
    entries = [
        character_device("/dev/console", 5, 1),
        regular_file("/init", lab.agent_for(plan).read_bytes(), executable=True),
        *before,
        regular_file("/plan", plan.encode()),
        *behind,
    ]
    (directory / INITRAMFS_NAME).write_bytes(build_archive(entries))
    (directory / KERNEL_NAME).symlink_to(lab.kernel.resolve(strict=True))


@contextmanager
def preparing(who: str, place: Path, elsewhere: str) -> Iterator[None]:
    """What the disk refuses while a guest's directory is made, with what would help.

    `elsewhere` says how another place is named.
    """
    try:
        yield
    except OSError as error:
        lacks_room = full(error)
        raise InfrastructureError(
            f"cannot prepare {who}: {error.filename or place}: {error.strerror}",
            cause=f"the disk is full (df {place})" if lacks_room else "the lab build is incomplete",
            remedy=f"free some space there, or {elsewhere}"
            if lacks_room
            else f"{program()} doctor",
        ) from error


def copy_image(image: Path, target: Path, _case: Case) -> None:
    """Puts an image where a plan can read it through hostfs."""
    # No link: hostfs shows one as a link, which leads nowhere in the guest.
    shutil.copyfile(image, target)


def write_guest_directory(
    directory: Path,
    lab: LabBuild,
    case: Case,
    plan: str,
    programs: Mapping[str, Path] | None = None,
    flash: Path | None = None,
    image: Path | None = None,
    files: Sequence[GuestFile] = (),
    rig: Rig = RIG,
    put_image: Callable[[Path, Path, Case], None] = copy_image,
) -> None:
    """Puts kernel, initramfs and a flash file, empty or a copy of `flash`, into `directory`.

    `programs` are further executable files of the initramfs, host files by their guest paths, and
    so are `files`; those below the directory's own mount are put into that.
    `image` is put there as `IMAGE_NAME` by `put_image`.
    """
    modules = lab.modules_for(case.filesystem)
    with preparing("a guest", directory.parent, "name another place with --scratch DIR"):
        directory.mkdir(exist_ok=True)
        loaded = [
            regular_file(f"/lab/{name}.ko", modules[name].read_bytes())
            for name in sorted(modules)
            if f"/lab/{name}.ko" in plan
        ]
        further = [
            regular_file(path, source.read_bytes(), executable=True)
            for path, source in sorted((programs or {}).items())
        ]
        # A guest that prepares the flash for several cases has nothing of any of them.
        below = f"{HOST}/"
        given = [
            regular_file(file.path, file.data, executable=True)
            for file in (*guest_files(case, rig, plan), *files)
            if not file.path.startswith(below)
        ]
        for file in files:
            if file.path.startswith(below):
                (directory / file.path.removeprefix(below)).write_bytes(file.data)
        if EMPTY_LOWER in plan:
            loaded.append(regular_file(EMPTY_LOWER, empty_squashfs()))
        write_kernel_and_root(directory, lab, plan, loaded, [*further, *given, *padding(case)])
        if image:
            put_image(image, directory / IMAGE_NAME, case)
    _write_flash(directory, case, flash)
    # There even if the case is not traced: it is sparse, and the guest's memory
    # layout must not depend on it.
    create_flash_file(directory / TRACE_NAME, TRACE_BYTES)


def _write_flash(directory: Path, case: Case, flash: Path | None) -> None:
    if flash is None:
        create_flash_file(directory / FLASH_NAME, flash_file_bytes(case.board.chip))
        return
    try:
        copy_flash_file(flash, directory / FLASH_NAME)
    except OSError as error:
        raise InfrastructureError(
            f"cannot copy the prepared flash {flash} for a guest: {error.filename}: "
            f"{error.strerror}",
            cause="no space for the guests' files (df), or the state was removed meanwhile",
            remedy="free some space, or name another place with --scratch DIR",
        ) from error
