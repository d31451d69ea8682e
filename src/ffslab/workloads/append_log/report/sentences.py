"""What a run of append-log found, in sentences computed by rules.

Configurations are compared point by point (`ffslab.compare.standing`). A state is compared with the
first of the study at the same point. Nothing here knows a result beforehand.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from ffslab.compare.ratios import all_alike
from ffslab.compare.standing import Extent, extent_of_change, standing
from ffslab.report import data
from ffslab.report.quantity import capitalized, duration, grouped, significant
from ffslab.report.standings import (
    TO,
    behind_text,
    change_text,
    extent_text,
    lacking_text,
    listed,
    who_is_first,
)
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.append_log.metrics import PAGES
from ffslab.workloads.append_log.report.load import DAEMON, LogCase, LogRun, operations
from ffslab.workloads.append_log.report.series import (
    Value,
    lines_of,
    of_line,
    of_metric,
    plain,
    slowest,
)
from ffslab.workloads.append_log.result import SLOW_TIMES

_BACKGROUND = 0.05  # a share of the pages that is worth a sentence
_MANY = 99  # followers in a sentence: all


def topics(run: LogRun) -> tuple[Topic, ...]:
    """The sentences by question, those that the run can answer."""
    all_topics = (
        Topic("How long does a line take, and how long the slowest?", (*_latency(run),)),
        Topic("How many pages does a line take?", (*_pages(run),)),
        Topic("What does it wear?", (*_life(run),)),
        Topic("Where do garbage collection and rotation show?", (*_disturbances(run),)),
    )
    return tuple(topic for topic in all_topics if topic.sentences)


def _lead(pane: str) -> str:
    return capitalized(f"{pane}: ") if pane else ""


def _latency(run: LogRun) -> Iterator[Sentence]:
    for pane in run.panes:
        order = standing(plain(lines_of(run, pane, of_line(99))))
        if order is not None:
            told = who_is_first(order, run.axis, {})
            told += behind_text(order, run.axis, {}, _MANY) + lacking_text(order, run.axis)
            by = f" by {run.axis.word}" if run.axis else ""
            yield Sentence(f"{_lead(pane)}99th percentile of a line{by} – {told}.")
    worst = max(run.measured, key=lambda log_case: slowest(log_case) or 0.0, default=None)
    took = slowest(worst) if worst is not None else None
    median = of_line(50)(worst) if worst is not None else None
    if worst is None or not took or not median:
        return
    scenario = run.place(worst.pane, worst.point)
    where = f"{worst.label} ({scenario})" if scenario else worst.label
    yield Sentence(
        f"The slowest line of the run took **{duration(took)}**, on {where}: "
        f"{significant(took / median)} times its median of {duration(median)}."
    )
    yield from _slow(run)


def _slow(run: LogRun) -> Iterator[Sentence]:
    """Which configurations have slow lines, and at worst how many."""
    parts, none = [], []
    for label in run.labels:
        cases = [log_case for log_case in run.measured if log_case.label == label]
        worst = max(cases, key=lambda log_case: log_case.case.metrics.get("slow_share", 0.0))
        share = worst.case.metrics.get("slow_share", 0.0)
        if not share:
            none.append(label)
            continue
        scenario = run.place(worst.pane, worst.point)
        where = f" ({scenario})" if scenario else ""
        parts.append(f"{label} up to {significant(100 * share, 2)} %{where}")
    if parts:
        rest = f"; of {listed(none)} none" if none else ""
        yield Sentence(
            f"Lines of more than {SLOW_TIMES} times the median: {'; '.join(parts)}{rest}."
        )


def _pages(run: LogRun) -> Iterator[Sentence]:
    """Pages of a line at the ends of the axis, all configurations beside each other."""
    ends = dict.fromkeys((run.points[0], run.points[-1]))
    for pane in run.panes:
        lines = plain(lines_of(run, pane, of_metric("pages_per_line")))
        told = []
        for point in ends:
            known = sorted((line[point], label) for label, line in lines.items() if point in line)
            words = listed([f"{label} {significant(value)}" for value, label in known])
            where = f"{run.axis.text(point)}: " if run.axis else ""
            if known:
                told.append(f"{where}{words}")
        if told:
            yield Sentence(capitalized(f"{_lead(pane)}pages per line – {'; '.join(told)}."))
    yield from _amplified(run)


def _amplified(run: LogRun) -> Iterator[Sentence]:
    """How many bytes are programmed for one of the log."""
    shown = [
        (value, log_case)
        for log_case in run.measured
        if (value := log_case.case.metrics.get("write_amplification")) is not None
    ]
    if not shown:
        return
    (least, best), (most, worst) = (
        choose(shown, key=lambda entry: entry[0]) for choose in (min, max)
    )
    if all_alike((least, most)):
        extents = f"**{significant(most)}** bytes"
    else:
        extents = (
            f"from {significant(least)} bytes ({_case_words(run, best)}) to "
            f"**{significant(most)}** ({_case_words(run, worst)})"
        )
    yield Sentence(f"For a byte of the log the chip programs {extents}.")


def _life(run: LogRun) -> Iterator[Sentence]:
    """How soon the pace of the cases wears the partition out."""
    shown = [
        (value, log_case)
        for log_case in run.measured
        if (value := log_case.case.metrics.get("life_years"))
    ]
    if not shown:
        return
    (least, worst), (most, best) = (
        choose(shown, key=lambda entry: entry[0]) for choose in (min, max)
    )
    lines = grouped(round(worst.case.metrics["life_lines"] / 1e6))
    if all_alike((least, most)):
        extents = f"**{significant(least, 2)} years** ({lines} million lines)"
    else:
        extents = (
            f"from **{significant(least, 2)} years** ({_case_words(run, worst)}; {lines} million "
            f"lines) to {significant(most, 2)} years ({_case_words(run, best)})"
        )
    yield Sentence(
        "At the pace of the cases, and with ideal wear levelling, the partition’s rated erases "
        f"last {extents}."
    )


def _disturbances(run: LogRun) -> Iterator[Sentence]:
    yield from _states(run)
    yield from _background(run)
    yield from _rotations(run)


def _states(run: LogRun) -> Iterator[Sentence]:
    """What each pane changes against the first, where the state alone tells them apart."""
    states = data.values_of([log_case.case for log_case in run.measured], data.STATE)
    if len(states) < 2 or len(states) != len(run.panes):
        return
    base = run.panes[0]
    for pane in run.panes[1:]:
        for label in run.labels:
            longest = _change(run, label, base, pane, slowest)
            pages = _change(run, label, base, pane, of_metric("pages_per_line"))
            if longest is None or pages is None:
                continue
            took = change_text(longest, run.axis)
            more = extent_text(pages, run.axis, PAGES).replace(f" {PAGES.unit}", "")
            yield Sentence(
                f"{label}, {pane} against {base}: the slowest line {took}; pages per line {more}."
            )


def _change(run: LogRun, label: str, base: str, pane: str, value: Value) -> Extent | None:
    before, after = (plain(lines_of(run, either, value)).get(label, {}) for either in (base, pane))
    return extent_of_change(
        (point, before[point], after[point]) for point in after if point in before
    )


def _background(run: LogRun) -> Iterator[Sentence]:
    """Whose pages are not the daemon's own."""
    parts = []
    for label in run.labels:
        shares = [
            share
            for log_case in run.measured
            if log_case.label == label and (share := background_share(log_case)) is not None
        ]
        if shares and max(shares) >= _BACKGROUND:
            low, high = (f"{significant(100 * share, 2)}" for share in (min(shares), max(shares)))
            extents = f"{low}{TO}{high}" if low != high else high
            names = listed(_others(run, label))
            parts.append(f"{label} {extents} % ({names})")
    if parts:
        yield Sentence(f"Pages that other tasks than the daemon program: {'; '.join(parts)}.")


def background_share(log_case: LogCase) -> float | None:
    """The share of the pages that other tasks programmed; None if none was."""
    total = sum(pages for _, pages in log_case.tasks)
    own = sum(pages for name, pages in log_case.tasks if name in DAEMON)
    return (total - own) / total if total else None


def _others(run: LogRun, label: str) -> list[str]:
    """The tasks beside the daemon, the busiest first; kworkers as one."""
    sums: dict[str, int] = {}
    for log_case in run.measured:
        for name, pages in log_case.tasks if log_case.label == label else ():
            word = name.partition("/")[0]
            if name not in DAEMON and pages:
                sums[word] = sums.get(word, 0) + pages
    return sorted(sums, key=lambda name: (-sums[name], name))


def _rotations(run: LogRun) -> Iterator[Sentence]:
    for label in run.labels:
        cases = [log_case for log_case in run.measured if log_case.label == label]
        rotate, line = operations(cases, "rotate"), operations(cases, "line")
        if rotate is None or line is None:
            continue
        ratio = rotate.percentile_ns(50) / line.percentile_ns(50)
        yield Sentence(
            f"{label}: a rotation takes {duration(rotate.percentile_ns(50))} at the median, "
            f"{significant(ratio)} times what a line takes; the slowest of "
            f"{grouped(rotate.count)} took {duration(rotate.max_ns)}."
        )


def _case_words(run: LogRun, log_case: LogCase) -> str:
    scenario = run.place(log_case.pane, log_case.point)
    return f"{log_case.label}, {scenario}" if scenario else log_case.label


def why(filesystems: Container[str]) -> tuple[str, ...]:
    """How each file system comes to its pages per synced line, for those that the run has."""
    return tuple(text for name, text in _WHY.items() if name in filesystems)


# What is programmed for a line that is synced by itself, from the sources of the file systems.
_WHY: Mapping[str, str] = {
    "jffs2": "JFFS2 writes one node with the line and the file’s size: a page. Where there is "
    "something to collect, a sync fills the rest of the page with nodes that garbage collection "
    "moves. When a 4 KiB page of the file is complete it is written once more, as one node. The "
    "first sync after a mount waits until the nodes of all files have been checked.",
    "ubifs": "UBIFS writes the last 4 KiB of the file again, compressed, and the file’s inode: two "
    "journal heads, each of which a sync fills up to a page. The data take two pages once they are "
    "longer than one. Commits of the index come on top.",
    "yaffs2": "YAFFS2 writes the last chunk of the file again, and an object header with its new "
    "size: two pages.",
}
