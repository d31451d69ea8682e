"""A study that states limits, from its file to the exit code: a target without a kernel."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_support import Command
from host_support import STUDY

from ffslab.errors import SpecError
from ffslab.loader import parse_toml
from ffslab.model.specs import NOT_MOUNTED
from ffslab.report import build
from ffslab.report.index import render_index
from ffslab.results.criteria import Criterion, Tally
from ffslab.results.rundir import RunDirectory, find_run
from ffslab.results.schema import DURATION, Figure
from ffslab.workloads.limits import Judge, check_limits, limits_of, missed_of
from ffslab.workloads.results import results_of

RUN = ("run", "limited.toml", "--no-report")


def limited(*tables: str) -> None:
    text = STUDY + "".join(f"\n[[limits]]\n{table}\n" for table in tables)
    Path("limited.toml").write_text(text)


def last_run() -> RunDirectory:
    return find_run("latest", Path("results"))


def one_result() -> Any:
    """Of a case that passes, without any limit."""
    return next(results_of(last_run()))


@pytest.fixture
def pages(ffslab_command: Command) -> int:
    """The pages that each case programs: all play the same records back."""
    assert ffslab_command("run", "small.toml", "--no-report").code == 0
    phases = {phase["phase"]: phase for phase in one_result()["phases"]}
    programmed = phases["workload"]["pages_programmed"]
    assert programmed > 10
    return int(programmed)


def test_a_case_beyond_a_limit_is_missed_everywhere(ffslab_command: Command, pages: int) -> None:
    limited(
        f'figure = "workload.pages_programmed"\nat_most = {pages}',
        f'figure = "workload.pages_programmed"\ncase = "ubifs-*-s1"\nat_most = {pages - 1}',
    )
    ended = ffslab_command(*RUN)
    assert ended.code == 1
    told = f"missed: workload.pages_programmed is {pages:,}, at most {pages - 1:,}: "
    lines = [line for line in ended.output.splitlines() if told in line]
    assert [line.partition(":")[0] for line in lines] == ["ubifs-free-s1", "ubifs-aged-s1"]
    assert "8 of 8 cases: 8 pass, 2 missed; " in ended.output

    listed = "8 cases, complete: 8 pass, 2 missed, exit 1"
    assert listed in ffslab_command("list").output
    assert "✕ 8\xa0pass, 2\xa0missed, exit\xa01" in render_index(Path("results"))
    *_, latest = json.loads(ffslab_command("list", "--json").output)
    assert latest["judged"] == {"known": {}, "missed": 2, "unused": 0, "good": False}

    resumed = ffslab_command("run", str(last_run().path), "--resume", "--no-report")
    assert resumed.code == 1 and told in resumed.output
    shown = ffslab_command("show", "latest", "--all").output
    assert "8 of 8 cases: 8 pass, 2 missed\n" in shown and told in shown
    rows = [line.split()[:2] for line in shown.splitlines() if "-s1 " in line or "-s2 " in line]
    outcomes = {case: outcome for case, outcome in rows if not case.endswith(":")}
    assert [case for case in outcomes if outcomes[case] == "missed"] == [
        "ubifs-free-s1",
        "ubifs-aged-s1",
    ]
    assert list(outcomes.values()).count("pass") == 6
    assert told in ffslab_command("show", "latest", "ubifs-aged-s1").output
    assert told not in ffslab_command("show", "latest", "ubifs-aged-s2").output
    values = json.loads(ffslab_command("show", "latest", "ubifs-aged-s1", "--json").output)
    assert values["result"]["outcome"] == "pass"
    (miss,) = values["missed"]
    assert miss["figure"] == "workload.pages_programmed" and miss["at_most"] == pages - 1
    cases = json.loads(ffslab_command("show", "latest", "--json").output)["cases"]
    assert {case["id"]: len(case["missed"]) for case in cases if case["missed"]} == {
        "ubifs-free-s1": 1,
        "ubifs-aged-s1": 1,
    }


def test_the_report_begins_with_what_was_missed(ffslab_command: Command, pages: int) -> None:
    limited(f'figure = "workload.pages_programmed"\nat_most = {pages - 1}\ncase = "jffs2-*"')
    ffslab_command(*RUN)
    page = build(last_run().path).read_text()
    status = "✕ 4 of 8 cases missed a limit of the study."
    assert status in page and "✓ 8 of 8 cases passed" not in page
    assert f"workload.pages_programmed is {pages:,}, at most {pages - 1:,}" in page
    assert page.index(status) < page.index('class="toc"')


def test_limits_change_neither_specs_nor_results(ffslab_command: Command, pages: int) -> None:
    def files(run: RunDirectory) -> dict[str, bytes]:
        return {
            str(path.relative_to(run.path)): path.read_bytes()
            for path in run.path.rglob("*")
            if path.name in ("results.jsonl", "spec.json", "case.json", "plan")
        }

    without = files(last_run())
    limited(f'figure = "workload.pages_programmed"\nat_most = {pages}')
    ended = ffslab_command(*RUN)
    assert ended.code == 0 and "missed" not in ended.output
    assert files(last_run()) == without
    assert '"missed": [' in ffslab_command("show", "latest", "--json").output
    assert '"missed": [' not in ffslab_command("show", "latest~1", "--json").output


def step(verb: str, duration_ns: int, status: str = "ok") -> dict[str, Any]:
    return {"verb": verb, "status": status, "t_start_ns": 0, "duration_ns": duration_ns}


def test_times_of_the_mount_are_figures_of_every_case(pages: int) -> None:
    assert pages
    result = one_result()

    def missed(
        *steps: dict[str, Any], figure: str = "mount.time", spec: Any = result["spec"]
    ) -> list[float]:
        text = f'[[limits]]\nfigure = "{figure}"\nat_most = "7 ms"'
        told = {**result, "steps": list(steps), "spec": spec}
        found = missed_of(told, limits_of({"study_text": text}))
        return [miss.figure.value for miss in found]

    late = step("mount", 7_000_001)
    assert missed(step("insmod", 9_000_000), late) == [7_000_001]
    assert missed(step("mount", 7_000_000)) == []
    assert missed(late, late) == []  # which of them is the file system's nobody knows
    assert missed({**late, "status": "failed"}) == []
    spec = result["spec"]
    bare = {**spec, "filesystem": {**spec["filesystem"], "type": NOT_MOUNTED}}
    assert missed(late, spec=bare) == []
    for verb in ("attach", "umount"):
        assert missed(step(verb, 8_000_000), late, figure=f"{verb}.time") == [8_000_000]


def test_a_limit_that_no_figure_was_held_against_is_told(ffslab_command: Command) -> None:
    limited('figure = "create.time"\ncase = "ubifs-*"\nat_most = "1 s"')
    ended = ffslab_command(*RUN)
    assert ended.code == 1
    told = "limit of create.time of ubifs-*: no case of this run has it"
    assert f"{told} (did you mean 'creation.time'?)" in ended.output
    assert "8 pass, limits not checked: 1; " in ended.output
    assert "Not checked:" in build(last_run().path).read_text()
    # A part of the study may lack what all of it has.
    assert ffslab_command(*RUN, "--case", "ubifs-free-s1").code == 0
    assert ffslab_command(*RUN, "--set", "state=free").code == 0


def test_what_failed_has_missed_nothing_more(pages: int) -> None:
    assert pages
    limited('figure = "workload.pages_programmed"\nat_most = 1')
    limits = limits_of({"study_text": Path("limited.toml").read_text()})
    result = one_result()
    assert len(missed_of(result, limits)) == 1
    assert missed_of({**result, "outcome": "fail"}, limits) == ()
    judge = Judge(limits)
    judge.take({**result, "outcome": "fail"})
    assert judge.unused == ()  # nobody knows whether it would have had the figure


def test_a_repeat_is_held_against_the_limits_of_its_case(pages: int) -> None:
    assert pages
    limited('figure = "workload.pages_programmed"\nat_most = 1\ncase = "jffs2-free-s1"')
    limits = limits_of({"study_text": Path("limited.toml").read_text()})
    result = one_result()
    assert result["id"] == "jffs2-free-s1"
    repeated = {**result, "id": "jffs2-free-repeat2-s1", "axes": {**result["axes"], "repeat": 2}}
    assert [miss.case for miss in missed_of(repeated, limits)] == ["jffs2-free-repeat2-s1"]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('figure = "mount.time"\nat_most = "1 ms"\ncase = "ubfs-*"', "no case 'ubfs-*'"),
        ('figure = "mount.tiem"\nat_most = "1 ms"', "did you mean 'mount.time'?"),
        ('figure = "measure.response_mean"\nat_most = "1 ms"', "no case has a figure"),
        ('figure = "mount.time"\nat_most = "soon"', "write a number with its unit"),
        ('figure = "mount.time"\nat_most = true', "write a number with its unit"),
        ('figure = "mount.time"', "needs at_most or at_least"),
        ('at_most = "1 ms"', "key 'limits.0.figure' is missing"),
        ('figure = "mount.time"\nat_mots = "1 ms"', "did you mean 'at_most'?"),
    ],
)
def test_a_wrong_limit_is_told_before_anything_runs(
    ffslab_command: Command, table: str, told: str
) -> None:
    limited(table)
    for words in (RUN, ("run", "limited.toml", "--dry-run")):
        ended = ffslab_command(*words)
        assert ended.code == 2 and told in ended.error
        assert "likely cause" in ended.error and "next: " in ended.error
    assert not Path("results").exists()


def test_a_run_without_a_readable_study_has_no_limits() -> None:
    for manifest in ({}, {"study_text": ""}, {"study_text": "[limits"}, {"study_text": "a = 1"}):
        assert limits_of(manifest) == ()


def test_figures_of_the_workload_and_what_people_decide_by_have_limits(pages: int) -> None:
    assert pages
    result = one_result()
    for figure in ("creation.on_flash", "creation.files_per_s", "virtual"):
        text = f'[[limits]]\nfigure = "{figure}"\nat_most = -1'
        assert missed_of(result, limits_of({"study_text": text}))


def test_what_fails_by_its_tally_has_its_figures(
    pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pages
    result = one_result()
    figure = Figure(DURATION, "states", 5)
    criteria = [
        Criterion(figure, "a", "cuts", tally=Tally("state", 9)),
        Criterion(figure, "b", "time"),
    ]
    limits = limits_of({"study_text": '[[limits]]\nfigure = "states.time"\nat_most = "4 ns"'})
    monkeypatch.setattr("ffslab.workloads.limits.criteria_of", lambda _: criteria)
    assert len(missed_of({**result, "outcome": "fail"}, limits)) == 1


def test_a_limit_asks_the_workload_of_its_own_cases() -> None:
    cases: Any = [
        SimpleNamespace(id=f"{kind}-s1", workload=SimpleNamespace(kind=kind))
        for kind in ("ffsmark", "micro")
    ]

    def check(case: str) -> None:
        text = f'[[limits]]\nfigure = "a.response_mean"\nat_most = "1 s"\ncase = "{case}"'
        check_limits(limits_of({"study_text": text}), cases, "x.toml", "x", is_whole=True)

    check("micro-*")
    check("*")
    with pytest.raises(SpecError, match="no case has a figure"):
        check("ffsmark-*")


def test_cases_left_out_on_purpose_need_no_limit(ffslab_command: Command) -> None:
    limited('figure = "mount.time"\nat_most = "1 h"\ncase = "ubifs-*"')
    assert ffslab_command(*RUN, "--set", "filesystem=jffs2").code == 0
    assert ffslab_command(*RUN, "--case", "jffs2-*").code == 0


def test_every_key_is_in_the_document() -> None:
    text = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text()
    section = text.split("\n## Limits\n")[1].split("\n## ")[0]
    for key in ("figure", "case", "at_most", "at_least"):
        assert f"| `{key}` |" in section
    document = parse_toml(section.split("```toml\n")[1].split("```")[0], "example")
    assert len(limits_of({"study_text": section.split("```toml\n")[1].split("```")[0]})) == len(
        document["limits"]
    )
