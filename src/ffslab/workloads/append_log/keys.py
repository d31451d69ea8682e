"""The settings of append-log; the defaults are those of a daemon that loses nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLog(Workload):
    """Parameters of a log: what is appended, when it is synced, how it is rotated."""

    kind: str = key("append-log", "the workload")
    lines: int = key(2000, "lines appended, in all files together", lowest=1, highest=10**9)
    line_bytes: int = key(128, "size of a line with its line feed, 16 B to 64 KiB", form=SIZE)
    interval_us: int = key(
        100_000,
        "sleep between two lines, microseconds; 0: none",
        lowest=0,
        highest=10**12,
        changes="setting",
    )
    fsync_every: int = key(
        1,
        "sync the file after every so many lines; 0: never",
        lowest=0,
        highest=2**31 - 1,
        changes="setting",
    )
    sync: Literal["fsync", "fdatasync"] = key(
        "fsync", "the call that syncs", needs="an fsync_every above 0", changes="setting"
    )
    rotate_bytes: int = key(
        0, "a line that would make the log larger comes after a rotation; 0: none", form=SIZE
    )
    keep: int = key(
        4, "old files that are kept", lowest=0, highest=99, needs="a rotate_bytes above 0"
    )
    contents: Contents = contents_key("text", "what a line has after its number")
    compressibility_percent: int = compressibility_key()
    verify: bool = key(False, "every line is read back and compared", changes="setting")

    @property
    def kept_bytes(self) -> int:
        """The most that all files together hold at a time."""
        written = self.lines * self.line_bytes
        return min(written, (self.keep + 1) * self.rotate_bytes) if self.rotate_bytes else written

    def without_idle_keys(self) -> Self:
        """The workload with those keys at their defaults that mean nothing beside the others."""
        default = AppendLog()
        idle: dict[str, Any] = {}
        if not self.fsync_every:
            idle["sync"] = default.sync
        if not self.rotate_bytes:
            idle["keep"] = default.keep
        return replace(self, **idle)
