"""The settings of tiobench; the defaults are those of the published study on large NAND flash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key

MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiobench(Workload):
    """Parameters of a run of the four phases: files, requests, what is synced and dropped."""

    kind: str = key("tiobench", "the workload")
    threads: int = key(
        1, "threads, each with a file of its own", lowest=1, highest=64, changes="setting"
    )
    file_bytes: int = key(192 * MIB, "size of all files together", form=SIZE)
    random_bytes: int = key(64 * MIB, "volume of each phase of random requests", form=SIZE)
    block_bytes: int = key(
        128 * 1024, "size of a request, 16 B to 1 MiB", form=SIZE, changes="setting"
    )
    sync: Literal["none", "end"] = key(
        "none", "end: a phase that writes ends with fsync(), within its time", changes="setting"
    )
    contents: Contents = contents_key(later=False)
    compressibility_percent: int = compressibility_key()
    drop_caches: bool = key(
        True, "the page cache is dropped before each phase that reads", changes="setting"
    )
    full: bool = key(False, "every latency is recorded, beside the histograms", changes="setting")

    @property
    def file_blocks(self) -> int:
        """Blocks in the file of one thread."""
        return self.file_bytes // self.threads // self.block_bytes

    @property
    def random_blocks(self) -> int:
        """Random requests of one thread in a phase."""
        return self.random_bytes // self.threads // self.block_bytes

    @property
    def requests(self) -> int:
        """Of all threads in all four phases."""
        return 2 * self.threads * (self.file_blocks + self.random_blocks)
