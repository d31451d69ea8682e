"""`ffslab size`: text, data and bss of file systems and of what they need."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import AsJson, Catalogs, KernelSource, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ffslab.codesize.sizes import CodeSizes, Measured, Needs, Size
    from ffslab.model.catalog import Catalog
    from ffslab.model.specs import Filesystem

_NOTE = (
    "Bytes, as size counts them: text is code and constants, data what begins with values, bss "
    "what begins as zeros. Rows marked * are in no sum. docs/code-size.md says what is counted."
)


class Arch(StrEnum):
    """What the code can be compiled for."""

    um = "um"
    arm = "arm"


def register(app: typer.Typer) -> None:
    """Adds the verb `size`."""

    @app.command("size")
    def size(
        filesystems: Annotated[
            list[str] | None,
            typer.Argument(metavar="FILESYSTEM", help="The file system [all]."),
        ] = None,
        arch: Annotated[
            list[Arch] | None,
            typer.Option(
                help="Which processor: um is the lab kernel, arm an ARMv5 board, which needs a "
                "cross-compiler. "
                "May be given twice [both]."
            ),
        ] = None,
        kernel_source: KernelSource = None,
        catalogs: Catalogs = None,
        as_json: AsJson = False,
    ) -> None:
        """Show how large the code of file systems is, with what it needs.

        Compiles their objects first, a minute or two for each architecture, and keeps them in the
        cache.
        """
        from ffslab.codesize.measure import ARCHITECTURES, measure
        from ffslab.codesize.sizes import to_document
        from ffslab.lab.progress import ConsoleProgress
        from ffslab.loader import load_catalog

        chosen = _chosen(load_catalog(catalogs or ()), filesystems or ())
        names = [architecture.value for architecture in dict.fromkeys(arch or ())] or ARCHITECTURES
        sizes = measure(chosen, names, ConsoleProgress(), kernel_source=kernel_source)
        if as_json:
            print_json(to_document(sizes))
            return
        _show(sizes)


def _chosen(catalog: Catalog, names: Sequence[str]) -> list[Filesystem]:
    if not names:
        return [filesystem for filesystem in catalog.filesystems.values() if filesystem.is_mounted]
    return [catalog.filesystem(name) for name in dict.fromkeys(names)]


def _show(sizes: CodeSizes) -> None:
    from ffslab.cli.screen import terminal
    from ffslab.cli.tables import print_unpadded

    console = terminal()
    for measured in sizes.architectures.values():
        console.print(f"{measured.title}; Linux {measured.source}, gcc {measured.compiler}")
        for needs in sizes.filesystems:
            console.print()
            print_unpadded(console, _table(needs, measured))
        console.print()
    for why in sizes.unmeasured.values():
        console.print(f"not measured: {why}", soft_wrap=True)
    console.print(_NOTE)


def _table(needs: Needs, measured: Measured) -> Table:
    """The parts of a file system, then what they come to with each option."""
    from rich import box
    from rich.table import Table

    from ffslab.codesize.sizes import part_title, sum_title

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    table.add_column(", ".join(needs.names))
    for name in ("text", "data", "bss", "sum"):
        table.add_column(name, justify="right")
    for part in needs.parts:
        table.add_row(part_title(part), *_cells(measured.parts[part]))
    table.add_section()
    for total in needs.sums:
        table.add_row(sum_title(total), *_cells(measured.sum(needs.parts_of(total))))
    if needs.shown:
        table.add_section()
        for part in needs.shown:
            table.add_row(f"* {part_title(part)}", *_cells(measured.parts[part]))
    return table


def _cells(size: Size) -> tuple[str, ...]:
    return tuple(f"{value:,}" for value in (size.text, size.data, size.bss, size.total))
