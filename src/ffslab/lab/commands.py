"""Runs the build's external programs in a clean environment, with a log.

The user's PATH may hold shims, wrappers and other compilers: a build that saw them would not be
the same on the next machine.
"""

from __future__ import annotations

import logging
import os
import pwd
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ffslab.errors import BuildError, InfrastructureError
from ffslab.process import command_line
from ffslab.program import program

_log = logging.getLogger("ffslab.lab")
_TAIL_LINES = 25

# Passed through, because without them a machine behind a proxy downloads nothing.
_NETWORK_VARIABLES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The system's programs, the C locale, and nothing else from the user's shell."""
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir,
        "LC_ALL": "C",
    }
    for name in _NETWORK_VARIABLES:
        for spelling in (name, name.upper()):
            if spelling in os.environ:
                environment[spelling] = os.environ[spelling]
    environment.update(extra or {})
    return environment


def run_logged(
    arguments: Sequence[str | Path],
    *,
    log: Path,
    cause: str,
    remedy: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    lock: int | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Runs a program to its end, appending the command and its output to `log`.

    `on_line` sees each line of output. The child inherits the descriptor `lock`. Raises
    InfrastructureError if the program is missing or was killed, BuildError if it fails, with the
    log's tail and path.
    """
    environment = clean_environment() if env is None else env
    shown = command_line(arguments, cwd=cwd, env=environment)
    _log.info("$ %s", shown)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8", errors="replace") as stream:
        begin = stream.tell()
        stream.write(f"$ {shown}\n")
        stream.flush()
        try:
            status = _stream(
                arguments, environment, cwd, lock, lambda line: _both(line, stream.write, on_line)
            )
        except FileNotFoundError as error:
            raise InfrastructureError(
                f"cannot run {arguments[0]}: {error.strerror}",
                cause="a Debian package is missing",
                remedy=f"{program()} doctor",
            ) from error
    if status != 0:
        raise (BuildError if status > 0 else InfrastructureError)(
            f"exit status {status}: {' '.join(str(word) for word in arguments)}\n"
            f"{log_tail(log, begin=begin)}\n  full log: {log}",
            cause=cause,
            remedy=remedy or f"less {log}",
        )


def _both(line: str, write: Callable[[str], int], on_line: Callable[[str], None] | None) -> None:
    write(line)
    if on_line is not None:
        on_line(line)


def _stream(
    arguments: Sequence[str | Path],
    environment: Mapping[str, str],
    cwd: Path | None,
    lock: int | None,
    on_line: Callable[[str], None],
) -> int:
    child = subprocess.Popen(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=() if lock is None else (lock,),
    )
    try:
        assert child.stdout is not None
        for line in child.stdout:
            on_line(line)
        return child.wait()
    except BaseException:
        # Interrupted: make removes half-written targets when it is told to end.
        child.terminate()
        child.wait()
        raise


def log_tail(log: Path, lines: int = _TAIL_LINES, *, begin: int = 0) -> str:
    """Lines of a log, from an offset on, for an error message, indented: from a compiler's first
    error on, else the last.
    """
    text = log.read_bytes()[begin:].decode(errors="replace").splitlines()
    first = next((at for at, line in enumerate(text) if ": error: " in line), None)
    shown = text[-lines:] if first is None else text[first:][:lines]
    return "\n".join("    " + line for line in shown)
