"""`ffslab crash`: repeats what power cuts and random operations have found, and makes it small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ffslab.cli.parse import A_RUN, RESULTS, TIMEOUT, Output, Scratch
from ffslab.errors import EXIT_FAILED, EXIT_OK, UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory
    from ffslab.targets.several import AgainPart, Found

Id = Annotated[
    str, typer.Argument(metavar="FINDING", help="The id of a finding, or its beginning.")
]
Run = Annotated[str, typer.Option(metavar="RUN", help=A_RUN)]
Timeout = Annotated[float, TIMEOUT]


def register(app: typer.Typer) -> None:
    """Adds the verb `crash` with its commands."""
    crash = typer.Typer(
        help="Repeat what a case found, or find the shortest way to it.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    _register(crash)
    app.add_typer(crash, name="crash")


def _register(crash: typer.Typer) -> None:
    @crash.command("replay")
    def replay(
        finding: Id,
        run: Run = "latest",
        output: Output = RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
        calls: Annotated[
            Path | None,
            typer.Option(metavar="FILE", help="The calls, one a line: of minimize."),
        ] = None,
    ) -> None:
        """Repeat a finding alone, and show all that is known of it.

        Exit code: 1 it is there again; 0 it is not.
        """
        from ffslab.cli.crash_tables import print_replayed
        from ffslab.cli.screen import terminal
        from ffslab.loader import read_text

        with _opened(finding, run, output, scratch, timeout) as (part, found):
            text = read_text(calls) if calls else None
            again = part.replayed(replace(found, calls=text))
        print_replayed(terminal(), again)
        raise typer.Exit(EXIT_FAILED if again.is_there else EXIT_OK)

    @crash.command("minimize")
    def minimize(
        finding: Id,
        run: Run = "latest",
        output: Output = RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Find a shorter history that does the same harm, of power cuts one of the same kind.

        Prints the calls that are left; replay --calls FILE makes them.
        """

        def tell(text: str) -> None:
            typer.echo(text, err=True)

        with _opened(finding, run, output, scratch, timeout) as (part, found):
            smaller = part.minimized(found, tell)
        typer.echo(smaller, nl=False)


@contextmanager
def _opened(
    wanted: str, run: str, output: Path, scratch: Path | None, limit_s: float
) -> Iterator[tuple[AgainPart, Found]]:
    """A finding with guests to repeat it in, and who repeats those of its workload."""
    from ffslab.campaign.again import opened_again
    from ffslab.results.rundir import find_run
    from ffslab.targets.several import AgainPart, Found
    from ffslab.targets.target import SiteOptions
    from ffslab.workloads.modules import again_module
    from ffslab.workloads.results import findings_of

    found = find_run(run, output)
    case_id, finding_id = find_finding(found, wanted)
    with opened_again(found, case_id, SiteOptions(scratch), limit_s) as again:
        part = again_module(again.case.workload.kind)
        assert part is not None  # it has findings
        finding = next(one for one in findings_of(again.result).values() if one["id"] == finding_id)
        room = (again.directory, again.guests, again.room)
        yield cast(AgainPart, part), Found(again.case, again.result, finding, *room)


def find_finding(run: RunDirectory, wanted: str) -> tuple[str, str]:
    """The case and the id of a finding; UsageError if there is none of that id, or several."""
    from ffslab.workloads.results import findings_of, results_of

    named = [
        (str(result["id"]), str(finding["id"]))
        for result in results_of(run)
        for finding in findings_of(result).values()
        if finding["id"].startswith(wanted)
    ]
    if len(named) != 1:
        raise UsageError(
            f"{run.path} has {'no finding' if not named else 'several findings'} {wanted!r}",
            cause="a mistyped id, or one of another run",
            remedy=command("show", run.path),
        )
    return named[0]
