"""The scoreboard: planted figures become these columns, rows and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from first_support import (
    BACK,
    SHORT,
    SYNC,
    along,
    aside,
    asked,
    at,
    case,
    cells,
    cost,
    having,
    run_of,
    time,
    times,
    told,
    wrong,
)
from test_report_support import plain

from ffslab.report.first.board import Axis, Shown, heat_of, is_best, share_heat, short_names
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.results.criteria import Tally, added


def test_a_cell_has_the_worst_of_all_places_and_says_where() -> None:
    first = told([*at("free", jffs2=4, ubifs=2), *at("aged", jffs2=5, ubifs=30)])
    assert [(axis.name, axis.values) for axis in first.board.axes] == [("state", ("free", "aged"))]
    jffs2, ubifs = cells(first).values()
    assert (jffs2.text, jffs2.place, jffs2.best, jffs2.heat) == (
        "5.00\u00a0s",
        "state aged",
        True,
        0,
    )
    assert (ubifs.text, ubifs.best) == ("30.0\u00a0s", False)
    assert ubifs.heat == pytest.approx(heat_of(6, 1, higher=False))
    # At one place, as the page's switch chooses it.
    (column,) = first.board.columns
    free = column.shown(["free", "aged"], frozenset({0}))
    assert {label: (one.text[0], one.best, one.place) for label, one in free.items()} == {
        "JFFS2": ("4", False, ""),
        "UBIFS": ("2", True, ""),
    }


@pytest.mark.parametrize(
    ("value", "best", "higher", "heat"),
    [
        (3, 3, False, 0),
        (30, 3, False, 0.5),
        (3, 30, True, 0.5),
        (999, 3, False, 1),
        (5, 0, False, 1),
        (0.5, 0.05, False, 0.5),
    ],
)
def test_shade_is_the_ratio_to_the_best_on_a_log_scale(
    value: float, best: float, higher: bool, heat: float
) -> None:
    assert heat_of(value, best, higher) == pytest.approx(heat)


def test_ties_are_all_best_and_who_stands_alone_is_none() -> None:
    assert [one.best for one in cells(told(times(jffs2=2, yaffs2=2.03, ubifs=2.05))).values()] == [
        True, True, False,
    ]  # fmt: skip
    assert [(one.best, one.heat) for one in cells(told(times(jffs2=2))).values()] == [(False, None)]
    assert (is_best(0, 0), is_best(1, 0), is_best(0, 1)) == (True, False, False)
    assert is_best(0.505, 0.5) and not is_best(0.52, 0.5)


def test_what_ends_in_memory_or_was_cut_short_is_no_best() -> None:
    cut = replace(case("logfs"), outcome="short", short=SHORT)
    measured = [
        (case("jffs2"), [time(7.6)]),
        (case("ubifs", BACK), [time(0.5, in_memory=True)]),
        (case("ubifs", SYNC), [time(3.8)]),
        (cut, [time(0.1)]),
    ]
    shown = cells(told(measured)).items()
    assert {name: (one.best, one.in_memory, one.cut) for name, one in shown} == {
        "JFFS2": (False, False, False),
        "UBIFS · write-back": (False, True, False),
        "UBIFS · sync": (True, False, False),
        "LogFS": (False, False, True),
    }


def test_who_is_compared_the_best_first_and_what_is_aside() -> None:
    """At the place 0 UBIFS ends in memory; of a rate more is better."""
    late = (case("ubifs"), [time(1, in_memory=True)])
    measured = [*at("free", jffs2=2), late, *at("aged", ubifs=2, jffs2=3, logfs=4)]
    (row,) = map(weigh, matter_of(*run_of(measured)).rows)
    assert row.ranked(1) == ("UBIFS", "JFFS2", "LogFS") and row.ranked(0) == ("JFFS2",)
    assert {label: list(cells) for label, cells in row.aside.items() if cells} == {"UBIFS": [0]}
    rates = having(*([cost("write_bytes_per_s", rate, "time")] for rate in (2, 3, 1)))
    (row,) = map(weigh, matter_of(*run_of(rates)).rows)
    assert row.ranked(0) == ("UBIFS", "JFFS2", "YAFFS2")


def test_who_was_run_at_some_places_only_is_partial_and_no_best() -> None:
    measured = [*along({"jffs2": [4] * 3, "ubifs": [5] * 3}), *along({"erofs": [1] * 2})]
    first = told(measured)
    jffs2, _, erofs = cells(first).values()
    assert (jffs2.best, jffs2.partial, erofs.best, erofs.partial) == (True, False, False, True)
    (column,) = first.board.columns
    assert list(column.shown(["", "", ""], frozenset({2}))) == ["JFFS2", "UBIFS"]


def test_most_are_at_the_usual_places_and_of_as_many_those_at_more() -> None:
    def partial(*, chosen: Sequence[int] = (0, 1), **seconds: Sequence[float]) -> dict[str, bool]:
        (column,) = told(along(seconds)).board.columns
        shown = column.shown(["a", "b"], frozenset(chosen))
        return {label: one.partial for label, one in shown.items()}

    assert partial(jffs2=[4], ubifs=[5], yaffs2=[1, 2]) == {
        "JFFS2": False, "UBIFS": False, "YAFFS2": True,
    }  # fmt: skip
    assert partial(jffs2=[4], ubifs=[5, 6]) == {"JFFS2": True, "UBIFS": False}
    # Who has nothing there is not asked.
    assert partial(jffs2=[4], ubifs=[5], yaffs2=[1, 2], chosen=[1]) == {"YAFFS2": False}


def test_a_cell_says_where_it_is_worst_if_there_are_several_places() -> None:
    rates = [(case(name), [cost("write_bytes_per_s", 0, "time")]) for name in ("jffs2", "ubifs")]
    one = cells(told(times(jffs2=2, ubifs=4)))
    assert (one["JFFS2"].place, one["UBIFS"].place) == ("", "")
    several = cells(told([*at("a", jffs2=2, yaffs2=3, ubifs=4), *at("b", ubifs=9)]))
    assert (several["JFFS2"].place, several["UBIFS"].place) == ("state a", "state b")
    # Who is no match at one place is none in all.
    late = [(case("ubifs", state="a"), [time(1, in_memory=True)]), *at("b", ubifs=1)]
    every = cells(told([*at("a", jffs2=4, yaffs2=5), *at("b", jffs2=4, yaffs2=5), *late]))
    assert [name for name, one in every.items() if one.best] == ["JFFS2"]
    # What nobody can write is no contest.
    assert [(each.best, each.heat) for each in cells(told(rates)).values()] == [(False, None)]
    slow = having(*([cost("write_bytes_per_s", rate, "time")] for rate in (1, 0.5)))
    assert [each.best for each in cells(told(slow)).values()] == [True, False]


def test_configurations_with_equal_values_are_one_row() -> None:
    measured = [
        (case("ubifs", compression=name), [time(seconds)])
        for name, seconds in (("lzo", 1), ("zlib", 2), ("none", 1))
    ]
    assert [name for name, _ in told(measured).board.rows] == [
        "UBIFS · lzo = UBIFS · no compression", "UBIFS · zlib",
    ]  # fmt: skip


def test_names_lack_what_all_of_a_file_system_have_alike() -> None:
    labels = ["UBIFS · lzo · sync", "UBIFS · zlib · sync", "JFFS2 · none"]
    assert list(short_names(labels).values()) == ["UBIFS · lzo", "UBIFS · zlib", "JFFS2"]


def test_columns_are_the_headlines_and_a_share_of_each_aspect() -> None:
    """A time that is no headline has none beside those that are, nor a metric two of wear."""
    again = [replace(cost(*of), title="again") for of in (("erases_max", 2), ("blocks_erased", 1))]
    left = (replace(cost("available_bytes", n, "space"), title=f"s{n}") for n in (5, 6))
    rows = [
        *(time(1.0, "t0"), aside(9.0), time(1.0, "t1")),
        *(cost("erases_max", 2), *again, cost("pages_programmed", 3)),
        replace(cost("pages_programmed", 3), title="more"),
        *(cost("memory_used_bytes", 4, "memory"), *left),
    ]
    board = told([(case("jffs2"), rows), (case("ubifs"), rows)]).board
    some = told([(case("jffs2"), rows), (case("ubifs"), rows[:1])]).board
    assert [name for name, _ in some.rows] == ["JFFS2", "UBIFS"]
    assert [column.title for column in board.columns] == [
        *("T0", "T1", "Pages programmed", "Most erases of a block", "S5", "RAM in use"),
    ]
    assert [column.head for column in board.columns][3:] == ["most erased", "space", "RAM"]
    assert board.rows == (("JFFS2 = UBIFS", ("JFFS2", "UBIFS")),)
    many = [time(1.0, f"t{number}") for number in range(9)]
    assert len(told([(case("jffs2"), many), (case("ubifs"), many)]).board.columns) == 4


def test_headlines_are_columns_beside_the_share_of_their_aspect() -> None:
    ram = [replace(asked("memory_used_bytes", 4, "memory"), title=title) for title in ("a", "b")]
    others = [replace(one, title=f"{one.title}{one.title}", headline=False) for one in ram]
    board = told(having([time(1), *ram, *others], [time(2), *ram, *others])).board
    assert [column.title for column in board.columns] == ["The work", "A", "B", "Aa"]


@pytest.mark.parametrize(
    ("jffs2", "ubifs", "title"),
    [((2, 9, 5), (2, 9, 5), "W1"), ((1, 5), (9, 5), "W0"), ((2,), (2,), "W0")],
)
def test_the_longest_wait_is_that_of_the_operation_which_has_it(
    jffs2: Sequence[int], ubifs: Sequence[int], title: str
) -> None:
    """Of any configuration; a percentile is no longest wait."""
    rows = [
        [
            cost("p99_ns", 99, "wait"),
            *(replace(cost("max_ns", ns, "wait"), title=f"w{n}") for n, ns in enumerate(own)),
        ]
        for own in (jffs2, ubifs)
    ]
    columns = told(having(*rows)).board.columns
    assert [(column.head, column.title) for column in columns] == [("longest wait", title)]


def test_switches_have_what_the_cells_are_made_of() -> None:
    sized = (case("jffs2", state="aged", **{"workload.size": "9"}), [time(5)])
    late = (case("ubifs", BACK, state="free"), [time(2, in_memory=True)])
    board = told([*at("free", jffs2=4, yaffs2=1), sized, late]).board
    assert board.for_page == {
        "axes": ["state"],
        "places": [["free"], ["aged"]],
        "names": ["state free", "state aged"],
        "columns": [
            {
                "higher": False,
                "tally": False,
                "cells": [
                    [[0, 4e9, "4.00\u00a0s", 0, 0, 1], [1, 5e9, "5.00\u00a0s", 0, 0, 1]],
                    [[0, 1e9, "1.00\u00a0s", 0, 0, 1]],
                    [[0, 2e9, "2.00\u00a0s", 1, 0, 0]],
                ],
            }
        ],
    }
    assert board.caption.startswith("The worst of each configuration; ✓ is the best")
    assert told(times(jffs2=1)).board.caption.startswith("Each configuration; ✓ is")


def test_an_axis_has_the_values_that_there_are_if_more_than_one() -> None:
    sized = [*along({"jffs2": [1, 2]}), *times(ubifs=1)]
    assert told(sized).board.axes == (Axis("workload.size", ("1", "2")),)
    name, words = Axis("workload.size", ("1", "", "2")).words
    assert (name, {key: plain(word) for key, word in words.items()}) == (
        *("size of a file", {"1": "1 B", "2": "2 B"}),
    )
    lost = [*at("free", jffs2=4, ubifs=2), (case("yaffs2", state="aged"), [])]
    board = told(lost).board
    assert (board.axes, [name for name, _ in board.rows]) == ((), ["JFFS2", "UBIFS"])


def test_tallies_are_added_with_what_is_most_first() -> None:
    whole = added([Tally("states", 5, (("b", 1), ("a", 1))), Tally("states", 7, (("a", 2),))])
    assert whole == Tally("states", 12, (("a", 3), ("b", 1)))
    assert (whole.count, whole.text, Tally("states", 1234).text) == (4, "4 of 12", "1,234")


def test_a_share_is_darker_the_larger_it_is() -> None:
    shares = [share_heat(count, 100_000) for count in (0, 1, 1_000, 10_000, 100_000)]
    assert shares == [0, 0.3, 0.5, 0.75, 1]


def test_a_cell_of_tallies_is_their_sum_and_only_none_is_best() -> None:
    """Neither at a place, nor hollow, nor partial. What was not tried has no cell."""
    hangs, both = (("hangs", 1),), (("loses data", 2), ("hangs", 1))
    free = wrong(jffs2=dict(hangs), ubifs={})
    board = told([*free, *wrong("aged", jffs2=dict(both), ubifs={})]).board
    assert board.cells == [
        {
            "JFFS2": Shown("4 of 20", "", 4, share_heat(4, 20), note="hangs (2), loses data (2)"),
            "UBIFS": Shown("20", "", 0, 0.0, True, False, False, False, ""),
        }
    ]
    (column,) = board.columns
    aged, there = column.shown(["", ""], frozenset({1})), column.shown(["", ""], frozenset({0}))
    assert (aged["JFFS2"].text, aged["JFFS2"].note) == ("3 of 10", "loses data (2), hangs (1)")
    assert (there["JFFS2"].note, column.shown(["", ""], frozenset({2}))) == ("hangs", {})
    assert board.caption == "How many states are wrong of how many; ✓ none is, – there are none"
    assert board.for_page["columns"] == [
        {
            "higher": False,
            "tally": True,
            "cells": [[[0, 10, hangs], [1, 10, both]], [[0, 10, ()], [1, 10, ()]]],
        }
    ]
    untried = told([*free, *wrong("aged", 0, jffs2={}, ubifs={})]).board
    assert untried.for_page["columns"][0]["cells"] == [[[0, 10, hangs]], [[0, 10, ()]]]
    assert told(wrong(whole=0, jffs2={}, ubifs={})).board.columns == ()
    one = told([*wrong(jffs2={}), *wrong(whole=0, ubifs={})]).board
    assert [name for name, _ in one.rows] == ["JFFS2", "UBIFS"] and len(one.columns) == 1


def test_with_tallies_there_are_fourteen_columns() -> None:
    one, other = (
        [time(1), *(replace(rows[0], title=f"t{n}") for n in range(15))]
        for _, rows in wrong(jffs2={}, ubifs={})
    )
    titles = [column.title for column in told(having(one, other)).board.columns]
    assert titles == ["The work", *(f"T{n}" for n in range(13))]
