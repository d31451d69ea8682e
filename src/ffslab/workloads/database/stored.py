"""The key of a result that is database's own; ffslab checks its types on reading."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult, PhaseTask


class Stored(TypedDict):
    """The agent's record, and the figures of it."""

    transactions: int
    transactions_done: int
    changed_bytes: int
    written_bytes: int
    checkpoints: int
    stopped: str
    transactions_per_s: float | None
    on_flash_mean_ns: float | None
    journal_amplification: float | None
    programs_per_transaction: float | None
    reads_per_transaction: float | None
    erases_per_1000_transactions: float | None
    tasks: list[PhaseTask]


class Keys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    database: NotRequired[Stored | None]


def stored_of(result: CaseResult) -> Stored | None:
    """The key `database` of a result of whichever workload."""
    return cast(Keys, result).get("database")
