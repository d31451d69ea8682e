"""Two runs whose cases were profiled: what `compare` says of functions, as JSON and on its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cli_support import Command, Result
from test_compare_cli import edit_manifest
from test_report_support import write_run

from ffslab.protocol.profile import (
    PROFILE_NAME,
    Node,
    Profile,
    Window,
    WindowProfile,
    write_profile,
)
from ffslab.report import svg
from ffslab.report.sections.flame import flame, frames_of
from ffslab.results.files import CASES


def windows(write_ns: int = 30, *, trims: bool = True) -> tuple[WindowProfile, ...]:
    """A program that writes, of which the chip has 40 ns, and, if wanted, trims for 5 ns."""
    write = Node("ubi_write", [write_ns, 3, 40])
    calls = {"vfs_write": Node("vfs_write", [10, 0, 0], {"ubi_write": write})}
    if trims:
        calls["trim"] = Node("trim", [5, 0, 0])
    init = Node("init", [1, 0, 0], calls)
    idle = Node("swapper", [900, 0, 0])
    return (WindowProfile(Window("creation", 0, 99), {"init": init, "swapper": idle}),)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """results/base and results/slower, of which one case each was profiled."""
    monkeypatch.chdir(tmp_path)
    for name, write_ns in (("base", 30), ("slower", 80)):
        run = tmp_path / "results" / name
        write_run(run, [("seed", (1,)), ("filesystem", ("jffs2", "ubifs"))])
        edit_manifest(run, build_id=name)
        ids = [case["id"] for case in json.loads((run / "manifest.json").read_text())["cases"]]
        case = next(case_id for case_id in ids if "ubifs" in case_id)
        (run / CASES / case).mkdir(parents=True, exist_ok=True)
        trims = name == "base"
        profile = Profile(windows(write_ns, trims=trims))
        write_profile(profile, run / CASES / case / PROFILE_NAME)
    return tmp_path / "results"


@pytest.fixture
def compared(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    assert runs.is_dir()
    command = Command(monkeypatch, capsys)
    return partial(command, "compare", "base", "slower", "--fail-on", "never")


def test_json_has_the_functions_that_changed(compared: Callable[..., Result]) -> None:
    document = json.loads(compared("--json", "--profile").output)
    cases = {case["case"]: case["functions"] for case in document["comparisons"][0]["cases"]}
    (told,) = filter(None, cases.values())
    assert told == [
        {"function": "ubi_write", "base_ns": 73, "new_ns": 123},
        {"function": "trim", "base_ns": 5, "new_ns": 0},
    ]


def test_the_page_has_a_graph_and_a_table(runs: Path, compared: Callable[..., Result]) -> None:
    page = runs.parent / "page.html"
    assert "page:" in compared("--html", str(page)).error
    text = page.read_text(encoding="utf-8")
    assert "Which functions take more time?" in text
    assert text.count('id="c1-flame-') == 1
    row = re.search(r"<tr>\s*<t[dh][^>]*>ubi_write</t[dh]>(.*?)</tr>", text, re.DOTALL)
    assert row and [cell for cell in re.findall(r">([^<>]+)<", row[1]) if cell.strip()] == [
        *("+50\N{NO-BREAK SPACE}ns", "73\N{NO-BREAK SPACE}ns", "123\N{NO-BREAK SPACE}ns")
    ]


def test_without_profiles_the_page_has_no_functions(
    runs: Path, compared: Callable[..., Result]
) -> None:
    for path in runs.rglob(PROFILE_NAME):
        path.unlink()
    compared("--html", str(runs.parent / "page.html"))
    assert "Which functions" not in (runs.parent / "page.html").read_text(encoding="utf-8")


def test_a_table_has_no_functions(compared: Callable[..., Result]) -> None:
    ended = compared("--format", "csv", "--profile")
    assert ended.code == 2 and "--json has them" in ended.error


def test_boxes_lie_above_their_callers_and_say_what_is_more() -> None:
    frames = {(f.name, f.depth): f for f in frames_of(windows(80, trims=False), windows())}
    assert list(frames) == [
        *(("init", 0), ("vfs_write", 1), ("ubi_write", 2), ("[chip]", 3), ("[driver]", 3))
    ]
    spans = [(f.begin_ns, f.end_ns, f.own_ns, f.more_ns) for f in frames.values()]
    assert spans == [
        *((0, 134, 1, 0), (0, 133, 10, 0), (0, 123, 80, 50), (0, 40, 40, 0), (40, 43, 3, 0))
    ]


def test_the_colours_say_more_and_less() -> None:
    drawing = flame(windows(20), "case", "flame", base=windows())
    painted = re.findall(r'"paint": ?\[(.*?)\]', drawing) or [drawing]
    assert svg.PAINT["good"] in painted[0] and svg.PAINT["bad"] not in painted[0]
    slower = flame(windows(80), "case", "flame", base=windows())
    assert svg.PAINT["bad"] in slower and "its own time" in slower
    assert "its own time" not in flame(windows(), "case", "flame")
