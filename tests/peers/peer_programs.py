"""The programs of others that test file systems, as files for a script in a guest.

Crates come from crates.io by `cargo install`, integck from the sources of Debian's mtd-utils, the
others are Debian's packages, which a guest sees in /usr. What is built is kept in the cache.
Versions of crates are fixed here; those of Debian's packages are told with the results.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.lab.cache import cache_root
from ffslab.lab.packages import DebianPackage

PEER_PACKAGES = (
    DebianPackage("fio", "writes and reads back with checksums", "fio"),
    DebianPackage("stress-ng", "loads file systems by their single calls", "stress-ng"),
    DebianPackage("dpkg-dev", "unpacks the sources of mtd-utils", "dpkg-source"),
    DebianPackage("libacl1-dev", "pjdfstest is linked with it", "/usr/include/sys/acl.h"),
)
CRATES = {"fsx": "0.3.2", "pjdfstest": "0.2.2"}
_MTD_UTILS = "mtd-utils"
_SOURCES = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {url} {suite} main\n"
_URL, _SUITE = "http://deb.debian.org/debian", "bookworm"
_INTEGCK = ("tests/fs-tests/integrity/integck.c", "lib/libubi.c", "lib/common.c", "lib/libcrc32.c")
_DEFINES = ("-D_GNU_SOURCE", '-DPROGRAM_NAME="integck"', '-DVERSION="mtd-utils"')


def crate(name: str) -> Path:
    """The program of a crate, built if the cache does not have it."""
    place = cache_root() / "peers" / f"{name}-{CRATES[name]}"
    if not (place / "bin" / name).is_file():
        if shutil.which("cargo") is None:
            raise InfrastructureError(
                f"{name} cannot be built: there is no cargo",
                cause="Debian's Rust is too old for it, so it is no package of the tests",
                remedy="install Rust 1.85 or newer (rustup), then the same command again",
            )
        version = ("--version", f"={CRATES[name]}")
        strip = ("--config", "profile.release.strip=true")
        _run(["cargo", *strip, "install", "--locked", "--root", str(place), *version, name])
    return place / "bin" / name


def integck() -> Path:
    """mtd-utils' test of a file system's integrity, built if the cache does not have it."""
    place = cache_root() / "peers" / "integck"
    program = place / "integck"
    if not program.is_file():
        shutil.rmtree(place, ignore_errors=True)
        (place / "lists" / "partial").mkdir(parents=True)
        listed = place / "sources.list"
        listed.write_text(_SOURCES.format(url=_URL, suite=_SUITE))
        options = [
            *("-o", f"Dir::Etc::sourcelist={listed}", "-o", "Dir::Etc::sourceparts=/dev/null"),
            *("-o", f"Dir::State::lists={place / 'lists'}", "-o", "APT::Sandbox::User=root"),
        ]
        _run(["apt-get", "-q", *options, "update"])
        _run(["apt-get", "-q", *options, "source", _MTD_UTILS], place)
        (sources,) = (path for path in place.glob(f"{_MTD_UTILS}-*") if path.is_dir())
        built = [*_DEFINES, "-O2", "-w", "-Iinclude", *_INTEGCK, "-o", str(program)]
        _run(["gcc", *built], sources)
    return program


def debian_version(package: str) -> str:
    """The version of an installed package, as Debian calls it."""
    query = ["dpkg-query", "--show", "--showformat=${Version}", package]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout


def _run(command: Sequence[str], directory: Path | None = None) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InfrastructureError(
            f"{' '.join(command)}\n{done.stdout[-500:]}{done.stderr[-2000:]}",
            cause="no network, or a package is missing",
            remedy="the same command again once the network is there",
        )
