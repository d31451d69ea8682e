"""`ffslab schema`: the JSON Schema of the TOML files, for editors; the metrics of results."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


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
        document: Annotated[Document, typer.Argument(help="Which file.")] = Document.study,
    ) -> None:
        """Print a file's JSON Schema, or the metrics (docs/metrics.md)."""
        import json

        from ffslab.workloads.document import metrics_document

        if document is Document.metrics:
            typer.echo(metrics_document(), nl=False)
            return

        from pydantic import BaseModel

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
        typer.echo(json.dumps(models[document].model_json_schema(by_alias=True), indent=2))
