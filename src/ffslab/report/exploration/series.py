"""Cuts in a row on one flash: what is left of it after all of them."""

from __future__ import annotations

from collections.abc import Sequence

from ffslab.exploration.stored import StoredSeries
from ffslab.report.exploration.load import Part
from ffslab.report.parts import Table
from ffslab.report.quantity import grouped, significant

_HEAD = (
    *("", "cuts", "flashes", "fits at first", "least", "at last", "bad blocks more"),
    *("erases of the worst block", "pages read by a mount", "most"),
)
_UNITS = ("", "", "", "MB", "MB", "MB", "", "", "mean", "")


def series_table(parts: Sequence[Part]) -> Table | None:
    """A row for each series; None if there is none."""
    rows = [
        (part.label, *words_of(part.stored["series"])) for part in parts if "series" in part.stored
    ]
    return Table("", _HEAD, _UNITS, tuple(rows)) if rows else None


def words_of(series: StoredSeries) -> tuple[str, ...]:
    """Cuts, flashes, what fits, bad blocks, erases, pages read: as words; "–" for none."""
    space = series["space"]
    fits = [row[1] / 1e6 for row in space]
    shown = [significant(value) for value in (fits[0], min(fits), fits[-1])] if fits else ["–"] * 3
    # A new flash has its own marks.
    bad = grouped(max(row[4] for row in space) - space[0][4]) if space else "–"
    worst = grouped(max(row[6] for row in space)) if space else "–"
    mounts = [row for kind, row in series["recovery"].items() if kind != "none"]
    count = sum(row[0] for row in mounts)
    return (
        grouped(series["cuts"]),
        grouped(len(series["lives"])),
        *shown,
        *(bad, worst),
        grouped(round(sum(row[1] for row in mounts) / count)) if count else "–",
        grouped(max((row[4] for row in mounts), default=0)) if count else "–",
    )
