"""What a page shows of all short sequences: which pairs of acts break, and how much was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ffslab.report import svg
from ffslab.report.elements import Table
from ffslab.report.first.board import share_heat
from ffslab.report.quantity import grouped
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import as_is, field, mark
from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES
from ffslab.workloads.cuts.report.load import Named
from ffslab.workloads.cuts.stored import StoredSequences

_FIRST = "(first)"  # in place of the act before
_STEP = 15  # pixels of a cell
_MEANING = "The worst outcome: the act across is the last, behind the one down."
_GOOD = 0.16  # how strong the colour of a pair without a fault is
_HEAD = ("", "sequences", "visited", "not reached", "states", "of a flash seen before", "left out")


def pairs_section(cases: Sequence[Named], prefix: str) -> Section:
    """A map of each case: the last act of a sequence against the one before; empty without any."""
    key, title = "pairs", "Which acts break, and behind which?"
    told = [(case, case.own.sequences) for case in cases if case.own.sequences]
    if not told:
        return Section(key, title)
    maps = {case.name: list(_cells(sequences)) for case, sequences in told}
    wrong = {name: sum(row["outcome"] != CORRECT for row in rows) for name, rows in maps.items()}
    pairs = sum(map(len, maps.values()))
    visited = sum(sequences["visited"] for _, sequences in told)
    saved = sum(sequences["same"] for _, sequences in told)
    count = sum(wrong.values())
    failed = f"{count} of {grouped(pairs)} pairs of acts go wrong somewhere"
    sentence = f"{failed if count else 'No pair fails'}, of {grouped(visited)} sequences"
    # Where nothing is wrong one map shows as much as all.
    shown = [name for name in maps if wrong[name]] or list(maps)[:1]
    charts = tuple(
        Chart(name, _map(name, maps[name], f"{prefix}pairs-{number}"), _MEANING)
        for number, name in enumerate(shown)
    )
    table = tuple(
        (
            case.name,
            *map(grouped, (sequences["all"], sequences["visited"], sequences["unreached"])),
            *map(grouped, (case.own.states, sequences["same"])),
            ", ".join(sequences["refused"]) or "–",
        )
        for case, sequences in told
    )
    return Section(
        key=key,
        title=title,
        sentence=f"{sentence}; {grouped(saved)} states had a flash that was seen before.",
        charts=charts,
        tables=(Table("Sequences", _HEAD, (), table),),
    )


def _cells(sequences: StoredSequences) -> Iterator[dict[str, Any]]:
    for pair in sequences["pairs"]:
        outcome = next(word for word in OUTCOMES if pair["outcomes"].get(word))
        states = sum(pair["outcomes"].values())
        wrong = states - pair["outcomes"].get(CORRECT, 0)
        yield {
            "act": pair["act"],
            "before": pair["before"] or _FIRST,
            "outcome": outcome,
            "meaning": OUTCOMES[outcome],
            "wrong": f"{grouped(wrong)} of {grouped(states)}",
            "paint": svg.PAINT["bad" if wrong else "muted"],
            "strength": share_heat(wrong, states) if wrong else _GOOD,
        }


def _map(name: str, rows: Sequence[dict[str, Any]], identifier: str) -> str:
    acts = list(dict.fromkeys(str(row["act"]) for row in rows))
    before = [act for act in (_FIRST, *acts) if any(row["before"] == act for row in rows)]
    named = {"labelLimit": 140, "grid": False}
    encoding = {
        "x": field("act:N", sort=acts, title=None, axis={**named, "labelAngle": -60}),
        "y": field("before:N", sort=before, title=None, axis=named),
        "fill": as_is("paint"),
        "opacity": as_is("strength:Q"),
        "tooltip": [
            *(field("act:N"), field("before:N", title="behind"), field("outcome:N")),
            *(field("meaning:N"), field("wrong:N", title="wrong states")),
        ],
    }
    size = {"width": {"step": _STEP}, "height": {"step": _STEP}}
    spec = {**size, **mark("rect", encoding, stroke=svg.PAINT["paper"])}
    return svg.draw(spec, f"{name}: the worst outcome by acts", identifier, {"rows": list(rows)})
