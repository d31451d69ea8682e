"""Text that cannot be printed as it is: on a terminal without UTF-8, and names that are not UTF-8.

A file name that is no UTF-8 is a text with lone surrogates inside Python, one for each byte. To the
terminal go the bytes again, so that a path that was printed can be used. A character that the
terminal's encoding does not have becomes one like it, or its number. Only the standard library is
used, because the launcher prints before anything is installed.
"""

from __future__ import annotations

import codecs
import io
import sys

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


def print_anything() -> None:
    """From here on nothing that is printed ends in an error of its encoding."""
    codecs.register_error(_HANDLER, _shown)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


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
