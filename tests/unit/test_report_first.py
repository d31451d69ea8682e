"""The first screen: planted figures become this headline, these cells, this picture."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from test_report_support import charts_of, plain, vega_lite

from ffslab.report import svg
from ffslab.report.data import Case, Run
from ffslab.report.first.board import MOST_COLUMNS, Axis, Shown, heat_of, is_best, short_names
from ffslab.report.first.claims import MOST_WORDS, Claim, have_room, joined, within
from ffslab.report.first.page import First, first_of
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.results.criteria import Aspect, Criterion
from ffslab.results.result import ShortResult
from ffslab.results.schema import BY_NAME, DECISION_METRICS, Figure, Metric

METRICS = {**BY_NAME, **{metric.name: metric for metric in DECISION_METRICS}}
THROUGH, BACK, SYNC = "write-through", "write-back", "sync"
SHORT: ShortResult = {
    "what": "bytes",
    "measured": 1,
    "asked": 2,  # type: ignore[typeddict-item]
    "stopped": "ENOSPC",
    "accepted": True,
}
SYSTEMS = ("jffs2", "ubifs", "yaffs2", "logfs", "my-own-file-system")
Measured = Sequence[tuple[Case, Sequence[Criterion]]]


def metric(name: str) -> Metric:
    return METRICS[name]


def case(filesystem: str, writing: str = THROUGH, **axes: str) -> Case:
    own = {"filesystem": filesystem, "compression": "", "write_mode": writing, "state": "free"}
    own |= {"seed": "1"} | axes
    return Case(id="-".join(own.values()), axes=own, outcome="pass", command="")


def time(value_s: float, title: str = "the work", *, in_memory: bool = False) -> Criterion:
    figure = Figure(metric("duration_ns"), "work", value_s * 1e9)
    return Criterion(figure, title, "time", True, in_memory)


def aside(value_s: float) -> Criterion:
    return replace(time(value_s, "aside"), headline=False)


def cost(name: str, value: float, aspect: Aspect = "wear") -> Criterion:
    return Criterion(Figure(metric(name), "work", value), metric(name).title, aspect)


def run_of(measured: Measured) -> tuple[Run, Mapping[str, Sequence[Criterion]]]:
    run = Run("r", "mine.toml", "t", "", "", tuple(one for one, _ in measured))
    return run, {one.id: found for one, found in measured}


def told(measured: Measured) -> First:
    run, criteria = run_of(measured)
    matter = matter_of(run, criteria)
    return first_of(run, matter, [weigh(row) for row in matter.rows])


def times(**seconds: float) -> Measured:
    return [(case(name), [time(value)]) for name, value in seconds.items()]


def at(state: str, **seconds: float) -> Measured:
    return [(case(name, state=state), [time(value)]) for name, value in seconds.items()]


def along(values: Mapping[str, Sequence[float]], axis: str = "workload.size") -> Measured:
    """Times of each file system at the sizes 1, 2, 3, …"""
    return [
        (case(name, **{axis: str(size)}), [time(value)])
        for name, line in values.items()
        for size, value in enumerate(line, 1)
    ]


def cells(first: First, column: int = 0) -> dict[str, Shown]:
    """A column's cells by the name of their row."""
    board = first.board
    shown = board.cells[column]
    return {name: shown[labels[0]] for name, labels in board.rows if labels[0] in shown}


def counts(measured: Measured, name: str, *values: float) -> Measured:
    """The cases with one count more each."""
    return [
        (one, [*rows, cost(name, value)])
        for (one, rows), value in zip(measured, values, strict=True)
    ]


def fails(filesystem: str, outcome: str = "fail", **axes: str) -> tuple[Case, list[Criterion]]:
    return replace(case(filesystem, **axes), outcome=outcome), []


def packed(filesystem: str, *seconds: float, writing: str = THROUGH) -> Measured:
    """The times of a file system with each compressor, at the same place."""
    pairs = zip(("none", "lzo", "zlib"), seconds, strict=False)
    return [(case(filesystem, writing, compression=name), [time(value)]) for name, value in pairs]


def asked(name: str, value: float, aspect: Aspect) -> Criterion:
    return replace(cost(name, value, aspect), headline=True)


def having(*rows: Sequence[Criterion]) -> Measured:
    """JFFS2, UBIFS and YAFFS2 with these figures."""
    return [(case(name), own) for name, own in zip(SYSTEMS, rows, strict=False)]


def also(measured: Measured, *more: Criterion) -> Measured:
    """The cases with one figure more each."""
    return [(one, [*rows, each]) for (one, rows), each in zip(measured, more, strict=True)]


def ram(*mebibytes: float) -> list[Criterion]:
    """What the verdict hangs on, too."""
    return [asked("memory_used_bytes", 2**20 * n, "memory") for n in mebibytes]


BEST = [time(1, "t1"), aside(9), time(2, "t2"), time(3, "t3")]
PAIR, OTHER = times(jffs2=1, ubifs=2), times(jffs2=2, ubifs=1)
FIRST = "JFFS2 is fastest with 1.00 s, then UBIFS with 2.00 s"
SECOND = "UBIFS is fastest with 1.00 s, then JFFS2 with 2.00 s"
THREE = along({"jffs2": [1, 1, 1], "ubifs": [2, 2, 2]})
TURNS = along({"jffs2": [1, 9, 9], "ubifs": [9, 1, 9], "yaffs2": [9, 9, 1]})
BESIDE = [(case("ubifs", "sync", **{"workload.size": str(n)}), [time(1)]) for n in (1, 2)]
WAYS = [
    (case(name, **{"workload.way": way, "workload.size": size}), [time(seconds)])
    for name, way, size, seconds in (
        *(("jffs2", "a", "1", 2), ("jffs2", "b", "1", 3), ("jffs2", "a", "2", 4)),
        *(("jffs2", "b", "2", 8), ("ubifs", "a", "1", 3)),
    )
]
RATES = [
    (case(name, state=state), [cost("write_bytes_per_s", rate, "time")])
    for name, rates in {"jffs2": (1e6, 9e6), "ubifs": (2e6, 2e6)}.items()
    for state, rate in zip(("free", "aged"), rates, strict=True)
]
SCALED = [
    (case(name, cpu_scale=scale), [time(seconds)])
    for name, seconds, scale in (("jffs2", 9, "0.5"), ("jffs2", 1, "2"), ("ubifs", 2, "2"))
]
LZO = [(case("ubifs", compression=name), [time(n)]) for n, name in ((1, "lzo"), (2, "zlib"))]
LONG = [
    (replace(one, axes={**one.axes, "way": f"{n} b" + " c" * 20}), rows)
    for n, (one, rows) in enumerate(packed("ubifs", 1, 2))
]
PAGES = [[cost("pages_programmed", pages)] for pages in range(10)]
AGAIN = [replace(cost("pages_programmed", 9 - n), title="again") for n in range(3)]
PACKED = [*packed("ubifs", 1, 2), *packed("jffs2", 2)]
SYNCED = [*packed("ubifs", 9, 1), *packed("ubifs", 9, 9, writing=SYNC)]
# The line of each of these runs.
LINES: Mapping[str, Sequence[Measured]] = {
    "": [[]],
    "YAFFS2 is fastest with 2.00 s, then JFFS2 with 7.60 s.": [times(jffs2=7.6, yaffs2=2)],
    "All are within 2 % of each other.": [times(jffs2=2.02, yaffs2=2)],
    "JFFS2 and YAFFS2 are fastest.": [times(jffs2=2.0, yaffs2=2.01, ubifs=3)],
    "YAFFS2 is fastest at 4 of 5.": [along({"jffs2": [4] * 5, "yaffs2": [2, 2, 2, 2, 8]})],
    # The next is the second of three.
    "UBIFS is fastest with 1.00 s, then YAFFS2 with 2.00 s.": [times(jffs2=3, ubifs=1, yaffs2=2)],
    "UBIFS is fastest with 12.0 MB/s, then JFFS2 with 3.00 MB/s.": [
        having(*([cost("write_bytes_per_s", rate, "time")] for rate in (3e6, 12e6))),
    ],
    "JFFS2 and UBIFS are each fastest at 1 of 3; size of a file 3 B against 1 B costs JFFS2 "
    "9.0×.": [TURNS],
    # Who has several ways to win wins once. Of one file system each option counts.
    "UBIFS is fastest at all 2; size of a file 2 B against 1 B costs JFFS2 9.0×.": [
        [*along({"jffs2": [1, 9], "ubifs": [9, 1]}), *BESIDE]
    ],
    "UBIFS · lzo is fastest with 1.00 s, then UBIFS · zlib with 2.00 s.": [LZO],
    "Nothing can be compared like with like.": [
        [(case("jffs2"), [time(8)]), (case("ubifs", BACK), [time(0.5, in_memory=True)])]
    ],
    # Figures that are no headline's count only where there is no other. Who programs fewest pages
    # wears least unless another spares the most erased block.
    f"{FIRST}.": [
        having([time(1), aside(9)], [time(2), aside(4)]),
        counts(counts(PAIR, "pages_programmed", 9, 5), "erases_max", 1, 4),
        also(PAIR, *(cost("pages_programmed", n, "space") for n in (1, 2))),
    ],
    f"{FIRST}; UBIFS wears least.": [
        counts(counts(PAIR, "pages_programmed", 9, 5), "erases_max", 4, 4)
    ],
    "UBIFS is fastest with 3.00 s, then JFFS2 with 9.00 s.": [having([aside(9)], [aside(3)])],
    "JFFS2 and UBIFS are each fastest at 1 of 2.": [RATES],
    # One configuration.
    "JFFS2 alone: t1 1.00 s; t2 2.00 s.": [having(BEST)],
    "JFFS2 alone: aside 9.00 s.": [
        having(BEST[1:2]),
        having([aside(9), replace(aside(4), title="b")]),
    ],
    "JFFS2 alone: the work 4.00 s to 5.00 s.": [[*at("free", jffs2=4), *at("aged", jffs2=5)]],
    # What it does to the flash: of two figures of a metric the first counts.
    f"{SECOND}; JFFS2 wears least.": [counts(OTHER, "pages_programmed", 1, 2)],
    "UBIFS wears least and is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        counts(OTHER, "blocks_erased", 2, 1)
    ],
    "JFFS2 wears least and is fastest with 1.00 s, then UBIFS with 2.00 s.": [
        also(counts(PAIR, "pages_programmed", 1, 2), *AGAIN[1:])
    ],
    "JFFS2 is fastest at all 3; UBIFS wears least.": [
        counts(counts(THREE, "blocks_erased", *range(6)), "pages_programmed", *range(6, 0, -1))
    ],
    "JFFS2 is fastest at all 3 and wears least.": [counts(THREE, "pages_programmed", *range(6))],
    "JFFS2 is fastest at all 3; UBIFS wears least at 2 of 3.": [
        counts(THREE, "pages_programmed", 1, 9, 9, 2, 1, 1)
    ],
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 3.": [having(PAGES[1], PAGES[3])],
    # Another spares the most erased block.
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 2.": [
        counts(having(PAGES[1], PAGES[2]), "erases_max", 8, 7)
    ],
    "JFFS2 is fastest at all 3.": [
        also(THREE, *(replace(*PAGES[n], incidental=True) for n in range(6))),
        also(THREE, *(cost("memory_used_bytes", n, "memory") for n in range(6))),
    ],
    # What it needs of the RAM, where the verdict hangs on it.
    "JFFS2 is fastest at all 3, wears least and needs least RAM.": [
        also(counts(THREE, "pages_programmed", *range(6)), *ram(*range(6)))
    ],
    f"{FIRST}; UBIFS needs least RAM.": [also(counts(PAIR, "erases_max", 1, 1), *ram(9, 8))],
    "RAM in use: JFFS2 is best with 1.00 MiB, then UBIFS with 2.00 MiB; JFFS2 wears least.": [
        also(having(PAGES[1], PAGES[2]), *ram(1, 2))
    ],
    # The options that are in all wins, and not in all configurations.
    "UBIFS (no compression) is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        [*packed("ubifs", 1, 2), *packed("jffs2", 2, 3)]
    ],
    "UBIFS (sync) is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        [*packed("ubifs", 1, 1, 9, writing=SYNC), *packed("ubifs", 5, 5, 5), *packed("jffs2", 2, 3)]
    ],
    "UBIFS (no compression) is fastest with 1.00 s, then JFFS2 with 2.00 s; UBIFS (lzo) wears "
    "least.": [counts(PACKED, "pages_programmed", 9, 1, 7)],
    "UBIFS (no compression) wears least and is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        counts(PACKED, "pages_programmed", 1, 9, 7)
    ],
    # Of several options that win, all; the last of its name is no winner.
    "JFFS2 (lzo) is fastest with 0 ns, then UBIFS with 1.00 s.": [
        [*SYNCED, *packed("jffs2", 2, 0)]
    ],
    "UBIFS (lzo, write-through) is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        [*SYNCED, *packed("jffs2", 3, 2)]
    ],
    # Without an option that wins, or room for the options and all else, there are none.
    f"{SECOND}.": [
        [*packed("ubifs", 1, 1, 2), *packed("jffs2", 2)],
        [*LONG, *packed("jffs2", 2)],
    ],
    # Who failed has lost, and is named.
    "JFFS2 and UBIFS are each fastest at 1 of 2; JFFS2 runs out of time in 1 of 2 cases.": [
        [
            *along({"jffs2": [1], "ubifs": [2, 2]}),
            fails("jffs2", "timeout", **{"workload.size": "2"}),
        ]
    ],
    "JFFS2 and UBIFS are fastest; EROFS fails in all 2 cases.": [
        [
            *along({"jffs2": [1], "ubifs": [1]}),
            *(fails("erofs", end, **{"workload.size": "1"}) for end in ("crash", "stuck")),
        ]
    ],
    "JFFS2 is fastest with 1.00 s; UBIFS damages data.": [
        [*times(jffs2=1), fails("ubifs", "corrupt")]
    ],
    f"{SECOND}, LogFS runs out of space; JFFS2 wears least.": [
        [*counts(OTHER, "pages_programmed", 1, 2), fails("logfs", "short")]
    ],
    f"{SECOND}; 3 of 5 cases fail.": [
        [*OTHER, fails("yaffs2"), fails("logfs"), fails("erofs", "crash")]
    ],
    f"{SECOND}, YAFFS2 fails; LogFS crashes.": [[*OTHER, fails("yaffs2"), fails("logfs", "crash")]],
    # A seed that failed leaves the others; nobody wears less by failing.
    f"{SECOND}; UBIFS gets stuck in 1 of 2 cases.": [[*OTHER, fails("ubifs", "stuck", seed="2")]],
    "JFFS2 is fastest with 1.00 s; UBIFS fails.": [
        [*counts(times(jffs2=1), "pages_programmed", 1), fails("ubifs")]
    ],
    "JFFS2 alone: the work 4.00 s; JFFS2 crashes in 1 of 2 cases.": [
        [*at("free", jffs2=4), fails("jffs2", "crash", state="aged")]
    ],
    # What an axis of words changes, all else the same, by half and more, and of a count of one.
    "JFFS2 and UBIFS are each fastest at 1 of 2; ageing costs UBIFS 15×.": [
        [*at("free", jffs2=4, ubifs=2), *at("aged", jffs2=5, ubifs=30)]
    ],
    "UBIFS is fastest at 1 of 2; ageing costs JFFS2 1.5×.": [
        [*at("free", jffs2=2, ubifs=2), *at("aged", jffs2=3, ubifs=2)]
    ],
    "UBIFS is fastest at all 2.": [[*at("a", jffs2=4, ubifs=2), *at("b", jffs2=5, ubifs=2)]],
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 3; ageing costs JFFS2 2.0×.": [
        [*having(PAGES[1], PAGES[3]), (case("jffs2", state="aged"), PAGES[2])]
    ],
    f"{FIRST}; CPU scale 0.5 against 2 costs JFFS2 9.0×.": [SCALED],
    "JFFS2 is fastest with 2.00 s, then UBIFS with 3.00 s; size of a file 2 B against 1 B costs "
    "JFFS2 2.7×.": [WAYS],
}


@pytest.mark.parametrize(
    ("measured", "line"), [(run, line) for line, runs in LINES.items() for run in runs]
)
def test_a_run_in_one_line(measured: Measured, line: str) -> None:
    assert plain(told(measured).headline) == line


def test_a_line_has_as_many_parts_as_there_is_room_for() -> None:
    words = " ".join(["w"] * (MOST_WORDS - 3))
    assert have_room([words, "a b", "c"]) and not have_room([words, "a b", "c d"])
    assert within([words, "a b", "c"]) == f"W{words[1:]}, a b; c."
    assert within([words, "a b c d", "e f g"]) == f"W{words[1:]}; e f g."
    assert within(["a", "b", "c"], told_apart=True) == "A; b, c."
    assert within(["a", "b"]) == "A; b."
    assert within([]) == ""


def test_claims_of_the_first_subject_are_told_with_it() -> None:
    claims = [Claim((who,), (f"does {deed}",)) for who, deed in ("a1", "b2", "a3", "c4")]
    assert [claim.text for claim in joined(claims)] == [
        "a does 1 and does 3",
        "b does 2",
        "c does 4",
    ]
    behind = Claim(("a",), ("leads",), "b")
    assert [claim.text for claim in joined([behind, claims[0]])] == ["a does 1 and leads, then b"]
    assert claims[0].and_also(behind) is None
    about = Claim(("a",), ("leads",), topic="T")
    assert (about.text, about.and_also(claims[0]), claims[0].and_also(about)) == (
        "T: a leads", None, None,
    )  # fmt: skip


def some_run(rng: random.Random) -> Measured:
    """Any run: one to five configurations at one to six places, with holes, ties and zeros."""
    systems = rng.sample(SYSTEMS, rng.randint(1, 5))
    states = [{"state": name} for name in rng.sample(["free", "aged", "used"], rng.randint(1, 3))]
    sizes = [{"workload.request_bytes": str(512 << n)} for n in range(rng.choice([1, 1, 2, 6]))]
    measured = []
    for name in systems:
        writing = rng.choice([THROUGH, BACK, SYNC])
        for place in ({**state, **size} for state in states for size in sizes):
            one = case(name, writing, **place)
            kinds = {0: {"outcome": "crash"}, 1: {"outcome": "short", "short": SHORT}}
            one = replace(one, **kinds.get(rng.randrange(9), {}))
            value = rng.choice([0, 1, 1.01, 2, rng.expovariate(1), 1e4 * rng.random()])
            rows = [
                time(value, "creating the files", in_memory=writing == BACK),
                time(2 * value, "a title of many words that nobody would have chosen to read"),
                cost("pages_programmed", rng.choice([0, 5, 1e6 * rng.random()])),
                cost("available_bytes", rng.randrange(1 << 20), "space"),
            ]
            measured.append((one, rng.sample(rows, rng.randint(0, 4))))
    return measured


@pytest.mark.parametrize("seed", range(60))
def test_of_any_run_the_headline_is_short_and_the_board_is_right(seed: int) -> None:
    first = told(some_run(random.Random(seed)))
    assert len(first.headline.split()) <= MOST_WORDS
    assert bool(first.headline) == bool(first.board.columns)
    assert not first.headline or (first.headline[-1] == "." and not first.headline[0].islower())
    assert len(first.board.columns) <= MOST_COLUMNS
    labels = [label for _, same in first.board.rows for label in same]
    assert len(labels) == len(set(labels))
    for column, shown in zip(first.board.columns, first.board.cells, strict=True):
        better = max if column.higher_is_better else min
        best = [one for one in shown.values() if one.best]
        assert not any(one.in_memory or one.partial for one in best)
        assert column.higher_is_better or not any(one.cut for one in best)
        for label, one in shown.items():
            values = [value.value for value in column.values[label]]
            assert one.value == (min if column.higher_is_better else max)(values)
            assert one.heat is None or 0 <= one.heat <= 1
        rivals = [one.value for one in best if one.value is not None]
        assert not rivals or better(rivals) in [one.value for one in best if one.heat == 0]
    if first.picture:
        (chart,) = charts_of(first.picture).values()
        vega_lite().validate({**chart["spec"], "config": svg.theme()})


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


def test_of_what_should_be_large_the_worst_is_the_smallest() -> None:
    rates = {"jffs2": (5e6, 3e6), "ubifs": (4e6, 3.5e6)}
    measured = [
        (case(name, state=state), [cost("write_bytes_per_s", value, "time")])
        for name, values in rates.items()
        for state, value in zip(("free", "aged"), values, strict=True)
    ]
    jffs2, ubifs = cells(told(measured)).values()
    assert (jffs2.value, jffs2.best, ubifs.value, ubifs.best) == (3e6, False, 3.5e6, True)


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
    lost = [*at("free", jffs2=4, ubifs=2), (case("yaffs2", state="aged"), [])]
    board = told(lost).board
    assert (board.axes, [name for name, _ in board.rows]) == ((), ["JFFS2", "UBIFS"])


def test_seeds_are_means_and_said_so() -> None:
    measured = [*times(jffs2=4, yaffs2=2), (case("jffs2", seed="2"), [time(5)])]
    first = told([*measured, (case("yaffs2", seed="2"), [time(2)])])
    assert cells(first)["JFFS2"].value == 4.5e9
    assert first.notes == ("Figures are means over 2 seeds.",)


def test_what_went_wrong_and_what_to_do_is_said() -> None:
    back = (case("ubifs", BACK), [time(0.5, in_memory=True)])
    (note,) = told([(case("jffs2"), [time(7.6)]), back]).notes
    assert "UBIFS" in note and 'mine.toml --set \'options.write_mode=["default", "sync"]\'' in note
    assert told([back, (case("ubifs", SYNC), [time(1)])]).notes == ()
    bad = replace(case("ubifs"), outcome="crash")
    first = told([(case("jffs2"), [time(4)]), (bad, [time(1)])])
    assert first.notes == ("1 case of UBIFS did not pass and has no figures here.",)
    nothing = told([(bad, [])])
    assert nothing.notes[0] == "No case passed; the failures say why."
    assert (nothing.headline, nothing.picture, nothing.board.columns) == ("", "", ())
    assert told([(case("jffs2"), [])]).notes == ("No case measured what people decide by.",)


def test_the_picture_is_dots_or_curves_against_an_axis_of_more_than_three_numbers() -> None:
    def drawn(measured: Measured) -> dict[str, Any]:
        (chart,) = charts_of(told(measured).picture).values()
        return dict(chart)

    dots = drawn([*at("free", jffs2=4, ubifs=2), *at("aged", jffs2=5, ubifs=30)])
    rows = dots["data"]["rows"]
    assert list(zip(rows["label"], rows["place"], rows["value"], strict=True)) == [
        ("JFFS2", "free", 4), ("JFFS2", "aged", 5), ("UBIFS", "free", 2), ("UBIFS", "aged", 30),
    ]  # fmt: skip
    three = along({"jffs2": [1, 2, 3], "ubifs": [2, 2, 2]})
    five = along({"jffs2": [1, 2, 3, 4, 5], "ubifs": [2, 2, 2, 2, 2]})
    assert "x" not in drawn(three)["data"]["rows"]
    assert list(map(float, drawn(five)["data"]["rows"]["x"])) == [1, 2, 3, 4, 5] * 2
    assert told(times(jffs2=1)).picture == ""
    # Of several figures it is the one that differs most between places.
    steady = [(one, [*rows, time(1, "steady")]) for one, rows in three]
    assert 'aria-label="The work"' in told(steady).picture
    # One that compares all of them comes before one that does not.
    turned = enumerate(along({"jffs2": [1, 99, 1, 9, 9], "ubifs": [99, 1, 99, 9, 9]}), 1)
    late = [
        (one, [replace(rows[0], in_memory=one.filesystem == "ubifs"), time(n, "synced")])
        for n, (one, rows) in turned
    ]
    assert 'aria-label="Synced"' in told(late).picture
    # What ends in memory is hollow.
    back = drawn([(case("jffs2"), [time(7)]), (case("ubifs", BACK), [time(1, in_memory=True)])])
    assert back["data"]["rows"]["fill"][1] == svg.PAINT["paper"] != back["data"]["rows"]["fill"][0]
