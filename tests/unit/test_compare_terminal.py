"""What a comparison, and the bands of a run, look like on a terminal of 80 columns."""

from __future__ import annotations

import io
from typing import Any

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
from rich.console import Console

from ffslab.cli.compare_tables import print_bands, print_comparison
from ffslab.compare.band import bands_of
from ffslab.compare.engine import Comparison, Rules, compare_runs, compare_values
from ffslab.compare.pairs import axis_sides
from ffslab.compare.tables import Choice

ALL = Rules(threshold_percent=0)
NAMES = ("duration_ns", "pages_read", "blocks_erased", "pages_programmed")


def lines_of(found: Comparison, choice: Choice | None = None, width: int = 80) -> list[str]:
    text = io.StringIO()
    print_comparison(Console(file=text, width=width, highlight=False), found, choice or Choice())
    return [line.rstrip() for line in text.getvalue().splitlines()]


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
        "band of builds not measured: a difference may be that of another history; next:",
        "ffslab run x --band 4, with both builds",
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


def test_without_a_measure_nothing_is_worse_and_what_would_tell_is_named() -> None:
    assert tail(compared(plain(), plain(3000), threshold=None), "jffs2") == [
        "jffs2: not judged (1 not judged, 5 same)",
        "  figure           base    new         change",
        "  creation: time 2.00 s 3.00 s differs 1.50 times slower",
        "  cause, creation: +1.00 s, and the chip does not count its time; no flash",
        "  operation more or fewer",
        "",
        "cases: 1 not judged",
        "figures: 1 not judged, 5 same",
        "not judged: another build, and its band was not measured: a difference may be",
        "that of another history; next: ffslab run x --band 4, with both builds, or",
        "compare with --threshold PERCENT",
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
        "band of builds not measured in new: by chance alone every fifth of the figures that move "
        "is outside that of the other run; next: ffslab run x --band 4"
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
        "  likely cause: a bug of ffslab or its host, an edited result, or another",
        "version of the host's part that computes a figure otherwise",
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
    console = Console(
        file=text, width=120, force_terminal=True, color_system="standard", highlight=False
    )
    one = plain(spec=spec(seed=1), case_id="a-s1")
    two = plain(spec=spec(seed=2), case_id="b-s2")
    slow = with_figure(one, "creation", duration_ns=1, pages_read=1001)
    print_comparison(console, compared([one, two], [slow, {**two, "outcome": "fail"}]), Choice())
    shown = text.getvalue()
    assert "\x1b[31mworse\x1b[0m (" in shown and "\x1b[1;31mnewly failing\x1b[0m" in shown
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
        console = Console(file=text, width=80, highlight=False)
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
