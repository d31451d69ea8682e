"""Power cuts on the command line: a run and what it prints at its end, show, export, crash."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, ffslab_command
from cut_target import CutTarget
from cuts_support import CURVE, HISTORY, OPERATIONS, finding, keep, kept, made, new_run
from rich.console import Console

from ffslab.campaign import again
from ffslab.cli.crash import find_finding
from ffslab.errors import UsageError
from ffslab.oracle.history import parse_history
from ffslab.results.rundir import RunDirectory
from ffslab.results.store import open_store
from ffslab.targets.several import Guests
from ffslab.workloads.cuts import tables
from ffslab.workloads.cuts.explore import case as explore_case
from ffslab.workloads.cuts.explore import minimize, replay
from ffslab.workloads.cuts.explore.replay import Replayed, Where
from ffslab.workloads.cuts.metrics import figures
from ffslab.workloads.cuts.result import findings as findings_of_result
from ffslab.workloads.cuts.stored import StoredSeries
from ffslab.workloads.cuts.terminal import cells, print_case

__all__ = ["ffslab_command"]  # a fixture
JFFS2, UBIFS = "jffs2-updatebyrename-s1", "ubifs-updatebyrename-s1"
STUDY = """
schema = 1
name = "small"
title = "Cuts"
[base]
board = "apf27"
partition_bytes = "8 MiB"
[base.workload]
kind = "cuts"
kinds = "lost"
[axes]
filesystem = ["jffs2", "ubifs"]
"""
FINDINGS = [
    finding("aaaa0001", "0 lost 0", "mount-fails", states=1_234),
    finding("aabb0002", "1 torn-bits 3", "stale-data", detail="d" * 300, confirmed=False),
]
BAD = made(
    JFFS2,
    counts={"lost": {"correct": 1, "mount-fails": 1_234}, "torn-bits": {"stale-data": 1}},
    findings=FINDINGS,
    random={"correct": 3, "mount-fails": 1},
)
SERIES: StoredSeries = {
    "cuts": 4,
    "lives": [0, 2],
    "given_up": [],
    "space": [[0, 9_000_000, 1, 1, 2, 5, 3], [2, 7_500_000, 1, 1, 4, 50, 30]],
    "recovery": {"lost": [4, 400, 80, 4, 33, 9, 1]},
    "spared": [],
}


def shown(run: RunDirectory, case_id: str) -> list[str]:
    text = io.StringIO()
    (result,) = [one for one in run.results() if one["id"] == case_id]
    print_case(Console(file=text, width=80), result)
    return [line.rstrip() for line in text.getvalue().splitlines()]


# --- a run ---


@pytest.fixture
def study(ffslab_command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A study of two cases, whose guests find nothing but what their target says."""
    monkeypatch.setattr(explore_case, "history_of", lambda _: parse_history(HISTORY))
    nothing: Any = lambda _name, _text, _again: []  # noqa: E731
    monkeypatch.setattr(explore_case, "oracle_for", lambda _case, _history: lambda _record: nothing)
    ffslab_command.target = CutTarget()
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def test_a_run_without_a_finding_ends_with_its_report(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    result = ffslab_command("run", str(study))
    assert result.code == 0, result.error
    (run,) = (tmp_path / "results").glob("*/")
    page = (run / "report.html").read_text()
    assert f"All {2 * OPERATIONS} states are correct." in page
    assert "crash replay" not in result.output


def test_a_run_with_findings_says_how_to_repeat_them(ffslab_command: Command, study: Path) -> None:
    ffslab_command.target = CutTarget(wrong=lambda name: name.startswith(("1 ", "2 ")))
    result = ffslab_command("run", str(study), "--no-report")
    assert result.code == 1
    found = re.findall(
        r"^(\S+): ([0-9a-f]{8})  mount-fails at 1 lost 0 and 1 more", result.output, re.M
    )
    assert [case_id for case_id, _ in found] == ["jffs2-s1", "ubifs-s1"]
    last = result.output.splitlines()[-1]
    (run,) = Path("results").glob("*/")
    assert last.startswith("next: ")
    assert shlex.split(last)[-5:] == ["crash", "replay", found[0][1], "--run", str(run)]


def test_findings_that_are_only_told_are_no_failure(ffslab_command: Command, study: Path) -> None:
    ffslab_command.target = CutTarget(wrong=lambda name: name.startswith("1 "))
    words = ("run", str(study), "--no-report", "--set", "workload.findings=tell")
    result = ffslab_command(*words)
    assert result.code == 0, result.error
    assert "crash replay" in result.output


def test_of_many_findings_some_are_shown(
    ffslab_command: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ffslab.cli.finding_lines._SHOWN", 1)
    ffslab_command.target = CutTarget(wrong=lambda name: name.startswith("1 "))
    result = ffslab_command("run", str(study), "--no-report")
    assert result.output.count("mount-fails at") == 1
    assert "… and 1 more findings" in result.output


def test_calls_of_ones_own_are_a_study(ffslab_command: Command, study: Path) -> None:
    """RECORD is that of three calls; the guests are not real."""
    lines = ("create a", "fsync a // a comment", "unlink a")
    study.with_name("calls").write_text("".join(f"{line}\n" for line in lines))
    words = ("cuts", "--calls", str(study.with_name("calls")), "--fs", "jffs2, ubifs")
    result = ffslab_command(*words, "--board", "mt7621-gnubee", "--partition-bytes", "4 MiB")
    assert result.code == 0, result.error
    (path,) = Path("results").glob("*/")
    cases = [row["spec"] for row in RunDirectory(path.resolve()).results()]
    assert [case["filesystem"]["name"] for case in cases] == ["jffs2", "ubifs"]
    assert {case["partition_bytes"] for case in cases} == {4 * 2**20}
    assert {case["workload"]["history"] for case in cases} == {"calls"}
    assert parse_history(HISTORY)  # which the fixture puts in their place
    # The command that repeats a case names a file that is there, and makes the same case of it.
    shown = ffslab_command("show", str(path), "jffs2-s1", "--json")
    words = shlex.split(json.loads(shown.output)["reproduce"])[1:]
    again = ffslab_command(*words, "--dry-run")
    spec_hash = json.loads(shown.output)["result"]["spec_hash"]
    assert again.output.splitlines()[0] == f"jffs2-s1  {spec_hash[:12]}  to run"


def test_a_line_that_is_no_call_is_wrong_usage(ffslab_command: Command, tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("mkdir d\nmove d e\n")
    result = ffslab_command("cuts", "--calls", str(tmp_path / "calls"))
    assert result.code == 2
    assert "line 2: no operation: 'move d e'" in result.error
    result = ffslab_command("cuts", "--calls", str(tmp_path / "none"))
    assert result.code == 2 and "none" in result.error
    assert not list(Path("results").glob("*/"))


# --- what is shown ---


def test_a_case_in_the_terminal(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD, made(UBIFS))
    bad, good = run.results()
    assert list(cells(bad)) == ["1,236", "1", "2"]
    assert list(cells(good)) == ["4", "4", ""]
    lines = shown(run, JFFS2)
    rows = {line.split("  ")[0]: line.split() for line in lines[1:]}
    assert rows["lost"][1:] == ["1,235", "1", "1,234", "mount-fails"]
    assert rows["torn-bits"][1:] == ["1", "0", "1", "stale-data"]
    assert rows["at random"][2:] == ["4", "3", "1", "mount-fails"]
    # The most of each, which need not be of one mount, and the first where it is.
    assert (
        "a mount's most: 30 pages read at operation 1, 4 programmed at operation 2, "
        "1 blocks erased at operation 1"
    ) in lines
    assert "aaaa0001  mount-fails at 0 lost 0 and 1,233 more: nothing is there" in lines
    (long,) = [line for line in lines if line.startswith("aabb0002")]
    assert long.endswith("d…") and len(long) < 240
    assert not [line for line in shown(run, UBIFS) if "mount-fails" in line]


def test_a_series_in_the_terminal(tmp_path: Path) -> None:
    recovery = {"curve": [], "worst": None}
    run = kept(tmp_path, made(JFFS2, series=SERIES, recovery=recovery))
    assert (
        "4 cuts in a row on 2 flashes; 9.00 MB fitted at first, 7.50 MB at least, 7.50 MB at last; "
        "2 blocks more are bad, 30 erases of the worst"
    ) in shown(run, JFFS2)
    (tmp_path / "unfilled").mkdir()
    one: StoredSeries = {**SERIES, "space": [], "lives": [0]}
    run = kept(tmp_path / "unfilled", made(JFFS2, series=one, recovery=recovery))
    assert "4 cuts in a row on 1 flash" in shown(run, JFFS2)


def test_show_and_export_have_it(ffslab_command: Command, tmp_path: Path) -> None:
    run = kept(tmp_path, BAD)
    result = ffslab_command("show", str(run.path), JFFS2)
    assert result.code == 0, result.error
    assert "aaaa0001" in result.output and "1,234 mount-fails" in result.output
    store = open_store([run])
    counted = store.sql("select kind, outcome, states from cuts order by all").fetchall()
    assert counted == [
        ("lost", "correct", 1),
        ("lost", "mount-fails", 1_234),
        ("torn-bits", "stale-data", 1),
    ]
    rows = store.sql("select case_id, id, state, states, confirmed from findings order by id")
    assert rows.fetchall() == [
        (JFFS2, "aaaa0001", "0 lost 0", 1_234, True),
        (JFFS2, "aabb0002", "1 torn-bits 3", 1, False),
    ]


def test_a_case_without_a_cut_has_no_rows_figures_and_findings(tmp_path: Path) -> None:
    (result,) = kept(tmp_path, made(JFFS2)).results()
    result["outcome"] = "crash"
    result["cuts"] = None  # type: ignore[typeddict-unknown-key]
    assert tables.rows(result) == {"cuts": (), "findings": ()}
    assert list(cells(result)) == ["", "", ""]
    assert findings_of_result(result) == {}
    assert not [one for one in figures(result) if one.phase in ("states", "recovery", "series")]


def test_the_figures_of_a_case(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD)
    (result,) = run.results()
    found = {one.key: one.value for one in figures(result)}
    assert found["states.correct_percent"] == pytest.approx(100 / 1236)
    assert (found["states.not_correct"], found["states.gone_through"]) == (1235, 1236)
    assert found["recovery.most_pages_read"] == max(row[1] for row in CURVE)
    assert found["recovery.most_pages_programmed"] == max(row[2] for row in CURVE)
    assert found["recovery.most_blocks_erased"] == max(row[3] for row in CURVE)
    # The chip took no time.
    assert "recovery.longest_ns" not in found
    result["spec"]["workload"]["timing"] = "board"
    cuts: Any = result["cuts"]  # type: ignore[typeddict-item]
    cuts["recovery"]["curve"] = [[0, 1, 1, 1, 7_000], [1, 2, 1, 1, 5_000]]
    assert {one.key: one.value for one in figures(result)}["recovery.longest_ns"] == 7_000
    cuts["series"] = SERIES
    assert {one.key: one.value for one in figures(result)}["series.least_bytes"] == 7_500_000


# --- crash ---


def test_a_finding_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    keep(run, BAD)
    keep(run, made(UBIFS, findings=[finding("bbbb0001", "0 lost 0", "mount-fails")]))
    assert find_finding(run, "aaaa0001") == find_finding(run, "aaaa") == (JFFS2, "aaaa0001")
    assert find_finding(run, "b") == (UBIFS, "bbbb0001")
    for wanted, said in (("c", "no finding 'c'"), ("aa", "several findings 'aa'")):
        with pytest.raises(UsageError, match=said) as caught:
            find_finding(run, wanted)
        assert caught.value.cause and f"show {run.path}" in caught.value.remedy


@pytest.mark.parametrize("verb", ["replay", "minimize"])
def test_a_finding_that_is_not_there_is_wrong_usage(
    verb: str, ffslab_command: Command, tmp_path: Path
) -> None:
    run = kept(tmp_path, BAD)
    for wanted, where in (("cccc", str(run.path)), ("aa", str(run.path)), ("aaaa", "nowhere")):
        result = ffslab_command("crash", verb, wanted, "--run", where)
        assert (result.code, result.output) == (2, "")
        assert "next:" in result.error and "likely cause:" in result.error


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> list[Where]:
    """What replay and minimize were called with; there is no guest."""
    asked: list[Where] = []

    @contextmanager
    def opened(run: RunDirectory, case_id: str, _options: object, limit_s: float) -> Iterator[Any]:
        prepared = again.prepare_resumed(run, None)
        case = next(one for one in prepared.cases if one.id == case_id)
        result = next(one for one in run.results() if one["id"] == case_id)
        guests: Any = Guests(None, None, 1, limit_s)  # type: ignore[arg-type]
        yield again.Again(case, result, run.case_dir(case_id), guests, run.path)

    monkeypatch.setattr(again, "opened_again", opened)
    return asked


@pytest.mark.parametrize(("is_there", "code"), [(True, 1), (False, 0)])
def test_replay_shows_all_that_is_known(
    is_there: bool,
    code: int,
    ffslab_command: Command,
    tmp_path: Path,
    where: list[Where],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def replayed(one: Where) -> Replayed:
        where.append(one)
        return Replayed(is_there, (("again", ("mount-fails: [no] markup",)), ("kernel", ())))

    monkeypatch.setattr(replay, "replayed", replayed)
    run = kept(tmp_path, made(UBIFS), BAD)
    result = ffslab_command("crash", "replay", "aaaa", "--timeout", "7")
    assert result.code == code, result.error
    assert result.output == "\nagain\n  mount-fails: [no] markup\n\nkernel\n"
    (one,) = where
    assert (one.case.id, one.finding["id"]) == (JFFS2, "aaaa0001")
    assert one.directory == Path("results") / run.path.name / "cases" / JFFS2
    assert one.guests.limit_s == 7 and one.cuts["states"] == 1_236


def test_minimize_prints_the_shorter_history_and_tells_how_it_goes_on(
    ffslab_command: Command, tmp_path: Path, where: list[Where], monkeypatch: pytest.MonkeyPatch
) -> None:
    del where

    def minimized(_one: Where, tell: Any) -> Any:
        tell("3 calls: still there")
        return parse_history("create a\nfsync a\n")

    monkeypatch.setattr(minimize, "minimized", minimized)
    kept(tmp_path, BAD)
    result = ffslab_command("crash", "minimize", "aaaa")
    assert (result.code, result.output) == (0, "create a\nfsync a\n")
    assert "3 calls: still there" in result.error


def test_a_series_has_no_shorter_history(
    ffslab_command: Command, tmp_path: Path, where: list[Where]
) -> None:
    del where
    from cuts_support import SERIES_STUDY

    run = new_run(tmp_path, SERIES_STUDY.format(workload="cuts = 4"))
    found = [finding("abcd1234", "3 lost 0", "mount-fails")]
    recovery = {"curve": [], "worst": None}
    keep(run, made("jffs2-s1", series=SERIES, findings=found, recovery=recovery), {})
    result = ffslab_command("crash", "minimize", "abcd")
    assert result.code == 2
    assert "is of a series" in result.error and "crash replay abcd1234" in result.error
