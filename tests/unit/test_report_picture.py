"""Which figure the first screen's picture is of, at which places, along which axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pytest

from ffslab.report import plots
from ffslab.report.axes import Axis
from ffslab.report.configurations import place_text, setting_words
from ffslab.report.first import picture as own
from ffslab.report.first.picture import chart_of, families, numbers_of, picture, settled
from ffslab.report.first.samples import Cell, Configuration, Matter, Place, Row
from ffslab.report.first.weigh import weigh
from ffslab.results.criteria import Tally
from ffslab.results.schema import BY_NAME

TIME = BY_NAME["duration_ns"]
SIZE, FILES, KIND = "workload.size", "workload.files", "pattern"


def places(axis: str, values: Sequence[object], *rest: tuple[str, str]) -> list[Place]:
    return [((axis, str(value)), *rest) for value in values]


def row(at: Sequence[Place], title: str = "t", **values: Sequence[float]) -> Row:
    """Values of each configuration at the places, which it has from the first on."""
    cells = {
        label: {number: Cell({"1": value}) for number, value in enumerate(line)}
        for label, line in values.items()
    }
    return Row(title, TIME, "time", True, tuple(at), cells, tuple(at))


def matter(*labels: str) -> Matter:
    made = tuple(Configuration(label, label.lower(), "") for label in labels)
    return Matter(made, (), (), ("1",), {}, {})


ONE: list[Place] = [()]
SIZES = places(SIZE, (1, 2, 4, 8))
PLAIN = {"A": (1.0, 1.0, 1.0, 1.0), "B": (2.0, 2.0, 2.0, 2.0)}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The rows that are drawn, in place of drawing them."""
    rows: list[Row] = []

    def chart(_matter: Matter, chosen: Row, _identifier: str) -> str:
        rows.append(chosen)
        return "chart"

    monkeypatch.setattr(own, "chart_of", chart)
    return rows


def shown(drawn: list[Row], *rows: Row, labels: Sequence[str] = "AB") -> tuple[str, list[int]]:
    """The figure that the picture is of, and at which of its places."""
    drawn.clear()
    if picture(matter(*labels), [weigh(each) for each in rows], "i") == "":
        return "", []
    (one,) = drawn
    return one.title, sorted({number for cells in one.cells.values() for number in cells})


def test_there_is_a_picture_where_two_things_can_be_compared(drawn: list[Row]) -> None:
    assert shown(drawn) == ("", [])
    assert shown(drawn, row(ONE, A=[1.0]), labels="A") == ("", [])
    assert shown(drawn, row(ONE, A=[1.0], B=[2.0])) == ("t", [0])
    two = places(KIND, "xy")
    assert shown(drawn, row(ONE, "u", A=[1.0]), row(two, A=[1.0, 3.0]), labels="A")[0] == "t"
    counted = Cell({"1": 0.0}, tally=Tally("states", 9, (("loses data", 1),)))
    assert shown(drawn, replace(row(ONE), cells={"A": {0: counted}, "B": {0: counted}})) == ("", [])


def test_it_is_of_a_figure_that_the_verdict_hangs_on_if_there_is_one(drawn: list[Row]) -> None:
    """The other one differs more."""
    main = row(ONE, "main", A=[1.0], B=[1.5])
    beside = replace(row(places(KIND, "xy"), "beside", A=[1.0, 9.0], B=[5.0, 5.0]), headline=False)
    assert shown(drawn, beside, main)[0] == "main"
    assert shown(drawn, beside)[0] == "beside"


def test_without_an_axis_it_is_of_what_differs_most_between_places(drawn: list[Row]) -> None:
    """What ends in memory for some is no match; a value of 0 is no base of a ratio."""
    two = places(KIND, "xy")
    little = row(two, "little", A=[1.0, 2.0], B=[5.0, 1.0])
    much = row(two, "much", A=[1.0, 2.0], B=[6.0, 1.0])
    none = row(two, "none", A=[0.0, 0.0], B=[0.0, 4.0])
    assert shown(drawn, little, much, none)[0] == shown(drawn, none, much, little)[0] == "much"
    mixed = dict(much.cells)
    mixed["A"] = {0: replace(mixed["A"][0], in_memory=True), 1: mixed["A"][1]}
    assert shown(drawn, replace(much, cells=mixed), little)[0] == "little"
    assert shown(drawn, row(two, "zero", A=[0.0, 0.0], B=[0.0, 0.0]), none)[0] == "none"


def test_a_figure_along_an_axis_is_drawn_rather_than_one_without(drawn: list[Row]) -> None:
    far = row(places(KIND, "xy"), "far", A=[1.0, 9.0], B=[90.0, 9.0])
    near = row(SIZES, "near", **PLAIN)
    assert shown(drawn, far, near) == ("near", [0, 1, 2, 3])
    # Of two the one in which configurations are further apart, where all can be compared.
    wide = row(SIZES, "wide", A=[1.0] * 4, B=[1.0, 1.0, 7.0, 1.0])
    assert shown(drawn, near, wide)[0] == shown(drawn, wide, near)[0] == "wide"
    aside = {"A": wide.cells["A"], "B": {**wide.cells["B"], 0: Cell({"1": 1.0}, in_memory=True)}}
    assert shown(drawn, replace(wide, cells=aside), near)[0] == "near"
    assert shown(drawn, replace(wide, cells=aside))[0] == "wide"


def test_of_several_panels_it_is_the_one_with_the_widest_gap(drawn: list[Row]) -> None:
    at = [*places(SIZE, (1, 2, 4, 8), (KIND, "x")), *places(SIZE, (1, 2, 4, 8), (KIND, "y"))]
    assert shown(drawn, row(at, A=[1.0] * 8, B=[2.0] * 4 + [1.0] * 3 + [3.0]))[1] == [4, 5, 6, 7]
    assert shown(drawn, row(at, A=[1.0] * 8, B=[2.0] * 8))[1] == [0, 1, 2, 3]


def test_the_axis_is_the_longest_of_four_numbers_or_more() -> None:
    def axis(*every: Mapping[str, object]) -> Axis | None:
        told = [tuple((name, str(value)) for name, value in one.items()) for one in every]
        return numbers_of(row(told))

    assert axis(*({SIZE: n} for n in (1, 2, 4))) is None
    assert axis(*({KIND: name} for name in "wxyz")) is None
    # A place that lacks one is along no axis.
    assert axis(*({SIZE: n} for n in (1, 2, 4, 8)), {FILES: 1}) is None
    found = axis(*({SIZE: n} for n in (8, 4, 16, 2)))
    assert found is not None and (found.name, found.values) == (SIZE, (2.0, 4.0, 8.0, 16.0))
    both = [{SIZE: n, FILES: min(n, 4)} for n in (1, 2, 3, 4, 5)]
    for every in (both, [dict(reversed(one.items())) for one in both]):
        longest = axis(*every)
        assert longest is not None and longest.name == SIZE
    alike = axis(*({FILES: n, SIZE: n} for n in (1, 2, 3, 4)))
    assert alike is not None and alike.name == FILES  # the first of equal ones


def test_versions_of_linux_are_names() -> None:
    """5.10 is not 5.1, nor a tenth of a step before 6.1."""
    versions = ("5.10", "6.1", "6.12", "7.3")
    assert numbers_of(row(places("kernel", versions))) is None
    assert setting_words("kernel", versions) == ("kernel", {each: each for each in versions})
    assert place_text([("kernel", "5.10")]) == "kernel 5.10"


def test_places_along_another_axis_are_another_part() -> None:
    """Nine places vary the size, five the files, four with a size; one has a word for it."""
    short = [((SIZE, str(n)), (FILES, "")) for n in (1, 2, 4, 8)]
    long = [((SIZE, "1"), (FILES, str(n))) for n in (1, 2, 3, 4, 5)]
    few = [((SIZE, ""), (FILES, "")), ((SIZE, "all"), (FILES, ""))]
    found = families(row([*short, *long, *few], A=[1.0] * 11, B=[1.0] * 4))
    assert [part.places for part in found] == [tuple(short), tuple(long), tuple(few)]
    assert [part.scenarios for part in found] == [part.places for part in found]
    assert [sorted(part.cells) for part in found] == [["A", "B"], ["A"], ["A"]]
    assert [sorted(part.cells["A"]) for part in found] == [[0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1]]
    # Three numbers are no axis, and words never are.
    three = row([*places(SIZE, (1, 2, 4)), *places(FILES, (1, 2, 4))])
    assert families(three)[0] is three
    assert len(families(row([*short, *long]))) == 2
    words = row([*places(KIND, "wxyz"), *places(SIZE, (1, 2))])
    assert families(words) == (words,)


def test_what_is_the_same_at_all_places_is_told_once() -> None:
    same = settled(row(SIZES, A=[1.0] * 4, B=[2.0]))
    assert (same.places, same.scenarios) == (((),), ((),))
    assert {label: list(cells) for label, cells in same.cells.items()} == {"A": [0], "B": [0]}
    other = row(SIZES, A=[1.0, 1.0, 1.0, 2.0])
    assert settled(other) is other


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> list[plots.Point]:
    """The points of a chart, in place of drawing them."""
    made: list[plots.Point] = []

    def chart(kind: str, all_of: Sequence[plots.Point], *_: object) -> str:
        made[:] = all_of
        return kind

    for kind in ("dots", "curves"):
        monkeypatch.setattr(plots, kind, partial(chart, kind))
    return made


def test_dots_are_called_by_their_places(points: list[plots.Point]) -> None:
    at: list[Place] = [((KIND, "x"), (SIZE, "2048")), ((KIND, "y"), (SIZE, "2048"))]
    made = row(at, A=[5.0, 6.0], B=[7.0])
    late = dict(reversed(made.cells["A"].items()))
    cut = {"A": late, "B": {0: Cell({"1": 7.0}, cut=True)}}
    assert chart_of(matter("A", "B"), replace(made, cells=cut), "i") == "dots"
    words = [point.place.replace("\u00a0", " ") for point in points]
    assert words == ["x, size of a file 2 KiB", "y, size of a file 2 KiB", words[0]]
    assert [(p.filesystem, p.value, p.x, p.hollow, p.facet) for p in points] == [
        ("a", 5.0, 0.0, False, ""),
        ("a", 6.0, 0.0, False, ""),
        ("b", 7.0, 0.0, True, ""),
    ]


def test_of_many_places_without_an_axis_nine_quantiles_are_dots(points: list[plots.Point]) -> None:
    """Of 12 all; of 17, from 1 to 17, each second one, however they are ordered."""
    for count, values in ((12, range(1, 13)), (17, range(1, 18, 2))):
        at = places(KIND, [f"p{n}" for n in range(count)])
        chart_of(matter("A"), row(at, A=[7.0 * n % count + 1 for n in range(count)]), "i")
        assert sorted(point.value for point in points) == list(values)


def test_curves_are_in_the_order_of_their_panels(points: list[plots.Point]) -> None:
    """Of five panels four are drawn, those with the widest gaps; places are along an axis."""
    gaps = {"v": 1.0, "w": 2.0, "x": 3.0, "y": 4.0, "z": 5.0}
    at = [place for n in (1, 2, 4, 8) for name in gaps for place in places(SIZE, [n], (KIND, name))]
    wide = [gaps[dict(place)[KIND]] for place in at]
    # Configurations that are not measured have no gap, and those with 0 no ratio.
    wide_row = row(at, A=[1.0] * 20, B=wide, C=[0.0] * 20)
    assert chart_of(matter("A", "B", "C"), wide_row, "i") == "curves"
    assert [p.facet for p in points if p.label == "A"] == [
        f"pattern {name}" for name in "wxyz" for _ in range(4)
    ]
    assert [p.x for p in points[:4]] == [1.0, 2.0, 4.0, 8.0]
    assert {(p.place, p.hollow) for p in points} == {("", False)}


def test_a_panel_of_one_configuration_has_no_gap(points: list[plots.Point]) -> None:
    """It is the one of five that is left out; and how large values are says nothing."""
    at = [place for name in "vwxyz" for place in places(SIZE, (1, 2, 4, 8), (KIND, name))]
    every = {number: Cell({"1": 50.0}) for number in range(20)}
    cells = {"A": every, "B": {number: cell for number, cell in every.items() if number > 3}}
    chart_of(matter("A", "B"), replace(row(at), cells=cells), "i")
    assert {point.facet for point in points} == {f"pattern {name}" for name in "wxyz"}
    little = {"A": dict.fromkeys(range(4), Cell({"1": 0.1})), "B": {0: Cell({"1": 0.2})}}
    cells = {label: {**every, **little[label]} for label in "AB"}
    chart_of(
        matter("A", "B"),
        replace(
            row([*at[4:], *at[:4]]),
            cells={
                label: {(number - 4) % 20: cell for number, cell in own.items()}
                for label, own in cells.items()
            },
        ),
        "i",
    )
    assert "pattern v" in {point.facet for point in points}
    assert len({point.facet for point in points}) == 4
