"""The Python environment that the launcher makes: its name, what is in it, whether it still is.

Two manifests list its files, each with SHA-256, size and time of change: what ffslab needs to run,
and what the test tools added. A manifest is written last, so an environment without it is one that
was interrupted.

Reading half a gigabyte takes a second, so a start compares only sizes and times, and only of what
Python loads: some milliseconds. A file whose size or time differs is read. What no program wrote to
and the disk changed by itself is found by `damage_of_environment`, which reads everything: `doctor`
and `setup` do, and the command line if something of it fails to import.

Each start imports this: no dataclass, no pathlib, nothing that takes milliseconds.
"""

from __future__ import annotations

import hashlib
import os

TYPE_CHECKING = False  # That of `typing` takes longer than all the rest.
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

MANIFEST = "manifest"
TOOLS_MANIFEST = "manifest-tools"
_FORM = "ffslab environment 1"
_LOCKS = ("requirements.lock", "requirements-dev.lock")
# For compilers and type checkers; and the programs that install.
_NOT_LOADED = (".h", ".c", ".cc", ".pyi", ".pyx", ".pxd", ".pxi")
_INSTALLERS = ("pip", "setuptools", "pkg_resources")

Facts = tuple[str, int, int]  # SHA-256, size in bytes, time of change in nanoseconds.


def environment_of(cache: str, checkout: str, python: str) -> str:
    """The directory of the environment that a checkout needs with an interpreter."""
    digest = hashlib.sha256(f"{_FORM}\n{os.path.realpath(python)}\n".encode())
    for name in _LOCKS:
        with open(os.path.join(checkout, name), "rb") as file:
            digest.update(file.read())
    return os.path.join(cache, f"venv-{digest.hexdigest()[:16]}")


def manifests_for(words: Sequence[str]) -> tuple[str, ...]:
    """The manifests of what a command line needs."""
    tools = verb_of(words) == "test" and not {"-h", "--help"}.intersection(words)
    return (MANIFEST, TOOLS_MANIFEST) if tools else (MANIFEST,)


def verb_of(words: Sequence[str]) -> str:
    return next((word for word in words if not word.startswith("-")), "")


def is_as_made(environment: str, name: str) -> bool:
    """The check of each start: whether what a manifest says of the files to load is true.

    Facts of files that were copied or touched, and have the same contents, are noted anew.
    """
    try:
        text, others = _read_texts(environment, name)
        loaded = _parsed(text)
        touched = dict(_differing(environment, loaded))
        if not touched:
            return True
        if any(_digest(environment, path) != loaded[path][0] for path in touched):
            return False
    except (OSError, ValueError):
        return False
    renewed = {path: (loaded[path][0], *stamp) for path, stamp in touched.items()}
    try:
        _write(environment, name, {**loaded, **renewed}, _parsed(others))
    except OSError:
        return True  # A cache that may only be read.
    return True


def damage_of_environment(environment: str) -> str:
    """What is wrong, and in which file; empty if nothing is. Every file is read."""
    for name in (MANIFEST, TOOLS_MANIFEST):
        try:
            loaded, others = _read(environment, name)
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{name}: {error.strerror}"
        except ValueError as error:
            return f"{name}: {error}"
        for path, (sha256, size, _) in {**loaded, **others}.items():
            wrong = _damage_of_file(environment, path, sha256, size)
            if wrong:
                return f"{path}: {wrong}"
    return ""


def is_complete(environment: str, name: str = MANIFEST) -> bool:
    """Whether the environment was finished, for that manifest's purpose."""
    return os.path.lexists(os.path.join(environment, name))


def write_manifest(environment: str, name: str) -> None:
    """Marks an environment complete with what is there now, on the disk, and in no manifest."""
    listed = set(_listed(environment))
    parts: tuple[dict[str, Facts], dict[str, Facts]] = ({}, {})
    for path in sorted(set(_files(environment)) - listed):
        status = os.lstat(os.path.join(environment, path))
        facts = (_digest(environment, path), status.st_size, status.st_ctime_ns)
        parts[0 if _is_loaded(path) else 1][path] = facts
    _write(environment, name, *parts)


def run_in(environment: str, words: Sequence[str]) -> NoReturn:
    """Becomes the command line in an environment."""
    python = os.path.join(environment, "bin", "python")
    os.execv(python, [python, "-P", "-m", "ffslab", *words])


def _listed(environment: str) -> Iterator[str]:
    for name in (MANIFEST, TOOLS_MANIFEST):
        yield name
        if is_complete(environment, name):
            loaded, others = _read(environment, name)
            yield from (*loaded, *others)


def _files(environment: str) -> Iterator[str]:
    """All files and symbolic links, by their paths in the environment."""
    for directory, directories, files in os.walk(environment):
        links = (name for name in directories if os.path.islink(os.path.join(directory, name)))
        for name in (*links, *files):
            yield os.path.relpath(os.path.join(directory, name), environment)


def _is_loaded(path: str) -> bool:
    _, _, package = path.rpartition("site-packages/")
    installer = package.partition("/")[0].partition("-")[0] in _INSTALLERS
    return not installer and not path.endswith(_NOT_LOADED)


def _differing(environment: str, files: dict[str, Facts]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Size and time of those files that have others than were noted; OSError if one is missing."""
    look, top = os.lstat, environment + "/"
    for path, (_, size, changed_ns) in files.items():
        status = look(top + path)
        if status.st_size != size or status.st_ctime_ns != changed_ns:
            yield path, (status.st_size, status.st_ctime_ns)


def _damage_of_file(environment: str, path: str, sha256: str, size: int) -> str:
    try:
        if _digest(environment, path) == sha256:
            return ""
        actual = os.lstat(os.path.join(environment, path)).st_size
    except OSError as error:
        return error.strerror or str(error)
    return "its contents differ from what was installed" if actual or not size else "it is empty"


def _digest(environment: str, path: str) -> str:
    """Of a file's contents, or of what a symbolic link says."""
    full_path = os.path.join(environment, path)
    if os.path.islink(full_path):
        return hashlib.sha256(os.fsencode(os.readlink(full_path))).hexdigest()
    with open(full_path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# A manifest is lines of SHA-256, size, time and path: first a line with the SHA-256 of the rest,
# then what Python loads, an empty line, and the other files.


def _read(environment: str, name: str) -> tuple[dict[str, Facts], dict[str, Facts]]:
    loaded, others = _read_texts(environment, name)
    return _parsed(loaded), _parsed(others)


def _read_texts(environment: str, name: str) -> tuple[str, str]:
    """What Python loads, and the other files; ValueError if the manifest is damaged."""
    with open(os.path.join(environment, name), "rb") as file:
        head, _, rest = file.read().partition(b"\n")
    if head != f"{_FORM} {hashlib.sha256(rest).hexdigest()}".encode():
        raise ValueError("it is not what ffslab wrote")
    loaded, _, others = os.fsdecode(rest).partition("\n\n")
    return loaded, others


def _parsed(lines: str) -> dict[str, Facts]:
    rows = (line.split(" ", 3) for line in lines.split("\n") if line)
    return {path: (sha256, int(size), int(changed_ns)) for sha256, size, changed_ns, path in rows}


def _write(environment: str, name: str, loaded: dict[str, Facts], others: dict[str, Facts]) -> None:
    texts = (
        "\n".join(f"{sha256} {size} {ns} {path}" for path, (sha256, size, ns) in files.items())
        for files in (loaded, others)
    )
    rest = os.fsencode("\n\n".join(texts) + "\n")
    pending = os.path.join(environment, f"{name}.{os.getpid()}.new")
    with open(pending, "wb") as file:
        file.write(f"{_FORM} {hashlib.sha256(rest).hexdigest()}\n".encode() + rest)
        file.flush()
        os.fsync(file.fileno())
    os.rename(pending, os.path.join(environment, name))
