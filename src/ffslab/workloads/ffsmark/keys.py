"""The settings of FFSMark; the defaults are those of the published study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ffslab.model.workload import Workload, key


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
    text: bool = key(True, "files of printable characters, as Postmark's, not any bytes")
    buffering: bool = key(False, "stdio instead of read() and write()", changes="setting")
    drop_caches: bool = key(
        True, "drop the page cache before creation and transactions", changes="setting"
    )
    settle: bool = key(
        True, "before, wait until a new file system has formatted the flash", changes="setting"
    )
    verify: bool = key(False, "read every file back and compare it", changes="setting")
    full: bool = key(False, "record every single latency", changes="setting")

    @property
    def spec(self) -> dict[str, Any]:
        """As plain JSON values; settle only if it is false, so names of older cases stay."""
        spec = asdict(self)
        return spec if not self.settle else {k: v for k, v in spec.items() if k != "settle"}
