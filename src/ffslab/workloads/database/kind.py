"""database as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import Problem, check_writable, refuse, settle_problem
from ffslab.workloads.contents import fits, share_problem
from ffslab.workloads.database.keys import Database

_PAGE_BYTES = (512, 2**16)  # the agent's bounds


class DatabaseType(WorkloadType[Database]):
    """database as a kind of workload."""

    settings = Database
    state_keys = ("settle_ms", "remount")

    def check(self, workload: Database, setting: Setting) -> None:
        """SpecError for sizes that contradict each other, or a state that it cannot have."""
        check_writable(self.kind, setting)
        refuse(settle_problem(setting, "transaction"), setting)
        refuse(_size_problem(workload, setting.partition_bytes), setting)


def _size_problem(workload: Database, partition_bytes: int) -> Problem | None:
    (least, most), page_bytes = _PAGE_BYTES, workload.page_bytes
    if not least <= page_bytes <= most or page_bytes & (page_bytes - 1):
        return (
            f"page_bytes is {page_bytes}, no power of two from {least} to {most:,}",
            "SQLite has no other pages",
            'workload.page_bytes = "4 KiB"',
        )
    pages = workload.database_bytes // page_bytes
    if pages <= workload.pages_per_transaction:
        return (
            f"a database of {pages:,} pages, of which a transaction changes "
            f"{workload.pages_per_transaction:,}, and its first page is not among them",
            "a transaction changes different pages",
            "a larger database_bytes, or a smaller pages_per_transaction",
        )
    if not fits(workload, workload.files_bytes, partition_bytes, may_fill=True):
        return (
            f"database and journal grow to {format_size(workload.files_bytes)}, on a partition of "
            f"{format_size(partition_bytes)}",
            f"no file system makes {workload.contents} contents so small",
            "a smaller database_bytes or checkpoint_frames, or a larger partition_bytes",
        )
    return share_problem(workload)


WORKLOAD = DatabaseType()
