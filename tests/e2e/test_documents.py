"""README and tutorial as a newcomer follows them: their commands, in order, in a fresh clone.

Some are replaced, to keep the test short and to keep it from calling itself: the study
ffsmark runs with one seed instead of three, and `./ffslab test` runs one
file of tests. Studies that are only named in a table or in the text are expanded, not run.
The cache is the user's: the set-up itself is tested elsewhere.
"""

from __future__ import annotations

import html
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
    "./ffslab test --quick": "./ffslab test --quick -q tests/unit/test_docs.py",
}
COMMAND_LIMIT_S = 600
SHELL_LIMIT_S = 60
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOML_FENCE = re.compile(r"^```toml\n(# (\S+\.toml)\n.*?)^```", re.MULTILINE | re.DOTALL)
INLINE_RUN = re.compile(r"(?<!`)`(\./ffslab run [^`]+)`(?!`)")
# The sections of the guides that have commands; a test below runs those of each.
WITH_COMMANDS = {
    "README.md": ["Two commands", "An experiment of your own"],
    "docs/tutorial.md": [
        "A chip and a board of your own",
        "Look at the results",
        "A program of yours",
        "Micro-benchmarks",
        "Images, trees and mounts",
    ],
}


@dataclass(frozen=True)
class Done:
    """A command of a document with what it printed."""

    command: str
    output: str


def section_commands(text: str, title: str) -> list[str]:
    """The commands in the fences of one section, continued lines joined."""
    body = dict(SECTION.findall(text))[title]
    lines = "".join(FENCE.findall(body)).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip()]


def run(command: str, directory: Path) -> str:
    """Runs a command as it stands in the document; its output."""
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


def document(clone: Path, name: str) -> str:
    return (clone / name).read_text(encoding="utf-8")


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
    assert '<div class="vega"' in page
    assert f"✓ {counts[3] or 0} of {counts[2]} cases passed" in page


def picture(clone: Path) -> str:
    """The lines of the README's picture of a terminal."""
    svg = (clone / "docs" / "images" / "quick.svg").read_text(encoding="utf-8")
    by_line: dict[str, str] = {}
    for y, text in re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        by_line[y] = by_line.get(y, "") + html.unescape(text).replace("\xa0", " ")
    return "\n".join(by_line.values())


def virtual_figures(output: str) -> list[list[str]]:
    """The headline, the scoreboard's rows, and those of the cases without their wall time."""
    board_or_case = r"^((?:JFFS2|UBIFS) .*|\w+-\w+-s1 +pass .*?)(?: +[\d.]+ \w+)?$"
    rows = re.findall(board_or_case, output, re.MULTILINE)
    assert len(rows) == 7, output
    return [row.split() for row in rows]


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_no_section_with_commands_is_left_out(clone: Path, name: str) -> None:
    sections = SECTION.findall(document(clone, name))
    assert [title for title, body in sections if FENCE.search(body)] == WITH_COMMANDS[name]


def test_the_two_commands(clone: Path) -> None:
    commands = section_commands(document(clone, "README.md"), "Two commands")
    assert commands == ["./ffslab run quick", "./ffslab test"]
    small, study = (
        Done(command, run(command, clone)) for command in (commands[0], "./ffslab run ffsmark")
    )
    reports(small, clone)
    reports(study, clone)
    assert "4 of 4 cases" in small.output
    assert "21 of 21 cases" in study.output
    assert virtual_figures(picture(clone)) == virtual_figures(small.output)
    assert "lab kernel" in run("./ffslab doctor", clone)


def test_the_tests(clone: Path) -> None:
    commands = section_commands(document(clone, "CONTRIBUTING.md"), "Tests")
    tests = [command for command in commands if command.startswith("./ffslab test")]
    assert len(tests) == 3
    for command in tests:
        output = run(command, clone)
        assert re.search(r"\d+ passed", output), output
        assert "failed" not in output


def test_an_experiment_of_your_own(clone: Path) -> None:
    text = document(clone, "README.md")
    ((study, name),) = TOML_FENCE.findall(text)
    (clone / name).write_text(study, encoding="utf-8")
    dry, whole, case = (
        Done(command, run(command, clone))
        for command in section_commands(text, "An experiment of your own")
    )
    assert "4 cases of study aged-or-free" in dry.output
    reports(whole, clone)
    assert "reproduce: " in case.output


def test_a_chip_and_a_board_of_your_own(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    text = document(clone, "docs/tutorial.md")
    commands = [
        *section_commands(text, "A chip and a board of your own"),
        *section_commands(text, "Look at the results"),
    ]
    ((chip, chip_path), _) = TOML_FENCE.findall(text)
    edited = tmp_path / chip_path.removeprefix("~/.config/")
    done: dict[str, list[Done]] = {}
    for command in commands:
        if len(done.get("new", ())) == 3 and "run" not in done:
            assert edited.is_file()  # what the reader edits was begun
            edited.write_text(chip, encoding="utf-8")
        words = shlex.split(command)
        verb = words[1] if words[0] == "./ffslab" else words[0]
        if verb == "shell":
            output = run_in_terminal(command, clone, "df /mnt; exit")
            assert re.search(r"^ubi0:data .* /mnt\r?$", output, re.MULTILINE), output
        else:
            output = run(command, clone)
        done.setdefault(verb, []).append(Done(command, output))

    dry, real = (
        [done_run for done_run in done["run"] if ("--dry-run" in done_run.command) is wanted]
        for wanted in (True, False)
    )
    assert "4 cases of study mine" in dry[0].output
    assert len(real) == 2
    for real_run in real:
        reports(real_run, clone)
    # The reader's chip is the one under test, in the order in which the text tells it.
    study = next(real_run for real_run in real if real_run.command.endswith("run mine"))
    results = re.search(r"^results: (\S+)$", study.output, re.MULTILINE)
    assert results
    lines = (clone / results[1] / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert all('"page_bytes":4096' in line for line in lines)
    assert "= 3000000: estimate by the user" in done["show"][1].output
    clean = run("git status --porcelain catalog studies tests", clone)
    assert not clean, "a chip of one's own is no change of the checkout"

    assert done["list"][0].output.count("cases, complete") >= 2
    whole, case = done["show"]
    assert "cases: " in whole.output
    assert "reproduce: " in case.output
    exported = done["export"][0].output.split()
    assert sorted(Path(name).name for name in exported) == [
        "blocks.csv",
        "cases.csv",
        "cuts.csv",
        "findings.csv",
        "latencies.csv",
        "memory.csv",
        "phases.csv",
        "request_tasks.csv",
        "requests.csv",
        "tree_steps.csv",
    ]
    assert all((clone / name).stat().st_size > 0 for name in exported)


def test_a_program_of_yours(clone: Path) -> None:
    text = document(clone, "docs/tutorial.md")
    _, own = (
        Done(command, run(command, clone))
        for command in section_commands(text, "A program of yours")
    )
    reports(own, clone)
    assert "6 of 6 cases: 6 pass" in own.output


def test_micro_benchmarks(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(clone / "state"))
    study, shown = (
        Done(command, run(command, clone))
        for command in section_commands(document(clone, "docs/tutorial.md"), "Micro-benchmarks")
    )
    reports(study, clone)
    assert "198 of 198 cases" in study.output
    assert "stopped by ENOSPC" in shown.output
    assert "garbage collection" in shown.output


def test_images_trees_and_mounts(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(clone / "state"))
    text = document(clone, "docs/tutorial.md")
    (_, (boot, name)) = TOML_FENCE.findall(text)
    (clone / name).write_text(boot, encoding="utf-8")
    images, study, shown, own, booted = (
        Done(command, run(command, clone))
        for command in section_commands(text, "Images, trees and mounts")
    )
    assert re.search(r"jffs2 +lzo", images.output), images.output
    reports(study, clone)
    assert "image: embedded-rootfs" in shown.output
    assert re.search(r"^unmount-2 ", shown.output, re.MULTILINE)
    reports(own, clone)
    reports(booted, clone)
    assert "4 of 4 cases" in booted.output


def test_what_it_answers(clone: Path) -> None:
    """Each row's command works, and the study that it runs has the cases that the row says."""
    rows = re.findall(
        r"^\| .* \| `(\./ffslab [^`]+)` \| ([\d,]*) ?\|$",
        document(clone, "README.md"),
        re.MULTILINE,
    )
    assert len(rows) == 19
    for command, count in rows:
        if command == "./ffslab compare BASE NEW":
            assert re.search(r"compare .*\{BASE\}", run("./ffslab compare --help", clone))
            continue
        words = command.split()
        assert count, command
        if words[1] == "advise":
            assert f" candidates, {count} cases" in run(f"{command} --dry-run", clone)
            continue
        # `lifetime STUDY` runs a study, too.
        dry = f"./ffslab run {words[2]} --dry-run"
        assert f"{count.replace(',', '')} cases of study {words[2]}" in run(dry, clone)


def test_the_studies_have_the_cases_that_the_tutorial_says(clone: Path) -> None:
    rows = re.findall(
        r"^\| `((?:micro|metadata|mount)-[a-z0-9]+)` \| .* \| ([\d,]+) \|$",
        document(clone, "docs/tutorial.md"),
        re.MULTILINE,
    )
    assert len(rows) == 7
    for study, count in rows:
        output = run(f"./ffslab run {study} --dry-run", clone)
        assert f"{count.replace(',', '')} cases of study {study}" in output


def test_studies_in_the_text_of_the_report_guide(clone: Path) -> None:
    """Commands that stand in a sentence have cases; one with a word such as STUDY is a form."""
    spans = [
        " ".join(span.split()) for span in INLINE_RUN.findall(document(clone, "docs/report.md"))
    ]
    commands = [command for command in spans if not re.search(r"run [A-Z]", command)]
    assert len(commands) == 4
    for command in commands:
        assert re.search(
            r"^[1-9]\d* cases of study", run(f"{command} --dry-run", clone), re.MULTILINE
        )
