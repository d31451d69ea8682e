"""What the user calls this program, for the commands that messages suggest.

In a checkout that is the launcher, `./ffslab`, which says so in the environment; an installed
package is called `ffslab`. Reports say what their writer typed, so that commands in them can be
pasted.
"""

from __future__ import annotations

import os
import shlex
import sys

VARIABLE = "FFSLAB_COMMAND"
NAME = "ffslab"

# A shell sets it that asks how a command line can go on (cli/completion.py).
COMPLETE = "_FFSLAB_COMPLETE"


def program() -> str:
    """The program as a word for a shell."""
    return shlex.quote(os.environ.get(VARIABLE) or NAME)


def command(*words: object) -> str:
    """A command that a shell understands as it stands, whatever is in a path."""
    return " ".join((program(), *(shlex.quote(str(word)) for word in words)))


def this_command() -> str:
    """The command that runs, as its user typed it."""
    return f"{program()} {shlex.join(sys.argv[1:])}"
