"""Figures of documents: numbers as written, bindings that fit, and mistakes that are told."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ffslab.results.result import CaseResult

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "figures"))
from figure_numbers import agrees, in_unit, numbers, unit_behind, written  # noqa: E402
from figure_page import (  # noqa: E402
    Page,
    PageError,
    Stated,
    Table,
    differences,
    holes,
    loose_numbers,
    refreshed,
    text,
)
from figure_pages import PAGES  # noqa: E402
from figure_runs import Command, Quantity, Runs, constant, least, most, said, total  # noqa: E402

COMMAND = re.compile(
    r"(?:^|`)(\./ffslab (?:run|lifetime|advise|cuts) (?:[^`\n]|\n(?!`))+)", re.MULTILINE
)
FORM = re.compile(r"\b[A-Z]{3,}\b|needs\.toml")
CONTENT = """# Page

It takes 3.52 s and 5,184 pages,
half of 7 KiB.

| chip | 1 line | said |
|---|---|---|
| NAND 2 | 348 ms / 0.2 s | **lost** |
| NOR | 45 ms / 1.0 s | all 9 |

`ffslab 12`, [there](page-13.md), JFFS2, F-14, 10⁻⁹, about 8 of them.
"""
PAGE = Page(
    document="docs/page.md",
    commands=(),
    bindings=(
        text(
            "It takes {} s and {} pages, {} of",
            constant(3_521_000_000),
            constant(5184),
            constant(0.45),
        ),
        Table(
            "| chip | 1 line | said |",
            {
                "NAND 2": [
                    [constant(347_800_000), constant(199_000_000)],
                    said("told", lambda _: "**lost**"),
                ],
                "NOR": [[constant(45_100_000), constant(1_040_000_000)], Stated("a setting")],
            },
        ),
    ),
    stated={"7 KiB": "a setting", "about 8 of": "an example"},
)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_each_number_of_a_page_is_bound_or_stated(name: str) -> None:
    page = PAGES[name]
    content = page.path.read_text(encoding="utf-8")
    assert len(holes(page, content)) > 1
    assert loose_numbers(page, content) == []
    assert all(page.stated.values())


@pytest.mark.parametrize("name", PAGES)
def test_each_command_of_a_page_is_run_or_named(name: str) -> None:
    page = PAGES[name]
    content = page.path.read_text(encoding="utf-8")
    flat = re.sub(r"\s+", " ", content)
    shown = [command.in_document for command in page.commands]
    assert [command for command in shown if command not in flat] == []
    known = {*shown, *(f"./ffslab {command}" for command in page.elsewhere)}
    named = {re.sub(r"\s+", " ", command).strip() for command in COMMAND.findall(content)}
    assert {command for command in named if not FORM.search(command)} <= known


def test_every_answer_is_a_page() -> None:
    answers = {path.stem for path in (ROOT / "docs" / "answers").glob("*.md")}
    assert answers <= set(PAGES)


def test_a_page_that_is_right(runs: Runs) -> None:
    assert loose_numbers(PAGE, CONTENT) == []
    assert differences(PAGE, CONTENT, runs) == []


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("3.52 s", "3.53 s", 3),
        ("5,184", "5,185", 3),
        ("348 ms", "349 ms", 8),
        ("0.2 s", "0.3 s", 8),
        ("**lost**", "kept", 8),
        ("1.0 s", "1.1 s", 9),
    ],
)
def test_a_wrong_figure_is_told_and_mended(runs: Runs, right: str, wrong: str, line: int) -> None:
    planted = CONTENT.replace(right, wrong)
    (told,) = differences(PAGE, planted, runs)
    assert told.line == line and told.now == right.split()[0]
    number = wrong.split()[0]
    assert f"page.md:{line}: stated {number}" in str(told)
    assert refreshed(planted, [told]) == CONTENT


def test_a_word_that_is_wrong_becomes_a_number(runs: Runs) -> None:
    planted = CONTENT.replace("half of", "third of")
    (told,) = differences(PAGE, planted, runs)
    assert "0 of 7" in refreshed(planted, [told])


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("It takes", "It took", "0 times in the document"),
        ("| chip |", "| Chip |", "no such table"),
        ("| NOR |", "| NOR 3 |", "no binding for the row"),
        ("45 ms / 1.0 s", "45 ms", "2 quantities for the cell"),
        ("| all 9 |", "| all | 9 |", "3 cells, 2 of the binding"),
        ("| NOR | 45 ms / 1.0 s | all 9 |\n", "", "1 rows, 2 of the binding"),
    ],
)
def test_a_binding_that_does_not_fit(right: str, wrong: str, problem: str) -> None:
    with pytest.raises(PageError, match=re.escape(problem)):
        holes(PAGE, CONTENT.replace(right, wrong))


def test_a_place_has_one_binding() -> None:
    twice = Page("page", (), (*PAGE.bindings, text("takes {} s", constant(1))))
    with pytest.raises(PageError, match=r"3\.52 has two bindings"):
        holes(twice, CONTENT)
    with pytest.raises(PageError, match="1 holes, 0 quantities"):
        holes(Page("page", (), (text("takes {} s"),)), CONTENT)


def test_a_number_that_nobody_knows_is_told() -> None:
    (loose,) = loose_numbers(PAGE, CONTENT + "Twice as much.\n")
    assert loose == "docs/page.md:12: Twice is neither bound nor stated"
    unused = Page(PAGE.document, (), PAGE.bindings, {**PAGE.stated, "3.52 s": "bound already"})
    (told,) = loose_numbers(unused, CONTENT)
    assert "no number of its own: 3.52 s" in told


def test_numbers_are_those_of_sentences() -> None:
    assert [match[0] for match in numbers(CONTENT)] == (
        ["3.52", "5,184", "half", "7", "1", "2", "348", "0.2", "45", "1.0", "9", "8"]
    )


@pytest.mark.parametrize(
    ("stated", "value", "same"),
    [
        ("3.52", 3.5249, True),
        ("3.52", 3.5251, False),
        ("1,862", 1862, True),
        ("1,862", 1863, False),
        ("three", 3.4, True),
        ("three", 3.7, False),
        ("three", 3, True),
        ("three", 4, False),
        ("Half", 0.45, True),
        ("half", 0.35, False),
    ],
)
def test_a_number_is_as_precise_as_written(stated: str, value: float, same: bool) -> None:
    assert agrees(stated, value) is same
    assert agrees(stated, float(value), within=0.5)


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (3.4567, "3.52", "3.46"),
        (10.004, "9.99", "10.0"),
        (9.954, "10.0", "9.95"),
        (1234567.0, "9", "1,234,567"),
        (0.31, "0.52", "0.31"),
        (1234.5, "99.5", "1,234"),
    ],
)
def test_a_value_is_written_like_another(value: float, like: str, text: str) -> None:
    assert written(value, like) == text


@pytest.mark.parametrize(
    ("content", "unit"),
    [
        ("340 to 396 KiB", "KiB"),
        ("340 s", "s"),
        ("340 states", ""),
        ("340–396 %", "%"),
        ("340", ""),
    ],
)
def test_the_unit_of_a_number(content: str, unit: str) -> None:
    assert unit_behind(content, 3) == unit
    assert in_unit(2048.0, "KiB") == 2 and in_unit(5.0, "") == 5


def test_quantities_are_made_of_each_other(runs: Runs) -> None:
    two, three = constant(2), constant(3)
    made: dict[str, Quantity] = {
        "2 + 3": two + three,
        "2 - 3": two - three,
        "(2) x 4": two * 4,
        "(2) / (3)": two / three,
        "least of 2, 3": least(two, three),
        "most of 2, 3": most(two, three),
        "2 + 3 + 2": total(two, three, two),
    }
    assert [quantity.told for quantity in made.values()] == list(made)
    assert [quantity.of(runs) for quantity in made.values()] == [5, -1, 8, 2 / 3, 2, 3, 7]


def test_a_command_is_as_the_page_shows_it() -> None:
    assert Command("run spi").in_document == "./ffslab run spi"
    assert Command("run spi", "`--set x`").in_document == "`--set x`"
    assert Command("run celf --set 'part=[\"a\"]'").name == "run-celf-set-part-a"


@pytest.fixture
def kept(tmp_path: Path) -> Runs:
    """A recorded run, where a command's is kept."""
    place = tmp_path / Command("run wear").name
    place.mkdir()
    with tarfile.open(ROOT / "tests" / "golden" / "first-screens" / "wear.tar.xz") as archive:
        archive.extractall(place)
    return Runs(tmp_path)


def test_quantities_are_read_from_a_kept_run(kept: Runs) -> None:
    wear = Command("run wear")
    static, moved = "workload/wear.static_moved", "workload/wear.outside_erased"
    share = wear.figure("ubifs", static).of(kept)
    assert isinstance(share, float) and 0 < share < 0.1
    assert wear.figure("ubifs-s1", static, moved).of(kept) == share
    assert wear.in_all("workload.bytes_written").of(kept) == 3 * 5_000_000_000
    assert wear.case_count.of(kept) == 3
    assert wear.of_spec("jffs2", "board.chip.endurance_cycles").of(kept) == 100_000
    with pytest.raises(KeyError, match="yaffs is no case of run wear; its cases: jffs2-s1"):
        wear.figure("yaffs", static).of(kept)


@pytest.mark.parametrize(("status", "told"), [(0, "did not come to its end"), (2, "no such study")])
def test_a_command_without_a_run_is_told(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, status: int, told: str
) -> None:
    executed = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        executed.append(words[1:4])
        return subprocess.CompletedProcess(words, status, "no such study", "")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(RuntimeError, match=told):
        Command("run 'a b'").case_count.of(runs)
    assert executed == [["run", "a b", "--no-report"]]


def test_a_run_with_a_case_that_timed_out_is_none(
    kept: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    wear = Command("run wear")
    manifest = kept.run(wear).path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"pass": 3', '"pass": 2, "timeout": 1'))
    done = subprocess.CompletedProcess([], 1, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(RuntimeError, match="did not come to its end"):
        kept.run(wear)


def test_an_answer_is_asked_for_once_and_may_be_of_another_run(
    kept: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        executed.append(words[1:])
        return subprocess.CompletedProcess(words, 1, '{"years": 7}', "")

    monkeypatch.setattr(subprocess, "run", run)
    wear = Command("run wear")
    lives = Command("lifetime RUN --daily 1MB", of=wear).of_answer("years", lambda a: a["years"])
    assert [lives.of(kept), lives.of(kept)] == [7, 7]
    ((verb, run_directory, *options),) = executed
    assert verb == "lifetime" and Path(run_directory) == kept.run(wear).path
    assert options[:3] == ["--daily", "1MB", "--json"]


class NotRunError(Exception):
    """What a result would say is not known."""


@dataclass
class Planned(Runs):
    """Runs that only know which cases there are, and give each figure as 1."""

    _ids: dict[Command, str] = field(default_factory=dict)

    def cases(self, command: Command) -> dict[str, CaseResult]:
        raise NotRunError(command.words)

    def answer(self, command: Command) -> Any:
        raise NotRunError(command.words)

    def case(self, command: Command, name: str) -> CaseResult:
        if command not in self._ids:
            words = command.words.replace("lifetime", "run").partition(" --daily")[0]
            self._ids[command] = self.plan(words)
        assert re.search(rf"^{re.escape(name)}(-s\d+)? ", self._ids[command], re.MULTILINE), name
        raise NotRunError(name)

    def figures(self, command: Command, name: str) -> dict[str, float]:
        with suppress(NotRunError):
            self.case(command, name)
        return defaultdict(lambda: 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_each_case_of_a_binding_is_one_of_its_command(name: str, tmp_path: Path) -> None:
    page, runs = PAGES[name], Planned(tmp_path)
    for hole in holes(page, page.path.read_text(encoding="utf-8")):
        with suppress(NotRunError, ZeroDivisionError):
            hole.quantity.of(runs)


def test_a_case_that_a_command_does_not_have_is_told(tmp_path: Path) -> None:
    runs = Planned(tmp_path, _ids={(wear := Command("run wear")): "ubifs-s1  90ab  to run\n"})
    assert wear.figure("ubifs", "a", "b").of(runs) == 2
    with pytest.raises(AssertionError, match="ubi"):
        wear.figure("ubi", "a").of(runs)
