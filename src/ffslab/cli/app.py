"""The `ffslab` command: verbs, one file each, and what happens to errors.

A verb's file has `register(app)`. It may import only what parsing needs; the
work is imported when the verb runs, so that `ffslab --help` is quick.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command_name
from typer.models import CommandInfo, TyperInfo

from ffslab import __version__
from ffslab.cli.verbs import HELP, VERBS, Verbs, epilog_of, words_of
from ffslab.environment import damage_of_environment
from ffslab.errors import EXIT_INFRASTRUCTURE, FfslabError, explained
from ffslab.lab.packages import NO_INSTALL, without_no_install
from ffslab.program import COMPLETE, program
from ffslab.visible_text import ReaderGoneError, print_anything

_ENDED_BY_SIGPIPE = 128 + signal.SIGPIPE  # as a shell says it of other tools


def verbs_for(words: Sequence[str]) -> tuple[str, ...]:
    """The verbs that a command line can mean: the one that it names, else all.

    Most of the time that a short command takes goes into the options of verbs. All are there for
    help, and to suggest one where a name is mistyped.
    """
    named = next((word for word in words if not word.startswith("-")), "")
    return (named,) if named in VERBS else VERBS


def without_options(app: typer.Typer) -> typer.Typer:
    """The application with its commands' names and help texts only, for help and suggestions.

    Typer evaluates the annotations of every command's function, which neither of them shows: a
    third of the time of `ffslab --help`.
    """
    for command in app.registered_commands:
        function = command.callback
        assert function is not None
        command.name = command.name or get_command_name(function.__name__)
        command.help = command.help or function.__doc__
        command.callback = _nothing
    for group in app.registered_groups:
        if group.typer_instance is not None:
            without_options(group.typer_instance)
    return app


def _nothing() -> None:
    """In the place of a verb that a command line does not name."""


def build_app(verbs: Sequence[str] = VERBS) -> typer.Typer:
    """The application with those of the verbs that are installed."""
    app = typer.Typer(
        name="ffslab",
        help="Runs the real Linux flash file systems on a virtual NAND chip in virtual time.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        cls=Verbs,
        epilog=f"ffslab {HELP} VERB says more of one; docs/tutorial.md begins at the beginning.",
        # Help texts are plain: rich would take the brackets around defaults for markup.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        verbose: Annotated[
            bool, typer.Option("--verbose", "-v", help="Show every external command.")
        ] = False,
        _no_install: Annotated[
            bool,
            typer.Option(NO_INSTALL, help="Refuse to install Debian packages; for every verb."),
        ] = False,
        _version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print version, build and kernel, and stop.",
                is_eager=True,
                callback=_print_version,
            ),
        ] = False,
    ) -> None:
        logging.basicConfig(
            level=logging.INFO if verbose else logging.WARNING,
            format="%(message)s",
            stream=sys.stderr,
        )

    for verb in verbs:
        name = f"ffslab.cli.{verb}"
        if importlib.util.find_spec(name) is not None:
            there = {id(entry) for entry in _entries(app)}
            importlib.import_module(name).register(app)
            for entry in _entries(app):
                if id(entry) not in there:
                    entry.epilog = epilog_of(verb, "ffslab")
    return app


def _entries(app: typer.Typer) -> list[CommandInfo | TyperInfo]:
    """Verbs, and those that have verbs of their own."""
    return [*app.registered_commands, *app.registered_groups]


def _print_version(wanted: bool) -> None:
    if wanted:
        from ffslab.lab.lab import lab_identity

        built = lab_identity()
        lab = f"build {built[0][:12]}, kernel {built[1]}" if built else "the lab is not built"
        typer.echo(f"ffslab {__version__}, {lab}")
        raise typer.Exit


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    print_anything()
    # Imports and results make a great many objects and hardly a cycle: a search after every 700
    # of them took up to a tenth of a short command's time.
    gc.set_threshold(10_000)
    if COMPLETE in os.environ:
        sys.exit(_complete())
    try:
        sys.argv[1:] = words_of(without_no_install(sys.argv[1:]))
        _app_for(sys.argv[1:])(prog_name=program())
    except FfslabError as error:
        _end(f"ffslab: {error}", error.exit_code)
    except (ReaderGoneError, BrokenPipeError):
        # The reader (head, less) has seen enough; keep Python quiet about it too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_ENDED_BY_SIGPIPE)
    except KeyboardInterrupt:
        _end("ffslab: interrupted", EXIT_INFRASTRUCTURE)
    except Exception as error:
        if os.environ.get("FFSLAB_DEBUG"):
            raise
        known = explained(error) if isinstance(error, OSError) else None
        if known is not None:
            _end(f"ffslab: {known}", known.exit_code)
        wrong = damage_of_environment(sys.prefix)
        if wrong:
            _end(
                f"ffslab: the Python environment {sys.prefix} is damaged ({wrong})\n"
                f"  next: {program()} setup, which makes it again; then the same command",
                EXIT_INFRASTRUCTURE,
            )
        _end(
            f"ffslab: internal error: {type(error).__name__}: {error}\n"
            "  likely cause: a bug of ffslab\n"
            "  next: repeat the command with FFSLAB_DEBUG=1 and report what it prints",
            EXIT_INFRASTRUCTURE,
        )


def _app_for(words: Sequence[str]) -> typer.Typer:
    verbs = verbs_for(words)
    app = build_app(verbs)
    return app if len(verbs) == 1 else without_options(app)


def _complete() -> int:
    """Answers a shell that asks how a line can go on; what goes wrong says nothing there."""
    from ffslab.cli.completion import answer

    try:
        return answer(lambda words: build_app(verbs_for(words)))
    except Exception:
        if os.environ.get("FFSLAB_DEBUG"):
            raise
        return 0


def _end(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
