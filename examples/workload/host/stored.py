"""The key of a result that is sample-files' own; ffslab checks its types on reading."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class Stored(TypedDict):
    """The agent's record, and the figures of it."""

    files: int
    files_done: int
    bytes: int
    stopped: str
    sample_files_mean_ns: float | None


class Keys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    sample_files: NotRequired[Stored | None]


def stored_of(result: CaseResult) -> Stored | None:
    """The key `sample_files` of a result of whichever workload."""
    return cast(Keys, result).get("sample_files")
