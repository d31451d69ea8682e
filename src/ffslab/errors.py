"""The errors that a user sees: what happened, the likely cause, the next command.

Everything that ffslab raises on purpose is a `FfslabError`; the command line
prints it and ends with its `exit_code`. Another exception that reaches the user
is a bug.
"""

from __future__ import annotations

import errno

EXIT_OK = 0
EXIT_FAILED = 1  # a case failed, or a regression was found
EXIT_USAGE = 2  # a wrong command line, study or catalog file
EXIT_INFRASTRUCTURE = 3  # the laboratory itself could not do its work
_SHOWN_LETTERS = 200


class FfslabError(Exception):
    """What happened (`message`), why it probably did (`cause`), what to do next (`remedy`)."""

    exit_code = EXIT_INFRASTRUCTURE

    def __init__(self, message: str, *, cause: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [self.message]
        if self.cause:
            lines.append(f"  likely cause: {self.cause}")
        if self.remedy:
            lines.append(f"  next: {self.remedy}")
        return "\n".join(lines)


class UsageError(FfslabError):
    """The command line asks for something that does not exist or makes no sense."""

    exit_code = EXIT_USAGE


class SpecError(UsageError):
    """A study or catalog file, or a value set over it, is wrong."""


class InfrastructureError(FfslabError):
    """The kernel, the disk, a tool or the host's rights stand in the way."""


class BuildError(InfrastructureError):
    """A step of a build ended by itself with an error: nothing half-made is left of it."""


def full(error: OSError) -> bool:
    """Whether a disk or a user's share of it is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def explained(error: OSError) -> FfslabError | None:
    """An error of the operating system that is no bug wherever it comes from; None for others."""
    name = str(error.filename or "")
    if error.errno == errno.ENAMETOOLONG:
        shown = name if len(name) <= _SHOWN_LETTERS else f"{name[:_SHOWN_LETTERS]}…"
        return UsageError(
            f"a name or a path is too long: {shown}",
            cause="a name may have 255 bytes and a path 4,095, on some file systems less",
            remedy="shorter names of studies, parts and states, or a directory with a shorter path",
        )
    if full(error):
        return InfrastructureError(
            f"cannot write {name}: {error.strerror}",
            cause="the disk is full (df)",
            remedy="free some space there, and repeat the command",
        )
    return None


class GuestLostError(InfrastructureError):
    """The host ended a guest, or has no room for it: its case has no result."""


class MissingExtraError(InfrastructureError):
    """A part of ffslab that is installed on request only is wanted, and is not there."""


class DamagedResultError(InfrastructureError):
    """A file of a run directory is not what ffslab wrote there."""
