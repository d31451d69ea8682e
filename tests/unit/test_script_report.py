"""The page of scripts: how they ended, what each phase took, the configurations side by side."""

from __future__ import annotations

import pytest

from ffslab.report.data import Case
from ffslab.workloads.script.report.phases import (
    Work,
    phase_table,
    runs_of,
    status_sentence,
    time_panel,
)

MS = 1_000_000


def case(filesystem: str, state: str, seed: int, outcome: str = "pass") -> Case:
    axes = {"filesystem": filesystem, "state": state, "seed": str(seed)}
    return Case(f"{filesystem}-{state}-s{seed}", axes, outcome, "")


CASES = [
    *(case("jffs2", state, seed) for state in ("free", "used") for seed in (1, 2)),
    case("ubifs", "free", 1),
    case("ubifs", "free", 2),
    case("ubifs", "used", 1),
    case("ubifs", "used", 2, "fail"),
]
# Seed 2 takes 200 ms more than seed 1; UBIFS leaves more to the flush.
WORKS = {
    one.id: {
        "script": Work((1000 + 200 * (one.seed == "2")) * MS, 400.0 * MS, 7, 99 + int(one.seed), 2),
        "flush": Work((500 if one.filesystem == "ubifs" else 100) * MS, None, 0, 4, 0),
    }
    for one in CASES
}


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_each_phase_of_each_configuration_has_its_time_and_its_work() -> None:
    table = phase_table(runs_of(CASES, WORKS))
    assert table is not None
    rows = [tuple(map(plain, row)) for row in table.rows]
    # The mean of 1,000 and 1,200 ms, and of 100 and 101 pages.
    assert rows[0] == ("JFFS2", "script", "1.10 s", "400 ms", "7", "100", "2")
    assert rows[1] == ("JFFS2", "flush", "100 ms", "–", "0", "4", "0")
    assert [row[:2] for row in rows[2:]] == [
        ("UBIFS", "script"),
        ("UBIFS", "flush"),
        ("JFFS2", "script"),
        ("JFFS2", "flush"),
    ]
    assert table.headings == {0: "State free", 4: "State used"}


def test_bars_are_script_and_flush_with_the_range_of_the_seeds() -> None:
    panel = time_panel(runs_of(CASES, WORKS))
    assert panel is not None
    told = plain(panel.drawing)
    assert "State free · JFFS2: 1.20 s; State free · UBIFS: 1.60 s; State used · JFFS2" in told
    assert "Means over seeds" in panel.meaning
    assert told.count("fill-opacity:0.35") == 3  # a flush each
    one = time_panel(runs_of(CASES[:1], WORKS))
    assert one is not None and "seeds" not in one.meaning


def test_a_configuration_with_a_failed_case_has_no_row() -> None:
    """Its mean would be of other seeds than those beside it."""
    assert len(runs_of(CASES, WORKS)) == 3
    late = {**WORKS, CASES[0].id: {"script": WORKS[CASES[0].id]["script"]}}
    assert [run.label for run in runs_of(CASES, late)] == ["UBIFS", "JFFS2"]
    assert runs_of(CASES[-1:], WORKS) == []
    assert time_panel([]) is None and phase_table([]) is None


@pytest.mark.parametrize(
    ("statuses", "text"),
    [
        ({"a": 0}, "Exit status: **0** in a."),
        ({"a": 0, "b": 0}, "Exit status: **0** in all 2 cases."),
        ({"a": 0, "b": 3}, "Exit status: **0** in a; **3** in b."),
        (
            {**{str(n): 0 for n in range(5)}, "x": 1},
            "Exit status: **0** in 5 cases; **1** in x.",
        ),
        (
            {"a": 0, "b": None},
            "Exit status: **0** in a; none in b, which did not get to the script’s end.",
        ),
    ],
)
def test_exit_statuses_in_words(statuses: dict[str, int | None], text: str) -> None:
    assert status_sentence(statuses) == text
