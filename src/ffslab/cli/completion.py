"""`ffslab completion`: what a shell needs to complete the words of a command line.

The shell calls ffslab itself, with the line in environment variables; typer knows the three
protocols. Verbs and options come from the commands, values from studies, catalog and results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ffslab.errors import FfslabError
from ffslab.program import COMPLETE

if TYPE_CHECKING:
    from typer.core import TyperCommand

_NAME = "ffslab"


class Shell(StrEnum):
    """The shells that can complete."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


# The scripts of the library call the program by its name; the word that was typed may be ./ffslab.
_CALLS = {
    Shell.bash: (),
    Shell.zsh: ((f"complete_zsh {_NAME})", 'complete_zsh "${words[1]}")'),),
    Shell.fish: (
        (f" {_NAME})", " (commandline -opc)[1])"),
        (f' {_NAME}"', ' (commandline -opc)[1]"'),
    ),
}


def register(app: typer.Typer) -> None:
    """Adds the verb `completion`."""

    @app.command("completion")
    def completion(
        shell: Shell = typer.Argument(metavar="SHELL", help="The shell."),  # noqa: B008
    ) -> None:
        """Print what makes a shell complete verbs, options and names.

        bash: source <(ffslab completion bash), in ~/.bashrc for good. zsh: the same in ~/.zshrc,
        after compinit. fish: ffslab completion fish > ~/.config/fish/completions/ffslab.fish
        """
        typer.echo(script(shell))


def script(shell: Shell) -> str:
    """The text for the shell to read."""
    from typer._completion_shared import get_completion_script

    text = get_completion_script(prog_name=_NAME, complete_var=COMPLETE, shell=shell.value)
    for by_name, as_typed in _CALLS[shell]:
        assert by_name in text  # another version of the library would say something else
        text = text.replace(by_name, as_typed)
    return text


def words_typed(environment: dict[str, str]) -> list[str]:
    """The words behind the program's name, as the shells hand them over."""
    line = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:]


def answer(build: Callable[[Sequence[str]], typer.Typer]) -> int:
    """Prints how the line in the environment can go on; the exit code.

    `build` makes the application for a list of words.
    """
    from typer._completion_classes import completion_init
    from typer.completion import shell_complete
    from typer.main import get_command

    completion_init()
    command = get_command(build(words_typed(dict(os.environ))))
    for name, verb in getattr(command, "commands", {}).items():
        _with_values(name, verb)
    return shell_complete(command, {}, _NAME, COMPLETE, os.environ[COMPLETE])


def _with_values(verb: str, command: TyperCommand) -> None:
    for parameter in command.params:
        source = _VALUES.get((verb, str(parameter.name))) or _VALUES.get(("", str(parameter.name)))
        if source is not None:
            parameter._custom_shell_complete = _completer(source)


def _completer(source: Callable[[dict[str, Any]], Iterator[str]]) -> Callable[..., list[Any]]:
    def complete(context: Any, _parameter: Any, incomplete: str) -> list[Any]:
        from typer._click.shell_completion import CompletionItem

        names = (name for name in source(context.params) if name.startswith(incomplete))
        return [CompletionItem(name) for name in names]

    return complete


def _studies(_parameters: dict[str, Any]) -> Iterator[str]:
    from ffslab.loader import study_names

    yield from study_names()
    yield from sorted(str(path) for path in Path().glob("*.toml"))


def _kinds(_parameters: dict[str, Any]) -> Iterator[str]:
    from ffslab.cli.list import Kind

    yield from Kind


def _publications(_parameters: dict[str, Any]) -> Iterator[str]:
    from ffslab.published.load import ALL, publication_files

    yield from (*publication_files(), ALL)


def _runs(parameters: dict[str, Any]) -> Iterator[str]:
    from ffslab.results.rundir import all_runs

    yield "latest"
    yield from (run.path.name for run in all_runs(parameters.get("output") or Path("results")))


def _cases(parameters: dict[str, Any]) -> Iterator[str]:
    """Of the run that stands before it on the line."""
    from ffslab.results.rundir import find_run

    try:
        run = find_run(
            parameters.get("run") or "latest", parameters.get("output") or Path("results")
        )
        yield from (str(case["id"]) for case in run.manifest().get("cases", []))
    except FfslabError:
        return


# By verb and parameter; "" is every verb.
_VALUES: dict[tuple[str, str], Callable[[dict[str, Any]], Iterator[str]]] = {
    ("", "study"): _studies,
    ("list", "kind"): _kinds,
    ("reproduce", "names"): _publications,
    ("", "run"): _runs,
    ("", "runs"): _runs,
    ("compare", "base"): _runs,
    ("compare", "new"): _runs,
    ("show", "case"): _cases,
    ("trace", "case"): _cases,
}
