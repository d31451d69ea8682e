"""What a page shows of all short sequences: which pairs of acts break, and how much was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ffslab.report import svg
from ffslab.report.elements import Table
from ffslab.report.first.board import share_heat
from ffslab.report.plots import faceted
from ffslab.report.quantity import grouped
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import as_is, field, mark
from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES
from ffslab.workloads.cuts.report.load import Named
from ffslab.workloads.cuts.stored import StoredSequences

_FIRST = "(first)"  # in place of the act before
_STEP = 18  # pixels of a cell
_GOOD = 0.16  # how strong the colour of a pair without a fault is
_HEAD = ("", "sequences", "visited", "not reached", "states", "of a flash seen before")


def pairs_section(cases: Sequence[Named], prefix: str) -> Section:
    """A map of each case: the last act of a sequence against the one before; empty without any."""
    key, title = "pairs", "Which acts break, and behind which?"
    told = [(case, case.own.sequences) for case in cases if case.own.sequences]
    if not told:
        return Section(key, title)
    rows = [row for case, sequences in told for row in _cells(case, sequences)]
    wrong = sum(row["outcome"] != CORRECT for row in rows)
    visited = sum(sequences["visited"] for _, sequences in told)
    saved = sum(sequences["same"] for _, sequences in told)
    pairs = f"{wrong} of {len(rows)} pairs of acts go wrong somewhere" if wrong else "No pair fails"
    names = list(dict.fromkeys(case.name for case, _ in told))
    drawing = _map(rows, names, f"{prefix}pairs-map")
    table = tuple(
        (
            case.name,
            *map(grouped, (sequences["all"], sequences["visited"], sequences["unreached"])),
            *map(grouped, (case.own.states, sequences["same"])),
        )
        for case, sequences in told
    )
    return Section(
        key=key,
        title=title,
        sentence=f"{pairs}, of {grouped(visited)} sequences; {grouped(saved)} states had a flash "
        "that was seen before.",
        charts=(
            Chart("The worst outcome", drawing, "The act across is the last, behind the one down."),
        ),
        tables=(Table("Sequences", _HEAD, (), table),),
    )


def _cells(case: Named, sequences: StoredSequences) -> Iterator[dict[str, Any]]:
    for pair in sequences["pairs"]:
        outcome = next(word for word in OUTCOMES if pair["outcomes"].get(word))
        states = sum(pair["outcomes"].values())
        wrong = states - pair["outcomes"].get(CORRECT, 0)
        yield {
            "facet": case.name,
            "act": pair["act"],
            "before": pair["before"] or _FIRST,
            "outcome": outcome,
            "meaning": OUTCOMES[outcome],
            "wrong": f"{grouped(wrong)} of {grouped(states)}",
            "paint": svg.PAINT["bad" if wrong else "muted"],
            "strength": share_heat(wrong, states) if wrong else _GOOD,
        }


def _map(rows: Sequence[dict[str, Any]], names: Sequence[str], identifier: str) -> str:
    acts = list(dict.fromkeys(str(row["act"]) for row in rows))
    wide = _STEP * len(acts)
    named = {"labelLimit": 140, "grid": False}
    encoding = {
        "x": field("act:N", sort=acts, title=None, axis={**named, "labelAngle": -60}),
        "y": field("before:N", sort=[_FIRST, *acts], title=None, axis=named),
        "fill": as_is("paint"),
        "opacity": as_is("strength:Q"),
        "tooltip": [
            *(field("facet:N", title="case"), field("act:N"), field("before:N", title="behind")),
            *(field("outcome:N"), field("meaning:N"), field("wrong:N", title="wrong states")),
        ],
    }
    inner = {**mark("rect", encoding, stroke=svg.PAINT["paper"])}
    inner |= {"width": wide, "height": wide + _STEP}
    spec = faceted(inner, names)
    return svg.draw(spec, "The worst outcome by acts", identifier, {"rows": list(rows)})
