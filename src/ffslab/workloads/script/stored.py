"""The key of a result that is a script's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class ScriptResult(TypedDict):
    """How the script ended: as a shell says it, 128 and its number for a signal."""

    exit_status: int


class ScriptKeys(TypedDict):
    """Null if the guest did not get to the script's end."""

    script: NotRequired[ScriptResult | None]


def script_of(result: CaseResult) -> ScriptResult | None:
    """The key `script` of a result of whichever workload."""
    return cast(ScriptKeys, result).get("script")
