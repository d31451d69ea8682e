"""`ffslab new`: an annotated skeleton of a chip, a board, a study or needs in the user's catalog;
of a workload in the checkout.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import Catalogs
from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ffslab.model.catalog import Catalog

_LONGEST_NAME = 64


class Kind(StrEnum):
    """What can be begun."""

    chip = "chip"
    board = "board"
    study = "study"
    needs = "needs"
    workload = "workload"


_FOLDERS = {Kind.chip: "chips", Kind.board: "boards", Kind.study: "studies", Kind.needs: "needs"}
# The options that each kind takes.
_OPTIONS = {
    Kind.chip: ("--extends",),
    Kind.board: ("--extends", "--chip"),
    Kind.study: ("--from", "--board"),
    Kind.needs: (),
    Kind.workload: (),
}


def register(app: typer.Typer) -> None:
    """Adds the verb `new`."""

    @app.command("new")
    def new(
        kind: Annotated[Kind, typer.Argument(metavar="KIND", help="Which kind: of what to begin.")],
        name: Annotated[
            str, typer.Argument(metavar="NAME", help="Its name, also the name of its file.")
        ],
        extends: Annotated[
            str | None,
            typer.Option(metavar="NAME", help="A chip or board that supplies all other figures."),
        ] = None,
        chip: Annotated[
            str | None, typer.Option(metavar="NAME", help="The chip on a new board.")
        ] = None,
        from_: Annotated[
            str | None, typer.Option("--from", metavar="STUDY", help="A study to copy.")
        ] = None,
        board: Annotated[
            str | None, typer.Option(metavar="NAME", help="A board of the catalog: of a new study.")
        ] = None,
        catalogs: Catalogs = None,
    ) -> None:
        """Begin a chip, a board, a study, needs or a workload of your own.

        Writes a skeleton, which explains every key, into your own catalog, $XDG_CONFIG_HOME/ffslab
        or ~/.config/ffslab, where every command finds it. A workload is code and goes into the
        checkout. Overwrites nothing.
        """
        from ffslab.loader import load_catalog

        given = {"--extends": extends, "--chip": chip, "--from": from_, "--board": board}
        _check_options(kind, given)
        if kind is Kind.workload:
            _begin_workload(name)
            return
        _check_name(kind, name)
        _check_free(kind, name, catalogs or ())
        catalog = load_catalog(catalogs or ())
        path = _written(kind, name, _text(kind, name, given, catalog))
        typer.echo(f"wrote {path}")
        for line in _next(kind, name, extends):
            typer.echo(line)


def _check_options(kind: Kind, given: Mapping[str, str | None]) -> None:
    for option, value in given.items():
        if value is not None and option not in _OPTIONS[kind]:
            raise UsageError(
                f"new {kind} takes no {option}",
                cause=f"it belongs to: {', '.join(k for k, o in _OPTIONS.items() if option in o)}",
                remedy=f"{program()} new --help",
            )


def _begin_workload(name: str) -> None:
    from ffslab.workloads.skeleton import FURTHER, checkout, new_workload

    root = checkout()
    for path in new_workload(root, name):
        typer.echo(f"wrote {path.relative_to(root)}")
    typer.echo(f"next: edit them; it runs as it is: {program()} run {name}")
    typer.echo('"Adding a workload" in CONTRIBUTING.md says what each is for; beside them:')
    for form, what in FURTHER.items():
        words = what.format(program=program())
        typer.echo(f"  {form.format(name=name)}: {words}")


def _check_name(kind: Kind, name: str) -> None:
    good = re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) and len(name) <= _LONGEST_NAME
    if not good or name.endswith(".toml"):
        plain = re.sub(r"[^a-z0-9._-]+", "-", Path(name).name.removesuffix(".toml").lower())
        plain = plain.strip("._-")[:_LONGEST_NAME]
        raise UsageError(
            f"{name!r} cannot be the name of a {kind}: up to {_LONGEST_NAME} of a-z, 0-9, '.', "
            "'_', '-', "
            "with a letter or a digit first",
            cause="it names the file NAME.toml in your catalog, and the results of its cases",
            remedy=f"{program()} new {kind} {plain or f'my-{kind}'}",
        )


def _check_free(kind: Kind, name: str, catalogs: Sequence[Path]) -> None:
    """UsageError if something of that kind is called so already."""
    from ffslab.loader import catalog_files
    from ffslab.paths import data_dir

    folder = _FOLDERS[kind]
    roots = {Kind.study: data_dir("studies").parent, Kind.needs: data_dir("examples")}
    root = roots.get(kind) or data_dir("catalog")
    there = catalog_files(root, folder, catalogs).get(name)
    if there is not None:
        raise UsageError(
            f"there is a {kind} called {name} already: {there}",
            cause="you began it before, or ffslab ships it",
            remedy=f"edit it if it is yours, or: {program()} new {kind} ANOTHER-NAME",
        )


def _text(kind: Kind, name: str, given: Mapping[str, str | None], catalog: Catalog) -> str:
    """The skeleton; UsageError for a base, chip, board or study that there is not."""
    from ffslab.loader import find_study
    from ffslab.model.skeletons import board_skeleton, chip_skeleton, study_copy, study_skeleton

    base = given["--extends"]
    if kind is Kind.needs:
        from ffslab.advise.questions import default_answers, needs_text

        return needs_text(default_answers(catalog, name))
    if kind is Kind.chip:
        return chip_skeleton(name, catalog.chip(base) if base else None)
    if kind is Kind.board:
        chip = catalog.chip(given["--chip"]) if given["--chip"] else None
        return board_skeleton(name, catalog.board(base) if base else None, chip)
    board = catalog.board(given["--board"]).name if given["--board"] else None
    if given["--from"]:
        source = find_study(given["--from"])
        called = str(source.document.get("name", given["--from"]))
        return study_copy(name, source.text, called, board)
    return study_skeleton(name, board or "apf27")


def _written(kind: Kind, name: str, text: str) -> Path:
    """The new file's path; UsageError if it is there already."""
    from ffslab.paths import user_catalog

    path = user_catalog() / _FOLDERS[kind] / f"{name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(
            f"{path} exists already; nothing was written",
            cause="it was begun before",
            remedy=f"edit it, or: {program()} new {kind} ANOTHER-NAME",
        ) from error
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {path}: {error.strerror}",
            cause="no permission to write there, or a full disk",
            remedy="set XDG_CONFIG_HOME=DIRECTORY to a directory that you may write to",
        ) from error
    return path


def _next(kind: Kind, name: str, extends: str | None) -> list[str]:
    """What to do with the skeleton."""
    if kind is Kind.study:
        return [f"next: edit it; it runs as it is: {program()} run {name}"]
    if kind is Kind.needs:
        return [f"next: edit it; {program()} advise {name}"]
    if extends is None:
        return [
            f"next: fill in its figures; what each means: {program()} schema {kind}",
            f"then: {program()} list {_FOLDERS[kind]}, which says what is still missing",
        ]
    use = "new board NAME --extends BOARD --chip" if kind is Kind.chip else "new study NAME --board"
    return [
        "next: edit it; it is valid as it is",
        f"then: {program()} {use} {name}",
    ]
