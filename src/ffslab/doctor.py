"""What `ffslab doctor` looks at: each condition says what is there and, if need be, the remedy.

The checks build and fetch nothing. A condition is *good*, *optional* (something that only some
uses need is not there), *later* (the first set-up will bring it), *damaged* (the next set-up
repairs it) or *bad* (nothing works until the user does something).
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ffslab.environment import damage_of_environment
from ffslab.errors import FfslabError
from ffslab.lab.build import compiler_version
from ffslab.lab.cache import (
    STAMP,
    cache_root,
    damage_of_all,
    has_no_hashes,
    is_complete,
    is_set_aside,
    is_sound,
)
from ffslab.lab.lab import known_source, plan_lab
from ffslab.lab.outoftree import check_names, with_hash
from ffslab.lab.packages import (
    BUILD_PACKAGES,
    IMAGE_PACKAGES,
    PYTHON_PACKAGES,
    DebianPackage,
    install_command,
    is_debian,
    missing_packages,
    root_prefix,
)
from ffslab.lab.source import KernelSource
from ffslab.model.specs import Filesystem, ModuleSource
from ffslab.model.units import format_size
from ffslab.paths import has_user_catalog
from ffslab.program import program
from ffslab.targets.registry import target_packages


@dataclass(frozen=True, slots=True)
class _Room:
    """Bytes that a place should have, and below which nothing works."""

    needed: int
    least: int


# A cold set-up leaves 1.5 GB in the cache; a default study's flash images need about as much.
_CACHE_ROOM = _Room(3 << 30, 3 << 29)
_CACHE_ROOM_LATER = _Room(1 << 30, 1 << 28)  # once the lab is there
# Of some guests at once with their flash; what has no room there goes to the disk.
_SHM_ROOM = _Room(1 << 30, 0)
# Where runs are written: a study's results, and its report.
_RESULTS_ROOM = _Room(1 << 28, 1 << 25)
_CONTENTS = "cache contents"
_CORE_DISTRIBUTIONS = ("duckdb", "jinja2", "msgspec", "pyarrow", "pydantic", "rich", "typer")
_REPORT_DISTRIBUTIONS = ("vl-convert-python",)
_OPTIONAL_PROGRAMS = (
    ("chromium", "shows and prints reports in the tests of their appearance", "chromium"),
    ("flash_erase", "flash tools to run inside the lab (mtd-utils)", "mtd-utils"),
    ("fio", "fio's own workloads inside the lab", "fio"),
    ("postmark", "the original benchmark, to compare ffsmark with", "postmark"),
)


class State(StrEnum):
    GOOD = "ok"
    OPTIONAL = "optional"
    LATER = "later"
    DAMAGED = "damaged"
    BAD = "missing"


@dataclass(frozen=True, slots=True)
class Condition:
    """The result of one check."""

    subject: str
    state: State
    detail: str
    remedy: str = ""


def examine(
    variant: str = "default",
    kernel_source: Path | None = None,
    catalogs: Sequence[Path] = (),
    *,
    no_environment: str = "",
) -> list[Condition]:
    """All checks in the order in which a set-up needs what they look at.

    `no_environment` says why this is the system's Python: the next set-up makes ffslab's. The
    out-of-tree modules of `catalogs` and of the user's own catalog are looked at too.
    """
    # The system's Python cannot read the user's own, and the shipped one has no such modules.
    reads_catalogs = bool(catalogs) or (not no_environment and has_user_catalog())
    checks: tuple[Callable[[], Iterator[Condition]], ...] = (
        _release,
        _packages,
        _compiler,
        _ptrace,
        _space,
        (lambda: _no_environment(no_environment)) if no_environment else _python,
        _cache_contents,
        lambda: _lab(variant, kernel_source),
        lambda: _out_of_tree(variant, kernel_source, catalogs) if reads_catalogs else iter(()),
        _sometimes_needed,
        _optional_programs,
    )
    return [condition for check in checks for condition in check()]


def _setup() -> str:
    return f"{program()} setup"


def is_healthy(conditions: list[Condition]) -> bool:
    """Whether a set-up can work, or has worked, on this machine."""
    return all(condition.state is not State.BAD for condition in conditions)


_TESTED_RELEASES = ("12", "13")


def _release() -> Iterator[Condition]:
    facts = _os_release(Path("/etc/os-release"))
    name = facts.get("PRETTY_NAME", "unknown")
    cores = len(os.sched_getaffinity(0))
    machine = os.uname().machine
    if machine == "x86_64":
        yield Condition("machine", State.GOOD, f"{machine}, {cores} cores")
    else:
        yield Condition(
            "machine", State.BAD, machine, "use an x86-64 host: User-Mode Linux needs one"
        )
    if facts.get("ID") == "debian" and facts.get("VERSION_ID") in _TESTED_RELEASES:
        yield Condition("system", State.GOOD, name)
    else:
        releases = " and ".join(_TESTED_RELEASES)
        detail = f"{name}; ffslab is tested on Debian {releases}"
        yield Condition("system", State.OPTIONAL, detail, "a Debian 12 container, if a build fails")


def _os_release(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key: value.strip('"') for key, _, value in pairs}


def _packages() -> Iterator[Condition]:
    wanted = (*PYTHON_PACKAGES, *BUILD_PACKAGES)
    missing = missing_packages(wanted)
    if not missing:
        yield Condition("packages", State.GOOD, f"all {len(wanted)} Debian packages are installed")
        return
    detail = "not installed: " + ", ".join(f"{p.name} ({p.purpose})" for p in missing)
    state = State.LATER if _may_install() else State.BAD
    remedy = _setup() if state is State.LATER else f"as root: {install_command(missing)}"
    yield Condition("packages", state, detail, remedy)


def _may_install() -> bool:
    if not is_debian():
        return False
    try:
        root_prefix("", ())
    except FfslabError:
        return False
    return True


def _compiler() -> Iterator[Condition]:
    version = compiler_version()
    if version != "none":
        yield Condition("compiler", State.GOOD, f"gcc {version}")
    else:
        yield Condition("compiler", State.LATER, "no gcc", _setup())


def _ptrace() -> Iterator[Condition]:
    """UML traces its children: Yama's levels 0 and 1 allow it, 2 allows it to root, 3 to nobody."""
    try:
        level = int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text(encoding="ascii"))
    except (OSError, ValueError):
        yield Condition("ptrace", State.GOOD, "not restricted")
        return
    if level <= 1 or (level == 2 and os.geteuid() == 0):
        yield Condition("ptrace", State.GOOD, f"permitted (yama level {level})")
    else:
        remedy = "as root: sysctl kernel.yama.ptrace_scope=1" + (
            " (level 3 needs a reboot)" if level == 3 else ""
        )
        yield Condition("ptrace", State.BAD, f"forbidden (yama level {level})", remedy)


def _space() -> Iterator[Condition]:
    root = cache_root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    if os.access(existing, os.W_OK):
        room = _CACHE_ROOM_LATER if (root / "agent").exists() else _CACHE_ROOM
        yield _space_condition("cache", existing, root, room, f"old builds: rm -r {root}")
    else:
        detail = f"{root} cannot be written to"
        yield Condition("cache", State.BAD, detail, "export XDG_CACHE_HOME=DIRECTORY of your own")
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        remedy = "as root: mount -o remount,size=2G /dev/shm (docker: --shm-size=2g)"
        yield _space_condition("guest memory", memory, memory, _SHM_ROOM, remedy)
    else:
        detail = "no /dev/shm to write to: guests have their RAM in files on the disk"
        remedy = "as root: mount -t tmpfs tmpfs /dev/shm"
        yield Condition("guest memory", State.OPTIONAL, detail, remedy)
    here = Path.cwd()
    yield _space_condition(
        "results",
        here,
        here,
        _RESULTS_ROOM,
        f"runs are removed by {program()} rm, or are written elsewhere with -o DIR",
    )


def _space_condition(
    subject: str, existing: Path, shown: Path, room: _Room, remedy: str
) -> Condition:
    free_bytes = shutil.disk_usage(existing).free
    detail = f"{shown}: {format_size(free_bytes)} free"
    if free_bytes >= room.needed:
        return Condition(subject, State.GOOD, detail)
    if free_bytes >= room.least:
        detail += f", {format_size(room.needed)} are recommended"
        return Condition(subject, State.OPTIONAL, detail, f"free some space there; {remedy}")
    detail += f", too little: {format_size(room.least)} are needed"
    return Condition(subject, State.BAD, detail, f"free some space there; {remedy}")


def _python() -> Iterator[Condition]:
    absent = [name for name in _CORE_DISTRIBUTIONS if not _is_installed(name)]
    if absent:
        detail = "not installed: " + ", ".join(absent)
        yield Condition("python packages", State.BAD, detail, f"{_setup()}, which installs them")
    else:
        yield Condition(
            "python packages", State.GOOD, f"all {len(_CORE_DISTRIBUTIONS)} of the core"
        )
    absent = [name for name in _REPORT_DISTRIBUTIONS if not _is_installed(name)]
    if absent:
        detail = "no reports: not installed: " + ", ".join(absent)
        yield Condition("report", State.OPTIONAL, detail, "pip install 'ffslab[report]'")
    else:
        yield Condition("report", State.GOOD, "charts and HTML reports")


def _no_environment(why: str) -> Iterator[Condition]:
    yield Condition("python packages", State.LATER, f"their environment {why}", _setup())


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def damaged_entries() -> Iterator[tuple[Path, str]]:
    """Every entry of the cache of which a file is not what it was, and what is wrong with it.

    All that the stamps list is read, wherever the entries are; Python environments come first.
    """
    for environment in sorted(cache_root().glob("venv-*")):
        wrong = "" if is_set_aside(environment) else damage_of_environment(str(environment))
        if wrong:
            yield environment, wrong
    from ffslab.campaign.state_store import damage_of_state, state_root

    states = state_root()
    stamps = {*cache_root().glob(f"*/*/{STAMP}"), *states.glob(f"*/{STAMP}")}
    for entry in sorted(stamp.parent for stamp in stamps):
        if is_set_aside(entry) or has_no_hashes(entry):
            continue
        wrong = damage_of_state(entry) if entry.parent == states else damage_of_all(entry)
        if wrong:
            yield entry, wrong


def _cache_contents() -> Iterator[Condition]:
    damaged = list(damaged_entries())
    for entry, wrong in damaged:
        remedy = f"{_setup()}, which moves it aside; what needs it makes it again"
        yield Condition(_CONTENTS, State.DAMAGED, f"{entry}: {wrong}", remedy)
    set_aside = sorted(
        path
        for pattern in ("*", "*/*")
        for path in cache_root().glob(pattern)
        if is_set_aside(path)
    )
    for aside in set_aside:
        detail = f"{aside} was damaged, and is kept to be looked at"
        yield Condition(_CONTENTS, State.OPTIONAL, detail, f"rm -r {aside}")
    if not damaged and not set_aside:
        yield Condition(_CONTENTS, State.GOOD, "every file is what was built")


def _lab(variant: str, kernel_source: Path | None) -> Iterator[Condition]:
    try:
        source = known_source(kernel_source, variant)
        if source is None:
            yield Condition("kernel source", State.LATER, "not fetched yet", _setup())
            return
        unpacked = "" if is_complete(source.tree.parent) else " (not in the cache)"
        yield Condition("kernel source", State.GOOD, f"{source.id}{unpacked}")
        plan = plan_lab(variant, source)
    except FfslabError as error:
        yield Condition("lab", State.BAD, error.message, error.remedy)
        return
    missing = plan.missing()
    entries = {
        "lab kernel": ("kernel", plan.kernel.binary),
        **{f"module {name}": (name, entry) for name, entry in plan.modules.items()},
        "agent": ("agent", plan.agent),
        "ffscrash": ("cutter", plan.cutter),
    }
    for subject, (part, path) in entries.items():
        if part in missing:
            yield Condition(subject, State.LATER, "not built for these sources yet", _setup())
        else:
            yield Condition(subject, State.GOOD, str(path))


def _out_of_tree(
    variant: str, kernel_source: Path | None, catalogs: Sequence[Path]
) -> Iterator[Condition]:
    """The file systems of the user's catalogs whose modules have sources of their own."""
    from ffslab.loader import load_catalog

    try:
        source = known_source(kernel_source, variant)
        filesystems = load_catalog(catalogs).filesystems.values()
    except FfslabError as error:
        yield Condition("catalog", State.BAD, error.message, error.remedy)
        return
    for filesystem in filesystems:
        if filesystem.module_source is not None:
            yield _out_of_tree_condition(filesystem, filesystem.module_source, variant, source)


def _out_of_tree_condition(
    filesystem: Filesystem, stated: ModuleSource, variant: str, source: KernelSource | None
) -> Condition:
    subject = f"module {', '.join(filesystem.modules)}"
    later = f"{_setup()} --variant {variant} --catalog DIR"
    try:
        identified = replace(filesystem, module_source=with_hash(filesystem.name, stated))
        if source is None:
            return Condition(subject, State.LATER, f"not built from {stated.directory} yet", later)
        (wanted,) = plan_lab(variant, source, [identified]).out_of_tree
        if not is_sound(wanted.entry):
            return Condition(subject, State.LATER, f"not built from {stated.directory} yet", later)
        check_names(wanted)
    except FfslabError as error:
        return Condition(subject, State.BAD, error.message, error.remedy)
    return Condition(subject, State.GOOD, f"{wanted.entry}, from {stated.directory}")


def _sometimes_needed() -> Iterator[Condition]:
    """What only some uses need; the first of them brings what is missing."""
    yield _group("image tools", IMAGE_PACKAGES)
    for target, packages in target_packages().items():
        yield _group(f"target {target}", packages)


def _group(subject: str, packages: Sequence[DebianPackage]) -> Condition:
    absent = missing_packages(packages)
    if not absent:
        return Condition(subject, State.GOOD, ", ".join(Path(p.witness).name for p in packages))
    detail = "not installed: " + ", ".join(f"{Path(p.witness).name} ({p.purpose})" for p in absent)
    if is_debian():
        return Condition(subject, State.OPTIONAL, detail, f"as root: {install_command(absent)}")
    names = " ".join(package.name for package in absent)
    remedy = f"install your distribution's equivalents of Debian's {names}"
    return Condition(subject, State.OPTIONAL, detail, remedy)


def _optional_programs() -> Iterator[Condition]:
    for name, purpose, package in _OPTIONAL_PROGRAMS:
        path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path is not None:
            yield Condition(name, State.GOOD, path)
        else:
            yield Condition(
                name, State.OPTIONAL, f"not installed: {purpose}", f"apt-get install {package}"
            )
