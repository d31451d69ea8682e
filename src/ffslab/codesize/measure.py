"""Measures the objects of parts with binutils' `size`, which every kernel build has beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ffslab.codesize.parts import PARTS, Part
from ffslab.codesize.sizes import CodeSizes, Measured, Size, needs_of, with_same_code
from ffslab.errors import InfrastructureError, SpecError
from ffslab.lab.commands import clean_environment
from ffslab.lab.objects import Objects, ensure_objects
from ffslab.lab.progress import Progress
from ffslab.model.specs import Filesystem

ARCHITECTURES = ("um", "arm")
_MODULE, _ARCHIVE = ".mod", "built-in.a"


def measure(
    filesystems: Iterable[Filesystem],
    architectures: Sequence[str],
    progress: Progress,
    *,
    kernel_source: Path | None = None,
    go_on: bool = False,
) -> CodeSizes:
    """The sizes of file systems; objects that the cache does not have are compiled.

    A file system without known objects is in `unmeasured`. Raises what `ensure_objects` does; with
    `go_on` that is in `unmeasured` too, and nothing is lost but the figures of an architecture.
    """
    all_needs, unmeasured = [], {}
    for filesystem in filesystems:
        try:
            all_needs.append(needs_of(filesystem))
        except SpecError as error:
            unmeasured[filesystem.name] = error.message
    wanted = dict.fromkeys(part for needs in all_needs for part in (*needs.parts, *needs.shown))
    measured = {}
    for name in architectures:
        try:
            measured[name] = _measured(name, wanted, progress, kernel_source)
        except InfrastructureError as error:
            if not go_on:
                raise
            told = f"{error.message}; {error.remedy}" if error.remedy else error.message
            unmeasured[name] = told
            progress.note(f"no sizes of code for {name}: {told}")
    return CodeSizes(measured, with_same_code(all_needs), unmeasured)


def _measured(
    architecture: str, parts: Iterable[str], progress: Progress, kernel_source: Path | None
) -> Measured:
    objects = ensure_objects(architecture, progress, kernel_source=kernel_source)
    return Measured(
        title=objects.recipe.title,
        source=objects.source,
        compiler=objects.compiler,
        objects_id=objects.id,
        parts=measure_parts(objects, parts),
    )


def measure_parts(objects: Objects, names: Iterable[str]) -> dict[str, Size]:
    """The size of each part, the sum over its object files."""
    files = {name: object_files(objects, PARTS[name]) for name in names}
    sizes = sizes_of(objects, sorted({path for paths in files.values() for path in paths}))
    return {name: sum((sizes[path] for path in paths), Size()) for name, paths in files.items()}


def object_files(objects: Objects, part: Part) -> list[Path]:
    """The files of a part; InfrastructureError if the build did not make them."""
    files: list[Path] = []
    for object_name in part.objects:
        root = objects.tree
        if part.own:
            directory, _, object_name = object_name.partition("/")
            root = objects.own[directory]
        files += [root / name for name in _named(root, object_name) if name not in part.without]
    absent = [path for path in files if not path.is_file()]
    if absent or not files:
        raise _not_built(part, absent)
    return files


def _named(root: Path, object_name: str) -> list[str]:
    """The object files, relative to the root, that a place stands for."""
    path = root / object_name
    if object_name.endswith(_ARCHIVE) and path.exists():
        # A thin archive: it names files that stay where they are, those of archives in it too.
        return [os.path.relpath(name, root) for name in _run(["ar", "t", str(path)]).split()]
    if object_name.endswith(_MODULE) and path.exists():
        # That of a module outside of the kernel names its files by where it was compiled, in a
        # directory of the same name.
        words = path.read_text(encoding="utf-8").split()
        here = f"/{root.name}/"
        return [word.rpartition(here)[2] if Path(word).is_absolute() else word for word in words]
    return [object_name]


def sizes_of(objects: Objects, paths: Sequence[Path]) -> dict[Path, Size]:
    """Runs `size` of the architecture's binutils over the files."""
    program = f"{objects.recipe.architecture.tools}size"
    told = _run([program, "--format=berkeley", "--radix=10", *map(str, paths)])
    return dict(zip(paths, parse_sizes(told), strict=True))


def parse_sizes(told: str) -> list[Size]:
    """The rows of the table that `size` prints, in order; ValueError if it is none."""
    lines = told.splitlines()
    if not lines or lines[0].split()[:3] != ["text", "data", "bss"]:
        raise ValueError(f"not a table of size: {lines[:1]}")
    return [Size(*map(int, line.split()[:3])) for line in lines[1:]]


def _run(command: Sequence[str]) -> str:
    try:
        finished = subprocess.run(
            command, env=clean_environment(), capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise InfrastructureError(
            f"cannot run {command[0]}: {error.strerror}",
            cause="the binutils of the compiler are missing",
            remedy="apt-get install binutils, or what the compiler's package needs",
        ) from error
    if finished.returncode != 0:
        raise InfrastructureError(
            f"{command[0]} ended with status {finished.returncode}: {finished.stderr.strip()}",
            cause="an object file is damaged, or for another processor than its tools know",
            remedy="rm -r the directory of the file, and the same command again",
        )
    return finished.stdout


def _not_built(part: Part, absent: Sequence[Path]) -> InfrastructureError:
    told: Mapping[bool, str] = {True: f"{absent[0]} is missing" if absent else "", False: ""}
    return InfrastructureError(
        f"{part.title}: its objects were not compiled. {told[bool(absent)]}".strip(),
        cause="kernel/size.config lacks its option, or the kernel source is another version",
        remedy="compare kernel/size.config with the .config beside the objects",
    )
