"""Tables of workload `tree` for a terminal of 80 columns: steps, memory, the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from ffslab.model.units import format_duration_ns, format_size
from ffslab.results.result import CaseResult
from ffslab.workloads.tree.stored import ImageResult, MemoryResult, TreeStep, image_of, tree_of

HEADINGS = ("mount", "all steps", "RAM")
_MEMORY = ("fs", "kmalloc", "inodes", "other", "vmalloc", "stacks", "total", "rest")


def cells(result: CaseResult) -> Sequence[str]:
    """For a case's line in the table of a run: first mount, all steps, RAM after that mount.

    All of the case's own guest, not what prepared the flash; without `settle`, which waits.
    """
    tree = tree_of(result) or {"steps": [], "memory": []}
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


def print_case(console: Console, result: CaseResult) -> None:
    """The image, the steps with who did what on the flash, and the growth of memory."""
    preparation = result.get("preparation")
    if preparation:
        key = preparation["key"]
        where = "the case's own guest" if key is None else key[:12]
        console.print(f"preparation: {preparation['outcome']} ({where})", markup=False)
    _print_image(console, image_of(result))
    tree = tree_of(result)
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


def shows_phases(result: CaseResult) -> bool:
    """Its phases are in the table of steps, if there is one."""
    return not tree_of(result)


def _print_image(console: Console, image: ImageResult | None) -> None:
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


def _steps(steps: Sequence[TreeStep]) -> Table:
    """A line per step; below it its error, its parts if there are several, what it found."""
    headings = ("time", "flash", "pages r", "pages w", "erased", "entries", "data")
    table = _table(("step",), headings)
    for step in steps:
        counts = (step["pages_read"], step["pages_programmed"], step["blocks_erased"])
        table.add_row(
            step["phase"],
            "missing" if step["status"] == "missing" else _duration(step["duration_ns"]),
            _duration(step.get("flash_ns")),
            *map(_count, counts),
            _count(_entries(step)),
            _data(step),
        )
        if step["status"] == "error":
            table.add_row(f"  {step['errno_name'] or 'error'}")
        if len(step["parts"]) > 1:
            for part in step["parts"]:
                table.add_row(f"  {part['phase']}", _duration(part["duration_ns"]))
        if step["found"]:
            table.add_row("  found", "", "", "", "", "", f"{step['found']:,}")
    return table


def _entries(step: TreeStep) -> int | None:
    counts = (step["directories"], step["files"], step["links"], step["others"])
    return None if step["files"] is None else sum(count or 0 for count in counts)


def _data(step: TreeStep) -> str:
    """Bytes of the tree, or what a step without one wrote."""
    size = step["bytes_written"] if step["bytes"] is None else step["bytes"]
    return format_size(size) if size else ""


def _tasks(steps: Sequence[TreeStep]) -> Table:
    table = _table(("step", "task"), ("pages r", "pages w", "erased", "OOB", "time"))
    for step in steps:
        for task in step["tasks"]:
            table.add_row(
                step["phase"],
                task["name"],
                f"{task['pages_read']:,}",
                f"{task['pages_programmed']:,}",
                f"{task['blocks_erased']:,}",
                f"{task['oob_pages']:,}",
                format_duration_ns(task["busy_ns"]),
            )
    return table


def _memory(rows: Sequence[MemoryResult]) -> Table:
    """Slabs by group, vmalloc, stacks, total; `rest` is what free memory lost besides all that."""
    table = _table(("after",), _MEMORY)
    for row in rows:
        table.add_row(row["label"], *_memory_cells(row))
    return table


def _memory_cells(row: MemoryResult) -> Iterator[str]:
    slabs = row["slab_bytes"]
    groups = (slabs["filesystem"], slabs["kmalloc"], slabs["inodes"], slabs["other"])
    own = (row["vmalloc_bytes"], row["kernel_stack_bytes"], row["total_bytes"], row["other_bytes"])
    for size in (*groups, *own):
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
