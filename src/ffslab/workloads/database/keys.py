"""The settings of database; page, checkpoint and synchronisation are SQLite's defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key

WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Database(Workload):
    """What is changed, and how it is kept safe."""

    kind: str = key("database", "the workload")
    journal: Literal["delete", "wal"] = key(
        "delete",
        "delete: a rollback journal, deleted by each transaction; wal: a write-ahead log",
        changes="setting",
    )
    transactions: int = key(1000, "transactions", lowest=1, highest=10**8)
    pages_per_transaction: int = key(
        2, "different pages that each transaction changes", lowest=1, highest=1000
    )
    page_bytes: int = key(4096, "size of a page, a power of two, 512 B to 64 KiB", form=SIZE)
    database_bytes: int = key(2 * 2**20, "size of the database", form=SIZE)
    checkpoint_frames: int = key(
        1000,
        "with so many frames in the log a transaction ends with a checkpoint",
        lowest=1,
        highest=10**8,
        needs='journal = "wal"',
        changes="setting",
    )
    contents: Contents = contents_key("text", "what pages hold", was_text=True)
    compressibility_percent: int = compressibility_key()
    verify: bool = key(False, "every page is read back and compared", changes="setting")

    @property
    def files_bytes(self) -> int:
        """The most that the database and its journal hold at a time."""
        if self.journal == "delete":
            return self.database_bytes + (self.pages_per_transaction + 1) * self.page_bytes
        all_frames = self.transactions * self.pages_per_transaction
        frames = min(all_frames, self.checkpoint_frames + self.pages_per_transaction)
        frame_bytes = FRAME_HEADER_BYTES + self.page_bytes
        return self.database_bytes + WAL_HEADER_BYTES + frames * frame_bytes

    def without_idle_keys(self) -> Self:
        """The workload with those keys at their defaults that mean nothing beside the others."""
        if self.journal == "wal":
            return self
        return replace(self, checkpoint_frames=Database().checkpoint_frames)
