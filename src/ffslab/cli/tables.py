"""Tables of results for a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ffslab.model.kernels import kernel_words
from ffslab.model.specs import DEFAULT_VARIANT, variant_without_board
from ffslab.model.units import format_duration_ns
from ffslab.results.missed import Missed
from ffslab.results.outcome import KNOWN, MISSED, OUTCOMES
from ffslab.results.result import (
    CaseHead,
    CaseResult,
    ShortResult,
    WallResult,
)
from ffslab.results.shortfall import is_accepted, is_good
from ffslab.visible_text import visible
from ffslab.workloads.modules import terminal_module
from ffslab.workloads.registry import kind_of

# The gravest first; what fails by known findings alone, and then what missed a limit, is worse than
# all that is no failure.
_WORDS = [word for kind in OUTCOMES for word in (kind, *((KNOWN, MISSED) * (kind == "fail")))]
_ORDER: Mapping[str, int] = {word: number for number, word in enumerate(_WORDS)}
_STYLE = {"pass": "green", "skip": "yellow", KNOWN: "yellow", MISSED: "red"}
FEW_CASES = 12  # fewer of them have a line each
_CASE_WIDTH = 31  # at least
_EXAMPLES = 3  # of cases that are short as their study allows


def print_unpadded(console: Console, table: Table) -> None:
    """Prints a table; in a file or a pipe its lines do not end in spaces."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), soft_wrap=True)


CaseTable = tuple[Sequence[str], Sequence[Sequence[str | Text]]]  # headings and rows


def outcome_word(head: CaseHead, known: Collection[str], missed: Collection[str] = ()) -> str:
    """What a case is called; `known`: the cases that fail by known findings alone, `missed`: those
    beyond a limit of their study.
    """
    if head["id"] in missed and head["outcome"] == "pass":
        return MISSED
    return KNOWN if head["id"] in known else head["outcome"]


def case_tables(
    results: Iterable[CaseResult],
    walls: Mapping[str, WallResult],
    known: Collection[str] = (),
    missed: Iterable[Missed] = (),
) -> tuple[CaseTable, ...]:
    """A table of one line per case, failures first and then what missed a limit, for each workload;
    `known`: see `outcome_word`.

    Results are taken one after the other: a large run has more than there is memory.
    """
    rows: dict[str, list[tuple[int, Sequence[str | Text]]]] = {}
    beyond = {miss.case for miss in missed}
    for result in results:
        kind, word = kind_of(result["spec"]), outcome_word(result, known, beyond)
        row = _row(terminal_module(kind).cells, result, word, walls)
        rows.setdefault(kind, []).append((_ORDER.get(word, 0), row))
    return tuple(
        (
            terminal_module(kind).HEADINGS,
            [cells for _, cells in sorted(rows[kind], key=lambda row: row[0])],
        )
        for kind in sorted(rows)
    )


def print_cases(console: Console, tables: Iterable[CaseTable], most: int | None = None) -> None:
    """The tables, each with its first rows only if there are more than `most`."""
    for headings, rows in tables:
        _print_table(console, headings, rows[:most])


def failure_lines(
    heads: Iterable[CaseHead], *, each: bool, known: Collection[str] = ()
) -> list[str]:
    """What did not pass with its reason, the worst first: `each` case, or one for all that have its
    reason. Those that are short as their study allows are many or none, and not among them.
    """
    failed = [
        head
        for head in heads
        if head["outcome"] != "pass" and not is_accepted(head["outcome"], head.get("short"))
    ]
    alike: dict[tuple[str, ...], list[str]] = {}
    words = {head["id"]: outcome_word(head, known) for head in failed}
    for head in sorted(failed, key=lambda head: _ORDER.get(words[head["id"]], 0)):
        said = (words[head["id"]], head["reason"], *([head["id"]] if each else []))
        alike.setdefault(said, []).append(head["id"])
    return [
        f"{ids[0]}{f' and {len(ids) - 1} more' if len(ids) > 1 else ''}: {outcome}: {reason}"
        for (outcome, reason, *_), ids in alike.items()
    ]


def missed_lines(missed: Iterable[Missed], unused: Iterable[str]) -> list[str]:
    """What is beyond a limit of the study, and the limits that no figure was held against."""
    return [*(f"{miss.case}: missed: {miss.text}" for miss in missed), *unused]


def limit_counts(missed: Iterable[Missed], unused: Sequence[str]) -> str:
    """Behind the outcomes, in cases: ", 2 missed"; nothing where all limits are kept."""
    count = len({miss.case for miss in missed})
    told = f", {count} missed" if count else ""
    return f"{told}, limits not checked: {len(unused)}" if unused else told


def short_lines(heads: Sequence[CaseHead], *, examples: bool) -> list[str]:
    """How many cases measured less than was asked for, as their study allows, how much less, and
    with `examples` the worst of them.
    """
    short = [
        (head, how)
        for head in heads
        if (how := head.get("short")) and is_accepted(head["outcome"], how)
    ]
    if not short:
        return []
    ordered = sorted(short, key=lambda entry: _share(entry[1]))
    shares = dict.fromkeys((_percent(ordered[0][1]), _percent(ordered[-1][1])))
    full = sum(1 for _, how in short if how["stopped"])
    causes = ((full, "filled the partition"), (len(short) - full, "had no room for all of it"))
    told = (
        f"SHORT: {len(short)} of {len(heads)} cases measured less than was asked for, "
        f"{' to '.join(shares)} of it: {', '.join(f'{n} {why}' for n, why in causes if n)}"
    )
    # A partition that filled up is a finding; room for less is known beforehand.
    worst = sorted(ordered, key=lambda entry: not entry[1]["stopped"])
    lines = [f"  {head['id']}: {head['reason']}" for head, _ in worst[:_EXAMPLES]]
    if len(worst) > _EXAMPLES:
        lines.append(f"  … and {len(worst) - _EXAMPLES} more")
    return [told, *(lines if examples else [])]


def _share(short: ShortResult) -> float:
    """How much of what was asked for was measured; 0 if it is not known."""
    return short["measured"] / short["asked"] if short["asked"] else 0.0


def _percent(short: ShortResult) -> str:
    """Rounded down: what is short is never shown as all, nor as nothing if there is something."""
    percent = int(_share(short) * 100)
    return "<1%" if not percent and short["measured"] else f"{percent}%"


def _outcome_cell(result: CaseHead, outcome: str) -> Text:
    """The outcome; of a short case with the share that it measured."""
    style = _STYLE.get(outcome, "yellow" if is_good(result) else "red")
    short = result.get("short")
    shown = f"{outcome} {_percent(short)}" if short and short["asked"] else outcome
    return Text(shown, style)


def kernel_lines(results: Iterable[CaseHead]) -> list[str]:
    """The lab kernels of the results, unless all are the one that their board has anyway."""
    counts = Counter(variant_without_board(kernel_words(result["spec"])) for result in results)
    if not set(counts) - {DEFAULT_VARIANT}:
        return []
    return [f"lab kernel {words}: {count} cases" for words, count in counts.items()]


def _row(
    cells: Callable[[CaseResult], Sequence[str]],
    result: CaseResult,
    word: str,
    walls: Mapping[str, WallResult],
) -> Sequence[str | Text]:
    wall = walls.get(result["id"])
    return (
        result["id"],
        _outcome_cell(result, word),
        *cells(result),
        format_duration_ns(wall["wall_ns"]) if wall else "",
    )


def _print_table(
    console: Console, headings: Sequence[str], rows: Sequence[Sequence[str | Text]]
) -> None:
    """The table of cases: where nothing is coloured or wrapped without rich's layout, which takes
    milliseconds for each row.
    """
    head = ("case", "outcome", *headings, "wall")
    plain = [head, *(tuple(visible(str(cell)) for cell in row) for row in rows)]
    widths = [max(cell_len(row[column]) for row in plain) for column in range(len(head))]
    widths[0] = max(widths[0], _CASE_WIDTH)
    if console.color_system or sum(widths) + len(widths) > console.width:
        console.print(_results_table(headings, rows))
        return
    for row in plain:
        padding = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        words = [cell + blank for cell, blank in zip(row[:2], padding[:2], strict=True)]
        figures = [blank + cell for cell, blank in zip(row[2:], padding[2:], strict=True)]
        console.out(" ".join((*words, *figures)), highlight=False)


def _results_table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    table = _table(gap=1)
    table.add_column("case", overflow="fold", min_width=_CASE_WIDTH)
    table.add_column("outcome")
    for heading in (*headings, "wall"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def print_phases(console: Console, result: CaseResult) -> None:
    """The phases of one case."""
    table = _table()
    table.add_column("phase", no_wrap=True)
    for heading in ("time", "MB/s r", "MB/s w", "pages r", "pages w", "erased", "spread", "WA"):
        table.add_column(heading, justify="right", no_wrap=True)
    for phase in result["phases"]:
        amplification = phase.get("write_amplification")
        table.add_row(
            phase["phase"],
            format_duration_ns(phase["duration_ns"]),
            _rate(phase["read_bytes_per_s"]),
            _rate(phase["write_bytes_per_s"]),
            _count(phase.get("pages_read")),
            _count(phase.get("pages_programmed")),
            _count(phase.get("blocks_erased")),
            _count(phase.get("erases_spread")),
            "" if amplification is None else f"{amplification:.2f}",
        )
    console.print(table)


def print_latencies(console: Console, result: CaseResult) -> None:
    """The latencies of one case."""
    table = _table()
    table.add_column("phase", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    for heading in ("count", "mean", "p50", "p99", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    for latency in result["latencies"]:
        if latency["count"]:
            times = (latency["mean_ns"], latency["p50_ns"], latency["p99_ns"], latency["max_ns"])
            table.add_row(
                latency["phase"],
                latency["op"],
                _count(latency["count"]),
                *map(format_duration_ns, times),
            )
    console.print(table)


def outcome_counts(results: Sequence[CaseHead], known: Collection[str] = ()) -> str:
    """For example "34 pass, 2 fail", or "9 short (3 of them failed)"."""
    counts: dict[str, int] = {}
    for result in results:
        word = outcome_word(result, known)
        counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts, key=lambda outcome: _ORDER.get(outcome, 0), reverse=True)
    shown = {outcome: f"{counts[outcome]} {outcome}" for outcome in ordered}
    too_short = sum(1 for r in results if r["outcome"] == "short" and not is_good(r))
    if too_short:
        shown["short"] += f" ({too_short} of them failed)"
    return ", ".join(shown.values()) or "no case"


def _table(gap: int = 2) -> Table:
    """Columns `gap` blanks apart, without lines: 80 columns are few."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _rate(bytes_per_s: float) -> str:
    if not bytes_per_s:
        return ""
    mega = bytes_per_s / 1e6
    return f"{mega:.2f}" if mega < 100 else f"{mega:,.0f}"
