"""Forecasts as rows for readers and programs: volumes, years, and how far off they were."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ffslab.lifetime.forecast import Estimate
from ffslab.lifetime.read import CaseLife, WearOut

FIRST_BAD, END = "first_bad", "end"
TITLES = {FIRST_BAD: "first bad block", END: "end of writing"}
DAYS_OF_A_YEAR = 365.25
NOTE = (
    "Forecasts are estimates: the median, and the range of nine draws in ten. They assume that "
    "the workload and its write amplification go on as they were; docs/lifetime.md has the model."
)
_UNITS = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6))


@dataclass(frozen=True, slots=True)
class Row:
    """One event of a case. Volumes in bytes; `years` with a daily volume; `off`: the forecast ÷
    what was measured, less 1.
    """

    case: str
    event: str
    forecast: Estimate
    years: Estimate | None
    measured: int | None
    off: float | None


def rows_of(lives: Iterable[CaseLife], daily_bytes: int | None = None) -> tuple[Row, ...]:
    """Both events of each case that has a forecast."""
    return tuple(row for life in lives if life.forecast for row in _rows(life, daily_bytes or 0))


def _rows(life: CaseLife, daily_bytes: int) -> Sequence[Row]:
    told, outcome = life.forecast, life.outcome
    assert told is not None
    measured = (outcome.first_bad_bytes, outcome.end_bytes) if outcome is not None else (None, None)
    return [
        Row(
            case=life.id,
            event=event,
            forecast=estimate,
            years=_years(estimate, daily_bytes) if daily_bytes else None,
            measured=came,
            off=estimate.middle / came - 1 if came else None,
        )
        for event, estimate, came in zip(
            (FIRST_BAD, END), (told.first_bad, told.end), measured, strict=True
        )
    ]


def _years(estimate: Estimate, daily_bytes: int) -> Estimate:
    days = daily_bytes * DAYS_OF_A_YEAR
    return Estimate(estimate.low / days, estimate.middle / days, estimate.high / days)


def document_of(lives: Sequence[CaseLife], daily_bytes: int | None = None) -> dict[str, Any]:
    """All of it as plain JSON values."""
    rows = rows_of(lives, daily_bytes)
    return {
        "daily_bytes": daily_bytes,
        "cases": [
            {
                "id": life.id,
                "axes": life.axes,
                "endurance": life.endurance or None,
                "why": life.why,
                "from": _basis(life),
                "spares": None if life.spares is None else asdict(life.spares),
                "outcome": None if life.outcome is None else asdict(life.outcome),
                "rows": [asdict(row) for row in rows if row.case == life.id],
            }
            for life in lives
        ],
    }


def _basis(life: CaseLife) -> dict[str, Any] | None:
    told = life.forecast
    if told is None:
        return None
    slow, fast = told.correlation.slow, told.correlation.fast
    return {
        "written_bytes": told.written_bytes,
        "checkpoints": told.checkpoints,
        "erases_mean": told.wear,
        "erases_max": told.worst,
        "erases_per_byte": told.wear_per_byte,
        "slow": {"variance": slow.variance, "memory_erases": _finite(slow.memory)},
        "fast": {"variance": fast.variance, "memory_erases": _finite(fast.memory)},
    }


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


def volume(value: float) -> str:
    """Bytes in powers of 1,000, as data sheets and daily volumes count them."""
    unit, size = unit_of(value)
    return f"{value / size:.3g} {unit}"


def unit_of(value: float) -> tuple[str, float]:
    """The unit for so many bytes, and its size."""
    return next((unit for unit in _UNITS if value >= unit[1]), _UNITS[-1])


def basis_words(life: CaseLife) -> str:
    """What the forecast is from, or why there is none."""
    told, spares = life.forecast, life.spares
    if told is None or spares is None:
        return f"no forecast: {life.why}"
    count = "1 look" if told.checkpoints == 1 else f"{told.checkpoints} looks"
    return (
        f"from {count} up to {volume(told.written_bytes)}, {told.wear:.1f} erases per block "
        f"(most {told.worst}) of {life.endurance:,}; {spares.blocks} blocks to lose "
        f"({spares.words})"
    )


def outcome_words(outcome: WearOut) -> str:
    """How the case ended."""
    blocks = f"{outcome.bad_blocks} grown bad blocks"
    if outcome.end_bytes is None:
        return f"measured: {blocks}, and it still wrote"
    return f"measured: {blocks}, then {outcome.stopped}"
