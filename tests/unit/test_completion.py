"""Completion of command lines, as bash asks for it, and the manual page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Command
from typer.main import get_command

from ffslab.cli.app import VERBS, build_app
from ffslab.cli.completion import Shell, script
from ffslab.cli.man import manual
from ffslab.program import COMPLETE
from ffslab.results.rundir import find_run

ROOT = Path(__file__).resolve().parents[2]


def completed(command: Command, line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What may stand where the line ends."""
    with monkeypatch.context() as asked:
        asked.setenv("COMP_WORDS", line)
        asked.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        asked.setenv(COMPLETE, "complete_bash")
        return command().output.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ffslab ru", {"run"}),
        ("./ffslab run micro-f", {"micro-fill"}),
        ("ffslab run sm", {"small.toml"}),
        ("ffslab run quick --drop", set()),
        ("ffslab run quick --dr", {"--dry-run"}),
        ("ffslab compare --fail-on ", {"verdict", "worse", "change", "never"}),
        ("ffslab list b", {"boards"}),
    ],
)
def test_verbs_options_and_names(
    ffslab_command: Command, line: str, words: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(completed(ffslab_command, line, monkeypatch)) == words


def test_runs_and_their_cases(ffslab_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(ffslab_command, "ffslab show latest ", monkeypatch) == []
    assert ffslab_command("run", "small.toml", "--no-report").code == 0
    name = find_run("latest", Path("results")).path.name
    for verb in ("show", "report", "open", "compare", "rm"):
        assert completed(ffslab_command, f"ffslab {verb} ", monkeypatch) == ["latest", name]
    cases = completed(ffslab_command, "ffslab show latest ubifs-a", monkeypatch)
    assert cases and all(case.startswith("ubifs-aged") for case in cases)


@pytest.mark.parametrize("shell", list(Shell))
def test_scripts_call_the_program_that_was_typed(shell: Shell) -> None:
    called = {Shell.bash: "$1", Shell.zsh: '"${words[1]}"', Shell.fish: "(commandline -opc)[1]"}
    assert called[shell] in script(shell)
    assert f"{COMPLETE}=complete_{shell}" in script(shell)


def test_bash_completes(tmp_path: Path) -> None:
    """In a shell of its own, with a program of another path."""
    program = tmp_path / "ffslab"
    program.write_text(
        f'#!/bin/sh\nexec env PYTHONPATH={ROOT / "src"} {sys.executable} -m ffslab "$@"\n'
    )
    program.chmod(0o755)
    (tmp_path / "script").write_text(script(Shell.bash))
    asked = (
        "source ./script; COMP_WORDS=(./ffslab doc); COMP_CWORD=1; "
        '_ffslab_completion ./ffslab; echo "${COMPREPLY[@]}"; complete -p ffslab'
    )
    end = subprocess.run(
        ["bash", "--norc", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert end.stdout.splitlines()[0] == "doctor"
    assert "_ffslab_completion" in end.stdout


def test_the_launcher_sets_nothing_up_for_a_shell_that_asks(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path), COMPLETE: "x"}
    end = subprocess.run(
        [ROOT / "ffslab"], env=environment, capture_output=True, text=True, check=True
    )
    assert end.stdout == end.stderr == "" and not list(tmp_path.iterdir())


def test_the_manual_has_every_verb_and_option() -> None:
    command = get_command(build_app())
    page = manual(command, "1.2.3")
    plain = re.sub(r"\\f[BRI]", "", page).replace(r"\-", "-")
    assert plain.startswith('.TH FFSLAB 1 "" "ffslab 1.2.3"')
    for name in VERBS:
        assert f"\n.SS ffslab {name}" in plain
        for parameter in command.commands[name].params:  # type: ignore[attr-defined]
            assert " ".join((parameter.help or "").split()) in plain


def test_the_manual_is_sound_troff() -> None:
    """Each line that begins with a dot is a macro of man(7); nothing else is left to troff."""
    known = (".TH ", ".SH ", ".SS ", ".TP", ".PP", ".B ")
    for line in manual(get_command(build_app()), "1").splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or line.startswith(known), line
        assert "\\" not in re.sub(r"\\(f[BRI]|-|e|&)", "", line), line
