"""The lab kernel's patch series: read in order, applied to an own copy of the source.

A patch that the tree already contains is passed over, so that a user's tree with some of them
works. One that does not apply ends the build and says which hunk of which file, unless the series
says that it is for the host's speed only: then it is left out.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from pathlib import Path

from ffslab.errors import BuildError, InfrastructureError
from ffslab.lab.archives import VERSION
from ffslab.lab.commands import clean_environment
from ffslab.process import command_line

# What a series says behind a patch that changes no result.
_SPEED_ONLY = "the host's speed only"


def read_series(directory: Path) -> list[Path]:
    """The patches that `directory/series` names, in order; none without such a file."""
    patches = list(_entries(directory))
    for patch in patches:
        if not patch.is_file():
            raise InfrastructureError(
                f"{directory / 'series'} names {patch.name}, which does not exist",
                cause="a patch was renamed or not committed",
                remedy=f"git status {directory}",
            )
    return patches


def speed_only(directory: Path) -> frozenset[Path]:
    """The patches of a series that make guests faster on the host, and do nothing else."""
    return frozenset(path for path, said in _entries(directory).items() if _SPEED_ONLY in said)


def _entries(directory: Path) -> dict[Path, str]:
    """The patches of a series, in order, with what it says behind each; none without a series."""
    series = directory / "series"
    lines = series.read_text(encoding="utf-8").splitlines() if series.is_file() else []
    parts = (line.partition("#") for line in lines)
    return {directory / name.strip(): said for name, _, said in parts if name.strip()}


def apply_series(
    tree: Path,
    patches: list[Path],
    made_for: str = VERSION,
    optional: Collection[Path] = (),
) -> list[str]:
    """Applies `patches`, which were made for that version of Linux, in order to `tree`. Of the
    `optional` ones those that do not apply are left out, and named.

    Raises BuildError at the first other one that does not.
    """
    left_out = []
    for patch in patches:
        if patch in optional and _patch(tree, patch, "--dry-run", "--forward")[0] != 0:
            left_out += [] if _is_there(tree, patch) else [patch.stem]
            continue
        status, output = _patch(tree, patch, "--forward")
        if status == 0 or _is_there(tree, patch):
            continue
        told = "\n".join("    " + line for line in output.splitlines()[-15:])
        raise BuildError(
            f"kernel patch {patch.name} does not apply to {tree}\n{told}",
            cause=f"it is Linux {linux_version(tree)}; the patches were made for {made_for}",
            remedy=f"another source, or see why: "
            f"{command_line([*_command(patch, '--dry-run')], cwd=tree)}",
        )
    return left_out


def linux_version(tree: Path) -> str:
    """The version that the makefile of a kernel source states, such as "6.1.192"."""
    makefile = tree / "Makefile"
    text = makefile.read_text(encoding="utf-8", errors="replace") if makefile.is_file() else ""
    stated = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", text, re.MULTILINE))
    numbers = [stated[name] for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL") if name in stated]
    return ".".join(numbers) or "of no version that its Makefile states"


def minor_version(tree: Path) -> str:
    """The version without what a stable release counts, such as "6.1", which a tree that states
    none is taken for.
    """
    stated = re.match(r"\d+\.\d+", linux_version(tree))
    return stated[0] if stated else VERSION


def _is_there(tree: Path, patch: Path) -> bool:
    return _patch(tree, patch, "--dry-run", "--reverse")[0] == 0


def _patch(tree: Path, patch: Path, *options: str) -> tuple[int, str]:
    finished = subprocess.run(
        _command(patch, *options),
        cwd=tree,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        check=False,
    )
    return finished.returncode, finished.stdout


def _command(patch: Path, *options: str) -> list[str]:
    return [
        "patch",
        "-p1",
        "--batch",
        "--fuzz=0",
        "--no-backup-if-mismatch",
        "--reject-file=-",
        *options,
        f"--input={patch}",
    ]
