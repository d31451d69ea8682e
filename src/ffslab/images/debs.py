"""Debian packages by version and SHA-256: fetched, kept, and read without dpkg.

Kept in `tree/packages` of the cache. A file there is known by its SHA-256 and not by its name,
so one that was copied there by hand serves as well. What is missing is asked of apt, which knows
the user's mirror and proxy, then of the recipe's own addresses, so that other distributions
and an archive that has moved on are no obstacle.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.images.recipe import PackageFile
from ffslab.lab.archives import apt_download, data_member, download
from ffslab.lab.cache import make_directory
from ffslab.lab.packages import have_package_lists, is_debian
from ffslab.lab.progress import Progress, SilentProgress


def ensure_debs(
    packages: Sequence[PackageFile],
    mirrors: Sequence[str],
    directory: Path,
    lock: int,
    progress: Progress,
) -> dict[str, Path]:
    """The packages' files in `directory`, by package name; what is missing is downloaded.

    The caller holds the lock `lock`. Raises InfrastructureError that names the packages which
    cannot be obtained, and what was tried.
    """
    make_directory(directory)
    present = _found(packages, directory)
    missing = [package for package in packages if package.name not in present]
    if not missing:
        return present
    troubles: list[str] = []
    with progress.phase(f"downloading {len(missing)} Debian packages for a tree"):
        if is_debian() and have_package_lists():
            missing = _from_apt(missing, directory, lock, troubles)
        for done, package in enumerate(missing):
            progress.count(done, len(missing))
            if not _from_mirrors(package, mirrors, directory, troubles):
                raise _missing(package, len(missing) - done - 1, directory, troubles)
    return _found(packages, directory)


def _missing(
    package: PackageFile, others: int, directory: Path, troubles: list[str]
) -> InfrastructureError:
    more = f" and the {others} others that the recipe names" if others else ""
    told = "".join(f"\n  {trouble}" for trouble in troubles)
    return InfrastructureError(
        f"the Debian package {package.name} {package.version} cannot be obtained{told}",
        cause="no network, a proxy that is not set (http_proxy, https_proxy), or an archive "
        "that no longer has this version",
        remedy=f"the same command again once the network is there, or copy "
        f"{package.file.rpartition('/')[2]} (SHA-256 {package.sha256}){more} to {directory}",
    )


def _found(packages: Sequence[PackageFile], directory: Path) -> dict[str, Path]:
    by_sum = {_sha256(path): path for path in sorted(directory.glob("*.deb"))}
    return {p.name: by_sum[p.sha256] for p in packages if p.sha256 in by_sum}


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InfrastructureError(
            f"cannot read {path}: {error.strerror}", remedy=f"chmod a+r {path}, or remove it"
        ) from error


def _from_apt(
    missing: Sequence[PackageFile], directory: Path, lock: int, troubles: list[str]
) -> list[PackageFile]:
    """Asks apt for all at once; what it did not bring, since one unknown version stops it."""
    log = directory / "download.log"
    log.unlink(missing_ok=True)
    apt_download([f"{p.name}={p.version}" for p in missing], log, lock, troubles)
    present = _found(missing, directory)
    return [package for package in missing if package.name not in present]


def _from_mirrors(
    package: PackageFile, mirrors: Sequence[str], directory: Path, troubles: list[str]
) -> bool:
    target = directory / package.file.rpartition("/")[2]
    for mirror in mirrors:
        url = f"{mirror}/{package.file}"
        try:
            download(url, package.sha256, target, SilentProgress())
        except InfrastructureError as error:
            troubles.append(f"{url}: {error.message}")
        else:
            return True
    return False


def members(deb: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """What a package installs: header and contents of each member, in the package's order.

    Raises InfrastructureError if the file is not a package.
    """
    try:
        offset, size = data_member(deb)
        data = io.BytesIO(deb.read_bytes()[offset : offset + size])
        with tarfile.open(fileobj=data, mode="r:*") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() or member.islnk() else None
                yield member, file.read() if file is not None else b""
    except (OSError, ValueError, EOFError, tarfile.TarError, KeyError) as error:
        raise InfrastructureError(
            f"{deb} cannot be read as a Debian package: {error}", remedy=f"rm {deb}"
        ) from error
