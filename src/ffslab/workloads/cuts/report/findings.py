"""What is wrong, as cards: the fault in a sentence, the calls up to it, the cut, the flash around
it, the commands that repeat it.

A card stands for all findings of one configuration with the same outcome, kind of cut and reason;
it shows the confirmed one with the shortest way to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ffslab.oracle.faults import ERASE, KINDS, MARK, PROGRAM
from ffslab.oracle.record import Call, Record
from ffslab.program import command
from ffslab.report import svg
from ffslab.report.data import Run
from ffslab.report.elements import Table, environment
from ffslab.report.quantity import grouped
from ffslab.report.sections.section import Section
from ffslab.report.vega import as_is, field, mark
from ffslab.workloads.cuts.outcomes import DOES, OUTCOMES
from ffslab.workloads.cuts.report.load import Named, Operations, operations_of
from ffslab.workloads.cuts.states import Logged, parse_log
from ffslab.workloads.cuts.stored import StoredFinding, likeness
from ffslab.workloads.cuts.walk import Cut, StateName, cut_of

MOST_CARDS = 12
_BEFORE, _AFTER = 18, 3  # operations of the chip in the picture
_CALLS = 5  # that a card shows
_LETTERS = 300  # of what differed
_PAINT = {PROGRAM: "t1", ERASE: "t2", MARK: "t3"}
_TORN = "bad"
_NONE = "Nothing: each state is what its file system promises."
_NOTE = (
    "A card stands for all states of a configuration with one outcome, kind of cut and reason. "
    "Confirmed: alone in a fresh guest it was the same; the first three of an outcome and kind "
    "were tried so."
)


@dataclass(frozen=True)
class Card:
    """A finding as the template shows it: `calls` are the last ones up to the cut, after `earlier`
    others. What there is none of is empty.
    """

    outcome: str
    title: str
    detail: str
    found: str
    earlier: int
    calls: tuple[str, ...]
    cut: str
    picture: str
    replay: str
    minimize: str
    known: str


@dataclass(frozen=True)
class Finding:
    """A finding and its case."""

    case: Named
    stored: StoredFinding

    @property
    def name(self) -> StateName:
        return cut_of(self.stored["state"])

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The clearest is the least."""
        name = self.name
        return not self.stored["confirmed"], name.then is not None, name.cut.operation


def groups_of(cases: Sequence[Named]) -> list[list[Finding]]:
    """Findings that are alike, the gravest first; in each the clearest first."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for case in cases:
        for stored in case.own.findings:
            alike = likeness(stored["outcome"], stored["kind"], stored["detail"])
            # Of sequences each is a cause of its own.
            groups.setdefault((case.label, *alike, stored.get("acts", "")), []).append(
                Finding(case, stored)
            )
    gravity = list(OUTCOMES).index
    return sorted(
        (sorted(group, key=lambda finding: finding.rank) for group in groups.values()),
        key=lambda group: (gravity(group[0].stored["outcome"]), -_states(group)),
    )


def findings_section(run: Run, cases: Sequence[Named], prefix: str) -> Section:
    """All findings: cards, and a row of a table for each that has none."""
    from markupsafe import Markup

    key, title = "findings", "What is wrong?"
    groups = groups_of(cases)
    if not groups:
        tried = any(case.own.states for case in cases)
        return Section(key, title, _NONE if tried else "No state has been gone through.")
    cards = [
        _card(run, group, f"{prefix}finding-{number}")
        for number, group in enumerate(groups[:MOST_CARDS])
    ]
    template = environment().get_template("cuts/findings.html.j2")
    paint_of = [*_PAINT.items(), ("✕ the cut", _TORN)]
    return Section(
        key=key,
        title=title,
        sentence=_sentence(groups),
        markup=Markup(template.render(cards=cards, paint_of=paint_of)),
        tables=(_table(groups),),
        note=_NOTE,
    )


def _states(group: Sequence[Finding]) -> int:
    return sum(finding.stored["states"] for finding in group)


def _sentence(groups: Sequence[Sequence[Finding]]) -> str:
    first = groups[0][0]
    count, states = len(groups), sum(map(_states, groups))
    told = f"{count} faults" if count > 1 else "One fault"
    does = f"**{first.case.label}** {DOES[first.stored['outcome']]} after {first.stored['kind']}"
    gravest = "the gravest: " if count > 1 else ""
    return f"{told} in {grouped(states)} state{'s' * (states != 1)}; {gravest}{does}."


def _card(run: Run, group: Sequence[Finding], identifier: str) -> Card:
    first = group[0]
    case, stored, cut = first.case, first.stored, first.name.cut
    operations = _operations(run, first)
    # A series has no log, and no history that could be made shorter.
    history = case.own.series is None
    calls = operations.calls_to(cut.operation) if history else ()
    behind = f" after {stored['acts']}" if "acts" in stored else ""
    return Card(
        outcome=stored["outcome"],
        title=f"{case.label} {DOES[stored['outcome']]}{behind}",
        detail=shortened(stored["detail"]),
        found=_found(group),
        earlier=max(len(calls) - _CALLS, 0),
        calls=calls[-_CALLS:],
        cut=cut_words(first.name, operations) if history else series_words(cut),
        picture=strip(operations.logged, cut, identifier) if history else "",
        replay=command("crash", "replay", stored["id"], "--run", run.path),
        minimize=command("crash", "minimize", stored["id"], "--run", run.path) if history else "",
        known=stored.get("known", ""),
    )


def _operations(run: Run, finding: Finding) -> Operations:
    """Of a sequence they are in the finding."""
    stored = finding.stored
    if "calls" not in stored:
        return operations_of(run.path, finding.case.id, finding.case.own)
    logged = parse_log("".join(f"{line}\n" for line in stored.get("log", ())))
    calls = tuple(stored["calls"])
    # All but the last had returned.
    last = Call(0, 0, finding.name.cut.operation + 1)
    record = Record((*(Call(0, 0, 0) for _ in calls[1:]), last), True)
    return Operations(logged, record, calls)


def _found(group: Sequence[Finding]) -> str:
    states = _states(group)
    places = list(dict.fromkeys(finding.case.place for finding in group if finding.case.place))
    words = f"in {grouped(states)} state{'s' * (states != 1)}"
    sequences = sum(finding.stored.get("sequences", 0) for finding in group)
    words += f" of {grouped(sequences)} sequence{'s' * (sequences != 1)}" if sequences else ""
    words += f": {', '.join(places[:6])}{' …' * (len(places) > 6)}" if places else ""
    return words if group[0].stored["confirmed"] else f"{words}; not confirmed alone in a guest"


def cut_words(name: StateName, operations: Operations) -> str:
    """A cut: "torn-bits at operation 12, program of block 7, page 0"; of two cuts both."""
    words = _cut(name.cut)
    flash = operations.flash(name.cut.operation)
    words += f", {flash}" if flash else ""
    words += f"; in its recovery {_cut(name.then)}" if name.then else ""
    last = KINDS.get((name.then or name.cut).kind)
    return f"{words} ({last.name} leaves: {last.left})" if last else "without any cut"


def _cut(cut: Cut) -> str:
    variant = f" (variant {cut.variant})" if cut.variant else ""
    return f"{cut.kind} at operation {grouped(cut.operation)}{variant}"


def series_words(cut: Cut) -> str:
    """One of many cuts, which has its number in the place of an operation."""
    return f"cut {grouped(cut.operation)} of the series: {cut.kind}"


def shortened(text: str) -> str:
    """Not all of a long text."""
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}…"


def _table(groups: Sequence[Sequence[Finding]]) -> Table:
    rows = tuple(_row(finding) for group in groups for finding in group)
    head = ("id", "configuration", "where", "outcome", "cut", "what differed", "states")
    return Table("All findings", head, (), rows, text_columns=6, wrapped=(5,))


def _row(finding: Finding) -> tuple[str, ...]:
    stored, case = finding.stored, finding.case
    states = grouped(stored["states"])
    detail = shortened(stored["detail"])
    return (
        *(stored["id"], case.label, case.place, stored["outcome"], stored["state"], detail),
        states if stored["confirmed"] else f"{states}, not confirmed",
    )


def strip(log: Sequence[Logged], cut: Cut, identifier: str) -> str:
    """The operations of the chip around a cut, a row for each block; empty without a log."""
    rows = list(_marks(log, cut))
    if not rows:
        return ""
    blocks = [str(block) for block in sorted({int(str(row["block"])) for row in rows})]
    number = {"labelOverlap": "greedy", "labelSeparation": 6, "labelAngle": 0, "grid": False}
    axes = {
        "x": field("operation:O", title="operation of the chip", axis=number),
        "y": field("block:N", sort=blocks, title="block", axis={"grid": False}),
    }
    told = [field(f"{name}:N") for name in ("operation", "what", "block", "page", "fate")]
    cells = {
        **axes,
        "fill": as_is("paint"),
        "opacity": as_is("strength:Q"),
        "tooltip": told,
    }
    layers = [
        mark("rect", cells, stroke=svg.PAINT["paper"]),
        mark("text", {**axes, "text": field("text:N"), "fill": as_is("ink")}, fontSize=10.5),
    ]
    spec = {"width": {"step": 24}, "height": {"step": 20}, "layer": layers}
    title = f"The chip around operation {cut.operation}, which was cut: {cut.kind}"
    return svg.draw(spec, title, identifier, {"rows": rows})


def _marks(log: Sequence[Logged], cut: Cut) -> Iterator[Mapping[str, object]]:
    first = max(0, cut.operation - _BEFORE)
    for logged in log[first : cut.operation + _AFTER + 1]:
        is_cut, is_late = logged.number == cut.operation, logged.number > cut.operation
        page = "" if logged.page is None else str(logged.page)
        yield {
            "operation": logged.number,
            "block": str(logged.block),
            "page": page,
            "what": logged.verb,
            "fate": cut.kind if is_cut else "not begun" if is_late else "done",
            "text": "✕" if is_cut else page,
            "paint": svg.PAINT[_TORN if is_cut else _PAINT[logged.verb]],
            "ink": svg.PAINT["ink" if is_late else "paper"],
            "strength": 0.15 if is_late else 1,
        }
