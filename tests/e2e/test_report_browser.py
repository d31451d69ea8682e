"""The report in a real browser: silent console, nothing wider than the window, no table clipped at
1280 pixels, themes, print.

Needs `chromium` (the Debian package of that name) and fails without it: a report that nobody has
rendered is not tested.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "cuts"))

from append_log_support import write_log_run
from cuts_support import HISTORY, TEXTS, finding, kept, made, study_text
from test_append_log_report import STUDY as LOGS
from test_append_log_report import does
from test_report_micro_support import Overrides, write_micro_run
from test_report_support import case_ids, write_run
from test_report_tree_support import files_text, images_text, mounts_text, write_tree_run

from ffslab.oracle.faults import kinds_on
from ffslab.report import build
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import SIZES

# What ffslab size --json printed.
SIZES_OF_CODE = Path(__file__).parents[1] / "golden" / "code-size.json"

# Appended to a copy of the page: it measures after layout and leaves its answer in the document.
PROBE = """
<script>
addEventListener("load", function () {
  var view = document.documentElement.clientWidth, wide = [];
  document.querySelectorAll("main *, nav *").forEach(function (element) {
    var box = element.getBoundingClientRect();
    var outside = box.right > view + 0.5 || box.left < -0.5;
    if (box.width && outside && !element.closest(".scroll, pre"))
      wide.push(element.tagName + " " + Math.round(box.right) + " " + element.textContent.trim());
  });
  var clipped = Array.from(document.querySelectorAll(".scroll")).filter(function (box) {
    return box.scrollWidth > box.clientWidth + 1;
  });
  var answer = document.createElement("output");
  answer.id = "probe";
  answer.textContent = JSON.stringify({
    view: view,
    page: document.documentElement.scrollWidth,
    wide: wide.slice(0, 5),
    clipped: clipped.slice(0, 5).map(function (box) {
      return box.scrollWidth + " " + box.clientWidth + " " + box.textContent.trim().slice(0, 80);
    }),
    errors: window.seen,
    paper: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    bars: document.querySelectorAll(".panel svg path").length,
    blank: Array.from(document.querySelectorAll("figure > svg")).filter(function (svg) {
      return svg.getBoundingClientRect().height < 20;
    }).length,
    resources: performance.getEntriesByType("resource").map(function (entry) { return entry.name; })
  });
  document.body.appendChild(answer);
});
</script>
"""
WATCH = (
    "<script>window.seen=[];addEventListener('error',e=>seen.push(String(e.message)),true)</script>"
)


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.fail("no chromium; next: apt-get install chromium")


def browse(arguments: list[str], profile: Path) -> subprocess.CompletedProcess[str]:
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    command = [
        chromium(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-sync",
        "--hide-scrollbars",
        *quiet,
        "--enable-logging=stderr",
        f"--user-data-dir={profile}",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def probe(page: Path, width: int, theme: str, profile: Path) -> dict[str, Any]:
    url = f"{page.as_uri()}?theme={theme}"
    done = browse([f"--window-size={width},900", "--dump-dom", url], profile)
    assert done.returncode == 0, done.stderr
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert messages == []
    output = re.search(r'<output id="probe">(.*?)</output>', done.stdout, re.DOTALL)
    assert output, done.stdout[-2000:]
    answer = json.loads(unescape(output.group(1)))
    assert isinstance(answer, dict)
    return answer


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full report with a failure, with the probe in it."""
    folder = tmp_path_factory.mktemp("browser")
    ids = case_ids()
    line = "[    9.120000] Kernel panic - not syncing: " + "long " * 40
    outcomes = {ids[2]: Outcome("crash", "kernel panic: " + "x" * 200, (line,) * 30)}
    run = write_run(folder / "run", outcomes=outcomes)
    shutil.copyfile(SIZES_OF_CODE, run / SIZES)
    return probed(build(run))


def probed(report: Path) -> Path:
    """A copy of a page with the probe in it, and with everything that is folded open."""
    text = report.read_text(encoding="utf-8").replace("<details", "<details open")
    text = text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{PROBE}</body>", 1)
    copy = report.parent / "probed.html"
    copy.write_text(text, encoding="utf-8")
    return copy


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_wider_than_the_window(page: Path, tmp_path: Path, width: int) -> None:
    answer = probe(page, width, "light", tmp_path)
    assert answer["view"] == width
    assert answer["page"] <= width
    assert answer["wide"] == []
    assert width < 1280 or answer["clipped"] == []
    assert answer["errors"] == []
    assert answer["blank"] == 0
    assert answer["bars"] > 50
    assert answer["resources"] == []


def assert_fits(answer: dict[str, Any], width: int) -> None:
    """Nothing is wider than the window, clipped in a wide one, blank or from outside."""
    assert answer["page"] <= width
    assert answer["wide"] == []
    assert width < 1280 or answer["clipped"] == []
    assert answer["errors"] == []
    assert answer["blank"] == 0
    assert answer["resources"] == []


@pytest.mark.parametrize("study", ["micro-saturated", "micro-uflip"])
def test_micro_benchmarks_are_not_wider_than_the_window(study: str, tmp_path: Path) -> None:
    few: Overrides = [("seed", (1,)), ("filesystem", ("jffs2", "ubifs", "yaffs2-no-checkpoint"))]
    page = probed(build(write_micro_run(tmp_path / "run", study, few)))
    for width in (1280, 800):
        answer = probe(page, width, "dark", tmp_path / f"profile-{width}")
        assert_fits(answer, width)


@pytest.mark.parametrize("text", [images_text(), files_text(), mounts_text()])
def test_trees_are_not_wider_than_the_window(text: str, tmp_path: Path) -> None:
    page = probed(build(write_tree_run(tmp_path / "run", text)))
    for width in (1280, 800):
        answer = probe(page, width, "dark", tmp_path / f"profile-{width}")
        assert_fits(answer, width)


def test_logs_are_not_wider_than_the_window(tmp_path: Path) -> None:
    page = probed(build(write_log_run(tmp_path / "run", LOGS, does)))
    for width, theme in ((1280, "light"), (800, "dark")):
        answer = probe(page, width, theme, tmp_path / f"profile-{width}")
        assert_fits(answer, width)


def test_power_cuts_are_not_wider_than_the_window(tmp_path: Path) -> None:
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
    run = kept(
        tmp_path,
        *(made(case, counts=counts, random=bad, findings=findings) for case in cases),
        texts=texts,
        text=study_text(workload="sample = 5"),
    )
    page = probed(build(run.path))
    for width, theme in ((1280, "light"), (800, "dark"), (500, "light")):
        answer = probe(page, width, theme, tmp_path / f"profile-{width}")
        assert_fits(answer, width)
        assert answer["bars"] > 12


# Each column as it is told in reports, in the order of its worth; what is not measured comes last,
# whichever way a column is sorted.
COLUMNS = {
    "case": ["jffs2-s2", "jffs2-s10", "ubifs-s1", "yaffs2-s1"],
    "time": ["12 ns", "950\u00a0µs◦", "9.50\u00a0ms†", "1.20\u00a0s"],
    "size": ["5.02 KiB, ×1.08", "2 MiB", "3 MB, 0.762 : 1", "–"],
    "count": ["−3", "98", "1,024", "–"],
    "less": [
        "2.00 times faster",
        "19 to 20\u00a0% fewer",
        "10 % to 1.50 times faster†",
        "the same",
    ],
    "more": ["3 % slower", "1.50 to 2.00 times slower", "28.1 times as many", "–"],
    "word": ["polled", "x-interrupt", "zlib", "–"],
    "best": ["✓ 9.62 MiB", "✓ 31.0 MiB", "1,016 MiB", "n/a"],
}
CLICKS = """
<script>
addEventListener("load", function () {
  var table = document.querySelector("main table"), told = {};
  Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
    told[head.textContent] = [1, 2].map(function () {
      head.click();
      return [head.getAttribute("aria-sort"), document.querySelectorAll("[aria-sort]").length,
        Array.from(table.tBodies[0].rows).map(row => row.cells[column].textContent)];
    });
  });
  var answer = document.createElement("output");
  answer.id = "probe";
  answer.textContent = JSON.stringify({sorted: told});
  document.body.appendChild(answer);
});
</script>
"""


def test_tables_sort_by_what_their_cells_are_worth(page: Path, tmp_path: Path) -> None:
    """The page's own script, on a table with every kind of cell; clicked, and read."""
    script = page.read_text(encoding="utf-8").rpartition("<script>\n// The page is complete")[2]
    script = script.partition("</script>")[0]
    mixed = [[told[number] for told in COLUMNS.values()] for number in (2, 0, 3, 1)]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in mixed)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    clicked = tmp_path / "clicked.html"
    parts = f"<main>{table}</main><script>//{script}</script>{CLICKS}"
    clicked.write_text(f'<!doctype html><meta charset="utf-8">{parts}', encoding="utf-8")
    answer = probe(clicked, 1280, "light", tmp_path / "profile")
    for name, expected in COLUMNS.items():
        upward, downward = answer["sorted"][name]
        last = [cell for cell in expected if cell in ("–", "n/a")]
        assert upward == ["ascending", 1, expected], name
        known = [cell for cell in expected if cell not in last]
        assert downward == ["descending", 1, [*reversed(known), *last]], name


def test_both_themes_have_contrast(page: Path, tmp_path: Path) -> None:
    for theme in ("light", "dark"):
        answer = probe(page, 1280, theme, tmp_path / theme)
        paper, ink = luminance(answer["paper"]), luminance(answer["ink"])
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) > 7
        assert (paper > ink) == (theme == "light")


def luminance(colour: str) -> float:
    """Relative luminance of rgb(r, g, b), as WCAG 2 defines it."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_it_prints_on_several_sheets(page: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "report.pdf"
    done = browse(
        [f"--print-to-pdf={sheet}", "--no-pdf-header-footer", f"{page.as_uri()}?theme=dark"],
        tmp_path / "profile",
    )
    assert done.returncode == 0, done.stderr
    pages = re.findall(rb"/Type\s*/Page\b", sheet.read_bytes())
    assert 8 <= len(pages) <= 40
