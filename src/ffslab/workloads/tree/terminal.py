"""Tables of workload `tree` for a terminal of 80 columns: steps, memory, the image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ffslab.model.units import format_duration_ns, format_size

HEADINGS = ("mount", "all steps", "RAM")
_GROUPS = (("filesystem", "fs"), ("kmalloc", "kmalloc"), ("inodes", "inodes"), ("other", "other"))
_SIZES = (
    ("vmalloc_bytes", "vmalloc"),
    ("kernel_stack_bytes", "stacks"),
    ("total_bytes", "total"),
    ("other_bytes", "rest"),
)


def cells(result: Mapping[str, Any]) -> Sequence[str]:
    """For a case's line in the table of a run: first mount, all steps, RAM after that mount.

    All of the case's own guest, not what prepared the flash; without `settle`, which waits.
    """
    tree = result.get("tree") or {"steps": (), "memory": ()}
    steps = [step for step in tree["steps"] if not step["prepared"]]
    mount = next((step for step in steps if step["step"] == "mount"), None)
    work = [step["duration_ns"] for step in steps if step["step"] != "settle"]
    times = [duration_ns for duration_ns in work if duration_ns is not None]
    label = mount["phase"] if mount else None
    rows = [row for row in tree["memory"] if row["label"] == label and not row["prepared"]]
    return (
        _duration(mount["duration_ns"] if mount else None),
        _duration(sum(times) if times else None),
        format_size(rows[0]["total_bytes"]) if rows else "",
    )


def print_case(console: Console, result: Mapping[str, Any]) -> None:
    """The image, the steps with who did what on the flash, and the growth of memory."""
    preparation = result.get("preparation")
    if preparation:
        key = preparation["key"]
        where = "the case's own guest" if key is None else key[:12]
        console.print(f"preparation: {preparation['outcome']} ({where})", markup=False)
    _print_image(console, result.get("image"))
    tree = result.get("tree")
    if not tree:
        return
    for title, table in (
        ("Steps", _steps(tree["steps"])),
        ("Flash operations by task", _tasks(tree["steps"])),
        ("Growth of memory since before the first mount, KiB", _memory(tree["memory"])),
    ):
        if table.row_count:
            console.print(f"\n{title}")
            console.print(table)


def shows_phases(result: Mapping[str, Any]) -> bool:
    """Its phases are in the table of steps, if there is one."""
    return not result.get("tree")


def _print_image(console: Console, image: Mapping[str, Any] | None) -> None:
    if not image:
        return
    ratio = "" if image["ratio"] is None else f" ({image['ratio']:.2f} : 1)"
    console.print(
        f"image: {image['tree']}, {format_size(image['tree_bytes'])} of files, by {image['tool']}",
        markup=False,
    )
    console.print(
        f"  {image['image_bytes']:,} B{ratio}; {image['flash_bytes']:,} B to program", markup=False
    )
    if image["write_ns"] is not None:
        pages = "" if image["pages"] is None else f"{image['pages']:,} pages in "
        blocks = "" if image["blocks"] is None else f"{image['blocks']:,} blocks, "
        written = f"{pages}{blocks}{format_duration_ns(image['write_ns'])}"
        console.print(f"  written: {written}", markup=False)
    console.print(f"  {image['command']}", markup=False)


def _steps(steps: Sequence[Mapping[str, Any]]) -> Table:
    """A line per step; below it its error, its parts if there are several, what it found."""
    headings = ("time", "flash", "pages r", "pages w", "erased", "entries", "data")
    table = _table(("step",), headings)
    for step in steps:
        counts = (_count(step[n]) for n in ("pages_read", "pages_programmed", "blocks_erased"))
        table.add_row(
            escape(step["phase"]),
            "missing" if step["status"] == "missing" else _duration(step["duration_ns"]),
            _duration(step["flash_ns"]),
            *counts,
            _count(_entries(step)),
            _data(step),
        )
        if step["status"] == "error":
            table.add_row(f"  {escape(step['errno_name'] or 'error')}")
        if len(step["parts"]) > 1:
            for part in step["parts"]:
                table.add_row(f"  {escape(part['phase'])}", _duration(part["duration_ns"]))
        if step["found"]:
            table.add_row("  found", "", "", "", "", "", f"{step['found']:,}")
    return table


def _entries(step: Mapping[str, Any]) -> int | None:
    if step["files"] is None:
        return None
    return int(sum(step[name] for name in ("directories", "files", "links", "others")))


def _data(step: Mapping[str, Any]) -> str:
    """Bytes of the tree, or what a step without one wrote."""
    size = step["bytes_written"] if step["bytes"] is None else step["bytes"]
    return format_size(size) if size else ""


def _tasks(steps: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(("step", "task"), ("pages r", "pages w", "erased", "OOB", "time"))
    names = ("pages_read", "pages_programmed", "blocks_erased", "oob_pages")
    for step in steps:
        for task in step["tasks"]:
            table.add_row(
                escape(step["phase"]),
                escape(task["name"]),
                *(f"{task[name]:,}" for name in names),
                format_duration_ns(task["busy_ns"]),
            )
    return table


def _memory(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Slabs by group, vmalloc, stacks, total; `rest` is what free memory lost besides all that."""
    table = _table(("after",), [heading for _, heading in (*_GROUPS, *_SIZES)])
    for row in rows:
        table.add_row(escape(row["label"]), *_memory_cells(row))
    return table


def _memory_cells(row: Mapping[str, Any]) -> Iterator[str]:
    sizes = [row["slab_bytes"][group] for group, _ in _GROUPS]
    for size in [*sizes, *(row[name] for name, _ in _SIZES)]:
        yield f"{round(size / 1024):,}"


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _duration(duration_ns: int | None) -> str:
    return "" if duration_ns is None else format_duration_ns(duration_ns)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
