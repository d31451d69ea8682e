"""What the launcher runs: the command line, in an environment that is what was installed.

It runs on the system's Python, without its packages, so that nothing in a damaged environment can
stand in the way: neither the link to the interpreter nor a file that Python executes when it
starts. If the environment is as it was made, this only compares sizes and times, and hands over.
Otherwise, and for `setup`, which has all of it read, `ffslab.lab.bootstrap` makes it, or makes
it again.
"""

from __future__ import annotations

import os
import sys

from ffslab.environment import environment_of, is_as_made, manifests_for, run_in, verb_of
from ffslab.errors import EXIT_INFRASTRUCTURE

TYPE_CHECKING = False  # That of `typing` takes longer than all the rest.
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """`sys.argv`: what python -c puts there, the checkout, the cache, and the user's words."""
    try:
        _start(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)


def _start(checkout: str, cache: str, *words: str) -> NoReturn:
    try:
        environment = environment_of(cache, checkout, sys.executable)
    except OSError as error:
        print(
            f"ffslab: {error.filename} cannot be read: {error.strerror}\n"
            "  likely cause: an incomplete checkout\n  next: git status",
            file=sys.stderr,
        )
        sys.exit(EXIT_INFRASTRUCTURE)
    if verb_of(words) != "setup" and all(
        is_as_made(environment, name) for name in manifests_for(words)
    ):
        run_in(environment, words)
    from ffslab.lab import bootstrap
    from ffslab.program import COMPLETE

    # A shell that asks for completions is no reason to set anything up.
    if os.environ.get(COMPLETE):
        sys.exit(0)
    sys.exit(bootstrap.main([environment, checkout, *words]))
