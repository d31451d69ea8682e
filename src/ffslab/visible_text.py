"""Text that must not or cannot be printed as it is.

A run, a tree or an image may be a stranger's. A title, a file name or the last line of a script can
hold what moves the cursor, renames the window or turns the direction of writing. So standard output
and standard error themselves show such characters as escapes (`\\x1b`): no message can forget it.
What draws on the terminal on purpose, colours and progress, writes to `own_stream`.

A file name that is no UTF-8 is a text with lone surrogates inside Python, one for each byte. To the
terminal go the bytes again, so that a path that was printed can be used. A character that the
terminal's encoding does not have becomes one like it, or its number. Only the standard library is
used, because the launcher prints before anything is installed.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Mapping
from typing import IO, Any, TextIO, TypeVar, cast

Stream = TypeVar("Stream", bound=IO[str])

_HANDLER = "ffslab-shown"
_ALIKE = str.maketrans(
    {
        "µ": "u",
        "μ": "u",
        "×": "x",
        "÷": "/",
        "…": "...",
        "≥": ">=",
        "≤": "<=",
        "†": "+",
        "‡": "#",
        "✓": "*",
        "◦": "o",
        "–": "-",
        "—": "-",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "→": "->",
        "−": "-",
    }
)


# Controls but line feed and tab, what is invisible or turns the direction of writing, separators of
# lines that only some programs know, and bytes that would complete one of these in UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f\udc80-\udc9f]"
)


def visible(text: str) -> str:
    """The text with an escape, such as `\\x1b`, for each character that acts on a terminal."""
    return _UNSEEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else _json_escape(code)


def visible_value(value: Any) -> Any:
    """The same of all texts in a value of dicts and lists, and no lone surrogate."""
    if isinstance(value, Mapping):
        return {visible_value(key): visible_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible_value(inner) for inner in value]
    return without_surrogates(visible(value)) if isinstance(value, str) else value


def visible_json(text: str) -> str:
    """The same of a JSON document: its own escapes, so that who reads it has the characters."""
    return _UNSEEN.sub(lambda match: _json_escape(ord(match[0])), text)


def _json_escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class ReaderGoneError(Exception):
    """Who read standard output has seen enough. No OSError: typer would make an exit code of it."""


class _Visible:
    """A stream of text that shows what acts on a terminal; all else is the stream's own.

    rich finds the stream itself under the name `rich_proxied_file`: its consoles colour, and escape
    what they print before (`ffslab.cli.screen`).
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        try:
            self.rich_proxied_file.write(visible(text))
        except BrokenPipeError:
            raise ReaderGoneError from None
        return len(text)

    def flush(self) -> None:
        try:
            self.rich_proxied_file.flush()
        except BrokenPipeError:
            raise ReaderGoneError from None

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


class _Outliving(io.FileIO):
    """A descriptor of which nobody need read: once its reader has gone, all goes nowhere."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


def outlive_readers() -> None:
    """From here on nothing ends because a reader of standard output or error has gone, as `head`
    does: for what has more to do than to print.
    """
    for name in ("stdout", "stderr"):
        stream = own_stream(getattr(sys, name))
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError):
            continue  # it is no file of the system
        stream.flush()
        raw = io.BufferedWriter(_Outliving(descriptor, "wb", closefd=False))
        outliving = io.TextIOWrapper(
            raw, stream.encoding, stream.errors, line_buffering=stream.line_buffering
        )
        setattr(sys, name, _Visible(outliving))


def own_stream(stream: Stream) -> Stream:
    """The stream for what the program draws itself."""
    return cast(Stream, getattr(stream, "rich_proxied_file", stream))


def print_anything() -> None:
    """From here on nothing that is printed ends in an error of its encoding, or acts on a terminal.

    Only what writes to `own_stream` does.
    """
    codecs.register_error(_HANDLER, _shown)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)
    if not isinstance(sys.stdout, _Visible):
        sys.stdout = cast(TextIO, _Visible(sys.stdout))
    if not isinstance(sys.stderr, _Visible):
        sys.stderr = cast(TextIO, _Visible(sys.stderr))


def without_surrogates(text: str) -> str:
    """The text with each byte of a name that is no UTF-8 as its number, `\\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _shown(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    shown = b"".join(map(_bytes, error.object[error.start : error.end]))
    return shown, error.end


def _bytes(character: str) -> bytes:
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00])
    return character.translate(_ALIKE).encode("ascii", "backslashreplace")
