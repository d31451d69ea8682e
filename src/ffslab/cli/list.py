"""`ffslab list`: runs, and what the catalog has."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import Catalogs
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ffslab.model.specs import InitialState

Row = tuple[str, str]


class Kind(StrEnum):
    """What can be listed."""

    runs = "runs"
    studies = "studies"
    boards = "boards"
    chips = "chips"
    filesystems = "filesystems"
    states = "states"
    trees = "trees"


def register(app: typer.Typer) -> None:
    """Adds the verb `list`."""

    @app.command("list")
    def list_(
        kind: Annotated[Kind, typer.Argument(help="What to list.")] = Kind.runs,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where run directories are.")
        ] = Path("results"),
        catalogs: Catalogs = None,
    ) -> None:
        """List runs, studies, or one kind of what the catalog has."""
        rows = list(_run_rows(output) if kind is Kind.runs else _rows(kind, catalogs or ()))
        width = max((len(name) for name, _ in rows), default=0)
        for name, text in rows:
            typer.echo(f"{name:{width}}  {text}")
        if not rows:
            typer.echo(f"no {kind} in {output}; next: {program()} run quick")


def _run_rows(root: Path) -> Iterator[Row]:
    from ffslab.errors import DamagedResultError
    from ffslab.results.rundir import all_runs

    for run in all_runs(root):
        try:
            manifest = run.manifest()
        except DamagedResultError as error:
            yield run.path.name, error.message
            continue
        state = "complete" if manifest.get("complete") else "interrupted"
        yield run.path.name, f"{manifest.get('cases_total', '?')} cases, {state}"


def _rows(kind: Kind, catalogs: Sequence[Path]) -> Iterator[Row]:
    from ffslab.loader import find_study, load_catalog, study_names
    from ffslab.model.specs import DRIVER_FIGURES
    from ffslab.model.units import format_size

    if kind is Kind.studies:
        for name in study_names():
            yield name, str(find_study(name).document.get("title", ""))
        return
    if kind is Kind.trees:
        yield from _tree_rows()
        return
    catalog = load_catalog(catalogs)
    if kind is Kind.boards:
        for board in catalog.boards.values():
            basis = "calibrated" if board.calibrated else "CPU estimated"
            driver = "/".join(f"{getattr(board, key) / 1000:g}" for key in DRIVER_FIGURES)
            yield (
                board.name,
                f"{board.title}: {board.cpu} {board.cpu_mhz} MHz, {basis}, "
                f"driver {driver} µs per read/program/erase",
            )
    elif kind is Kind.chips:
        for chip in catalog.chips.values():
            yield chip.name, f"{format_size(chip.size_bytes)}: {chip.title}"
    elif kind is Kind.filesystems:
        for filesystem in catalog.filesystems.values():
            facts = [
                f"{option.name}: {', '.join(option.values)}"
                for option in filesystem.options.values()
            ]
            if filesystem.module_source is not None:
                facts.append(f"out of tree: {filesystem.module_source.directory}")
            yield filesystem.name, "; ".join(facts)
    else:
        for state in catalog.states.values():
            yield state.name, _state_text(state)


def _tree_rows() -> Iterator[Row]:
    from ffslab.images.source import recipe, recipe_names
    from ffslab.model.units import format_size

    for name in recipe_names():
        stated = recipe(name)
        shape = stated.expected.shape()
        facts = (
            f"{shape.directories:,} directories, {shape.files:,} files, {shape.links:,} links, "
            f"{format_size(shape.bytes)}"
        )
        yield name, f"{facts}: {stated.title}"


def _state_text(state: InitialState) -> str:
    if state.kind == "saturated":
        return "one file was written until the partition was full, then removed"
    if state.kind == "filled":
        return f"a file of {state.rate_percent} % of the partition, the test file's space invalid"
    if state.kind == "image":
        return f"an image of the tree {state.tree}"
    return f"{state.valid_percent} % valid, {state.invalid_percent} % invalid"
