"""The doctor: what it calls good, missing and fatal, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from ffslab import doctor
from ffslab.cli import doctor as doctor_verb
from ffslab.doctor import Condition, State


def by_subject(conditions: list[Condition]) -> dict[str, Condition]:
    return {condition.subject: condition for condition in conditions}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_everything_a_setup_needs_is_looked_at() -> None:
    conditions = by_subject(doctor.examine())
    assert {
        *("machine", "system", "packages", "compiler", "ptrace", "cache", "guest memory"),
        *("python packages", "report", "kernel source", "image tools", "chromium", "fio"),
    } <= set(conditions)


def test_an_empty_cache_is_for_the_next_setup_to_fill() -> None:
    source = by_subject(doctor.examine())["kernel source"]
    assert source.state is State.LATER
    assert source.remedy == "ffslab setup"


def test_every_problem_comes_with_a_remedy() -> None:
    problems = [f for f in doctor.examine() if f.state is not State.GOOD]
    assert problems
    assert all(condition.remedy for condition in problems)


def test_looking_creates_nothing(tmp_path: Path) -> None:
    doctor.examine()
    assert not (tmp_path / "cache").exists()


def test_a_wrong_kernel_source_is_bad(tmp_path: Path) -> None:
    condition = by_subject(doctor.examine(kernel_source=tmp_path))["lab"]
    assert condition.state is State.BAD
    assert "not a Linux kernel source" in condition.detail


def test_packages_that_this_user_may_not_install_are_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "missing_packages", lambda wanted: list(wanted)[:1])
    monkeypatch.setattr(doctor, "_may_install", lambda: False)
    condition = by_subject(doctor.examine())["packages"]
    assert condition.state is State.BAD
    assert condition.remedy.startswith("as root: apt-get")


@pytest.mark.parametrize(
    ("debian", "remedy"),
    [
        (True, "apt-get install --no-install-recommends erofs-utils"),
        (False, "equivalents of Debian's erofs-utils"),
    ],
)
def test_missing_image_tools_are_no_obstacle(
    debian: bool, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        doctor, "missing_packages", lambda wanted: [p for p in wanted if p.name == "erofs-utils"]
    )
    monkeypatch.setattr(doctor, "is_debian", lambda: debian)
    condition = by_subject(doctor.examine())["image tools"]
    assert condition.state is State.OPTIONAL
    assert "mkfs.erofs (builds images of EROFS)" in condition.detail
    assert remedy in condition.remedy


def test_what_target_qemu_lacks_is_named_with_what_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        doctor, "missing_packages", lambda wanted: [p for p in wanted if "qemu" in p.name]
    )
    monkeypatch.setattr(doctor, "is_debian", lambda: True)
    conditions = by_subject(doctor.examine())
    assert conditions["image tools"].state is State.GOOD
    condition = conditions["target qemu"]
    assert condition.state is State.OPTIONAL
    assert "qemu-system-arm (runs guests of the target qemu)" in condition.detail
    assert condition.remedy.endswith("apt-get install --no-install-recommends qemu-system-arm")


@pytest.mark.parametrize(
    ("states", "exit_code"),
    [
        ([State.GOOD, State.OPTIONAL], 0),
        ([State.GOOD, State.LATER], 0),
        ([State.BAD, State.GOOD], 3),
    ],
)
def test_the_exit_code_tells_whether_a_setup_can_work(
    states: list[State], exit_code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    conditions = [Condition(f"part {n}", state, "detail") for n, state in enumerate(states)]
    monkeypatch.setattr(doctor, "examine", lambda *_: conditions)
    app = typer.Typer()
    doctor_verb.register(app)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == exit_code
    assert "part 0" in result.output


def test_brackets_in_a_remedy_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    condition = Condition("report", State.OPTIONAL, "absent [here]", 'pip install "ffslab[report]"')
    monkeypatch.setattr(doctor, "examine", lambda *_: [condition])
    app = typer.Typer()
    doctor_verb.register(app)
    output = CliRunner().invoke(app, []).output
    assert "absent [here]" in output
    assert "ffslab[report]" in output


@pytest.mark.parametrize(
    ("free_bytes", "built", "state"),
    [
        (10 << 30, False, State.GOOD),
        (2 << 30, False, State.OPTIONAL),
        (1 << 30, False, State.BAD),
        (1 << 30, True, State.GOOD),
        (300 << 20, True, State.OPTIONAL),
        (200 << 20, True, State.BAD),
    ],
)
def test_room_for_the_lab(
    free_bytes: int, built: bool, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if built:
        (tmp_path / "cache/ffslab/agent").mkdir(parents=True)
    usage = SimpleNamespace(free=free_bytes)
    monkeypatch.setattr("ffslab.doctor.shutil.disk_usage", lambda _: usage)
    condition = by_subject(doctor.examine())["cache"]
    assert condition.state is state
    assert ("rm -r" in condition.remedy) is (state is not State.GOOD)


def test_no_room_for_results_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(free=1 << 20)
    monkeypatch.setattr("ffslab.doctor.shutil.disk_usage", lambda _: usage)
    found = by_subject(doctor.examine())
    # Guests have their RAM on the disk then.
    assert found["guest memory"].state is State.OPTIONAL
    assert found["results"].state is State.BAD
    assert "ffslab rm" in found["results"].remedy
    ended = CliRunner().invoke(verb(), ["--json"])
    assert ended.exit_code == 3 and json.loads(ended.output)["healthy"] is False


def verb() -> typer.Typer:
    app = typer.Typer()
    doctor_verb.register(app)
    return app


def test_lines_in_a_pipe_do_not_end_in_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Condition("packages", State.LATER, "x" * 300, "install them")
    conditions = [Condition("machine", State.GOOD, "x86_64"), long]
    monkeypatch.setattr(doctor, "examine", lambda *_: conditions)
    lines = CliRunner().invoke(verb(), []).output.splitlines()
    assert any(line.endswith("x86_64") for line in lines)
    assert not [line for line in lines if line != line.rstrip()]
