"""The builds of a lab: the kernel with its own modules, our modules, the programs of guests.

Each fills one entry of the cache. All run with a clean environment and fixed build stamps, so
that the same inputs and compiler give the same bytes, wherever the cache is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from ffslab.errors import BuildError, InfrastructureError
from ffslab.lab.cache import (
    make_directory,
    replace_directory,
    scratch_directory,
    write_stamp,
)
from ffslab.lab.commands import clean_environment, run_logged
from ffslab.lab.config import parse_config, unmet_options
from ffslab.lab.patches import Applied, Series, linux_version
from ffslab.lab.progress import Progress
from ffslab.lab.source import KernelSource
from ffslab.lab.workshop import (
    at_work,
    copy_objects,
    lay_over,
    link_tree,
    patched_tree,
)
from ffslab.program import program

# A line of make's output that stands for a finished step: "  CC      kernel/fork.o".
_STEP = re.compile(r"^  [A-Z]+ +(\[M\] +)?\S")
_EXPECTED_STEPS = 1050
_BUILD_STAMPS = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "ffslab",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_VERSION": "1",
}
_APPLIED = "applied.json"  # what became of the patches
# Behind the fragments where the patch that brings the CPU model was left out.
_NO_MODEL = "".join(
    f"# CONFIG_UML_{option} is not set\n" for option in ("CPU_MODEL", "CPU_COUNT", "UNALIGNED")
)
_NANDSIM = "drivers/mtd/nand/raw/nandsim.ko"
_PHRAM = "drivers/mtd/devices/phram.ko"
# What is compiled into a kernel, and nothing else reads.
_KERNEL_CODE = (".c", ".S", ".o", ".a", ".cmd", ".ko")
_MODULE_SOURCES = ("*.c", "*.h", "*.S", "Kbuild", "Makefile")


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a kernel is compiled for, as its makefile calls it, and the beginning of the names of
    the compiler and its tools; `image` is what boots, and where make puts it, `modules` the
    kernel's own modules that guests load.
    """

    name: str
    tools: str = ""
    image: str = "linux"
    modules: tuple[str, ...] = (_NANDSIM,)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What make is told of it."""
        return (f"ARCH={self.name}", *((f"CROSS_COMPILE={self.tools}",) if self.tools else ()))


UML = Architecture("um")
ARM = Architecture("arm", "arm-linux-gnueabi-", "arch/arm/boot/zImage", modules=(_NANDSIM, _PHRAM))


@dataclass(frozen=True, slots=True)
class KernelInputs:
    """Everything that decides a kernel's bytes, except for the source's and compiler's."""

    variant: str
    fragments: tuple[Path, ...]
    series: Series


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A kernel's place in the cache; its tree and objects stay for modules to be built against."""

    directory: Path
    architecture: Architecture = UML

    @property
    def binary(self) -> Path:
        return self.directory / "linux"

    @property
    def modules(self) -> dict[str, Path]:
        """The modules of the kernel itself, by name."""
        built = (Path(name) for name in self.architecture.modules)
        return {path.stem: self.directory / path.name for path in built}

    @property
    def source(self) -> Path:
        return self.directory / "src"

    @property
    def objects(self) -> Path:
        return self.directory / "obj"

    def for_builds(self) -> Iterator[Path]:
        """What a build against this kernel may read: headers, makefiles, scripts, configuration."""
        for top in (self.source, self.objects):
            for path in top.rglob("*"):
                program = path.suffix in _KERNEL_CODE and "scripts" not in path.parts
                if not program and path.is_file() and not path.is_symlink():
                    yield path

    @property
    def log(self) -> Path:
        return self.directory / "build.log"


def compiler_version(architecture: Architecture = UML) -> str:
    """The compiler's version, which is an input of every build; "none" if there is none."""
    try:
        finished = subprocess.run(
            [f"{architecture.tools}gcc", "-dumpfullversion", "-dumpmachine"],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return "none"
    return " ".join(finished.stdout.split())


def build_kernel(
    entry: KernelEntry,
    source: KernelSource,
    inputs: KernelInputs,
    lock: int,
    progress: Progress,
    trees: Sequence[Path] = (),
    workshop: Path | None = None,
    base: Callable[[], Path | None] = lambda: None,
) -> KernelEntry:
    """Builds a kernel into `entry`, going on where an interrupted build stopped; where it was
    compiled: in `workshop`, on top of what is there, or in the entry itself.

    `trees` are those of the source with the files of an architecture; none: User-Mode Linux.
    `base` gives the source that the patches were made for, if they do not apply as they are.

    Raises BuildError if a patch does not apply, an option of a fragment does not take effect, or
    the compilation fails.
    """
    make_directory(entry.directory)
    made = entry if workshop is None else KernelEntry(workshop, entry.architecture)
    with at_work(workshop):
        made.log.unlink(missing_ok=True)
        sources = trees or (source.tree,)
        anew = workshop is not None
        applied = prepare_tree(made, sources, inputs.series, progress, base, anew=anew)
        with progress.phase("configuring the lab kernel"):
            configure(made, inputs, lock, _NO_MODEL if applied.flash_only else "")
        with progress.phase(f"compiling the lab kernel ({inputs.variant}) on {cores()} cores"):
            # One more than there are cores: linking and make itself leave one idle now and then.
            targets = [f"-j{cores() + 1}", Path(entry.architecture.image).name, "modules"]
            make_kernel(made, targets, lock, on_line=step_counter(progress, _EXPECTED_STEPS))
            _take(made, entry)
    write_stamp(
        entry.directory,
        {
            "source": source.id,
            "linux": linux_version(source.tree),
            "patches": inputs.series.made_for,
            **asdict(applied),
            "variant": inputs.variant,
            "compiler": compiler_version(entry.architecture),
        },
        [entry.binary, *entry.modules.values()],
        entry.for_builds(),
    )
    return made


def _take(made: KernelEntry, entry: KernelEntry) -> None:
    """Puts what was made into the entry: what runs, and what modules are built against, which is a
    small part of the objects.
    """
    architecture = entry.architecture
    shutil.copy2(made.objects / architecture.image, entry.binary)
    for built in architecture.modules:
        shutil.copy2(made.objects / built, entry.directory)
    if made != entry:
        shutil.copy2(made.log, entry.log)
        link_tree(made.source, entry.source)
        copy_objects(made.objects, entry.objects, entry.source, _is_for_modules)
        return
    for path in entry.objects.rglob("*"):
        if path.is_file() and not _is_for_modules(path.relative_to(entry.objects)):
            path.unlink()


def _is_for_modules(path: Path) -> bool:
    """Whether a build of modules reads the file at `path` of the objects."""
    if path.suffix in (".o", ".a"):
        return path.parts[0] == "scripts"
    return path.as_posix() not in ("vmlinux", "linux", "arch/arm/boot/Image")


def cores() -> int:
    """The processors of the host that this process may use."""
    return len(os.sched_getaffinity(0))


def prepare_tree(
    entry: KernelEntry,
    trees: Sequence[Path],
    series: Series,
    progress: Progress,
    base: Callable[[], Path | None] = lambda: None,
    *,
    anew: bool = False,
) -> Applied:
    """Puts a patched copy of the trees, laid over each other, into an entry that has none yet;
    `anew`: over the one that it has.
    """
    told = entry.directory / _APPLIED
    if entry.source.is_dir() and not anew:
        return (
            Applied(**json.loads(told.read_text(encoding="utf-8"))) if told.exists() else Applied()
        )
    scratch = scratch_directory(entry.directory)
    try:
        with progress.phase(f"patching the kernel ({len(series.patches)} patches)"):
            applied = patched_tree(scratch / "src", trees, series, base)
            lay_over(scratch / "src", entry.source)
    finally:
        shutil.rmtree(scratch)
    told.write_text(json.dumps(asdict(applied)), encoding="utf-8")
    _note(applied, series, progress)
    return applied


def _note(applied: Applied, series: Series, progress: Progress) -> None:
    """Tells what is otherwise than with the source that the patches were made for."""
    if applied.merged:
        progress.note(f"the patches, made for Linux {series.made_for}, are merged with this source")
    if applied.flash_only:
        progress.note(
            f"left out, for not all of it applies: the CPU model ({len(applied.left_out)} patches);"
            " only the flash takes time, and times compare with those of no other kernel"
        )
        return
    for name in applied.left_out:
        progress.note(f"left out, for it does not apply: {name}; guests take longer on the host")


def configure(entry: KernelEntry, inputs: KernelInputs, lock: int, more: str = "") -> None:
    """Writes the configuration, `more` behind the fragments; BuildError for options that do not
    take effect.
    """
    objects = make_directory(entry.objects)
    merged = objects / "lab.fragment"
    fragments = "".join(path.read_text(encoding="utf-8") for path in inputs.fragments)
    merged.write_text(fragments + more, encoding="utf-8")
    make_kernel(entry, [f"KCONFIG_ALLCONFIG={merged}", "allnoconfig"], lock)
    wanted = parse_config(merged.read_text(encoding="utf-8"))
    final = parse_config((objects / ".config").read_text(encoding="utf-8"))
    unmet = unmet_options(wanted, final)
    if unmet:
        raise BuildError(
            "options of the kernel configuration did not take effect:\n"
            + "\n".join(f"    {option}" for option in unmet),
            cause="a dependency of the option is not set, or this kernel does not have it "
            "(a patch of kernel/patches may be missing)",
            remedy=f"compare {inputs.fragments[-1]} with {objects / '.config'}",
        )


def make_kernel(
    entry: KernelEntry,
    targets: Sequence[str],
    lock: int,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Makes targets of the kernel, as `make help` lists them, into the entry's objects."""
    words = [f"O={entry.objects}", *entry.architecture.arguments]
    run_logged(
        ["make", "-C", entry.source, *words, *targets],
        env=clean_environment(_BUILD_STAMPS),
        log=entry.log,
        lock=lock,
        on_line=on_line,
        cause="see the log above; often a missing package, no disk space or no memory",
        remedy=f"{program()} doctor",
    )


def step_counter(progress: Progress, expected: int) -> Callable[[str], None]:
    """What reads make's output, and tells how many of about `expected` steps are finished."""
    steps = 0

    def on_line(line: str) -> None:
        nonlocal steps
        if _STEP.match(line):
            steps += 1
            progress.count(steps, expected)

    return on_line


# Modules whose Kbuild compiles the sources of others.
_MADE_OF: Mapping[str, Sequence[str]] = {
    "vnand_crash": ("vnand",),
    "vnor": ("vnand",),
    "vnor_crash": ("vnand", "vnor", "vnand_crash"),
    "flashmon_nor": ("flashmon",),
    "flashmon_below": ("flashmon",),
    "flashmon_nor_below": ("flashmon",),
}


def module_sources(directory: Path) -> list[Path]:
    """The files that a module is built from, without its tests and build results.

    Those of another module that it is made of as well (`_MADE_OF`) are among them.
    """
    places = [directory, *(directory.parent / name for name in _MADE_OF.get(directory.name, ()))]
    return [
        path
        for directory in places
        for pattern in _MODULE_SOURCES
        for path in directory.rglob(pattern)
        if "test" not in path.relative_to(directory).parts[:-1] and not path.name.endswith(".mod.c")
    ]


def build_modules(
    entries: Mapping[str, Path],
    kmod: Path,
    kernel: KernelEntry,
    beside: Path,
    lock: int,
    progress: Progress,
    workshop: Path | None = None,
) -> None:
    """Builds each module `kmod/NAME` against `kernel` into `entries[NAME]/NAME.ko`, in `workshop`
    on top of what was built there against other kernels in the same place.

    All at once: most of such a build is one process after the other. `beside` is a directory for
    scratch files that no build under another lock uses.
    """
    scratch = scratch_directory(beside)
    with (
        at_work(workshop),
        progress.phase(f"compiling the modules {', '.join(entries)}"),
        ThreadPoolExecutor(cores()) as pool,
    ):
        builds = []
        for name, entry in entries.items():
            new = make_directory(scratch / name) / "new"
            copy = make_directory((workshop or scratch) / name) / "kmod"
            builds += [pool.submit(_build_module, entry, kmod / name, new, copy, kernel, lock)]
        for build in builds:
            build.result()
    shutil.rmtree(scratch, ignore_errors=True)


def copy_module_sources(sources: Path, copy: Path) -> None:
    """Copies what `kmod/NAME`, which is `sources`, is built from to `copy/NAME` and beside it."""
    kmod = sources.parent
    for path in {*module_sources(sources), *kmod.rglob("*.h")}:
        target = copy / path.relative_to(kmod)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _build_module(
    entry: Path, sources: Path, new: Path, copy: Path, kernel: KernelEntry, lock: int
) -> None:
    """Builds a module in `copy`, which gets its sources by way of `new`."""
    name = sources.name
    copy_module_sources(sources, new)
    lay_over(new, copy, removing=False)
    log = entry.parent / f"{name}.log"
    make_module(
        copy / name,
        kernel,
        [f"-fmacro-prefix-map={copy}/="],
        log=log,
        lock=lock,
        cause=f"an error in kmod/{name}: see the log above",
        remedy=f"correct kmod/{name}, then the same command again",
    )
    built = copy / name / f"{name}.ko"
    if not built.is_file():
        raise InfrastructureError(
            f"the build of kmod/{name} made no {name}.ko",
            cause=f"kmod/{name}/Kbuild has no line obj-m += {name}.o",
            remedy=f"less {log}",
        )
    _publish_files([built], entry)


def make_module(
    sources: Path,
    kernel: KernelEntry,
    flags: Sequence[str],
    variables: Sequence[str] = (),
    targets: Sequence[str] = ("modules",),
    *,
    log: Path,
    lock: int,
    cause: str,
    remedy: str,
) -> None:
    """Runs kbuild in the directory `sources`, which it fills with objects and modules.

    `flags` are words of a shell for the compiler, `variables` assignments for make; `targets` are
    files in the directory, if not all modules are wanted.
    """
    run_logged(
        [
            *("make", "-C", kernel.source, f"O={kernel.objects}"),
            *kernel.architecture.arguments,
            *(f"M={sources}", f"-j{cores()}", f"KCFLAGS={' '.join(flags)}"),
            # Takes effect where the variant sets CONFIG_UBSAN.
            "UBSAN_SANITIZE=y",
            *variables,
            *targets,
        ],
        env=clean_environment(_BUILD_STAMPS),
        log=log,
        lock=lock,
        cause=cause,
        remedy=remedy,
    )


def build_agent(
    entry: Path,
    agent: Path,
    lock: int,
    progress: Progress,
    architecture: Architecture = UML,
    further: Sequence[str] = (),
) -> None:
    """Builds `ffsagent` and each `ffsagent-NAME` into `entry`; `further` are arguments of make."""
    _build_program("ffsagent", "the agent", entry, agent, lock, progress, architecture, further)


def build_cutter(entry: Path, cutter: Path, lock: int, progress: Progress) -> None:
    """Builds the static program `ffscrash` into `entry`; it shares sources with the agent."""
    _build_program("ffscrash", "the cutter of power", entry, cutter, lock, progress)


def _build_program(
    name: str,
    title: str,
    entry: Path,
    sources: Path,
    lock: int,
    progress: Progress,
    architecture: Architecture = UML,
    further: Sequence[str] = (),
) -> None:
    """Builds the program `name` by the Makefile of the directory `sources`."""
    scratch = scratch_directory(entry.parent)
    cross = [f"CROSS_COMPILE={architecture.tools}"] if architecture.tools else []
    cross += further
    log = entry.parent / f"{sources.name}.log"
    with progress.phase(f"compiling {title}"):
        run_logged(
            ["make", "-C", sources, f"O={scratch}", f"-j{cores()}", *cross, "all"],
            env=clean_environment(),
            log=log,
            lock=lock,
            cause=f"an error in {sources.name}/: see the log above",
            remedy=f"correct {sources.name}/, then the same command again",
        )
        built = sorted(scratch.glob(f"{name}*"))
        if scratch / name not in built:
            raise InfrastructureError(
                f"the build of {sources.name}/ made no {name}",
                cause="its Makefile does not honour O=DIRECTORY",
                remedy=f"less {log}",
            )
        _publish_files(built, entry)
    shutil.rmtree(scratch, ignore_errors=True)


def _publish_files(built: Sequence[Path], entry: Path) -> None:
    """Makes `entry` a complete cache entry that holds these files; the first gives it a name."""
    pending = make_directory(entry.parent / f"tmp-{entry.name}")
    copies = [Path(shutil.copy2(file, pending)) for file in built]
    write_stamp(pending, {"file": built[0].name}, copies)
    replace_directory(pending, entry)
