"""The lab kernel's patch series: read in order, applied to an own copy of the source.

A patch that the tree already contains is passed over, so that a user's tree with some of them
works. Of a series that does not apply as it is, less and less is tried: what it makes of the source
that it was made for, merged with the tree; without what is for the host's speed only; at last
without the CPU model and all that builds on it. The message of the first patch that does not apply
is the error if nothing of that works: which hunk of which file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import BuildError, InfrastructureError
from ffslab.lab.archives import VERSION
from ffslab.lab.commands import clean_environment
from ffslab.process import command_line

# What a series says behind a patch: that it changes no result; that there is no lab without it;
# that it is of use without the CPU model, too.
_SPEED_ONLY = "the host's speed only"
_ESSENTIAL = "essential"
_ALONE = "of use alone"
_FILE = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a series: the names of patches that were left out, whether it was merged, and
    whether the CPU model is missing, so that only the flash takes time.
    """

    left_out: tuple[str, ...] = ()
    merged: bool = False
    flash_only: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """Patches in their order, and the version of Linux that they were made for. `optional` are for
    the host's speed. A kernel without the CPU model has the `essential` ones, and those of `alone`
    that apply.
    """

    patches: tuple[Path, ...]
    made_for: str = VERSION
    optional: frozenset[Path] = frozenset()
    essential: frozenset[Path] = frozenset()
    alone: frozenset[Path] = frozenset()

    def of(self, wanted: Collection[Path]) -> tuple[Path, ...]:
        """Some of the patches, in their order."""
        return tuple(path for path in self.patches if path in wanted)


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


def series_of(directory: Path, made_for: str, further: Sequence[Path] = ()) -> Series:
    """The series of a directory, with further patches behind it that none can do without."""
    patches, entries = read_series(directory), _entries(directory)

    def said(words: str) -> frozenset[Path]:
        return frozenset(path for path in patches if words in entries[path])

    essential = said(_ESSENTIAL) | set(further)
    return Series((*patches, *further), made_for, said(_SPEED_ONLY), essential, said(_ALONE))


def _entries(directory: Path) -> dict[Path, str]:
    """The patches of a series, in order, with what it says behind each; none without a series."""
    series = directory / "series"
    lines = series.read_text(encoding="utf-8").splitlines() if series.is_file() else []
    parts = (line.partition("#") for line in lines)
    return {directory / name.strip(): said for name, _, said in parts if name.strip()}


def apply_series(
    tree: Path, series: Series, base: Callable[[], Path | None] = lambda: None
) -> Applied:
    """Applies a series to `tree`. `base` gives the source that it was made for, or None if it
    cannot be had; it is asked for only if the series does not apply as it is.

    Raises BuildError at the first patch that does not apply if all that is tried then fails, too.
    """
    before = _Files(tree, _touched(series.patches))
    left_out, refused = _apply(tree, series.patches, series.optional)
    if refused is None:
        return Applied(tuple(left_out))
    made_for = base()
    for chosen in (series.patches, series.of(set(series.patches) - series.optional)):
        before.restore()
        if _is_taken(tree, chosen, made_for, merged=True):
            return Applied(_stems(series, chosen), merged=True)
    fewest = series.of(series.essential)
    for merged in (False, True) if fewest else ():
        before.restore()
        if _is_taken(tree, fewest, made_for, merged=merged):
            lost, _ = _apply(tree, series.of(series.alone), series.alone)
            had = set(fewest) | {path for path in series.alone if path.stem not in lost}
            return Applied(_stems(series, had), merged, flash_only=True)
    before.restore()
    raise _refusal(tree, series.made_for, *refused)


def _is_taken(tree: Path, patches: Sequence[Path], base: Path | None, *, merged: bool) -> bool:
    """Whether a tree takes these patches, as they are or merged; some of it is changed if not."""
    if merged:
        return base is not None and _merge(tree, base, patches)
    return _apply(tree, patches)[1] is None


def _stems(series: Series, had: Collection[Path]) -> tuple[str, ...]:
    """The names of the patches that a tree does not have."""
    return tuple(path.stem for path in series.patches if path not in had)


def _apply(
    tree: Path, patches: Sequence[Path], optional: Collection[Path] = ()
) -> tuple[list[str], tuple[Path, str] | None]:
    """Patch by patch: the names of optional ones that do not apply, and the first other one with
    what patch(1) says of it, where it ends.
    """
    left_out = []
    for patch in patches:
        if patch in optional and _patch(tree, patch, "--dry-run", "--forward")[0] != 0:
            left_out += [] if _is_there(tree, patch) else [patch.stem]
            continue
        status, output = _patch(tree, patch, "--forward")
        if status != 0 and not _is_there(tree, patch):
            return left_out, (patch, output)
    return left_out, None


def _merge(tree: Path, base: Path, patches: Sequence[Path]) -> bool:
    """Merges what patches make of the source that they were made for with `tree`, file by file;
    false if both have changed the same lines, and then some files of `tree` may be merged.
    """
    names = _touched(patches)
    with tempfile.TemporaryDirectory(dir=tree.parent) as scratch:
        patched = Path(scratch)
        for name in names:
            _copy_if_there(base / name, patched / name)
        if _apply(patched, patches)[1] is not None:
            return False
        return all(_merge_file(tree / name, base / name, patched / name) for name in names)


def _merge_file(ours: Path, base: Path, theirs: Path) -> bool:
    """Puts the changes from `base` to `theirs` into `ours`; false at a conflict."""
    if not base.exists() and not ours.exists():
        _copy_if_there(theirs, ours)
        return True
    if not (ours.exists() and base.exists() and theirs.exists()):
        return False
    command = ["git", "merge-file", "--stdout", *map(str, (ours, base, theirs))]
    finished = subprocess.run(command, env=clean_environment(), capture_output=True, check=False)
    if finished.returncode != 0:
        return False
    _Files.write(ours, finished.stdout)
    return True


def _copy_if_there(path: Path, copy: Path) -> None:
    if path.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _touched(patches: Sequence[Path]) -> list[str]:
    """The files that patches change or make, by their names in the tree."""
    texts = (patch.read_text(encoding="utf-8") for patch in patches)
    return sorted({name for text in texts for name in _FILE.findall(text)})


class _Files:
    """The contents of some files of a tree, to have them back."""

    def __init__(self, tree: Path, names: Sequence[str]) -> None:
        self._contents = {
            tree / name: (tree / name).read_bytes() if (tree / name).exists() else None
            for name in names
        }

    def restore(self) -> None:
        """Files that did not exist are removed."""
        for path, contents in self._contents.items():
            if contents is None:
                path.unlink(missing_ok=True)
            elif not path.exists() or path.read_bytes() != contents:
                self.write(path, contents)

    @staticmethod
    def write(path: Path, contents: bytes) -> None:
        """In a new file: the one that is there may be a link to that of the source."""
        mode = path.stat().st_mode if path.exists() else 0o644
        path.unlink(missing_ok=True)
        path.write_bytes(contents)
        path.chmod(mode)


def _refusal(tree: Path, made_for: str, patch: Path, output: str) -> BuildError:
    told = "\n".join("    " + line for line in output.splitlines()[-15:])
    return BuildError(
        f"kernel patch {patch.name} does not apply to {tree}\n{told}",
        cause=f"it is Linux {linux_version(tree)}; the patches were made for {made_for}, and even "
        "the few without which there is no lab do not apply, merged or as they are",
        remedy=f"another source, or see why: "
        f"{command_line([*_command(patch, '--dry-run')], cwd=tree)}",
    )


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
