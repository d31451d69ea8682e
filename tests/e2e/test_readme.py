"""The README as a newcomer follows it: its commands, in order, in a fresh clone.

Two are replaced, to keep the test short and to keep it from calling itself: the
study runs with one seed instead of three, and `./ffslab test` runs one file of tests.
The cache is the user's: the set-up itself is tested elsewhere.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPLACED = {
    "./ffslab run ffsmark": "./ffslab run ffsmark --seeds 1",
    "./ffslab test": "./ffslab test --quick -q tests/unit/test_docs.py",
}
COMMAND_LIMIT_S = 600
SHELL_LIMIT_S = 60
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Done:
    """A command of the README with what it printed."""

    command: str
    output: str


def section_commands(text: str, title: str) -> list[str]:
    """The commands in the fences of one section, continued lines joined."""
    body = dict(SECTION.findall(text))[title]
    lines = "".join(FENCE.findall(body)).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip()]


def run(command: str, directory: Path) -> str:
    """Runs a command as it stands in the README; its output."""
    finished = subprocess.run(
        ["sh", "-c", REPLACED.get(command, command)],
        cwd=directory,
        env={**os.environ, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_LIMIT_S,
        check=False,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}"
    return finished.stdout


def run_in_terminal(command: str, directory: Path, typed: str) -> str:
    """Runs a command on a terminal of its own, types a line at the prompt, waits for the end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=directory,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    waiting = True
    deadline = time.monotonic() + SHELL_LIMIT_S
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1.0)[0]:
                continue
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if waiting and re.search(rb"^# $", shown, re.MULTILINE):
                os.write(ours, typed.encode() + b"\n")
                waiting = False
        text = shown.decode(errors="replace")
        assert process.wait(10) == 0, text
        return text
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a newcomer has: the committed files, nothing else."""
    directory = tmp_path_factory.mktemp("readme") / "ffslab"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(directory)], check=True)
    return directory


@pytest.fixture(scope="module")
def readme(clone: Path) -> str:
    return (clone / "README.md").read_text(encoding="utf-8")


def reports(done: Done, directory: Path) -> None:
    """A run passed all its cases and wrote the report where it says."""
    counts = re.search(
        r"^(\d+) of (\d+) cases: (?:(\d+) pass)?(?:, )?(?:(\d+) short)?;", done.output, re.MULTILINE
    )
    assert counts, done.output
    good = int(counts[3] or 0) + int(counts[4] or 0)
    assert int(counts[1]) == int(counts[2]) == good, done.output
    report = re.search(r"^report: (\S+)$", done.output, re.MULTILINE)
    assert report, done.output
    page = (directory / report[1]).read_text(encoding="utf-8")
    assert "<svg" in page
    assert "No failures." in page


def test_the_two_commands(clone: Path, readme: str) -> None:
    commands = section_commands(readme, "Two commands")
    assert commands == list(REPLACED)
    study, tests = (Done(command, run(command, clone)) for command in commands)
    reports(study, clone)
    assert "18 of 18 cases" in study.output
    assert re.search(r"\d+ passed", tests.output)
    assert "failed" not in tests.output


def test_a_first_experiment(clone: Path, readme: str) -> None:
    commands = section_commands(readme, "A first experiment of your own")
    done: dict[str, list[Done]] = {}
    for command in commands:
        words = shlex.split(command)
        verb = words[1] if words[0] == "./ffslab" else words[0]
        if verb == "shell":
            output = run_in_terminal(command, clone, "df /mnt; exit")
            assert re.search(r"^ubi0:data .* /mnt\r?$", output, re.MULTILINE), output
        else:
            output = run(command, clone)
        done.setdefault(verb, []).append(Done(command, output))

    dry, real = (
        [one for one in done["run"] if ("--dry-run" in one.command) is wanted]
        for wanted in (True, False)
    )
    assert "4 cases of study mine" in dry[0].output
    assert len(real) == 3
    for one in real:
        reports(one, clone)
    # The reader's chip is the one under test, in the order in which the text tells it.
    study = next(one for one in real if one.command.endswith("mine.toml"))
    results = re.search(r"^results: (\S+)$", study.output, re.MULTILINE)
    assert results
    lines = (clone / results[1] / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert all('"page_bytes":4096' in line for line in lines)

    assert done["list"][0].output.count("cases, complete") >= 3
    whole, case = done["show"]
    assert "cases: " in whole.output
    assert "reproduce: " in case.output
    exported = done["export"][0].output.split()
    assert sorted(Path(name).name for name in exported) == [
        "blocks.csv",
        "cases.csv",
        "latencies.csv",
        "memory.csv",
        "phases.csv",
        "request_tasks.csv",
        "requests.csv",
        "tree_steps.csv",
    ]
    assert all((clone / name).stat().st_size > 0 for name in exported)


def test_micro_benchmarks(clone: Path, readme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(clone / "state"))
    study, shown = (
        Done(command, run(command, clone))
        for command in section_commands(readme, "Micro-benchmarks")
    )
    reports(study, clone)
    assert "198 of 198 cases" in study.output
    assert "stopped by ENOSPC" in shown.output
    assert "garbage collection" in shown.output


def test_images_trees_and_mounts(clone: Path, readme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(clone / "state"))
    images, study, shown, own = (
        Done(command, run(command, clone))
        for command in section_commands(readme, "Images, trees and mounts")
    )
    assert re.search(r"jffs2 +lzo", images.output), images.output
    reports(study, clone)
    assert "image: embedded-rootfs" in shown.output
    assert re.search(r"^unmount-2 ", shown.output, re.MULTILINE)
    reports(own, clone)


def test_the_studies_have_the_cases_that_the_readme_says(readme: str, clone: Path) -> None:
    rows = re.findall(
        r"^\| `((?:micro|metadata|mount)-[a-z0-9]+)` \| .* \| ([\d,]+) \|$", readme, re.MULTILINE
    )
    assert len(rows) == 7
    for study, count in rows:
        output = run(f"./ffslab run {study} --dry-run", clone)
        assert f"{count.replace(',', '')} cases of study {study}" in output
