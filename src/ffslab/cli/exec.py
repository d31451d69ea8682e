"""`ffslab exec`: a program of the user's on some file systems, in virtual time."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from ffslab.cli.made import made_choice, quoted, quoted_names
from ffslab.cli.parse import (
    PARTITION_BYTES,
    RESULTS,
    TIMEOUT,
    Catalogs,
    Jobs,
    KernelSource,
    Output,
    Report,
    Scratch,
    Settings,
    parse_bytes,
)
from ffslab.errors import UsageError

_STUDY = """schema = 1
name = "exec"
title = {title}
description = {description}

[base]
board = {board}
partition_bytes = {partition}
seeds = [1]

[base.workload]
kind = "script"
command = {command}
files = {files}

[axes]
filesystem = {filesystems}
state = {states}
"""
_TITLE_LETTERS = 60


def register(app: typer.Typer) -> None:
    """Adds the verb `exec`."""

    # What follows the first word is the command's, options among it.
    @app.command("exec", context_settings={"allow_interspersed_args": False})
    def exec_(
        words: Annotated[
            list[str],
            typer.Argument(metavar="COMMAND", help="A program of this machine, and its arguments."),
        ],
        filesystems: Annotated[
            str,
            typer.Option("--fs", metavar="NAME", help="Which file system; several: jffs2,ubifs."),
        ] = "jffs2,ubifs,yaffs2",
        board: Annotated[
            str, typer.Option(metavar="NAME", help="A board of the catalog.")
        ] = "apf27",
        state: Annotated[
            str, typer.Option(metavar="NAME", help="What is on the flash before: free,aged.")
        ] = "free",
        partition_bytes: Annotated[str, PARTITION_BYTES] = "64 MiB",
        files: Annotated[
            list[Path] | None,
            typer.Option("--file", metavar="PATH", help="Put a file beside it; repeat."),
        ] = None,
        settings: Settings = None,
        catalogs: Catalogs = None,
        jobs: Jobs = None,
        output: Output = RESULTS,
        scratch: Scratch = None,
        kernel_source: KernelSource = None,
        timeout: Annotated[float | None, TIMEOUT] = None,
        report: Report = True,
    ) -> None:
        """Run a program on file systems, in virtual time.

        It runs in the top directory of the file system. Files of this machine that the
        command names by relative paths are put into the guest. What it computes costs
        nothing, what it asks of the kernel does.
        Exit code: 0 it ended with 0 everywhere; 1 it failed somewhere; 2 wrong usage.
        """
        from ffslab.cli.run import run_choice
        from ffslab.workloads.script.keys import PLACE

        _check_program(words[0])
        named = [path for path in map(Path, words) if not path.is_absolute() and path.is_file()]
        inside = [f"{PLACE}/{Path(word).name}" if Path(word) in named else word for word in words]
        command = shlex.join(words)
        text = _STUDY.format(
            title=quoted(f"What does it cost: {_shortened(command)}"),
            description=quoted(f"The command is: {command}"),
            board=quoted(board),
            partition=parse_bytes("--partition-bytes", partition_bytes),
            command=quoted(shlex.join(inside)),
            files=quoted(
                [str(path.absolute()) for path in dict.fromkeys((*named, *(files or ())))]
            ),
            filesystems=quoted_names(filesystems),
            states=quoted_names(state),
        )
        run_choice(
            made_choice(text, "exec", "exec", output, settings, catalogs),
            jobs=jobs,
            output=output,
            scratch=scratch,
            timeout_s=timeout,
            kernel_source=kernel_source,
            report=report,
        )


def _check_program(word: str) -> None:
    """UsageError if this machine has no such program: guests have those of the host."""
    if shutil.which(word) is None and not Path(word).is_file():
        raise UsageError(
            f"there is no program {word!r} on this machine",
            cause="a misspelt name, or it is not installed: guests have the programs of the host",
            remedy="install it, or name a file of yours by its path",
        )


def _shortened(command: str) -> str:
    return command if len(command) <= _TITLE_LETTERS else f"{command[: _TITLE_LETTERS - 1]}…"
