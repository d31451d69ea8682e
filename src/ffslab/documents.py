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
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return name
    # Not Path.cwd(): a directory that was removed is no reason to fail over a message.
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:
        return str(found)
    return str(found.relative_to(here)) if found.is_relative_to(here) else str(found)
