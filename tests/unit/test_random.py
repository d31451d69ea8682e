"""random: its settings, plan, results, page, and what is made small of it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_records import made_run, read_records
from rich.console import Console
from test_report_support import page_of_words, section_of

from ffslab.campaign.run import prepare
from ffslab.cli.crash import find_finding
from ffslab.errors import DamagedResultError, SpecError
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory
from ffslab.targets.virtual_flash import RIG, plans
from ffslab.workloads.figures import criteria_of, figures_of
from ffslab.workloads.random import terminal
from ffslab.workloads.random.plan import CALLS, calling_plan, shorter_plan, telling_plan
from ffslab.workloads.random.report import sentence_of
from ffslab.workloads.random.result import RECORD, ROUND, check_records, findings, result_keys

STUDY = prepare("random", [])
CASES = {case.id: case for case in STUDY.cases}
CASE = CASES["all-ubifs-s1"]
GONE = ["a/b: readdir() of #3: b is missing", "c: size of #7: expected 4, found 0"]


def rounds(count: int) -> list[dict[str, Any]]:
    return [
        {"type": ROUND, "round": number, "operations": 100 * number}
        for number in range(1, count + 1)
    ]


def records(done: int = 60, difference: str = "", **changed: Any) -> Any:
    """Of a history that differed in the round after `done` of 60, or of a whole one."""
    at = 100 * done + 37 if difference else 0
    row: dict[str, Any] = {"type": RECORD, "rounds": 60, "rounds_done": done, "at": at}
    row |= {"operations": 6000, "operations_done": at or 6000, "difference": difference}
    row |= {"told": GONE if difference else []}
    return read_records([*rounds(done), row | changed])


def result(outcome: str = "pass", found: Any = None, case: Any = CASE) -> Any:
    reason = "" if outcome == "pass" else "why"
    return case_result(case, Outcome(outcome, reason), found or records(), "f" * 64)  # type: ignore[arg-type]


def example_result() -> Any:
    """As a run has it: the tests that look at results of all workloads take it."""
    return result()


# Settings and plans.


def test_the_agent_gets_every_key() -> None:
    assert (
        "random dir=/mnt type=ubifs source=ubi0:data options=compr%3Dlzo rounds=60 operations=100 "
        "after=both shape=mixed bytes=3145728 fills=0 turn_over_bytes=12582912 chunk=2048 "
        "xattrs=all over_emptied=1 times=0 seed=1"
    ) in plans(CASE)[-1]
    apart = plans(CASES["apart-jffs2-s3"])[-1]
    assert "xattrs=files over_emptied=0 times=0 seed=3" in apart


def test_calls_are_told_and_made_by_guests_that_are_alike() -> None:
    plan = plans(CASE)[-1]
    assert telling_plan(CASE, RIG) == plan.replace("times=0", "times=0 tell=1")
    assert calling_plan(CASE, RIG) == plan.replace("times=0", f"times=0 calls={CALLS}")

    # With all calls it is the case's own, and so its times.
    assert shorter_plan(CASE, RIG, range(5), 5) == plan
    for kept, without in (([0, 3], "1-2,4-4"), ([4], "0-3"), ([2, 1], "0-0,3-4"), ([], "0-4")):
        own = plan.replace("times=0", f"times=0 without={without.replace(',', '%2C')}")
        assert shorter_plan(CASE, RIG, kept, 5) in (own, own.replace("%2C", ","))


def test_how_full_it_gets() -> None:
    workload = replace(CASE.workload, full_percent=50)
    assert "bytes=6291456" in plans(replace(CASE, workload=workload))[-1]
    workload = replace(CASE.workload, full_percent=1)
    assert "bytes=131072" in plans(replace(CASE, workload=workload))[-1]


def test_a_stack_is_not_mounted_again() -> None:
    (case, *_) = prepare("random", [("filesystem", ("overlay-ubifs",))]).cases
    (line,) = [line for line in plans(case)[-1].splitlines() if line.startswith("random")]
    assert line.startswith("random dir=/mnt rounds=60")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (("state", "aged"), "begins with an empty file system"),
        (("workload.full_percent", 96), "full_percent"),
        (("workload.shape", "round"), "shape"),
        (("filesystem", "squashfs"), "for workload tree, not for random"),
    ],
)
def test_what_it_cannot_be(setting: tuple[str, Any], message: str) -> None:
    name, value = setting
    with pytest.raises(SpecError, match=message):
        prepare("random", [(name, (value,))])


# Results.


def test_a_history_that_is_right() -> None:
    stored = result_keys(CASE, records(), ())["random"]
    assert stored == {
        "rounds": 60,
        "rounds_done": 60,
        "operations": 6000,
        "operations_done": 6000,
        "difference": "",
        "round": 60,
        "operation": 6000,
        "told": [],
    }
    assert not findings(result())
    (criterion,) = criteria_of(result())
    assert criterion.tally is not None and criterion.column == "keeps what it was told"
    assert (criterion.tally.whole, criterion.tally.wrong) == (1, ())


def test_a_difference_is_told_with_its_place() -> None:
    found = result("corrupt", records(12, "gone"))
    stored = found["random"]
    assert (stored["round"], stored["operation"], stored["told"]) == (13, 1237, GONE)
    (finding,) = findings(found).values()
    assert finding["state"] == "seed 1, round 13, operation 1,237"
    assert finding["outcome"] == "gone" and finding["detail"] == "; ".join(GONE)
    (criterion,) = criteria_of(found)
    assert criterion.tally is not None and criterion.tally.wrong == (("loses names", 1),)
    figures = {figure.key: figure.value for figure in figures_of(found)}
    assert figures["history.not_kept"] == 1 and figures["history.rounds_done"] == 12


@pytest.mark.parametrize(("outcome", "does"), [("stuck", "hangs"), ("crash", "crashes")])
def test_of_a_guest_that_never_ended_the_round_is_known(outcome: str, does: str) -> None:
    found = result(outcome, read_records(rounds(7)))
    assert found["random"]["rounds_done"] == 7 and found["random"]["operations_done"] == 700
    assert list(findings(found)) == [does]
    (criterion,) = criteria_of(found)
    assert criterion.tally is not None and criterion.tally.wrong == ((does, 1),)


def test_what_was_not_the_file_system_counts_for_nothing() -> None:
    for outcome in ("fail", "timeout"):
        assert not list(criteria_of(result(outcome)))
        assert not findings(result(outcome))
    end = {"type": "end", "status": "error", "steps_run": 3, "steps_total": 9, "t_ns": 1}
    assert result_keys(CASE, read_records([end]), ())["random"] is None


@pytest.mark.parametrize(
    "changed",
    [
        {"rounds_done": 61},
        {"rounds_done": -1},
        {"operations": "6000"},
        {"told": GONE},
        {"difference": "odd", "told": GONE},
    ],
)
def test_records_that_contradict_each_other(changed: dict[str, Any]) -> None:
    with pytest.raises(DamagedResultError):
        check_records(records(**changed))
    assert result_keys(CASE, records(**changed), ())["random"] is None


def test_a_finding_has_one_name_in_every_run(tmp_path: Path) -> None:
    """And another for another harm, seed or file system."""
    ends = [
        result("corrupt", records(12, "gone")),
        result("corrupt", records(12, "back")),
        result("corrupt", records(12, "gone"), CASES["all-ubifs-s2"]),
        result("corrupt", records(12, "gone"), CASES["all-jffs2-s1"]),
    ]
    names = [one["id"] for end in ends for one in findings(end).values()]
    assert len(set(names)) == 4
    later = result("corrupt", records(13, "gone"))
    assert next(iter(findings(later).values()))["id"] == names[0]
    run = made_run(tmp_path / "r", STUDY, lambda case: result("corrupt", records(12, "gone"), case))
    assert find_finding(RunDirectory(run), names[0][:5]) == (CASE.id, names[0])


# Terminal and page.


def test_the_terminal() -> None:
    found = result("corrupt", records(12, "back"))
    assert terminal.cells(found) == ("12", "1,237", "brings removed names back")
    assert terminal.cells(result()) == ("60", "6,000", "")
    out = io.StringIO()
    terminal.print_case(Console(file=out, width=400), found)
    text = out.getvalue()
    assert "12 of 60 rounds are right, 1,237 of 6,000 operations were made" in text
    assert all(line in text for line in GONE) and "crash minimize" in text


def test_the_answer_in_a_sentence() -> None:
    ends = {"1": ("A", ""), "2": ("A", ""), "3": ("B", "hangs"), "4": ("B", "hangs")}
    assert sentence_of(ends) == "**A** in all histories; **B** hangs in 2 of 2."
    assert sentence_of({"1": ("A", "hangs"), "2": ("A", "")}) == "**A** hangs in 1 of 2."


def test_the_page(tmp_path: Path) -> None:
    ends = {
        "ubifs": ("corrupt", records(12, "gone")),
        "jffs2": ("stuck", read_records(rounds(4))),
    }
    run = made_run(
        tmp_path / "r",
        STUDY,
        lambda case: result(*ends.get(case.filesystem.name, ("pass", None)), case),
    )
    words = section_of(page_of_words(run, validate=True), "kept")
    assert "Does it keep what it was told?" in words
    assert "UBIFS</strong> loses names in 8 of 8" in words
    assert "JFFS2</strong> hangs in 8 of 8" in words
    assert "YAFFS2, LogFS</strong> in all histories" in words
    assert GONE[0] in words and "crash minimize" in words
