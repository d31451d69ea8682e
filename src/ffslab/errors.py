"""The errors that a user sees: what happened, the likely cause, the next command.

Everything that ffslab raises on purpose is a `FfslabError`; the command line
prints it and ends with its `exit_code`. Another exception that reaches the user
is a bug.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILED = 1  # a case failed, or a regression was found
EXIT_USAGE = 2  # a wrong command line, study or catalog file
EXIT_INFRASTRUCTURE = 3  # the laboratory itself could not do its work


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


class GuestLostError(InfrastructureError):
    """The host ended a guest, or has no room for it: its case has no result."""


class MissingExtraError(InfrastructureError):
    """A part of ffslab that is installed on request only is wanted, and is not there."""


class DamagedResultError(InfrastructureError):
    """A file of a run directory is not what ffslab wrote there."""
