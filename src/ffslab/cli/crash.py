"""`ffslab crash`: repeats what power cuts have found, and makes it small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, RunsIn, Scratch
from ffslab.errors import EXIT_FAILED, EXIT_OK, UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory
    from ffslab.workloads.cuts.explore.replay import Where

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a finding, or its beginning.")]
Run = Annotated[str, typer.Option(help="A run: path, name or its beginning, or latest.")]
Timeout = Annotated[
    float, typer.Option(min=1, max=10**6, help="Wall-clock limit of a guest in seconds.")
]


def register(app: typer.Typer) -> None:
    """Adds the verb `crash` with its commands."""
    crash = typer.Typer(
        help="Repeat what a power cut did, or find the shortest way to it.",
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
        output: RunsIn = RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Repeat a finding alone, and show all that is known of it.

        Exit code: 1 it is there again; 0 it is not.
        """
        from ffslab.cli.crash_tables import print_replayed
        from ffslab.cli.screen import terminal
        from ffslab.workloads.cuts.explore.replay import replayed

        with _opened(finding, run, output, scratch, timeout) as where:
            again = replayed(where)
        print_replayed(terminal(), again)
        raise typer.Exit(EXIT_FAILED if again.is_there else EXIT_OK)

    @crash.command("minimize")
    def minimize(
        finding: Id,
        run: Run = "latest",
        output: RunsIn = RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Find a shorter history in which a cut of the same kind does the same harm."""
        from ffslab.workloads.cuts.explore.minimize import minimized

        def tell(text: str) -> None:
            typer.echo(text, err=True)

        with _opened(finding, run, output, scratch, timeout) as where:
            smaller = minimized(where, tell)
        typer.echo(smaller.text, nl=False)


@contextmanager
def _opened(
    wanted: str, run: str, output: Path, scratch: Path | None, limit_s: float
) -> Iterator[Where]:
    """A finding with guests to repeat it in."""
    from ffslab.campaign.again import opened_again
    from ffslab.results.rundir import find_run
    from ffslab.targets.target import SiteOptions
    from ffslab.workloads.cuts.explore.replay import Where
    from ffslab.workloads.cuts.stored import cuts_result

    found = find_run(run, output)
    case_id, finding_id = find_finding(found, wanted)
    with opened_again(found, case_id, SiteOptions(scratch), limit_s) as again:
        cuts = cuts_result(again.result)
        assert cuts is not None
        finding = next(one for one in cuts["findings"] if one["id"] == finding_id)
        yield Where(again.case, cuts, finding, again.directory, again.guests, again.room)


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
