"""The section of a report on the size of the file systems' code, of a run that measured it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.codesize.parts import COMPRESSION, CRYPTO, FILE_SYSTEM, KINDS, OTHER, PARTS, UNDER
from ffslab.codesize.sizes import ALL, CodeSizes, Measured, Needs, Size, Sum, part_title, sum_title
from ffslab.codesize.stored import read_sizes
from ffslab.report.bars import Bar, Piece, are_cut, bars
from ffslab.report.curves import Quantity
from ffslab.report.elements import Key, Panel, Table
from ffslab.report.topics import Sentence

_WIDTH = 900
_SHOWN = Quantity("Text, data and bss", "KiB", 1024.0)
_COLOURS: Mapping[str, str] = {
    FILE_SYSTEM: "c0",
    UNDER: "c1",
    COMPRESSION: "c2",
    CRYPTO: "c3",
    OTHER: "t3",
}


@dataclass(frozen=True)
class SizeView:
    """What the template shows: a chart and two tables for each architecture."""

    sentences: tuple[Sentence, ...]
    panels: tuple[Panel, ...]
    tables: tuple[tuple[Table, Table], ...]
    notes: tuple[str, ...]
    cut: bool
    keys: tuple[Key, ...] = tuple(Key(kind, _COLOURS[kind]) for kind in KINDS)


def size_view(run_dir: Path) -> SizeView | None:
    """The section of the run in `run_dir`; None if its study did not want it."""
    sizes = read_sizes(run_dir)
    return None if sizes is None else view_of(sizes)


def view_of(sizes: CodeSizes) -> SizeView:
    drawn = {name: _bars(sizes, measured) for name, measured in sizes.architectures.items()}
    return SizeView(
        sentences=tuple(_sentences(sizes)),
        panels=tuple(
            Panel(
                measured.title,
                f"Linux {measured.source}, gcc {measured.compiler}",
                bars(
                    drawn[name], _SHOWN, (f"Size of code, {measured.title}", f"size-{name}"), _WIDTH
                ),
            )
            for name, measured in sizes.architectures.items()
            if drawn[name]
        ),
        tables=tuple(
            (_sums(sizes, measured), _parts(sizes, measured))
            for measured in sizes.architectures.values()
        ),
        notes=tuple(f"Not measured: {name}: {why}" for name, why in sizes.unmeasured.items()),
        cut=any(are_cut(rows) for rows in drawn.values()),
    )


def _bars(sizes: CodeSizes, measured: Measured) -> list[Bar]:
    return [
        Bar(
            label=_option(total),
            run="",
            pieces=tuple(_pieces(needs, total, measured)),
            text=_kib(measured.sum(needs.parts_of(total)).total),
            group=", ".join(needs.names),
        )
        for needs in sizes.filesystems
        for total in needs.sums
    ]


def _pieces(needs: Needs, total: Sum, measured: Measured) -> Iterator[Piece]:
    """What the code of a sum is, by kind."""
    for kind in KINDS:
        parts = [part for part in needs.parts_of(total) if _kind(part) == kind]
        yield Piece(measured.sum(parts).total, _COLOURS[kind])


def _kind(part: str) -> str:
    """Of a part that an older or newer version of ffslab measured it may not be known."""
    return PARTS[part].kind if part in PARTS else OTHER


def _sentences(sizes: CodeSizes) -> Iterator[Sentence]:
    """The file systems with their default options, the smallest first."""
    for measured in sizes.architectures.values():
        totals = {
            ", ".join(needs.names): measured.sum(needs.parts_of(total)).total
            for needs in sizes.filesystems
            for total in needs.sums
            if total.default
        }
        told = [f"{name} {_kib(totals[name])}" for name in sorted(totals, key=totals.__getitem__)]
        if told:
            yield Sentence(f"**{measured.title}**, with default options: {'; '.join(told)}.")


def _sums(sizes: CodeSizes, measured: Measured) -> Table:
    headings: dict[int, str] = {}
    rows: list[tuple[str, ...]] = []
    for needs in sizes.filesystems:
        headings[len(rows)] = ", ".join(needs.names)
        for total in needs.sums:
            rows.append((sum_title(total), *_cells(measured.sum(needs.parts_of(total)))))
    head = ("with everything it needs", "text", "data", "bss", "sum")
    units = ("", "bytes", "bytes", "bytes", "bytes")
    return Table(measured.title, head, units, tuple(rows), headings=headings)


def _parts(sizes: CodeSizes, measured: Measured) -> Table:
    """Every part once, and those who need it."""
    users: dict[str, list[str]] = {}
    for needs in sizes.filesystems:
        for part in (*needs.parts, *(f"* {name}" for name in needs.shown)):
            users.setdefault(part, []).append(needs.names[0])
    rows: list[tuple[str, ...]] = []
    for kind in KINDS:
        for part, names in users.items():
            name = part.removeprefix("* ")
            if _kind(name) == kind:
                title = part.replace(name, part_title(name))
                rows.append((title, ", ".join(names), *_cells(measured.parts[name])))
    head = ("part", "needed by", "text", "data", "bss", "sum")
    units = ("", "", "bytes", "bytes", "bytes", "bytes")
    return Table(
        f"Parts, {measured.title}",
        head,
        units,
        tuple(rows),
        text_columns=2,
        wrapped=(1,),
        note="* In no sum: a kernel has it anyway. A compressor is needed with the options that "
        "use it only.",
    )


def _option(total: Sum) -> str:
    text = ", ".join(total.shown)
    return f"{text} (default)" if total.default and total.default != ALL else text


def _cells(size: Size) -> tuple[str, ...]:
    return tuple(f"{value:,}" for value in (size.text, size.data, size.bss, size.total))


def _kib(value: int) -> str:
    return f"{value / 1024:,.1f} KiB"
