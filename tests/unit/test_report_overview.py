"""The one first screen of several chapters, or of a rating; figures along several axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from first_support import Measured, case, cost, run_of, time, times

from ffslab.report.data import Case, varying_axes
from ffslab.report.first.overview import Part, chapters_board, grades_headline, overview_of
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.rating import RatingView, Word


def rating(**grades: Sequence[int | None]) -> RatingView:
    """A rating of file systems by their grades, a column for each."""
    columns = list(zip(*grades.values(), strict=True))
    best = [min((g for g in column if g is not None), default=None) for column in columns]
    rows = tuple(
        (
            name,
            tuple(
                Word("–" if g is None else "abcd"[g], g, (), g is not None and g == best[n])
                for n, g in enumerate(own)
            ),
        )
        for name, own in grades.items()
    )
    return RatingView("Rating", tuple(f"c{n}" for n in range(len(columns))), rows, (), ())


def test_the_headline_of_a_rating_counts_the_best_grades() -> None:
    found = rating(JFFS2=(3, 1, 0, None), UBIFS=(0, 1, 2, 0), LogFS=(1, 2, 3, None))
    # The last criterion is of one file system alone, and no contest.
    assert grades_headline(found) == (
        "JFFS2 gets the best grade in 2 of 3, UBIFS in 2 and LogFS in none."
    )
    later = rating(JFFS2=(3, 1), UBIFS=(0, 0), LogFS=(1, 0))
    assert grades_headline(later) == (
        "UBIFS gets the best grade in 2 of 2, LogFS in 1 and JFFS2 in none."
    )
    same = rating(JFFS2=(0, 1), UBIFS=(0, 1))
    assert grades_headline(same) == "Each file system gets the best grade in 2 of 2."
    assert grades_headline(rating(JFFS2=(None,), UBIFS=(0,))) == ""


def test_the_headline_of_a_rating_has_at_most_25_words() -> None:
    """Nine of the first, three of each other and "and": 9 + 5 × 3 + 1 = 25."""
    best, none = (0,), dict.fromkeys((f"f{n}" for n in range(6)), (1,))
    six = rating(JFFS2=best, **none)
    del none["f5"]
    assert (
        grades_headline(rating(JFFS2=best, **none))
        == grades_headline(six)
        == (
            "JFFS2 gets the best grade in 1 of 1, f0 in none, f1 in none, f2 in none, f3 in none "
            "and f4 in none."
        )
    )
    # A name of two words leaves room for four others: 10 + 4 × 3 + 1 = 23.
    told = grades_headline(rating(**{"my own": best}, **none))
    assert told.endswith("f2 in none and f3 in none.")


def chapter(title: str, measured: Measured) -> Part:
    matter = matter_of(*run_of(measured))
    return Part(title, matter, [weigh(row) for row in matter.rows])


def part(title: str, measured: Mapping[tuple[str, str, str], float]) -> Part:
    """A chapter of one time in s, by file system, compression and place."""
    timed = [
        (case(name, compression=how, state=place), [time(seconds, f"work of {title}")])
        for (name, how, place), seconds in measured.items()
    ]
    return chapter(title, timed)


BOOT = part(
    "Boot",
    {
        ("jffs2", "none", "free"): 2.0,
        ("jffs2", "zlib", "free"): 5.0,
        ("jffs2", "zlib", "aged"): 4.0,
        ("jffs2", "none", "aged"): 9.0,
        ("ubifs", "none", "free"): 3.0,
        ("ubifs", "none", "aged"): 3.0,
    },
)
CONFIGURATIONS = (("jffs2", "none", ""), ("jffs2", "zlib", ""), ("ubifs", "none", ""))
WRITE = part("Write", {("jffs2", "none", ""): 1.0, ("ubifs", "none", ""): 4.0})
ALONE = part("Raw", {("mtd", "", ""): 1.0})


def test_chapters_are_columns_and_a_row_has_the_worst_of_its_configurations() -> None:
    board = chapters_board([ALONE, BOOT, WRITE])
    assert [(column.over, column.title) for column in board.columns] == [
        ("Boot", "Work of Boot"),
        ("Write", "Work of Write"),
    ]
    assert [name for name, _ in board.rows] == ["JFFS2", "UBIFS"]
    boot, write = board.cells
    assert {name: cell.text for name, cell in boot.items()} == {
        "JFFS2": "9.00\u00a0s",
        "UBIFS": "3.00\u00a0s",
    }
    assert (boot["UBIFS"].best, write["JFFS2"].best, write["UBIFS"].best) == (True, True, False)
    assert boot["JFFS2"].place == "state aged"


def test_rows_are_configurations_where_all_chapters_have_the_same() -> None:
    cells = {("jffs2", "none", ""): 2.0, ("jffs2", "zlib", ""): 1.0}
    board = chapters_board([part("A", cells), part("B", cells)])
    assert [labels for _, labels in board.rows] == [
        ("JFFS2 · no compression",),
        ("JFFS2 · zlib",),
    ]


def several(title: str, count: int) -> Part:
    """A chapter of so many figures that its verdict hangs on."""
    one = part(title, {("jffs2", "none", ""): 1.0, ("ubifs", "none", ""): 2.0})
    return Part(title, one.matter, [*one.weighed] * count)


def test_each_chapter_has_its_share_of_eight_columns() -> None:
    assert len(chapters_board([several("A", 5), several("B", 5)]).columns) == 6
    assert len(chapters_board([several(name, 5) for name in "ABC"]).columns) == 6
    assert len(chapters_board([several(name, 5) for name in "ABCDE"]).columns) == 5
    assert len(chapters_board([several(name, 5) for name in "ABCDEFGHI"]).columns) == 8
    assert len(chapters_board([several("A", 1), several("B", 5)]).columns) == 4


def test_one_chapter_that_has_others_makes_rows_of_file_systems() -> None:
    board = chapters_board([BOOT, part("B", {**dict.fromkeys(CONFIGURATIONS, 1.0)}), WRITE])
    assert [name for name, _ in board.rows] == ["JFFS2", "UBIFS"]


def test_one_chapter_without_a_rating_needs_nothing_above_it() -> None:
    assert overview_of([BOOT], None) is None
    told = overview_of([BOOT], rating(JFFS2=(0,), UBIFS=(1,)))
    assert told is not None and not told.board.columns
    assert told.headline == "JFFS2 gets the best grade in 1 of 1 and UBIFS in none."
    several = overview_of([ALONE, BOOT, WRITE], None)
    assert several is not None
    assert several.headline == (
        "JFFS2 (no compression) is fastest at 2 of 3; ageing costs JFFS2 4.5×."
    )
    assert "overview-picture" in several.picture


def test_values_at_other_places_are_no_match() -> None:
    """As many places are not the same places."""
    measured = {
        ("jffs2", "none", "a"): 1.0,
        ("ubifs", "none", "b"): 9.0,
        ("ubifs", "none", "a"): 3.0,
    }
    other = {("logfs", "none", "c"): 0.1, ("logfs", "none", "d"): 0.1}
    three = {("yaffs2", "none", "b"): 5.0, ("yaffs2", "none", "a"): 5.0}
    (cells,) = chapters_board([part("A", measured | other | three)]).cells
    assert {name: cell.partial for name, cell in cells.items()} == {
        "JFFS2": True,
        "UBIFS": False,
        "LogFS": True,
        "YAFFS2": False,
    }
    assert [name for name, cell in cells.items() if cell.best] == ["YAFFS2"]


def test_two_chapters_that_compare_nothing_have_no_picture() -> None:
    alone = [chapter("A", times(jffs2=1.0)), chapter("B", times(jffs2=2.0))]
    above = overview_of(alone, None)
    assert above is not None
    assert (above.title, above.picture) == ("", "")


def test_the_picture_is_of_the_first_chapter_that_has_one() -> None:
    """What went wrong is a part of the board and no picture."""
    empty = Part("A", matter_of(*run_of(times(jffs2=1.0, ubifs=2.0))), [])
    above = overview_of([empty, chapter("B", times(jffs2=1.0, ubifs=2.0))], None)
    assert above is not None and "overview-picture" in above.picture


def test_the_failures_of_all_chapters_are_told() -> None:
    """Three of the four cases of UBIFS, two of them in one chapter and at one place."""
    failed = [(replace(case("ubifs", seed=n), outcome="fail"), []) for n in "12"]
    passed = [(case("ubifs", seed="3"), [time(1.0)]), *times(jffs2=2.0)]
    lost = [(replace(case("ubifs"), outcome="fail"), []), *times(jffs2=2.0)]
    above = overview_of([chapter("A", [*failed, *passed]), chapter("B", lost)], None)
    assert above is not None and "UBIFS fails in 3 of 4 cases" in above.headline


def test_a_chapter_without_headline_figures_shows_its_first() -> None:
    asides = [cost("pages_read", 5), cost("pages_programmed", 6)]
    plain = chapter("A", [(case(name), asides) for name in ("jffs2", "ubifs")])
    mixed = chapter("B", [(case(name), [*asides, time(1.0)]) for name in ("jffs2", "ubifs")])
    board = chapters_board([plain, mixed])
    assert [column.title for column in board.columns] == [
        plain.matter.rows[0].column,
        "The work",
    ]


def test_a_part_that_other_axes_imply_is_no_axis() -> None:
    def varying(*told: tuple[str, ...]) -> tuple[str, ...]:
        names = ("part", "workload.steps", "filesystem")
        every = [dict(zip(names, one, strict=False)) for one in told]
        return varying_axes([Case("", {"seed": "1", **axes}, "pass", "") for axes in every])

    assert varying(("a", "x", "jffs2"), ("b", "y", "ubifs")) == ("filesystem",)
    assert varying(("a", "", "jffs2"), ("b", "", "ubifs"), ("b", "", "jffs2")) == (
        "part", "filesystem",
    )  # fmt: skip
    # The part is implied by the steps, and these are by nothing else.
    pairs = [(part, steps, name) for part, steps in ("ax", "by") for name in ("jffs2", "ubifs")]
    assert varying(*pairs) == ("workload.steps", "filesystem")
    assert varying(("", "x"), ("a", "x")) == ()
