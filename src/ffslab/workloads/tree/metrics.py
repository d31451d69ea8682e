"""The figures of a case of workload `tree`: its steps, the memory after them, its image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ffslab.protocol.records import OK
from ffslab.results.criteria import Criterion, rooms, writes_back
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    BY_NAME,
    DURATION,
    FLASH_COUNTS,
    FLASH_PARTS,
    FLASH_TIME,
    IN_DRIVER,
    ON_FLASH,
    PREPARATION,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    task_work,
    timed_figures,
)
from ffslab.workloads.tree.memory import GROUPS, flat_memory
from ffslab.workloads.tree.result import NOT_TIMED
from ffslab.workloads.tree.steps import WRITING
from ffslab.workloads.tree.stored import TreeStep, image_of, tree_of
from ffslab.workloads.tree.words import Role, roles_of

KIND = "tree"
OF = "the workload tree"
NOTE = ""  # docs/result-format.md has its keys of a result
# Steps that only bring about what is measured; that leave data in memory; that come first.
_NOT_DECIDED_BY = (*NOT_TIMED, "log", "sync")
_ACTS = {
    "mount": "mounting",
    "create": "creating the tree",
    "copy": "copying the tree",
    "list": "listing the tree",
    "find": "finding a name",
    "read": "reading the files of a boot",
    "delete": "deleting the tree",
    "unmount": "unmounting",
}
_FILLING = ("create", "copy")
_HEADLINES = ("mount", "create", "copy")
ALL_STEPS = "all steps"
_WORN = ((FLASH_COUNTS[1], "pages programmed"), (FLASH_COUNTS[2], "blocks erased"))
WAITING = ("settle",)  # steps whose time is none of the file system's


def _metric(name: str, title: str, unit: str, meaning: str, scale: float = 1.0) -> Metric:
    return Metric(name=name, title=title, unit=unit, scale=scale, meaning=meaning, kinds=(KIND,))


def _count(name: str, title: str, meaning: str, unit: str = "") -> Metric:
    return Metric(
        name=name, title=title, unit=unit, meaning=meaning, better="neither", kinds=(KIND,)
    )


def _kib(name: str, title: str, meaning: str) -> Metric:
    return _metric(name, title, "KiB", meaning, 1024)


OOB_COUNTS = (
    _metric("oob_reads", "OOB areas read alone", "areas", "without the page's data"),
    _metric("oob_programs", "OOB areas programmed alone", "areas", "without the page's data"),
)
BOOT = _metric(
    "boot_ns", "Boot", "s", "attach, mount and reading the files of the list together", 1e9
)
LISTED = _metric(
    "listed_ns", "Mount to the end of ls", "s", "attach, mount and `list` together", 1e9
)
BIT_ERRORS = (
    _metric("corrected_bitflips", "Bit flips corrected", "bits", "by the ECC, in what was read"),
    _metric("read_errors", "Reads that failed", "reads", "more bit flips than the ECC corrects"),
)
TREE_COUNTS = (
    _count("directories", "Directories", "that the step made, found or removed", "directories"),
    _count("files", "Files", "that the step made, found or removed", "files"),
    _count("links", "Symbolic links", "that the step made, found or removed", "links"),
    _count("others", "Other entries", "devices, sockets and pipes", "entries"),
    _count("bytes", "Bytes of files", "that the step wrote or found", "B"),
    _count("depth", "Depth", "of the deepest directory", "levels"),
    _count("found", "Names found", "by the step `find`", "names"),
)
MEMORY_METRICS = (
    *(
        _kib(f"slab_{group}_bytes", f"Slabs, {group}", "growth of the kernel's object caches")
        for group in GROUPS
    ),
    _kib("vmalloc_bytes", "vmalloc", "growth of memory from vmalloc"),
    _kib("kernel_stack_bytes", "Kernel stacks", "of the file system's threads"),
    _kib("percpu_bytes", "Memory per CPU", "growth since before the file system was there"),
    _kib("total_bytes", "RAM of the file system", "slabs, vmalloc and memory per CPU together"),
    _kib("page_cache_bytes", "Page cache", "cached pages and buffers"),
    _kib("other_bytes", "Other memory", "how much free memory fell beyond all that is counted"),
)
IMAGE_METRICS = (
    _kib("image_bytes", "Image", "as the file system needs it"),
    _kib("flash_bytes", "Image, programmed", "all data that a flasher programs"),
    _kib("tree_bytes", "Source tree", "sum of the sizes of its files"),
    Metric(
        name="ratio",
        title="Compression of the image",
        meaning="bytes of the tree ÷ bytes of the image",
        better="higher",
        exact=False,
        kinds=(KIND,),
    ),
    _metric("write_ns", "Time to write the image", "s", "virtual time on the flash", 1e9),
    _metric("pages", "Pages of the image", "pages", "that the flasher programs"),
    _metric("blocks", "Blocks of the image", "blocks", "that the flasher uses"),
)
METRICS = (BOOT, LISTED, *OOB_COUNTS, *BIT_ERRORS, *TREE_COUNTS, *MEMORY_METRICS, *IMAGE_METRICS)
STEP_METRICS = (
    DURATION,
    *FLASH_PARTS,
    FLASH_TIME,
    IN_DRIVER,
    *FLASH_COUNTS,
    *OOB_COUNTS,
    *BIT_ERRORS,
    BY_NAME["bytes_read"],
    BY_NAME["bytes_written"],
    *TREE_COUNTS,
)


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    image = image_of(result)
    return (
        *case_figures(result),
        *(figure for step in _steps(result) for figure in _step_figures(step)),
        *boots(result),
        *listed(result),
        *_memory_figures(result),
        *(figures_at(image, "image", IMAGE_METRICS, ("image_bytes",)) if image else ()),
        *latency_figures(result),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: the steps' times, the memory after a mount, wear, the image."""
    steps = [step for step in _steps(result) if not step["prepared"]]
    roles = {step["phase"]: role_of(result, step) for step in steps}
    writes = any(step["step"] in WRITING for step in steps)
    every = ALL_STEPS if writes else "all steps, which only read"  # no match for those that write
    if steps and steps[-1]["step"] == "unmount":
        whole = sum(step["duration_ns"] or 0 for step in steps if step["step"] not in WAITING)
        title = f"{every}, until all is on the flash" if writes else every
        figure = Figure(ON_FLASH, ALL_STEPS, whole)
        yield Criterion(figure, title, "time", headline=writes, short=ALL_STEPS)
    for boot in boots(result):
        title = f"booting: attach, mount and {_act(roles[boot.place], 'read')}"
        yield Criterion(boot, title, "time", headline=True, short="boot")
    for seen in listed(result):
        role = roles[seen.place]
        title = f"from mount to the end of {_act(role, 'ls')}"
        short = f"mount to {_act(role, 'ls')}"
        yield Criterion(seen, title, "time", headline=role.is_first, short=short)
    yield from _step_criteria(result, steps, roles)
    for metric, words in _WORN:
        counts = [count for step in steps if isinstance(count := step.get(metric.name), int)]
        if counts:
            figure, title = Figure(metric, ALL_STEPS, sum(counts)), f"{words}, {every}"
            yield Criterion(figure, title, "wear", incidental=not writes)
    yield from _ram(result, roles, asked=not writes)
    image = image_of(result)
    if image is not None:
        for figure in figures_at(image, "image", IMAGE_METRICS[:1]):
            yield Criterion(figure, "size of the image", "space", short="image")
    else:
        yield from rooms(result)


def _ram(result: CaseResult, roles: Mapping[str, Role], *, asked: bool) -> Iterator[Criterion]:
    """The RAM after each mount, first that on the flash which the study is about; `asked`: this is
    what the verdict hangs on, beside the time of that mount.
    """
    after = [
        (roles[figure.place.removeprefix("memory after ")], figure)
        for figure in _memory_figures(result)
        if figure.main
    ]
    for role, figure in sorted(after, key=lambda entry: not entry[0].is_first):
        title = f"RAM of the file system after {_act(role)}"
        headline = asked and role.is_first
        yield Criterion(figure, title, "memory", headline, short=f"RAM after {role.place}")


def _step_criteria(
    result: CaseResult, steps: Sequence[TreeStep], roles: Mapping[str, Role]
) -> Iterator[Criterion]:
    """The time of each step that does something."""
    late = writes_back(result) and not result["spec"]["workload"].get("sync")
    for step in steps:
        if step["step"] not in _NOT_DECIDED_BY:
            role = roles[step["phase"]]
            figure = Figure(DURATION, step["phase"], step["duration_ns"] or 0)
            in_memory = late and step["step"] in _FILLING
            headline = step["step"] in _HEADLINES and role.is_first
            yield Criterion(figure, _act(role), "time", headline, in_memory, short=role.place)


def role_of(result: CaseResult, step: TreeStep) -> Role:
    """What a step is in the list of its case."""
    return roles_of(str(result["spec"]["workload"]["steps"]).split())[step["index"]]


def _act(role: Role, word: str = "") -> str:
    """A role as something that is done; `word`: what its word is called there."""
    return role.place.replace(role.word, word or _ACTS.get(role.word, role.word), 1)


def boots(result: CaseResult) -> Iterator[Figure]:
    """From nothing to the files of the list: each step `read` with the mount before it.

    What was done between the two is left out.
    """
    for step, whole_ns in _from_mount(result, "read"):
        yield Figure(BOOT, step["phase"], whole_ns, main=True)


def listed(result: CaseResult) -> Iterator[Figure]:
    """From nothing to the end of `ls -R`: each step `list` with the mount before it."""
    for step, whole_ns in _from_mount(result, "list"):
        if not step["prepared"]:
            yield Figure(LISTED, step["phase"], whole_ns)


def _from_mount(result: CaseResult, word: str) -> Iterator[tuple[TreeStep, float]]:
    """The first step `word` after each mount, with the time of both."""
    mount_ns: float | None = None
    for step in _steps(result):
        if step["step"] == "mount":
            mount_ns = step["duration_ns"]
        elif step["step"] == word and mount_ns is not None:
            yield step, mount_ns + (step["duration_ns"] or 0)
            mount_ns = None  # what is read again is in memory


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash in each step."""
    return tuple(work for step in _steps(result) for work in task_work(_place(step), step["tasks"]))


def _steps(result: CaseResult) -> list[TreeStep]:
    """The steps that came to their end."""
    tree = tree_of(result)
    steps = tree["steps"] if tree else ()
    return [step for step in steps if step["status"] == OK and step["duration_ns"] is not None]


def _place(step: TreeStep) -> str:
    """Its phase; the guest that prepared the flash has phases of the same names."""
    return f"{PREPARATION}: {step['phase']}" if step["prepared"] else step["phase"]


def _step_figures(step: TreeStep) -> Iterator[Figure]:
    main = () if step["prepared"] or step["step"] in WAITING else (DURATION.name,)
    yield from timed_figures(step, _place(step), STEP_METRICS, main)
    if len(step["parts"]) > 1:
        for part in step["parts"]:
            yield from figures_at(part, f"{_place(step)}/{part['phase']}", (DURATION,))


def _memory_figures(result: CaseResult) -> Iterator[Figure]:
    tree = tree_of(result)
    for row in tree["memory"] if tree else ():
        where = f"{PREPARATION}: memory after" if row["prepared"] else "memory after"
        is_mount = row["label"].partition("-")[0] == "mount" and not row["prepared"]
        main = ("total_bytes",) if is_mount else ()
        yield from figures_at(flat_memory(row), f"{where} {row['label']}", MEMORY_METRICS, main)
