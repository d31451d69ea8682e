"""`ffslab doctor`: what is there, what is missing, and the remedy."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import AsJson, Catalogs, KernelSource, print_json
from ffslab.errors import EXIT_INFRASTRUCTURE
from ffslab.program import program

if TYPE_CHECKING:
    from ffslab.doctor import Condition


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    variant: Annotated[
        str, typer.Option(metavar="NAME", help="Which lab kernel: as in `ffslab setup`.")
    ] = "default",
    kernel_source: KernelSource = None,
    catalogs: Catalogs = None,
    as_json: AsJson = False,
) -> None:
    """Say what is there, what is missing and what to do.

    Exit code: 0 a set-up works or can work; 3 something is missing that ffslab cannot install.
    """
    from ffslab.doctor import examine, is_healthy

    conditions = examine(variant, kernel_source, catalogs or ())
    healthy = is_healthy(conditions)
    if as_json:
        rows = [asdict(condition) for condition in conditions]
        print_json({"healthy": healthy, "findings": rows})
    else:
        _print(conditions, healthy)
    if not healthy:
        raise typer.Exit(EXIT_INFRASTRUCTURE)


def _print(conditions: list[Condition], healthy: bool) -> None:
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
    for condition in conditions:
        told = Text(condition.detail)
        if condition.remedy:
            told.append("\nnext:", "bold").append(f" {condition.remedy}")
        table.add_row(
            Text(condition.state.value, colours[condition.state]), condition.subject, told
        )
    console = terminal()
    print_unpadded(console, table)
    if not healthy:
        console.print("Something is missing that ffslab cannot install by itself: see above.")
    elif any(condition.state is State.DAMAGED for condition in conditions):
        console.print(
            f"A part of the cache is damaged; the next set-up repairs it: {program()} setup"
        )
    elif any(condition.state is State.LATER for condition in conditions):
        console.print(f"The next set-up installs what is missing: {program()} setup")
    else:
        console.print("The lab is complete.")
