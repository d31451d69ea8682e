"""`ffslab man`: the manual page, from the same texts as the help of each verb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODES = (
    ("0", "good"),
    ("1", "a case failed, or a figure became worse"),
    ("2", "wrong usage"),
    ("3", "infrastructure: no space, no package, no lab, interrupted"),
)
_VARIABLES = (
    (
        "XDG_CACHE_HOME",
        "where the kernel's source, the lab and prepared states are kept [~/.cache]",
    ),
    ("FFSLAB_KERNEL_SOURCE", "a Linux source tree instead of the distribution's"),
    ("FFSLAB_PYTHON", "the Python that a checkout's ./ffslab uses [/usr/bin/python3]"),
    ("FFSLAB_DEBUG", "show where an internal error came from"),
)


def register(app: typer.Typer) -> None:
    """Adds the verb `man`."""

    @app.command("man")
    def man() -> None:
        """Print the manual page.

        To read it: ffslab man | man -l -
        """
        from typer.main import get_command

        from ffslab import __version__
        from ffslab.cli.app import build_app

        typer.echo(manual(get_command(build_app()), __version__))


def manual(command: Any, version: str) -> str:
    """The page in the language of man(7), for a group of commands."""
    return "\n".join(_lines(command, version))


def _lines(command: Any, version: str) -> Iterator[str]:
    yield f'.TH FFSLAB 1 "" "ffslab {version}" "User Commands"'
    yield from (".SH NAME", r"ffslab \- flash file systems on a virtual NAND chip in virtual time")
    yield from (".SH SYNOPSIS", r".B ffslab", r"[\fIOPTIONS\fR] \fIVERB\fR [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", _text(command.help or ""))
    yield from (".SH OPTIONS", *_parameters(command))
    yield ".SH VERBS"
    for name, verb in command.commands.items():
        yield from _verb(name, verb)
    yield ".SH EXIT STATUS"
    yield from _terms(dict(_CODES))
    yield ".SH ENVIRONMENT"
    yield from _terms(dict(_VARIABLES))


def _verb(name: str, verb: Any) -> Iterator[str]:
    usage = " ".join(verb.collect_usage_pieces(_context(verb)))
    yield f".SS {_text(f'ffslab {name} {usage}')}"
    yield from _paragraphs(verb.help or "")
    yield from _parameters(verb)


def _context(command: Any) -> Any:
    """What the library's own help asks for."""
    from typer._click.core import Context

    return Context(command)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield from (".PP", _text(" ".join(paragraph.split())))


def _parameters(command: Any) -> Iterator[str]:
    """Options and arguments with what the help says of them."""
    for parameter in command.params:
        record = parameter.get_help_record(_context(command))
        if record is not None:
            yield from _terms({str(record[0]): str(record[1])})


def _terms(terms: Mapping[str, str]) -> Iterator[str]:
    for term, text in terms.items():
        yield from (".TP", rf"\fB{_text(term)}\fR", _text(text))


def _text(text: str) -> str:
    """Plain text, with nothing in it that troff would take for its own."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + escaped if escaped.startswith((".", "'")) else escaped
