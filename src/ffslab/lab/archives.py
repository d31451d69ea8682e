"""Where a kernel source is downloaded from: Debian's package, exact if possible, or kernel.org.

The exact version is asked of apt, which knows the user's mirror and proxy, then of Debian's own
addresses, so that another release of Debian, another distribution and an apt without the
security archive have the same kernel. What comes from an address is checked by SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.lab.cache import file_sha256
from ffslab.lab.commands import run_logged
from ffslab.lab.packages import have_package_lists, is_debian
from ffslab.lab.progress import Progress

VERSION = "6.1"  # of Linux, which a lab is built of unless a study or a tree names another one
_TIMEOUT_S = 60
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER_BYTES = 60
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that is the same at several addresses, the first to answer is taken."""

    version: str
    urls: tuple[str, ...]
    sha256: str

    @property
    def name(self) -> str:
        return self.urls[0].rpartition("/")[2]


_SECURITY = "http://deb.debian.org/debian-security"
_SNAPSHOT = "https://snapshot.debian.org/archive/debian-security/20261123T000000Z"
_POOL = "pool/updates/main/l/linux/linux-source-6.1_6.1.192-2_all.deb"
_DEBIAN = "http://deb.debian.org/debian"
_DEBIAN_SNAPSHOT = "https://snapshot.debian.org/archive/debian/20261128T000000Z"
_POOL_510 = "pool/updates/main/l/linux/linux-source-5.10_5.10.262-1_all.deb"
_POOL_612 = "pool/updates/main/l/linux-6.12/linux-source-6.12_6.12.117-1~deb12u1_all.deb"
_POOL_73 = "pool/main/l/linux/linux-source-7.3_7.3.4-1~bpo13+1_all.deb"
# The version that published results were made with; another one is taken when it is gone.
DEBIAN = Archive(
    version="6.1.192-2",
    urls=(f"{_SECURITY}/{_POOL}", f"{_SNAPSHOT}/{_POOL}"),
    sha256="ae95fe63d4c553f8d0e6c86cb1ab566f3894a43743eb19ab585cd97d82f26514",
)
# A release on kernel.org; the sum is from the signed list next to it, sha256sums.asc.
KERNEL_ORG = Archive(
    version="6.1.127",
    urls=("https://cdn.kernel.org/pub/linux/kernel/v6.x/linux-6.1.127.tar.xz",),
    sha256="18b0d41d1a7fbad56045cde0d7fc176bfb18361d29c9f07e57109bbf21bf7876",
)


# Further versions of Linux, each with a series of patches of its own, kernel/patches-VERSION.
FURTHER = {
    "5.10": Archive(
        version="5.10.262-1",
        urls=(f"{_SECURITY}/{_POOL_510}", f"{_SNAPSHOT}/{_POOL_510}"),
        sha256="4f01148344ca9e5c1c9743ab4a084cf61c437548f803443ccc044602278b52bc",
    ),
    "6.12": Archive(
        version="6.12.117-1~deb12u1",
        urls=(f"{_SECURITY}/{_POOL_612}", f"{_SNAPSHOT}/{_POOL_612}"),
        sha256="e849faf31ca3555757f3a8877cb01af92122f744f75d1f3102734651c4e14703",
    ),
    "7.3": Archive(
        version="7.3.4-1~bpo13+1",
        urls=(f"{_DEBIAN}/{_POOL_73}", f"{_DEBIAN_SNAPSHOT}/{_POOL_73}"),
        sha256="703e369ddd4cce971452f5a593ee55df3a5c10c83caf0fa0df039633ed181ee3",
    ),
}


def package_name(version: str = VERSION) -> str:
    """Debian's package with the source of a version of Linux, such as "6.1"."""
    return f"linux-source-{version}"


def debian_package(directory: Path, lock: int, progress: Progress, version: str = VERSION) -> Path:
    """Debian's kernel source package in `directory`: the exact one that is stated here, else what
    apt has.

    Raises InfrastructureError with what was tried.
    """
    name, stated = package_name(version), DEBIAN if version == VERSION else FURTHER[version]
    log = directory / "download.log"
    log.unlink(missing_ok=True)
    troubles: list[str] = []
    with progress.phase(f"downloading {name} (140 MB)"):
        apt = is_debian() and have_package_lists()
        if apt and apt_download([f"{name}={stated.version}"], log, lock, troubles):
            package = directory / stated.name
            if package.is_file() and file_sha256(package) == stated.sha256:
                return package
            troubles.append(f"apt-get download: {package} is missing, or not what it should be")
        try:
            return fetch(stated, directory, progress)
        except InfrastructureError as error:
            troubles.append(error.message)
        for leftover in directory.glob("*.deb"):
            leftover.unlink()
        if apt and apt_download([name], log, lock, troubles):
            newest = _newest(directory)
            progress.note(
                f"Debian has {name} {version_of(newest)}, not {stated.version}: results "
                "are comparable only with those of the same kernel"
            )
            return newest
    raise InfrastructureError("".join(f"\n    {trouble}" for trouble in troubles))


def version_of(package: Path) -> str:
    return package.name.split("_")[1]


def _newest(directory: Path) -> Path:
    return max(directory.glob("*.deb"), key=lambda path: path.stat().st_mtime_ns)


def apt_download(wanted: Sequence[str], log: Path, lock: int, troubles: list[str]) -> bool:
    """Has apt put these packages, NAME or NAME=VERSION, beside `log`; what went wrong is added.

    The caller holds the lock `lock`. One unknown version stops them all.
    """
    options = ["-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2"]
    try:
        run_logged(
            ["apt-get", *options, "download", *wanted],
            log=log,
            lock=lock,
            cwd=log.parent,
            cause="no network, or the archive has other versions",
        )
    except InfrastructureError:
        troubles.append(f"apt-get download: see {log}")
        return False
    return True


def fetch(archive: Archive, directory: Path, progress: Progress) -> Path:
    """Downloads and verifies; a file with another sum is removed, never used."""
    target = directory / archive.name
    troubles = []
    for url in archive.urls:
        try:
            download(url, archive.sha256, target, progress)
        except InfrastructureError as error:
            troubles.append(f"{url}: {error.message}")
        else:
            return target
    raise InfrastructureError("\n    ".join(troubles))


def download(url: str, sha256: str, target: Path, progress: Progress) -> None:
    """Puts what the address has into `target`, whole and with this sum, or not at all.

    Raises InfrastructureError, which does not name the address, if that cannot be.
    """
    # Loaded here: with TLS they take as long as all of ffslab's start for a small command.
    import http.client
    import urllib.request

    digest = hashlib.sha256()
    part = target.with_name(target.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer, part.open("wb") as file:
            total_mb = int(answer.headers.get("Content-Length", 0)) >> 20
            done_bytes = 0
            while block := answer.read(1 << 20):
                digest.update(block)
                file.write(block)
                done_bytes += len(block)
                progress.count(done_bytes >> 20, total_mb)
    except (OSError, http.client.HTTPException) as error:
        part.unlink(missing_ok=True)
        raise InfrastructureError(f"the download failed: {error}") from error
    if digest.hexdigest() != sha256:
        part.unlink()
        raise InfrastructureError(
            f"its SHA-256 is {digest.hexdigest()}, not {sha256}",
            cause="a damaged download, or a proxy that sends something else",
        )
    part.replace(target)


def data_member(package: Path) -> tuple[int, int]:
    """Where data.tar.* of a Debian package lies: offset and bytes in the ar archive it is.

    Raises ValueError if the file is no such archive.
    """
    with package.open("rb") as file:
        if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
            raise ValueError("not an ar archive")
        while len(header := file.read(_AR_HEADER_BYTES)) == _AR_HEADER_BYTES:
            size = int(header[48:58])
            if header.startswith(b"data.tar"):
                return file.tell(), size
            file.seek(size + size % 2, 1)
    raise ValueError("it has no member data.tar")


def extract_commands(package: Path, member: str) -> Sequence[Sequence[str]]:
    """A pipe that writes a file of a Debian package to its output, without dpkg."""
    try:
        offset, size = data_member(package)
        with package.open("rb") as file:
            file.seek(offset)
            unpack = "gzip" if file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC else "xz"
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"{package} is not a Debian package: {error}") from error
    return [
        # In this order neither ends before the other has written everything.
        ["head", "-c", str(offset + size), str(package)],
        ["tail", "-c", f"+{offset + 1}"],
        [unpack, "-dc"],
        ["tar", "-xOf", "-", member],
    ]
