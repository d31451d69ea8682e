"""The section of a report on the size of the file systems' code, of a run that measured it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ffslab.codesize.parts import COMPRESSION, CRYPTO, FILE_SYSTEM, KINDS, OTHER, PARTS, UNDER
from ffslab.codesize.sizes import ALL, CodeSizes, Measured, Needs, Size, Sum, part_title, sum_title
from ffslab.codesize.stored import read_sizes
from ffslab.report import plots
from ffslab.report.data import BETWEEN, filesystem_name
from ffslab.report.elements import Table
from ffslab.report.sections.section import Chart, Section

_KIB = ("KiB", 1024.0)
_COLOURS: Mapping[str, str] = {
    FILE_SYSTEM: "c0",
    UNDER: "c1",
    COMPRESSION: "c2",
    CRYPTO: "c3",
    OTHER: "t3",
}


_NOTE = (
    "What a kernel grows by with a file system and all that this needs, of object files compiled "
    "as modules. Text is code and constants, data begins with values, bss as zeros. MTD core and "
    "block layer are in no sum."
)


def sections(run_dir: Path) -> Iterator[Section]:
    """The section of the run in `run_dir`; none if its study did not want it."""
    sizes = read_sizes(run_dir)
    if sizes is not None:
        yield section_of(sizes)


def section_of(sizes: CodeSizes) -> Section:
    """A chart and two tables for each architecture."""
    missing = (f"Not measured: {name}: {why}." for name, why in sizes.unmeasured.items())
    return Section(
        key="code-size",
        title="How large is the code?",
        sentence=_sentence(sizes),
        charts=tuple(
            Chart(
                f"{measured.title}, with all that it needs",
                plots.stack(
                    _bars(sizes, measured), _COLOURS, "Text, data and bss", f"size-{name}", _KIB
                ),
                f"Linux {measured.source}, gcc {measured.compiler}; a bar is one option of "
                "compression.",
            )
            for name, measured in sizes.architectures.items()
        ),
        tables=tuple(
            table
            for measured in sizes.architectures.values()
            for table in (_sums(sizes, measured), _parts(sizes, measured))
        ),
        note=" ".join((*missing, _NOTE)),
    )


def _bars(sizes: CodeSizes, measured: Measured) -> list[plots.Bar]:
    return [
        plots.Bar(_label(needs, total), dict(_kinds(needs, total, measured)))
        for needs in sizes.filesystems
        for total in needs.sums
    ]


def _kinds(needs: Needs, total: Sum, measured: Measured) -> Iterator[tuple[str, int]]:
    """What the code of a sum is, by kind."""
    for kind in KINDS:
        parts = [part for part in needs.parts_of(total) if _kind(part) == kind]
        yield kind, measured.sum(parts).total


def _kind(part: str) -> str:
    """Of a part that an older or newer version of ffslab measured it may not be known."""
    return PARTS[part].kind if part in PARTS else OTHER


def _sentence(sizes: CodeSizes) -> str:
    """The smallest and the largest file system with its default options, on the last board."""
    for measured in reversed(tuple(sizes.architectures.values())):
        totals = {
            _name(needs): measured.sum(needs.parts_of(total)).total
            for needs in sizes.filesystems
            for total in needs.sums
            if total.default
        }
        if totals:
            least, most = (pick(totals, key=totals.__getitem__) for pick in (min, max))
            told = f"**{least}** is smallest with {_kib(totals[least])}"
            rest = "" if least == most else f"; {most} has {_kib(totals[most])}"
            return f"{measured.title}, default options: {told}{rest}."
    return ""


def _sums(sizes: CodeSizes, measured: Measured) -> Table:
    headings: dict[int, str] = {}
    rows: list[tuple[str, ...]] = []
    for needs in sizes.filesystems:
        headings[len(rows)] = _name(needs)
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
            users.setdefault(part, []).append(filesystem_name(needs.names[0]))
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


def _name(needs: Needs) -> str:
    return ", ".join(map(filesystem_name, needs.names))


def _label(needs: Needs, total: Sum) -> str:
    text = BETWEEN.join(part for part in (_name(needs), ", ".join(total.shown)) if part)
    return f"{text} (default)" if total.default and total.default != ALL else text


def _cells(size: Size) -> tuple[str, ...]:
    return tuple(f"{value:,}" for value in (size.text, size.data, size.bss, size.total))


def _kib(value: int) -> str:
    return f"{value / 1024:,.1f} KiB"
