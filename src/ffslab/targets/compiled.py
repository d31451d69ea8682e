"""C programs of the host's side, compiled once for this user and kept in the cache.

They are no part of the lab's build: nothing that a guest can see depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ffslab.lab.cache import (
    cache_root,
    hash_texts,
    is_sound,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.commands import run_logged
from ffslab.lab.progress import ConsoleProgress
from ffslab.program import program


def compiled(source: Path, command: Sequence[str], name: str) -> Path:
    """What the command makes of a C file, with `-o` and both names behind it, as a file `name`.

    It is compiled if the cache does not have it, or has it damaged. Raises InfrastructureError if
    it cannot be.
    """
    top = cache_root() / source.stem
    entry = top / hash_texts([*command, source.read_text(encoding="utf-8")])
    if not is_sound(entry):
        make_directory(top)
        with locked(top / "lock", ConsoleProgress()) as lock:
            if not set_aside_if_damaged(entry):
                _compile(source, command, entry / name, lock)
    return entry / name


def _compile(source: Path, command: Sequence[str], target: Path, lock: int) -> None:
    entry = target.parent
    scratch = scratch_directory(entry.parent)
    run_logged(
        [*command, "-o", scratch / target.name, source],
        log=entry.parent / f"{source.stem}.log",
        lock=lock,
        cause=f"an error in {source.name}, or a compiler that is not complete",
        remedy=f"{program()} doctor",
    )
    write_stamp(scratch, {"file": target.name}, [scratch / target.name])
    replace_directory(scratch, entry)
