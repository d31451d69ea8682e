"""The first screen: planted figures become this headline, these notes, this picture."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from first_support import (
    BACK,
    SHORT,
    SYNC,
    SYSTEMS,
    THROUGH,
    Measured,
    along,
    aside,
    asked,
    at,
    case,
    cells,
    cost,
    having,
    time,
    times,
    told,
    wrong,
)
from test_report_support import charts_of, plain, vega_lite

from ffslab.report import svg
from ffslab.report.data import Case
from ffslab.report.first.claims import MOST_WORDS, Claim, have_room, joined, within
from ffslab.results.criteria import MOST_DECIDING, Criterion


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


def also(measured: Measured, *more: Criterion) -> Measured:
    """The cases with one figure more each."""
    return [(one, [*rows, each]) for (one, rows), each in zip(measured, more, strict=True)]


def ram(*mebibytes: float) -> list[Criterion]:
    """What the verdict hangs on, too."""
    return [asked("memory_used_bytes", 2**20 * n, "memory") for n in mebibytes]


BEST = [time(1, "t1"), aside(9), time(2, "t2"), time(3, "t3")]
LEAKS = wrong(whole=2, jffs2={"leaks": 1}, ubifs={})
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
LZO = [(case("ubifs", compression=name), [time(n)]) for n, name in ((1, "lzo"), (2, "zlib"))]
LONG = [
    (replace(one, axes={**one.axes, "way": f"{n} b" + " c" * 20}), rows)
    for n, (one, rows) in enumerate(packed("ubifs", 1, 2))
]
PAGES = [[cost("pages_programmed", pages)] for pages in range(10)]
AGAIN = [replace(cost("pages_programmed", 9 - n), title="again") for n in range(3)]
CHOSEN = [
    (case(name, compression=how, **{"workload.size": str(size)}), [time(seconds)])
    for name, how, values in (
        *(("ubifs", "lzo", (1, 1, 1.4)), ("ubifs", "zlib", (1.3, 1.3, 1.5))),
        ("jffs2", "none", (1.4, 1.4, 1)),
    )
    for size, seconds in enumerate(values, 1)
]
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
    # Who programs fewest pages wears least unless another spares the most erased block.
    f"{FIRST}.": [
        counts(counts(PAIR, "pages_programmed", 9, 5), "erases_max", 1, 4),
        also(PAIR, *(cost("pages_programmed", n, "space") for n in (1, 2))),
    ],
    f"{FIRST}; UBIFS wears least.": [
        counts(counts(PAIR, "pages_programmed", 9, 5), "erases_max", 4, 4)
    ],
    "JFFS2 and UBIFS are each fastest at 1 of 2.": [RATES],
    # Of headlines that are no times the first says how it is won.
    "JFFS2 lasts longest at all 2.": [
        having(
            *([asked("blocks_erased", n, "life"), asked("erases_max", n, "wear")] for n in (1, 2))
        )
    ],
    # One configuration.
    "JFFS2 alone: t1 1.00 s; t2 2.00 s.": [having(BEST)],
    "JFFS2 alone: aside 9.00 s.": [having([aside(9), replace(aside(4), title="b")])],
    "JFFS2 alone: the work 4.00 s to 5.00 s.": [[*at("free", jffs2=4), *at("aged", jffs2=5)]],
    # Of two figures of a metric the first counts.
    "JFFS2 wears least and is fastest with 1.00 s, then UBIFS with 2.00 s.": [
        also(counts(PAIR, "pages_programmed", 1, 2), *AGAIN[1:])
    ],
    "JFFS2 is fastest at all 3; UBIFS wears least.": [
        counts(counts(THREE, "blocks_erased", *range(6)), "pages_programmed", *range(6, 0, -1))
    ],
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 3.": [having(PAGES[1], PAGES[3])],
    # Another spares the most erased block.
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 2.": [
        counts(having(PAGES[1], PAGES[2]), "erases_max", 8, 7)
    ],
    "JFFS2 is fastest at all 3.": [
        also(THREE, *(cost("memory_used_bytes", n, "memory") for n in range(6)))
    ],
    # What went wrong: who has most of it first, and what is most of it as far as there is room.
    "All 20 states are correct.": [wrong(jffs2={}, ubifs={})],
    "All 20 states are correct; LogFS crashes.": [
        [*wrong(jffs2={}, ubifs={}), fails("logfs", "crash")]
    ],
    "13 of 20 states are correct; UBIFS loses data in 3 and hangs in 2, JFFS2 hangs in 1, LogFS "
    "crashes.": [
        [
            *wrong(jffs2={"hangs": 1}, ubifs={"warns": 1, "loses data": 3, "hangs": 2}),
            fails("logfs", "crash"),
        ]
    ],
    # How many are right is said of the first.
    "All 20 states are correct; JFFS2 leaks in 1.": [
        also(wrong(jffs2={}, ubifs={}), *(replace(rows[0], title="leaks") for _, rows in LEAKS))
    ],
    "18 of 30 states are correct; YAFFS2 loses data in 4, UBIFS loses data in 3, JFFS2 loses data "
    "in 2.": [
        wrong(**{name: {"loses data": n, "hangs": 1} for n, name in enumerate(SYSTEMS[:3], 2)})
    ],
    # What it needs of the RAM, where the verdict hangs on it.
    "JFFS2 is fastest at all 3, wears least and needs least RAM.": [
        also(counts(THREE, "pages_programmed", *range(6)), *ram(*range(6)))
    ],
    # The options that are in all wins, and not in all configurations.
    "UBIFS (sync) is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        [*packed("ubifs", 1, 1, 9, writing=SYNC), *packed("ubifs", 5, 5, 5), *packed("jffs2", 2, 3)]
    ],
    # Of several options that win, all; the last of its name is no winner.
    "JFFS2 (lzo) is fastest with 0 ns, then UBIFS with 1.00 s.": [
        [*SYNCED, *packed("jffs2", 2, 0)]
    ],
    "UBIFS (lzo, write-through) is fastest with 1.00 s, then JFFS2 with 2.00 s.": [
        [*SYNCED, *packed("jffs2", 3, 2)]
    ],
    # The options of another that wins elsewhere are none of its own.
    "UBIFS (lzo) is fastest at 2 of 3.": [CHOSEN],
    # Without room for the options and all else there are none.
    f"{SECOND}.": [[*LONG, *packed("jffs2", 2)]],
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
    "Pages programmed: JFFS2 is best with 1, then UBIFS with 3; ageing costs JFFS2 2.0×.": [
        [*having(PAGES[1], PAGES[3]), (case("jffs2", state="aged"), PAGES[2])]
    ],
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
    assert len(first.board.columns) <= MOST_DECIDING
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
