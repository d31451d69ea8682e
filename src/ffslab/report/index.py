"""The index of a directory of runs: one page that lists them all, the newest first.

It is made of manifests and of what each report says in a line, never of results, so that it can be
made anew after each run. A file of that name that ffslab did not write stays as it is.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from typing_extensions import TypedDict

from ffslab.errors import DamagedResultError, UsageError
from ffslab.model.canonical import canonical_json
from ffslab.program import command
from ffslab.report.charts import PALETTE
from ffslab.report.elements import environment
from ffslab.report.wear import RAMP
from ffslab.results.files import disk_error, read_json_as, write_atomic
from ffslab.results.outcome import KNOWN, OUTCOMES
from ffslab.results.rundir import all_runs
from ffslab.results.summary import COMPLETE, DAMAGED, RunSummary, summary_of
from ffslab.visible_text import visible, without_surrogates

INDEX = "index.html"
REPORT = "report.html"
HEADLINE = "report.json"
_MARK = b'<meta name="generator" content="ffslab index">'
_MARK_WITHIN_BYTES = 512
_COMPARED, _WITH = "compare-", ".."
_SIGNS = ("✓", "▲", "✕")
_MARKED = {"pass": 0, "skip": 0, "short": 1, KNOWN: 1}  # by outcome; every other is a failure
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)Z", re.ASCII)


class Told(TypedDict):
    """What a report says of its run in a line."""

    headline: str
    title: str


@dataclass(frozen=True)
class Row:
    """A run as the template shows it.

    `number` counts runs from the oldest, `order` is the start in digits, and `gravity` an index of
    `_SIGNS`. `word` is the run in a command. `pages` are those in its directory with their
    addresses, the report first.
    """

    number: int
    name: str
    word: str
    summary: RunSummary
    gravity: int
    outcome: str
    told: Told
    started: str
    order: int
    pages: tuple[tuple[str, str], ...]

    @property
    def sign(self) -> str:
        return _SIGNS[self.gravity]


def keep_headline(page: Path, run_dir: Path, headline: str, title: str) -> None:
    """Keeps beside the results what a page says of them, if it stands there, too."""
    if page.resolve().parent == run_dir.resolve():
        told: Told = {"headline": headline, "title": title}
        write_atomic(run_dir / HEADLINE, canonical_json(told) + "\n")


def is_ours(path: Path) -> bool:
    """Whether an index that ffslab wrote stands there."""
    try:
        with path.open("rb") as file:
            return _MARK in file.read(_MARK_WITHIN_BYTES)
    except OSError:
        return False


def write_index(root: Path) -> Path:
    """Makes the index of the runs in `root` anew; its path.

    UsageError if another page has its name, MissingExtraError without the packages of a report.
    """
    path = root / INDEX
    with _alone(root):
        if path.exists() and not is_ours(path):
            raise UsageError(
                f"{path} is not an index of ffslab's",
                cause="another page has that name",
                remedy="another name for that page, or another directory for runs (-o)",
            )
        write_atomic(path, render_index(root))
    return path


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Processes that end together write one after the other, and the last has all runs."""
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise disk_error(error, root) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def render_index(root: Path) -> str:
    """The page, in which nothing acts on who looks at its text."""
    rows = _rows(root)
    page = (
        environment()
        .get_template("index.html.j2")
        .render(
            root=str(root),
            rows=rows[::-1],
            states=Counter(row.summary.state for row in rows),
            comparing={
                "command": command("compare"),
                "html": shlex.join(("--html", str(root))),
                "pages": _comparisons(root, rows),
            },
            first=command("run", "quick", "-o", root),
            palette=PALETTE,
            ramp=RAMP,
        )
    )
    return without_surrogates(visible(page))


def _rows(root: Path) -> list[Row]:
    """The rows, the oldest first."""
    summaries = [summary_of(run, with_size=False) for run in all_runs(root)]
    summaries.sort(key=lambda summary: (_started(summary), summary.path.name))
    return [_row(number, summary) for number, summary in enumerate(summaries)]


def _started(summary: RunSummary) -> tuple[str, ...]:
    """Year to second of the start, as the manifest or the name of the run has it."""
    known = _TIME.fullmatch(summary.started) or _TIME.match(summary.path.name)
    return known.groups() if known else ()


def _row(number: int, summary: RunSummary) -> Row:
    started = _started(summary)
    gravity, outcome = _ending(summary)
    return Row(
        number=number,
        name=summary.path.name,
        word=shlex.quote(str(summary.path)),
        summary=summary,
        gravity=gravity,
        outcome=outcome,
        told=_told(summary),
        started="{}-{}-{} {}:{}".format(*started) if started else "–",
        order=int("".join(started) or 0),
        pages=tuple(_pages(summary.path)),
    )


def _ending(summary: RunSummary) -> tuple[int, str]:
    """How a run ended: how grave that is, and in words, the gravest outcome first."""
    if summary.state == DAMAGED:
        return 2, DAMAGED
    order: dict[str, int] = {outcome: number for number, outcome in enumerate(OUTCOMES)}
    order[KNOWN] = order["short"]
    counts = sorted(summary.counts.items(), key=lambda item: order.get(item[0], -1))
    shown = [f"{count:,}\u00a0{outcome}" for outcome, count in counts]
    words = ", ".join((*shown, *(said.replace(" ", "\u00a0") for said in summary.beyond)))
    gravity = max((_MARKED.get(outcome, 2) for outcome, _ in counts), default=0)
    if summary.judged is not None and not summary.judged["good"]:
        gravity = 2
    if summary.state == COMPLETE:
        return gravity, words or f"{summary.cases_total:,} cases"
    done = sum(count for _, count in counts)
    told = f"{summary.state}, {done:,} of {summary.cases_total:,} cases"
    return max(gravity, 1), f"{told}: {words}" if words else told


def _told(summary: RunSummary) -> Told:
    """What the run's report says, or its title alone."""
    try:
        told = read_json_as(summary.path / HEADLINE, Told)
    except DamagedResultError:
        told = Told(headline="", title="")
    return Told(headline=told["headline"], title=told["title"] or summary.title)


def _pages(run: Path) -> Iterator[tuple[str, str]]:
    """The pages in a run's directory with their addresses, the report first."""
    names = [path.name for path in run.glob("*.html")]
    for name in sorted(names, key=lambda name: (name != REPORT, name)):
        yield name.removesuffix(".html"), _address(f"{run.name}/{name}")


def comparison_page(base: str, *others: str) -> str:
    """How the page is called that compares a run with others."""
    return f"{_COMPARED}{_WITH.join((base, *others))}.html"


def _address(path: str) -> str:
    return quote(os.fsencode(path))


def _comparisons(root: Path, rows: Sequence[Row]) -> Mapping[str, str]:
    """The addresses of the pages that compare two runs, by the numbers of these: "3 7"."""
    numbers = {row.name: row.number for row in rows}
    pages = sorted(root.glob(comparison_page("*", "*")))
    pairs = [(page, *page.stem.removeprefix(_COMPARED).partition(_WITH)[::2]) for page in pages]
    return {
        f"{numbers[base]} {numbers[new]}": _address(page.name)
        for page, base, new in pairs
        if base in numbers and new in numbers
    }
