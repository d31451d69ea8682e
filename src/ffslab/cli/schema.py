"""`ffslab schema`: the keys of the TOML files, listed or as a JSON Schema; the metrics."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel


class Document(StrEnum):
    """The kinds of TOML file, and the list of metrics."""

    study = "study"
    chip = "chip"
    board = "board"
    filesystem = "filesystem"
    tree = "tree"
    metrics = "metrics"


def register(app: typer.Typer) -> None:
    """Adds the verb `schema`."""

    @app.command("schema")
    def schema(
        document: Annotated[
            Document, typer.Argument(metavar="DOCUMENT", help="Which file.")
        ] = Document.study,
        as_json: AsJson = False,
    ) -> None:
        """Print what a file may hold, or the metrics (docs/metrics.md).

        For a chip or board: its keys and figures. For any other file, and with --json: its JSON
        Schema.
        """
        from ffslab.workloads.document import metrics_document

        if document is Document.metrics:
            typer.echo(metrics_document(), nl=False)
            return

        from ffslab.images.recipe import Recipe
        from ffslab.model.files import BoardFile, ChipFile, FilesystemFile, study_shape
        from ffslab.workloads.registry import workloads

        models: dict[Document, type[BaseModel]] = {
            Document.study: study_shape(workloads()),
            Document.chip: ChipFile,
            Document.board: BoardFile,
            Document.filesystem: FilesystemFile,
            Document.tree: Recipe,
        }
        if document in (Document.chip, Document.board) and not as_json:
            _list_keys(models[document], document)
            return
        typer.echo(json.dumps(models[document].model_json_schema(by_alias=True), indent=2))


def _list_keys(model: type[BaseModel], document: Document) -> None:
    """The keys of a chip's or board's file, then its figures with unit, range and meaning."""
    from ffslab.model.figures import BOARD_ROWS, BOARD_SPI_ROWS, ROWS_OF_KIND
    from ffslab.program import program

    keys = [
        (field.alias or key, field.description or "") for key, field in model.model_fields.items()
    ]
    tables = {f" of kind {kind}": rows for kind, rows in ROWS_OF_KIND.items()}
    if document is Document.board:
        tables = {"": BOARD_ROWS, ", if the chip is on an SPI bus": BOARD_SPI_ROWS}
    typer.echo(f"The keys of {document}s/NAME.toml:")
    _print_columns(keys)
    for of_what, rows in tables.items():
        typer.echo(f"\nIn [figures]{of_what}; all are required, with extends those that differ:")
        head = ("figure", "unit", "range", "meaning")
        _print_columns([head, *((row.name, row.unit, row.range, row.meaning) for row in rows)])
    typer.echo(
        '\nNAME = { value = 600_000, source = "data sheet, page 12", estimate = false }; '
        "a value alone is an estimate by the user.\n"
        f"A skeleton: {program()} new {document} NAME --extends BASE. "
        f"For editors: {program()} schema {document} --json"
    )


def _print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        typer.echo("  " + "  ".join(cells).rstrip())
