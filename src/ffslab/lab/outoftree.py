"""File-system modules that neither Linux nor ffslab contains, built from a user's directory.

The directory is read, never written to: its files are copied into the cache and built there, like
ours in kmod/. Names and contents of the files decide, not the place; their hash is in the specs of
the cases. What make leaves behind, editors' copies, and everything hidden (a repository's
history) do not count and are not copied.

A module that does not compile, or wants something that the lab kernel does not have, is told in
the words of its author's work: the compiler's lines, or the missing symbols with the options of
the kernel that would bring them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ffslab.errors import InfrastructureError, SpecError
from ffslab.lab.build import KernelEntry, make_module
from ffslab.lab.cache import (
    hash_texts,
    make_directory,
    replace_directory,
    scratch_directory,
    sha256_of_files,
    write_stamp,
)
from ffslab.lab.progress import Progress
from ffslab.lab.symbols import missing_symbols, origin_of
from ffslab.model.case import Case
from ffslab.model.specs import Filesystem, ModuleSource, MountSetup
from ffslab.paths import data_dir

if TYPE_CHECKING:
    from ffslab.model.catalog import Catalog

# Part of every hash: raise it when the way of building changes the result.
_FORMAT = "1"
# Stands for the directory of the sources in flags and variables.
SOURCE = "{source}"
_LEFT_BY_MAKE = (".o", ".a", ".ko", ".mod", ".mod.c", ".mod.o", ".cmd", "~")
_NAMES_LEFT_BY_MAKE = ("Module.symvers", "modules.order")
# A file system's sources are a few megabytes; a kernel tree, or a home directory, is not meant.
_LARGEST_BYTES = 64 << 20
_ERROR_LINES = 12
# What a compiler, modpost and make itself call errors; then what make says of any command.
_ERRORS = re.compile(r"\berror:|^ERROR:|No rule to make target|\*\*\* missing separator")
_COMMAND_FAILED = re.compile(r"^make.*\*\*\*")


@dataclass(frozen=True, slots=True)
class OutOfTreeModules:
    """The modules of one file system: what they are built from, and their place in the cache."""

    filesystem: str
    modules: tuple[str, ...]
    source: ModuleSource
    entry: Path

    @property
    def title(self) -> str:
        """What messages call them."""
        return f"out-of-tree {', '.join(self.modules)}"

    @property
    def log(self) -> Path:
        return self.entry.parent / f"{self.filesystem}-out-of-tree.log"

    def built(self) -> dict[str, Path]:
        """What the build gave, by name; more than `modules` if the sources have more."""
        return {path.stem: path for path in sorted(self.entry.glob("*.ko"))}


def identified(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases with the hash of their out-of-tree sources put in; each directory is read once.

    Raises SpecError if a directory cannot be what a module is built from.
    """
    known: dict[ModuleSource, ModuleSource] = {}

    def with_known_hash(case: Case) -> Case:
        setup, source = case.filesystem, case.filesystem.module_source
        if source is None:
            return case
        if source not in known:
            known[source] = with_hash(setup.name, source)
        return replace(case, filesystem=replace(setup, module_source=known[source]))

    return tuple(with_known_hash(case) for case in cases)


def with_hash(filesystem: str, source: ModuleSource) -> ModuleSource:
    """The source with the hash of its files; SpecError if it is missing or has no Kbuild file."""
    directory = Path(source.directory)
    try:
        files = source_files(filesystem, source)
        return replace(source, sha256=sha256_of_files(directory, files))
    except OSError as error:
        raise SpecError(
            f"file system {filesystem}: {error.filename or directory}: {error.strerror}",
            cause="a file that this user may not read, or that has just been removed",
            remedy=f"ls -l {shlex.quote(source.directory)}",
        ) from error


def out_of_tree_filesystems(catalog: Catalog) -> tuple[Filesystem, ...]:
    """The file systems of a catalog that have sources of their own, with the hash of these."""
    return tuple(
        replace(filesystem, module_source=with_hash(name, filesystem.module_source))
        for name, filesystem in catalog.filesystems.items()
        if filesystem.module_source is not None
    )


def source_files(filesystem: str, source: ModuleSource) -> list[Path]:
    """The files that count, in order."""
    directory = Path(source.directory)
    where = f"file system {filesystem}: module_source.directory {directory}"
    remedy = f"correct it in {source.stated_in}; it is relative to that file"
    if not directory.is_dir():
        raise SpecError(f"{where} is not a directory", cause="a mistyped path", remedy=remedy)
    if not any((directory / name).is_file() for name in ("Kbuild", "Makefile")):
        raise SpecError(
            f"{where} has neither Kbuild nor Makefile",
            cause="the module's sources are in a directory below it, or its Kbuild file is missing",
            remedy=remedy,
        )
    files, size_bytes = [], 0
    for path in _walk(directory):
        size_bytes += path.stat().st_size
        files.append(path)
        if size_bytes > _LARGEST_BYTES:
            raise SpecError(
                f"{where} has more than {_LARGEST_BYTES >> 20} MiB of files",
                cause="a directory with more in it than the sources of a file system",
                remedy=remedy,
            )
    return sorted(files)


def _walk(directory: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise error

    visited: set[str] = set()
    for parent, below, names in os.walk(directory, onerror=fail, followlinks=True):
        # A symbolic link may lead back to where it is.
        visited.add(os.path.realpath(parent))
        below[:] = sorted(
            name
            for name in below
            if not name.startswith(".")
            and os.path.realpath(os.path.join(parent, name)) not in visited  # noqa: PTH118
        )
        for name in sorted(names):
            path = Path(parent, name)
            if not _is_left_over(name) and path.is_file():
                yield path


def _is_left_over(name: str) -> bool:
    return name.startswith(".") or name.endswith(_LEFT_BY_MAKE) or name in _NAMES_LEFT_BY_MAKE


def plan_out_of_tree(
    setups: Iterable[Filesystem | MountSetup], kernel_key: str, root: Path
) -> tuple[OutOfTreeModules, ...]:
    """Where the modules of the file systems are, or will be, in the cache, once for each source."""
    planned: dict[tuple[str, tuple[str, ...]], OutOfTreeModules] = {}
    for setup in setups:
        source = setup.module_source
        if source is None:
            continue
        key = hash_texts([_FORMAT, kernel_key, source.key])
        entry = root / "module" / f"out-of-tree-{key}"
        planned.setdefault(
            (source.key, setup.modules),
            OutOfTreeModules(setup.name, setup.modules, source, entry),
        )
    return tuple(planned.values())


def build_out_of_tree(
    wanted: OutOfTreeModules, kernel: KernelEntry, lock: int, progress: Progress
) -> None:
    """Builds the sources against `kernel`; every module they give becomes part of the entry.

    Raises InfrastructureError if they do not compile or need what the kernel does not have,
    SpecError if they give no module.
    """
    scratch = scratch_directory(kernel.directory)
    copy = scratch / "source"
    _copy(wanted, copy)
    wanted.log.unlink(missing_ok=True)
    with progress.phase(f"compiling the {wanted.title} of file system {wanted.filesystem}"):
        try:
            make_module(
                copy,
                kernel,
                [f"-fmacro-prefix-map={copy}/=", *_compiler_flags(wanted.source, copy)],
                [*wanted.source.config, *_placed(wanted.source.make_arguments, copy)],
                log=wanted.log,
                lock=lock,
                cause=f"an error in {wanted.source.directory}: see the log above",
                remedy=f"correct the sources or {wanted.source.stated_in}, then the same command",
            )
        except InfrastructureError as error:
            raise _explained(wanted, copy, kernel, error) from error
    built = sorted(copy.rglob("*.ko"))
    if not built:
        raise SpecError(
            f"the build of {wanted.source.directory} made no module",
            cause=f"no line obj-m += {wanted.modules[0]}.o takes effect in its Kbuild or Makefile: "
            "often one that depends on an option which module_source.config has to set",
            remedy=f"less {wanted.log}; then edit {wanted.source.stated_in}",
        )
    pending = make_directory(scratch / "entry")
    for path in built:
        shutil.copy2(path, pending / path.name)
    facts = {"directory": wanted.source.directory, "source": wanted.source.spec}
    write_stamp(pending, facts, pending.iterdir())
    replace_directory(pending, wanted.entry)
    shutil.rmtree(scratch, ignore_errors=True)


def check_names(wanted: OutOfTreeModules) -> None:
    """SpecError for a module that the catalog names and the build did not give."""
    built = wanted.built()
    absent = [name for name in wanted.modules if name not in built]
    if absent:
        raise SpecError(
            f"the build of {wanted.source.directory} made no {absent[0]}.ko, "
            f"but {', '.join(path.name for path in built.values())}",
            cause=f"the module has another name than `modules` of file system "
            f"{wanted.filesystem} says",
            remedy=f"edit {wanted.source.stated_in}: modules = "
            f"[{', '.join(repr(name).replace(chr(39), chr(34)) for name in built)}], "
            "in the order of loading",
        )


def _copy(wanted: OutOfTreeModules, copy: Path) -> None:
    origin = Path(wanted.source.directory)
    for path in source_files(wanted.filesystem, wanted.source):
        target = copy / path.relative_to(origin)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    if sha256_of_files(copy, (path for path in copy.rglob("*") if path.is_file())) != (
        wanted.source.sha256
    ):
        raise InfrastructureError(
            f"{origin} changed while ffslab read it",
            cause="an editor, a checkout or a build works there",
            remedy="the same command again",
        )


def _placed(texts: Iterable[str], copy: Path) -> list[str]:
    """The texts with the place where the sources are built, which has no spaces, put in."""
    return [text.replace(SOURCE, str(copy)) for text in texts]


def _compiler_flags(source: ModuleSource, copy: Path) -> list[str]:
    """The symbols as the kernel's own are for the preprocessor, and the flags, for a shell."""
    defines = []
    for symbol in source.config:
        name, _, value = symbol.partition("=")
        if value == "m":
            defines.append(f"-D{name}_MODULE=1")
        elif value == "y":
            defines.append(f"-D{name}=1")
        elif value != "n":
            defines.append(f"-D{name}={value}")
    return [shlex.quote(flag) for flag in (*defines, *_placed(source.cflags, copy))]


def _explained(
    wanted: OutOfTreeModules, copy: Path, kernel: KernelEntry, error: InfrastructureError
) -> InfrastructureError:
    """The build's failure in terms of the user's sources, of which `copy` was built."""
    text = wanted.log.read_text(encoding="utf-8", errors="replace")
    text = text.replace(str(copy), wanted.source.directory)
    symbols = missing_symbols(text)
    if symbols:
        return _symbols_error(wanted, kernel, symbols)
    for pattern in (_ERRORS, _COMMAND_FAILED):
        lines = [line.strip() for line in text.split("\n") if pattern.search(line)]
        if lines:
            break
    else:
        return error
    shown = "\n".join(f"    {line}" for line in lines[:_ERROR_LINES])
    return InfrastructureError(
        f"the out-of-tree module of file system {wanted.filesystem} does not compile\n{shown}\n"
        f"  full log: {wanted.log}",
        cause=f"an error in {wanted.source.directory}, sources for another version of Linux "
        f"than {_kernel_release(kernel)}, or an option that module_source.config has to set",
        remedy=f"correct the sources or {wanted.source.stated_in}, then the same command again",
    )


def _symbols_error(
    wanted: OutOfTreeModules, kernel: KernelEntry, symbols: Sequence[str]
) -> InfrastructureError:
    lines = []
    for symbol in symbols:
        origin = origin_of(symbol, kernel.source, kernel.objects / ".config")
        lines.append(f"    {symbol}: {origin}")
    fragment = data_dir("kernel") / "lab.config"
    return InfrastructureError(
        f"the out-of-tree module of file system {wanted.filesystem} needs symbols that the lab "
        "kernel does not have\n" + "\n".join(lines) + f"\n  full log: {wanted.log}",
        cause="an option of the lab kernel that is not set, or sources for another version of "
        f"Linux than {_kernel_release(kernel)}",
        remedy=f"add the option to {fragment} (the kernel is then built anew), or correct the "
        "sources",
    )


def _kernel_release(kernel: KernelEntry) -> str:
    try:
        text = (kernel.objects / "include/config/kernel.release").read_text(encoding="utf-8")
    except OSError:
        return "the lab's"
    return text.strip()
