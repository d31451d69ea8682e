"""`ffslab list`: runs, and what the catalog has."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, AsJson, Catalogs, Output, print_json
from ffslab.errors import SpecError, UsageError
from ffslab.model.names import suggestion
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ffslab.model.catalog import Catalog
    from ffslab.model.specs import Board, InitialState

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
        kind: Annotated[
            str, typer.Argument(metavar="KIND", help=f"Which kind: {', '.join(Kind)}.")
        ] = "runs",
        word: Annotated[
            str, typer.Argument(metavar="WORD", help="Only what has this word in its name or text.")
        ] = "",
        output: Output = RESULTS,
        catalogs: Catalogs = None,
        as_json: AsJson = False,
    ) -> None:
        """List runs, studies, or the catalog's entries of one kind."""
        if kind not in set(Kind):
            raise UsageError(
                f"there is no list of {kind}{suggestion(kind, list(Kind))}",
                cause="a misspelt word",
                remedy=f"one of: {', '.join(Kind)}",
            )
        if kind == Kind.runs:
            _list_runs(output, as_json, word)
            return
        rows = [row for row in _rows(Kind(kind), catalogs or ()) if _has(word, *row)]
        if as_json:
            print_json([{"name": name, "text": text} for name, text in rows])
            return
        width = max((len(name) for name, _ in rows), default=0)
        for name, text in rows:
            typer.echo(f"{name:{width}}  {text}")


def _has(word: str, *texts: str) -> bool:
    return any(word.casefold() in text.casefold() for text in texts)


def _list_runs(root: Path, as_json: bool, word: str) -> None:
    from dataclasses import asdict

    from ffslab.model.units import format_size
    from ffslab.results.rundir import all_runs
    from ffslab.results.summary import summary_of

    every = map(summary_of, all_runs(root))
    summaries = [summary for summary in every if _has(word, summary.path.name, summary.words)]
    if as_json:
        print_json([{**asdict(summary), "path": str(summary.path)} for summary in summaries])
        return
    width = max((len(summary.path.name) for summary in summaries), default=0)
    for summary in summaries:
        size = format_size(summary.size_bytes)
        typer.echo(f"{summary.path.name:{width}}  {size:>10}  {summary.words}")
    if not summaries:
        named = f" with {word!r}" if word else ""
        typer.echo(f"no runs{named} in {root}; next: {program()} run quick")


def _rows(kind: Kind, catalogs: Sequence[Path]) -> Iterator[Row]:
    from ffslab.loader import find_study, load_catalog, study_names

    if kind is Kind.studies:
        for name, path in study_names().items():
            try:
                yield name, str(find_study(str(path)).document.get("title", ""))
            except SpecError as error:
                yield name, _unusable(error)
        return
    if kind is Kind.trees:
        yield from _tree_rows()
        return
    catalog = load_catalog(catalogs)
    yield from _catalog_rows(kind, catalog)
    for (of_kind, name), problem in catalog.broken.items():
        if f"{of_kind}s" == kind:
            yield name, _unusable(problem)


def _unusable(error: SpecError) -> str:
    return f"cannot be used: {error.message}"


def _catalog_rows(kind: Kind, catalog: Catalog) -> Iterator[Row]:
    from ffslab.model.specs import DRIVER_FIGURES
    from ffslab.model.units import format_size

    if kind is Kind.boards:
        for board in catalog.boards.values():
            basis = "calibrated" if board.calibrated else "CPU estimated"
            driver = "/".join(f"{getattr(board, key) / 1000:g}" for key in DRIVER_FIGURES)
            yield (
                board.name,
                f"{board.title}: {board.cpu} {board.cpu_mhz} MHz, {basis}, "
                f"driver {driver} µs per read/program/erase{_bus_text(board)}",
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


def _bus_text(board: Board) -> str:
    """The SPI bus, if the chip is on one: its clock, and its data lines in both directions."""
    if not board.chip.is_on_spi:
        return ""
    lines = f"{board.spi_rx_bits}/{board.spi_tx_bits}"
    return f", SPI at {board.spi_clock_hz / 10**6:g} MHz, {lines} data lines"


def _tree_rows() -> Iterator[Row]:
    from ffslab.images.source import recipe, recipe_names
    from ffslab.model.units import format_size

    for name in recipe_names():
        try:
            stated = recipe(name)
        except SpecError as error:
            yield name, _unusable(error)
            continue
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
