"""The front of a report: planted figures become these sentences and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from test_report_micro_support import write_micro_run
from test_report_support import case_ids, page_of_words, write_run
from test_report_tree_support import images_text, write_tree_run

from ffslab.report.data import Case, Run
from ffslab.report.front.page import Front, front_of
from ffslab.report.front.table import MOST_COLUMNS
from ffslab.results.criteria import Aspect, Criterion
from ffslab.results.result import ShortResult
from ffslab.results.schema import BY_NAME, DECISION_METRICS, Figure, Metric

METRICS = {**BY_NAME, **{metric.name: metric for metric in DECISION_METRICS}}
THROUGH, BACK, SYNC = "write-through", "write-back", "sync"


def metric(name: str) -> Metric:
    return METRICS[name]


def case(filesystem: str, writing: str = THROUGH, **axes: str) -> Case:
    own = {"filesystem": filesystem, "compression": "", "write_mode": writing, "state": "free"}
    own |= {"seed": "1"} | axes
    return Case(id="-".join(own.values()), axes=own, outcome="pass", command="")


def time(value_s: float, *, in_memory: bool = False, share: float | None = None) -> Criterion:
    figure = Figure(metric("duration_ns"), "work", value_s * 1e9)
    return Criterion(figure, "the work", "time", True, in_memory, share)


def cost(name: str, value: float, aspect: Aspect = "wear") -> Criterion:
    return Criterion(Figure(metric(name), "work", value), metric(name).title, aspect)


def told(measured: Sequence[tuple[Case, Sequence[Criterion]]]) -> Front:
    cases = tuple(one for one, _ in measured)
    run = Run("r", "mine.toml", "t", "", "", cases)
    criteria: Mapping[str, Sequence[Criterion]] = {one.id: found for one, found in measured}
    return front_of(run, criteria)


def headlines(front: Front) -> list[str]:
    return [sentence.text for sentence in front.sentences]


def test_who_is_fastest_by_how_much_with_both_figures() -> None:
    front = told([(case("jffs2"), [time(7.6)]), (case("yaffs2"), [time(2.0)])])
    assert headlines(front) == [
        "The work: **YAFFS2** is 3.80 times faster than JFFS2 (2.00 s against 7.60 s)."
    ]


def test_what_it_costs_is_told_by_aspect() -> None:
    front = told(
        [
            (
                case("jffs2"),
                [
                    time(7.6),
                    cost("pages_programmed", 1000),
                    cost("available_bytes", 60 * 2**20, "space"),
                    cost("memory_used_bytes", 18 * 2**20, "memory"),
                ],
            ),
            (
                case("yaffs2"),
                [
                    time(2.0),
                    cost("pages_programmed", 1500),
                    cost("available_bytes", 50 * 2**20, "space"),
                    cost("memory_used_bytes", 19.5 * 2**20, "memory"),
                ],
            ),
        ]
    )
    texts = {title: [sentence.text for sentence in found] for title, found in front.costs}
    assert texts == {
        "Wear": [
            "Pages programmed: **JFFS2** has 33 % fewer pages than YAFFS2 (1,000 against 1,500)."
        ],
        "Space": [
            "Space available: **JFFS2** has 10.0 MiB more than YAFFS2 (60.0 MiB against 50.0 MiB)."
        ],
        "Memory": [
            "RAM in use: **JFFS2** has 1.50 MiB less than YAFFS2 (18.0 MiB against 19.5 MiB)."
        ],
    }


def test_places_that_agree_are_one_range_and_places_that_do_not_are_told_apart() -> None:
    agree = told(
        [
            (case("jffs2"), [time(4.0)]),
            (case("yaffs2"), [time(2.0)]),
            (case("jffs2", state="aged"), [time(9.0)]),
            (case("yaffs2", state="aged"), [time(3.0)]),
        ]
    )
    assert headlines(agree) == [
        "The work: **YAFFS2** is 2.00 to 3.00 times faster than JFFS2 "
        "(state free: 2.00 s against 4.00 s; state aged: 3.00 s against 9.00 s)."
    ]
    trade = told(
        [
            (case("jffs2"), [time(4.0)]),
            (case("yaffs2"), [time(2.0)]),
            (case("jffs2", state="aged"), [time(3.0)]),
            (case("yaffs2", state="aged"), [time(9.0)]),
        ]
    )
    assert headlines(trade) == [
        "The work: **which is first depends on where.** "
        "State free: **YAFFS2** is 2.00 times faster than JFFS2 (2.00 s against 4.00 s); "
        "state aged: **JFFS2** is 3.00 times faster than YAFFS2 (3.00 s against 9.00 s)."
    ]


def test_of_many_places_it_says_at_how_many_and_never_a_mean() -> None:
    measured = []
    for size in (1, 2, 3, 4, 5):
        axes = {"workload.request_bytes": str(size)}
        measured.append((case("jffs2", **axes), [time(4.0)]))
        measured.append((case("yaffs2", **axes), [time(8.0 if size == 5 else 2.0)]))
    assert headlines(told(measured)) == [
        "The work: which is first depends on where: of 5 points **YAFFS2** at 4 and **JFFS2** "
        "at 1; "
        "behind the first: YAFFS2 up to 2.00 times slower, JFFS2 up to 2.00 times slower."
    ]


def test_no_factor_is_told_where_the_first_took_no_time() -> None:
    """As a step does that reads nothing, on a board whose processor costs nothing."""
    measured = []
    for size in (1, 2, 3, 4, 5):
        axes = {"workload.request_bytes": str(size)}
        measured.append((case("jffs2", **axes), [time(2.0 if size == 5 else 0.0)]))
        measured.append((case("yaffs2", **axes), [time(6.0)]))
    assert headlines(told(measured)) == [
        "The work: **JFFS2** is first at all 5 points; behind the first: YAFFS2 at least 3.00 "
        "times slower (where the first has 0, no factor tells)."
    ]


def test_who_was_run_at_some_points_only_is_told_so() -> None:
    measured = []
    for size in range(6):
        axes = {"workload.request_bytes": str(size + 1)}
        measured.append((case("jffs2", **axes), [time(4.0)]))
        measured.append((case("erofs" if size < 3 else "yaffs2", **axes), [time(2.0)]))
    front = told(measured)
    assert headlines(front) == [
        "The work: first of 6 points **EROFS** at 3 of its 3 and **YAFFS2** at 3 of its 3; "
        "behind the first: JFFS2 2.00 times slower."
    ]
    marked = [cell.best for cell in front.tables[0].blocks[0].lines[0].cells]
    assert marked == [False, True, True]


def test_a_time_that_ends_in_memory_is_beside_and_not_compared() -> None:
    front = told(
        [
            (case("jffs2"), [time(7.6)]),
            (case("ubifs", BACK), [time(0.5, in_memory=True, share=0.13)]),
            (case("ubifs", SYNC), [time(3.8)]),
        ]
    )
    assert headlines(front) == [
        "The work: **UBIFS · sync** is 2.00 times faster than JFFS2 · write-through (3.80 s "
        "against 7.60 s). Not compared with these, since it ends in memory: "
        "**UBIFS · write-back** returns after 500 ms, when 13 % of the bytes written had been "
        "programmed (UBIFS · sync: 3.80 s)."
    ]
    (line,) = front.tables[0].blocks[0].lines
    assert [(cell.text, cell.mark, cell.best) for cell in line.cells] == [
        ("7.60\u00a0s", "", False),
        ("500\u00a0ms", "◦", False),
        ("3.80\u00a0s", "", True),
    ]


def test_without_a_synchronous_case_nobody_is_called_faster() -> None:
    front = told(
        [
            (case("jffs2"), [time(7.6)]),
            (case("ubifs", BACK), [time(0.5, in_memory=True, share=0.13)]),
        ]
    )
    assert headlines(front) == [
        "The work: **not like with like**: JFFS2 · write-through 7.60 s, which ends on the flash; "
        "UBIFS · write-back 500 ms, which ends in memory, when 13 % of the bytes written had been "
        "programmed."
    ]
    assert '--set \'options.write_mode=["default", "sync"]\'' in " ".join(front.notes)
    assert "mine.toml" in " ".join(front.notes)
    assert not any(cell.best for cell in front.tables[0].blocks[0].lines[0].cells)


def test_what_is_within_two_percent_is_no_difference() -> None:
    front = told([(case("jffs2"), [time(2.02)]), (case("yaffs2"), [time(2.0)])])
    assert headlines(front) == ["The work: no difference (2.00 s)."]


def test_seeds_give_a_range_and_no_significance() -> None:
    front = told(
        [
            (case("jffs2"), [time(4.0)]),
            (case("yaffs2"), [time(2.0)]),
            (case("jffs2", seed="2"), [time(5.0)]),
            (case("yaffs2", seed="2"), [time(2.0)]),
        ]
    )
    (text,) = headlines(front)
    assert "(2.00 s against 4.50 s; 2 seeds: 2.00 to 2.50 times faster)" in text
    swapped = told(
        [
            (case("jffs2"), [time(4.0)]),
            (case("yaffs2"), [time(2.0)]),
            (case("jffs2", seed="2"), [time(2.0)]),
            (case("yaffs2", seed="2"), [time(3.0)]),
        ]
    )
    (text,) = headlines(swapped)
    assert "2 seeds do not agree which is first" in text
    assert "significant" not in text


def test_one_configuration_is_compared_with_nothing() -> None:
    front = told([(case("jffs2"), [time(4.0)]), (case("jffs2", state="aged"), [time(5.0)])])
    assert headlines(front) == [] and front.costs == ()
    assert "Only one configuration was run, JFFS2: there is nothing to compare." in front.notes[0]
    assert front.tables[0].columns == (("State free", ""), ("State aged", ""))
    assert [cell.text for cell in front.tables[0].blocks[0].lines[0].cells] == [
        "4.00\u00a0s",
        "5.00\u00a0s",
    ]


def test_failed_cases_are_named_and_in_no_figure() -> None:
    bad = replace(case("ubifs"), outcome="crash")
    front = told([(case("jffs2"), [time(4.0)]), (bad, [time(1.0)])])
    assert headlines(front) == []
    assert any("1 of 2 cases did not pass, of UBIFS" in note for note in front.notes)
    nothing = told([(bad, [])])
    assert nothing.tables == () and "there is no verdict" in nothing.notes[0]


def test_what_was_cut_short_does_not_win_with_less_work() -> None:
    short: ShortResult = {
        "what": "bytes",
        "measured": 1,
        "asked": 2,  # type: ignore[typeddict-item]
        "stopped": "ENOSPC",
        "accepted": True,
    }
    cut = replace(case("ubifs"), outcome="short", short=short)
    front = told([(case("jffs2"), [time(4.0)]), (case("yaffs2"), [time(2.0)]), (cut, [time(0.1)])])
    assert "**YAFFS2** is 2.00 times faster than JFFS2" in headlines(front)[0]
    assert front.tables[0].marks == ("†",)


def test_many_configurations_stand_below_each_other() -> None:
    measured = [
        (case("ubifs", compression=f"c{number}"), [time(1.0 + number)])
        for number in range(MOST_COLUMNS + 1)
    ]
    (table,) = told(measured).tables
    assert table.corner == "configuration"
    assert table.columns == (("The work", ""),)
    assert [line.title for line in table.blocks[0].lines][:2] == ["UBIFS · c0", "UBIFS · c1"]
    assert [line.cells[0].best for line in table.blocks[0].lines][:2] == [True, False]


def test_much_to_decide_by_among_many_is_several_tables() -> None:
    measured = []
    for number in range(MOST_COLUMNS + 1):
        rows = [
            replace(cost("blocks_erased", number), title=f"t{row}")
            for row in range(MOST_COLUMNS + 2)
        ]
        measured.append((case("ubifs", compression=f"c{number}"), rows))
    first, second = told(measured).tables
    assert [title for title, _ in (*first.columns, *second.columns)] == [
        f"T{row}" for row in range(MOST_COLUMNS + 2)
    ]
    assert len(first.columns) == MOST_COLUMNS
    assert len(second.blocks[0].lines[0].cells) == len(second.columns) == 2


@pytest.mark.parametrize("kind", ["ffsmark", "one", "micro", "tree"])
def test_every_kind_of_report_begins_with_a_verdict(kind: str, tmp_path: Path) -> None:
    folder, ids = tmp_path / kind, case_ids([("seed", (1,))])
    if kind == "micro":
        write_micro_run(folder, overrides=[("seed", (1,)), ("filesystem", ("jffs2", "yaffs2"))])
    elif kind == "tree":
        write_tree_run(folder, images_text())
    else:
        write_run(folder, [("seed", (1,))], case_ids=ids[:1] if kind == "one" else ())
    page = page_of_words(folder)
    assert page.index('<section id="verdict">') < page.index("What was found</h2>")
    assert '<table class="decide' in page
    assert ("there is nothing to compare" in page) == (kind == "one")
    assert ('<td class="best"' in page) == (kind != "one")
