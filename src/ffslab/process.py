"""The one place that starts an external program and waits for it.

Every command is logged in a form that can be pasted into a shell, directory and
environment included, before it runs: what failed can be repeated by hand.
"""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ffslab.errors import InfrastructureError
from ffslab.program import program

_log = logging.getLogger("ffslab.process")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended; `output` is its standard output and error, in order."""

    returncode: int
    output: str


def command_line(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """The command as one would type it; `env` is the whole environment if given."""
    words = [shlex.quote(str(argument)) for argument in arguments]
    if env is not None:
        words = ["env", "-i", *(shlex.quote(f"{k}={v}") for k, v in env.items()), *words]
    line = " ".join(words)
    return f"cd {shlex.quote(str(cwd))} && {line}" if cwd is not None else line


def run_command(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    extra_env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    log_file: Path | None = None,
    check: bool = True,
    input_file: Path | None = None,
    output_file: Path | None = None,
    own_session: bool = False,
) -> CommandResult:
    """Runs a program to its end and returns its exit status and output.

    `extra_env` is added to this process's environment. With `log_file` the
    command and its output are appended there too. `input_file` is its standard
    input; `output_file` gets its standard output, byte by byte, and then `output`
    is what it wrote as errors. A program in a session of its own is not ended by a
    Ctrl-C at the terminal. Raises InfrastructureError if
    the program is missing, exceeds `timeout_s`, or (with `check`) ends with a
    status other than 0.
    """
    shown = command_line(arguments, cwd=cwd)
    if extra_env:
        assignments = " ".join(f"{k}={shlex.quote(v)}" for k, v in extra_env.items())
        shown = f"{assignments} {shown}" if cwd is None else f"({assignments}; {shown})"
    if input_file is not None:
        shown += f" <{shlex.quote(str(input_file))}"
    if output_file is not None:
        shown += f" >{shlex.quote(str(output_file))}"
    _log.info("$ %s", shown)
    try:
        with ExitStack() as files:
            into = (
                subprocess.PIPE
                if output_file is None
                else files.enter_context(output_file.open("wb"))
            )
            finished = subprocess.run(
                [str(argument) for argument in arguments],
                cwd=cwd,
                env={**os.environ, **extra_env} if extra_env else None,
                stdin=subprocess.DEVNULL
                if input_file is None
                else files.enter_context(input_file.open("rb")),
                stdout=into,
                stderr=subprocess.STDOUT if output_file is None else subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                start_new_session=own_session,
            )
    except FileNotFoundError as error:
        raise InfrastructureError(
            f"cannot run {arguments[0]}: {error.strerror}",
            cause="the program is not installed, or the directory does not exist",
            remedy=f"{program()} doctor",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(
            f"the command did not end within {timeout_s} s: {shown}",
            cause="the command waits for something, or the host is overloaded",
            remedy=shown,
        ) from error
    output = finished.stdout if output_file is None else finished.stderr
    if log_file is not None:
        with log_file.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"$ {shown}\n{output}")
    if check and finished.returncode != 0:
        raise InfrastructureError(
            f"exit status {finished.returncode}: {shown}\n{_last_lines(output)}",
            cause="see the last lines of its output above",
            remedy=shown,
        )
    return CommandResult(finished.returncode, output)


def start_command(arguments: Sequence[str | Path], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own, which writes both its channels to `output`.

    Whoever starts it waits for it, or kills it. OSError if it cannot be started.
    """
    _log.info("$ %s", command_line(arguments))
    return subprocess.Popen(
        [str(argument) for argument in arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _last_lines(output: str, count: int = 15) -> str:
    return "\n".join("    " + line for line in output.splitlines()[-count:])
