"""`ffslab cuts`: every power cut in calls that the user wrote down, on some file systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

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
    parse_set,
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
        from ffslab.campaign.study import Choice
        from ffslab.cli.run import run_choice
        from ffslab.loader import StudySource, parse_toml, read_text
        from ffslab.model.canonical import sha256_hex

        text = _STUDY.format(
            description=_quoted(f"The calls of {calls.name}."),
            board=_quoted(board),
            partition=parse_bytes("--partition-bytes", partition_bytes),
            calls=_quoted(read_text(calls)),
            filesystems=_quoted([name.strip() for name in filesystems.split(",")]),
        )
        # Beside the runs; other calls are another file.
        path = output / f"calls-{sha256_hex(text)[:8]}.toml"
        made = StudySource(path, text, parse_toml(text, str(calls)), is_made=True)
        overrides = tuple(map(parse_set, settings or ()))
        choice = Choice(str(path), overrides, catalogs=tuple(catalogs or ()), made=made)
        run_choice(choice, jobs=jobs, output=output, scratch=scratch, known=known)


def _quoted(value: str | list[str]) -> str:
    """As TOML has it."""
    return json.dumps(value, ensure_ascii=False)
