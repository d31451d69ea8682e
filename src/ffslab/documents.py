"""Where the documents are that messages send a reader to.

In a checkout they are beside the sources; an installed package has them with its data. A message
names a path that a pager or an editor opens from where the reader is.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def document(name: str) -> str:
    """The path of a document, such as "docs/study-format.md"; relative if it is below here."""
    places = (_PACKAGE / "data" / name, _PACKAGE.parent.parent / name)
    file = next((candidate for candidate in places if candidate.is_file()), None)
    if file is None:
        return name
    # Not Path.cwd(): a directory that was removed is no reason to fail over a message.
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:
        return str(file)
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
