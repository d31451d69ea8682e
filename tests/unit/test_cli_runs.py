"""Verbs about runs that are there, and what other programs read: list, rm, --json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command

from ffslab.results.rundir import RunDirectory, find_run
from ffslab.results.summary import summary_of

RUN = ("run", "small.toml", "--no-report")


@pytest.fixture
def run(ffslab_command: Command) -> RunDirectory:
    assert ffslab_command(*RUN, "--set", "state=free").code == 0
    return find_run("latest", Path("results"))


def as_json(command: Command, *words: str) -> Any:
    result = command(*words, "--json")
    assert result.code == 0, result.error
    return json.loads(result.output)


def test_a_line_says_what_ran_and_how_it_ended(ffslab_command: Command, run: RunDirectory) -> None:
    (line,) = ffslab_command("list").output.splitlines()
    assert line.startswith(run.path.name) and " KiB " in line
    assert line.endswith("4 cases, complete: 4 pass; with state=free")


def test_many_values_are_counted(ffslab_command: Command) -> None:
    assert ffslab_command(*RUN, "--seeds", "9").code == 0
    assert ffslab_command("list").output.rstrip().endswith("; with seed=(9 values)")


def test_the_size_is_what_the_disk_gives(run: RunDirectory) -> None:
    before = summary_of(run).size_bytes
    with (run.path / "flash.img").open("wb") as file:
        file.truncate(1 << 40)
        file.write(bytes(1 << 20))
    assert (1 << 20) <= summary_of(run).size_bytes - before < (2 << 20)


def test_states_of_a_run(ffslab_command: Command, run: RunDirectory) -> None:
    assert not run.is_worked_on()
    with run.worked_on():
        assert run.is_worked_on()
        assert "4 cases, running" in ffslab_command("list").output
    manifest = run.manifest()
    run.write_manifest({**manifest, "complete": False})
    assert "4 cases, interrupted: 4 pass" in ffslab_command("list").output
    run.write_manifest({k: v for k, v in manifest.items() if k != "outcomes"})
    assert "4 cases, complete; with" in ffslab_command("list").output
    (run.path / "manifest.json").write_text("{")
    (line,) = ffslab_command("list").output.splitlines()
    assert "manifest.json" in line
    assert as_json(ffslab_command, "list")[0]["state"] == "damaged"


def test_list_as_json(ffslab_command: Command, run: RunDirectory) -> None:
    (listed,) = as_json(ffslab_command, "list")
    assert listed["path"] == str(run.path) and listed["outcomes"] == {"pass": 4}
    assert listed["overrides"] == [["state", ["free"]]]
    (jffs2,) = [
        row for row in as_json(ffslab_command, "list", "filesystems") if row["name"] == "jffs2"
    ]
    assert jffs2["text"].startswith("compression: none")
    assert as_json(ffslab_command, "list", "-o", "nowhere") == []


def test_show_as_json(ffslab_command: Command, run: RunDirectory) -> None:
    shown = as_json(ffslab_command, "show", "latest")
    assert [case["outcome"] for case in shown["cases"]] == ["pass"] * 4
    assert shown["cases_total"] == 4 and shown["cases"][0]["wall_ns"] >= 0
    case_id = shown["cases"][2]["id"]
    case = as_json(ffslab_command, "show", "latest", case_id)
    assert case["result"] == run.results()[2]
    assert Path(case["files"]) == run.case_dir(case_id)
    assert case["reproduce"].endswith(f"--case {case_id}")


@pytest.mark.usefixtures("run")
def test_compare_as_json_is_its_table(ffslab_command: Command) -> None:
    table = ffslab_command("compare", "latest", "latest", "--json")
    assert table.code == 0 and json.loads(table.output)
    assert ffslab_command("compare", "latest", "latest", "--json").output == table.output


def test_rm_asks(
    ffslab_command: Command, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ffslab_command("rm", "latest")
    assert refused.code == 2 and "--yes" in refused.error and run.path.exists()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    for word, stays in (("n", True), ("y", False)):
        monkeypatch.setattr("typer.confirm", lambda _, word=word: word == "y")
        result = ffslab_command("rm", run.path.name)
        assert result.code == 0 and "4 cases, complete: 4 pass" in result.output
        assert run.path.exists() is stays


def test_rm_removes_what_was_named_and_nothing_else(
    ffslab_command: Command, run: RunDirectory
) -> None:
    other = ffslab_command(*RUN).output
    assert "results: " in other
    wrong = ffslab_command("rm", "--yes", run.path.name, "no-such-run")
    assert wrong.code == 2 and run.path.exists()
    assert ffslab_command("rm", "--yes", run.path.name, str(run.path)).code == 0
    assert not run.path.exists() and len(ffslab_command("list").output.splitlines()) == 1
    (Path("results") / "notes").mkdir()
    assert ffslab_command("rm", "--yes", "results/notes").code == 2
    assert (Path("results") / "notes").exists()


def test_rm_leaves_a_run_that_goes_on(ffslab_command: Command, run: RunDirectory) -> None:
    with run.worked_on():
        busy = ffslab_command("rm", "--yes", "latest")
    assert busy.code == 3 and "is being worked on by" in busy.error
    assert run.manifest()["complete"]
