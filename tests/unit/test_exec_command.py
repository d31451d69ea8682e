"""`ffslab exec`: the study that it makes of a command, and commands that it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, ffslab_command

from ffslab.cli import run
from ffslab.errors import SpecError
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.study import expand, study_from_document
from ffslab.workloads.script.keys import Loaded, Script, words_of

__all__ = ["ffslab_command"]  # a fixture


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The choices that would have been run."""
    choices: list[Any] = []
    monkeypatch.setattr(run, "run_choice", lambda choice, **_: choices.append(choice))
    monkeypatch.chdir(tmp_path)
    return choices


def test_the_words_behind_the_first_are_the_commands(
    ffslab_command: Command, made: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("1,2\n")
    ended = ffslab_command(
        *("exec", "--fs", "ubifs, jffs2", "--state", "aged", "--set", "seed=2"),
        *("cat", "--fs", "rows.csv", "it's"),
    )
    assert ended.code == 0, ended.error
    (choice,) = made
    study = tomllib.loads(choice.made.text)
    assert study["base"]["workload"]["command"] == "cat --fs /script/rows.csv 'it'\"'\"'s'"
    assert study["base"]["workload"]["files"] == [str(tmp_path / "rows.csv")]
    assert study["axes"] == {"filesystem": ["ubifs", "jffs2"], "state": ["aged"]}
    assert choice.overrides == (("seed", (2,)),)
    assert "rows.csv" in study["title"]


def test_another_command_is_another_study(ffslab_command: Command, made: list[Any]) -> None:
    ffslab_command("exec", "--", "true")
    ffslab_command("exec", "--", "true", "1")
    assert len({choice.study for choice in made}) == 2


def test_a_program_that_is_not_there_is_told_before_anything_runs(
    ffslab_command: Command, made: list[Any]
) -> None:
    ended = ffslab_command("exec", "--", "no-such-program")
    assert ended.code == 2 and not made
    assert "no-such-program" in ended.error and "not installed" in ended.error


STUDY = """
schema = 1
name = "own"
title = "A command"
[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "jffs2"
seeds = [1]
[base.workload]
kind = "script"
{keys}
[axes]
state = ["free"]
"""


def workload(keys: str) -> Script:
    catalog = load_catalog()
    document = parse_toml(STUDY.format(keys=keys), "test")
    (case,) = expand(study_from_document(document, catalog, "test"), catalog)
    assert isinstance(case.workload, Script)
    return case.workload


def test_a_command_is_run_as_it_is() -> None:
    own = workload("command = \"sh -c 'echo a b' --\"")
    assert words_of(own) == ("sh", "-c", "echo a b", "--")


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("", "script is missing"),
        ('command = "a"\nscript = "b.sh"', "beside workload.script"),
        ('command = "a"\narguments = "b"', "beside workload.arguments"),
        ('command = "a \'b"', "workload.command: No closing quotation"),
    ],
)
def test_what_is_no_command_is_refused(keys: str, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        workload(keys)


def test_latencies_are_asked_for_by_naming_the_variable() -> None:
    assert Script(command="sh -c 'echo commit 1 >$FFSLAB_LATENCIES'").has_latencies
    assert not Script(command="true").has_latencies
    named = Loaded(script="a.py", contents=(("a.py", b'os.environ["FFSLAB_LATENCIES"]'),))
    assert named.has_latencies and not Loaded(script="a", contents=(("a", b"x"),)).has_latencies
