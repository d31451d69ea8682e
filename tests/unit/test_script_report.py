"""The page of scripts: how they ended, what they said, what each phase took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_report_support import by_key, charts_of, vega_lite

from ffslab.report.data import Case, Run
from ffslab.report.sections.section import Section
from ffslab.workloads.script.report import Figures, below_sentences, sections, status_sentence
from ffslab.workloads.script.stored import below_of

MS = 1_000_000


def work(duration_ms: int, read: int, programmed: int, erased: int) -> Any:
    counts = {"pages_read": read, "pages_programmed": programmed, "blocks_erased": erased}
    return {"duration_ns": duration_ms * MS, **counts}


def case(filesystem: str, state: str, seed: int, outcome: str = "pass") -> Case:
    """Seed 2 takes 200 ms more than seed 1; UBIFS leaves more to the flush."""
    phases = {
        "script": work(1000 + 200 * (seed == 2), 7, 99 + seed, 2),
        "flush": work(500 if filesystem == "ubifs" else 100, 0, 4, 0),
    }
    axes = {"filesystem": filesystem, "state": state, "seed": str(seed)}
    own = Figures(phases, 0 if outcome == "pass" else 3)
    return Case(f"{filesystem}-{state}-s{seed}", axes, outcome, "", own=own)


CASES = (
    *(case("jffs2", state, seed) for state in ("free", "used") for seed in (1, 2)),
    *(case("ubifs", "free", 1), case("ubifs", "free", 2), case("ubifs", "used", 1)),
    case("ubifs", "used", 2, "fail"),
)


def shown(folder: Path, *cases: Case) -> dict[str, Section]:
    return by_key(sections(Run("r", "s", "t", "", "", cases, path=folder), ""))


def test_each_phase_of_each_configuration_has_its_time_and_its_work(tmp_path: Path) -> None:
    """Of UBIFS used a case failed: its mean would be of other seeds than those beside it."""
    section = shown(tmp_path, *CASES)["flush"]
    rows = [tuple(cell.replace("\u00a0", " ") for cell in row) for row in section.tables[0].rows]
    # The mean of 1,000 and 1,200 ms, and of 100 and 101 pages.
    assert rows[0] == ("JFFS2", "state free", "script", "1.10 s", "7", "100", "2")
    assert rows[1] == ("JFFS2", "state free", "flush", "100 ms", "0", "4", "0")
    assert [row[:2] for row in rows[2::2]] == [("JFFS2", "state used"), ("UBIFS", "state free")]
    # 500 of 1,600 ms.
    assert section.sentence == "The flush has up to 31 % of the time: **UBIFS**, state free."
    (chart,) = charts_of(section.charts[0].drawing).values()
    vega_lite().validate(chart["spec"])
    assert chart["data"]["rows"]["value"] == [1.1, 0.1, 1.1, 0.1, 1.1, 0.5]


def test_what_scripts_said_is_told_once(tmp_path: Path) -> None:
    texts = {CASES[0].id: "one\n" * 50, CASES[1].id: "one\n" * 50, CASES[2].id: "<b>\x1b[1m\n"}
    for name, text in texts.items():
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "output.log").write_text(text)
    section = shown(tmp_path, *CASES)["ended"]
    assert section.sentence.startswith("Exit status: **0** in 7 cases; **3** in ubifs-used-s2.")
    assert section.markup.count("one\n") == 40 and section.markup.count("<pre") == 2
    assert f"Said in {CASES[0].id}, {CASES[1].id}" in section.markup
    assert "&lt;b&gt;\\x1b[1m" in section.markup and " open" not in section.markup
    assert section.tables[0].rows[-1] == ("ubifs-used-s2", "fail", "3")
    assert " open" in shown(tmp_path, CASES[0])["ended"].markup


def test_nothing_is_told_of_what_was_skipped(tmp_path: Path) -> None:
    assert shown(tmp_path, case("jffs2", "free", 1, "skip")) == {}
    assert list(shown(tmp_path, CASES[-1])) == ["ended"]


@pytest.mark.parametrize(
    ("statuses", "text"),
    [
        ({"a": 0}, "Exit status: **0** in a."),
        ({"a": 0, "b": 0}, "Exit status: **0** in all 2 cases."),
        ({"a": 0, "b": 3}, "Exit status: **0** in a; **3** in b."),
        ({**{str(n): 0 for n in range(5)}, "x": 1}, "Exit status: **0** in 5 cases; **1** in x."),
        ({"a": 0, "b": None}, "Exit status: **0** in a; none in b, which did not get to the end."),
    ],
)
def test_exit_statuses_in_words(statuses: dict[str, int | None], text: str) -> None:
    assert status_sentence(statuses) == text


def test_what_was_done_below_in_words() -> None:
    nothing = below_of({"exit_status": 0, "programmed_below": 0, "erased_below": 0})
    much = below_of({"exit_status": 1, "programmed_below": 2, "erased_below": 1_128})
    assert (nothing, much) == ("", "2 programs and 1,128 erases")
    assert below_of(None) == below_of({"exit_status": 0}) == ""
    assert not [*below_sentences({"a": nothing})]
    (sentence,) = below_sentences({"a": nothing, "b": much, "c": much})
    assert sentence.startswith(f"In b, c programs made **{much}** below the mounted file system")
