"""`ffslab crash`: explores power cuts, repeats what was found, and makes it small."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import Catalogs
from ffslab.program import command, program

if TYPE_CHECKING:
    from rich.console import Console

    from ffslab.workloads.cuts.explore.case import Directory, Options

Output = Annotated[Path, typer.Option("--output", "-o", help="Where run directories go.")]
Scratch = Annotated[Path | None, typer.Option(help="Where guests keep their flash [/dev/shm].")]
Timeout = Annotated[
    float, typer.Option(min=1, max=10**6, help="Wall-clock limit of a guest in seconds.")
]
_RESULTS = Path("results")


def register(app: typer.Typer) -> None:
    """Adds the verb `crash` with its commands."""
    crash = typer.Typer(
        help="Explore power cuts: every cut, torn operations included.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    _register_run(crash)
    _register_rest(crash)
    app.add_typer(crash, name="crash")


def _register_run(crash: typer.Typer) -> None:
    @crash.command("run")
    def run(
        exploration: Annotated[
            str,
            typer.Argument(help="A shipped exploration, a TOML file, or with --resume a run."),
        ],
        catalogs: Catalogs = None,
        units: Annotated[
            list[str] | None, typer.Option("--unit", metavar="ID", help="Only this unit.")
        ] = None,
        jobs: Annotated[
            int | None,
            typer.Option("--jobs", "-j", min=1, max=1024, help="Guests at once [cores]."),
        ] = None,
        resume: Annotated[
            bool, typer.Option("--resume", help="Continue an interrupted run directory.")
        ] = False,
        keep: Annotated[bool, typer.Option("--keep", help="Keep what each guest wrote.")] = False,
        report: Annotated[bool, typer.Option(help="Write report.html at the end.")] = True,
        output: Output = _RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Cut the power everywhere in the workloads of an exploration, and report.

        Exit code: 0 all states are correct; 1 something was found; 2 wrong usage; 3 interrupted, or
        the lab itself failed.
        """
        from ffslab.campaign.run import usable_cpus
        from ffslab.cli.screen import terminal
        from ffslab.errors import EXIT_FAILED, EXIT_OK
        from ffslab.workloads.cuts.explore.case import Options

        cpus = usable_cpus()
        options = Options(jobs or len(cpus), timeout, cpus, keep)
        console = terminal()
        directory = _begun(exploration, tuple(catalogs or ()), tuple(units or ()), output, resume)
        found = _explore(console, directory, options, scratch, report)
        raise typer.Exit(EXIT_FAILED if found else EXIT_OK)


def _register_rest(crash: typer.Typer) -> None:
    @crash.command("list")
    def list_explorations() -> None:
        """List the shipped explorations."""
        from ffslab.workloads.cuts.kind import load_exploration, shipped

        for name in shipped():
            typer.echo(f"{name:16} {load_exploration(name).title}")

    @crash.command("show")
    def show(
        run: Annotated[str, typer.Argument(help="A run directory, or latest.")] = "latest",
        output: Output = _RESULTS,
    ) -> None:
        """Show the outcomes and findings of an exploration."""
        from ffslab.cli.crash_tables import print_units
        from ffslab.cli.screen import terminal
        from ffslab.workloads.cuts.explore.case import find_directory

        print_units(terminal(), list(find_directory(run, output).units()))

    @crash.command("report")
    def report(
        run: Annotated[str, typer.Argument(help="A run directory, or latest.")] = "latest",
        destination: Annotated[
            Path | None, typer.Option("--to", help="The file [report.html in the run].")
        ] = None,
        open_it: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
        output: Output = _RESULTS,
    ) -> None:
        """Write the report of an exploration: outcomes, findings, what recovery costs."""
        from ffslab.cli.report import show, write_exploration
        from ffslab.workloads.cuts.explore.case import find_directory

        show(write_exploration(find_directory(run, output), destination), open_it=open_it)

    @crash.command("replay")
    def replay(
        finding: Annotated[str, typer.Argument(metavar="ID", help="The id of a finding.")],
        run: Annotated[str, typer.Option(help="The run directory, or latest.")] = "latest",
        output: Output = _RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Repeat a finding alone, and show all that is known of it.

        Exit code: 1 it is there again; 0 it is not.
        """
        from ffslab.cli.crash_tables import print_replayed
        from ffslab.cli.screen import terminal
        from ffslab.errors import EXIT_FAILED, EXIT_OK
        from ffslab.workloads.cuts.explore.replay import replayed
        from ffslab.workloads.cuts.explore.case import find_directory

        again = replayed(find_directory(run, output), finding, scratch, timeout)
        print_replayed(terminal(), again)
        raise typer.Exit(EXIT_FAILED if again.is_there else EXIT_OK)

    @crash.command("minimize")
    def minimize(
        finding: Annotated[str, typer.Argument(metavar="ID", help="The id of a finding.")],
        run: Annotated[str, typer.Option(help="The run directory, or latest.")] = "latest",
        output: Output = _RESULTS,
        scratch: Scratch = None,
        timeout: Timeout = 600.0,
    ) -> None:
        """Find a shorter history in which a cut of the same kind does the same harm."""
        from ffslab.workloads.cuts.explore.minimize import minimized
        from ffslab.workloads.cuts.explore.case import find_directory

        def tell(text: str) -> None:
            typer.echo(text, err=True)

        smaller = minimized(find_directory(run, output), finding, scratch, timeout, tell)
        typer.echo(smaller.text, nl=False)


def _begun(
    name: str, catalogs: tuple[Path, ...], units: tuple[str, ...], output: Path, resume: bool
) -> Directory:
    """The directory of a new run, or of one that is to go on."""
    from datetime import UTC, datetime

    from ffslab.workloads.cuts.explore.case import Request, begin, find_directory

    if resume:
        return find_directory(name, output)
    import shlex
    import sys

    words = f"{program()} {shlex.join(sys.argv[1:])}"
    return begin(Request(name, catalogs, units, words), output, datetime.now(UTC))


def _explore(
    console: Console, directory: Directory, options: Options, scratch: Path | None, report: bool
) -> bool:
    """Explores what is missing; whether anything was found."""
    from ffslab.cli.crash_tables import CrashProgress, print_units
    from ffslab.cli.report import report_at_the_end, write_exploration
    from ffslab.workloads.cuts.explore.case import explore
    from ffslab.lab.progress import ConsoleProgress

    with CrashProgress(console) as progress:
        explore(directory, options, scratch, ConsoleProgress(), progress.tell, progress.done)
    units = list(directory.units())
    print_units(console, units)
    console.print(f"results: {directory.path}", soft_wrap=True, markup=False)
    if report:
        again = command("crash", "report", directory.path)
        report_at_the_end(console, lambda: write_exploration(directory), again)
    found = [finding for unit in units for finding in unit["findings"]]
    if found:
        say = command("crash", "replay", found[0]["id"], "--run", directory.path)
        console.print(f"next: {say}", soft_wrap=True, markup=False)
    return bool(found)
