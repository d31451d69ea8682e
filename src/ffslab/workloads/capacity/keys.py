"""The settings of workload `capacity`; the defaults are those of CELF 2009."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity(Workload):
    """Parameters of a file that grows until the partition is full."""

    kind: str = key("capacity", "the workload")
    request_bytes: int = key(
        128 * 1024, "size of each write, 512 B to 64 MiB", form=SIZE, changes="setting"
    )
    again: bool = key(True, "when the file is gone, one more is written until it is full")
    contents: Contents = contents_key()
    compressibility_percent: int = compressibility_key()
