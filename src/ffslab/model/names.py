"""What to say of a name that nothing has.

Apart from the shapes of files, which import pydantic: commands that read none need this too.
"""

from __future__ import annotations

from typing import Any

_LISTED_LETTERS = 120  # longer lists of names are not in a message


def suggestion(word: str, valid: Any, *, close_matches: int = 1) -> str:
    """ " (did you mean X?)", or the list of what is valid unless that is long."""
    import difflib  # only who mistypes something waits for it

    names = sorted(str(name) for name in valid)
    # The last part of a dotted name may be all that somebody remembers.
    by_last_part = {name.rpartition(".")[2]: name for name in names}
    close = difflib.get_close_matches(word, names, n=close_matches) or [
        by_last_part[part]
        for part in difflib.get_close_matches(word.rpartition(".")[2], by_last_part, n=1)
    ]
    if close:
        return f" (did you mean {' or '.join(repr(name) for name in close)}?)"
    listed = ", ".join(names)
    return f" (valid: {listed})" if 0 < len(listed) <= _LISTED_LETTERS else ""
