"""The table that a comparison begins with, what is told beside it, and which work is the same."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare_support import (
    MS,
    TIME,
    banded,
    compared,
    only,
    phase,
    result,
    scaled,
    spec,
    with_figure,
)

from ffslab.cli.compare_tables import print_comparison
from ffslab.cli.screen import Screen
from ffslab.compare.board import board_of, largest_change
from ffslab.compare.engine import CaseRow, Comparison
from ffslab.compare.tables import Choice
from ffslab.compare.verdicts import Verdict
from ffslab.compare.work import changes
from ffslab.workloads.registry import workloads

PAGES = "workload.pages_programmed"
ERASES = "workload.blocks_erased"
DELETION = "deletion.duration_ns"


def named(case: CaseRow) -> str:
    return case.label


def cases(count: int) -> list[dict[str, Any]]:
    return [result(f"c{n}-s1", spec=spec(state__name=f"c{n}")) for n in range(count)]


def beside(
    rows: list[dict[str, Any]], moved: Iterable[tuple[int, str, float]], **rules: Any
) -> Comparison:
    """The rows against themselves with figures multiplied: number of the row, figure, factor."""
    new = list(rows)
    for number, key, factor in moved:
        new[number] = scaled(new[number], key, factor)
    return compared(rows, new, **rules)


def shown(found: Comparison, width: int = 80) -> list[str]:
    text = io.StringIO()
    print_comparison(Screen(file=text, width=width), found, Choice())
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_rows_go_from_the_worst_to_the_best_and_equal_ones_are_one() -> None:
    moved = ((1, TIME, 1.1), (2, TIME, 3.0), (3, TIME, 0.5), (4, TIME, 1.1))
    board = board_of(beside(cases(6), moved), named)
    told = [(row.name, row.more, str(row.verdict), row.cells[0].text) for row in board.rows]
    assert told == [
        ("c2", 0, "worse", "×3"),
        ("c1", 1, "worse", "+10 %"),
        ("c3", 0, "better", "×0.5"),
        ("c0", 1, "same", "="),
    ]


def test_what_fails_or_is_missing_stands_above_what_became_worse() -> None:
    rows = [*cases(4), result("f-s1", spec=spec(state__name="f"), outcome="fail", reason="x")]
    mended = result("m-s1", spec=spec(state__name="m"))
    new = [
        scaled(rows[0], TIME, 9), scaled(rows[1], TIME, 0.5), {**rows[2], "outcome": "crash"},
        rows[4], result("added-s1", spec=spec(state__name="added")), mended,
    ]  # fmt: skip
    rows.append({**mended, "outcome": "fail"})
    told = [(row.name, str(row.verdict)) for row in board_of(compared(rows, new), named).rows]
    assert told == [
        ("c2", "newly failing"), ("c3-s1", "missing"), ("f", "still failing"), ("c0", "worse"),
        ("c1", "better"), ("m", "fixed"), ("added-s1", "new"),
    ]  # fmt: skip


def test_a_case_stands_where_its_largest_change_puts_it() -> None:
    """c0 has 10 % and a factor of 3, c1 a factor of 2."""
    found = beside(cases(2), [(1, TIME, 2.0), (0, TIME, 1.1), (0, PAGES, 3.0)])
    assert [row.name for row in board_of(found, named).rows] == ["c0", "c1"]


def test_of_two_figures_under_one_head_the_one_that_changed_most_is_told() -> None:
    for first, second in ((1.1, 1.3), (1.3, 1.1)):
        found = beside(cases(1), [(0, TIME, first), (0, DELETION, second)])
        (case,) = found.cases
        rows = tuple(replace(row, head="times") if row.decides else row for row in case.rows)
        board = board_of(replace(found, cases=(replace(case, rows=rows),)), named)
        assert board.heads == ("times",)
        assert [cell.text for cell in board.rows[0].cells] == ["+30 %"]


def test_a_case_without_a_figure_has_an_empty_cell() -> None:
    rows = [result(), result("short-s1", spec=spec(state__name="b"), phases=[phase("creation")])]
    board = board_of(beside(rows, [(0, DELETION, 1.5), (1, TIME, 1.5)]), named)
    cells = {row.name: [cell.text for cell in row.cells] for row in board.rows}
    assert board.heads == ("creation", "deletion")
    assert cells == {"jffs2": ["=", "+50 %"], "short": ["+50 %", ""]}


def test_what_is_within_its_limit_is_alike() -> None:
    found = beside(cases(2), [(0, TIME, 1.1), (1, TIME, 1.01)], threshold=2)
    assert [row.cells[0].text for row in board_of(found, named).rows] == ["+10 %", "="]
    inside = board_of(banded(1.02, 0.98, 1.03), named)  # a band of −2 to +3 %
    assert inside.heads == () and "creation" in inside.alike


def test_columns_without_a_change_are_named_only() -> None:
    found = beside(cases(2), [(0, PAGES, 1.1), (1, DELETION, 1.2)])
    board = board_of(found, named)
    assert board.heads == ("deletion", "pages")
    assert "creation" in board.alike and not set(board.alike) & set(board.heads)
    cells = {row.name: [cell.text for cell in row.cells] for row in board.rows}
    assert cells == {"c0": ["=", "+10 %"], "c1": ["+20 %", "="]}


@pytest.mark.parametrize(
    ("base", "new", "text"),
    [(100, 199, "+99 %"), (100, 200, "×2"), (100, 51, "−49 %"), (100, 50, "×0.5"),
     (0, 5, "from 0"), (5, 0, "to 0"), (100, 100, "="), (10_000, 10_021, "+0.21 %")],
)  # fmt: skip
def test_a_cell(base: int, new: int, text: str) -> None:
    rows = [with_figure(result(), "workload", pages_programmed=value) for value in (base, new)]
    board = board_of(compared(rows[0], scaled(rows[1], TIME, 2)), named)
    cells = dict(zip(board.heads, board.rows[0].cells, strict=True))
    assert cells["pages"].text == text if text != "=" else "pages" in board.alike


def test_what_cannot_be_compared_has_a_sign_of_its_own() -> None:
    late = result(spec=spec(filesystem__options={"write_mode": "write-back"}))
    board = board_of(compared(result(), late), named)
    cells = dict(zip(board.heads, board.rows[0].cells, strict=True))
    assert cells["creation"].text == "–" and cells["creation"].verdict is Verdict.INCOMPARABLE


def test_the_largest_change_is_of_what_became_worse_if_anything_did() -> None:
    found = beside(cases(2), [(0, TIME, 1.1), (1, PAGES, 0.2)])
    change = largest_change(found)
    assert change is not None and change[1].figure.key == TIME
    better = largest_change(beside(cases(2), [(0, TIME, 0.9), (1, PAGES, 0.2)]))
    assert better is not None and better[1].figure.key == PAGES
    assert largest_change(beside(cases(2), [])) is None
    mixed = largest_change(beside(cases(1), [(0, TIME, 1.1), (0, PAGES, 0.2)]))
    assert mixed is not None and mixed[1].figure.key == TIME
    # Seeds that disagree are worse than what is better by far.
    both = [result(f"c-s{n}", spec=spec(seed=n)) for n in (1, 2)]
    new = [
        scaled(scaled(row, TIME, n), PAGES, 0.2) for row, n in zip(both, (1.2, 0.9), strict=True)
    ]
    disagree = largest_change(compared(both, new))
    assert disagree is not None and disagree[1].verdict is Verdict.DISAGREE
    # What has no ratio is told where nothing else is.
    rows = [with_figure(result(), "workload", pages_programmed=n) for n in (0, 5)]
    from_none = largest_change(compared(*rows))
    assert from_none is not None and from_none[1].figure.key == PAGES
    # A figure that explains only is none.
    assert largest_change(beside(cases(1), [(0, "creation.pages_read", 9)])) is None


def test_a_change_of_one_case_is_read_on_one_screen() -> None:
    """A loss of 5 % in one of a hundred cases: which case, which figure, from what."""
    lines = shown(beside(cases(100), [(7, TIME, 1.05)], threshold=None))
    assert lines[0].startswith("worse: 1 of 100 cases is worse")
    assert "creation time 5 % slower" in " ".join(lines[:2])
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert re.search(r"^\S*c7\S* +worse +\+5 %$", text, re.MULTILINE)
    assert re.search(r"and 98 more +same +=$", text, re.MULTILINE)
    assert re.search(r"cause: .*creation: \+100 ms = flash 0, CPU", text.replace("\n", " "))
    assert "--case c7-s1, or --all" in text


def test_what_is_written_back_behind_a_phase_is_told_apart_from_it() -> None:
    """The files are there after 2 and 2.2 s, and on the flash after 3 and 3.5 s: 0.3 s behind."""

    def row(duration_ms: int, on_flash_ms: int) -> dict[str, Any]:
        creation = phase("creation", duration_ms * MS)
        return result(phases=[creation, phase("transactions", t_start_ns=on_flash_ms * MS)])

    text = " ".join(shown(compared(row(2000, 3000), row(2200, 3500))))
    assert "the largest change: creation time until on flash 17 % slower" in text
    told = "creation: +200 ms while it goes on, +300 ms behind it: write-back, syncs, unmount"
    assert f"cause: {told}" in text


def test_many_cases_that_changed_leave_room() -> None:
    moved = [(n, TIME, 1.1 + n / 100) for n in range(40)]
    lines = shown(beside(cases(40), moved))
    assert "and 28 further cases: --all" in lines
    assert len(lines) <= 24


def test_what_differs_is_cut_to_a_few_lines() -> None:
    changed = {f"board__chip__x{n}": n for n in range(9)}
    lines = shown(compared(result(), result(spec=spec(**changed))))
    assert sum(line.startswith("differs: ") for line in lines) == 3
    assert "and 7 more differences: --all" in lines


def test_a_key_says_what_it_changes() -> None:
    told = {
        "workload.number": "work", "workload.drop_caches": "setting", "workload.unknown": "work",
        "partition_bytes": "work", "seed": "work", "board.chip.t_prog_ns": "machine",
        "cpu_scale": "machine", "driver_read_ns": "machine", "cpu_byte_ps": "machine",
        "filesystem.options.compression": "setting", "state.kind": "setting",
        "kernel.variant": "setting",
    }  # fmt: skip
    assert {key: changes(key, "ffsmark") for key in told} == told
    assert changes("workload.number", "no-such-kind") == "work"


def test_the_document_names_the_keys_that_are_settings() -> None:
    text = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    in_text = {
        kind: re.findall(r"`(\w+)`", names)
        for kind, names in re.findall(r"^- `([\w-]+)`: (`.*)$", text, re.MULTILINE)
    }
    in_code = {
        kind: [name for name, facts in workload.keys.items() if facts.changes == "setting"]
        for kind, workload in workloads().items()
    }
    assert in_text == {kind: names for kind, names in in_code.items() if names}


@pytest.mark.parametrize(
    ("counted", "per", "amount"),
    [
        ({"bytes_written": 3_000_000, "bytes_read": 7}, "MB written", 3),
        ({"bytes_read": 2_000_000, "files_created": 7}, "MB read", 2),
        ({"files_created": 5, "files_deleted": 7}, "file", 5),
        ({"files_deleted": 4, "files_read": 7}, "file", 4),
        ({"files_read": 8}, "file", 8),
    ],
)
def test_a_unit_of_the_work_is_the_first_that_a_phase_counted(
    counted: dict[str, int], per: str, amount: int
) -> None:
    row = with_figure(result(), "workload", **{"bytes_written": 0, **counted})
    other = {**row, "spec": spec(workload__number=501), "spec_hash": "other"}
    (pages,) = [r for r in only(compared(row, other)).rows if r.figure.key == PAGES]
    assert (pages.per, pages.base, pages.new) == (per, 2000 / amount, 2000 / amount)


def test_a_unit_of_the_work_that_nobody_did_is_none() -> None:
    """Of a phase that wrote nothing on one side nothing is of a megabyte."""
    row = with_figure(result(), "workload", bytes_written=0)
    case = only(compared(row, result(spec=spec(workload__number=501))))
    pages = next(found for found in case.rows if found.figure.key == PAGES)
    assert (pages.verdict, pages.why) == (Verdict.INCOMPARABLE, "of different work")
