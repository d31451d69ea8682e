"""The program `launcher.c`, compiled once for this user and kept in the cache.

It is no part of the lab's build: nothing that a guest can see depends on it.
"""

from __future__ import annotations

from pathlib import Path

from ffslab.kernel.cache import (
    cache_root,
    hash_texts,
    is_complete,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    write_stamp,
)
from ffslab.kernel.commands import run_logged
from ffslab.kernel.progress import ConsoleProgress
from ffslab.program import program

_SOURCE = Path(__file__).with_name("launcher.c")
_NAME = "launcher"
# Static, with musl as the agent is: it starts in a third of the time of one with shared libraries.
_COMPILE = ("musl-gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s")


def launcher() -> Path:
    """The program; it is compiled if the cache does not have it.

    Raises InfrastructureError if it cannot be.
    """
    top = cache_root() / _NAME
    entry = top / hash_texts([*_COMPILE, _SOURCE.read_text(encoding="utf-8")])
    if not is_complete(entry):
        make_directory(top)
        with locked(top / "lock", ConsoleProgress()) as lock:
            if not is_complete(entry):
                _compile(entry, lock)
    return entry / _NAME


def _compile(entry: Path, lock: int) -> None:
    scratch = scratch_directory(entry.parent)
    built = scratch / _NAME
    run_logged(
        [*_COMPILE, "-o", built, _SOURCE],
        log=entry.parent / "launcher.log",
        lock=lock,
        cause="an error in launcher.c, or a compiler that is not complete",
        remedy=f"{program()} doctor",
    )
    write_stamp(scratch, {"file": _NAME})
    replace_directory(scratch, entry)
