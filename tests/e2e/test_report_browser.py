"""Pages in a real browser: silent, no request, nothing wider than a window or a phone; sorted,
switched, filtered, copied, by mouse and by keyboard; charts, themes, print.

Real runs are those of the golden first screens.
"""

from __future__ import annotations

import base64
import csv
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_support import DRAWN, WIDTH, Browser

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "cuts"))

from compare_support import TIME, banded, compared, result, scaled
from cuts_support import HISTORY, TEXTS, finding, kept, made, study_text
from micro_support import write_usual_run
from test_index import kept as listed
from test_report_support import Overrides, case_ids, write_run

from ffslab.compare.tables import Choice
from ffslab.oracle.faults import kinds_on
from ffslab.report import build
from ffslab.report.comparison.page import render_comparisons
from ffslab.report.index import keep_headline, write_index
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import SIZES
from loaded_support import recorded, unpacked

# What ffslab size --json printed.
SIZES_OF_CODE = Path(__file__).parents[1] / "golden" / "code-size.json"
ROWS = "[...document.querySelectorAll('.score tbody tr')].filter(row => !row.hidden)"
CELLS = f"{ROWS}.map(row => [...row.cells].map(cell => cell.textContent))"
LOOKS = f"{ROWS}.map(row => [...row.cells].map(cell => cell.className + cell.style.cssText))"


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a recorded run, made once."""
    pages: dict[str, Path] = {}

    def made_once(study: str) -> Path:
        if study not in pages:
            pages[study] = build(unpacked(study, tmp_path_factory.mktemp(study)))
        return pages[study]

    return made_once


def failed(folder: Path) -> Path:
    """Long names, a failure with a long console, and sizes of code."""
    ids = case_ids()
    line = "[    9.120000] Kernel panic - not syncing: " + "long " * 40
    outcomes = {ids[2]: Outcome("crash", "kernel panic: " + "x" * 200, (line,) * 30)}
    run = write_run(folder / "run", outcomes=outcomes)
    shutil.copyfile(SIZES_OF_CODE, run / SIZES)
    return build(run)


def uflip(folder: Path) -> Path:
    few: Overrides = [("seed", (1,)), ("filesystem", ("yaffs2-no-checkpoint",))]
    return build(write_usual_run(folder / "run", "micro-uflip", few))


def cuts(folder: Path) -> Path:
    """All kinds of cuts, of recoveries too, with several outcomes; long ids, calls and paths."""
    kinds = kinds_on(["NAND"])
    bad = {"correct": 12_345, "synced-data-lost": 1_234, "mount-fails": 321}
    twice = {f"{first} / {then}": bad for first in [*kinds][:2] for then in [*kinds][2:5]}
    counts = {**dict.fromkeys(kinds, bad), **twice}
    findings = [
        finding(f"aaaa000{number}", f"1 {kind} 0 / 2 torn-bits 3", "mount-fails", detail="x" * 250)
        for number, kind in enumerate(kinds)
    ]
    cases = ("jffs2-updatebyrename-s1", "ubifs-appends-s1")
    texts = {**TEXTS, "history": HISTORY.replace("fsync a", f"fsync {'long/' * 40}")}
    every = [made(case, counts=counts, random=bad, findings=findings) for case in cases]
    return build(kept(folder, *every, texts=texts, text=study_text(workload="sample = 5")).path)


def comparison(folder: Path) -> Path:
    found = [banded(1.3, 0.98, 1.03), compared(result(), scaled(result(), TIME, 0.5))]
    page = folder / "compare.html"
    page.write_text(render_comparisons(found, Choice(all_figures=True)), encoding="utf-8")
    return page


def assert_fits(browser: Browser, width: int, where: str = "") -> None:
    """Nothing is wider than the window, clipped in a wide one, blank, told or from outside."""
    layout = browser.layout()
    assert layout["page"] <= width, where
    assert (layout["wide"], layout["blank"], browser.noise) == ([], 0, []), where
    assert width < WIDTH or layout["clipped"] == [], where


@pytest.mark.parametrize("made_page", [failed, uflip, cuts, comparison])
def test_pages_fit_and_are_silent(
    browser: Browser, tmp_path: Path, made_page: Callable[[Path], Path]
) -> None:
    page = made_page(tmp_path)
    for width, theme in ((WIDTH, "light"), (800, "dark"), (390, "light")):
        browser.open(page, width, theme=theme)
        assert_fits(browser, width, f"{width} {theme}")


@pytest.mark.parametrize("study", recorded())
def test_first_screens_fit_a_phone(
    browser: Browser, page_of: Callable[[str], Path], study: str
) -> None:
    """The scoreboard scrolls in its frame, its first column stays."""
    browser.open(page_of(study), 390, 844)
    name = "document.querySelector('.score tbody th').getBoundingClientRect().left"
    before = browser.tell(name)
    browser.tell("document.querySelector('.board .scroll').scrollLeft = 60")
    assert browser.tell(name) == before
    assert_fits(browser, 390)
    browser.open(page_of(study))
    assert_fits(browser, WIDTH)


@pytest.mark.parametrize(
    ("study", "switched", "changed"),
    [("ffsmark", ("state", "free"), "creation"), ("crash-quick", ("history", ""), "all")],
)
def test_a_switch_changes_the_cells_and_back(
    browser: Browser, page_of: Callable[[str], Path], study: str, switched: Any, changed: str
) -> None:
    """The page's script says the same of all places as what made the page."""
    axis, value = switched
    browser.open(page_of(study))
    cells, looks = browser.tell(CELLS), browser.tell(LOOKS)
    column = browser.tell("[...document.querySelectorAll('.score thead th')].map(h => h.innerText)")
    number = [name.replace("\n", " ") for name in column].index(changed)
    switch = "document.querySelector('.switches select')"
    assert browser.tell(f"{switch}.parentElement.firstChild.data").strip() == axis
    choose = (
        f"(index => {{ var choice = {switch}; choice.selectedIndex = index;"
        " choice.dispatchEvent(new Event('change')) })"
    )
    choices = browser.tell(f"[...{switch}.options].map(option => option.value)")
    assert len(choices) >= 3
    browser.tell(f"{choose}({choices.index(value) or 1})")
    after = browser.tell(CELLS)
    assert [row[0] for row in after] == [row[0] for row in cells]
    assert [row[number] for row in after] != [row[number] for row in cells]
    browser.tell(f"{choose}(0)")
    assert browser.tell(CELLS) == cells
    assert browser.tell(LOOKS) == looks


def test_words_filter_rows_and_copies_have_what_is_shown(
    browser: Browser, page_of: Callable[[str], Path]
) -> None:
    browser.open(page_of("ffsmark"))
    filter_to = (
        "(words => { var box = document.querySelector('.switches input');"
        " box.value = words; box.dispatchEvent(new Event('input')) })"
    )
    everything = browser.tell(CELLS)
    browser.tell(f"{filter_to}('UBIFS sync')")
    shown = browser.tell(CELLS)
    assert [row[0] for row in shown] == ["UBIFS · no compression · sync", "UBIFS · lzo · sync"]
    copied = {
        name: browser.tell(
            f"document.querySelector('[data-copy={name}]').click();"
            "document.querySelector('.board').dataset.copied"
        )
        for name in ("md", "csv")
    }
    head, line, *rows = copied["md"].splitlines()
    assert head.startswith("| configuration | creation | whole work |")
    assert set(line) == {"|", "-"}
    assert line.count("|") == head.count("|")
    texts = [row.removeprefix("| ").removesuffix(" |").split(" | ") for row in rows]
    assert texts == [[cell.replace("\xa0", " ") for cell in row] for row in shown]
    assert [*csv.reader(copied["csv"].splitlines())][1:] == texts
    browser.tell(f"{filter_to}('')")
    assert browser.tell(CELLS) == everything
    assert browser.noise == []


def test_the_keyboard_reaches_and_works_everything(
    browser: Browser, page_of: Callable[[str], Path]
) -> None:
    browser.open(page_of("ffsmark"))
    cells = browser.tell(CELLS)
    reached = []
    for _ in range(13):
        browser.press("Tab")
        reached.append(browser.tell("document.activeElement.tagName"))
        assert browser.tell("document.activeElement.matches(':focus-visible')")
        if reached[-1] == "SELECT":
            browser.press("ArrowDown")
            assert browser.tell(CELLS) != cells
            browser.press("ArrowUp")
            assert browser.tell(CELLS) == cells
        if reached.count("TH") == 3 and reached[-1] == "TH":
            orders = []
            for _ in range(2):
                browser.press("Enter")
                order = browser.tell("document.activeElement.ariaSort")
                orders.append((order, [float(row[2].split()[0].replace(",", "")) for row in
                                       browser.tell(CELLS)]))  # fmt: skip
            times = sorted(orders[0][1])
            assert orders == [("ascending", times), ("descending", times[::-1])]
    assert reached == ["SELECT", "INPUT", *["TH"] * 9, *["BUTTON"] * 2]


def test_charts_are_drawn_when_they_come_into_view_and_all_when_idle(
    browser: Browser, page_of: Callable[[str], Path]
) -> None:
    hold = "window.requestIdleCallback = rest => { window.idle = rest }"
    script = browser.send("Page.addScriptToEvaluateOnNewDocument", source=hold)
    browser.open(page_of("ffsmark"))
    browser.send("Page.removeScriptToEvaluateOnNewDocument", **script)
    last = "[...document.querySelectorAll('.vega')].at(-1)"
    browser.wait("!!document.querySelector('.picture svg')")
    is_drawn = f"!!{last}.querySelector('svg')"
    assert not browser.tell(is_drawn)
    browser.tell(f"{last}.scrollIntoView({{behavior: 'instant'}})")
    browser.wait(is_drawn)
    assert not browser.tell(DRAWN)
    browser.tell("while (idle) { var rest = idle; idle = null; rest() }")
    browser.wait(DRAWN)
    assert browser.noise == []


def test_the_dark_theme_redraws_charts_and_both_have_contrast(
    browser: Browser, page_of: Callable[[str], Path]
) -> None:
    browser.open(page_of("ffsmark"), theme="light")
    browser.wait(DRAWN)
    body = "getComputedStyle(document.body)"
    texts = "[...document.querySelectorAll('.picture svg text')]"
    fills = f"{texts}.map(text => text.getAttribute('fill'))"
    told = {}
    for theme in ("light", "dark"):
        paper = luminance(browser.tell(f"{body}.backgroundColor"))
        ink = luminance(browser.tell(f"{body}.color"))
        drawn = [luminance(browser.tell(f"(document.body.style.fill = '{fill}', {body}.fill)"))
                 for fill in set(browser.tell(fills))]  # fmt: skip
        assert contrast(paper, ink) > 7
        assert min(contrast(paper, each) for each in drawn) > 4.5
        assert (paper > ink) == (theme == "light")
        told[theme] = browser.tell(fills)
        browser.tell("document.getElementById('theme').click()")
        browser.wait(f"{fills}.join() !== '{','.join(told[theme])}'")
    assert browser.tell(fills) == told["light"]


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of rgb(r, g, b), as WCAG 2 defines it."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_print_has_the_folded_parts_and_the_charts(
    browser: Browser, page_of: Callable[[str], Path]
) -> None:
    browser.open(page_of("ffsmark"), theme="dark")
    browser.wait(DRAWN)
    folded = "document.querySelectorAll('details:not([open])').length"
    before = browser.tell(folded)
    assert before > 10
    browser.tell(f"addEventListener('beforeprint', () => {{ printed = [{folded}, {DRAWN}] }})")
    sheets = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert browser.tell("printed") == [0, True]
    assert browser.tell(folded) == before
    assert 8 <= len(re.findall(rb"/Type\s*/Page\b", sheets)) <= 40
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.tell("document.querySelector('.switches').checkVisibility()") is False
    browser.send("Emulation.setEmulatedMedia", media="")
    assert browser.tell("document.querySelector('.switches').checkVisibility()") is True


# Each column as it is told in reports, in the order of its worth; what is not measured comes last,
# whichever way a column is sorted.
COLUMNS = {
    "case": ["jffs2-s2", "jffs2-s10", "ubifs-s1", "yaffs2-s1"],
    "time": ["12 ns", "950\u00a0µs◦", "9.50\u00a0ms†", "1.20\u00a0s"],
    "size": ["5.02 KiB, ×1.08", "2 MiB", "3 MB, 0.762 : 1", "–"],
    "count": ["−3", "98", "1,024", "–"],
    "less": ["2.00 times faster", "19 to 20\u00a0% fewer", "10 % to 1.50 times faster", "the same"],
    "more": ["3 % slower", "1.50 to 2.00 times slower", "28.1 times as many", "–"],
    "word": ["polled", "x-interrupt", "zlib", "–"],
    "best": ["✓ 9.62 MiB", "✓ 31.0 MiB", "1,016 MiB", "n/a"],
}


def test_tables_sort_by_what_their_cells_are_worth(
    browser: Browser, page_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """The page's own script, on a table with every kind of cell; clicked, and read."""
    mixed = [[told[number] for told in COLUMNS.values()] for number in (2, 0, 3, 1)]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in mixed)
    table = f"<table id=mixed><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    page = tmp_path / "mixed.html"
    text = page_of("wear").read_text(encoding="utf-8")
    page.write_text(text.replace("<main>", f"<main>{table}", 1), encoding="utf-8")
    browser.open(page)
    for column, (name, expected) in enumerate(COLUMNS.items()):
        cells = f"[...mixed.tBodies[0].rows].map(row => row.cells[{column}].textContent)"
        head = f"mixed.tHead.rows[0].cells[{column}]"
        known = [cell for cell in expected if cell not in ("–", "n/a")]
        last = expected[len(known) :]
        for order, sorted_cells in (("ascending", expected), ("descending", known[::-1] + last)):
            browser.tell(f"{head}.click()")
            assert browser.tell(cells) == sorted_cells, name
            assert browser.tell(f"{head}.ariaSort") == order
            assert browser.tell("mixed.querySelectorAll('[aria-sort]').length") == 1


TICKS = """(function () {
  var box = document.getElementById("compare"), ticks = document.querySelectorAll("#runs input");
  var filter = document.querySelector("input[type=search]"), steps = [];
  function text(name) {
    var part = box.querySelector(name);
    return box.hidden || part.hidden ? "" : part.getAttribute("href") || part.textContent;
  }
  function studies() {
    var rows = Array.from(document.querySelectorAll("#runs tbody tr"));
    return rows.filter(row => row.getClientRects().length).map(row => row.cells[3].firstChild.data);
  }
  [0, 1, 1, 3, 3, 0].forEach(function (number) {
    ticks[number].click();
    steps.push([text("code"), text("a"), text("span")]);
  });
  ticks[0].click(); ticks[3].click();
  document.querySelectorAll("#runs thead th")[5].click();
  var sorted = studies();
  filter.value = "MINE celf-mips";
  filter.dispatchEvent(new Event("input"));
  var told = {steps: steps, sorted: sorted, filtered: studies()};
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
  return told;
})()"""


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (800, "dark"), (390, "light")])
def test_two_ticked_runs_give_the_command_that_compares_them(
    browser: Browser, tmp_path: Path, width: int, theme: str
) -> None:
    root = tmp_path / "my runs"
    told = {"title": "long " * 40, "boards": {"celf-mips": {}}}
    oldest = listed(root, "20260101T000000Z-mine", study="mine", **told)
    listed(root, "20260102T000000Z-broken", study="broken", outcomes={"crash": 3, "pass": 1})
    other = listed(root, "20260103T000000Z-other", study="other", overrides=[["x" * 90, [1] * 4]])
    newest = listed(root, "20260104T000000Z-mine", study="mine", outcomes={"short": 1})
    (newest / "report.html").write_text("page")
    keep_headline(newest / "report.html", newest, f"{'word ' * 25}x{'y' * 90}", "title")
    page = f"compare-{oldest.name}..{newest.name}.html"
    (root / page).write_text("page")
    browser.open(write_index(root), width, theme=theme)
    answer = browser.tell(TICKS)
    assert_fits(browser, width)

    def compare(*runs: Path) -> str:
        return " ".join(["ffslab compare", *(f"'{run}'" for run in runs), f"--html '{root}'"])

    hint = "Tick a second run to compare them."
    assert answer["steps"] == [
        ["", "", hint],
        [compare(other, newest), "", "Runs of different studies may have no case in common:"],
        ["", "", hint],
        [compare(oldest, newest), page, ""],
        ["", "", hint],
        ["", "", ""],
    ]
    assert answer["sorted"] == ["other", "mine", "mine", "broken"]
    assert answer["filtered"] == ["mine"]
