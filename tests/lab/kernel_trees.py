"""Kernel trees of other versions, prepared so that a module can be compiled against them.

Debian's source packages, by address and SHA-256, kept in the cache beside the lab's own. No kernel
is built: `make modules_prepare` after a small configuration is all that a compiler needs. What no
module reads is left in the archive.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.lab.archives import FURTHER, fetch
from ffslab.lab.build import Architecture
from ffslab.lab.cache import (
    cache_root,
    hash_texts,
    is_complete,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    write_stamp,
)
from ffslab.lab.commands import clean_environment, run_logged
from ffslab.lab.packages import DebianPackage, ensure_packages
from ffslab.lab.progress import ConsoleProgress

ARM = Architecture("arm", "arm-linux-gnueabi-")
ARM64 = Architecture("arm64", "aarch64-linux-gnu-")
_COMPILERS = (
    DebianPackage("gcc-arm-linux-gnueabi", "compiles for ARM", "arm-linux-gnueabi-gcc"),
    DebianPackage("gcc-aarch64-linux-gnu", "compiles for ARM64", "aarch64-linux-gnu-gcc"),
)
_CONFIGURATION = """\
CONFIG_MODULES=y
CONFIG_MODULE_UNLOAD=y
CONFIG_SMP=y
CONFIG_PRINTK=y
CONFIG_BUG=y
CONFIG_MTD=y
CONFIG_PROC_FS=y
CONFIG_SYSFS=y
CONFIG_BLOCK=y
CONFIG_FTRACE=y
CONFIG_ENABLE_DEFAULT_TRACERS=y
CONFIG_MISC_FILESYSTEMS=y
CONFIG_JFFS2_FS=y
CONFIG_JFFS2_ZLIB=y
"""
_CONFIGURATION_ARM = """\
CONFIG_MMU=y
CONFIG_AEABI=y
CONFIG_ARCH_MULTIPLATFORM=y
CONFIG_ARCH_MULTI_V7=y
CONFIG_ARCH_VIRT=y
"""
# Nothing of it is compiled for a module; drivers/mtd and drivers/irqchip export what one wants.
_LEFT_OUT = (
    "sound/*.[chS]",
    "net/*.c",
    "Documentation/*.*",
    *("tools/testing/*", "tools/perf/*", "arch/*/boot/dts/*"),
    *(f"drivers/[!im]*/*.{suffix}" for suffix in "chS"),
    *(f"drivers/media/*.{suffix}" for suffix in "chS"),
)


@dataclass(frozen=True, slots=True)
class PreparedTree:
    """A kernel's sources, and a directory of objects that modules can be built against."""

    source: Path
    objects: Path


def prepared_tree(version: str, architecture: Architecture) -> PreparedTree:
    """The tree of a version, which is fetched and prepared if the cache does not have it."""
    archive = FURTHER[version]
    place = cache_root() / "test-tree" / archive.version
    configuration = _configuration(architecture)
    identity = hash_texts([configuration])
    objects = place.with_name(f"{archive.version}-{architecture.name}-{identity}")
    progress = ConsoleProgress()
    ensure_packages(_COMPILERS, cache_root() / "test-packages.log", progress)
    with locked(place.parent / "lock", progress) as lock:
        if not is_complete(place):
            package = fetch(archive, make_directory(place.parent), progress)
            scratch = scratch_directory(place.parent)
            _unpack(package, f"linux-source-{version}", make_directory(scratch / "tree"))
            write_stamp(scratch, {"version": archive.version})
            replace_directory(scratch, place)
            package.unlink()
        if not is_complete(objects):
            _prepare(place / "tree", make_directory(objects), architecture, configuration, lock)
            write_stamp(objects, {"version": archive.version})
    return PreparedTree(place / "tree", objects)


def _unpack(package: Path, top: str, tree: Path) -> None:
    excludes = [f"--exclude={top}/{pattern}" for pattern in _LEFT_OUT]
    words = ["tar", "-C", tree, "--strip-components=1", "--anchored", "--wildcards", *excludes]
    commands: list[Sequence[str | Path]] = [
        ["dpkg-deb", "--fsys-tarfile", package],
        ["tar", "-xOf", "-", f"./usr/src/{top}.tar.xz"],
        ["xz", "-dc", "-T0"],
        [*words, "-xf", "-"],
    ]
    running: list[subprocess.Popen[bytes]] = []
    for command in commands:
        upstream = running[-1].stdout if running else None
        running.append(subprocess.Popen(command, stdin=upstream, stdout=subprocess.PIPE))
        if upstream is not None:
            upstream.close()
    running[-1].communicate()
    assert [one.wait() for one in running] == [0] * len(commands)


def _configuration(architecture: Architecture) -> str:
    return _CONFIGURATION + (_CONFIGURATION_ARM if architecture == ARM else "")


def _prepare(
    tree: Path, objects: Path, architecture: Architecture, configuration: str, lock: int
) -> None:
    fragment = objects / "fragment"
    fragment.write_text(configuration, "utf-8")
    words = ["make", "-C", tree, f"O={objects}", *architecture.arguments]
    for goal in ([f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig"], ["-j2", "modules_prepare"]):
        run_logged(
            [*words, *goal],
            env=clean_environment(),
            log=objects / "prepare.log",
            lock=lock,
            cause="see the log above",
            remedy=f"rm -r {objects}, then the same command again",
        )


def exported_symbols(source: Path) -> frozenset[str]:
    """What any configuration of the kernel exports to modules."""
    pattern = r"EXPORT_(PER_CPU_)?SYMBOL(_GPL|_NOALIAS)?\(\w+"
    words = ["grep", "-rhoE", "--include=*.[chS]", pattern, "."]
    told = subprocess.run(words, cwd=source, capture_output=True, text=True, check=True).stdout
    # One macro exports the operations of each type of module parameters.
    parameters = re.findall(
        r"^STANDARD_PARAM_DEF\((\w+),", (source / "kernel/params.c").read_text("utf-8"), re.M
    )
    named = re.findall(r"\((\w+)$", told, re.M)
    return frozenset([*named, *(f"param_ops_{kind}" for kind in parameters)])
