"""`ffslab cuts`: every power cut in calls that the user wrote down, on some file systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ffslab.cli.made import made_choice, quoted, quoted_names
from ffslab.cli.parse import (
    PARTITION_BYTES,
    RESULTS,
    Catalogs,
    Jobs,
    KnownIn,
    Output,
    Scratch,
    Settings,
    parse_bytes,
)

_STUDY = """schema = 1
name = "calls"
title = "Every power cut in calls of one's own"
description = {description}

[base]
board = {board}
partition_bytes = {partition}

[base.workload]
kind = "cuts"
history = "calls"
calls = {calls}

[axes]
filesystem = {filesystems}
"""


def register(app: typer.Typer) -> None:
    """Adds the verb `cuts`."""

    @app.command("cuts")
    def cuts(
        calls: Annotated[
            Path,
            typer.Option(metavar="FILE", help="The calls, one a line: docs/power-cuts.md."),
        ],
        filesystems: Annotated[
            str,
            typer.Option("--fs", metavar="NAME", help="Which file system; several: jffs2,ubifs."),
        ] = "jffs2,ubifs,yaffs2,logfs",
        board: Annotated[
            str, typer.Option(metavar="NAME", help="A board of the catalog.")
        ] = "apf27",
        partition_bytes: Annotated[str, PARTITION_BYTES] = "8 MiB",
        settings: Settings = None,
        catalogs: Catalogs = None,
        jobs: Jobs = None,
        output: Output = RESULTS,
        scratch: Scratch = None,
        known: KnownIn = None,
    ) -> None:
        """Cut the power at every point of calls of your own.

        Exit code: 0 all states are correct, or known not to be; 1 some are not; 2 wrong usage.
        """
        from ffslab.cli.run import run_choice
        from ffslab.loader import read_text

        text = _STUDY.format(
            description=quoted(f"The calls of {calls.name}."),
            board=quoted(board),
            partition=parse_bytes("--partition-bytes", partition_bytes),
            calls=quoted(read_text(calls)),
            filesystems=quoted_names(filesystems),
        )
        choice = made_choice(text, "calls", str(calls), output, settings, catalogs)
        run_choice(choice, jobs=jobs, output=output, scratch=scratch, known=known)
