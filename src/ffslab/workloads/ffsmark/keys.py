"""The settings of FFSMark; the defaults are those of the published study."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.workload import Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Ffsmark(Workload):
    """FFSMark's parameters; the defaults are those of the published study."""

    kind: str = key("ffsmark", "the workload")
    number: int = key(5000, "files of the pool", lowest=1, highest=10**7)
    subdirectories: int = key(50, "directories they are spread over", lowest=0, highest=10**6)
    size_min: int = key(512, "smallest file, bytes", lowest=1, highest=2**31 - 1)
    size_max: int = key(10240, "largest file, bytes", lowest=1, highest=2**31 - 1)
    transactions: int = key(15000, "transactions after the creation", lowest=0, highest=10**9)
    read_bytes: int = key(4096, "unit of read(), bytes", lowest=1, highest=2**26, changes="setting")
    write_bytes: int = key(
        4096, "unit of write(), bytes", lowest=1, highest=2**26, changes="setting"
    )
    bias_read: int = key(5, "reads against appends: of ten; -1: neither", lowest=-1, highest=10)
    bias_create: int = key(
        5, "creations against deletions: of ten; -1: neither", lowest=-1, highest=10
    )
    contents: Contents = contents_key(
        "printable", "what is written; printable: as Postmark's", was_text=True
    )
    compressibility_percent: int = compressibility_key()
    buffering: bool = key(False, "stdio instead of read() and write()", changes="setting")
    drop_caches: bool = key(
        True, "drop the page cache before creation and transactions", changes="setting"
    )
    settle: bool = key(
        True,
        "before, wait until a new file system has formatted the flash",
        changes="setting",
        said=lambda value: {} if value else {"settle": value},  # specs had no such key
    )
    verify: bool = key(False, "read every file back and compare it", changes="setting")
    full: bool = key(False, "record every single latency", changes="setting")
