"""What a comparison, and the bands of a run, look like on a terminal of 80 columns."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from compare_support import (
    MS,
    TIME,
    banded,
    compared,
    phase,
    result,
    scaled,
    seeds,
    side,
    spec,
    with_figure,
)

from ffslab.cli.compare_tables import print_bands, print_comparison
from ffslab.cli.screen import Screen
from ffslab.compare.band import Band, MovedFigure, bands_of
from ffslab.compare.cases import Side
from ffslab.compare.circumstances import Circumstance
from ffslab.compare.engine import (
    CaseRow,
    Comparison,
    FigureRow,
    Rules,
    compare_runs,
    compare_values,
)
from ffslab.compare.pairs import axis_sides
from ffslab.compare.ratios import Pair, summarise
from ffslab.compare.tables import Choice
from ffslab.compare.verdicts import Verdict
from ffslab.results.schema import BY_NAME, Figure

ALL = Rules(threshold_percent=0)
NAMES = ("duration_ns", "pages_read", "blocks_erased", "pages_programmed")


def lines_of(found: Comparison, choice: Choice | None = None, width: int = 80) -> list[str]:
    """The lines below the headline."""
    text = io.StringIO()
    print_comparison(Screen(file=text, width=width), found, choice or Choice(), in_full=True)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return lines[next(n for n, line in enumerate(lines) if line.startswith("base:")) :]


def plain(duration_ms: int = 2000, **changes: Any) -> dict[str, Any]:
    """A case of one phase without flash times: its figures are few."""
    own = {k: v for k, v in phase("creation", duration_ms * MS).items() if "flash" not in k}
    return result(phases=[own], virtual_ns=None, **changes)


def tail(found: Comparison, first: str) -> list[str]:
    """The lines from the one that begins so."""
    lines = lines_of(found)
    return lines[next(n for n, line in enumerate(lines) if line.startswith(first)) :]


def test_a_whole_comparison() -> None:
    assert lines_of(compared(plain(), plain(3000))) == [
        "base: base, 1 case, build b1",
        "new:  new, 1 case, build b2",
        "",
        "what differs     base new cases",
        "build of the lab b1   b2    all",
        "",
        "jffs2: worse (1 worse, 5 same)",
        "  figure           base    new       change",
        "  creation: time 2.00 s 3.00 s worse 1.50 times slower",
        "  cause, creation: +1.00 s, and the chip does not count its time; no flash",
        "  operation more or fewer",
        "",
        "cases: 1 worse",
        "figures: 1 worse, 5 same",
        "band of builds not measured: a difference may come from another history; next:",
        "ffslab run x --band 4, with both builds",
    ]


def test_the_headline_comes_first() -> None:
    text = io.StringIO()
    print_comparison(
        Screen(file=text, width=80), compared(plain(), plain(3000)), Choice(), in_full=True
    )
    assert [line.rstrip() for line in text.getvalue().splitlines()[:3]] == [
        "worse: the only case is worse; the largest change: creation time 1.50 times",
        "slower.",
        "base: base, 1 case, build b1",
    ]


def test_what_did_not_change_is_told_in_a_line() -> None:
    assert lines_of(compared(plain(), plain(), "b1")) == [
        "base: base, 1 case, build b1",
        "new:  new, 1 case, build b1",
        "",
        "nothing differs in build, version and settings",
        "",
        "jffs2: same (6 figures)",
        "cases: 1 same",
        "figures: 6 same",
    ]


def test_a_limit_is_named_behind_the_change_that_is_inside() -> None:
    """Both sides were measured: 1,960 to 2,060 ms, and 2,000 to 2,060."""
    assert tail(banded(1.02, 0.98, 1.03), "  creation")[:2] == [
        "  creation: time             2.00 s 2.04 s  2 % slower (band −2 % to +3 %):",
        "                                            within the band",
    ]
    found = compared(plain(), plain(2040), threshold=5)
    assert "2 % slower: within the threshold" in "\n".join(lines_of(found))


def test_a_band_of_one_side_alone() -> None:
    lines = lines_of(banded(1.05, 0.98, 1.03), width=200)
    assert lines[0] == "base: base, 1 case and 2 perturbed, build b1"
    assert lines[-1] == (
        "band of builds not measured in new: by chance alone one in five figures that move is "
        "outside the band of the other run; next: ffslab run x --band 4"
    )
    # One figure of the case was moved by the band, and another one was not.
    row = result()
    base = [row, scaled(result("jffs2-perturbation1-s1", spec=spec(perturbation=1)), TIME, 1.01)]
    both = [*base[:1], {**base[1]}]
    assert "not measured" not in "\n".join(lines_of(compared(base, both)))


def test_both_sides_with_a_band_lack_nothing() -> None:
    row = result()
    versions = [row, scaled(result("jffs2-perturbation1-s1", spec=spec(perturbation=1)), TIME, 1.1)]
    new = [scaled(one, TIME, 3) for one in versions]
    assert lines_of(compared(versions, new))[-1] == "figures: 2 worse, 33 same"


def test_an_axis_needs_no_band() -> None:
    own = {"state": {"name": "aged"}}
    rows = [plain(), plain(3000, spec=spec(**own))]
    rows = [
        {**row, "id": f"jffs2-{name}-s1", "axes": {"state": name, "seed": 1}}
        for row, name in zip(rows, ("free", "aged"), strict=True)
    ]
    before, after = axis_sides(side(rows), "state", None)
    lines = lines_of(compare_values(before, after, "state"))
    assert lines[:2] == ["base: state free, 1 case, build b1", "new:  state aged, 1 case, build b1"]
    assert "  creation: time 2.00 s 3.00 s worse 1.50 times slower" in lines
    assert lines[-2:] == ["cases: 1 worse", "figures: 1 worse, 5 same"]
    assert "state.name   free aged     1" in lines


def test_a_fault_of_the_laboratory() -> None:
    row = plain()
    found = compared(row, with_figure(plain(3000), "creation", pages_read=1, blocks_erased=1), "b1")
    assert tail(found, "NOT") == [
        "NOT DETERMINISTIC: equal build and spec, and results differ: 1 of the cases",
        "  jffs2: creation.duration_ns, creation.pages_read, creation.blocks_erased",
        "  likely cause: a bug of ffslab or its host, an edited result, or a version of",
        "ffslab that computes a figure differently",
        "  next: ffslab run small --case jffs2-s1, twice",
    ]
    rows = [plain(spec=spec(seed=n), case_id=f"a{n}-s{n}") for n in range(1, 8)]
    new = [with_figure(one, "creation", **dict.fromkeys(NAMES, 1)) for one in rows]
    lines = lines_of(compared(rows, new, "b1"), width=200)
    told = lines[next(n for n, line in enumerate(lines) if line.startswith("NOT")) :]
    assert told[0].endswith("differ: 7 of the cases")
    assert [line[:5] for line in told[1:6]] == [f"  a{n}:" for n in range(1, 6)]
    assert told[1].endswith("creation.pages_programmed and 1 more")
    assert told[6].startswith("  likely cause")


def test_what_a_side_lacks_and_what_failed() -> None:
    rows = [result(), result("ubifs-s1", spec=spec(filesystem__name="ubifs"))]
    base = side(rows, cases_total=5)
    broken = {**rows[1], "outcome": "crash", "reason": "a [b]"}
    new = side([rows[0], broken], "new", "b2", cases_total=2)
    lines = lines_of(compare_runs(base, new, ALL), width=200)
    assert lines[0] == "base: base, 2 cases, build b1"
    assert "ubifs: newly failing (crash: a [b])" in lines
    assert lines[-3:] == [
        "cases: 1 newly failing, 1 same",
        "figures: 35 same",
        "base is incomplete: 2 of 5 cases have a result; next: ffslab run results/base --resume",
    ]
    lines = lines_of(compare_runs(new, base, ALL), width=200)
    assert lines[-1].startswith("new is incomplete: 2 of 5 cases have a result")
    alone = lines_of(compare_runs(side(rows[1:]), side([broken], "new", "b2"), ALL))
    assert alone[-1] == "cases: 1 newly failing"  # and no figures


def test_of_several_seeds_one_may_fail() -> None:
    new = [seeds(1.5)[0], result("jffs2-s2", spec=spec(seed=2), outcome="fail", reason="why")]
    lines = lines_of(compared(seeds(1.0, 1.0), new))
    at = lines.index("jffs2: newly failing (2 worse, 33 same)")
    assert lines[at + 1] == "  seed 2: fail: why"
    assert lines[at + 2].startswith("  figure")


def test_figures_that_are_not_shown_are_counted() -> None:
    names = ("pages_read", "pages_programmed", "blocks_erased", "bytes_written")
    row = result(phases=[*result()["phases"], phase("unmount")])
    new = row
    for name in (*names, "flash_read_ns", "flash_program_ns", "flash_erase_ns"):
        new = scaled(new, f"creation.{name}", 1.5)
    lines = lines_of(compared(row, new))
    assert "  and 2 further figures: --all" in lines
    assert not any("further" in line for line in lines_of(compared(row, new), Choice(False, True)))
    # A cause is told of the phases of which a figure is shown.
    assert sum("cause, creation" in line for line in lines) == 1
    two = compared(row, scaled(new, "unmount.pages_read", 1.001))
    assert not any("cause, unmount" in line for line in lines_of(two))
    assert any("cause, unmount" in line for line in lines_of(two, Choice(False, True)))


def test_only_what_changed() -> None:
    rows = [plain(), plain(spec=spec(seed=2, cpu_scale=2), case_id="fast-s2")]
    found = compared(rows, [plain(3000), rows[1]])
    assert not any(line.startswith("fast") for line in lines_of(found, Choice(only_changed=True)))
    assert "fast: same (6 figures)" in lines_of(found)


def test_colours() -> None:
    text = io.StringIO()
    console = Screen(
        file=text, width=120, force_terminal=True, color_system="standard", highlight=False
    )
    one = plain(spec=spec(seed=1), case_id="a-s1")
    two = plain(spec=spec(seed=2), case_id="b-s2")
    slow = with_figure(one, "creation", duration_ns=1, pages_read=1001)
    print_comparison(
        console, compared([one, two], [slow, {**two, "outcome": "fail"}]), Choice(), in_full=True
    )
    shown = text.getvalue()
    assert "\x1b[31mworse" in shown and "\x1b[1;31mnewly failing\x1b[0m" in shown
    assert "\x1b[32mbetter\x1b[0m" in shown  # the time, a figure of the case that is worse


def test_the_bands_of_a_run() -> None:
    rows = [plain()]
    for number, ms in enumerate((1960, 2060), start=1):
        rows.append(
            plain(ms, spec=spec(perturbation=number), case_id=f"jffs2-perturbation{number}-s1")
        )

    def told(*every: Any, all_figures: bool = False) -> list[str]:
        text = io.StringIO()
        run = side(every)
        console = Screen(file=text, width=80)
        print_bands(console, run, bands_of(run), all_figures)
        return [line.rstrip() for line in text.getvalue().splitlines()]

    assert told(*rows) == [
        "run:  base, 1 case and 2 perturbed, build b1",
        "",
        "jffs2: 2 perturbed, 5 of 6 figures did not move",
        "  figure          value band of builds",
        "  creation: time 2.00 s   −2 % to +3 %",
    ]
    every = [" ".join(line.split()) for line in told(*rows, all_figures=True)[4:]]
    assert "creation: time 2.00 s −2 % to +3 %" in every and len(every) == 6
    assert "creation: pages read 1,000 0 %" in every
    rows[2]["outcome"] = "crash"
    failed = told(*rows)
    assert failed[0] == "run:  base, 1 case and 2 perturbed (1 of them failed), build b1"
    assert failed[2] == "jffs2: 1 perturbed, 5 of 6 figures did not move"


# --- made by hand: a row of each verdict, and texts that are too long


def of_cases(*cases: CaseRow, differs: tuple[Circumstance, ...] = ()) -> Comparison:
    return Comparison(side([]), side([], "new"), differs, cases)


def row(
    verdict: Verdict, place: str = "creation", new: float = 2.0, name: str = "duration_ns"
) -> FigureRow:
    figure = Figure(BY_NAME[name], place, 1, main=True)
    both = [Pair("1", 1e9, new * 1e9)]
    return FigureRow(figure, verdict, 1e9, new * 1e9, summarise(both), why="not there")


def table_of(*rows: FigureRow, width: int = 200) -> list[str]:
    lines = lines_of(of_cases(CaseRow("x", rows[0].verdict, rows=rows)), width=width)
    at = next(n for n, line in enumerate(lines) if line.startswith("  figure"))
    return lines[at + 1 : lines.index("", at)]


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Verdict.WORSE, "31"), (Verdict.NEWLY_FAILING, "1;31"), (Verdict.FAILING, "31"),
        (Verdict.MISSING, "33"), (Verdict.DISAGREE, "33"), (Verdict.MIXED, "33"),
        (Verdict.INCOMPARABLE, "33"), (Verdict.BETTER, "32"), (Verdict.FIXED, "32"),
        (Verdict.SAME, ""), (Verdict.DIFFERENT, ""), (Verdict.NEW, ""),
    ],
)  # fmt: skip
def test_each_verdict_has_its_colour(verdict: Verdict, code: str) -> None:
    text = io.StringIO()
    console = Screen(
        markup=False, file=text, force_terminal=True, color_system="standard", highlight=False
    )
    print_comparison(console, of_cases(CaseRow("x", verdict, "why")), Choice(), in_full=True)
    shown = f"\x1b[{code}m{verdict}\x1b[0m" if code else verdict
    assert f"x: {shown} (why)\n" in text.getvalue()


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        (Verdict.WORSE, "worse 2.00 times slower"), (Verdict.BETTER, "better 2.00 times slower"),
        (Verdict.DIFFERENT, "differs 2.00 times slower"),
        (Verdict.DISAGREE, "mixed 2.00 times slower"),
        (Verdict.BAND, " 2.00 times slower: within the band"),
        (Verdict.THRESHOLD, " 2.00 times slower: within the threshold"),
        (Verdict.INCOMPARABLE, " not comparable: not there"),
    ],
)  # fmt: skip
def test_each_verdict_has_its_mark(verdict: Verdict, mark: str) -> None:
    assert table_of(row(verdict)) == [f"  creation: time 1.00 s 2.00 s {mark}"]


def test_a_figure_beside_others_may_be_the_same() -> None:
    rows = (row(Verdict.WORSE), row(Verdict.SAME, new=1))
    assert table_of(*rows)[1] == "  creation: time 1.00 s 1.00 s       same"


def test_a_case_of_which_nothing_is_said() -> None:
    assert "x: same" in lines_of(of_cases(CaseRow("x", Verdict.SAME)))


def test_a_long_title_is_folded_after_28_columns() -> None:
    assert table_of(row(Verdict.WORSE, "p" * 22))[0].startswith(f"  {'p' * 22}: time 1.00 s")
    first, second = table_of(row(Verdict.WORSE, "p" * 23))
    assert first.startswith(f"  {'p' * 23}:") and second.strip() == "time"
    first, second = table_of(row(Verdict.WORSE, "p" * 40))
    assert first.split()[0] == "p" * 28 and second.split()[0] == "p" * 12 + ":"


def test_a_long_change_is_folded_and_values_are_not() -> None:
    long = row(Verdict.WORSE, "p" * 23, 1 + 1e-9)
    first, *others = table_of(long, width=60)
    assert "1.000000000 s 1.000000001 s worse" in first and others
    broken = replace(row(Verdict.INCOMPARABLE), why="w" * 90)
    lines = table_of(broken, width=60)
    assert sum(line.count("w") for line in lines) == 90


def test_long_circumstances_are_folded_and_none_is_cut() -> None:
    long = Circumstance("n" * 31, "b" * 41, "w" * 41, 3)
    lines = lines_of(of_cases(differs=(long,)), width=200)
    at = next(n for n, line in enumerate(lines) if line.startswith("what differs"))
    assert lines[at + 1].split() == ["n" * 30, "b" * 40, "w" * 40, "3"]
    assert lines[at + 2].split() == ["n", "b", "w"]


def test_texts_are_not_markup() -> None:
    odd = "[b]x[/b]"
    cases = (
        CaseRow(odd, Verdict.MISSING, odd),
        CaseRow("y", Verdict.WORSE, odd, rows=(row(Verdict.WORSE, odd),)),
    )
    found = Comparison(
        side([result()], odd, command=odd, cases_total=9), side([], "new", "b2"),
        (Circumstance(odd, odd, odd),), cases,
    )  # fmt: skip
    lines = lines_of(found, width=60)
    text = "\n".join(lines)
    assert "[" in text and text.count("[b]x[/b]") >= 8
    assert f"{odd}: missing ({odd})" in lines and f"  {odd}" in lines


def test_a_line_with_a_path_is_not_broken() -> None:
    run = side([result()], "n" * 70, cases_total=2)
    lines = lines_of(Comparison(run, run, (), ()), width=60)
    assert lines[0] == f"base: {'n' * 70}, 1 case, build b1"
    assert lines[-1].endswith(f"run results/{'n' * 70} --resume")


def test_the_last_lines_of_what_was_compared_with_nothing() -> None:
    assert lines_of(of_cases())[-1] == "cases: none"


def test_a_band_is_only_lacking_where_something_changed() -> None:
    wide = Band(-1, 1, None, 1, 3)
    for changed, told in (
        (replace(row(Verdict.WORSE), band=wide), "band of builds not measured in base: "),
        (row(Verdict.WORSE), "band of builds not measured: "),
    ):
        case = CaseRow("x", Verdict.WORSE, rows=(changed,))
        assert any(line.startswith(told) for line in lines_of(of_cases(case)))
    # Of two figures one was measured on each side.
    both = (
        replace(row(Verdict.WORSE), band=wide),
        replace(row(Verdict.WORSE), band=Band(-1, 1, None, 3, 1)),
    )
    found = of_cases(CaseRow("x", Verdict.WORSE, rows=both))
    assert not any("not measured" in line for line in lines_of(found))
    same = of_cases(CaseRow("x", Verdict.SAME, rows=(row(Verdict.SAME, new=1),)))
    assert not any("not measured" in line for line in lines_of(same))


def test_a_broken_case_names_its_three_first_figures() -> None:
    for names, told in (
        (("a", "b", "c"), "  x: a, b, c"),
        (("a", "b", "c", "d"), "  x: a, b, c and 1 more"),
    ):
        case = CaseRow("x", Verdict.WORSE, ids=(("p", "q"), ("r", "s")), broken=names)
        lines = lines_of(of_cases(case, replace(case, label="y", ids=(("t", "u"),))))
        assert told in lines and "  next: ffslab run small --case q, twice" in lines
        assert any(line.startswith("NOT DETERMINISTIC: ") for line in lines)
    text = io.StringIO()
    console = Screen(
        markup=False, file=text, force_terminal=True, color_system="standard", width=120
    )
    print_comparison(console, of_cases(case), Choice(), in_full=True)
    assert "\x1b[1;31mNOT DETERMINISTIC" in text.getvalue()


def test_the_bands_of_a_case_are_from_as_many_versions_as_its_least_figure() -> None:
    moved = [
        MovedFigure(
            Figure(BY_NAME["duration_ns"], place, 1, main=True), 1e9, Band(-1, 1, None, n, 1)
        )
        for place, n in (("creation", 5), ("d" * 200, 3))
    ]
    text = io.StringIO()
    print_bands(Screen(file=text, width=60), side([]), {"[b]x[/b]": moved}, False)
    lines = text.getvalue().splitlines()
    assert lines[2] == "[b]x[/b]: 2 perturbed, 0 of 2 figures did not move"
    assert sum(line.count("d") for line in lines[4:]) >= 200  # folded, and not cut
    assert all("1.00 s −1.00 ns to +1.00 ns" in line for line in lines if "1.00 s" in line)


def test_an_unknown_build_has_no_name() -> None:
    nameless = Side("x", {}, (), 0)
    long = Side("y", {"build_id": "0123456789abcdef"}, (), 0)
    lines = lines_of(Comparison(nameless, long, (), ()))
    assert lines[:2] == ["base: x, 0 cases, build", "new:  y, 0 cases, build 0123456789ab"]


def test_a_table_takes_no_more_room_than_it_needs() -> None:
    (line,) = table_of(row(Verdict.WORSE))
    assert table_of(row(Verdict.WORSE), width=len(line)) == [line]
    text = io.StringIO()
    case = CaseRow("x", Verdict.WORSE, rows=(row(Verdict.WORSE),))
    print_comparison(Screen(file=text, width=200), of_cases(case), Choice(), in_full=True)
    assert f"{line}\n" in text.getvalue()  # and no blanks to the end of the line


def test_values_are_not_broken_where_there_is_no_room() -> None:
    case = CaseRow("x", Verdict.WORSE, rows=(row(Verdict.WORSE),))
    assert any("1.00 s 2.00 s worse" in line for line in lines_of(of_cases(case), width=32))
    text = io.StringIO()
    moved = MovedFigure(Figure(BY_NAME["duration_ns"], "creation", 1, main=True), 1e9,
                        Band(-1, 1, None, 3, 1))  # fmt: skip
    print_bands(Screen(file=text, width=34), side([]), {"x": [moved]}, False)
    assert "1.00 s −1.00 ns to +1.00 ns" in text.getvalue()


def test_the_command_that_is_named_is_that_of_the_run_that_lacks_a_band() -> None:
    base, new = side([], command="ffslab run one"), side([], "new", "b2", command="ffslab run two")
    case = CaseRow("x", Verdict.WORSE, rows=(row(Verdict.WORSE),))
    assert lines_of(Comparison(base, new, (), (case,)), width=200)[-1].endswith(
        "next: ffslab run two --band 4, with both builds"
    )
