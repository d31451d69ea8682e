"""The kernel source: a tree the user names, Debian's package, or kernel.org's tarball.

Each source is unpacked once, into `source/<id>/tree` of the cache, and never changed there. The
first one that was had stays the default: a lab does not change because an archive moved on;
`ffslab setup --force` asks again. What User-Mode Linux cannot use (drivers, other
architectures, documentation) is left in the archive, except for Kconfig files and
makefiles: that is a fifth of the bytes to write.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.lab.archives import (
    KERNEL_ORG,
    VERSION,
    debian_package,
    extract_commands,
    fetch,
    package_name,
    version_of,
)
from ffslab.lab.cache import (
    cache_root,
    has_no_hashes,
    hash_texts,
    is_sound,
    locked,
    make_directory,
    read_stamp,
    replace_directory,
    scratch_directory,
    set_aside_if_damaged,
    write_durably,
    write_stamp,
)
from ffslab.lab.commands import clean_environment
from ffslab.lab.patches import minor_version
from ffslab.lab.progress import Progress
from ffslab.program import program

SOURCE_VARIABLE = "FFSLAB_KERNEL_SOURCE"  # of the environment: as --kernel-source says it

_SOURCE_ID = re.compile(r"(debian|kernel\.org)-[\w.+~:-]+")
_FOREIGN_ARCHITECTURES = (
    *("alpha", "arc", "arm", "arm64", "csky", "hexagon", "ia64", "loongarch", "m68k"),
    *("microblaze", "mips", "nios2", "openrisc", "parisc", "powerpc", "riscv", "s390"),
    *("sh", "sparc", "xtensa"),
)
_FOREIGN_DRIVERS = (
    *("block", "clk", "comedi", "crypto", "dma", "gpu", "hid", "hwmon", "i2c", "iio"),
    *("infiniband", "media", "mfd", "misc", "mmc", "net", "phy", "pinctrl", "platform"),
    *("power", "regulator", "s390", "scsi", "soc", "spi", "staging", "usb", "video"),
)


# Of the drivers that User-Mode Linux does without: what another architecture boots with.
_BOOT_DRIVERS = ("clk",)
# What the network of a board in QEMU needs, of which no lab guest has any.
_NETWORK_FILES = (
    *(f"drivers/net/{name}.c" for name in ("loopback", "virtio_net", "net_failover")),
    "drivers/net/phy/mdio-boardinfo.*",
)


@dataclass(frozen=True, slots=True)
class KernelSource:
    """An unpacked tree, not to be written to; `id` names its origin and version, `version` is that
    of Linux, such as "6.1".
    """

    id: str
    tree: Path
    version: str = VERSION


def source_root() -> Path:
    return cache_root() / "source"


def default_source(version: str = VERSION) -> KernelSource | None:
    """The source that labs of a version of Linux are built from unless the user names a tree, if
    one was had yet.
    """
    try:
        source_id = _chosen(version).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    # A damaged one is as good as none; one that names another source has that downloaded.
    if not _SOURCE_ID.fullmatch(source_id):
        return None
    return KernelSource(source_id, source_root() / source_id / "tree", version)


def _chosen(version: str) -> Path:
    """The file that names the source of a version."""
    return source_root() / ("default" if version == VERSION else f"default-{version}")


def chosen_tree(option: Path | None) -> Path | None:
    """The tree that the user names: by --kernel-source, else by the environment.

    Every verb that needs the lab obeys both, so that none works with another kernel unnoticed.
    """
    if option is not None:
        return option
    named = os.environ.get(SOURCE_VARIABLE)
    return Path(named) if named else None


def named_source(directory: Path) -> KernelSource:
    """The identity of a tree that the user names; its files' names, sizes and times decide, or,
    where it is one of the cache, its entry's name.

    Raises UsageError if it is not a kernel tree.
    """
    tree = directory.resolve()
    if not ((tree / "Kbuild").is_file() and (tree / "arch" / "um").is_dir()):
        raise UsageError(
            f"{directory} is not a Linux kernel source",
            cause="it has no Kbuild file or no arch/um directory"
            if tree.is_dir()
            else "there is no such directory",
            remedy="name the top directory of an unpacked kernel, or leave --kernel-source out "
            f"and {SOURCE_VARIABLE} unset",
        )
    version = minor_version(tree)
    if tree.parent.parent == source_root().resolve() and is_sound(tree.parent):
        return KernelSource(tree.parent.name, tree, version)
    source_id = "tree-" + hash_texts([str(tree), *_listing(tree)])
    return KernelSource(source_id, source_root() / source_id / "tree", version)


def _listing(tree: Path) -> Iterator[str]:
    pending = [str(tree)]
    while pending:
        with os.scandir(pending.pop()) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
        for entry in entries:
            if entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            else:
                facts = entry.stat(follow_symlinks=False)
                yield f"{entry.path} {facts.st_size} {facts.st_mtime_ns}"


def ensure_source(
    progress: Progress,
    named: Path | None = None,
    *,
    fresh: bool = False,
    version: str = VERSION,
) -> KernelSource:
    """A complete source in the cache: the tree `named`, else the default, else a download.

    `fresh` downloads again. Raises InfrastructureError if no source can be had.
    """
    wanted = named_source(named) if named is not None else default_source(version)
    if wanted is not None and not fresh and is_sound(wanted.tree.parent):
        return wanted
    with locked(source_root() / "lock", progress) as lock:
        # Another process may have finished while this one waited.
        wanted = wanted if named is not None else default_source(version)
        if wanted is not None and not fresh and _sound_or_adopted(wanted.tree.parent):
            return wanted
        if named is not None and wanted is not None:
            return _copy_tree(named.resolve(), wanted, lock, progress)
        return _download(version, lock, progress)


def commit_tree(
    commit: str,
    unpack: Callable[[Path], None],
    progress: Progress,
    older: KernelSource | None = None,
) -> KernelSource:
    """The tree of a commit, in the cache; `unpack` makes a directory the tree.

    With the tree of an `older` one, which then is no more, only files that differ are written.
    """
    entry = source_root() / f"git-{commit}"
    with locked(source_root() / "lock", progress):
        if _sound_or_adopted(entry):
            return named_source(entry / "tree")
        scratch = scratch_directory(source_root())
        if older is not None:
            scratch.rmdir()
            older.tree.parent.rename(scratch)
        with progress.phase(f"unpacking commit {commit[:12]}"):
            unpack(make_directory(scratch / "tree"))
            return _publish(scratch, entry.name, f"commit {commit}")


def _sound_or_adopted(entry: Path) -> bool:
    """Whether the unpacked files are what they were. Those of an earlier version, which kept no
    hashes, are taken as they are: to fetch them again would need the network.
    """
    if has_no_hashes(entry):
        write_stamp(entry, read_stamp(entry), _files(entry / "tree"))
    return set_aside_if_damaged(entry)


def _files(tree: Path) -> Iterator[Path]:
    return (path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())


def _copy_tree(origin: Path, source: KernelSource, lock: int, progress: Progress) -> KernelSource:
    """Copies a user's tree without its history and build results: the original stays as it is."""
    scratch = scratch_directory(source_root())
    tree = make_directory(scratch / "tree")
    patterns = ("*.o", "*.a", "*.ko", ".*.cmd", "./.git", "./.config", "./vmlinux", "./linux")
    generated = ("./include/config", "./include/generated", "./arch/*/include/generated")
    excludes = [f"--exclude={pattern}" for pattern in (*patterns, *generated)]
    with progress.phase(f"copying the kernel source {origin}"):
        _pipeline(
            [
                ["tar", "--anchored", "--wildcards", *excludes, "-C", str(origin), "-cf", "-", "."],
                ["tar", "-C", str(tree), "-xf", "-"],
            ],
            lock,
        )
        return _publish(scratch, source.id, f"a copy of {origin}")


def _download(version: str, lock: int, progress: Progress) -> KernelSource:
    try:
        source = _from_debian(version, lock, progress)
    except InfrastructureError as debian_error:
        if version != VERSION:
            raise
        progress.note(f"no {package_name()} from Debian, trying kernel.org")
        try:
            source = _from_kernel_org(lock, progress)
        except InfrastructureError as tarball_error:
            raise InfrastructureError(
                "no kernel source could be obtained\n"
                f"  Debian's {package_name()}: {debian_error.message}\n"
                f"  kernel.org: {tarball_error.message}",
                cause="no network, or a proxy that is not set (http_proxy, https_proxy)",
                remedy="the same command again once the network is there, or "
                "--kernel-source DIR with an unpacked Linux 6.1",
            ) from tarball_error
    write_durably(_chosen(version), source.id + "\n")
    return source


def _from_debian(linux: str, lock: int, progress: Progress) -> KernelSource:
    downloads, name = make_directory(source_root() / "download"), package_name(linux)
    package = debian_package(downloads, lock, progress, linux)
    version = version_of(package)
    scratch = scratch_directory(source_root())
    with progress.phase(f"unpacking {name} {version}"):
        commands = [
            *extract_commands(package, f"./usr/src/{name}.tar.xz"),
            *_unpack_commands(make_directory(scratch / "tree"), name),
        ]
        _pipeline(commands, lock)
        source = _publish(scratch, f"debian-{version}", f"Debian's {name} {version}", linux)
    package.unlink()
    return source


def _from_kernel_org(lock: int, progress: Progress) -> KernelSource:
    downloads = make_directory(source_root() / "download")
    with progress.phase(f"downloading {KERNEL_ORG.name}"):
        archive = fetch(KERNEL_ORG, downloads, progress)
    scratch = scratch_directory(source_root())
    with progress.phase(f"unpacking {archive.name}"):
        top = archive.name.removesuffix(".tar.xz")
        commands = _unpack_commands(make_directory(scratch / "tree"), top)
        _pipeline([["cat", str(archive)], *commands], lock)
        source = _publish(scratch, f"kernel.org-{KERNEL_ORG.version}", KERNEL_ORG.urls[0])
    archive.unlink()
    return source


def ensure_architecture(source: KernelSource, name: str, progress: Progress) -> tuple[Path, ...]:
    """The trees that, laid over each other, are the source with the files of an architecture.

    Those that a download left in the archive are fetched from the same archive again. A tree that
    a user named has them. Raises InfrastructureError if they cannot be had.
    """
    wanted = [f"arch/{name}/*", *(f"drivers/{driver}/*" for driver in _BOOT_DRIVERS)]
    probe = Path("arch") / name / "kernel" / "asm-offsets.c"
    return (source.tree, *_further(source, f"{name}-boot", probe, wanted, progress))


def ensure_network(source: KernelSource, progress: Progress) -> tuple[Path, ...]:
    """The tree of what a network needs beside the source, likewise; none if the source has it."""
    probe = Path("drivers/net/loopback.c")
    return _further(source, "net", probe, _NETWORK_FILES, progress)


def _further(
    source: KernelSource, name: str, probe: Path, wanted: Sequence[str], progress: Progress
) -> tuple[Path, ...]:
    """A tree of the files `wanted` of a source; none if that has `probe`, one of them."""
    if (source.tree / probe).is_file():
        return ()
    further = source_root() / f"{source.id}-{name}"
    with locked(source_root() / "lock", progress) as lock:
        if not _sound_or_adopted(further):
            _download_further(source, name, wanted, further, lock, progress)
    return (further / "tree",)


def _download_further(
    source: KernelSource,
    name: str,
    wanted: Sequence[str],
    final: Path,
    lock: int,
    progress: Progress,
) -> None:
    downloads = make_directory(source_root() / "download")
    origin, _, version = source.id.partition("-")
    if origin == "debian":
        linux = ".".join(version.split(".")[:2])
        archive = debian_package(downloads, lock, progress, linux)
        obtained, top = version_of(archive), package_name(linux)
        unpacked = extract_commands(archive, f"./usr/src/{top}.tar.xz")
    elif source.id == f"kernel.org-{KERNEL_ORG.version}":
        with progress.phase(f"downloading {KERNEL_ORG.name}"):
            archive = fetch(KERNEL_ORG, downloads, progress)
        obtained, top = version, archive.name.removesuffix(".tar.xz")
        unpacked = [["cat", str(archive)]]
    else:
        raise InfrastructureError(
            f"the kernel source {source.id} has no files for {name}",
            cause="it was copied from a tree without them",
            remedy="--kernel-source DIR with a whole Linux 6.1",
        )
    if obtained != version:
        archive.unlink()
        raise InfrastructureError(
            f"the files for {name} of kernel source {version} cannot be fetched, "
            f"those of {obtained} can",
            cause="the archive has moved on since the lab's source was fetched",
            remedy=f"{program()} setup --force, which builds the lab of {obtained}",
        )
    scratch = scratch_directory(source_root())
    with progress.phase(f"unpacking what {name} needs"):
        tree = make_directory(scratch / "tree")
        _pipeline([*unpacked, *_unpack_commands(tree, top, wanted)], lock)
        write_stamp(scratch, {"id": source.id, "further": name}, _files(tree))
        replace_directory(scratch, final)
    archive.unlink()


def _unpack_commands(tree: Path, top: str, wanted: Sequence[str] = ()) -> list[list[str]]:
    """Decompresses on all cores and extracts below `tree`; `top` is the archive's directory.

    Extracted are the files of the patterns `wanted`, or all that User-Mode Linux can use.
    """
    excludes = [] if wanted else [f"--exclude={top}/{pattern}" for pattern in unused_files()]
    extract = ["tar", "-C", str(tree), "--strip-components=1", "--anchored", "--wildcards"]
    names = [f"{top}/{pattern}" for pattern in wanted]
    return [["xz", "-dc", "-T0"], [*extract, *excludes, "-xf", "-", *names]]


def unused_files() -> list[str]:
    """Patterns (tar's, anchored) of files that no build of User-Mode Linux reads."""
    return [
        *(f"arch/{name}/*.[chSd]*" for name in _FOREIGN_ARCHITECTURES),
        *(f"drivers/{name}/*.[chS]" for name in _FOREIGN_DRIVERS),
        "sound/*.[chS]",
        *("tools/perf/*", "tools/testing/*", "tools/power/*"),
        *(f"Documentation/*.{suffix}" for suffix in ("rst", "yaml", "txt", "svg", "dot")),
        "Documentation/ABI/*",
    ]


def _pipeline(commands: Sequence[Sequence[str]], lock: int) -> None:
    """Runs the commands as a pipe; raises InfrastructureError if any of them fails."""
    children: list[subprocess.Popen[bytes]] = []
    upstream: int | None = subprocess.DEVNULL
    try:
        for position, command in enumerate(commands):
            last = position == len(commands) - 1
            child = subprocess.Popen(
                command,
                stdin=upstream,
                stdout=subprocess.DEVNULL if last else subprocess.PIPE,
                stderr=subprocess.PIPE if last else None,
                env=clean_environment(),
                pass_fds=(lock,),
            )
            if children and children[-1].stdout is not None:
                children[-1].stdout.close()
            children.append(child)
            upstream = child.stdout.fileno() if child.stdout is not None else None
        told = children[-1].communicate()[1].decode(errors="replace").strip()
        statuses = [child.wait() for child in children]
    except BaseException:
        for child in children:
            child.kill()
        raise
    if any(statuses):
        failed = next(c for c, status in zip(commands, statuses, strict=True) if status)
        detail = re.sub(r"\s+", " ", told)[-300:]
        raise InfrastructureError(
            f"unpacking failed: {failed[0]} ended with an error. {detail}",
            cause="no disk space, or a damaged download",
            remedy=f"df -h {source_root()}, then the same command again",
        )


def _publish(scratch: Path, source_id: str, origin: str, version: str = "") -> KernelSource:
    write_stamp(scratch, {"id": source_id, "origin": origin}, _files(scratch / "tree"))
    replace_directory(scratch, source_root() / source_id)
    tree = source_root() / source_id / "tree"
    return KernelSource(source_id, tree, version or minor_version(tree))
