"""The settings of workload `probe`: how much of each operation is measured."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.workload import SIZE, Workload, key

_MOST_FILES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(Workload):
    """On the bare device the first two matter, with a file system the others."""

    kind: str = key("probe", "the workload")
    blocks: int = key(
        16, "erase blocks that are programmed, read and erased", lowest=1, highest=2**20
    )
    calls: int = key(2000, "system calls of each kind", lowest=1, highest=10**6)
    files: int = key(48, "files of text that are created", lowest=1, highest=_MOST_FILES)
    file_bytes: int = key(16384, "size of each", form=SIZE)
