"""`ffslab calibrate`: a board's figures from probes on it, as a board of the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    A_RUN,
    RESULTS,
    Access,
    Catalogs,
    Jobs,
    Output,
    Settings,
    Target,
    Yes,
    consent,
    parse_set,
)
from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import command
from ffslab.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ffslab.calibrate.figures import TimeFigure, Values
    from ffslab.calibrate.fitting import Calibration, Lab
    from ffslab.calibrate.readings import Readings
    from ffslab.calibrate.study import Measured
    from ffslab.campaign.study import Watch
    from ffslab.results.result import CaseResult
    from ffslab.results.rundir import RunDirectory

_STUDY = "probe"
_WORST = 10  # times that are shown


class Fitted(StrEnum):
    """Which of two is found, where only their sum is measured."""

    driver = "driver"
    bus = "bus"


def register(app: typer.Typer) -> None:
    """Adds the verb `calibrate`."""

    @app.command("calibrate")
    def calibrate(
        board: Annotated[
            str,
            typer.Option(metavar="NAME", help="A board of the catalog: as described so far."),
        ],
        target: Target = DEFAULT_TARGET,
        access: Access = None,
        yes: Yes = False,
        settings: Settings = None,
        measured: Annotated[
            Path | None, typer.Option("--run", metavar="RUN", help=f"{A_RUN[:-1]}; of study probe.")
        ] = None,
        fit: Annotated[
            Fitted, typer.Option(help="Which of the two to find; only their sum can be measured.")
        ] = Fitted.driver,
        name: Annotated[
            str | None, typer.Option(metavar="NAME", help="The new board [BOARD-calibrated].")
        ] = None,
        to: Annotated[
            Path | None,
            typer.Option("--to", metavar="PATH", help="Where to write it [your own catalog]."),
        ] = None,
        catalogs: Catalogs = None,
        jobs: Jobs = None,
        output: Output = RESULTS,
    ) -> None:
        """Find a board's figures by probes on it.

        Runs the study probe on the target, then in the lab with the board's figures and with each
        of them changed. Writes a board and its chip with the figures that make the lab take the
        measured times. --set changes the measured guests: figures that calibrate must find.
        """
        from ffslab.calibrate.board_file import catalog_files
        from ffslab.calibrate.figures import Preferred, time_figures
        from ffslab.calibrate.fitting import calibrate as fitted
        from ffslab.calibrate.readings import readings_of, wait_of
        from ffslab.calibrate.study import measured_cases
        from ffslab.cli.report import refresh_index
        from ffslab.loader import load_catalog

        stated = load_catalog(catalogs or ()).board(board)
        called = name or f"{board}-calibrated"
        place = _place(to)
        _check_new(called, place)
        device = _Device(target, access, yes)
        run = _measured_run(measured, board, settings or (), device, output, jobs, catalogs)
        results = tuple(run.each_result())
        readings = readings_of(results, str(run.path))
        _check_board(board, results, run)
        wait = wait_of(readings)
        lab = _lab(called, measured_cases(results), wait or stated.wait, output, jobs, catalogs)
        figures = time_figures(stated, Preferred(fit.value))
        calibration = fitted(readings, figures, lab)
        _print(calibration, wait, _known(run, results, figures))
        _write(place, catalog_files(called, stated, calibration, wait, _source(run)))
        refresh_index(output, output)


def _place(to: Path | None) -> Path:
    """The catalog that gets the new board."""
    from ffslab.paths import user_catalog

    return user_catalog() if to is None else to


def _check_new(name: str, place: Path) -> None:
    """UsageError for a name that is none, or if there is such a board or chip already."""
    from ffslab.calibrate.board_file import paths_of

    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", name):
        raise UsageError(
            f"{name!r} cannot be the name of a board: a-z, 0-9, '.', '_', '-', with a letter or "
            "a digit "
            "first",
            cause="it names the board's file",
            remedy="--name my-board",
        )
    for path in paths_of(name):
        if (place / path).exists():
            raise UsageError(
                f"{place / path} exists already; nothing was measured",
                cause="the board was calibrated before",
                remedy="--name ANOTHER-NAME, --to ANOTHER-DIRECTORY, or remove that file",
            )


@dataclass(frozen=True, slots=True)
class _Device:
    """Where is measured; `yes`: its partition may be destroyed without asking."""

    target: str
    place: Path | None
    yes: bool

    def settings(self, board: str) -> tuple[str, ...]:
        """What is said there about the cases; UsageError if it is another board."""
        if self.place is None:
            return ()
        from ffslab.targets.registry import target_kind

        kind = target_kind(self.target, self.place)
        if kind.board != board:
            raise UsageError(
                f"{self.place} is of board {kind.board}, not {board}",
                cause="another file, or another --board",
                remedy=f"--board {kind.board}",
            )
        return (f"partition_bytes={kind.partition_bytes}",)


def _measured_run(
    made: Path | None,
    board: str,
    settings: Sequence[str],
    device: _Device,
    output: Path,
    jobs: int | None,
    catalogs: Sequence[Path] | None,
) -> RunDirectory:
    """The run on the board: one made before, or a new one."""
    from ffslab.campaign.study import Choice, run_study
    from ffslab.results.rundir import find_run
    from ffslab.targets.target import SiteOptions

    if made is None:
        told = (f"board={board}", *device.settings(board), *settings)
        choice = Choice(
            _STUDY,
            tuple(map(parse_set, told)),
            catalogs=tuple(catalogs or ()),
            target=device.target,
            place=device.place,
        )
        options = SiteOptions(confirm=consent(device.yes))
        return run_study(choice, output, _watch(), jobs=jobs, options=options)
    if settings or device.place is not None:
        raise UsageError(
            f"{'--set' if settings else '--access'} and --run exclude each other",
            cause="what has been measured cannot be changed",
            remedy=f"leave out --run {made}",
        )
    return find_run(str(made), output)


def _watch() -> Watch:
    """Progress goes to standard error: the figures are what is printed."""
    from ffslab.cli.progress import TerminalWatch
    from ffslab.cli.screen import screen

    return TerminalWatch(screen(stderr=True))


def _check_board(board: str, results: Sequence[CaseResult], run: RunDirectory) -> None:
    """UsageError if another board was measured."""
    names = {str(result["spec"]["board"]["name"]) for result in results}
    if names != {board}:
        raise UsageError(
            f"{run.path} is of board {', '.join(sorted(names))}, not {board}",
            cause="another run, or another --board",
            remedy=f"--board {min(names)}",
        )


def _lab(
    name: str,
    cases: Sequence[Measured],
    wait: str,
    output: Path,
    jobs: int | None,
    catalogs: Sequence[Path] | None,
) -> Lab:
    """What runs the measured cases in the lab with other figures."""
    from ffslab.calibrate.readings import readings_of
    from ffslab.calibrate.study import point_of, study_text
    from ffslab.campaign.study import Choice, run_study
    from ffslab.results.files import write_atomic

    def run(points: Mapping[str, Values]) -> Mapping[str, Readings]:
        path = output / f"calibrate-{name}.toml"
        output.mkdir(parents=True, exist_ok=True)
        write_atomic(path, study_text(f"calibrate-{name}", cases, points, wait))
        choice = Choice(str(path), catalogs=tuple(catalogs or ()))
        done = run_study(choice, output, _watch(), jobs=jobs)
        found: dict[str, list[CaseResult]] = {point: [] for point in points}
        for result in done.each_result():
            found[point_of(result)].append(result)
        return {
            point: readings_of(results, f"{done.path}, at {point},")
            for point, results in found.items()
        }

    return run


def _known(
    run: RunDirectory, results: Sequence[CaseResult], figures: Sequence[TimeFigure]
) -> dict[str, int]:
    """The figures that the measured guests were given, where a target has any."""
    from ffslab.calibrate.figures import is_price_of_code
    from ffslab.targets.registry import site_module

    kind = site_module(str(run.manifest().get("target", DEFAULT_TARGET))).KIND
    if not kind.capabilities.virtual_time:
        return {}
    board = results[0]["spec"]["board"]
    return {
        one.setting: board["chip"][one.row.name]
        if one.row.name in board["chip"]
        else board[one.row.name]
        for one in figures
        if not (kind.cpu_time and is_price_of_code(one.setting))
    }


def _source(run: RunDirectory) -> str:
    """What stands as the source of each figure found."""
    target = run.manifest().get("target", DEFAULT_TARGET)
    return f"ffslab calibrate on target {target}, run {run.path.name}"


def _print(calibration: Calibration, wait: str | None, known: Mapping[str, int]) -> None:
    from rich.table import Table

    from ffslab.calibrate.board_file import held_words, limited_words, relative_error
    from ffslab.cli.screen import terminal

    console = terminal()
    table = Table(box=None, pad_edge=False)
    for heading in ("figure", "stated", "found", "residual", "known", "difference"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for one in calibration.figures:
        found, value = calibration.found[one.setting], calibration.value(one.setting)
        truth = known.get(one.setting)
        error = "" if found.error is None else relative_error(found.value, found.error)
        table.add_row(
            one.setting,
            f"{one.stated:,}",
            "held" if found.held else f"{value:,}",
            error,
            "" if truth is None else f"{truth:,}",
            "" if not truth or found.held else f"{value / truth - 1:+.2%}",
        )
    console.print(table)
    for name, found in calibration.found.items():
        if found.held:
            console.print(held_words(name, found.mixed_with), soft_wrap=True)
    for one in calibration.limited:
        console.print(limited_words(one), soft_wrap=True)
    words = "not known: the measured run has no CPU time" if wait is None else wait
    console.print(f"board.wait: {words}")
    _print_times(calibration)


def _print_times(calibration: Calibration) -> None:
    """How the lab takes each time, the worst first."""
    from ffslab.calibrate.fitting import median_difference
    from ffslab.cli.screen import terminal
    from ffslab.model.units import format_duration_ns

    console = terminal()
    console.print(
        f"lab against measured: {len(calibration.times)} times, {calibration.rounds} rounds; "
        "median difference (with the stated figures):",
        soft_wrap=True,
    )
    for words, flash in (("operations of the flash", True), ("code and file systems", False)):
        now, before = (
            median_difference(one for one in times if one.key.is_of_flash is flash)
            for times in (calibration.times, calibration.stated)
        )
        console.print(f"  {words}: {now:.2%} ({before:.2%})")
    console.print("the worst:")
    worst = sorted(calibration.times, key=lambda one: -abs(one.difference))
    for one in worst[:_WORST]:
        lab = format_duration_ns(round(one.lab_ns))
        measured = format_duration_ns(round(one.measured_ns))
        console.print(f"  {one.key!s:24} {one.difference:+7.1%}  lab {lab}, measured {measured}")


def _write(place: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = place / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InfrastructureError(
                f"cannot write {path}: {error.strerror}",
                cause="no permission to write there, or a full disk",
                remedy="--to DIRECTORY, with --run the run that was measured",
            ) from error
        typer.echo(f"wrote {path}")
    board = Path(next(name for name in texts if name.startswith("boards/"))).stem
    typer.echo(f"next: {command('run', 'quick', '--set', f'board={board}')}")
