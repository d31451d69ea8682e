"""Puts a lab together from the cache, and builds the parts that are not in it.

Every part is named after the hash of its inputs: the kernel after source, configuration,
patches and compiler; a module after the kernel and its own files; the agent after its own.
So a change in kmod/ rebuilds that module only, and a warm start reads a few hundred small files
and no more.

ffscrash is built with the rest, and is no part of what `build_id` names: no measured guest has it.
"""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab.errors import FfslabError, InfrastructureError, UsageError
from ffslab.lab.archives import FURTHER, VERSION
from ffslab.lab.build import (
    ARM,
    UML,
    Architecture,
    KernelEntry,
    KernelInputs,
    build_agent,
    build_cutter,
    build_kernel,
    build_modules,
    compiler_version,
    module_sources,
)
from ffslab.lab.cache import (
    built_identity,
    cache_root,
    damage_of_all,
    hash_files,
    hash_texts,
    is_sound,
    locked,
    read_stamp,
    set_aside_if_damaged,
)
from ffslab.lab.outoftree import (
    OutOfTreeModules,
    build_out_of_tree,
    check_names,
    plan_out_of_tree,
)
from ffslab.lab.packages import ARM_LAB_PACKAGES, BUILD_PACKAGES, ensure_packages
from ffslab.lab.patches import Series, minor_version, read_series, series_of
from ffslab.lab.progress import ConsoleProgress, Progress, SilentProgress
from ffslab.lab.source import (
    KernelSource,
    chosen_tree,
    default_source,
    ensure_architecture,
    ensure_network,
    ensure_source,
    named_source,
)
from ffslab.model.kernels import FLASH_TIME_ONLY, OF_FIXES
from ffslab.model.specs import variant_of_version, variant_on_board, version_and_kind
from ffslab.paths import data_dir

if TYPE_CHECKING:
    from ffslab.lab.lab_build import LabBuild
    from ffslab.model.specs import Filesystem, MountSetup

# The fragments of the kinds of kernels that cases run in, merged in order.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "default": ("lab.config",),
    "period": ("lab.config",),
    "fastmap": ("lab.config", "fastmap.config"),
    "ubi-wear": ("lab.config", "ubi-wear.config"),
    "sockets": ("lab.config", "sockets.config"),
    "fixed": ("lab.config",),
}
# Those of further versions of Linux: switches of the period kernel are patches of the usual one,
# and so are the fixes, which a few versions have besides.
_OF_VERSIONS: Mapping[str, tuple[str, ...]] = {
    variant_of_version(version, kind): fragments
    for version in FURTHER
    for kind, fragments in _KINDS.items()
    if kind != "period" and (kind != "fixed" or version in OF_FIXES)
}
# For boards without unaligned access, and for the others the same with one more.
_OF_CASES = {**_KINDS, **_OF_VERSIONS}
_DEBUG = ("lab.config", "debug.config")
# Those of all variants. What is not for cases has no unaligned access: `debug`, whose checkers see
# the accesses of plain code, `nocpu` and `price`.
VARIANTS: Mapping[str, tuple[str, ...]] = {
    **_OF_CASES,
    **{
        variant_on_board(name, unaligned=True): (*fragments, "unaligned.config")
        for name, fragments in _OF_CASES.items()
    },
    "debug": _DEBUG,
    **{variant_of_version(version, "debug"): _DEBUG for version in FURTHER},
    "nocpu": ("lab.config", "nocpu.config"),
    "price": ("lab.config", "price.config"),
    "qemu": ("lab.config", "qemu.config"),
    "qemu-period": ("lab.config", "qemu.config"),
    "qemu-fastmap": ("lab.config", "fastmap.config", "qemu.config"),
    "qemu-ubi-wear": ("lab.config", "ubi-wear.config", "qemu.config"),
    "qemu-sockets": ("lab.config", "sockets.config", "qemu.config"),
    "board": ("lab.config", "qemu.config", "board.config"),
}
# A fragment behind those of the variant, for what sources up to a version, or from one on, do not
# have or call otherwise.
_UP_TO: Mapping[str, str] = {"5.15": "linux-5.10.config"}
_FROM: Mapping[str, str] = {"7.3": "linux-7.3.config"}
# What is compiled for ARM; our patches for all are for User-Mode Linux alone.
_ARM_VARIANTS = ("qemu", "qemu-period", "qemu-fastmap", "qemu-ubi-wear", "qemu-sockets", "board")
_NETWORKED = ("sockets", "qemu-sockets", "board")  # kinds
# The explorer of power cuts has its chips in User-Mode Linux only.
_UML_MODULES = ("vnand_crash", "vnor_crash")
# What a variant shares with others of its architecture is compiled once (_workshops); these share
# little.
_ALONE = ("debug", "nocpu", "price")
# Further patch series of a kind, after that of all.
_FURTHER_SERIES: Mapping[str, str] = {
    "period": "period",
    "qemu-period": "period",
    "fixed": "fixes",
    "price": "price",
}
# Part of every hash: raise it when the way of building changes the result.
FORMAT = "2"
# What all labs share is built under the first, a kernel and its modules under one with this ending.
_PROGRAMS_LOCK = "lab.lock"
_KERNEL_LOCK = ".build.lock"
_PROGRAM_SUFFIXES = (".c", ".h", ".mk")


@dataclass(frozen=True, slots=True)
class LabPlan:
    """Where the parts of a lab are, or will be, in the cache."""

    kernel_key: str
    kernel: KernelEntry
    modules: Mapping[str, Path]
    agent: Path
    cutter: Path
    inputs_id: str
    out_of_tree: tuple[OutOfTreeModules, ...] = ()

    @property
    def entries(self) -> tuple[Path, ...]:
        """What measures, in the order of `build_id`."""
        return (self.kernel.directory, *self.modules.values(), self.agent)

    @property
    def parts(self) -> dict[str, Path]:
        """All entries by what messages call them."""
        parts = {"kernel": self.kernel.directory, **self.modules}
        parts |= {"agent": self.agent, "cutter": self.cutter}
        return parts | {wanted.title: wanted.entry for wanted in self.out_of_tree}

    def missing(self, sound: Callable[[Path], bool] = is_sound) -> list[str]:
        """The parts that are not built, or are damaged: every file is read."""
        return [name for name, entry in self.parts.items() if not sound(entry)]


def kernel_inputs(variant: str, linux: str = "") -> KernelInputs:
    """The fragments and patches of a variant, which is built of its own version of Linux or of
    `linux`; raises UsageError if there is no such variant.
    """
    if variant not in VARIANTS:
        raise UsageError(
            f"there is no lab kernel variant {variant!r}", remedy=f"one of: {', '.join(VARIANTS)}"
        )
    directory = data_dir("kernel")
    version = linux or linux_of(variant)
    made_for, release = nearest_series(version), _release(version)
    names = [
        *VARIANTS[variant],
        *(name for last, name in _UP_TO.items() if release <= _release(last)),
        *(name for first, name in _FROM.items() if release >= _release(first)),
    ]
    fragments = tuple(directory / name for name in names)
    _, kind = version_and_kind(variant)
    further = read_series(directory / _FURTHER_SERIES[kind]) if kind in _FURTHER_SERIES else []
    if architecture_of(variant) != UML:
        return KernelInputs(variant, fragments, Series(tuple(further), made_for))
    named = directory / ("patches" if made_for == VERSION else f"patches-{made_for}")
    return KernelInputs(variant, fragments, series_of(named, made_for, further))


def nearest_series(version: str) -> str:
    """The version of Linux whose patches a source of another version is tried with: the nearest,
    the lower one of two.
    """
    known = sorted((VERSION, *FURTHER), key=_release)
    return min(known, key=lambda each: abs(_release(each) - _release(version)))


def _release(version: str) -> int:
    """Releases since Linux 0, about ten weeks each: a major version has 20, 5.19 was before 6.0."""
    major, _, minor = version.partition(".")
    return 20 * int(major) + int(minor.partition(".")[0] or 0)


def linux_of(variant: str) -> str:
    """The version of Linux that a variant is built of, such as "6.1"."""
    version, _ = version_and_kind(variant)
    return version or VERSION


def architecture_of(variant: str) -> Architecture:
    """What the guests of a variant are compiled for."""
    return ARM if variant in _ARM_VARIANTS else UML


def module_names(kmod: Path, architecture: Architecture = UML) -> list[str]:
    """Our modules: every directory of kmod/ with a Kbuild file that the architecture can have."""
    names = sorted(kbuild.parent.name for kbuild in kmod.glob("*/Kbuild"))
    return [name for name in names if architecture == UML or name not in _UML_MODULES]


def plan_lab(
    variant: str, source: KernelSource, file_systems: Iterable[Filesystem | MountSetup] = ()
) -> LabPlan:
    """The cache entries of the lab that the checkout's files and `source` call for.

    `file_systems` add the modules of their own sources, whose hashes they hold.
    """
    inputs = kernel_inputs(variant, source.version)
    files = (*inputs.fragments, *inputs.series.patches)
    texts = [part for path in files for part in (path.name, path.read_text(encoding="utf-8"))]
    architecture = architecture_of(variant)
    compiler = compiler_version(architecture)
    kernel_key = hash_texts([FORMAT, source.id, compiler, *texts])
    kmod = data_dir("kmod")
    headers = hash_files(kmod, kmod.rglob("*.h"))
    module_keys = {
        name: hash_texts([kernel_key, headers, hash_files(kmod, module_sources(kmod / name))])
        for name in module_names(kmod, architecture)
    }
    agent_key = _program_key("agent", architecture)
    # Explorations are made in User-Mode Linux, whatever else there is.
    cutter_key = _program_key("cutter", UML)
    root = cache_root()
    return LabPlan(
        kernel_key=kernel_key,
        kernel=KernelEntry(root / "kernel" / f"{variant}-{kernel_key}", architecture),
        modules={name: root / "module" / f"{name}-{key}" for name, key in module_keys.items()},
        agent=root / "agent" / agent_key,
        cutter=root / "cutter" / cutter_key,
        inputs_id=hash_texts([kernel_key, *module_keys.values(), agent_key]),
        out_of_tree=plan_out_of_tree(file_systems, kernel_key, root),
    )


def _program_key(name: str, architecture: Architecture) -> str:
    # The compiler's version does not say what it compiles for.
    other = [] if architecture == UML else [architecture.name]
    compiler = compiler_version(architecture)
    return hash_texts([FORMAT, compiler, *other, hash_program(name)])


def hash_program(name: str) -> str:
    """What `guest/name` is built from: its own files, and those that the programs share."""
    guest = data_dir("guest")
    return hash_texts([_hash_sources(guest / name), _hash_sources(guest / "common")])


def _hash_sources(directory: Path) -> str:
    files = [path for path in directory.rglob("*") if path.suffix in _PROGRAM_SUFFIXES]
    return hash_files(directory, [*files, *directory.glob("Makefile")])


def known_source(named: Path | None, variant: str = "default") -> KernelSource | None:
    """The source a lab would be built from, without fetching anything."""
    named = _tree_of(variant, named)
    return default_source(linux_of(variant)) if named is None else named_source(named)


def _tree_of(variant: str, named: Path | None) -> Path | None:
    """The tree that the user names, unless the variant is of a further version of Linux, and the
    tree of another one.
    """
    if named is None or linux_of(variant) in (VERSION, minor_version(named)):
        return named
    return None


def ensure_lab(
    variant: str = "default",
    progress: Progress | None = None,
    *,
    kernel_source: Path | None = None,
    force: bool = False,
    file_systems: Iterable[Filesystem | MountSetup] = (),
    variants: Mapping[str, Iterable[Filesystem | MountSetup]] | None = None,
) -> LabBuild:
    """A complete lab; what the cache does not have, or has damaged, is built; `force` builds
    everything anew.

    `kernel_source` is a tree that the user names; None leaves it to the environment. The
    out-of-tree modules of `file_systems` become part of the lab, and labs of further `variants`,
    each with those of its file systems. Raises UsageError if tree or variant do not exist,
    InfrastructureError if packages, network, rights or disk space stand in the way or a build
    fails.
    """
    teller = progress if progress is not None else ConsoleProgress()
    kernel_source = chosen_tree(kernel_source)
    wanted = {variant: tuple(file_systems)}
    wanted |= {name: tuple(setups) for name, setups in (variants or {}).items()}
    labs = {
        name: _ensure_one(name, teller, kernel_source, force, setups)
        for name, setups in wanted.items()
    }
    return replace(labs.pop(variant), variants=labs)


def _ensure_one(
    variant: str,
    progress: Progress,
    kernel_source: Path | None,
    force: bool,
    setups: tuple[Filesystem | MountSetup, ...],
) -> LabBuild:
    kernel_inputs(variant)
    version, kernel_source = linux_of(variant), _tree_of(variant, kernel_source)
    source = known_source(kernel_source, variant)
    if source is not None and not force:
        plan = plan_lab(variant, source, setups)
        if not plan.missing():
            return _lab_build(plan)
    with locked(cache_root() / _PROGRAMS_LOCK, progress) as lock:
        further = () if architecture_of(variant) == UML else ARM_LAB_PACKAGES
        ensure_packages((*BUILD_PACKAGES, *further), cache_root() / "packages.log", progress)
        if force or source is None:
            source = ensure_source(progress, kernel_source, fresh=force, version=version)
        plan = plan_lab(variant, source, setups)
        if force:
            _remove(plan.agent, plan.cutter)
        _build_programs(plan, lock, progress)
    # Kernels that are compiled in different places do not wait for each other.
    with locked(cache_root() / _lock_of(variant, source), progress) as lock:
        if force:
            _invalidate(plan, variant, source)
        # Modules may have to be built, so all that they are built against is read.
        elif not set_aside_if_damaged(plan.kernel.directory, damage_of_all):
            # A source that built a kernel may have been removed from the cache.
            source = ensure_source(progress, kernel_source, version=version)
            plan = plan_lab(variant, source, setups)
        _build_missing(plan, source, variant, lock, progress)
    return _lab_build(plan)


def build_locks() -> list[Path]:
    """The locks of all builds of labs that there were so far."""
    root = cache_root()
    return [root / _PROGRAMS_LOCK, *sorted(root.glob(f"*{_KERNEL_LOCK}"))]


def _lock_of(variant: str, source: KernelSource) -> str:
    workshop, _ = _workshops(variant, source)
    return f"{workshop.name if workshop else variant}{_KERNEL_LOCK}"


def lab_identity() -> tuple[str, str] | None:
    """The `build_id` of the default lab and the id of its kernel's source; None before it is built.

    Nothing is built or fetched, and nothing of the cache is read but what names it.
    """
    try:
        source = known_source(None)
        plan = plan_lab("default", source) if source is not None else None
        if source is None or plan is None or plan.missing():
            return None
        return _lab_build(plan).build_id, source.id
    except (FfslabError, OSError):
        return None


def prefetch() -> int:
    """For the launcher, beside the Python environment: the default source, and the agent.

    Best effort and silent: the build that follows reports what goes wrong. The agent is here
    because it takes one core some seconds while the other is busy, the kernel would take both.
    """
    progress = SilentProgress()
    try:
        plan = plan_lab("default", ensure_source(progress))
        with locked(cache_root() / _PROGRAMS_LOCK, progress) as lock:
            if not set_aside_if_damaged(plan.agent):
                build_agent(plan.agent, data_dir("guest") / "agent", lock, progress)
    except (FfslabError, OSError):
        return 1
    return 0


def _invalidate(plan: LabPlan, variant: str, source: KernelSource) -> None:
    out_of_tree = (wanted.entry for wanted in plan.out_of_tree)
    workshops = filter(None, _workshops(variant, source))
    _remove(plan.kernel.directory, *plan.modules.values(), *out_of_tree, *workshops)


def _remove(*entries: Path) -> None:
    for entry in entries:
        shutil.rmtree(entry, ignore_errors=True)


def _build_programs(plan: LabPlan, lock: int, progress: Progress) -> None:
    guest = data_dir("guest")
    # The agent first: it takes two seconds, and an error in it shows at once.
    if not set_aside_if_damaged(plan.agent):
        build_agent(plan.agent, guest / "agent", lock, progress, plan.kernel.architecture)
    if not set_aside_if_damaged(plan.cutter):
        build_cutter(plan.cutter, guest / "cutter", lock, progress)


def _build_missing(
    plan: LabPlan, source: KernelSource, variant: str, lock: int, progress: Progress
) -> None:
    kernel = plan.kernel
    workshop, modules_workshop = _workshops(variant, source)
    if not set_aside_if_damaged(kernel.directory):
        architecture = plan.kernel.architecture
        trees = (
            (source.tree,)
            if architecture == UML
            else ensure_architecture(source, architecture.name, progress)
        )
        if version_and_kind(variant)[1] in _NETWORKED:
            trees += ensure_network(source, progress)
        inputs = kernel_inputs(variant, source.version)
        base = partial(_made_for, inputs.series.made_for, progress)
        kernel = build_kernel(plan.kernel, source, inputs, lock, progress, trees, workshop, base)
    modules = {
        name: entry for name, entry in plan.modules.items() if not set_aside_if_damaged(entry)
    }
    if modules:
        # Against the kernel in its workshop, as those of other variants were, while it is there.
        on_top = modules_workshop if kernel != plan.kernel else None
        build_modules(
            modules, data_dir("kmod"), kernel, plan.kernel.directory, lock, progress, on_top
        )
    for wanted in plan.out_of_tree:
        if not set_aside_if_damaged(wanted.entry):
            build_out_of_tree(wanted, plan.kernel, lock, progress)
    if plan.missing():
        raise InfrastructureError(
            f"not built: {', '.join(plan.missing())}",
            cause="a file of the checkout changed during the build",
            remedy="the same command again",
        )


def _made_for(version: str, progress: Progress) -> Path | None:
    """The source that patches of a version were made for; None if it cannot be fetched."""
    try:
        return ensure_source(progress, version=version).tree
    except InfrastructureError as error:
        progress.note(f"patches cannot be merged without Linux {version}: {error.message}")
        return None


def _workshops(variant: str, source: KernelSource) -> tuple[Path, Path] | tuple[None, None]:
    """Where the kernels of an architecture are compiled on top of each other, and their modules;
    nothing for one that is compiled alone.

    Among sources of modules are objects, so other names of files are another place.
    """
    if version_and_kind(variant)[1] in _ALONE:
        return None, None
    architecture, kmod = architecture_of(variant), data_dir("kmod")
    # Other trees of a version, such as one with a change, differ in few files.
    key = hash_texts([FORMAT, source.version, compiler_version(architecture)])
    sources = (module_sources(kmod / name) for name in module_names(kmod, architecture))
    files = {*kmod.rglob("*.h"), *itertools.chain.from_iterable(sources)}
    names = sorted(path.relative_to(kmod).as_posix() for path in files)
    top = cache_root() / "workshop"
    return (
        top / f"{architecture.name}-{key}",
        top / f"{architecture.name}-modules-{hash_texts([key, *names])}",
    )


def _lab_build(plan: LabPlan) -> LabBuild:
    from ffslab.lab.lab_build import LabBuild

    for wanted in plan.out_of_tree:
        check_names(wanted)
    ours = {name: entry / f"{name}.ko" for name, entry in plan.modules.items()}
    return LabBuild(
        kernel=plan.kernel.binary,
        modules={**plan.kernel.modules, **ours},
        agent=plan.agent / "ffsagent",
        cutter=plan.cutter / "ffscrash",
        build_id=hash_texts([plan.inputs_id, *map(built_identity, plan.entries)]),
        out_of_tree={wanted.source.key: wanted.built() for wanted in plan.out_of_tree},
        linux=_linux_words(read_stamp(plan.kernel.directory)),
    )


def _linux_words(stamp: Mapping[str, Any]) -> str:
    """What a kernel was built of; nothing for one that an earlier version of ffslab built."""
    if "linux" not in stamp:
        return ""
    patches = f"{'merged ' if stamp.get('merged') else ''}patches of {stamp['patches']}"
    left_out = "".join(f", without {name}" for name in stamp["left_out"])
    without = f", {FLASH_TIME_ONLY}" if stamp.get("flash_only") else left_out
    return f"{stamp['linux']} ({stamp['source']}), {patches}{without}"


if __name__ == "__main__":
    sys.exit(prefetch())
