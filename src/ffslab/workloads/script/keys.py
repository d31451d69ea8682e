"""The settings of a script or a command, and what is read of the disk for it.

A case is named by what its script and files hold, never by where they are: `Loaded` has their
contents, and its spec has their hash in place of their paths.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.workload import Form, GuestFile, Workload, key

PLACE = "/script"  # of script and files in the guest
_LATENCIES = "FFSLAB_LATENCIES"  # the variable with the file's name
_LARGEST = 8 * 2**20  # of all files together: they are in the guest's memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Workload):
    """A script, or a command of the host's programs, and what it needs; paths are relative to the
    study's file.
    """

    kind: str = key("script", "the workload")
    script: str = key("", "the script: a path relative to the study's file")
    command: str = key("", "a program and its arguments, instead of a script")
    files: tuple[str, ...] = key(
        (),
        "files and directories that are put beside it",
        form=Form(list[str] | tuple[str, ...], tuple),
    )
    arguments: str = key("", "the script's arguments, as a shell would read them")
    verify: bool = key(
        True,
        "the tree is read, before and after an unmount and a mount at the end",
        changes="setting",
    )

    @property
    def is_final(self) -> bool:
        """Not before the files were read."""
        return False

    @property
    def runs_programs(self) -> bool:
        """That is what it is for."""
        return True

    @property
    def has_latencies(self) -> bool:
        """Whether it writes those of its own operations: its command or a file of it names the
        variable.
        """
        held = any(_LATENCIES.encode() in file.data for file in self.guest_files)
        return _LATENCIES in self.command or held

    @property
    def told(self) -> Hashable:
        """What it is called by: contents are not known yet."""
        return (self.script, self.command, self.files, self.arguments, self.verify)

    def loaded(self, directory: Path) -> Workload:
        """The script with all contents; SpecError for what cannot be read, or cannot be run."""
        files: dict[str, bytes] = {}
        if self.script:
            main = _contents(directory / self.script, "script")
            _check_script(directory / self.script, main)
            files[Path(self.script).name] = main
        for name in self.files:
            for guest_path, contents in _files(directory, name):
                if files.setdefault(guest_path, contents) != contents:
                    raise SpecError(
                        f"two files would be {PLACE}/{guest_path} in the guest",
                        cause="files are put beside the script by their names",
                        remedy="rename one of them",
                    )
        size = sum(map(len, files.values()))
        if size > _LARGEST:
            raise SpecError(
                f"{self.script or 'the command'} and its files have {size:,} bytes, at most "
                f"{_LARGEST:,}",
                cause="they are in the memory of the guest, beside its caches",
                remedy='let the script make the data, or workload.kind = "tree" with an image',
            )
        listed = tuple(sorted(files.items()))
        return Loaded(
            script=self.script,
            command=self.command,
            files=self.files,
            arguments=self.arguments,
            verify=self.verify,
            contents=listed,
            sha256=_digest(Path(self.script).name, listed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Script):
    """A script with the contents of its files, by their paths below PLACE."""

    contents: tuple[tuple[str, bytes], ...] = ()
    sha256: str = ""

    @property
    def is_final(self) -> bool:
        """All that determines a result is known."""
        return True

    @property
    def spec(self) -> dict[str, Any]:
        """What it holds, not where it is."""
        asked = {"command": self.command} if self.command else {"arguments": self.arguments}
        spec = {"kind": self.kind, **asked, "sha256": self.sha256}
        return spec if self.verify else {**spec, "verify": False}

    @property
    def guest_files(self) -> tuple[GuestFile, ...]:
        """The script and its files."""
        return tuple(GuestFile(f"{PLACE}/{name}", data) for name, data in self.contents)

    def loaded(self, directory: Path) -> Workload:  # noqa: ARG002  (nothing is left to read)
        """As it is."""
        return self


def words_of(script: Script) -> tuple[str, ...]:
    """What runs in the guest: the command, or the script, by itself if it names its interpreter."""
    if script.command:
        return tuple(shlex.split(script.command))
    name = Path(script.script).name
    names_one = isinstance(script, Loaded) and dict(script.contents)[name].startswith(b"#!")
    start = (f"{PLACE}/{name}",) if names_one else ("/bin/sh", f"{PLACE}/{name}")
    return (*start, *shlex.split(script.arguments))


def _check_script(path: Path, main: bytes) -> None:
    if not main.strip():
        raise SpecError(
            f"the script {path} is empty", cause="an editor has not saved it", remedy="write it"
        )
    if b"\r\n" in main:
        raise SpecError(
            f"the script {path} has line ends of Windows (CR LF)",
            cause="a shell takes the CR for a part of each command",
            remedy=f"sed -i 's/\\r$//' {shlex.quote(str(path))}",
        )


def _files(directory: Path, name: str) -> list[tuple[str, bytes]]:
    """A file, or all of a directory, by their names in the guest."""
    top = directory / name
    if not top.is_dir():
        return [(top.name, _contents(top, "file"))]
    paths = sorted(path for path in top.rglob("*") if path.is_file())
    return [(str(path.relative_to(top.parent)), _contents(path, "file")) for path in paths]


def _contents(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(
            f"the workload's {what} {path} cannot be read: {error.strerror}",
            cause="a misspelt name; it is sought from the directory of the study's file",
            remedy=f"change workload.{'script' if what == 'script' else 'files'}",
        ) from error


def _digest(main: str, contents: tuple[tuple[str, bytes], ...]) -> str:
    """Of names below PLACE and contents, and which of them is the script."""
    digest = hashlib.sha256(main.encode() + b"\0")
    for name, data in contents:
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()
