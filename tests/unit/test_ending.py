"""How run and show end: the headline, the scoreboard, what did not pass; in 24 lines of 80 columns.

Figures are planted: who is best, what has no room and what is left out follow from them.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from first_support import case
from first_support import told as first_screen
from host_support import cases_of
from test_report_support import case_ids, write_run

from ffslab.campaign.done import CaseDone
from ffslab.cli.board import Cell, Grid, Row, board_grid
from ffslab.cli.ending import print_brief
from ffslab.cli.progress import RunProgress
from ffslab.cli.screen import Screen
from ffslab.report.first.brief import Brief, ChapterBrief, brief_of
from ffslab.results.criteria import Criterion
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory
from ffslab.results.schema import BY_NAME, Figure

LINES, COLUMNS = 24, 80
MORE = "ffslab show R --all"


def height(text: str) -> int:
    """Lines of a terminal of 80 columns."""
    return sum(max(-(-len(line) // COLUMNS), 1) for line in text.splitlines())


def chapter(values: dict[str, float], title: str = "", metric: str = "duration_ns") -> ChapterBrief:
    """Times in seconds of file systems; one that writes in memory has a name in capitals."""

    def decided(name: str, value: float) -> Criterion:
        figure = Figure(BY_NAME[metric], "work", value * 1e9)
        return Criterion(figure, "the whole work", "time", True, name.isupper())

    board = first_screen(
        [(case(name), [decided(name, value)]) for name, value in values.items()]
    ).board
    return ChapterBrief(title, f"Who is first of {title or 'all'}.", board, 1)


def shown(
    folder: Path, chapters: list[ChapterBrief], *, every: bool = False, **console: Any
) -> list[str]:
    """What is printed of these chapters, and of no case."""
    text = io.StringIO()
    (folder / "manifest.json").write_text('{"v": 1, "cases": []}')
    ends: tuple[Sequence[str], Sequence[str]] = ((), ("end",))
    brief = Brief((), chapters=tuple(chapters))
    print_brief(Screen(file=text, **console), RunDirectory(folder), brief, ends, every=every)
    return text.getvalue().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FFSMark's 42 cases of three file systems."""
    return write_run(tmp_path_factory.mktemp("ending") / "run")


def test_a_large_run_fits_on_a_terminal(ffslab_command: Command, folder: Path) -> None:
    told = ffslab_command("show", str(folder)).output
    lines = told.splitlines()
    assert height(told) <= LINES
    ids = case_ids()
    assert len(ids) == 42 and not any(one in told for one in ids)
    (head,) = (number for number, line in enumerate(lines) if line.startswith("configuration "))
    rows = list(itertools.takewhile(lambda line: not line.startswith("The worst"), lines[head:]))
    assert len(rows) == 1 + 7 and all(len(line) <= COLUMNS for line in rows)
    (best,) = (row for row in rows if re.search(r"creation", rows[0]) and "s✓" in row[:40])
    assert best.startswith("UBIFS · none · write-back")  # the planted base is the smallest
    assert re.search(r"^The worst of state: free, aged; means of 3 seeds; ✓ best", told, re.M)
    assert "42 of 42 cases: 42 pass" in told
    every = ffslab_command("show", str(folder), "--all").output
    assert all(re.search(rf"^{one} +pass", every, re.M) for one in ids)


def test_the_terminal_needs_nothing_of_the_page(folder: Path) -> None:
    """Neither its libraries nor its modules, which take time to import."""
    text = (
        "import sys; sys.modules |= {'jinja2': None, 'vl_convert': None}\n"
        f"from ffslab.cli.app import main; sys.argv = ['ffslab', 'show', {str(folder)!r}]\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert "UBIFS · none · write-back" in done.stdout
    modules = set(done.stderr.split())
    assert "ffslab.report.first.board" in modules
    assert not {name for name in modules if re.match(r"ffslab\.(report|workloads\..*)\.page", name)}


def test_what_did_not_pass_comes_first_and_is_bounded(
    ffslab_command: Command, tmp_path: Path
) -> None:
    ids = case_ids([("seed", (1,))])
    outcomes = {one: Outcome("crash", f"reason {number}") for number, one in enumerate(ids[:9])}
    outcomes[ids[9]] = Outcome("skip", "no module")
    outcomes[ids[10]] = outcomes[ids[11]] = Outcome("fail", "both")
    write_run(tmp_path / "run", [("seed", (1,))], outcomes=outcomes)
    lines = ffslab_command("show", "run").output.splitlines()
    assert lines[2:11] == [f"{one}: crash: reason {n}" for n, one in enumerate(ids[:9])]
    assert lines[11] == f"{ids[10]} and 1 more: fail: both"
    assert lines[12] == "… and 1 more: ffslab show run --all"
    long = {one: Outcome("fail", f"{number} {'word ' * 20}") for number, one in enumerate(ids)}
    write_run(tmp_path / "long", [("seed", (1,))], outcomes=long)
    lines = ffslab_command("show", "long").output.splitlines()
    assert lines[7] == f"… and {len(ids) - 5} more: ffslab show long --all"  # two lines each
    every = ffslab_command("show", "run", "--all").output
    assert f"\n{ids[10]}: fail: both\n{ids[11]}: fail: both\n{ids[9]}: skip: no module" in every


def test_few_cases_have_a_line_each_if_there_is_room(
    ffslab_command: Command, tmp_path: Path
) -> None:
    plain, seed = ("options.compression", ("none",)), ("seed", (1,))
    for systems in (("jffs2", "ubifs"), ("jffs2",)):
        overrides = [("filesystem", systems), plain, seed]
        write_run(tmp_path / systems[-1], overrides)
        told = ffslab_command("show", systems[-1]).output
        assert re.findall(r"^(\S+) +pass", told, re.M) == case_ids(overrides)
        assert ("configuration" in told) is (len(systems) > 1) and height(told) <= LINES
    write_run(tmp_path / "seven", [("state", ("free",)), seed])
    told = ffslab_command("show", "seven").output
    assert "configuration" in told and not re.search(r"^\S+ +pass", told, re.M)


def test_of_several_chapters_there_is_what_fits(tmp_path: Path) -> None:
    times = {f"fs{number}": 9.0 - number for number in range(4)}
    two = shown(tmp_path, [chapter(times, "one"), chapter(times, "two")], width=10_000)
    assert sum("configuration" in line for line in two) == 2 and len(two) <= LINES
    assert two[0] == "one: Who is first of one."
    three = [chapter({"jffs2": 1.0, "ubifs": 2.0}, name) for name in ("one", "two", "three")]
    told = shown(tmp_path, three, width=10_000)
    assert [line for line in told if line][:3] == [
        f"{name}: Who is first of {name}." for name in ("one", "two", "three")
    ]
    assert told[3].startswith("scoreboards: ffslab show ") and told[-1] == "end"
    assert sum("configuration" in line for line in shown(tmp_path, three, every=True)) == 3
    long = {f"fs{number}": 1.0 + number for number in range(12)}
    tight = shown(tmp_path, [chapter(long, "one"), chapter(times, "two")], width=10_000)
    assert len(tight) <= LINES and "… and " in "\n".join(tight)


def test_chapters_are_named_where_there_are_several(tmp_path: Path) -> None:
    """The file systems are of two parts of a study: both of one chapter, or each of its own."""
    few = [("seed", (1,)), ("filesystem", ("jffs2", "ubifs")), ("options.compression", ("none",))]
    run = RunDirectory(write_run(tmp_path / "run", few))
    rows = run.results()
    for row in rows:
        row["axes"]["part"] = row["axes"]["filesystem"]
    (run.path / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    manifest = run.manifest()
    for names, titles in ((("A", "A"), [""]), (("A", "B"), ["A", "B"])):
        parts = zip(("jffs2", "ubifs"), names, strict=True)
        text = "".join(f'[[part]]\nname = "{part}"\nchapter = "{name}"\n' for part, name in parts)
        run.write_manifest({**manifest, "study_text": text})
        chapters = brief_of(run).chapters
        assert [one.title for one in chapters] == titles
        assert [name for one in chapters for name in one.cases] == [row["id"] for row in rows]


def test_only_a_terminal_breaks_lines_and_has_colours(tmp_path: Path) -> None:
    best = chapter({"jffs2": 2.0, "ubifs": 1.0})
    best = replace(best, headline="word " * 30)
    piped = shown(tmp_path, [best], width=10_000)
    drawn = shown(tmp_path, [best], width=80, force_terminal=True, color_system="standard")
    assert piped[0].rstrip() == ("word " * 30).rstrip()
    assert drawn[:2] == [f"\x1b[1m{'word ' * count}\x1b[0m" for count in (16, 14)]
    assert any("\x1b[1;32m1.00 s✓\x1b[0m" in line for line in drawn)
    assert "UBIFS            1.00 s✓" in piped and "\x1b" not in "".join(piped)


def test_the_board_marks_what_is_no_match() -> None:
    grid = board_grid(chapter({"jffs2": 3.0, "ubifs": 2.0, "RAMFS": 1.0}).board, 1)
    cells = {row.name: row.cells[0] for row in grid.rows}
    assert (cells["UBIFS"].text, cells["UBIFS"].marks) == ("2.00 s", "✓")
    assert (cells["RAMFS"].text, cells["RAMFS"].marks) == ("1.00 s", "◦")
    assert cells["JFFS2"].marks == ""
    assert grid.lines(80)[-1].plain == "✓ best, ◦ ends in memory"


@pytest.mark.parametrize(
    ("metric", "order"),
    [("duration_ns", ["UBIFS", "JFFS2"]), ("write_bytes_per_s", ["JFFS2", "UBIFS"])],
)
def test_the_best_of_the_first_column_is_the_first_that_stays(
    metric: str, order: list[str]
) -> None:
    rows = board_grid(chapter({"jffs2": 3.0, "ubifs": 2.0}, metric=metric).board, 1).rows
    assert [row.name for row in sorted(rows, key=lambda row: row.rank)] == order


def grid(rows: int) -> Grid:
    """The last row is the best by the first column, and the first has no value there."""
    texts = [f"{rows - number} s" for number in range(rows)]
    return Grid(
        ("the whole work", "pages", "a head of so many words that two lines are few"),
        tuple(
            Row(f"name {number}", (Cell(text), Cell("1"), Cell("2", "†")), (not number, -number))
            for number, text in enumerate(texts)
        ),
    )


def test_rows_that_do_not_fit_are_counted_the_best_stay() -> None:
    lines = [line.plain for line in grid(9).lines(80, 8, MORE)]
    assert len(lines) == 8
    assert [line.split("  ")[0] for line in lines[2:5]] == ["name 8", "name 7", "name 6"]
    assert lines[6] == f"… and 5 more: {MORE}" and lines[7] == "† cut short"
    assert not any("more" in line.plain for line in grid(9).lines(80, 12, MORE))
    assert [line.plain for line in grid(9).lines(80, 1, MORE)][2].startswith("name 8")


def test_columns_that_do_not_fit_are_named() -> None:
    upper, _, first, *_ = (line.plain for line in grid(2).lines(80))
    assert upper.split() == ["the", "whole", "a", "head", "of", "so…"]
    assert first == "name 0" + " " * 14 + "2 s     1              2†"
    narrow = [line.plain for line in grid(2).lines(32)]
    assert max(map(len, narrow[:4])) <= 32
    assert " ".join(narrow[4:]) == ("Not shown: a head of so many words that two lines are few")
    folded = Grid(("time",), (Row("a name of very many words " * 3, (Cell("1 s"),)),)).lines(80)
    assert [line.plain.endswith("1 s") for line in folded] == [False, True, False, False]


def progress(total: int, *, each_case: bool = False, failing: int = 0) -> list[str]:
    """What is printed into a pipe while so many cases end."""
    text, seconds = io.StringIO(), itertools.count()
    case = cases_of()[0]
    with RunProgress(
        Screen(file=text), total, lambda: float(next(seconds)), each_case=each_case
    ) as bar:
        for number in range(1, total + 1):
            outcome = "crash" if number == failing else "pass"
            result: Any = {"outcome": outcome, "reason": "why" if number == failing else ""}
            bar.case_done(CaseDone(case, result, 10**9))
    return [line.split(" (")[0].split(" left")[0] for line in text.getvalue().splitlines()]


def test_a_pipe_has_a_line_for_each_of_few_cases_or_each_tenth() -> None:
    name = cases_of()[0].id
    assert progress(11) == [f"[{n}/11] {name}: pass" for n in range(1, 12)]
    assert progress(12, each_case=True) == [f"[{n}/12] {name}: pass" for n in range(1, 13)]
    long = progress(200, failing=33)
    assert [line.split("]")[0] for line in long] == [
        f"[{n}/200" for n in sorted([33, *range(20, 201, 20)])
    ]
    assert f"[33/200] {name}: crash: why" in long
    assert len(progress(63)) == len(progress(12)) == 10
