"""`ffslab doctor`: what is there, what is missing, and the remedy."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import AsJson, Catalogs, print_json
from ffslab.errors import EXIT_INFRASTRUCTURE
from ffslab.program import program

if TYPE_CHECKING:
    from ffslab.doctor import Finding


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    variant: Annotated[
        str, typer.Option(help="Which lab kernel to look for, as in `ffslab setup`.")
    ] = "default",
    kernel_source: Annotated[
        Path | None,
        typer.Option(envvar="FFSLAB_KERNEL_SOURCE", help="A Linux 6.1 kernel source of your own."),
    ] = None,
    catalogs: Catalogs = None,
    as_json: AsJson = False,
) -> None:
    """Say what is there, what is missing and what to do.

    Exit code: 0 a set-up works or can work; 3 something is missing that ffslab cannot install.
    """
    from ffslab.doctor import examine, is_healthy

    findings = examine(variant, kernel_source, catalogs or ())
    healthy = is_healthy(findings)
    if as_json:
        rows = [asdict(finding) for finding in findings]
        print_json({"healthy": healthy, "findings": rows})
    else:
        _print(findings, healthy)
    if not healthy:
        raise typer.Exit(EXIT_INFRASTRUCTURE)


def _print(findings: list[Finding], healthy: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from ffslab.cli.screen import terminal
    from ffslab.cli.tables import print_unpadded
    from ffslab.doctor import State

    colours = {State.GOOD: "green", State.OPTIONAL: "dim", State.LATER: "yellow"}
    colours |= {State.DAMAGED: "red", State.BAD: "red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column()
    table.add_column(overflow="fold")
    for finding in findings:
        told = Text(finding.detail)
        if finding.remedy:
            told.append("\nnext:", "bold").append(f" {finding.remedy}")
        table.add_row(Text(finding.state.value, colours[finding.state]), finding.subject, told)
    console = terminal()
    print_unpadded(console, table)
    if not healthy:
        console.print("Something is missing that ffslab cannot install by itself: see above.")
    elif any(finding.state is State.DAMAGED for finding in findings):
        console.print(
            f"A part of the cache is damaged; the next set-up repairs it: {program()} setup"
        )
    elif any(finding.state is State.LATER for finding in findings):
        console.print(f"The next set-up installs what is missing: {program()} setup")
    else:
        console.print("The lab is complete.")
