"""Objects of file systems, and of what they need, compiled to be measured and not to be run.

Two architectures: `um`, the lab kernel's source, patches and options, without the hook in each
basic block that the CPU model needs (kernel/nocpu.config); and `arm`, the same source unpatched,
for the processor of a board (kernel/arm.config). kernel/size.config makes modules of what is to be
told apart. Only the directories of DIRECTORIES are compiled and nothing is linked: a minute or two
of two cores instead of a kernel. The tree stays as kbuild left it, so that a whole kernel can be
made of it by a fragment that has more options, and by more targets.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.lab.build import (
    ARM,
    UML,
    Architecture,
    KernelEntry,
    KernelInputs,
    compiler_version,
    configure,
    copy_module_sources,
    cores,
    make_kernel,
    make_module,
    module_sources,
    prepare_tree,
    step_counter,
)
from ffslab.lab.cache import (
    cache_root,
    damage_of_all,
    hash_files,
    hash_texts,
    is_sound,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.packages import ARM_PACKAGES, BUILD_PACKAGES, DebianPackage, ensure_packages
from ffslab.lab.patches import Series, read_series
from ffslab.lab.progress import Progress
from ffslab.lab.source import (
    KernelSource,
    chosen_tree,
    default_source,
    ensure_architecture,
    ensure_source,
    named_source,
)
from ffslab.paths import data_dir

# Part of every hash: raise it when the way of building changes the result.
_FORMAT = "1"
_EXPECTED_STEPS = 380
# Whatever a row of `ffslab.codesize.parts` may be made of.
DIRECTORIES = (
    *("fs/jffs2/", "fs/ubifs/", "fs/squashfs/", "fs/erofs/", "fs/overlayfs/", "fs/exportfs/"),
    *("fs/iomap/", "drivers/mtd/", "block/", "crypto/"),
    *("lib/zlib_inflate/", "lib/zlib_deflate/", "lib/lzo/", "lib/lz4/", "lib/zstd/", "lib/xz/"),
    *("lib/crc16.o", "lib/crc32.o", "lib/libcrc32c.o", "lib/xxhash.o"),
)
# File systems of ours: directories of kmod/.
OWN_MODULES = ("yaffs", "logfs")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the objects of an architecture are compiled; `title` is for readers of figures."""

    architecture: Architecture
    title: str
    fragments: tuple[str, ...]
    patches: tuple[str, ...] = ()  # directories of kernel/
    packages: tuple[DebianPackage, ...] = ()


RECIPES: Mapping[str, Recipe] = {
    "um": Recipe(
        UML,
        "lab kernel, x86-64, without the hooks of the CPU model",
        ("lab.config", "nocpu.config", "size.config"),
        ("patches",),
    ),
    "arm": Recipe(
        ARM,
        "ARMv5TE, ARM926EJ-S (i.MX27)",
        ("arm.config", "size.config"),
        packages=ARM_PACKAGES,
    ),
}


@dataclass(frozen=True, slots=True)
class Objects:
    """Compiled objects of an architecture.

    `tree` has those of the kernel at their paths in its source; `own` has the directories of our
    file systems. `id` is a hash of all inputs; `source` and `compiler` are named for readers.
    """

    recipe: Recipe
    tree: Path
    own: Mapping[str, Path]
    id: str
    source: str
    compiler: str


@dataclass(frozen=True, slots=True)
class _Plan:
    recipe: Recipe
    source: KernelSource
    inputs: KernelInputs
    compiler: str
    kernel: KernelEntry
    own: Mapping[str, Path]

    @property
    def complete(self) -> bool:
        return all(map(is_sound, (self.kernel.directory, *self.own.values())))

    @property
    def objects(self) -> Objects:
        entries = [self.kernel.directory, *self.own.values()]
        return Objects(
            recipe=self.recipe,
            tree=self.kernel.objects,
            own={name: entry / name for name, entry in self.own.items()},
            id=hash_texts([entry.name for entry in entries]),
            source=self.source.id,
            compiler=self.compiler,
        )


def ensure_objects(
    architecture: str, progress: Progress, *, kernel_source: Path | None = None
) -> Objects:
    """The objects of an architecture; what the cache does not have is compiled.

    Raises UsageError for an unknown architecture, InfrastructureError if packages (the compiler
    for ARM), the network, rights or disk space stand in the way or a build fails.
    """
    if architecture not in RECIPES:
        raise UsageError(
            f"there is no architecture {architecture!r}", remedy=f"one of: {', '.join(RECIPES)}"
        )
    recipe = RECIPES[architecture]
    named = chosen_tree(kernel_source)
    known = named_source(named) if named is not None else default_source()
    if known is not None and (plan := _plan(recipe, known)).complete:
        return plan.objects
    packages = (*BUILD_PACKAGES, *recipe.packages)
    ensure_packages(packages, cache_root() / "packages.log", progress)
    source = ensure_source(progress, named)
    with locked(cache_root() / "objects" / "lock", progress) as lock:
        plan = _plan(recipe, source)
        if not set_aside_if_damaged(plan.kernel.directory, damage_of_all):
            _build_kernel_objects(plan, lock, progress)
        for name, entry in plan.own.items():
            if not set_aside_if_damaged(entry):
                _build_own(name, entry, plan.kernel, lock, progress)
    return plan.objects


def _plan(recipe: Recipe, source: KernelSource) -> _Plan:
    directory, kmod = data_dir("kernel"), data_dir("kmod")
    fragments = tuple(directory / name for name in recipe.fragments)
    patches = tuple(path for name in recipe.patches for path in read_series(directory / name))
    texts = [
        part
        for path in (*fragments, *patches)
        for part in (path.name, path.read_text(encoding="utf-8"))
    ]
    compiler = compiler_version(recipe.architecture)
    key = hash_texts([_FORMAT, source.id, compiler, *DIRECTORIES, *texts])
    headers = hash_files(kmod, kmod.rglob("*.h"))
    root, name = cache_root() / "objects", recipe.architecture.name
    own = {
        own: hash_texts([key, headers, hash_files(kmod, module_sources(kmod / own))])
        for own in OWN_MODULES
    }
    return _Plan(
        recipe,
        source,
        KernelInputs(f"objects for {name}", fragments, Series(patches)),
        compiler,
        KernelEntry(root / f"{name}-{key}", recipe.architecture),
        {own: root / f"{name}-{own}-{hashed}" for own, hashed in own.items()},
    )


def _build_kernel_objects(plan: _Plan, lock: int, progress: Progress) -> None:
    entry, name = plan.kernel, plan.recipe.architecture.name
    trees: tuple[Path, ...] = (plan.source.tree,)
    if plan.recipe.architecture != UML:
        trees = ensure_architecture(plan.source, name, progress)
    make_directory(entry.directory)
    entry.log.unlink(missing_ok=True)
    prepare_tree(entry, trees, plan.inputs.series, progress)
    with progress.phase(f"configuring a kernel for {name}"):
        configure(entry, plan.inputs, lock)
    with progress.phase(f"compiling the objects to measure ({name})"):
        counter = step_counter(progress, _EXPECTED_STEPS)
        jobs = f"-j{cores() + 1}"
        make_kernel(entry, [jobs, "modules_prepare"], lock, on_line=counter)
        make_kernel(entry, [jobs, *DIRECTORIES], lock, on_line=counter)
    facts = {"source": plan.source.id, "compiler": plan.compiler}
    write_stamp(entry.directory, facts, entry.objects.rglob("*.o"), entry.for_builds())


def _build_own(name: str, entry: Path, kernel: KernelEntry, lock: int, progress: Progress) -> None:
    """Compiles kmod/NAME; the module is not linked with what a kernel would add."""
    scratch = scratch_directory(entry.parent)
    copy = scratch / "kmod"
    copy_module_sources(data_dir("kmod") / name, copy)
    with progress.phase(f"compiling kmod/{name} ({kernel.architecture.name})"):
        make_module(
            copy / name,
            kernel,
            [f"-fmacro-prefix-map={copy}/="],
            targets=[f"{name}.o"],
            log=entry.parent / f"{entry.name}.log",
            lock=lock,
            cause=f"an error in kmod/{name}: see the log above",
            remedy=f"correct kmod/{name}, then the same command again",
        )
    pending = make_directory(scratch / "entry")
    shutil.move(copy / name, pending / name)
    write_stamp(pending, {"module": name}, (pending / name).rglob("*.o"))
    replace_directory(pending, entry)
    shutil.rmtree(scratch, ignore_errors=True)
