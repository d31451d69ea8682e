"""The key of a result that is a script's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class ScriptResult(TypedDict):
    """How the script ended: as a shell says it, 128 and its number for a signal.

    `programmed_below`, `erased_below`: pages and erase blocks of the partition that a program
    changed by the partition's own device while a file system had it; absent where nobody counts.
    """

    exit_status: int
    programmed_below: NotRequired[int]
    erased_below: NotRequired[int]


class ScriptKeys(TypedDict):
    """Null if the guest did not get to the script's end."""

    script: NotRequired[ScriptResult | None]


def script_of(result: CaseResult) -> ScriptResult | None:
    """The key `script` of a result of whichever workload."""
    return cast(ScriptKeys, result).get("script")


def below_of(script: ScriptResult | None) -> str:
    """What a program did to the flash below the file system; empty for nothing."""
    if script is None:
        return ""
    counts = {"programs": script.get("programmed_below"), "erases": script.get("erased_below")}
    return " and ".join(f"{count:,} {name}" for name, count in counts.items() if count)
