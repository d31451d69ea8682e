"""Cuts in a row on one flash: what is left of it after all of them."""

from __future__ import annotations

from collections.abc import Sequence

from ffslab.report.elements import Table
from ffslab.report.quantity import grouped, significant
from ffslab.workloads.cuts.report.load import Part
from ffslab.workloads.cuts.stored import SeriesSpace, StoredSeries, space_of

_HEAD = (
    *("", "cuts", "flashes", "fits at first", "least", "at last", "bad blocks more"),
    *("erases of the worst block", "pages read by a mount", "most"),
)
_UNITS = ("", "", "", "MB", "MB", "MB", "", "", "mean", "")


def series_table(parts: Sequence[Part]) -> Table | None:
    """A row for each series; None if there is none."""
    rows = [(part.label, *words_of(part.cuts["series"])) for part in parts if "series" in part.cuts]
    return Table("", _HEAD, _UNITS, tuple(rows)) if rows else None


def words_of(series: StoredSeries) -> tuple[str, ...]:
    """Cuts, flashes, what fits, bad blocks, erases, pages read: as words; "–" for none."""
    mounts = [row for kind, row in series["recovery"].items() if kind != "none"]
    count = sum(row[0] for row in mounts)
    return (
        grouped(series["cuts"]),
        grouped(len(series["lives"])),
        *_space_words(space_of(series)),
        grouped(round(sum(row[1] for row in mounts) / count)) if count else "–",
        grouped(max((row[4] for row in mounts), default=0)) if count else "–",
    )


def _space_words(space: SeriesSpace | None) -> tuple[str, ...]:
    if space is None:
        return ("–",) * 5
    fits = (space.first_bytes, space.least_bytes, space.last_bytes)
    return (
        *(significant(count / 1e6) for count in fits),
        *(grouped(space.bad_more), grouped(space.worst_erases)),
    )
