"""`ffslab shell`: a shell inside the lab with a case's file system mounted at /mnt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ffslab.cli.parse import Catalogs, OneCase, Settings, parse_set


def register(app: typer.Typer) -> None:
    """Adds the verb `shell`."""

    @app.command("shell")
    def shell(
        study: Annotated[
            str, typer.Argument(metavar="STUDY", help="A study: with the case to mount.")
        ] = "quick",
        case: OneCase = None,
        settings: Settings = None,
        catalogs: Catalogs = None,
        program: Annotated[str, typer.Option(metavar="FILE", help="What to start.")] = "/bin/sh",
    ) -> None:
        """Open a shell in the lab.

        It has the host's programs, and the case's file system at /mnt: an empty one, or its image.
        Without a terminal it first reads all commands from standard input; ffslab then exits with
        the shell's status. It is not for measuring: its time is the host's.
        """
        from io import BytesIO

        from ffslab.campaign.images import built, image_jobs
        from ffslab.campaign.run import prepare
        from ffslab.lab.progress import ConsoleProgress
        from ffslab.targets.registry import shell_module, site_module
        from ffslab.targets.target import SiteOptions

        overrides = [parse_set(text) for text in settings or ()]
        prepared = prepare(study, overrides, [case] if case else [], catalogs=catalogs or ())
        chosen = prepared.cases[0]
        site = site_module().site_for([chosen], SiteOptions())
        progress = ConsoleProgress()
        image_job = image_jobs([chosen], site.lab_of_images, progress).get(chosen.id)
        image = built(image_job, progress) if image_job else None
        # On a terminal they are one; else the output is the shell's alone.
        typer.echo(
            f"{chosen.id}: {chosen.filesystem.name} at /mnt, the host's files read-only; "
            "leave with `exit`.\nNot for measuring: time here is the host's, not the model's.",
            err=True,
        )
        on_terminal = sys.stdin is not None and sys.stdin.isatty()
        commands = None if on_terminal else sys.stdin.buffer if sys.stdin else BytesIO()
        status = shell_module().run_shell(
            site, chosen, Path("/var/tmp"), program, image.path if image else None, commands
        )
        raise typer.Exit((0 if status == 0 else 3) if on_terminal else status)
