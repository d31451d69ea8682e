"""What YAFFS2 says of its garbage collector, from files that the guest kept: pure.

`/proc/yaffs2/mtdN` has counters, a name and a number a line; `/proc/yaffs2/mtdN-collections` the
last runs, four numbers a line (kmod/yaffs/README.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from ffslab.errors import DamagedResultError
from ffslab.protocol.records import RecordStream

_PLACE = "/proc/yaffs2/mtd"
_RUNS = "-collections"
_IN_A_RUN = 4
_PERMILLE = 10  # of them in a percent


class Forecast(TypedDict):
    """How the collector's forecasts came out, and what all runs took together.

    `last_runs`: forecast and outcome in ns, pages moved and blocks erased of each.
    """

    runs: int
    unknown_runs: int
    broken_runs: int
    taken_ns: int
    error_mean_percent: float
    error_p99_percent: float
    last_runs: list[list[int]]


class Bound(TypedDict):
    """How well the bound on calls was kept."""

    bound_us: int
    calls: int
    missed: int
    forced_runs: int
    longest_ns: int


class Collector(TypedDict):
    """With gc=predict the one, with gc_bound_us the other."""

    forecast: NotRequired[Forecast]
    bound: NotRequired[Bound]


def collector(stream: RecordStream) -> Collector | None:
    """What a guest kept of it, None if nothing. DamagedResultError if that is no such file."""
    texts = {
        str(record["path"]): str(record["text"])
        for record in stream.of_type("file")
        if str(record["path"]).startswith(_PLACE)
    }
    runs = [text for path, text in texts.items() if path.endswith(_RUNS)]
    counts = [_counts(text) for path, text in texts.items() if not path.endswith(_RUNS)]
    if not counts:
        return None
    (count,) = counts
    figures: Collector = {}
    if "forecast_runs" in count:
        figures["forecast"] = _forecast(count, runs)
    if "bound_us" in count:
        figures["bound"] = {
            "bound_us": count["bound_us"],
            "calls": count["bound_calls"],
            "missed": count["bound_missed"],
            "forced_runs": count["bound_forced_runs"],
            "longest_ns": count["bound_longest_ns"],
        }
    return figures or None


def _forecast(count: dict[str, int], texts: Sequence[str]) -> Forecast:
    runs = count["forecast_runs"]
    mean = count["forecast_error_sum_permille"] / runs / _PERMILLE if runs else 0.0
    return {
        "runs": runs,
        "unknown_runs": count["forecast_unknown_runs"],
        "broken_runs": count["forecast_broken_runs"],
        "taken_ns": count["forecast_taken_ns"],
        "error_mean_percent": mean,
        "error_p99_percent": count["forecast_error_p99_permille"] / _PERMILLE,
        "last_runs": [_run(line) for text in texts for line in text.splitlines()],
    }


def _counts(text: str) -> dict[str, int]:
    """The names and numbers of a file's lines."""
    try:
        pairs = [line.split(" ") for line in text.splitlines()]
        return {name: int(number) for name, number in pairs}
    except ValueError as error:
        raise _damaged(text) from error


def _run(line: str) -> list[int]:
    try:
        numbers = [int(word) for word in line.split(" ")]
    except ValueError as error:
        raise _damaged(line) from error
    if len(numbers) != _IN_A_RUN:
        raise _damaged(line)
    return numbers


def _damaged(text: str) -> DamagedResultError:
    first = text.partition("\n")[0][:80]
    return DamagedResultError(
        f"what the guest kept of {_PLACE}N is not a file of YAFFS2: {first!r}",
        cause="records of another version, or damage",
    )
