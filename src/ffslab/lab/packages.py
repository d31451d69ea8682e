"""The Debian packages that a lab needs: which are missing, and how to install them.

Nothing is installed that is there already, and the package lists are fetched only where
there are none or where they turn out to be stale. On another distribution the same programs
are looked for, and the user is told which ones to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.lab.commands import clean_environment, log_tail, run_logged
from ffslab.lab.progress import Progress

NO_INSTALL = "--no-install"  # of every verb; the environment says it to the programs behind
NO_INSTALL_VARIABLE = "FFSLAB_NO_INSTALL"
_APT_LISTS = Path("/var/lib/apt/lists")


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """A package, what it is for, and the file that shows it is there on any distribution."""

    name: str
    purpose: str
    witness: str


PYTHON_PACKAGES = (
    DebianPackage("python3-venv", "the Python environment", "ensurepip"),
    DebianPackage("ca-certificates", "downloads over HTTPS", "/etc/ssl/certs/ca-certificates.crt"),
)
BUILD_PACKAGES = (
    DebianPackage("gcc", "compiles the kernel, the modules and the agent", "gcc"),
    DebianPackage("libc6-dev", "the C library's headers", "/usr/include/stdio.h"),
    DebianPackage("make", "drives the builds", "make"),
    DebianPackage("musl-tools", "the C library of the agent", "musl-gcc"),
    DebianPackage("flex", "the kernel's configuration tool", "flex"),
    DebianPackage("bison", "the kernel's configuration tool", "bison"),
    DebianPackage("bc", "generates the kernel's time constants", "bc"),
    DebianPackage("patch", "applies kernel/patches", "patch"),
    DebianPackage("xz-utils", "unpacks the kernel source", "xz"),
)
TEST_PACKAGES = (
    DebianPackage("busybox", "lists, copies and deletes trees, as the agent does", "busybox"),
    DebianPackage("chromium", "opens the report in a browser", "chromium"),
    DebianPackage("fio", "the benchmark that micro-benchmarks are compared with", "fio"),
    DebianPackage("fonts-dejavu-core", "fonts for the browser", "/usr/share/fonts/truetype"),
    DebianPackage("git", "clones the checkout as a newcomer would", "git"),
    DebianPackage("postmark", "the benchmark that FFSMark is compared with", "postmark"),
    DebianPackage("procps", "looks for guests left behind", "pgrep"),
    DebianPackage(
        "zlib1g-dev", "packs and unpacks journals of LogFS that are fuzzed", "/usr/include/zlib.h"
    ),
)
# Ensured when code is to be compiled for ARM: `ffslab size --arch arm`, and its tests.
ARM_PACKAGES = (
    DebianPackage(
        "gcc-arm-linux-gnueabi", "compiles for ARM what is measured there", "arm-linux-gnueabi-gcc"
    ),
)
# Ensured when a lab for ARM is built.
ARM_LAB_PACKAGES = (
    *ARM_PACKAGES,
    DebianPackage(
        "libc6-dev-armel-cross",
        "the C library of the agent for ARM",
        "/usr/arm-linux-gnueabi/lib/libc.a",
    ),
)
# Ensured when the first image of a file system is built.
IMAGE_PACKAGES = (
    DebianPackage("mtd-utils", "builds images of JFFS2, UBIFS and UBI", "mkfs.ubifs"),
    DebianPackage("squashfs-tools", "builds images of SquashFS", "mksquashfs"),
    DebianPackage("erofs-utils", "builds images of EROFS", "mkfs.erofs"),
)


def without_no_install(words: Sequence[str]) -> list[str]:
    """The command line without --no-install, which the environment says from here on."""
    kept = [word for word in words if word != NO_INSTALL]
    if len(kept) < len(words):
        os.environ[NO_INSTALL_VARIABLE] = "1"
    return kept


def missing_packages(wanted: Sequence[DebianPackage]) -> list[DebianPackage]:
    """Those of `wanted` that are not installed."""
    if not is_debian():
        return [package for package in wanted if not _witness_exists(package.witness)]
    finished = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *(p.name for p in wanted)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # a Ctrl-C at the terminal is ffslab's alone
    )
    installed = {
        line.split()[0] for line in finished.stdout.splitlines() if line.endswith(" installed")
    }
    return [package for package in wanted if package.name not in installed]


_DPKG_INTERRUPTED = "dpkg was interrupted"


def is_debian() -> bool:
    """Whether packages can be asked for and installed the Debian way."""
    return all(shutil.which(tool, path="/usr/bin:/bin") for tool in ("dpkg-query", "apt-get"))


def _witness_exists(witness: str) -> bool:
    if witness.startswith("/"):
        return Path(witness).exists()
    if witness == "ensurepip":
        return (
            subprocess.run([sys.executable, "-c", "import ensurepip"], check=False).returncode == 0
        )
    return shutil.which(witness, path=clean_environment()["PATH"]) is not None


def install_command(packages: Sequence[DebianPackage]) -> str:
    """What a user would type as root to install `packages`."""
    names = " ".join(package.name for package in packages)
    return f"apt-get update && apt-get install --no-install-recommends {names}"


def ensure_packages(wanted: Sequence[DebianPackage], log: Path, progress: Progress) -> list[str]:
    """Installs what is missing of `wanted` and returns the names of what was installed.

    Raises InfrastructureError that names the packages if this user may not install them, if
    this is not Debian, or if apt fails.
    """
    missing = missing_packages(wanted)
    if not missing:
        return []
    names = [package.name for package in missing]
    if not is_debian():
        raise InfrastructureError(
            "programs are missing: " + ", ".join(f"{p.witness} ({p.purpose})" for p in missing),
            cause="this is not a Debian system, so ffslab does not install them itself",
            remedy=f"install your distribution's equivalents of Debian's {' '.join(names)}",
        )
    needed = ", ".join(f"{package.name} ({package.purpose})" for package in missing)
    prefix = root_prefix(f"Debian packages are missing: {needed}", missing)
    progress.note(f"Debian packages are missing: {needed}")
    progress.note(f"apt-get installs them now; {NO_INSTALL} refuses that")
    with progress.phase(f"installing Debian packages ({' '.join(names)})"):
        _apt_install(prefix, names, log)
    return names


def root_prefix(why: str, missing: Sequence[DebianPackage]) -> list[str]:
    """The words that give a command root's rights: none for root, else sudo.

    Raises InfrastructureError, which begins with `why`, if there is no way to get them.
    """
    if os.environ.get(NO_INSTALL_VARIABLE):
        raise InfrastructureError(
            why,
            cause=f"{NO_INSTALL} (or {NO_INSTALL_VARIABLE} in the environment) was given",
            remedy=f"as root: {install_command(missing)}",
        )
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo", path=clean_environment()["PATH"])
    if sudo is not None:
        # Without a terminal a password cannot be asked for: fail instead of hanging.
        ask = [] if sys.stdin.isatty() else ["-n"]
        if (
            ask
            and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode
        ):
            sudo = None
        else:
            return [sudo, *ask]
    raise InfrastructureError(
        why,
        cause="installing them needs root or sudo, and this user has neither",
        remedy=f"as root: {install_command(missing)}",
    )


def have_package_lists() -> bool:
    """Whether apt has fetched any list of packages."""
    try:
        return any("_Packages" in name for name in os.listdir(_APT_LISTS))  # noqa: PTH208
    except OSError:
        return False


def update_package_lists(prefix: Sequence[str], log: Path) -> None:
    """Fetches apt's lists; raises InfrastructureError if there are none afterwards."""
    cause = "no network, a proxy that is not set (http_proxy), or a broken apt source"
    remedy = "as root: apt-get update; then the same ffslab command again"
    run_logged([*prefix, *_apt("update")], log=log, cause=cause, remedy=remedy)
    # apt calls it a success when it could not reach any server.
    if not have_package_lists():
        raise InfrastructureError(
            f"apt-get update fetched no package list\n{log_tail(log, 8)}\n  full log: {log}",
            cause=cause,
            remedy=remedy,
        )


def _apt_install(prefix: list[str], names: list[str], log: Path) -> None:
    fresh = not have_package_lists()
    if fresh:
        update_package_lists(prefix, log)
    install = [*prefix, *_apt("install", "-y", "--no-install-recommends", *names)]
    cause = "no network, a proxy that is not set (http_proxy), or no disk space"
    remedy = f"as root: {' '.join(_apt('update'))}; then the same ffslab command again"
    try:
        run_logged(install, log=log, cause=cause, remedy=remedy)
    except InfrastructureError as error:
        if _DPKG_INTERRUPTED in error.message:
            raise InfrastructureError(
                error.message,
                cause="an earlier installation of packages was interrupted",
                remedy="as root: dpkg --configure -a; then the same ffslab command again",
            ) from error
        if fresh:
            raise
        # Lists that are some weeks old name files that the archive no longer has.
        update_package_lists(prefix, log)
        run_logged(install, log=log, cause=cause, remedy=remedy)


def _apt(*words: str) -> list[str]:
    quiet = ["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2"]
    return ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *quiet, *words]
