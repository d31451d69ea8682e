"""`ffslab bench`: what the laboratory costs the host, for those who develop it.

The benchmark is no part of the installed package: it is the directory bench/ of
a checkout, and is found from there.
"""

from __future__ import annotations

import importlib
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import OneCase, Settings, parse_set
from ffslab.errors import EXIT_FAILED, EXIT_OK, InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Format(StrEnum):
    """The formats of a table for a document."""

    md = "md"


def register(app: typer.Typer) -> None:
    """Adds the verb `bench`."""

    @app.command("bench")
    def bench(
        parts: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="PART",
                help="Which parts: speed, cpu, driver, boot, jobs, micro, tree, short, report, "
                "start, crash, flash [these]; setup; price; or profile STUDY [ffsmark].",
            ),
        ] = None,
        repeats: Annotated[
            int,
            typer.Option(
                "--repeats", "-n", min=1, metavar="N", help="Runs of each case: on both sides."
            ),
        ] = 5,
        raw: Annotated[
            Path | None,
            typer.Option("--to", metavar="PATH", help="Where to write it: raw figures, as JSON."),
        ] = None,
        table: Annotated[
            Format | None,
            typer.Option("--format", "-f", help="The format: of the tables of flash and price."),
        ] = None,
        case: OneCase = None,
        settings: Settings = None,
    ) -> None:
        """Measure the lab's speed, and what file systems do to flash.

        For developers. Speed takes minutes and needs a quiet host. Part flash counts, and is the
        same on any host. Part setup builds everything anew, in a cache of its own. Part price says
        how well the CPU model forecasts an ARM machine of QEMU. `bench profile STUDY
        --case ID` runs one case under perf and says where the host's time goes.
        """
        sys.path.insert(0, str(_checkout_root()))
        if parts and parts[0] == "profile":
            _profile(parts[1:], case, settings or ())
            return
        if case or settings:
            raise UsageError(
                "--case and --set are for profile alone", remedy="ffslab bench profile STUDY"
            )
        run = importlib.import_module("bench.run")
        request = run.Request(
            tuple(parts or ()), repeats, raw, table is Format.md, typer.echo, _tell
        )
        raise typer.Exit(EXIT_OK if run.run_bench(request) else EXIT_FAILED)


def _profile(words: Sequence[str], case: str | None, settings: Sequence[str]) -> None:
    """`bench profile [STUDY]`: one case under perf."""
    if len(words) > 1:
        raise UsageError(
            f"{words[1]!r} after the study", remedy="ffslab bench profile STUDY --case ID"
        )
    profiling = importlib.import_module("bench.profiling")
    study = words[0] if words else "ffsmark"
    wanted = profiling.Wanted(study, case, [parse_set(text) for text in settings])
    profiling.run_profile(wanted, typer.echo, _tell)


def _tell(text: str) -> None:
    """One line of progress that the next overwrites; nothing where there is no terminal."""
    from ffslab.visible_text import own_stream, visible

    if sys.stderr.isatty():
        own_stream(sys.stderr).write(f"\r\033[K{visible(text[:78])}")
        sys.stderr.flush()


def _checkout_root() -> Path:
    root = Path(__file__).resolve().parents[3]
    if not (root / "bench" / "run.py").is_file():
        raise InfrastructureError(
            "ffslab bench needs a checkout",
            cause="ffslab was installed as a package, which has no benchmark",
            remedy="clone the repository and run ./ffslab bench there",
        )
    return root
