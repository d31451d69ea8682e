"""What a report says of power cuts: what is wrong and where, what a recovery takes, what is left
after many cuts, what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ffslab.oracle.faults import KINDS
from ffslab.report import svg
from ffslab.report.data import Run
from ffslab.report.elements import Table
from ffslab.report.first.board import share_heat
from ffslab.report.quantity import grouped
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import as_is, field, mark
from ffslab.workloads.cuts.keys import FULL
from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES
from ffslab.workloads.cuts.report.costs import recovery_section, series_section
from ffslab.workloads.cuts.report.findings import findings_section
from ffslab.workloads.cuts.report.load import Named, named_cases, own_of
from ffslab.workloads.cuts.report.sequences import pairs_section

TITLE = "Power cuts"
METHOD = (
    "A history of calls runs once, and the chip logs each operation: a page programmed, a block "
    "erased, a block marked bad. A state is what a power cut at one of them leaves: all operations "
    "before it, and of itself what the kind of cut says. The kernel’s own file system mounts each "
    "state; it is compared with what that file system promises (src/ffslab/oracle/promises.py), "
    "and, unless only the mount is checked, used and mounted once more after a second loss of "
    "power. Correct is what is allowed, not what is best: what was synced is there; what was not "
    "may be older, or missing. An outcome is the worst that is true of a state. The fault model "
    "with its sources is docs/fault-model.md. The same study in the same build gives the same "
    "states, outcomes and counts on any host."
)
figures_of = own_of
_MOST_ROWS = 24  # of the chart of outcomes; of more cases only those with something wrong
_GOOD = 0.16  # how strong the colour of correct states is


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Findings, outcomes, recoveries, series, and what was tried."""
    cases = named_cases(run)
    yield findings_section(run, cases, prefix)
    charted = (pairs_section, outcomes_section, recovery_section, series_section)
    for section in (*(make(cases, prefix) for make in charted), tried_section(cases)):
        if not section.is_empty:
            yield section


def outcomes_section(cases: Sequence[Named], prefix: str) -> Section:
    """States by outcome, a row for each case; empty where all are correct."""
    key, title = "outcomes", "Where does it go wrong?"
    wrong = {case.id: case.own.states - case.own.outcomes.get(CORRECT, 0) for case in cases}
    bad = [case for case in cases if wrong[case.id]]
    if not bad:
        return Section(key, title)
    words = [word for word in OUTCOMES if any(case.own.outcomes.get(word) for case in cases)]
    worst = max(bad, key=lambda case: wrong[case.id])
    share = f"{grouped(wrong[worst.id])} of {grouped(worst.own.states)}"
    shown = cases if len(cases) <= _MOST_ROWS else bad[: 2 * _MOST_ROWS]
    return Section(
        key=key,
        title=title,
        sentence=f"{len(bad)} of {len(cases)} cases have wrong states; **{worst.name}** has most, "
        f"{share}.",
        charts=(Chart("States by outcome", _heat(shown, words, f"{prefix}outcomes-cells")),),
        tables=(Table("Outcomes", ("outcome", ""), (), tuple((w, OUTCOMES[w]) for w in words), 2),),
    )


def _heat(cases: Sequence[Named], words: Sequence[str], identifier: str) -> str:
    rows = [
        _cell(case, word, count)
        for case in cases
        for word in words
        if (count := case.own.outcomes.get(word, 0))
    ]
    above = {"orient": "top", "labelAngle": 0, "labelLimit": 100, "grid": False}
    beside = {"labelLimit": 320, "grid": False}
    axes = {
        "x": field("outcome:N", sort=words[::-1], title=None, axis=above),
        "y": field("case:N", sort=[case.name for case in cases], title=None, axis=beside),
    }
    told = [field(f"{column}:N") for column in ("case", "outcome", "meaning", "states")]
    cell = {
        **axes,
        "fill": as_is("paint"),
        "opacity": as_is("strength:Q"),
        "tooltip": told,
    }
    written = {**axes, "text": field("states:Q", format=",")}
    layers = [mark("rect", cell), mark("text", written, fontSize=11)]
    spec = {"width": {"step": 105}, "height": {"step": 22}, "layer": layers}
    return svg.draw(spec, "States by case and outcome", identifier, {"rows": rows})


def _cell(case: Named, word: str, count: int) -> dict[str, Any]:
    good = word == CORRECT
    return {
        "case": case.name,
        "outcome": word,
        "states": count,
        "meaning": OUTCOMES[word],
        "paint": svg.PAINT["muted" if good else "bad"],
        "strength": _GOOD if good else share_heat(count, case.own.states),
    }


def tried_section(cases: Sequence[Named]) -> Section:
    """How much of what could be tried was tried, and what each kind of cut is."""
    cases = [case for case in cases if case.own.series is None]
    key, title = "tried", "What was tried?"
    if not cases:
        return Section(key, title)
    states, possible, operations = (
        grouped(sum(getattr(case.own, name) for case in cases))
        for name in ("states", "states_possible", "operations")
    )
    sampled = any(case.own.workload.sample for case in cases)
    share = f"a sample of the {possible} that one cut leaves" if sampled else "all that cuts leave"
    used = all(case.own.workload.check == FULL for case in cases)
    check = "looked at, used and mounted again" if used else "and looked at"
    kinds = tuple((kind.name, kind.left) for kind in KINDS.values())
    rows = tuple((case.name, *_tried(case)) for case in cases)
    head = ("", "calls", "operations", "states", "one cut leaves")
    return Section(
        key=key,
        title=title,
        sentence=f"Of {operations} operations, {states} states: {share}. Each is mounted, {check}.",
        tables=(
            Table("States of each case", head, (), rows),
            Table("Kinds of cut", ("kind", "what is left of the operation"), (), kinds, 2),
        ),
    )


def _tried(case: Named) -> tuple[str, ...]:
    own = case.own
    return tuple(map(grouped, (own.calls, own.operations, own.states, own.states_possible)))
