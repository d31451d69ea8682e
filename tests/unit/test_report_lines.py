"""Lines over an amount, and figures that are large, or none, on the first screen."""

from __future__ import annotations

from test_report_first import case, cells, cost, run_of, told
from test_report_support import charts_of, vega_lite

from ffslab.report import svg
from ffslab.report.lines import Axes, Line, lines, names_of
from ffslab.results.criteria import Criterion
from ffslab.results.schema import Figure
from ffslab.workloads.wear.metrics import END, MOVED, OUTSIDE

AXES = Axes("written (GB)", "erases", 50.0)


def life(gigabytes: float) -> Criterion:
    return Criterion(Figure(END, "", gigabytes * 1e9), "the end", "life", True)


def share(value: float) -> Criterion:
    return Criterion(Figure(MOVED, "", value), "static data moved", "wear", True)


def outside(blocks: int) -> Criterion:
    return Criterion(Figure(OUTSIDE, "", blocks), "blocks outside", "wear", True)


def test_names_of_lines_that_end_alike_are_kept_apart_and_within() -> None:
    drawn = [Line(name, name, [(0, 0), (5, 100)], "a") for name in ("jffs2", "ubifs", "yaffs2")]
    drawn.append(Line("jffs2", "jffs2", [(0, 0), (5, 3)], "b"))
    page = lines(drawn, AXES, "title", "it")
    (chart,) = charts_of(page).values()
    vega_lite().validate({**chart["spec"], "config": svg.theme()})
    rows = chart["data"]["rows"]
    named = [
        (facet, y)
        for kind, facet, y in zip(rows["kind"], rows["facet"], rows["y"], strict=True)
        if kind == "name"
    ]
    heights = sorted(y for facet, y in named if facet == "a")
    # 105 is the top; names are 9 % of that from each other.
    assert heights[2] <= 105 and min(heights[1] - heights[0], heights[2] - heights[1]) > 9.4
    assert [y for facet, y in named if facet == "b"] == [3]
    assert "data-wide" in page and "data-wide" not in lines(drawn[:0], AXES, "title", "it")


def test_a_line_without_points_is_no_chart() -> None:
    assert lines([Line("jffs2", "jffs2", [])], AXES, "title", "it") == ""


def test_a_case_is_named_by_its_configuration_and_its_place() -> None:
    cases = [case("jffs2", state=state) for state in ("free", "aged")]
    run, _ = run_of([(each, []) for each in [*cases, case("ubifs")]])
    assert list(names_of(run).values()) == [
        ("JFFS2", "state free"),
        ("JFFS2", "state aged"),
        ("UBIFS", "state free"),
    ]


def test_who_lasts_longest_is_told_of_lives_of_any_size() -> None:
    """Bytes of a life are 10^10 and more; what is compared is their inverse."""
    first = told([(case("jffs2"), [life(10.3)]), (case("ubifs"), [life(7.9)])])
    assert first.headline == "JFFS2 lasts longest with 10.3 GB, then UBIFS with 7.90 GB."
    assert cells(first)["JFFS2"].best and not cells(first)["UBIFS"].best


def test_what_nobody_has_decides_nothing() -> None:
    """Both are headlines, so that both are columns; the one in which all are 0 is no contest."""
    measured = [
        (case("jffs2"), [share(0.25), outside(0), cost("pages_programmed", 3)]),
        (case("ubifs"), [share(0.03), outside(0), cost("pages_programmed", 2)]),
    ]
    first = told(measured)
    assert first.headline == (
        "Static data moved: JFFS2 is best with 25.0 %, then UBIFS with 3.00 %; UBIFS wears least."
    )
    assert [column.head for column in first.board.columns] == ["data moved", "outside", "pages"]
    assert not any(cell.best or cell.heat for cell in cells(first, 1).values())


def test_a_chart_says_whether_it_needs_the_room_of_two() -> None:
    def is_wide(**spec: object) -> bool:
        return "data-wide" in svg.draw({"mark": "bar", **spec}, "t", "it", {"rows": []})

    assert is_wide(width=400) and is_wide(facet={}, columns=2)
    assert not is_wide(width=230) and not is_wide(width={"step": 20}) and not is_wide()
