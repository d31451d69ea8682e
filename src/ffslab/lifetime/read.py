"""Forecasts and outcomes of the cases of a run: what to forecast from is in their results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.lifetime.forecast import Flash, Forecast, forecast
from ffslab.lifetime.growth import Checkpoint
from ffslab.lifetime.spares import Spares, spares_of
from ffslab.results.result import CaseResult
from ffslab.workloads.wear.stored import WearResult, wear_of

# Of the first bad block's life: a twentieth even if the forecast is a tenth too high.
LIFE_SHARE = 0.045
_WEAKEST = 0.9  # the least of endurances, of the chip's figure
_ROUNDS = 3
STATIC_END, _WRITE_START = "static:end", "write:start"


@dataclass(frozen=True, slots=True)
class WearOut:
    """What became of a case that went on: None for what did not happen. Bytes written."""

    first_bad_bytes: int | None
    end_bytes: int | None
    stopped: str
    bad_blocks: int


@dataclass(frozen=True, slots=True)
class CaseLife:
    """A case: the forecast, or `why` there is none; what was measured afterwards."""

    id: str
    axes: dict[str, Any]
    endurance: int
    forecast: Forecast | None
    spares: Spares | None
    outcome: WearOut | None
    why: str = ""


def lives_of(results: Iterable[CaseResult], endurance: int | None = None) -> tuple[CaseLife, ...]:
    """Of all cases of the workload wear; `endurance` instead of the chips' own figure."""
    return tuple(
        life_of(result, endurance)
        for result in results
        if result["spec"].get("workload", {}).get("kind") == "wear"
    )


def life_of(result: CaseResult, endurance: int | None = None) -> CaseLife:
    """Of a case of the workload wear."""
    chip = result["spec"]["board"]["chip"]
    limit = endurance or int(chip.get("endurance_cycles") or 0)
    wear = wear_of(result)
    outcome = None if wear is None or endurance else wear_out_of(wear)

    def without(why: str) -> CaseLife:
        return CaseLife(result["id"], result["axes"], limit, None, None, outcome, why)

    if wear is None or not wear["volumes"]:
        return without(result["reason"] or "no volume was reached")
    if not limit:
        return without("its chip has no endurance figure")
    space = next((reading for reading in result["space"] if reading["label"] == _WRITE_START), None)
    if space is None:
        return without("what statfs said before the writing is not in the result")
    looked = looks_of(wear, limit)
    if not looked:
        return without(f"no volume within {LIFE_SHARE:.1%} of its life")
    file_bytes = result["spec"]["workload"]["file_bytes"]
    spares = spares_of(result["spec"], space["available_bytes"], file_bytes)
    flash = Flash(
        endurance=limit,
        before=_erases_before(result, len(looked[0].erases)),
        spares=spares.blocks,
        threshold=spares.threshold,
        static=frozenset(wear["static_blocks"]),
    )
    try:
        told = forecast_of(wear, flash, looked)
    except ValueError as error:
        return without(str(error))
    return CaseLife(result["id"], result["axes"], limit, told, spares, outcome)


def forecast_of(wear: WearResult, flash: Flash, looked: Sequence[Checkpoint]) -> Forecast:
    """From `looked`, and then from all that lies in a twentieth of the life that this promises."""
    told = forecast(looked, flash)
    for _ in range(_ROUNDS):
        most = LIFE_SHARE * told.first_bad.middle
        more = [checkpoint for checkpoint in _checkpoints(wear) if checkpoint.written_bytes <= most]
        if len(more) <= len(looked):
            break
        looked = more
        told = forecast(looked, flash)
    return told


def looks_of(wear: WearResult, endurance: int) -> list[Checkpoint]:
    """The volumes that were reached while no block had more than a twentieth of the erases at
    which the weakest may be bad: however the others wear, that is a twentieth of a life.
    """
    most = LIFE_SHARE * _WEAKEST * endurance
    return [checkpoint for checkpoint in _checkpoints(wear) if max(checkpoint.erases) <= most]


def _checkpoints(wear: WearResult) -> Iterator[Checkpoint]:
    """The volumes before any block was bad."""
    grown = wear.get("grown")
    end = grown["written"][0] if grown and grown["written"] else math.inf
    for volume in wear["volumes"]:
        if volume["written_bytes"] < end:
            yield Checkpoint(volume["written_bytes"], tuple(volume["erases"]))


def wear_out_of(wear: WearResult) -> WearOut | None:
    """What happened to the blocks; None if nothing did."""
    grown = wear.get("grown")
    rises = grown["written"] if grown else []
    if not rises and not wear["stopped"]:
        return None
    return WearOut(
        first_bad_bytes=rises[0] if rises else None,
        end_bytes=wear["written"] if wear["stopped"] else None,
        stopped=wear["stopped"],
        bad_blocks=grown["bad_blocks"][-1] - grown["before"] if grown and rises else 0,
    )


def _erases_before(result: CaseResult, blocks: int) -> tuple[int, ...]:
    """Of each block before the writing: worn in advance, erased, formatted, written once."""
    worn = int(result["spec"]["board"]["chip"].get("worn_cycles") or 0)
    flash = next(
        (snapshot for snapshot in result["flash"] if snapshot["label"] == STATIC_END), None
    )
    counted = tuple(flash["erases"]) if flash else (0,) * blocks
    return tuple(worn + count for count in counted)
