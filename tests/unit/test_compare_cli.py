"""`ffslab compare` on run directories: what it prints, writes and refuses, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from compare_support import scaled
from test_report_support import write_run

from ffslab.cli.app import main
from ffslab.model.canonical import canonical_json
from ffslab.results.files import MANIFEST
from ffslab.results.rundir import RESULTS, RESULTS_SHA256
from loaded_support import unpacked

PLAIN: list[tuple[str, tuple[Any, ...]]] = [
    ("seed", (1, 2)), ("options.compression", ("none",)), ("filesystem", ("jffs2", "ubifs")),
]  # fmt: skip
WRITTEN = "jffs2-free"
TIME = "transactions.duration_ns"
ALL = ("--threshold", "0")  # between builds every difference counts


@dataclass(frozen=True)
class Ended:
    code: int
    output: str
    error: str


Compare = Callable[..., Ended]


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compare:
    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ffslab", "compare", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err and "internal error" not in captured.err
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """results/base and results/other of another build, of equal figures; the directory is ours."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "results"
    root.mkdir()
    for name, build in (("base", "b1"), ("other", "b2")):
        write_run(root / name, PLAIN)
        edit_manifest(root / name, build_id=build)
    return root


def edit_manifest(run: Path, **changes: Any) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(manifest | changes))


def edit(run: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Rewrites the results; a case that `change` makes None of is gone."""
    lines = [json.loads(line) for line in (run / RESULTS).read_text().splitlines()]
    kept = [made for line in lines if (made := change(line)) is not None]
    (run / RESULTS).write_text("".join(canonical_json(row) + "\n" for row in kept))


def slower(row: dict[str, Any]) -> dict[str, Any]:
    """The transactions of one case, which takes longer by a thousandth."""
    return scaled(row, TIME, 1.001) if row["id"].startswith(WRITTEN) else row


@pytest.mark.usefixtures("runs")
def test_equal_runs_of_two_builds(compare: Compare) -> None:
    ended = compare("base", "other", "--fail-on", "change")
    assert ended.code == 0, ended.error
    assert ended.output.splitlines() == [
        "same: nothing differs.",
        "differs: build of the lab b1 → b2",
        "alike in all cases: creation, transactions, longest wait, pages, most erased",
    ]
    ended = compare("base", "other", "--all")
    assert re.search(r"build of the lab b1 +b2 +all", ended.output)
    assert re.search(r"^ubifs-aged-sync: same \(\d+ figures\)$", ended.output, re.MULTILINE)
    assert "worse" not in ended.output and "band of builds" not in ended.output


def test_a_run_with_itself(compare: Compare, runs: Path) -> None:
    ended = compare("base", str(runs / "base"), "--only-changed", "--fail-on", "change")
    assert ended.code == 0
    assert "nothing differs in build, version and settings" in ended.output
    assert "jffs2" not in ended.output
    assert re.search(r"^cases: \d+ same$", ended.output, re.MULTILINE)


def test_a_thousandth_is_reported_with_its_cause(compare: Compare, runs: Path) -> None:
    edit(runs / "other", slower)
    ended = compare("base", "other", "--only-changed", *ALL, "--fail-on", "worse")
    assert ended.code == 1
    assert re.search(r"transactions: time .* worse 0\.1 % slower \(2 seeds alike\)", ended.output)
    assert "cause, transactions: +" in ended.output and "flash 0, CPU and other +" in ended.output
    assert "ubifs" not in ended.output
    assert "band of builds not measured: a difference may come" in ended.output
    assert "ffslab run ffsmark --band 4, with both builds" in ended.output
    assert compare("base", "other").code == 0
    assert compare("base", "other", "--threshold", "1", "--fail-on", "worse").code == 0
    better = compare("other", "base", *ALL, "--fail-on", "worse")
    assert better.code == 0 and "better" in better.output
    assert compare("other", "base", *ALL, "--fail-on", "change").code == 1


def test_the_exit_code_is_the_verdict(compare: Compare, runs: Path) -> None:
    """And `--fail-on` says which of them count."""

    def ends(*arguments: str) -> tuple[int, ...]:
        told = {}
        for fail_on in ("verdict", "worse", "change", "never"):
            ended = compare(*arguments, "--fail-on", fail_on)
            told[fail_on] = ended.code
            assert ended.output.splitlines()[0].startswith(f"{word}: ")
        assert compare(*arguments).code == told["verdict"]
        return tuple(told.values())

    edit(runs / "other", slower)
    word = "same"  # a thousandth is no change
    assert ends("base", "other") == (0, 0, 0, 0)
    word = "worse"
    assert ends("base", "other", "--threshold", "0") == (1, 1, 1, 0)
    word = "better"
    assert ends("other", "base", "--threshold", "0") == (0, 0, 1, 0)

    def mixed(row: dict[str, Any]) -> dict[str, Any]:
        return scaled(row, TIME, 0.9) if row["id"].startswith("ubifs-free") else row

    edit(runs / "other", mixed)
    word = "mixed"
    assert ends("base", "other", "--threshold", "0") == (3, 1, 1, 0)
    edit(runs / "other", lambda row: None if row["id"].startswith(WRITTEN) else row)
    word = "not comparable"  # a case that is not there
    assert ends("base", "other") == (4, 4, 1, 0)
    worst = compare("base", "base", "other", "--threshold", "0")
    assert worst.code == 4  # of several comparisons the gravest


def test_figures_of_another_amount_of_work_are_not_judged(compare: Compare, runs: Path) -> None:
    def more(row: dict[str, Any]) -> dict[str, Any]:
        workload = {**row["spec"]["workload"], "transactions": 30_000}
        changed = scaled(row, TIME, 2.2)
        return {**changed, "spec": {**row["spec"], "workload": workload}, "spec_hash": row["id"]}

    edit(runs / "other", more)
    ended = compare("base", "other")
    assert ended.code == 4
    first = " ".join(ended.output.splitlines()[:2])
    assert first.startswith(
        "not comparable: not the same work: workload.transactions 15000 → 30000"
    )
    full = compare("base", "other", "--case", "jffs2-free-*").output
    assert "transactions: time per" in full
    assert "| 10 % slower per transaction" in compare("base", "other", "--format", "md").output
    assert "ubifs" not in full.partition("what differs")[2]


def test_a_case_that_is_not_compared(compare: Compare, runs: Path) -> None:
    assert runs.exists()
    ended = compare("base", "other", "--case", "yaffs*")
    assert ended.code == 2 and "no case that is compared is called 'yaffs*'" in ended.error
    assert "the cases are jffs2-free" in ended.error


def test_a_band_of_one_run_alone_is_said_to_be_that(compare: Compare, runs: Path) -> None:
    few = [("seed", (1,)), ("options.compression", ("none",)), ("filesystem", ("ubifs",))]
    band = ("perturbation", (0, 1))
    for name, given in (("one", [*few, band]), ("two", [*few, band]), ("plain", few)):
        write_run(runs / name, given)
        edit_manifest(runs / name, build_id=name, command=f"ffslab run {name}")

    def much_slower(row: dict[str, Any]) -> dict[str, Any]:
        return scaled(row, TIME, 9)

    edit(runs / "plain", much_slower)
    edit(runs / "two", much_slower)

    def compare_all(*names: str) -> Ended:
        return compare(*names, "--all")

    ended = compare_all("one", "plain")
    assert "band of builds not measured in plain: by chance alone" in ended.output
    assert "next: ffslab run plain --band 4\n" in ended.output
    assert "not measured in plain" in compare_all("plain", "one").output
    assert "not measured" not in compare_all("one", "two").output
    assert "not measured" not in compare_all("one", "--axis", "state").output
    assert "not measured" not in compare_all("one", "one").output
    edit_manifest(runs / "plain", build_id="one")  # equal specs in one build: no band counts
    assert "not measured" not in compare_all("one", "plain").output


def test_within_one_build_it_is_a_fault(compare: Compare, runs: Path) -> None:
    edit_manifest(runs / "other", build_id="b1")
    edit(runs / "other", slower)
    ended = compare("other", "base", "--fail-on", "worse")
    assert ended.code == 1
    assert "NOT DETERMINISTIC" in ended.output
    assert "jffs2-free-nobuffering" not in ended.output
    assert re.search(r"next: ffslab run ffsmark --case jffs2-free\S*-s1, twice", ended.output)


def test_no_line_is_wider_than_a_terminal(
    compare: Compare, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ffslab.cli import screen

    edit(runs / "other", slower)
    monkeypatch.setattr(screen, "terminal", lambda: screen.Screen(width=80, force_terminal=True))
    for more in ((), ("--all",)):
        ended = compare("base", "other", *ALL, *more)
        output = re.sub(r"\x1b\[[0-9;]*m", "", ended.output)
        assert "0.1 % slower" in output
        told = [line for line in output.splitlines() if not line.startswith("next: ")]
        assert max(map(len, told)) <= 80
        assert more or len(told) <= 24


def test_tables_for_other_programs(compare: Compare, runs: Path) -> None:
    edit(runs / "other", slower)
    document = json.loads(compare("base", "other", *ALL, "--json").output)
    assert document["comparisons"][0]["case_counts"]["worse"] == 1
    table = compare("base", "other", *ALL, "--format", "csv").output
    assert table.endswith("\n") and "\n\n" not in table
    lines = list(csv.DictReader(io.StringIO(table)))
    (line,) = [row for row in lines if row["figure"] == TIME and row["verdict"] == "worse"]
    assert float(line["ratio"]) == pytest.approx(1.001) and line["seeds"] == "2"
    assert "| 0.1 % slower" in compare("base", "other", *ALL, "--format", "md").output


def test_several_runs_are_each_compared_with_the_base(compare: Compare, runs: Path) -> None:
    edit(runs / "other", slower)
    document = json.loads(compare("base", "base", "other", "--json").output)
    assert [found["new"] for found in document["comparisons"]] == ["base", "other"]
    assert compare("base", "base", "other", *ALL, "--fail-on", "worse").code == 1
    lines = compare("base", "base", "other").output.splitlines()
    # A line across the terminal before the second.
    (second,) = (n for n, line in enumerate(lines) if "─" in line)
    assert set(lines[second]) == {"─"} and lines[0] == "same: nothing differs."
    assert lines[second + 1].startswith("same: nothing differs beyond the threshold")


@pytest.mark.usefixtures("runs")
def test_values_of_an_axis(compare: Compare) -> None:
    ended = compare("base", "--axis", "state", "--base", "free", "--all")
    assert ended.code == 3, ended.error
    assert "base: state free" in ended.output and "new:  state aged" in ended.output
    assert "state.name" in ended.output
    assert re.search(r"transactions: time .* slower", ended.output)


def test_of_an_axis_some_cases_may_be_alone(compare: Compare, runs: Path) -> None:
    edit(runs / "base", lambda row: None if row["id"].startswith("ubifs-aged") else row)
    ended = compare("base", "--axis", "state", "--all")
    assert ended.code == 3 and "missing (not in state aged)" in ended.output


def test_an_axis_that_another_one_goes_with(compare: Compare, runs: Path) -> None:
    """JFFS2 writes through, UBIFS has two other ways: no two cases differ in the name alone."""
    ended = compare("base", "--axis", "filesystem")
    assert ended.code == 2
    assert "no two cases of base differ in filesystem alone" in ended.error
    assert "these differ, too: options.write_mode" in ended.error

    def alike(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "axes": {**row["axes"], "options.write_mode": "any"}}

    edit(runs / "base", alike)
    assert "base: filesystem jffs2" in compare("base", "--axis", "filesystem", "--all").output


@pytest.mark.parametrize("study", ["micro-saturated", "mount-scaling"])
def test_other_workloads(compare: Compare, tmp_path: Path, study: str) -> None:
    """Real runs of them."""
    unpacked(study, tmp_path / "runs").rename(tmp_path / "base")
    shutil.copytree(tmp_path / "base", tmp_path / "other")
    sides = [str(tmp_path / name) for name in ("base", "other")]
    assert compare(*sides, "--fail-on", "change").code == 0
    edit_manifest(tmp_path / "other", build_id="b2", **{RESULTS_SHA256: None})

    def moved(row: dict[str, Any]) -> dict[str, Any]:
        if row["requests"]:
            figures, name = row["requests"][0]["all"], "max_ns"
        else:
            mounts = [step for step in row["tree"]["steps"] if step["step"] == "mount"]
            figures, name = mounts[-1], "duration_ns"
        figures[name] = round(figures[name] * 1.001)
        return row

    edit(tmp_path / "other", moved)
    ended = compare(*sides, *ALL, "--only-changed", "--fail-on", "worse")
    assert ended.code == 1 and "0.1 % slower" in ended.output


def test_a_run_alone_shows_its_bands(compare: Compare, runs: Path) -> None:
    few = [("seed", (1,)), ("options.compression", ("none",)), ("filesystem", ("jffs2",))]
    write_run(runs / "banded", [*few, ("perturbation", (0, 1, 2))])
    ended = compare("banded")
    assert ended.code == 0, ended.error
    assert "run:  banded, 2 cases and 4 perturbed, build" in ended.output
    told = r"^jffs2-aged\S*: 2 perturbed, \d+ of \d+ figures did not move$"
    assert re.search(told, ended.output, re.MULTILINE)
    assert re.search(r"transactions: time +\d+\.\d+ s .*%", ended.output)
    assert "blocks erased" not in ended.output
    assert "blocks erased" in compare("banded", "--all").output

    def crashes(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "outcome": "crash"} if "perturbation2" in row["id"] else row

    edit(runs / "banded", crashes)
    assert "4 perturbed (2 of them failed)" in compare("banded").output


def test_an_incomplete_run_is_compared_as_far_as_it_is(compare: Compare, runs: Path) -> None:
    edit(runs / "other", lambda row: None if row["id"].startswith("ubifs-free") else row)
    ended = compare("base", "other", "--only-changed")
    assert ended.code == 4
    assert re.search(r"ubifs-free\S*-s1: missing \(not in other\)", ended.output)
    assert re.search(r"new is incomplete: \d+ of \d+ cases have a result; next: ffslab run \S*other"
                     r" --resume", ended.output)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("base",), "nothing to compare with"),
        (("base", "other", "--axis", "state"), "--axis compares values of one run"),
        (("base", "other", "--base", "x"), "--base is a value of an axis"),
        (("base", "nix"), "no run 'nix'"),
        (("base", "--axis", "sate"), "'sate' is not an axis of base"),
        (("base", "--axis", "state", "--base", "old"), "no value 'old'"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_wrong_usage(compare: Compare, arguments: tuple[str, ...], told: str) -> None:
    ended = compare(*arguments)
    assert ended.code == 2
    assert told in ended.error and "next: " in ended.error


def test_runs_without_a_case_in_common(compare: Compare, runs: Path) -> None:
    write_run(runs / "third", study="quick")
    ended = compare("base", "third")
    assert ended.code == 2
    assert "base and third have no case in common" in ended.error
    assert "they belong to the studies ffsmark and quick" in ended.error


def test_a_run_without_a_result(compare: Compare, runs: Path) -> None:
    (runs / "other" / RESULTS).write_text("")
    ended = compare("base", "other")
    assert ended.code == 2
    assert "has no results yet" in ended.error and "--resume" in ended.error


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"phases"', '"phasen"'),
        lambda text: text.replace('"kind":"ffsmark"', '"kind":"nothing"'),
        lambda text: "[]\n" + text,
        lambda text: text.replace('"duration_ns":', '"duration_ns":"x","d":', 1),
    ],
    ids=["cut", "renamed", "kind", "no-object", "text"],
)
def test_a_damaged_run(compare: Compare, runs: Path, damage: Callable[[str], str]) -> None:
    path = runs / "other" / RESULTS
    path.write_text(damage(path.read_text()))
    ended = compare("base", "other")
    assert ended.code == 3
    assert "likely cause: " in ended.error and "next: " in ended.error


# --- JUnit


def test_junit(compare: Compare, runs: Path) -> None:
    edit(runs / "other", slower)
    assert compare("base", "other", *ALL, "--junit", "out.xml").code == 1
    root = ET.parse("out.xml").getroot()
    (suite,) = root.findall("testsuite")
    cases = suite.findall("testcase")
    assert suite.get("name") == "other against base"
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), "1")
    (failed,) = [case for case in cases if case.find("failure") is not None]
    assert str(failed.get("name")).startswith(WRITTEN)
    assert failed.get("classname") == "ffslab.ffsmark"
    failure = failed.find("failure")
    assert failure is not None and failure.get("type") == "worse"
    assert "0.1 % slower" in str(failure.get("message"))
    assert "cause, transactions: +" in str(failure.text)


# --- the page


def test_the_page(compare: Compare, runs: Path) -> None:
    edit(runs / "other", slower)
    assert compare("base", "other", "base", *ALL, "--html", "out.html").code == 1
    page = Path("out.html").read_text(encoding="utf-8")
    assert "<h1>other against base</h1>" in page and "<h1>base against base</h1>" in page
    worse, same = re.findall(r'<p class="headline">.*</span> (.*)</p>', page)
    assert worse.startswith(
        "1 of 6 cases is worse, in JFFS2 free; the largest change: transactions"
    )
    assert same == "Nothing differs."
    assert "0.1 % slower" in page and ">build of the lab<" in page
    assert "transactions: +" in page
    assert "Not deterministic:" not in page
    # Nothing is loaded from elsewhere.
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)', own)


def test_the_page_escapes_what_it_is_given(compare: Compare, runs: Path) -> None:
    def fails(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "outcome": "crash", "reason": "<script>"} if "ubifs" in row["id"] else row

    edit(runs / "other", fails)
    edit_manifest(runs / "other", build_id="b1")
    assert compare("base", "other", "--html", "out.html", "--fail-on", "worse").code == 1
    page = Path("out.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page and "crash: <script>" not in page
    assert "newly failing" in page and "Not deterministic" in page


@pytest.mark.usefixtures("runs")
def test_a_file_that_cannot_be_written(compare: Compare) -> None:
    for option in ("--junit", "--html"):
        ended = compare("base", "other", option, "nowhere/out")
        assert ended.code == 3 and "nowhere" in ended.error and "next: " in ended.error
